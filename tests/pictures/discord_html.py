"""Discord's components as HTML: the kinds that Footnote sends, and a refusal of any other."""

import html
from collections.abc import Callable, Sequence
from typing import Any

from discord import ComponentType

from tests.pictures.markup import markdown
from tests.pictures.unknown import UnknownKindError

Json = dict[str, Any]

STYLES = {1: "primary", 2: "", 3: "success", 4: "danger"}


def components(parts: Sequence[Json]) -> str:
    """A message's or form's components. Raises UnknownKindError."""
    return "".join(_component(part) for part in parts)


def _component(part: Json) -> str:
    if part["type"] not in COMPONENTS:
        raise UnknownKindError(f"Discord's component {part['type']!r}")
    return COMPONENTS[part["type"]](part)


def _container(part: Json) -> str:
    colour = f"#{part['accent_color']:06x}" if part.get("accent_color") is not None else "transparent"
    return f'<div class="container" style="border-left-color:{colour}">{components(part["components"])}</div>'


def _button(part: Json) -> str:
    return f'<span class="button {STYLES[part["style"]]}">{html.escape(part.get("label") or "")}</span>'


def _menu(part: Json) -> str:
    chosen = [html.escape(one["label"]) for one in part.get("options", ()) if one.get("default")]
    shown = "".join(f"<span>{one}</span>" for one in chosen)
    hint = f'<span class="empty">{html.escape(part.get("placeholder") or "Make a selection")}</span>'
    return f'<div class="menu"><div>{shown or hint}</div><i>⌄</i></div>'


def _label(part: Json) -> str:
    below = f'<div class="hint">{html.escape(part["description"])}</div>' if part.get("description") else ""
    label = f'<div class="label">{html.escape(part["label"])}</div>'
    return f'<div class="input">{label}{below}{_component(part["component"])}</div>'


def _typed(part: Json) -> str:
    shown = html.escape(part.get("value") or part.get("placeholder") or "")
    return f'<div class="typed"><span class="empty">{shown}</span></div>'


COMPONENTS: dict[int, Callable[[Json], str]] = {
    ComponentType.action_row.value: lambda part: f'<div class="actions">{components(part["components"])}</div>',
    ComponentType.button.value: _button,
    ComponentType.container.value: _container,
    ComponentType.file_upload.value: lambda part: '<div class="typed"><span class="empty">Drop files here</span></div>',
    ComponentType.label.value: _label,
    ComponentType.role_select.value: _menu,
    ComponentType.select.value: _menu,
    ComponentType.separator.value: lambda part: "<hr>",
    ComponentType.text_display.value: lambda part: f'<div class="text">{markdown(part["content"])}</div>',
    ComponentType.text_input.value: _typed,
}
