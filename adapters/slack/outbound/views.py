"""Modals: pure functions to views, and from submitted values to core's types.

Slack's limits: titles of 24 characters, 100 blocks, 3,000 characters of private metadata.
"""

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from adapters.slack.api.sanitizer import permit
from adapters.slack.outbound import blocks
from adapters.slack.outbound.payloads import ChoiceForm, CommandForm, FormValues, ReasonForm, SettingsForm, encode_form
from adapters.slack.outbound.text import escape, shorten
from core.model.channel_settings import (
    LONGEST_INSTRUCTIONS,
    MOST_OF_A_LIMIT,
    ChannelSettings,
    ChosenSettings,
    ReplyStyle,
    threshold_name,
)
from core.model.markdown_lines import without_marks
from core.service.actions.answers import Quotes
from core.service.actions.presses import HandedOver, OwnerTold, PressResult, Rated, Shared
from core.service.actions.wording import IN_OWN_WORDS, explanation_text
from core.service.channel_settings import (
    BEHAVIOUR_LABELS,
    CHECKPOINT_LABELS,
    FOLLOW_UPS_LABEL,
    INSTRUCTIONS_HINT,
    INSTRUCTIONS_LABEL,
    LIMIT_LABELS,
    PROFILE_LABELS,
    PROPOSALS_LABEL,
    REPLY_LABELS,
    STANDING_LABEL,
    THRESHOLD_LABELS,
)
from core.service.explanations import Explanation

View = dict[str, Any]

NARROW, REASON, SETTINGS = "footnote_narrow", "footnote_reason", "footnote_settings"
QUOTES_TITLE = "Quotes"
PROFILES = {one.value: label for one, label in PROFILE_LABELS.items()}
BEHAVIOURS = {one.value: label for one, label in BEHAVIOUR_LABELS.items()}
CHECKPOINTS = {kind.value: label for kind, label in CHECKPOINT_LABELS.items()}
REPLIES = {style.value: label for style, label in REPLY_LABELS.items() if style is not ReplyStyle.CHANNEL}
PARTNERS_READ = (
    "People from another organization can read this channel and my answers here. With `/footnote settings`, an"
    " admin can limit which knowledge bases I use."
)
PARTNERS_IN_FORM = (
    "People from another organization can read this channel and my answers here. I use every knowledge base that"
    " everyone can read."
)
CLOSED_LABEL = "Answer only from bases chosen above or granted to this channel"
BASES_LABEL = "Knowledge bases (none: all that this channel can read)"
SWITCHES = ("sources_first", "follow_ups", "standing_answers", "proposal_digest", "closed_to_partners")
OTHER_THRESHOLDS = (0.6, 0.5)  # in addition to the named ones; grades are tenths
MOST_QUOTES = 30  # three blocks each; a view has 100
MOST_OPTIONS = 100  # of one menu; https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element


def modal(
    title: str,
    rows: list[blocks.Block],
    *,
    callback: str = "",
    submit: str = "",
    form: ChoiceForm | ReasonForm | SettingsForm | CommandForm | None = None,
) -> View:
    """Return a modal. Its submission brings ``form`` back."""
    view: View = {
        "type": "modal",
        "title": text_object(title[:24]),
        "close": text_object("Close"),
        "blocks": rows[:100],
    }
    if callback:
        view |= {"callback_id": callback, "private_metadata": "{}" if form is None else encode_form(form)}
    return view | ({"submit": text_object(submit)} if submit else {})


def note(title: str, text: str) -> View:
    """Return a modal with one message."""
    return modal(title, [blocks.section(escape(text))])


def quotes(found: Quotes) -> View:
    """Return the exact passages behind an answer."""
    rows: list[blocks.Block] = [blocks.context(f"“{escape(shorten(found.question, 300))}”")]
    for source in found.citations[:MOST_QUOTES]:
        named = permit(blocks.section(blocks.source_line(source)), links=[source.url])
        rows += [named, blocks.plain_section(f"“{without_marks(source.quote)}”")]
        rows.append({"type": "divider"})
    if found.withheld:
        rows.append(blocks.context(f"{found.withheld} more from documents that you don't have permission to read."))
    if not found.citations:
        rows.append(blocks.section("You don't have permission to read the passages behind this answer."))
    return modal(QUOTES_TITLE, rows)


def of_press(outcome: PressResult) -> View:
    """Return the modal for a press of *Show quotes* or *Why*."""
    match outcome:
        case Quotes():
            return quotes(outcome)
        case Explanation():
            return note("Why", explanation_text(outcome))
        case Rated() | HandedOver() | Shared() | OwnerTold():
            raise TypeError(f"{type(outcome).__name__} is shown in the channel.")
        case _:
            assert_never(outcome)


def narrow(question: str, label: str, form: ChoiceForm) -> View:
    """Return the text field of a choice in the person's own words, such as *Narrow it* and *Something else*."""
    field = {"type": "plain_text_input", "action_id": "text", "multiline": True, "max_length": 1_000}
    row = {"type": "input", "block_id": "narrow", "label": text_object(IN_OWN_WORDS), "element": field}
    asked = blocks.context(f"You asked: “{escape(shorten(question, 300))}”")
    return modal(label, [asked, row], callback=NARROW, submit="Search", form=form)


def reason(form: ReasonForm) -> View:
    """Return the form that asks what was wrong and what the right answer is."""
    text = {"type": "plain_text_input", "action_id": "text", "multiline": True, "max_length": 2_000}
    label = text_object("What was wrong, or missing?")
    answer = text | {"action_id": "answer", "max_length": 3_000}
    wrong = {"type": "input", "block_id": "reason", "optional": True, "label": label, "element": text}
    right = {"type": "input", "block_id": "answer", "optional": True, "element": answer}
    right |= {
        "label": text_object("Propose the right answer"),
        "hint": text_object("An admin reviews it before I use it."),
    }
    return modal("Thank you", [wrong, right], callback=REASON, submit="Send", form=form)


# --- settings


def settings(
    now: ChannelSettings,
    bases: Sequence[str],
    groups: Mapping[str, str],
    place: str,
    form: SettingsForm,
    *,
    shared: bool = False,
) -> View:
    """Return a channel's settings form. ``groups`` are the user groups that may be mentioned, by id.

    ``shared`` means that another organization reads the channel too.
    """
    policy = now.policy
    rows: list[blocks.Block] = [blocks.context(f"These settings apply in {place}.")]
    if bases:
        rows.append(multi_select("bases", BASES_LABEL, {name: name for name in bases}, sorted(now.bases or ())))
    if shared:
        rows.insert(1, blocks.section(PARTNERS_IN_FORM))
        rows.append(
            _switch("closed_to_partners", "For the other organization", CLOSED_LABEL, on=now.closed_to_partners)
        )
    languages = ", ".join(policy.languages)
    rows += [
        select("profile", "How much to search for an answer", PROFILES, policy.profile),
        select("behaviour", "How careful to be with what I find", BEHAVIOURS, policy.behaviour),
        checkboxes("checkpoints", "Ask the person how to continue when", CHECKPOINTS, sorted(policy.checkpoints)),
        _switch("sources_first", "Sources", "Show them before answering", on=policy.sources_first),
        _switch("follow_ups", "Follow-up questions", FOLLOW_UPS_LABEL, on=policy.follow_ups),
        select("reply_style", "Where answers appear", REPLIES, now.reply_style),
        _auto_answer(now.auto_answer),
        _text_field("languages", "Languages to answer in, separated by commas (empty: the asker's)", languages),
        _instructions(policy.instructions),
        *(_limit(name, label, getattr(policy.limits, name)) for name, label in LIMIT_LABELS.items()),
        _switch("standing_answers", "Changed answers", STANDING_LABEL, on=now.standing_answers),
        _switch("proposal_digest", "For admins", PROPOSALS_LABEL, on=now.proposal_digest),
    ]
    if groups:
        rows.append(select("handoff", "Whom “Ask a person” calls", {"none": "Nobody", **groups}, now.handoff or "none"))
    return modal("Footnote settings", rows, callback=SETTINGS, submit="Save", form=form)


def _switch(name: str, label: str, text: str, *, on: bool) -> blocks.Block:
    return checkboxes(name, label, {"yes": text}, ("yes",) * on)


def _auto_answer(threshold: float) -> blocks.Block:
    """Return the menu for questions without a mention. It includes a threshold that was set elsewhere."""
    options = {threshold_name(value): label for value, label in THRESHOLD_LABELS.items()}
    options |= {f"{value:g}": f"When I am at least {value:g} sure" for value in OTHER_THRESHOLDS}
    now = threshold_name(threshold)
    options.setdefault(now, f"When I am at least {now} sure")
    hint = (
        "I then answer questions in this channel in a thread, but only if I am sure. This has no effect if answers"
        " are private."
    )
    return select("auto_answer", "Questions that do not mention me", options, now, hint=hint)


def read_settings(view: Mapping[str, Any], before: ChosenSettings) -> ChosenSettings:
    """Return the settings from the submitted form. Settings that the form lacks stay as ``before``."""
    form = FormValues(view)
    values = {name: form.option(name) for name in ("profile", "behaviour", "reply_style", "auto_answer")}
    values |= {name: ",".join(form.options(name)) for name in ("bases", "checkpoints")}
    values |= {name: "yes" if form.options(name) else "no" for name in SWITCHES}
    values |= {name: form.text(name) for name in ("languages", "instructions", *LIMIT_LABELS)}
    values["handoff"] = "" if form.option("handoff") == "none" else form.option("handoff")
    asked = {name: value for name, value in values.items() if form.asks(name)}
    return ChosenSettings.from_mapping(before.to_mapping() | asked)


# --- elements


def text_object(text: str) -> dict[str, Any]:
    """Return a plain text object."""
    return {"type": "plain_text", "text": text, "emoji": False}


def option(value: str, label: str) -> dict[str, Any]:
    """Return one option of a menu."""
    return {"text": text_object(shorten(label, 75)), "value": value[:150]}


def input_block(name: str, label: str, element: Mapping[str, Any], *, hint: str = "") -> blocks.Block:
    """Return an optional field. ``name`` is the id of both the block and the action."""
    made = {"type": "input", "block_id": name, "optional": True, "label": text_object(label)}
    made["element"] = {**element, "action_id": name}
    return made | ({"hint": text_object(hint)} if hint else {})


def select(name: str, label: str, options: Mapping[str, str], chosen: str, *, hint: str = "") -> blocks.Block:
    """Return a menu for one choice."""
    element: dict[str, Any] = {"type": "static_select"}
    element["options"] = [option(value, text) for value, text in _offered(options, [chosen]).items()]
    if chosen in options:
        element["initial_option"] = option(chosen, options[chosen])
    return input_block(name, label, element, hint=hint) | {"optional": chosen not in options}


def _offered(options: Mapping[str, str], chosen: Sequence[str]) -> dict[str, str]:
    """Return as many options as a menu allows, the chosen ones first, so that saving the form keeps them."""
    if len(options) <= MOST_OPTIONS:
        return dict(options)
    first = {value: options[value] for value in chosen if value in options}
    return dict(list((first | dict(options)).items())[:MOST_OPTIONS])


def checkboxes(name: str, label: str, options: Mapping[str, str], chosen: Sequence[str]) -> blocks.Block:
    """Return checkboxes."""
    element: dict[str, Any] = {"type": "checkboxes"}
    element["options"] = [option(str(value), text) for value, text in options.items()]
    if initial := [option(str(value), text) for value, text in options.items() if value in chosen]:
        element["initial_options"] = initial
    return input_block(name, label, element)


def multi_select(name: str, label: str, options: Mapping[str, str], chosen: Sequence[str] = ()) -> blocks.Block:
    """Return a menu for any number of choices, by value."""
    offered = _offered(options, chosen)
    element: dict[str, Any] = {"type": "multi_static_select"}
    element["options"] = [option(value, text) for value, text in offered.items()]
    if initial := [option(value, offered[value]) for value in chosen if value in offered]:
        element["initial_options"] = initial
    return input_block(name, label, element)


def _instructions(text: str) -> blocks.Block:
    element: dict[str, Any] = {"type": "plain_text_input", "multiline": True, "max_length": LONGEST_INSTRUCTIONS}
    given = {"initial_value": text} if text else {}
    return input_block("instructions", INSTRUCTIONS_LABEL, element | given, hint=INSTRUCTIONS_HINT)


def _limit(name: str, label: str, now: float) -> blocks.Block:
    element: dict[str, Any] = {"type": "number_input", "is_decimal_allowed": name == "channel_money", "min_value": "0"}
    element |= {"max_value": str(MOST_OF_A_LIMIT), "initial_value": f"{now:.10g}"}
    return input_block(name, label, element)


def _text_field(name: str, label: str, value: str) -> blocks.Block:
    element: dict[str, Any] = {"type": "plain_text_input", "max_length": 200}
    return input_block(name, label, element | ({"initial_value": value} if value else {}))
