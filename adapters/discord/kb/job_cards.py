"""Job cards in Discord: the ephemeral response to the command that created the job.

A response can be edited with its interaction's token for a quarter of an hour. The result of a longer job is a direct
message.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_view import translated
from adapters.discord.outbound.buttons import kb_button
from adapters.discord.outbound.messages import TOKEN_SECONDS, Messages, Spot, interaction_time
from adapters.discord.outbound.sanitizer import SanitizedView, Text
from adapters.discord.outbound.text import markdown_lines
from core.model.errors import NotFound
from core.service.delivery.job_cards import KeptJobCard
from core.service.kb.job_cards import job_card
from core.service.kb.summaries import JobSummary
from core.service.kb.text_spans import Line, line_text


@dataclass(frozen=True, slots=True)
class DiscordCards:
    """``core.service.delivery.job_cards.CardMessages``. ``connected`` waits for the connection."""

    messages: Messages
    connected: Callable[[], Awaitable[None]]
    now: Callable[[], float] = time.time

    async def edit(self, card: KeptJobCard, *, once: bool) -> None:
        """Edit the response with the newest token, or the direct message that shows the card."""
        await self.connected()
        with translated():
            spot = _spot(card)
            if spot.private and self.now() - spot.token_from >= TOKEN_SECONDS:
                raise NotFound("The time for a private answer is over.")
            await self.messages.edit(spot, int(card.message), _view(card))

    async def direct_channel(self, asker: str) -> str:
        """Return the channel of direct messages with this person."""
        await self.connected()
        with translated():
            return str(await self.messages.direct_channel(int(asker)))

    async def post(self, card: KeptJobCard, key: str, *, plain: bool = False) -> str:
        """Post the card as a direct message, under its key as the nonce."""
        with translated():
            return str(await self.messages.post(_spot(card), _view(card), key[:25]))

    async def find(self, channel: str, key: str) -> str:
        """Return an empty string: a message posted again with its nonce is the same message."""
        return ""


def _spot(card: KeptJobCard) -> Spot:
    if card.channel or card.target is None:
        return Spot(int(card.channel))
    target = card.target
    return Spot(int(target.channel), token=target.token, token_from=interaction_time(target.message), private=True)


def _view(kept: KeptJobCard) -> SanitizedView:
    assert kept.state is not None, "a card is shown for its state"
    origin = f"-# You asked for this in <#{kept.target.channel}>." if kept.channel and kept.target is not None else ""
    return card(kept.state, kept.words.lines if kept.words is not None else (), kept.cancel, origin)


def card(job: JobSummary, words: Sequence[Line] = (), cancel: str = "", origin: str = "") -> SanitizedView:
    """Return the job's card with ``words`` below it, and a button for the command stored as ``cancel``."""
    shown = job_card(job)
    lines = [markdown_lines(shown.lines)]
    lines += [f"-# {markdown_lines([line])}" for line in words if line_text(line).strip()]
    parts: list[Any] = [Text("\n".join(filter(None, [*lines, f"-# {shown.footer}", origin])), mentions=True)]
    if cancel and shown.cancel is not None:
        parts.append(layouts.row(kb_button(cancel, shown.cancel.label)))
    return layouts.layout(*parts)
