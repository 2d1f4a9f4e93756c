"""Job cards in Slack: direct messages, found again by the key in their metadata.

An ephemeral message in a channel can be edited for half an hour only, and a job may take longer.
"""

from dataclasses import dataclass, field

from adapters.slack.api.ids import PLATFORM
from adapters.slack.api.web_client import RateLimiter
from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.outbound import blocks
from adapters.slack.outbound.answer_surface import translated
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.conversation import ThreadKey
from core.ports.chat import CallRefused, Refusal
from core.service.delivery.job_cards import KeptJobCard
from core.service.kb.job_cards import job_card, job_title

EDITS, EDIT_SECONDS = 4, 10.0  # card edits per these seconds in this process; answers need the rest of Slack's limit
MOST_SEARCHED = 50  # messages searched for a card


@dataclass(frozen=True, slots=True)
class SlackCards:
    """``core.service.delivery.job_cards.CardMessages`` over direct messages."""

    workspace: SlackWorkspace
    rate_limiter: RateLimiter = field(default_factory=lambda: RateLimiter({"card": EDITS}, EDIT_SECONDS))

    async def edit(self, card: KeptJobCard, *, once: bool) -> None:
        """Show the card's state. With ``once``, make one attempt within the rate limit for cards."""
        web = self.workspace.web
        if once and not self.rate_limiter.try_acquire("card"):
            raise CallRefused(Refusal.LIMITED, "Cards have to wait.")
        call, (text, layout) = web.call_once if once else web.call, _shown(card)
        with translated():
            where = {"channel": card.channel, "ts": card.message}
            await call("chat.update", text=blocks.fallback(text), blocks=layout, link_names=False, **where)

    async def direct_channel(self, asker: str) -> str:
        """Return the channel of direct messages with this person."""
        with translated():
            return await self.workspace.messages.direct_channel(asker)

    async def post(self, card: KeptJobCard, key: str, *, plain: bool = False) -> str:
        """Post the card with its key as metadata."""
        text, layout = _shown(card)
        if plain:
            layout = [blocks.section(blocks.plain_text(layout))]
        with translated():
            place = ThreadKey(PLATFORM, "", card.channel, "")
            return str((await self.workspace.messages.post(place, text, layout, part=key))["ts"])

    async def find(self, channel: str, key: str) -> str:
        """Return the ``ts`` of the message whose metadata has the key."""
        look = {"channel": channel, "limit": MOST_SEARCHED, "include_all_metadata": True}
        with translated():
            found = await self.workspace.web.call("conversations.history", **look)
        for message in found.get("messages") or []:
            payload = (message.get("metadata") or {}).get("event_payload") or {}
            if payload.get("part") == key:
                return str(message["ts"])
        return ""


def _shown(card: KeptJobCard) -> tuple[str, list[blocks.Block]]:
    """Return the notification text and the blocks."""
    return ("", []) if card.state is None else (job_title(card.state), kb_blocks.card(job_card(card.state)))
