"""Slack's blocks as HTML: the kinds that Footnote sends, and a refusal of any other."""

import html
from collections.abc import Callable, Sequence
from typing import Any

from tests.pictures.markup import markdown, mrkdwn
from tests.pictures.unknown import UnknownKindError

Json = dict[str, Any]


def blocks(rows: Sequence[Json]) -> str:
    """A message's or view's blocks. Raises UnknownKindError."""
    return "".join(_of(BLOCKS, "block", row) for row in rows)


def tasks(steps: Sequence[Json]) -> str:
    """The steps of an answer, folded up as they are once it stands."""
    return f'<div class="tasks">▸ {len(steps)} steps</div>' if steps else ""


def _of(known: dict[str, Callable[[Json], str]], what: str, part: Json) -> str:
    if part["type"] not in known:
        raise UnknownKindError(f"Slack's {what} {part['type']!r}")
    return known[part["type"]](part)


def _text(part: Json) -> str:
    return _of(TEXTS, "text", part)


def _plain(part: Json) -> str:
    return html.escape(part["text"])


def _section(row: Json) -> str:
    fields = "".join(f"<div>{_text(one)}</div>" for one in row.get("fields", ()))
    beside = f'<div class="beside">{_element(row["accessory"])}</div>' if "accessory" in row else ""
    text = f"<div>{_text(row['text'])}</div>" if "text" in row else ""
    return f'<div class="section"><div>{text}{fields}</div>{beside}</div>'


def _input(row: Json) -> str:
    hint = f'<div class="hint">{_text(row["hint"])}</div>' if "hint" in row else ""
    optional = ' <span class="hint">(optional)</span>' if row.get("optional") else ""
    label = f'<div class="label">{_text(row["label"])}{optional}</div>'
    return f'<div class="input">{label}{_element(row["element"])}{hint}</div>'


def _element(element: Json) -> str:
    if element["type"] in TEXTS:
        return f"<span>{_text(element)}</span>"
    return _of(ELEMENTS, "element", element)


def _elements(row: Json) -> str:
    return "".join(_element(one) for one in row["elements"])


def _button(element: Json) -> str:
    return f'<span class="button {element.get("style", "")}">{_text(element["text"])}</span>'


def _feedback(element: Json) -> str:
    both = (element["positive_button"], element["negative_button"])
    return "".join(
        f'<span class="thumb">{THUMBS.get(one["text"]["text"]) or _text(one["text"])}</span>' for one in both
    )


def _menu(element: Json) -> str:
    chosen = [one["text"] for one in element.get("initial_options", [])]
    chosen += [element["initial_option"]["text"]] if "initial_option" in element else []
    shown = ", ".join(map(_text, chosen))
    hint = _text(element["placeholder"]) if "placeholder" in element else "Select …"
    return f'<div class="menu"><span class="{"" if shown else "empty"}">{shown or hint}</span><i>⌄</i></div>'


def _checkboxes(element: Json) -> str:
    initial = [one["value"] for one in element.get("initial_options", [])]
    return "".join(
        f'<div class="check"><span class="box {"on" if one["value"] in initial else ""}"></span>'
        f"{_text(one['text'])}</div>"
        for one in element["options"]
    )


def _typed(element: Json) -> str:
    value = html.escape(str(element.get("initial_value", "")))
    hint = _text(element["placeholder"]) if "placeholder" in element else "Write something"
    lines = " tall" if element.get("multiline") else ""
    return f'<div class="typed{lines}"><span class="{"" if value else "empty"}">{value or hint}</span></div>'


_THUMB = '<svg width="15" height="15" viewBox="0 0 24 24" fill="#c48a1b" style="transform:rotate({}deg)">{}</svg>'
_SHAPE = '<path d="M2 10h4v11H2zM8 21V10l5-8c2 0 3 1 2.6 3L15 9h5c2 0 2.6 1.3 2.2 3l-1.8 7c-.4 1.3-1.2 2-2.6 2z"/>'
THUMBS = {"👍": _THUMB.format(0, _SHAPE), "👎": _THUMB.format(180, _SHAPE)}  # no font here has them

TEXTS: dict[str, Callable[[Json], str]] = {"plain_text": _plain, "mrkdwn": lambda part: mrkdwn(part["text"])}
BLOCKS: dict[str, Callable[[Json], str]] = {
    "actions": lambda row: f'<div class="actions">{_elements(row)}</div>',
    "context": lambda row: f'<div class="context">{_elements(row)}</div>',
    "context_actions": lambda row: f'<div class="actions">{_elements(row)}</div>',
    "divider": lambda row: "<hr>",
    "header": lambda row: f"<h2>{_text(row['text'])}</h2>",
    "input": _input,
    "markdown": lambda row: f'<div class="section"><div>{markdown(row["text"])}</div></div>',
    "section": _section,
}
ELEMENTS: dict[str, Callable[[Json], str]] = {
    "button": _button,
    "checkboxes": _checkboxes,
    "conversations_select": _menu,
    "external_select": _menu,
    "feedback_buttons": _feedback,
    "file_input": lambda element: '<div class="typed"><span class="empty">Drop files here, or browse</span></div>',
    "multi_conversations_select": _menu,
    "multi_static_select": _menu,
    "multi_users_select": _menu,
    "number_input": _typed,
    "plain_text_input": _typed,
    "static_select": _menu,
}
