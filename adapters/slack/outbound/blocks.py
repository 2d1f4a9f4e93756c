"""Block Kit for messages: pure functions from answers, checkpoints and steps.

Slack's limits: 50 blocks a message, 3,000 characters a section, 12,000 of ``markdown`` and about 13,200 in total.
https://docs.slack.dev/reference/block-kit/blocks
"""

from collections.abc import Iterable, Sequence
from typing import Any

from adapters.slack.api.sanitizer import ActiveContent, permit, permit_as_shown
from adapters.slack.api.sanitizer import markdown as sanitized
from adapters.slack.outbound.payloads import ChoiceValue, FollowUpValue, RatingValue, ThreadBlock
from adapters.slack.outbound.text import escape, link, safe_markdown, shorten, without_markup
from core.model.answer import Answer, Citation
from core.model.inquiry import Checkpoint
from core.model.person_answers import OFFER_LABELS, Offer, OfferAction
from core.ports.answer_view import Step, StepState
from core.service.actions.presses import RATINGS, ROWS, AnswerButton, buttons_below
from core.service.actions.wording import ANSWER_AGAIN, YOU_EDITED
from core.service.text_splitter import split_markdown

Block = dict[str, Any]

PART = 8_500  # characters of escaped Markdown per message; leaves room for the sources below the last part
SECTION = 2_900  # characters of a section, of Slack's 3,000: the sanitizer may add some
FALLBACK = 2_900  # characters of the text for notifications and screen readers
TASK = 250  # characters of a task's title or output
MOST_SOURCES = 12  # below one answer; *Show quotes* lists all
MOST_NOTICES = 5
BUTTON = 75  # characters of a label: https://docs.slack.dev/reference/block-kit/block-elements/button-element

STOP, CHOOSE, QUOTES, WHY, FEEDBACK, HANDOFF, SHARE, FOLLOW_UP, AGAIN, OWNER = (
    f"footnote_{name}"
    for name in ("stop", "choose", "quotes", "why", "feedback", "handoff", "share", "follow_up", "again", "owner")
)
MUTE_NOTICES, OPEN_THREAD = "footnote_mute_notices", "footnote_open_thread"
OFFER = "footnote_offer"  # followed by the action
CHOICES = "footnote_choices"  # the block with a checkpoint's buttons
_WITH_BUTTONS = {"actions", "context_actions"}


def context(text: str) -> Block:
    """Return a small grey line. ``text`` is safe ``mrkdwn``."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": shorten(text, 1_900)}]}


def section(text: str) -> Block:
    """Return a paragraph of safe ``mrkdwn``."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": shorten(text, SECTION)}}


def plain_section(text: str) -> Block:
    """Return a paragraph of plain text, without markup."""
    return {"type": "section", "text": {"type": "plain_text", "text": text[:SECTION] or " ", "emoji": False}}


def markdown(text: str) -> Block:
    """Return a paragraph of safe Markdown."""
    return {"type": "markdown", "text": text}


def button(label: str, action: str, value: str, *, style: str = "") -> Block:
    """Return a button. ``value`` is an id, never state."""
    shown = label if len(label) <= BUTTON else label[: BUTTON - 1].rstrip() + "…"
    element: Block = {"type": "button", "action_id": action, "value": value}
    element["text"] = {"type": "plain_text", "text": shown, "emoji": False}
    return element | ({"style": style} if style else {})


def links_of(answer: Answer) -> frozenset[str]:
    """Return the only links that the answer's text may contain."""
    return frozenset(link for source in (*answer.citations, *answer.nearest) for link in source.addresses)


# --- in progress


def progress_blocks(steps: Iterable[Step], text: str, notices: Sequence[str], stop_value: str) -> list[Block]:
    """Return the progress message: steps, the text so far, and *Stop*. ``text`` is safe Markdown."""
    lines = [_line(step) for step in steps][-8:] or ["Looking…"]
    shown = [context("\n".join(lines))]
    shown += [markdown(text)] if text.strip() else []
    shown += [context(escape(notice)) for notice in notices[-3:]]
    return [*shown, stop_row(stop_value)]


def stop_row(value: str) -> Block:
    """Return the *Stop* button."""
    return {"type": "actions", "block_id": "footnote_stopping", "elements": [button("Stop", STOP, value)]}


def task(step: Step) -> dict[str, Any]:
    """Return a step as a task of a stream."""
    status = "in_progress" if step.state is StepState.RUNNING else "complete"
    made = {"type": "task_update", "id": step.id, "title": _task_text(step.title), "status": status}
    return made | ({"output": _task_text(step.detail)} if step.detail else {})


def _task_text(text: str) -> str:
    return shorten(escape(shorten(text, TASK // 2)), TASK)


def _line(step: Step) -> str:
    mark = "▸" if step.state is StepState.RUNNING else "✓"
    detail = f" — {escape(step.detail)}" if step.detail else ""
    return shorten(f"{mark} {escape(step.title)}{detail}", 220)


# --- final answer


def answer_part(text: str, answer: Answer) -> Block:
    """Return a part of an answer's text with links to the answer's sources permitted."""
    return permit(markdown(text), links=tuple(links_of(answer)))


def has_links(text: str, answer: Answer) -> bool:
    """Return whether this part of an answer contains a link. A stream shows none."""
    return sanitized(text, ActiveContent(links_of(answer))) != sanitized(text, ActiveContent())


def answer_parts(answer: Answer) -> tuple[str, ...]:
    """Return the answer's text, escaped and split into one part per message."""
    return split_markdown(safe_markdown(answer.text), PART)


def asked_line(name: str, question: str) -> Block:
    """Return the line "… asked: …" for an answer whose question no message contains."""
    return context(f"{escape(shorten(name or 'Somebody', 80))} asked: {escape(shorten(question, 300))}")


def offer_again(root: str, question_id: str) -> list[Block]:
    """Return the note to a writer who edited a question after its answer. ``root`` is its thread."""
    pressed = button(ANSWER_AGAIN, AGAIN, question_id)
    row: Block = {"type": "actions", "block_id": "footnote_again", "elements": [pressed]}
    return with_thread([section(YOU_EDITED), row], root)


def offer_row(actions: Iterable[OfferAction], name: str) -> Block:
    """Return the buttons of an offer about a person's answer. ``name`` is the offer's id."""
    shown = [button(OFFER_LABELS[one], f"{OFFER}_{one}", name) for one in actions]
    return {"type": "actions", "block_id": "footnote_offer", "elements": shown}


def offer(asked: Offer) -> list[Block]:
    """Return an offer to one person, with the text that it is about quoted unchanged."""
    quoted = [plain_section(asked.quoted)] if asked.quoted else []
    return [section(escape(asked.text)), *quoted, offer_row(asked.actions, asked.id)]


def notice_lines(notices: Sequence[str], answer: Answer) -> list[Block]:
    """Return notices to read before the answer, such as a file that could not be read."""
    return [context(escape(notice)) for notice in dict.fromkeys((*notices, *answer.notices))][:MOST_NOTICES]


def foot(answer: Answer, trace_id: str, *, handoff: bool, private: bool) -> list[Block]:
    """Return the sources and the buttons below an answer. The effort is shown by *why*."""
    return [*sources(answer.citations), *_buttons(answer, trace_id, handoff=handoff, private=private)]


def _follow_ups(answer: Answer, trace_id: str) -> list[Block]:
    """Return a button for each suggested follow-up. Its value holds the answer's trace and the suggestion's number."""
    row = [
        button(suggested.label, f"{FOLLOW_UP}_{number}", FollowUpValue(trace_id, number).encode())
        for number, suggested in enumerate(answer.follow_ups, 1)
    ]
    return [{"type": "actions", "block_id": "footnote_follow_ups", "elements": row}] if row else []


def sources(citations: Sequence[Citation]) -> list[Block]:
    """Return the numbered sources with title, place, date and link, plus the path if documents share a title."""
    documents: dict[str, set[str]] = {}
    for one in citations:
        documents.setdefault(one.title, set()).add(one.document)
    lines = [source_line(one, path=len(documents[one.title]) > 1) for one in citations[:MOST_SOURCES]]
    if len(citations) > MOST_SOURCES:
        lines.append(f"… and {len(citations) - MOST_SOURCES} more: *Show quotes* has them all.")
    rows: list[Block] = []
    for line in lines:
        last = rows[-1]["text"]["text"] if rows else ""
        if rows and len(last) + len(line) < SECTION - 1:
            rows[-1]["text"]["text"] = f"{last}\n{line}"
        else:
            rows.append(section(line))
    return [permit(row, links=[one.url for one in citations]) for row in rows]


def source_line(source: Citation, *, path: bool = True) -> str:
    """Return a source in safe ``mrkdwn``. With ``path``, add the document's path if it has no link."""
    title = shorten(source.title or source.document, 120)
    where = f" · {escape(shorten(source.short_place, 160))}" if source.short_place else ""
    dated = f" · {escape(source.dated)}" if source.dated else ""
    named = f"*{link(source.url, title)}*" if source.url else f"*{escape(title)}*"
    bare = not path or bool(source.url) or source.document == source.title
    located = "" if bare else f" · {escape(shorten(source.document, 120))}"
    return f"[{source.n}] {named}{where}{dated}{located}"


_ACTION_IDS = {
    AnswerButton.QUOTES: QUOTES,
    AnswerButton.WHY: WHY,
    AnswerButton.SHARE: SHARE,
    AnswerButton.HANDOFF: HANDOFF,
    AnswerButton.OWNER: OWNER,
}


def _buttons(answer: Answer, trace_id: str, *, handoff: bool, private: bool) -> list[Block]:
    offered = buttons_below(answer, handoff=handoff, private=private)
    row = [button(ROWS[action].label, _ACTION_IDS[action], trace_id) for action in offered if action not in RATINGS]
    rows = [{"type": "actions", "block_id": "footnote_answer", "elements": row}] if row else []
    rows += _follow_ups(answer, trace_id)
    return [*rows, feedback(trace_id)] if RATINGS.issubset(offered) else rows


def quotes_button(trace_id: str) -> Block:
    """Return the button that shows the exact passages."""
    return button(ROWS[AnswerButton.QUOTES].label, QUOTES, trace_id)


def feedback(trace_id: str) -> Block:
    """Return 👍 and 👎."""

    def side(text: str, *, helpful: bool) -> Block:
        value = RatingValue(helpful, trace_id).encode()
        return {"text": {"type": "plain_text", "text": text, "emoji": True}, "value": value}

    buttons = {
        "type": "feedback_buttons",
        "action_id": FEEDBACK,
        "positive_button": side("👍", helpful=True) | {"accessibility_label": "This helped"},
        "negative_button": side("👎", helpful=False) | {"accessibility_label": "This did not help"},
    }
    return {"type": "context_actions", "block_id": "footnote_feedback", "elements": [buttons]}


# --- checkpoints


def card(checkpoint: Checkpoint, answer: Answer, notices: Sequence[str], trace_id: str) -> list[Block]:
    """Return a checkpoint: what was found, what is missing, and the choices."""
    rows = [*notice_lines(notices, answer), answer_part(shorten(safe_markdown(checkpoint.message), 4_000), answer)]
    if answer.citations:
        rows += sources(answer.citations)
    elif checkpoint.progress:
        found = "\n".join(f"• {escape(shorten(title, 160))}" for title in checkpoint.progress[:5])
        rows.append(context(f"Found so far:\n{found}"))
    buttons = [
        button(
            choice.label,
            f"{CHOOSE}_{number}",
            ChoiceValue(checkpoint.id, choice.id).encode(),
            style="" if number else "primary",
        )
        for number, choice in enumerate(checkpoint.choices[:25])
    ]
    quotes = [quotes_button(trace_id)] if answer.citations else []
    return [*rows, {"type": "actions", "block_id": CHOICES, "elements": [*buttons, *quotes][:25]}]


def settled_card(blocks: Sequence[Block], what: str) -> list[Block]:
    """Return the card after a choice: its text, with the choice in place of the buttons. ``what`` is safe."""
    kept = permit_as_shown([block for block in blocks if block.get("type") != "actions"])
    return [*kept, context(what)]


def plain_text(layout: Sequence[Block]) -> str:
    """Return a layout as one safe text for when Slack refuses the blocks. Choices are listed in words."""
    lines: list[str] = []
    for block in layout:
        match block["type"]:
            case "markdown":
                lines.append(block["text"])
            case "section":
                lines.append(block["text"]["text"])
            case "context":
                lines += [element["text"] for element in block["elements"]]
            case "actions" if block["block_id"] == CHOICES:
                labels = [one["text"]["text"] for one in block["elements"] if one["action_id"] != QUOTES]
                lines.append(escape(f"Reply with one of these: {' · '.join(labels)}"))
            case _:
                pass
    return "\n".join(lines) or "…"


def with_thread(layout: Sequence[Block], root: str) -> list[Block]:
    """Return the layout with the thread encoded in its buttons, for display outside that thread."""
    return [
        block | {"block_id": ThreadBlock(block["block_id"], root).encode()} if block["type"] in _WITH_BUTTONS else block
        for block in layout
    ]


def without_buttons(layout: Sequence[Block]) -> list[Block]:
    """Return the layout without its buttons."""
    return [block for block in layout if block["type"] not in _WITH_BUTTONS]


def fallback(text: str) -> str:
    """Return the text for notifications beside blocks: safe, short and never empty."""
    return shorten(escape(without_markup(text)) or "…", FALLBACK)
