"""Which wording of a question is the latest: of several edits in quick succession only the last is answered.

An edit waits in the inbox behind the question it changes. By the time its turn comes there may be a later one; what is
kept here lets it step aside, and lets an edit that Discord tells of again, or out of order, change nothing.
"""

from datetime import datetime

from adapters.discord.api.reply_target import ReplyTarget
from core.model.errors import FootnoteError
from core.model.incoming_events import IncomingMessage
from core.ports.message_state import MessageStateStore


class Superseded(FootnoteError):
    """There is a later wording of this question: whoever comes to it answers."""


def stamp_of(edited_at: datetime | None) -> str:
    """When a message was edited, as its address carries it; empty when it was not."""
    return f"{edited_at.timestamp():.6f}" if edited_at is not None else ""


class EditVersions:
    """Kept for as long as the message states are."""

    def __init__(self, message_states: MessageStateStore) -> None:
        self._message_states = message_states

    async def is_news(self, message: IncomingMessage) -> bool:
        """Whether this edit is later than every one that was taken in."""
        kept = await self._message_states.read(str(message.thread), _subject(message.id))
        return _time(ReplyTarget.of(message.address).edited) > _time(kept.get("heard", ""))

    async def announce(self, message: IncomingMessage) -> None:
        """This edit is on its way in: what is earlier need not be begun any more."""
        await self._keep(message, "newest")

    async def taken_in(self, message: IncomingMessage) -> None:
        """This edit is in the inbox."""
        await self._keep(message, "heard")

    async def _keep(self, message: IncomingMessage, name: str) -> None:
        stamp = ReplyTarget.of(message.address).edited
        await self._message_states.keep(
            str(message.thread), _subject(message.id), {name: stamp}, person=message.asker.id
        )

    async def check(self, message: IncomingMessage) -> None:
        """Raise Superseded when a later wording of this message has come."""
        kept = await self._message_states.read(str(message.thread), _subject(message.id))
        if _time(kept.get("newest", "")) > _time(ReplyTarget.of(message.address).edited):
            raise Superseded("This question has been edited again.")


def _time(stamp: str) -> float:
    return float(stamp or 0.0)


def _subject(message_id: str) -> str:
    return f"edit:{message_id}"
