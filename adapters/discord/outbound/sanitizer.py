"""Sanitizer for everything that leaves for Discord, applied after all rendering.

Every message is a ``SanitizedView`` and every form a ``SanitizedForm``, which sanitize their content as it is added.
Nothing is clickable or reads as a mention unless the text permits it as data: ``Text(content, links=…)``.
Independently, every call disallows mentions, so nobody is notified.

What Discord's client makes active in a message (https://support.discord.com/hc/en-us/articles/210298617, and its
parser's rules as found by https://github.com/LyricLy/parse-discord):

- ``http://``, ``https://``, ``steam://`` anywhere outside code; ``<scheme:/…>``; ``mailto:``, ``tel:``;
- ``[label](address "title")``, with optional white space and ``<>``, if the label contains no address; the address may
  omit its slashes (``https:host``), and may be ``discord://``;
- invitations by their host alone: ``discord.gg/…``;
- ``<@…>``, ``<@&…>``, ``<#…>``, ``</…>``, ``<id:…>``, ``@everyone``, ``@here``;
- names of threads, labels, placeholders and titles of forms: nothing.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from discord import app_commands, ui

from core.model.plain_text import JOINER, defang_invites, defang_schemes, one_line, remove_controls, without_closing

LAYOUT_TEXT_LIMIT = 4_000  # characters of all texts of one message together
_ZERO_WIDTH = "\u200b"
_CALL = re.compile(r"@(?=everyone|here)|<(?=@|#|id:|/|sound:)", re.IGNORECASE)
_CALL_BUT_IDS = re.compile(r"@(?=everyone|here)|<(?=@|#|id:|/|sound:)(?!@[!&]?\d{1,20}>|#\d{1,20}>)", re.IGNORECASE)
_OWN_MESSAGE = re.compile(r"https://discord\.com/channels/\d{1,20}/\d{1,20}(?:/\d{1,20})?")
_LINK = re.compile(
    r"(?<![\\!])\[((?:\\.|\[\d{1,4}\]|[^\[\]\\\n]){0,400})\]\(<?(https?://[^\s<>()]{1,2000})>?\)"
    r"|<(https?://[^\s<>]{1,2000})>|(?<![\w/:.\[(<\"'`|=])(https?://[^\s<>]+)"
)
_NOT_IN_A_LINK = set('()<>[]\\"`')
_ADDRESS = re.compile(r"[:：]/|\bwww\.|\w\.[^\W\d_]{2,}")


class Text(ui.TextDisplay[Any]):
    """Markdown of ours with permitted content: these links and, with ``mentions``, mentions of people and places.

    With ``mentions``, links to Discord messages are permitted too.
    """

    __slots__ = ("links", "mentions")

    def __init__(self, content: str, *, links: Iterable[str] = (), mentions: bool = False) -> None:
        super().__init__(content)
        self.links = frozenset(link for link in links if link)
        self.mentions = mentions


def buttons_below(*buttons: ui.Button[Any]) -> ui.View:
    """Return buttons to put below a plain text message."""
    view = ui.View(timeout=None)
    for button in buttons:
        view.add_item(button)
    return view


class SanitizedView(ui.LayoutView):
    """A message that is safe to send, whatever is added to it."""

    def __init__(self, *items: ui.Item[Any]) -> None:
        super().__init__(timeout=None)
        for item in items:
            self.add_item(item)
        self.stop()  # the library need not track it, because buttons are found by their ids

    @property
    def links(self) -> frozenset[str]:
        """Every address that one of its texts permits."""
        return frozenset[str]().union(*(one.links for one in self.walk_children() if isinstance(one, Text)))

    def add_item(self, item: ui.Item[Any]) -> "SanitizedView":
        """Add an item, sanitized. If the message becomes too long, its longest text is cut."""
        super().add_item(item)
        for part in _with_children(item):
            _sanitize(part)
        texts = [one for one in self.walk_children() if isinstance(one, ui.TextDisplay)]
        over = sum(len(one.content) for one in texts) - LAYOUT_TEXT_LIMIT
        if over > 0:
            longest = max(texts, key=lambda one: len(one.content))
            longest.content = _shorten(longest, len(longest.content) - over)
        return self


class SanitizedForm(ui.Modal):
    """A form that is safe to open. The library need not track it, because its submission is identified by the id."""

    def __init__(self, title: str, custom_id: str, *items: ui.Item[Any]) -> None:
        super().__init__(title=label(title), custom_id=custom_id, timeout=None)
        for item in items:
            self.add_item(item)
            for part in _with_children(item):
                _sanitize(part)
        self.stop()


def choice(name: str, value: str) -> app_commands.Choice[str]:
    """Return one completion of a command's option."""
    return app_commands.Choice(name=label(name)[:100] or "…", value=value[:100])


def label(text: str) -> str:
    """Return a text without markup for a label, a title or a thread's name. Never longer than before."""
    return one_line(text)[: len(text)]


def _with_children(item: Any) -> Iterator[Any]:
    yield getattr(item, "item", item)  # a dynamic item wraps the visible one
    for child in getattr(item, "children", None) or ():
        yield from _with_children(child)
    for name in ("accessory", "component"):
        if (child := getattr(item, name, None)) is not None:
            yield from _with_children(child)


def _sanitize(part: Any) -> None:
    """Sanitize this part's visible content in place."""
    if isinstance(part, ui.TextDisplay):
        part.content = _safe(part, part.content)
    if isinstance(part, ui.Button):
        part.label = label(part.label) if part.label else part.label
        if not (part.url and _OWN_MESSAGE.fullmatch(part.url)):
            part.url = None  # our buttons may link to Discord messages only
    if isinstance(part, ui.Label):
        part.text = label(part.text)
        part.description = label(part.description) if part.description else part.description
    if isinstance(part, ui.Select):
        for option in part.options:
            option.label = label(option.label)
            option.description = label(option.description) if option.description else option.description
    if isinstance(part, ui.Select | ui.RoleSelect | ui.TextInput) and part.placeholder:
        part.placeholder = label(part.placeholder)


def _safe(part: ui.TextDisplay[Any], content: str) -> str:
    if isinstance(part, Text):
        return markdown(content, part.links, mentions=part.mentions)
    return markdown(content)


def _shorten(part: ui.TextDisplay[Any], limit: int) -> str:
    """Return a text's beginning, sanitized again, because a link that was cut is not permitted."""
    kept = part.content
    while len(kept) > max(limit, 1):
        cut = kept[: max(limit, 1) - 1 - (len(kept) - limit) // 8]
        kept = _safe(part, cut.rstrip() + "…")
    return kept


# --- Markdown


def links_in(text: str) -> frozenset[str]:
    """Return the active addresses in a text of ours that is already sanitized."""
    found = (match.groups() for match in _LINK.finditer(text))
    return frozenset(masked or quiet for _, masked, quiet, _ in found if masked or quiet)


def markdown(text: str, links: frozenset[str] = frozenset(), *, mentions: bool = False) -> str:
    """Return Markdown in which only these links are active, written unambiguously."""
    text = remove_controls(text)
    pieces: list[str] = []
    last = 0
    for start, end in code_spans(text):
        pieces += [_active(text[last:start], links, mentions=mentions), text[start:end]]
        last = end
    return "".join([*pieces, _active(text[last:], links, mentions=mentions)])


def _active(text: str, links: frozenset[str], *, mentions: bool) -> str:
    """Sanitize text outside code, except permitted links."""
    kept: list[str] = []
    last = 0
    for match in _LINK.finditer(text):
        written = _permit(match, links, mentions=mentions)
        if written is not None:
            kept += [_still(text[last : match.start()], mentions=mentions), written]
            last = match.end()
    return "".join([*kept, _still(text[last:], mentions=mentions)])


def _permit(match: re.Match[str], links: frozenset[str], *, mentions: bool) -> str | None:
    words, masked, quiet, bare = match.groups()
    url, closing = without_closing(bare) if bare else (masked or quiet, "")
    own = mentions and _OWN_MESSAGE.fullmatch(url)
    if not (url in links or own) or set(url) & _NOT_IN_A_LINK:
        return None
    closing = _still(closing, mentions=mentions)
    if words is None or not words.strip() or words.strip() == url:
        return f"<{url}>{closing}"
    words = _still(words, mentions=False)
    return f"{words} (<{url}>)" if _ADDRESS.search(words.replace(JOINER, "")) else f"[{words}](<{url}>)"


def _still(text: str, *, mentions: bool) -> str:
    calls = _CALL_BUT_IDS if mentions else _CALL
    return calls.sub(lambda match: match.group() + _ZERO_WIDTH, defang_invites(defang_schemes(text)))


_FENCE = re.compile(r"```[\w+.#-]*\Z")
_STYLES = frozenset("*_~|")

Span = tuple[int, int]


def code_spans(text: str) -> list[Span]:
    """Return the (start, end) of each piece of code, in order, or an empty list if that is ambiguous.

    Fences must be separate lines at the left edge. Spans must start and end on one line, with single backticks. No
    style may start before a piece and end in it, and no label may end in it.
    """
    spans = _fences_and_spans(text)
    styles = set[str]()
    last = 0
    for start, end in spans or ():
        styles |= _STYLES.intersection(text[last:start])
        if styles.intersection(text[start:end]) or "](" in text[start:end]:
            return []
        last = end
    return spans or []


def _fences_and_spans(text: str) -> list[Span] | None:
    """Return fences and spans in order, or None if a line is ambiguous."""
    spans: list[Span] = []
    opened, position = -1, 0
    for line in text.split("\n"):
        if opened >= 0 and line == "```":
            if not text[opened:position].partition("\n")[2].strip():
                return None  # Discord ends an empty fence elsewhere
            spans.append((opened, position + len(line)))
            opened = -1
        elif opened < 0 and _FENCE.match(line):
            opened = position
        elif "```" in line or "~~~" in line:
            return None
        elif opened < 0:
            found = _inline_spans(line, position)
            if found is None:
                return None
            spans += found
        position += len(line) + 1
    return None if opened >= 0 else spans


def _inline_spans(line: str, position: int) -> list[Span] | None:
    """Return the code spans of a line that starts at this position, or None if they are ambiguous."""
    ticks = [n for n, character in enumerate(line) if character == "`"]
    pairs = list(zip(ticks[::2], ticks[1::2], strict=False))
    uncertain = len(ticks) % 2 or "``" in line or "\\`" in line
    if uncertain or any(not line[start + 1 : end].strip() for start, end in pairs):
        return None
    return [(position + start, position + end + 1) for start, end in pairs]
