"""How the messages of one answer look on Discord: pure, from what there is to show to layouts."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from adapters.discord.outbound import layouts
from adapters.discord.outbound.layouts import Extras
from adapters.discord.outbound.sanitizer import SanitizedView, Text
from adapters.discord.outbound.text import answer_parts, clip, escape
from core.model.incoming_events import IncomingMessage, ReplyMode
from core.model.inquiry import Checkpoint
from core.ports.chat import AnswerPlace, Concluded, End, Failed, Offered, Work

MOST_PIECES = 50
_APART = (ReplyMode.RESPONSE, ReplyMode.PRIVATE, ReplyMode.DIRECT)  # where the answer is not below its question


@dataclass(slots=True)
class DiscordRenderer:
    """``core.ports.chat.Renderer`` for one question. ``extras`` are looked up before the end."""

    message: IncomingMessage
    trace_id: str
    extras: Extras = field(default_factory=Extras)

    def progress(self, work: Work, place: AnswerPlace) -> SanitizedView:
        """The work as it goes."""
        question = self._question_line(place)
        return layouts.progress_layout(
            work.steps, work.written, _notices(work, place), self.trace_id, question=question
        )

    def end(self, end: End, work: Work, place: AnswerPlace) -> Sequence[SanitizedView]:
        """The end, with where it was asked, if the answer had to go to the asker directly."""
        views = self._views(end, work, place)
        target = self.message.reply_target
        if target.guild and place.mode is ReplyMode.DIRECT is not target.mode:
            views[0].add_item(Text(f"-# asked in <#{target.channel}>", mentions=True))
        return views

    def _views(self, end: End, work: Work, place: AnswerPlace) -> list[SanitizedView]:
        match end:
            case Concluded():
                return self._answer(end, work, place)
            case Offered(checkpoint, answer, trace_id):
                notices, question = _notices(work, place), self._question_line(place)
                return [layouts.checkpoint_card(checkpoint, answer, trace_id, notices, question=question)]
            case Failed(message, trace_id):
                return [layouts.failure_layout(message, trace_id)]
            case _:
                assert_never(end)

    def _answer(self, end: Concluded, work: Work, place: AnswerPlace) -> list[SanitizedView]:
        """The text in as many messages as it takes; the first has the notices, the last the sources and buttons."""
        answer, parts = end.answer, answer_parts(end.answer.text, end.answer.citations)
        if len(parts) > MOST_PIECES:
            parts = (*parts[: MOST_PIECES - 1], "… The rest would not end: ask for a part of it.")
        notices = tuple(dict.fromkeys([*_notices(work, place), *answer.notices]))
        above = [(self._question_line(place), notices), *[("", ())] * (len(parts) - 1)]
        question, below = above[-1]
        last = replace(self.extras, question=question)
        return [
            *(layouts.answer_part(part, answer.citations, *above[n]) for n, part in enumerate(parts[:-1])),
            layouts.answer_layout(parts[-1], answer, end.trace_id, last, notices=below),
        ]

    def _question_line(self, place: AnswerPlace) -> str:
        """The question, where the answer is not below it, and who can see this, where that is only one."""
        if place.mode not in _APART and self.message.reply_target.mode not in _APART:
            return ""
        alone = "\n-# visible to you only" if self.message.private else ""
        return f"> {escape(clip(self.message.text, 300))}{alone}"

    def closed_card(self, card: Checkpoint) -> SanitizedView:
        """A card whose time is over."""
        return layouts.closed_card(card)

    def plain(self, payload: SanitizedView, *, edited: bool) -> SanitizedView | None:
        """The same words and nothing else, in a message of their own."""
        return None if edited else layouts.text_only(payload)


def _notices(work: Work, place: AnswerPlace) -> list[str]:
    return [*work.notices, *([f"I could not answer where you asked. {place.because}"] if place.because else [])]
