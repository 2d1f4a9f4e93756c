"""Text of notices about a changed answer, and the preview that counts notices for an admin."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from core.model.answer import Outcome
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, ThreadKey, Turn
from core.model.plain_text import clipped
from core.ports.memory import Memory
from core.ports.platform import Notice, ReadersToday
from core.ports.usage import QuestionLog
from core.service.kb.text_spans import count
from core.service.standing_answers.checks import AnswerCheck, FollowedAnswer, cited_documents
from core.service.standing_answers.comparison import AnswerChange

OPEN_LABEL, MUTE_LABEL = "Open the thread", "Mute"
MUTED = "Muted. I will no longer tell you about changed answers. Press “Mute” again to undo this."
UNMUTED = "I will tell you again when an answer that I gave you has changed."
MOST_QUOTED = 300  # characters
PREVIEWED = timedelta(days=30)
PREVIEW_SECONDS = 20.0
MOST_PREVIEWED = 50  # answers asked again for a preview


def notice_key(answer: FollowedAnswer) -> str:
    """Return a notice's key: the answer, when its change was found (a change may come back), and the versions."""
    versions = (version[:12] for version in sorted(answer.versions.values()))
    return " ".join((answer.turn.trace_id, f"{answer.found_at:.0f}", *versions))


def notice_of(answer: FollowedAnswer, change: AnswerChange, link: str) -> Notice:
    """Return the notice about a changed answer."""
    lines = (
        f"An answer that I gave you has changed: {_difference(change)}",
        f"On {_day(answer.turn.at)} you asked: “{_short(answer.turn.question)}”",
        f"I told you: “{_short(change.before)}”",
        f"Now the source says: “{_short(change.after)}”",
    )
    return Notice(notice_key(answer), lines, change.citation, link)


def _difference(change: AnswerChange) -> str:
    return f"{change.was} is now {change.now}." if change.was else "the source says something else now."


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _short(text: str) -> str:
    return clipped(" ".join(text.split()), MOST_QUOTED)


@dataclass(frozen=True, slots=True)
class NoticePreview:
    """Previews the notices of a channel, without sending them and without a model."""

    check: AnswerCheck
    questions: QuestionLog
    memory: Memory

    async def text(self, channel: ThreadKey, readers: Audience, settings: ChannelSettings) -> str:
        """Return in plain text how many answers of the last 30 days have changed, with one example.

        ``readers`` are the channel's readers. An example quotes only a question that the whole workspace may read.
        """
        found: list[tuple[Turn, AnswerChange, bool]] = []
        asked_again = 0
        try:
            async with asyncio.timeout(PREVIEW_SECONDS):
                async for asked in self.questions.since(self.check.clock.now() - PREVIEWED):
                    thread = ThreadKey.parse(asked.thread)
                    mine = replace(thread, thread="") == replace(channel, thread="")
                    if not mine or asked.outcome is not Outcome.ANSWERED or asked_again >= MOST_PREVIEWED:
                        continue
                    turn = await self._turn(thread, asked.trace_id)
                    change = await self._change(thread, turn, readers, settings) if turn is not None else None
                    asked_again += 1
                    if turn is not None and change is not None:
                        found.append((turn, change, asked.private))
        except TimeoutError:
            pass  # report what was found in time
        return _preview_text(found)

    async def _turn(self, thread: ThreadKey, trace: str) -> Turn | None:
        record = await self.memory.recall(thread)
        return next((one for one in record.turns if one.trace_id == trace and one.citations), None)

    async def _change(
        self, thread: ThreadKey, turn: Turn, readers: Audience, settings: ChannelSettings
    ) -> AnswerChange | None:
        documents = cited_documents(turn)
        visible = await self.check.catalog.visible_versions(documents)
        bases = await self.check.readable_bases(ReadersToday(readers, readers), settings)
        readable = turn.readable_by(frozenset(base.name for base in bases))
        if not readable or any(document not in visible for document in documents):
            return None
        missing = await self.check.missing(turn, visible)
        return await self.check.change(thread, turn, missing, bases, settings, by_quotes=True) if missing else None


def _preview_text(found: list[tuple[Turn, AnswerChange, bool]]) -> str:
    if not found:
        return "In the last 30 days, none of my answers here has changed. I would have told nobody."
    people = len({turn.asker.id for turn, _, _ in found})
    told = f"{people} {'person' if people == 1 else 'people'}"
    lines = [
        f"In the last 30 days, I would have told {told} about {count(len(found), 'changed answer')}. I sent nothing."
    ]
    for turn, change, private in found:
        if not private:
            lines.append(f"For example: “{_short(turn.question)}” {_difference(change)}")
            break
    return " ".join(lines)
