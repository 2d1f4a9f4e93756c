"""What a person sees of a message: its text and its controls, whichever way the bot laid them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Json = dict[str, Any]

ACTION_ROW, BUTTON, STRING_SELECT, TEXT_INPUT, SECTION, TEXT_DISPLAY = 1, 2, 3, 4, 9, 10
CONTAINER, LABEL, FILE_UPLOAD, RADIO_GROUP, CHECKBOX_GROUP, CHECKBOX = 17, 18, 19, 21, 22, 23
SELECTS = frozenset({3, 5, 6, 7, 8})
LAYOUT_ONLY = frozenset({9, 10, 11, 12, 13, 14, 17})
LINK_BUTTON = 5


@dataclass(frozen=True)
class Control:
    """A button or a select menu: ``label`` is a select's placeholder."""

    kind: int
    label: str
    custom_id: str | None
    url: str | None
    disabled: bool
    options: tuple[tuple[str, str], ...] = ()

    def answers_to(self, wanted: str) -> bool:
        return wanted in (self.label, self.custom_id)


def walk(components: Iterable[Json]) -> Iterator[Json]:
    """Every component, parents first, in the order in which they show."""
    for component in components:
        yield component
        yield from walk(component.get("components") or ())
        yield from walk([component[key] for key in ("accessory", "component") if component.get(key)])


def controls(components: Iterable[Json]) -> tuple[Control, ...]:
    return tuple(_control(component) for component in walk(components) if component["type"] in SELECTS | {BUTTON})


def _control(component: Json) -> Control:
    emoji = (component.get("emoji") or {}).get("name") or ""
    options = component.get("options") or ()
    return Control(
        kind=component["type"],
        label=component.get("label") or component.get("placeholder") or emoji,
        custom_id=component.get("custom_id"),
        url=component.get("url"),
        disabled=bool(component.get("disabled")),
        options=tuple((option["label"], option["value"]) for option in options),
    )


def text(content: str, embeds: Iterable[Json], components: Iterable[Json]) -> str:
    """Content, embeds and text displays, one per line, without empty lines."""
    parts = [content, *(line for embed in embeds for line in _embed_lines(embed))]
    parts += [item["content"] for item in walk(components) if item["type"] == TEXT_DISPLAY]
    return "\n".join(part for part in parts if part)


def _embed_lines(embed: Json) -> Iterator[str]:
    yield (embed.get("author") or {}).get("name") or ""
    yield embed.get("title") or ""
    yield embed.get("description") or ""
    for field in embed.get("fields") or ():
        yield field.get("name") or ""
        yield field.get("value") or ""
    yield (embed.get("footer") or {}).get("text") or ""


@dataclass(frozen=True)
class Sight:
    """One state of a message as it was visible at the time."""

    text: str
    controls: tuple[Control, ...]
    content: str
    embeds: tuple[Json, ...]
    components: tuple[Json, ...]
    flags: int

    def payload(self) -> Json:
        """The fields of the message's JSON that change with its state."""
        shown = {"content": self.content, "embeds": list(self.embeds), "components": list(self.components)}
        return shown | {"flags": self.flags}

    def buttons(self) -> list[str]:
        return [control.label for control in self.controls if control.kind == BUTTON]
