"""Block Kit for ``/kb``: replies, job cards and the form for adding documents. Pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.slack.outbound import blocks, views
from adapters.slack.outbound.payloads import CommandForm, FormValues
from adapters.slack.outbound.text import escape, mrkdwn, shorten
from core.model.incoming_events import FileReference
from core.model.principals import EVERYONE
from core.service.kb.commands import MOST_FILES, MOST_PAGES
from core.service.kb.job_cards import JobCard
from core.service.kb.text_spans import Line

FORM, READERS_FORM = "footnote_kb_add", "footnote_kb_readers"
CONFIRM, PAGE_BACK, PAGE_ON, CANCEL = (f"footnote_kb_{name}" for name in ("confirm", "back", "on", "cancel"))
CHOICE = "footnote_kb_choice"  # one of many in a message, so a number follows
BASE = "footnote_kb_base"  # the base menu that loads its options from us
MOST_SHOWN = 25  # bases in a static menu; with more, the menu searches as you type
MOST_SECTIONS = 4  # of 2,900 characters each: a message fails near 13,200
CUT = "This is longer than one message can be."
HERE = "here"


@dataclass(frozen=True, slots=True)
class FilledForm:
    """The submitted form for adding documents."""

    files: tuple[FileReference, ...] = ()
    link: str = ""
    limit: int = 0
    here: bool = False
    base: str = ""


def paragraphs(lines: Sequence[Line]) -> list[blocks.Block]:
    """Return sections of whole lines within Slack's limit of 3,000 characters; at most MOST_SECTIONS, then CUT."""
    rows: list[str] = []
    for line in map(mrkdwn, lines):
        cut = shorten(line, blocks.SECTION)
        if rows and len(rows[-1]) + len(cut) < blocks.SECTION:
            rows[-1] = f"{rows[-1]}\n{cut}"
        else:
            rows.append(cut)
    shown = [_verbatim(blocks.section(row)) for row in rows[:MOST_SECTIONS] if row.strip()]
    return [*shown, blocks.context(CUT)] if len(rows) > MOST_SECTIONS else shown


def _verbatim(row: blocks.Block) -> blocks.Block:
    return row | {"text": row["text"] | {"verbatim": True}}


def reply(
    parts: Sequence[tuple[Sequence[Line], Sequence[blocks.Block]]],
    buttons: Sequence[blocks.Block] = (),
    note: str = "",
) -> list[blocks.Block]:
    """Return a reply: parts with their own buttons, then buttons for the whole reply, then a small note."""
    rows: list[blocks.Block] = []
    for number, (lines, own) in enumerate(parts):
        rows += paragraphs(lines) or [blocks.section("…")]
        rows += _row(f"footnote_kb_{number}", own)
    rows += _row("footnote_kb", buttons)
    return [*rows, blocks.context(escape(note))] if note else rows


def _row(name: str, buttons: Sequence[blocks.Block]) -> list[blocks.Block]:
    return [{"type": "actions", "block_id": name, "elements": list(buttons)}] if buttons else []


def card(shown: JobCard) -> list[blocks.Block]:
    """Return a job's card."""
    rows = [*paragraphs(shown.lines), blocks.context(escape(shown.footer))]
    if shown.cancel is not None:
        button = blocks.button(shown.cancel.label, CANCEL, shown.cancel.command.target)
        rows.append({"type": "actions", "block_id": "footnote_kb_job", "elements": [button]})
    return rows


# --- the form that grants and revokes readers


def readers_form(
    bases: Sequence[str], base: str, groups: Mapping[str, str], *, grants: bool, kept_form: CommandForm
) -> views.View:
    """Return pickers for channels, groups (by id) and people. Without ``grants``, the form revokes."""
    filtered = {"include": ["public", "private"], "exclude_bot_users": True}
    rows = [_bases(bases, base)] if bases else []
    rows.append(views.input_block("channels", "Channels", {"type": "multi_conversations_select", "filter": filtered}))
    if groups:
        rows.append(views.multi_select("groups", "User groups", groups))
    rows.append(views.input_block("people", "People", {"type": "multi_users_select"}))
    if grants:
        rows.append(views.checkboxes("everyone", "Everyone", {EVERYONE: "Everyone who can talk to me"}, ()))
    title, submit = ("Restrict to…", "Restrict") if grants else ("Stop reading", "Revoke")
    return views.modal(title, rows, callback=READERS_FORM, submit=submit, form=kept_form)


# --- the form for adding


def form(bases: Sequence[str], base: str, *, channel: bool, kept_form: CommandForm, note: str = "") -> views.View:
    """Return the form with this base chosen. ``channel`` means that it was opened where there is a history to read."""
    files = {"type": "file_input", "max_files": MOST_FILES}
    link = {"type": "plain_text_input", "max_length": 2_000, "placeholder": views.text_object("https://…")}
    limit = {"type": "number_input", "is_decimal_allowed": False, "min_value": "1", "max_value": str(MOST_PAGES)}
    rows = [
        views.input_block("files", "Files", files, hint=f"Up to {MOST_FILES} files."),
        views.input_block("link", "Link", link, hint="A web page or sitemap, or a canvas, file or thread in Slack."),
        views.input_block("limit", "Maximum number", limit, hint="Pages below the link, or conversations here."),
    ]
    if channel:
        rows.append(views.checkboxes("here", "This channel", {HERE: "Add its newest conversations"}, ()))
    if bases:
        rows.append(_bases(bases, base))
    if note:
        rows.append(blocks.context(escape(note)))
    return views.modal("Add documents", rows, callback=FORM, submit="Add", form=kept_form)


def _bases(bases: Sequence[str], chosen: str) -> blocks.Block:
    """Return a menu of all bases. If there are many, the menu searches as you type."""
    label = "Knowledge base"
    if len(bases) >= MOST_SHOWN:
        menu: dict[str, Any] = {"type": "external_select", "min_query_length": 0}
        menu |= {"initial_option": views.option(chosen, chosen)} if chosen else {}
        row = views.input_block("base", label, menu | {"placeholder": views.text_object("Type its name")})
        row["element"]["action_id"] = BASE
        return row
    names = {name: name for name in bases}
    return views.select("base", label, names, bases[0] if len(bases) == 1 else chosen)


def options(names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the options of the base menu in the format of ``block_suggestion``."""
    return [views.option(name, name) for name in names]


def read_form(view: Mapping[str, Any]) -> FilledForm:
    """Return the submitted form. Its values are untrusted: they are bounded here and checked by the service."""
    form = FormValues(view)
    limit = form.text("limit")
    return FilledForm(
        files=tuple(
            FileReference(str(one["id"]), str(one.get("name") or one["id"]), int(one.get("size") or 0))
            for one in form.files("files")[:MOST_FILES]
        ),
        link=form.text("link").strip("<>"),
        limit=min(int(limit), MOST_PAGES) if limit.isdecimal() else 0,
        here=HERE in form.options("here"),
        base=form.option("base"),
    )
