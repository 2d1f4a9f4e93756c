"""Discord's own limits, which its published description leaves out or states too loosely.

Each check raises a `Refusal` with the error JSON of the real API. What the description does state
(lengths of titles, shapes of components) is left to `contract`.
Sources: the platform's pages on messages, components, embeds and application commands.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.fakes.discord import showing
from tests.fakes.discord.refusal import Refusal, invalid_form
from tests.fakes.discord.showing import ACTION_ROW, BUTTON, LAYOUT_ONLY, LINK_BUTTON, SELECTS, TEXT_DISPLAY
from tests.fakes.discord.world import LAYOUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Json = dict[str, Any]

CONTENT, EMBED_TOTAL, EMBEDS = 2_000, 6_000, 10
ROWS, ROW_BUTTONS, LAYOUT_COMPONENTS, LAYOUT_TEXT = 5, 5, 40, 4_000
CUSTOM_ID, LABEL, MODAL_TITLE, MODAL_COMPONENTS = 100, 80, 45, 5
THREAD_NAME, CHOICES, CHOICE_NAME, NONCE = 100, 25, 100, 25
COMMANDS_PER_SCOPE = {1: 100, 2: 15, 3: 15}
COMMAND_NAME, COMMAND_DESCRIPTION, COMMAND_TOTAL, COMMAND_OPTIONS = 32, 100, 8_000, 25
CHAT_COMMAND_NAME = re.compile(r"^[-_'\w]{1,32}$")


def _at_most(where: str, value: str, limit: int, *, at_least: int = 0) -> None:
    if len(value) > limit:
        raise invalid_form(where, "BASE_TYPE_MAX_LENGTH", f"Must be {limit} or fewer in length.")
    if len(value) < at_least:
        raise invalid_form(where, "BASE_TYPE_MIN_LENGTH", f"Must be at least {at_least} in length.")


def _no_more_than(where: str, items: Sequence[Any], limit: int) -> None:
    if len(items) > limit:
        raise invalid_form(where, "BASE_TYPE_MAX_LENGTH", f"Must be {limit} or fewer in length.")


def message(body: Json, *, where: str = "", flags: int = 0, files: int = 0) -> None:
    """A message as it would stand: ``body`` holds its content, embeds, components and attachments."""
    content, embeds = body.get("content") or "", body.get("embeds") or []
    components = body.get("components") or []
    _at_most(f"{where}content", content, CONTENT)
    _no_more_than(f"{where}embeds", embeds, EMBEDS)
    if sum(map(embed_length, embeds)) > EMBED_TOTAL:
        raise invalid_form(f"{where}embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000")
    if body.get("nonce") is not None:
        _at_most(f"{where}nonce", str(body["nonce"]), NONCE)
    _identified(components, f"{where}components")
    if flags & LAYOUT:
        _layout(content, embeds, components, where)
    else:
        _rows(components, f"{where}components")
    if not (content or embeds or components or files or body.get("sticker_ids") or body.get("poll")):
        raise Refusal(400, 50006, "Cannot send an empty message", violation=f"{where}: an empty message")


def embed_length(embed: Json) -> int:
    """What counts toward the 6,000: title, description, field names and values, footer, author."""
    parts = [embed.get("title"), embed.get("description")]
    parts += [(embed.get("footer") or {}).get("text"), (embed.get("author") or {}).get("name")]
    for field in embed.get("fields") or ():
        parts += [field.get("name"), field.get("value")]
    return sum(len(part or "") for part in parts)


def _layout(content: str, embeds: list[Json], components: list[Json], where: str) -> None:
    if content or embeds:
        field = "content" if content else "embeds"
        message = "The 'content' and 'embeds' fields cannot be used when using MessageFlags.IS_COMPONENTS_V2"
        raise invalid_form(f"{where}{field}", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", message)
    everything = list(showing.walk(components))
    _no_more_than(f"{where}components", everything, LAYOUT_COMPONENTS)
    texts = [item.get("content") or "" for item in everything if item["type"] == TEXT_DISPLAY]
    if sum(map(len, texts)) > LAYOUT_TEXT:
        raise invalid_form(f"{where}components", "COMPONENT_MAX_TEXT_SIZE", f"Text exceeds {LAYOUT_TEXT} characters")
    for index, row in enumerate(item for item in everything if item["type"] == ACTION_ROW):
        _row(row, f"{where}components.{index}.components")


def _rows(components: list[Json], where: str) -> None:
    _no_more_than(where, components, ROWS)
    for index, row in enumerate(components):
        if row["type"] in LAYOUT_ONLY or row["type"] != ACTION_ROW:
            raise invalid_form(f"{where}.{index}.type", "UNION_TYPE_CHOICES", "Value of field must be one of (1,).")
        _row(row, f"{where}.{index}.components")


def _row(row: Json, where: str) -> None:
    children = row.get("components") or []
    _no_more_than(where, children, ROW_BUTTONS)
    if not children:
        raise invalid_form(where, "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
    if len(children) > 1 and any(child["type"] != BUTTON for child in children):
        raise invalid_form(where, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The maximum width of the layout was exceeded.")


def _identified(components: Iterable[Json], where: str) -> None:
    """Every control has its own custom_id of 1 to 100 characters; a button says something."""
    seen: Counter[str] = Counter()
    for component in showing.walk(components):
        if component["type"] == BUTTON:
            _button(component, where)
        if component["type"] in SELECTS | {showing.TEXT_INPUT, showing.FILE_UPLOAD}:
            _at_most(f"{where}.custom_id", component.get("custom_id") or "", CUSTOM_ID, at_least=1)
        if component.get("custom_id"):
            seen[component["custom_id"]] += 1
    for custom_id, times in seen.items():
        if times > 1:
            message = f"Component custom id cannot be duplicated ({custom_id})"
            raise invalid_form(f"{where}.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", message)


def _button(button: Json, where: str) -> None:
    _at_most(f"{where}.label", button.get("label") or "", LABEL)
    if not (button.get("label") or button.get("emoji")):
        raise invalid_form(f"{where}.label", "BUTTON_COMPONENT_LABEL_REQUIRED", "A label or emoji is required")
    if button.get("style") == LINK_BUTTON:
        if not button.get("url") or button.get("custom_id"):
            raise invalid_form(f"{where}.url", "BUTTON_COMPONENT_URL_REQUIRED", "A url, and no custom id, is required")
        return
    _at_most(f"{where}.custom_id", button.get("custom_id") or "", CUSTOM_ID, at_least=1)


def thread_name(name: str, where: str = "name") -> None:
    _at_most(where, name, THREAD_NAME, at_least=1)


def modal(data: Json) -> None:
    _at_most("data.title", data.get("title") or "", MODAL_TITLE, at_least=1)
    _at_most("data.custom_id", data.get("custom_id") or "", CUSTOM_ID, at_least=1)
    components = data.get("components") or []
    _no_more_than("data.components", components, MODAL_COMPONENTS)
    _identified(components, "data.components")


def choices(data: Json) -> None:
    """At most 25 suggestions, each named in 1 to 100 characters."""
    offered = data.get("choices") or []
    _no_more_than("data.choices", offered, CHOICES)
    for index, choice in enumerate(offered):
        _at_most(f"data.choices.{index}.name", choice["name"], CHOICE_NAME, at_least=1)
        if isinstance(choice["value"], str):
            _at_most(f"data.choices.{index}.value", choice["value"], CHOICE_NAME, at_least=1)


def commands(definitions: Sequence[Json]) -> None:
    """A whole scope's commands: their number, names, descriptions, options and total size."""
    kinds = Counter((definition.get("type") or 1) for definition in definitions)
    for kind, number in kinds.items():
        if number > COMMANDS_PER_SCOPE[kind]:
            raise Refusal(400, 30032, "Maximum number of application commands reached", violation="too many commands")
    names = Counter(((definition.get("type") or 1), definition["name"]) for definition in definitions)
    for (_, name), times in names.items():
        if times > 1:
            raise invalid_form("name", "APPLICATION_COMMANDS_DUPLICATE_NAME", f"Names must be unique: {name}")
    for index, definition in enumerate(definitions):
        _command(definition, str(index))


def _command(definition: Json, where: str) -> None:
    description = definition.get("description") or ""
    if (definition.get("type") or 1) != 1:
        _at_most(f"{where}.name", definition["name"], COMMAND_NAME, at_least=1)
        _at_most(f"{where}.description", description, 0)
        return
    _named(definition, where)
    _options(definition.get("options") or [], where)
    if sum(map(len, _words(definition))) > COMMAND_TOTAL:
        raise invalid_form(where, "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)")


def _named(item: Json, where: str) -> None:
    name, description = item["name"], item.get("description") or ""
    if not CHAT_COMMAND_NAME.match(name) or name != name.lower():
        raise invalid_form(f"{where}.name", "APPLICATION_COMMAND_INVALID_NAME", f"Command name is invalid: {name}")
    _at_most(f"{where}.description", description, COMMAND_DESCRIPTION, at_least=1)


def _options(options: list[Json], where: str) -> None:
    _no_more_than(f"{where}.options", options, COMMAND_OPTIONS)
    optional_seen = False
    for index, option in enumerate(options):
        place = f"{where}.options.{index}"
        _named(option, place)
        _no_more_than(f"{place}.choices", option.get("choices") or [], CHOICES)
        if option.get("required") and optional_seen:
            message = "Required options must be placed before non-required options"
            raise invalid_form(place, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", message)
        optional_seen = optional_seen or (option["type"] > 2 and not option.get("required"))
        _options(option.get("options") or [], place)


def _words(item: Json) -> Iterator[str]:
    yield item["name"]
    yield item.get("description") or ""
    for choice in item.get("choices") or ():
        yield choice["name"]
        yield str(choice["value"])
    for option in item.get("options") or ():
        yield from _words(option)
