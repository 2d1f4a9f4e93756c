"""Layouts of our messages as text and buttons, from the first progress message to the answer with its sources.

All messages use Discord's component layout. A message cannot switch away from it, so the first progress message already
uses it. Links get no previews, and mentions notify nobody. Buttons carry ids, never state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

import discord
from discord import ui

from adapters.discord.outbound.buttons import Button, answer_button, choice_button, follow_up_button, stop_button
from adapters.discord.outbound.sanitizer import SanitizedView, Text, links_in
from adapters.discord.outbound.text import LAYOUT_TEXT_LIMIT, answer_parts, clip, escape, link, markdown, source_lines
from core.model.answer import Answer, Citation
from core.model.incoming_events import IncomingMessage, ReplyMode
from core.model.inquiry import Checkpoint
from core.ports.answer_view import Step, StepState
from core.ports.chat import AnswerPlace, Concluded, End, Failed, Offered, Work
from core.service.actions.presses import RATINGS, AnswerButton, buttons_below
from core.service.actions.wording import CARD_OVER

WORKING_COLOUR = 0x5865F2
ASKING_COLOUR = 0xF0B232
FAILED_COLOUR = 0xDA373C
STEPS_SHOWN = 8
IN_A_ROW = 5  # buttons: Discord's limit
STREAM_SHOWN = 2_400  # characters of the text so far; if it is longer, its end is shown


@dataclass(frozen=True, slots=True)
class Extras:
    """Parts of an answer beside its text: some buttons, and the question if no message above shows it."""

    feedback: bool = True
    handoff: bool = False
    share: bool = False
    question: str = ""


def layout(*items: ui.Item[Any]) -> SanitizedView:
    """Return a message with these parts."""
    return SanitizedView(*items)


def text_layout(text: str, sources: Sequence[Citation] = (), *, mentions: bool = False) -> SanitizedView:
    """Return a message with one text in Discord's Markdown. Only these sources may be links."""
    return layout(Text(clip(text, LAYOUT_TEXT_LIMIT), links=links_of(sources), mentions=mentions))


def links_of(sources: Sequence[Citation]) -> frozenset[str]:
    """Return the addresses of these sources, including those in their quotes."""
    addresses = (address for source in sources for address in source.addresses)
    return frozenset(filter(None, map(link, addresses)))


def progress_layout(
    steps: Mapping[str, Step],
    written: str,
    notices: Sequence[str],
    trace_id: str,
    *,
    question: str = "",
) -> SanitizedView:
    """Return the progress: a line per step, the text so far, and a *Stop* button."""
    lines = [_step(step) for step in list(steps.values())[-STEPS_SHOWN:]] or ["-# Looking into it …"]
    parts: list[ui.Item[Any]] = [ui.TextDisplay("\n".join([*_notice_lines(notices), *lines]))]
    if written.strip():
        parts += [ui.Separator(), ui.TextDisplay(_so_far(written))]
    parts.append(row(stop_button(trace_id)))
    return layout(*question_items(question), ui.Container(*parts, accent_colour=WORKING_COLOUR))


def question_items(question: str) -> list[ui.Item[Any]]:
    """Return the question as small print, or nothing if it is shown above anyway."""
    return [ui.TextDisplay(question)] if question else []


def _step(step: Step) -> str:
    mark = "…" if step.state is StepState.RUNNING else "✓"
    detail = f" · {escape(clip(step.detail, 120))}" if step.detail else ""
    return f"-# {mark} {escape(clip(step.title, 120))}{detail}"


def _so_far(written: str) -> str:
    """Return the end of the text so far, with an open code block closed."""
    shown = markdown(written)
    if len(shown) > STREAM_SHOWN:
        shown = "…" + shown[-STREAM_SHOWN:]
    return shown + ("\n```" if shown.count("```") % 2 else " ▍")


def row(*buttons: Any) -> ui.ActionRow[Any]:
    """Return a row of buttons, or of one menu."""
    return ui.ActionRow(*buttons)


def answer_part(
    text: str, sources: Sequence[Citation] = (), question: str = "", notices: Sequence[str] = ()
) -> SanitizedView:
    """Return a part of a long answer, but not the last one."""
    return layout(*question_items(question), *_notice_items(notices), Text(text, links=links_of(sources)))


def answer_layout(
    text: str, answer: Answer, trace_id: str, extras: Extras, *, notices: Sequence[str] = ()
) -> SanitizedView:
    """Return the last part of an answer: notices, text, sources and buttons."""
    parts: list[ui.Item[Any]] = [*question_items(extras.question), *_notice_items(notices)]
    if text:
        parts.append(Text(text, links=links_of((*answer.citations, *answer.nearest))))
    if answer.citations:
        listed = "**Sources**\n" + source_lines(answer.citations)
        parts += [ui.Separator(), Text(listed, links=links_of(answer.citations))]
    asked_next = [
        follow_up_button(trace_id, number, suggested.label) for number, suggested in enumerate(answer.follow_ups, 1)
    ]
    parts += [row(*asked_next)] if asked_next else []
    buttons = _answer_buttons(answer, trace_id, extras)
    parts += [row(*buttons[start : start + IN_A_ROW]) for start in range(0, len(buttons), IN_A_ROW)]
    return layout(*parts)


def _answer_buttons(answer: Answer, trace_id: str, extras: Extras) -> list[Button]:
    offered = buttons_below(answer, handoff=extras.handoff, private=extras.share)
    wanted = [action for action in offered if extras.feedback or action not in RATINGS]
    return [answer_button(action, trace_id) for action in wanted]


def checkpoint_card(
    checkpoint: Checkpoint, answer: Answer, trace_id: str, notices: Sequence[str] = (), *, question: str = ""
) -> SanitizedView:
    """Return a checkpoint's card: its message, what was found, and the choices."""
    lines = [
        *_notice_lines(dict.fromkeys([*notices, *answer.notices])),
        clip(markdown(checkpoint.message), 1_500),
    ]
    links = links_of((*answer.citations, *answer.nearest))
    parts: list[ui.Item[Any]] = [Text("\n".join(lines), links=links)]
    listed = source_lines(answer.citations) if answer.citations else _found_list(checkpoint.progress)
    if listed:
        parts += [ui.Separator(), Text(listed, links=links)]
    choices = [choice_button(checkpoint.id, choice, first=n == 0) for n, choice in enumerate(checkpoint.choices)]
    parts += [row(*choices[start : start + IN_A_ROW]) for start in range(0, len(choices), IN_A_ROW)]
    if answer.citations:
        parts.append(row(answer_button(AnswerButton.QUOTES, trace_id)))
    return layout(*question_items(question), ui.Container(*parts, accent_colour=ASKING_COLOUR))


def _found_list(found: Sequence[str]) -> str:
    listed = [f"-# • {escape(clip(one, 120))}" for one in found]
    return "\n".join(["-# Found so far:", *listed]) if listed else ""


def failure_layout(message: str, trace_id: str) -> SanitizedView:
    """Return a failure message with its trace."""
    parts: list[ui.Item[Any]] = [ui.TextDisplay(clip(markdown(message), 1_500))]
    if trace_id:
        parts.append(ui.TextDisplay(f"-# trace {trace_id}"))
    return layout(ui.Container(*parts, accent_colour=FAILED_COLOUR))


def _notice_items(notices: Sequence[str]) -> list[ui.Item[Any]]:
    lines = _notice_lines(notices)
    return [ui.TextDisplay(clip("\n".join(lines), 500))] if lines else []


def _notice_lines(notices: Sequence[str] | Mapping[str, None]) -> list[str]:
    return [f"-# {clip(markdown(notice), 300)}" for notice in notices if notice.strip()]


def message_text(message: discord.Message) -> str:
    """Return the text of a message of ours."""
    return "\n".join(filter(None, (message.content, *component_texts(message.components))))


def shown_in(message: discord.Message, *, but_for: str = "") -> SanitizedView:
    """Return the content of a message of ours for editing, without button rows whose ids start with ``but_for``."""
    shown = ui.LayoutView.from_message(message, timeout=None)
    shown.stop()
    kept = [one for one in shown.children if not (but_for and _has_button(one, but_for))]
    return layout(*(_again(one) for one in kept))


def _again(item: ui.Item[Any]) -> ui.Item[Any]:
    return Text(item.content, links=links_in(item.content), mentions=True) if isinstance(item, ui.TextDisplay) else item


def _has_button(item: ui.Item[Any], beginning: str) -> bool:
    buttons = item.children if isinstance(item, ui.ActionRow) else []
    return any((getattr(one, "custom_id", None) or "").startswith(beginning) for one in buttons)


def layout_text(shown: SanitizedView) -> str:
    """Return the text of an unsent layout, in the same form as ``message_text``."""
    return "\n".join(item.content for item in shown.walk_children() if isinstance(item, ui.TextDisplay))


def component_texts(components: Sequence[object]) -> list[str]:
    """Return the texts in a sent message's components, in order."""
    found: list[str] = []
    for component in components:
        found += [component.content] if isinstance(component, discord.TextDisplay) else []
        found += component_texts(getattr(component, "children", ()))
    return found


MOST_PIECES = 50
_APART = (ReplyMode.RESPONSE, ReplyMode.PRIVATE, ReplyMode.DIRECT)  # places where the answer is not below its question


@dataclass(slots=True)
class DiscordRenderer:
    """``core.ports.chat.Renderer`` for one question. ``extras`` are set before the end."""

    message: IncomingMessage
    trace_id: str
    extras: Extras = field(default_factory=Extras)

    def progress(self, work: Work, place: AnswerPlace) -> SanitizedView:
        """Return the progress message."""
        question = self._question_line(place)
        return progress_layout(work.steps, work.written, _notices(work, place), self.trace_id, question=question)

    def end(self, end: End, work: Work, place: AnswerPlace) -> Sequence[SanitizedView]:
        """Return the final messages. If the answer had to go to a direct message, say where it was asked."""
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
                return [checkpoint_card(checkpoint, answer, trace_id, notices, question=question)]
            case Failed(message, trace_id):
                return [failure_layout(message, trace_id)]
            case _:
                assert_never(end)

    def _answer(self, end: Concluded, work: Work, place: AnswerPlace) -> list[SanitizedView]:
        """Split the text into messages. The first has the notices, the last has the sources and buttons."""
        answer, parts = end.answer, answer_parts(end.answer.text, end.answer.citations)
        if len(parts) > MOST_PIECES:
            parts = (*parts[: MOST_PIECES - 1], "… The rest would not end: ask for a part of it.")
        notices = tuple(dict.fromkeys([*_notices(work, place), *answer.notices]))
        above = [(self._question_line(place), notices), *[("", ())] * (len(parts) - 1)]
        question, below = above[-1]
        last = replace(self.extras, question=question)
        return [
            *(answer_part(part, answer.citations, *above[n]) for n, part in enumerate(parts[:-1])),
            answer_layout(parts[-1], answer, end.trace_id, last, notices=below),
        ]

    def _question_line(self, place: AnswerPlace) -> str:
        """Return the question if the answer is not below it, with a note if only one person can see it."""
        if place.mode not in _APART and self.message.reply_target.mode not in _APART:
            return ""
        alone = "\n-# visible to you only" if self.message.private else ""
        return f"> {escape(clip(self.message.text, 300))}{alone}"

    def closed_card(self, card: Checkpoint) -> SanitizedView:
        """Return an expired card: its text without its choices."""
        said = f"{clip(markdown(card.message), 1_500)}\n-# {CARD_OVER}"
        return layout(ui.Container(Text(said), accent_colour=ASKING_COLOUR))

    def plain(self, payload: SanitizedView, *, edited: bool) -> SanitizedView | None:
        """Return only the text, as a new message, or None for an edit."""
        if edited:
            return None
        return layout(Text(clip(layout_text(payload), LAYOUT_TEXT_LIMIT), links=payload.links))


def _notices(work: Work, place: AnswerPlace) -> list[str]:
    return [
        *work.notices,
        *([f"I could not answer in the place where you asked. {place.because}"] if place.because else []),
    ]
