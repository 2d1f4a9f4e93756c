"""Modals and the Home tab: pure functions to views, and from what was filled in to our own words.

Limits are Slack's: titles of 24 characters, 100 blocks, 3,000 characters of private metadata.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.controls import CHECKPOINT_LABELS, HELP, REPLY_LABELS, Condition, Quotes, SettingsForm, Shelf
from adapters.slack import blocks
from adapters.slack.text import escaped, shortened
from core.inquiry import Behaviour, Profile

View = dict[str, Any]

NARROW, REASON, SETTINGS = "footnote_narrow", "footnote_reason", "footnote_settings"
PROFILES = {one.value: one.value for one in Profile}
BEHAVIOURS = {one.value: one.value for one in Behaviour}
CHECKPOINTS = {kind.value: label for kind, label in CHECKPOINT_LABELS.items()}
REPLIES = {style.value: label for style, label in REPLY_LABELS.items()}
MOST_QUOTES = 30
MOST_OPTIONS = 100


def modal(title: str, rows: list[blocks.Block], *, callback: str = "", submit: str = "", kept: Any = None) -> View:
    """A modal; ``kept`` comes back with the submission."""
    made: View = {"type": "modal", "title": _plain(title[:24]), "close": _plain("Close"), "blocks": rows[:100]}
    if callback:
        made |= {"callback_id": callback, "private_metadata": json.dumps(kept or {})[:3_000]}
    return made | ({"submit": _plain(submit)} if submit else {})


def kept_in(view: Mapping[str, Any]) -> dict[str, str]:
    """What was kept in a view; empty when it is not ours."""
    try:
        kept = json.loads(view.get("private_metadata") or "{}")
    except json.JSONDecodeError:
        return {}
    return {str(name): str(value) for name, value in kept.items()} if isinstance(kept, dict) else {}


def note(title: str, text: str) -> View:
    """A modal that says one thing."""
    return modal(title, [blocks.section(escaped(text))])


def quotes(found: Quotes) -> View:
    """The exact passages behind an answer."""
    rows: list[blocks.Block] = [blocks.context(f"“{escaped(shortened(found.question, 300))}”")]
    for source in found.citations[:MOST_QUOTES]:
        rows += [blocks.section(blocks.source_line(source)), blocks.plain(f"“{source.quote}”")]
        rows.append({"type": "divider"})
    if found.withheld:
        rows.append(blocks.context(f"{found.withheld} more from knowledge that you may not read now."))
    if not found.citations:
        rows.append(blocks.section("There is no passage behind this answer that you may read now."))
    return modal("Quotes", rows)


def narrow(question: str, kept: Mapping[str, str]) -> View:
    """A text field for *Narrow it* and *Something else*."""
    field = {"type": "plain_text_input", "action_id": "text", "multiline": True, "max_length": 1_000}
    row = {"type": "input", "block_id": "narrow", "label": _plain("What exactly are you after?"), "element": field}
    asked = blocks.context(f"You asked: “{escaped(shortened(question, 300))}”")
    return modal("Narrow it", [asked, row], callback=NARROW, submit="Search", kept=kept)


def reason(kept: Mapping[str, str]) -> View:
    """What was wrong with an answer."""
    field = {"type": "plain_text_input", "action_id": "text", "multiline": True, "max_length": 2_000}
    label = _plain("What was wrong, or missing?")
    row = {"type": "input", "block_id": "reason", "optional": True, "label": label, "element": field}
    return modal("Thank you", [row], callback=REASON, submit="Send", kept=kept)


def typed(view: Mapping[str, Any], block: str) -> str:
    """What was typed into a field of a submitted view."""
    values = (view.get("state") or {}).get("values") or {}
    return str(((values.get(block) or {}).get("text") or {}).get("value") or "").strip()


# --- settings


def settings(
    form: SettingsForm, bases: Sequence[str], groups: Mapping[str, str], place: str, kept: Mapping[str, str]
) -> View:
    """The settings of a channel. ``groups`` are user groups that may be called, by id."""
    rows: list[blocks.Block] = [blocks.context(f"What applies in {place}.")]
    if bases:
        rows.append(_many("bases", "Knowledge bases (none chosen: all that may be read here)", bases, form.bases))
    rows += [
        _one("profile", "How much an answer may cost", PROFILES, form.profile),
        _one("behaviour", "How readily it searches and believes", BEHAVIOURS, form.behaviour),
        _checks("checkpoints", "Ask how to go on when", CHECKPOINTS, form.checkpoints or ()),
        _checks("sources_first", "Always", {"yes": "Show sources before answering"}, ("yes",) * form.sources_first),
        _one("reply_style", "Where answers appear", REPLIES, form.reply_style),
        _field("languages", "Languages to answer in, separated by commas (empty: the asker's)", form.languages),
    ]
    if groups:
        rows.append(_one("handoff", "Whom “Ask a person” calls", {"none": "Nobody", **groups}, form.handoff or "none"))
    return modal("Footnote here", rows, callback=SETTINGS, submit="Save", kept=kept)


def filled_in(view: Mapping[str, Any]) -> SettingsForm:
    """The settings form as it was submitted."""
    values: Mapping[str, Any] = (view.get("state") or {}).get("values") or {}

    def state(name: str) -> Mapping[str, Any]:
        return (values.get(name) or {}).get(name) or {}

    def one(name: str) -> str:
        return str((state(name).get("selected_option") or {}).get("value") or "")

    def many(name: str) -> tuple[str, ...]:
        return tuple(str(option["value"]) for option in state(name).get("selected_options") or [])

    handoff = one("handoff")
    return SettingsForm(
        bases=many("bases"),
        profile=one("profile"),
        behaviour=one("behaviour"),
        checkpoints=many("checkpoints"),
        sources_first=bool(many("sources_first")),
        reply_style=one("reply_style"),
        languages=str(state("languages").get("value") or ""),
        handoff="" if handoff == "none" else handoff,
    )


# --- the Home tab


def home(shelves: Sequence[Shelf], condition: Condition | None) -> View:
    """What it knows, how to ask, and for admins how things are."""
    rows: list[blocks.Block] = [_header("What I know")]
    rows += [blocks.section(_shelf(shelf)) for shelf in shelves[:40]]
    if not shelves:
        rows.append(blocks.section("Nothing yet that you may read. An admin adds documents with `footnote ingest`."))
    rows += [_header("How to ask"), blocks.section("\n".join(f"• {line}" for line in HELP))]
    if condition is not None:
        rows += [_header("For admins"), blocks.section(_condition(condition))]
        rows.append(blocks.context("`/footnote settings` in a channel sets what applies there."))
    return {"type": "home", "blocks": rows[:100]}


def _shelf(shelf: Shelf) -> str:
    count = f"{shelf.documents} document{'' if shelf.documents == 1 else 's'}"
    about = f"\n{escaped(shortened(shelf.base.description, 300))}" if shelf.base.description else ""
    return f"*{escaped(shelf.base.name)}* · {count}{about}"


def _condition(condition: Condition) -> str:
    lines = [f"• {condition.waiting} question{'' if condition.waiting == 1 else 's'} waiting or under way"]
    lines += [
        f"• {name.removeprefix('outcome.')}: {count:,}"
        for name, count in sorted(condition.counters.items())
        if name.startswith("outcome.")
    ]
    helpful, unhelpful = condition.counters.get("feedback.helpful", 0), condition.counters.get("feedback.unhelpful", 0)
    return "\n".join([*lines, f"• feedback: {helpful} found it helpful, {unhelpful} did not"])


# --- elements


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _header(text: str) -> blocks.Block:
    return {"type": "header", "text": _plain(text)}


def _option(value: str, label: str) -> dict[str, Any]:
    return {"text": _plain(shortened(label, 75)), "value": value[:150]}


def _input(name: str, label: str, element: dict[str, Any]) -> blocks.Block:
    made = {"type": "input", "block_id": name, "optional": True, "label": _plain(label)}
    return made | {"element": element | {"action_id": name}}


def _one(name: str, label: str, options: Mapping[str, str], chosen: str) -> blocks.Block:
    element: dict[str, Any] = {"type": "static_select"}
    element["options"] = [_option(value, text) for value, text in list(options.items())[:MOST_OPTIONS]]
    if chosen in options:
        element["initial_option"] = _option(chosen, options[chosen])
    return _input(name, label, element)


def _many(name: str, label: str, options: Sequence[str], chosen: Sequence[str]) -> blocks.Block:
    element: dict[str, Any] = {"type": "multi_static_select"}
    element["options"] = [_option(value, value) for value in options[:MOST_OPTIONS]]
    if initial := [_option(value, value) for value in chosen if value in options[:MOST_OPTIONS]]:
        element["initial_options"] = initial
    return _input(name, label, element)


def _checks(name: str, label: str, options: Mapping[str, str], chosen: Sequence[str]) -> blocks.Block:
    element: dict[str, Any] = {"type": "checkboxes"}
    element["options"] = [_option(str(value), text) for value, text in options.items()]
    if initial := [_option(str(value), text) for value, text in options.items() if value in chosen]:
        element["initial_options"] = initial
    return _input(name, label, element)


def _field(name: str, label: str, value: str) -> blocks.Block:
    element: dict[str, Any] = {"type": "plain_text_input", "max_length": 200}
    return _input(name, label, element | ({"initial_value": value} if value else {}))
