"""Filling in a form: a modal's inputs and a person's values become the JSON of a submission."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.fakes.discord.showing import (
    ACTION_ROW,
    CHECKBOX,
    FILE_UPLOAD,
    LABEL,
    RADIO_GROUP,
    TEXT_DISPLAY,
    TEXT_INPUT,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tests.fakes.discord.interactions import Modal
    from tests.fakes.discord.world import Attachment

Json = dict[str, Any]
FILES = 10


class _Form:
    def __init__(self, values: Mapping[str, Any], attach: Callable[[str, bytes], Attachment]) -> None:
        self.values = dict(values)
        self.attach = attach
        self.attachments: Json = {}
        self.number = 0

    def component(self, component: Json, label: str | None = None) -> Json:
        """One component as it is sent back: rows and labels around their inputs, inputs with their value."""
        self.number += 1
        body: Json = {"type": component["type"], "id": component.get("id") or self.number}
        if component["type"] == ACTION_ROW:
            return body | {"components": [self.component(child) for child in component["components"]]}
        if component["type"] == LABEL:
            return body | {"component": self.component(component["component"], component["label"])}
        if component["type"] == TEXT_DISPLAY:
            return body
        given = self._given(component, label or component.get("label") or "")
        return body | {"custom_id": component["custom_id"]} | self._entered(component, given)

    def _given(self, component: Json, label: str) -> Any:
        """What the person entered here. Raises ValueError when the client would not send the form like this."""
        given = self.values.pop(label, None)
        given = self.values.pop(component["custom_id"], given)
        if given is None and component["type"] == TEXT_INPUT:
            given = component.get("value")
        if not given and component["type"] != CHECKBOX and component.get("required", True):
            raise ValueError(f"{label or component['custom_id']!r} is required")
        return given

    def _entered(self, component: Json, given: Any) -> Json:
        kind = component["type"]
        if kind == TEXT_INPUT:
            return {"value": _fitting(component, given or "")}
        if kind == FILE_UPLOAD:
            return {"values": self._uploaded(component, given or ())}
        if kind == CHECKBOX:
            return {"value": bool(given)}
        if kind == RADIO_GROUP:
            return {"value": _option(component, given) if given else None}
        picked = [given] if isinstance(given, str) else given or ()
        return {"values": [_option(component, item) for item in picked]}

    def _uploaded(self, component: Json, files: Iterable[tuple[str, bytes]]) -> list[str]:
        attachments = [self.attach(name, data) for name, data in files]
        if len(attachments) > min(component.get("max_values") or 1, FILES):
            raise ValueError("more files than the form takes")
        self.attachments |= {str(item.id): item.payload() | {"ephemeral": True} for item in attachments}
        return [str(item.id) for item in attachments]


def _fitting(component: Json, value: str) -> str:
    if value and not component.get("min_length", 0) <= len(value) <= component.get("max_length", 4_000):
        raise ValueError(f"{component['custom_id']!r} does not take {len(value)} characters")
    return value


def _option(component: Json, wanted: str) -> str:
    """An option by its label or value; menus of users, roles and channels have none and take ids."""
    if not component.get("options"):
        return wanted
    for option in component["options"]:
        if wanted in (option["label"], option["value"]):
            return str(option["value"])
    raise LookupError(f"{wanted!r} is not among {[option['label'] for option in component['options']]}")


def filled(modal: Modal, values: Mapping[str, Any], *, attach: Callable[[str, bytes], Attachment]) -> Json:
    """The ``data`` of a submission.

    Raises:
        ValueError: a required input is missing, or a text is too short or too long for its input.
        LookupError: a value names no input, or an option that is not offered.
    """
    form = _Form(values, attach)
    data: Json = {"custom_id": modal.custom_id, "components": [form.component(item) for item in modal.components]}
    if form.values:
        raise LookupError(f"the form has no {sorted(form.values)}; it has {sorted(modal.fields())}")
    if form.attachments:
        data["resolved"] = {"attachments": form.attachments}
    return data
