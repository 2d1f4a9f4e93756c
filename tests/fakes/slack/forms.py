"""A person's input: the `state.values` of a message or view, and the `actions` of a press."""

from __future__ import annotations

from typing import Any

from tests.fakes.slack.rendering import Button, elements_of

Typed = dict[str, dict[str, Any]]

_SINGLE = {
    "users_select": ("selected_user", "initial_user"),
    "channels_select": ("selected_channel", "initial_channel"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
    "datetimepicker": ("selected_date_time", "initial_date_time"),
    "plain_text_input": ("value", "initial_value"),
    "email_text_input": ("value", "initial_value"),
    "url_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "multi_users_select": ("selected_users", "initial_users"),
    "multi_channels_select": ("selected_channels", "initial_channels"),
    "multi_conversations_select": ("selected_conversations", "initial_conversations"),
    "file_input": ("files", "initial_files"),
}
_CHOICE = {"static_select", "radio_buttons", "external_select", "overflow"}
_CHOICES = {"multi_static_select", "checkboxes", "multi_external_select"}
_STATEFUL = set(_SINGLE) | _CHOICE - {"overflow"} | _CHOICES
_TEXT_INPUTS = {"plain_text_input", "email_text_input", "url_text_input", "number_input"}


def values_of(blocks: list[dict[str, Any]], typed: Typed) -> dict[str, dict[str, Any]]:
    """`state.values`: block id -> action id -> what is in it, typed or initial."""
    values: dict[str, dict[str, Any]] = {}
    for element, block in elements_of(blocks):
        if element["type"] in _STATEFUL:
            given = typed.get(block["block_id"], {}).get(element["action_id"])
            values.setdefault(block["block_id"], {})[element["action_id"]] = given or _initial(element)
    return values


def fill_in(blocks: list[dict[str, Any]], typed: Typed, values: dict[str, Any]) -> list[dict[str, Any]]:
    """Type these values (by action id, block id or label) and return the elements that dispatch an action.

    AssertionError when there is no such field, or no such option in it.
    """
    dispatching: list[dict[str, Any]] = []
    for name, value in values.items():
        element, block = _field(blocks, name)
        typed.setdefault(block["block_id"], {})[element["action_id"]] = entry(element, value)
        if block.get("type") != "input" or block.get("dispatch_action"):
            action = {"action_id": element["action_id"], "block_id": block["block_id"]}
            dispatching.append(action | entry(element, value))
    return dispatching


def entry(element: dict[str, Any], value: Any) -> dict[str, Any]:
    """One value as state and actions hold it."""
    kind = str(element["type"])
    if kind in _SINGLE:
        given = str(value) if kind in _TEXT_INPUTS and value is not None else value
        return {"type": kind, _SINGLE[kind][0]: given}
    if kind in _CHOICE:
        return {"type": kind, "selected_option": None if value is None else _option(element, value)}
    assert kind in _CHOICES, f"nobody can fill in a {kind}"
    return {"type": kind, "selected_options": [_option(element, one) for one in value]}


def missing_in(blocks: list[dict[str, Any]], typed: Typed) -> list[str]:
    """The labels of required inputs that are still empty: Slack's client would not submit."""
    values = values_of(blocks, typed)
    missing = []
    for block in blocks:
        if block.get("type") == "input" and not block.get("optional"):
            state = values[block["block_id"]][block["element"]["action_id"]]
            if not any(value for name, value in state.items() if name != "type"):
                missing.append(str(block["label"]["text"]))
    return missing


def press(button: Button, action_ts: str) -> dict[str, Any]:
    """The action of pressing a button; of feedback buttons, the side that was pressed."""
    chosen = button.choice or button.element
    action = {
        "action_id": button.action_id, "block_id": button.block.get("block_id"), "type": button.element["type"],
        "text": chosen.get("text"), "action_ts": action_ts,
    }  # fmt: skip
    for name in ("value", "style"):
        if name in chosen:
            action[name] = chosen[name]
    return action


def _initial(element: dict[str, Any]) -> dict[str, Any]:
    kind = str(element["type"])
    if kind in _SINGLE:
        name, initial = _SINGLE[kind]
        return {"type": kind, name: element.get(initial)}
    if kind in _CHOICE:
        return {"type": kind, "selected_option": element.get("initial_option")}
    return {"type": kind, "selected_options": element.get("initial_options") or []}


def _field(blocks: list[dict[str, Any]], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    fields = [pair for pair in elements_of(blocks) if pair[0]["type"] in _STATEFUL | _CHOICE]
    for element, block in fields:
        if name in {element["action_id"], block.get("block_id"), (block.get("label") or {}).get("text")}:
            return element, block
    there = ", ".join(repr(element["action_id"]) for element, _ in fields) or "none"
    raise AssertionError(f"there is no field {name!r}; there are: {there}")


def _option(element: dict[str, Any], value: Any) -> dict[str, Any]:
    if isinstance(value, dict) and element["type"] == "external_select":
        return value
    groups = [group.get("options") or [] for group in element.get("option_groups") or []]
    options: list[dict[str, Any]] = [one for group in [element.get("options") or [], *groups] for one in group]
    for option in options:
        if value in (option.get("value"), (option.get("text") or {}).get("text")):
            return option
    raise AssertionError(f"there is no option {value!r} in {element['action_id']!r}")
