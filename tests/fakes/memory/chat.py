"""A chat in memory: the surface and renderer that the delivery engine's own tests run on."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from core.model.incoming_events import ReplyMode
from core.model.inquiry import Checkpoint
from core.ports.chat import AnswerPlace, CallRefused, Concluded, End, Failed, PartKey, Refusal, Work

PIECE = 20  # characters of an answer in one message


class Killed(BaseException):
    """The worker died here."""


@dataclass
class MemoryChat:
    """A chat of posted messages. ``before`` and ``after`` are called with the number (from 1) and name of each call."""

    mode: ReplyMode = ReplyMode.POST
    before: Callable[[int, str], None] = lambda number, name: None
    after: Callable[[int, str], None] = lambda number, name: None
    shown: dict[tuple[str, str], str] = field(default_factory=dict)  # by channel and id
    keys: dict[tuple[str, PartKey], str] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)  # channels that take nothing
    has_nonces: bool = True  # whether a message that is posted again under its key is the same one
    calls: int = 0

    @property
    def home(self) -> AnswerPlace | None:
        return None

    def texts(self, channel: str) -> list[str]:
        """What people see in a channel, in order."""
        return [text for (place, _), text in self.shown.items() if place == channel]

    def _call(self, name: str, place: AnswerPlace | None = None) -> None:
        self.calls += 1
        self.before(self.calls, name)
        if place is not None and place.channel in self.closed:
            raise CallRefused(Refusal.DENIED, f"{place.channel} is closed.")

    async def settle(self, first: str) -> tuple[AnswerPlace, str]:
        self._call("settle")
        place = AnswerPlace(self.mode, "thread" if self.mode is ReplyMode.START else "channel")
        self.after(self.calls, "settle")
        return place, first

    async def next_place(self, mode: ReplyMode) -> AnswerPlace | None:
        return AnswerPlace(mode, "channel" if mode is ReplyMode.REPLY else "direct")

    async def is_deleted(self, place: AnswerPlace) -> bool:
        return False

    async def post(self, place: AnswerPlace, payload: str, key: PartKey) -> str:
        self._call("post", place)
        if not self.has_nonces:
            self.keys.pop((place.channel, key), "")
        message = self.keys.setdefault((place.channel, key), str(self.calls))
        self.shown[place.channel, message] = payload
        self.after(self.calls, "post")
        return message

    async def edit(
        self, place: AnswerPlace, message: str, payload: str, *, number: int = 0, once: bool = False
    ) -> None:
        self._call("edit", place)
        if (place.channel, message) not in self.shown:
            raise CallRefused(Refusal.GONE, "There is no such message.")
        self.shown[place.channel, message] = payload
        self.after(self.calls, "edit")

    async def delete(self, place: AnswerPlace, message: str) -> None:
        self._call("delete", place)
        self.shown.pop((place.channel, message), None)
        self.after(self.calls, "delete")

    async def find(self, place: AnswerPlace, key: PartKey, known: Collection[str]) -> str:
        found = self.keys.get((place.channel, key), "")
        return found if found not in known and (place.channel, found) in self.shown else ""


class TextRenderer:
    """Everything as text, ``PIECE`` characters of an answer in a message."""

    def progress(self, work: Work, place: AnswerPlace) -> str:
        return f"… {work.written}"

    def end(self, end: End, work: Work, place: AnswerPlace) -> Sequence[str]:
        text = end.answer.text if isinstance(end, Concluded) else end.message if isinstance(end, Failed) else "card"
        moved = [f"(not there: {place.because})"] if place.because else []
        pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
        return [" ".join([*moved, pieces[0]]), *pieces[1:]]

    def closed_card(self, card: Checkpoint) -> str:
        return "card, closed"

    def plain(self, payload: str, *, edited: bool) -> str | None:
        return None if edited or payload.startswith("plain ") else f"plain {payload}"
