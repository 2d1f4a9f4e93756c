"""Rendering of one answer's messages as Slack blocks. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from adapters.slack.outbound import blocks
from adapters.slack.outbound.blocks import Block
from adapters.slack.outbound.text import escape, safe_markdown, shorten
from core.model.incoming_events import ReplyMode
from core.model.inquiry import Checkpoint
from core.ports.chat import AnswerPlace, Concluded, End, Failed, Offered, Work
from core.service.actions.wording import CARD_OVER

MOST_SHOWN = 9_000  # characters of unfinished text; a message fails near 13,200, and the final message shows all of it
LONGEST_UPDATE = 4_000  # characters of ``text`` that chat.update takes
LONGEST_TEXT = 12_000  # characters of a message without blocks; Slack cuts at 40,000
MOST_QUOTED = 300  # characters of the question, in a direct message about it


@dataclass(frozen=True, slots=True)
class SlackMessage:
    """One message: blocks, and the text for notifications. Without blocks, the text is the whole message."""

    text: str
    blocks: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class SlackRenderer:
    """``core.ports.chat.Renderer`` for one question. The caller sets what must be looked up before the end."""

    question: str
    message: str  # the question's id, which a stop names
    above: list[Block]  # the question, if no message contains it
    heading: list[Block] = field(default_factory=list)  # the same, also if others have written since
    partners: str = ""  # what to say about readers of another organization
    offers_handoff: bool = False

    def progress(self, work: Work, place: AnswerPlace) -> SlackMessage:
        """Return the progress. In an ephemeral message, which cannot be edited, announce the answer instead."""
        if place.mode is ReplyMode.PRIVATE:
            coming = "Looking that up. The answer will be visible to you only."
            return SlackMessage("Looking…", [blocks.context(coming)])
        shown = safe_markdown(work.written)[:MOST_SHOWN]
        going = blocks.progress_blocks(work.steps.values(), shown, work.notices, self.message)
        return SlackMessage("Looking…", [*self.above, *going])

    def end(self, end: End, work: Work, place: AnswerPlace) -> Sequence[SlackMessage]:
        """Return the final messages. A direct message gets no buttons, because they would act on the wrong thread."""
        match end:
            case Concluded():
                text, layouts = end.answer.text, self._answer(end, work, private=place.mode is ReplyMode.PRIVATE)
            case Offered():
                text = end.checkpoint.message
                layouts = [[*self.heading, *blocks.card(end.checkpoint, end.answer, work.notices, end.trace_id)]]
            case Failed():
                text, layouts = end.message, [self._failure(end, work)]
            case _:
                assert_never(end)
        if place.mode is ReplyMode.DIRECT:
            layouts = [blocks.without_buttons(layout) for layout in layouts]
            layouts[0] = [self._moved(place), *layouts[0]]
        return [SlackMessage(blocks.fallback(text), layout) for layout in layouts]

    def _answer(self, end: Concluded, work: Work, *, private: bool) -> list[list[Block]]:
        answer, parts = end.answer, blocks.answer_parts(end.answer)
        layouts = [[blocks.answer_part(part, answer)] if part.strip() else [] for part in parts]
        layouts[-1] += blocks.foot(answer, end.trace_id, handoff=self.offers_handoff, private=private)
        layouts[0] = [*self._above_answer(end, work), *layouts[0]]
        return layouts

    def _above_answer(self, end: Concluded, work: Work) -> list[Block]:
        notices = [*filter(None, [self.partners]), *work.notices]
        return [*self.heading, *blocks.notice_lines(notices, end.answer)]

    def _failure(self, end: Failed, work: Work) -> list[Block]:
        """Return the failure message and its trace id, below the text streamed so far."""
        written = safe_markdown(work.written)[: blocks.PART]
        shown = [blocks.markdown(written)] if written.strip() and work.streaming else []
        said = [blocks.section(escape(end.message)), blocks.context(f"trace {end.trace_id}")]
        return [*self.above, *shown, *said]

    def _moved(self, place: AnswerPlace) -> Block:
        asked = escape(shorten(self.question, MOST_QUOTED))
        return blocks.context(
            f"I could not answer in the place where you asked: {escape(place.because)}. You asked: “{asked}”"
        )

    def below_stream(self, end: Concluded, work: Work) -> SlackMessage | None:
        """Return what belongs below a stream that shows exactly this text, or None if the stream does not."""
        parts = blocks.answer_parts(end.answer)
        is_same = len(parts) == 1 and safe_markdown(work.written).strip() == parts[0].strip()
        if not is_same or self._above_answer(end, work) or blocks.has_links(parts[0], end.answer):
            return None
        return SlackMessage("", blocks.foot(end.answer, end.trace_id, handoff=self.offers_handoff, private=False))

    def closed_card(self, card: Checkpoint) -> SlackMessage:
        """Return an expired card: its text without its choices."""
        said = [blocks.markdown(escape(card.message)), blocks.context(CARD_OVER)]
        return SlackMessage(CARD_OVER, [*self.above, *said])

    def plain(self, payload: SlackMessage, *, edited: bool) -> SlackMessage | None:
        """Return the same text without blocks, or None if it is too long for an edit."""
        text = blocks.plain_text(payload.blocks)
        if edited:
            return SlackMessage(text) if len(text) <= LONGEST_UPDATE else None
        return SlackMessage(text[:LONGEST_TEXT])
