"""The Home tab: pure functions that build one person's view.

Slack's limits: 100 blocks, 25 elements in a row of buttons.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.slack.api.ids import thread_url
from adapters.slack.outbound import blocks
from adapters.slack.outbound.payloads import FormValues
from adapters.slack.outbound.text import escape, link, mrkdwn, shorten
from adapters.slack.outbound.views import View, modal, text_object
from core.model.answer import Outcome
from core.ports.memory import AskedQuestion
from core.service.actions.user_actions import KnowledgeBaseSummary, SystemStatus
from core.service.help import HELP

ADD, SETTINGS, GAPS, TELL_DAILY = (f"footnote_home_{name}" for name in ("add", "settings", "gaps", "tell_daily"))
CHOOSE_CHANNEL = "footnote_home_channel"  # the form that asks for the channel to configure
MOST_BASES = 40  # shown; a view has 100 blocks
_ENDED = {  # outcomes in an admin's words; any other is shown by its name
    Outcome.ABSTAINED: "not found in the documents",
    Outcome.CLARIFIED: "asked what was meant",
    Outcome.PARKED: "waiting for a choice",
    Outcome.REFUSED: "stopped",
}
CANNOT_ANSWER = "Unanswered questions"


@dataclass(frozen=True, slots=True)
class HomeContents:
    """What one person sees when they open the app. ``outcome`` is the result of their last press."""

    knowledge_bases: Sequence[KnowledgeBaseSummary] = ()
    recent: Sequence[AskedQuestion] = ()  # theirs
    workspace_url: str = ""  # for links to messages; empty if unknown
    outcome: Sequence[blocks.Block] = ()
    proposals: Sequence[blocks.Block] = ()  # proposals with their buttons
    system_status: SystemStatus | None = None  # for admins
    buttons: Sequence[blocks.Block] = ()


def admin_buttons(*, adds: bool, gaps: bool, daily_digest: bool) -> list[blocks.Block]:
    """Return an admin's buttons: add documents, channel settings, unanswered questions, daily reminders."""
    row = [blocks.button("Add documents", ADD, "add", style="primary")] if adds else []
    row.append(blocks.button("Channel settings", SETTINGS, "settings"))
    row += [blocks.button(CANNOT_ANSWER, GAPS, "gaps")] if gaps else []
    if adds:
        daily = ("Stop daily reminders", "no") if daily_digest else ("Remind me of proposals daily", "yes")
        row.append(blocks.button(daily[0], TELL_DAILY, daily[1]))
    return row


def home(contents: HomeContents) -> View:
    """Return the Home tab: knowledge bases, this person's latest questions, and how to ask.

    Admins also see proposals to review and the system status.
    """
    rows: list[blocks.Block] = [*contents.outcome]
    if contents.buttons:
        rows.append({"type": "actions", "block_id": "footnote_home", "elements": list(contents.buttons)})
    if contents.proposals:
        rows += [_header("Proposals to review"), *contents.proposals]
    if contents.recent:
        rows += [_header("Your latest questions"), blocks.section(_recent(contents))]
        rows.append(blocks.context("Only you can see this. `/footnote forget me` deletes all your questions."))
    rows.append(_header("Knowledge bases"))
    rows += [blocks.section(_base_summary(one)) for one in contents.knowledge_bases[:MOST_BASES]]
    if not contents.knowledge_bases:
        rows.append(blocks.section("There are no documents yet that you can read. An admin can add some with `/kb`."))
    rows += [_header("How to ask"), blocks.section("\n".join(f"• {mrkdwn(line)}" for line in HELP))]
    if contents.system_status is not None:
        rows += [_header("For admins"), blocks.section(_system_status(contents.system_status))]
        rows.append(blocks.context("Run `/footnote settings` in a channel to change how I answer there."))
    return {"type": "home", "blocks": rows[:100]}


def choose_channel() -> View:
    """Return the form that asks which channel's settings to change."""
    filtered = {"include": ["public", "private"], "exclude_bot_users": True}
    element = {"type": "conversations_select", "action_id": "channel", "filter": filtered}
    row = {"type": "input", "block_id": "channel", "label": text_object("Channel"), "element": element}
    return modal("Channel settings", [row], callback=CHOOSE_CHANNEL, submit="Next")


def read_channel(view: Mapping[str, Any]) -> str:
    """Return the channel's id from the submitted form."""
    return FormValues(view).channel("channel")


def gaps(lines: Sequence[str]) -> View:
    """Return the gaps in the documents, one line each."""
    contents = [blocks.section(escape(line)) for line in lines]
    more = "From the last 28 days. The page *Gaps* and `footnote gaps` list all of them and can start a draft."
    return modal(CANNOT_ANSWER, [*contents, blocks.context(more)])


def _recent(contents: HomeContents) -> str:
    return "\n".join(f"• {_question(one, contents.workspace_url)} · {one.at:%d %B}" for one in contents.recent)


def _question(asked: AskedQuestion, url: str) -> str:
    """Return a question as a link to its thread."""
    words = shorten(" ".join(asked.question.split()) or "…", 150)
    return link(thread_url(url, asked.thread) if url else None, words)


def _header(text: str) -> blocks.Block:
    return {"type": "header", "text": text_object(text)}


def _base_summary(base_summary: KnowledgeBaseSummary) -> str:
    count = f"{base_summary.documents} document{'' if base_summary.documents == 1 else 's'}"
    about = f"\n{escape(shorten(base_summary.base.description, 300))}" if base_summary.base.description else ""
    return f"*{escape(base_summary.base.name)}* · {count}{about}"


def _system_status(system_status: SystemStatus) -> str:
    lines = [f"• {system_status.waiting} question{'' if system_status.waiting == 1 else 's'} waiting or in progress"]
    usage = system_status.usage
    ended = sorted((_ENDED.get(outcome, outcome.value), number) for outcome, number in usage.outcomes.items())
    lines += [f"• {words}: {number:,}" for words, number in ended]
    return "\n".join([*lines, f"• ratings: {usage.helpful} helpful, {usage.unhelpful} not helpful"])
