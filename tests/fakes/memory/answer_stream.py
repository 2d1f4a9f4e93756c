"""Answers in the making, in memory."""

from collections import defaultdict
from collections.abc import Sequence

from core.ports.answer_view import AnswerStream, AnswerUpdate, Updates


class InProcessAnswerStream(AnswerStream):
    """Places are counted from the beginning."""

    def __init__(self) -> None:
        self._streams: defaultdict[tuple[str, str], list[AnswerUpdate]] = defaultdict(list)

    async def publish(self, thread: str, subject: str, updates: Sequence[AnswerUpdate]) -> None:
        """Add to the stream."""
        self._streams[thread, subject] += updates

    async def read(self, thread: str, subject: str, after: str = "") -> Updates:
        """What came after this place."""
        stream = self._streams[thread, subject]
        return Updates(tuple(stream[int(after or 0) :]), str(len(stream)))
