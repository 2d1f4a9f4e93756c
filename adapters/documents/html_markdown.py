"""Conversion of HTML elements to Markdown: headings, lists, tables, code, alternative texts.

Web pages, e-books and mails share it. `formats.html` selects the content of a page.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag
from bs4.builder._lxml import LXMLTreeBuilder
from bs4.element import CData, NavigableString, PageElement, PreformattedString

from adapters.documents.tables import Row, table
from adapters.documents.titles import with_address
from core.model.markdown_lines import without_links

MAX_DEPTH = 80
"""Deeper elements are read as plain text. Pages do not nest this deeply, and mails that quote each other hardly do."""

MAX_SPAN = 100
"""Columns or rows that one cell may claim to span; more is a mistake or an attack."""

_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr",
    "html", "legend", "li", "main", "menu", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_DROPPED = frozenset((
    "script", "style", "noscript", "template", "iframe", "object", "embed", "applet", "svg", "canvas", "audio", "video",
    "map", "head", "link", "meta", "base", "input", "select", "textarea", "button", "datalist", "progress", "meter",
    "dialog",
))  # fmt: skip
_LANGUAGE = re.compile(r"(?:language-|lang-|highlight-source-|brush:\s*|sourceCode\s+)([\w+#-]+)")
_MAIL_ADDRESS = re.compile(r"[^@\s<>()|\[\]]{1,64}@[^@\s<>()|\[\]]{1,255}")
_BREAK = "\u2028"
_APART = ("a", "label", "option")
"""Elements separated by a space when they are adjacent, such as "Overview" and "Quickstart" in a menu."""


def soup(markup: str | bytes, encoding: str | None = None) -> BeautifulSoup:
    """Parse HTML of any quality with a bounded depth; entities that the document declares are not expanded."""
    if isinstance(markup, bytes):
        return BeautifulSoup(markup, builder=_BoundedTreeBuilder(), from_encoding=encoding)
    return BeautifulSoup(markup, builder=_BoundedTreeBuilder())


class _BoundedTreeBuilder(LXMLTreeBuilder):
    """Tree builder that drops elements nested too deeply but keeps their text; BeautifulSoup is quadratic in depth."""

    def __init__(self) -> None:
        super().__init__()
        self._dropped = 0

    def start(
        self, tag: str | bytes, attrs: dict[str | bytes, str | bytes], nsmap: dict[str, str] | None = None
    ) -> None:
        """Begin an element."""
        if self.soup is not None and len(self.soup.tagStack) > MAX_DEPTH:
            self._dropped += 1
            self.data(" ")
        else:
            super().start(tag, attrs, nsmap or {})

    def end(self, tag: str | bytes) -> None:
        """End an element."""
        if self._dropped:
            self._dropped -= 1
            self.data(" ")
        else:
            super().end(tag)


def to_markdown(root: Tag) -> str:
    """Return the Markdown of everything visible below `root`."""
    return "\n\n".join(piece for piece in _blocks(root) if piece.strip())


def is_hidden(tag: Tag) -> bool:
    """Return whether a reader of the page would not see this element."""
    style = str(tag.get("style") or "").replace(" ", "").lower()
    return (
        tag.has_attr("hidden")
        or str(tag.get("aria-hidden") or "").lower() == "true"
        or "display:none" in style
        or "visibility:hidden" in style
        or "font-size:0" in style.replace("font-size:0.", "")
    )


def _blocks(root: Tag) -> Iterator[str]:
    """Yield the block-level pieces below an element; inline content between blocks becomes paragraphs."""
    inline: list[PageElement] = []
    for child in root.children:
        if isinstance(child, Tag) and (child.name in _DROPPED or is_hidden(child)):
            continue
        if isinstance(child, Tag) and _is_block(child):
            yield from _paragraphs(inline)
            inline = []
            yield from _block(child)
        else:
            inline.append(child)
    yield from _paragraphs(inline)


def _is_block(tag: Tag) -> bool:
    """Return whether the element is or contains a block. `Tag.find` is ten times slower here: it rebuilds its rules."""
    if tag.name in _BLOCKS or tag.name in ("br", "img"):
        return tag.name in _BLOCKS
    return any(isinstance(inner, Tag) and inner.name in _BLOCKS for inner in tag.descendants)


def _block(tag: Tag) -> Iterator[str]:
    writer = _WRITERS.get(tag.name)
    if writer is None:
        yield from _blocks(tag)
    elif text := writer(tag):
        yield text


def _paragraphs(nodes: Iterable[PageElement]) -> Iterator[str]:
    text = _tidy("".join(_inline(node) for node in nodes))
    if text:
        # Escape "#" at the start of a prose line, which would make it a heading.
        yield re.sub(
            r"(?m)^(#{1,6}\s|[-+*]\s(?=\S)|\d+[.)]\s)", lambda m: "\\" + m[1] if m[1][0] == "#" else m[1], text
        )


def _tidy(text: str) -> str:
    text = re.sub(r"[ \t\r\n\f\xa0\u200b]+", " ", text)
    return re.sub(rf" *{_BREAK} *", "\n", re.sub(rf" *(?:{_BREAK} *){{2,}}", "\n\n", text)).strip()


def _inline(node: PageElement) -> str:
    if isinstance(node, NavigableString):
        return "" if isinstance(node, PreformattedString) and not isinstance(node, CData) else str(node)
    if not isinstance(node, Tag) or node.name in _DROPPED or is_hidden(node):
        return ""
    inner = "".join(_inline(child) for child in node.children)
    writer = _INLINE.get(node.name)
    text = writer(node, inner) if writer else inner
    return f"{text} " if text and _touches(node) else text


def _touches(tag: Tag) -> bool:
    """Return whether another link or label follows directly; style sheets, not white space, separate these."""
    after = tag.next_sibling
    return tag.name in _APART and isinstance(after, Tag) and after.name == tag.name


def _code(_tag: Tag, inner: str) -> str:
    return f"`{inner.strip()}`" if inner.strip() and "`" not in inner else inner


def _superscript(tag: Tag, inner: str) -> str:
    """Return an exponent as `^n`; a raised link refers to a note and stays unchanged."""
    return f"^{inner.strip()}" if re.fullmatch(r"\s*\d+\s*", inner) and tag.find("a") is None else inner


def _strong(_tag: Tag, inner: str) -> str:
    core = inner.strip().replace("**", "")
    before, after = inner[: len(inner) - len(inner.lstrip())], inner[len(inner.rstrip()) :]
    return inner if _BREAK in core or not inner.strip() else f"{before}**{core}**{after}"


def _alt(tag: Tag) -> str:
    alt = re.sub(r"\s+", " ", str(tag.get("alt") or "")).strip()
    return f" [Image: {alt}] " if len(alt) > 2 else ""


def _link(tag: Tag, inner: str) -> str:
    """Return a link's text with its http(s) or mail address; a linked image becomes its alternative text."""
    href = str(tag.get("href") or "")
    if address := _mail_address(tag, href):
        said = inner.strip()
        return inner if address.lower() in said.lower() else f"{said} ({address})" if said else address
    if inner.strip() in ("¶", "#", "🔗", "[edit]", "edit"):
        return ""
    return inner if tag.find(("img", "h1", "h2", "h3", "h4", "h5", "h6")) else with_address(inner, href)


def _mail_address(tag: Tag, href: str) -> str:
    """Return the address of a mail link, decoded if Cloudflare hides it in `data-cfemail`."""
    hidden = str(tag.get("data-cfemail") or "") or href.partition("/cdn-cgi/l/email-protection#")[2]
    if hidden:
        return _decode_hidden_address(hidden)
    scheme, _, rest = href.partition(":")
    address = unquote(rest.partition("?")[0]).strip() if scheme.lower() == "mailto" else ""
    return address if _MAIL_ADDRESS.fullmatch(address) else ""


def _decode_hidden_address(hidden: str) -> str:
    """Decode an address from hexadecimal bytes, each XORed with the first byte."""
    try:
        key, *letters = bytes.fromhex(hidden)
    except ValueError:
        return ""
    address = bytes(letter ^ key for letter in letters).decode("utf-8", "ignore")
    return address if _MAIL_ADDRESS.fullmatch(address) else ""


def _heading_text(tag: Tag) -> str:
    text = without_links(_tidy("".join(_inline(child) for child in tag.children))).replace("\n", " ").replace("**", "")
    return f"{'#' * int(tag.name[1])} {text}" if text else ""


def _code_block(tag: Tag) -> str:
    holders = [holder for holder in (tag.parent, tag, tag.find("code")) if isinstance(holder, Tag)]
    language = _LANGUAGE.search(" ".join(str(name) for t in holders for name in t.get_attribute_list("class")))
    for line_break in tag.find_all("br"):
        line_break.replace_with("\n")
    text = tag.get_text().strip("\n").rstrip()
    fence = "````" if "```" in text else "```"
    return f"{fence}{language[1] if language else ''}\n{text}\n{fence}" if text.strip() else ""


def _quote(tag: Tag) -> str:
    text = to_markdown(tag)
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n")) if text else ""


def _list(tag: Tag) -> str:
    ordered = tag.name == "ol"
    start = str(tag.get("start") or "1")
    number = int(start) if start.isdigit() and len(start) < 6 else 1
    items = []
    for child in tag.find_all(True, recursive=False):
        if is_hidden(child):
            continue
        text = to_markdown(child) if child.name not in ("ul", "ol") else _list(child)
        if not text.strip():
            continue
        if child.name in ("ul", "ol"):
            items.append(_indent(text, "  "))
            continue
        mark = f"{_enumerator(number, str(tag.get('type') or '1'))}. " if ordered else "- "
        items.append(mark + _indent(re.sub(r"\n\n(?=(- |\d+\. ))", "\n", text), " " * len(mark)).lstrip())
        number += 1
    loose = any("\n\n" in item for item in items)
    return ("\n\n" if loose else "\n").join(items)


def _enumerator(number: int, kind: str) -> str:
    """Return the number of a list item as the list shows it: "3", "c", "C", "iii" or "III"."""
    if kind in ("a", "A") and number <= 26:
        return chr(ord(kind) + number - 1)
    if kind in ("i", "I") and number < 40:
        roman = "x" * (number // 10) + ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")[number % 10]
        return roman if kind == "i" else roman.upper()
    return str(number)


def _indent(text: str, by: str) -> str:
    return "\n".join(by + line if line.strip() else "" for line in text.split("\n"))


def _definitions(tag: Tag) -> str:
    lines: list[str] = []
    for part in tag.find_all(("dt", "dd")):
        if part.find_parent("dl") is not tag:
            continue
        text = to_markdown(part)
        if text and part.name == "dt":
            lines.append(f"**{text.replace('**', '')}**" if "\n" not in text else text)
        elif text:
            lines.append(_indent(text, "  ") if "\n" in text else f": {text}")
    return "\n".join(lines).replace("\n**", "\n\n**")


def _table(tag: Tag) -> str:
    caption = tag.find("caption", recursive=False)
    above = _tidy("".join(_inline(c) for c in caption.children)) if isinstance(caption, Tag) else ""
    rows = _own_rows(tag)
    if _is_layout(tag, rows):
        text = "\n\n".join(piece for row in rows for cell in row for piece in _blocks(cell) if piece.strip())
    else:
        text = table(_with_one_header(rows, grid(rows)))
    return "\n\n".join(part for part in (above, text) if part)


def _own_rows(tag: Tag) -> list[list[Tag]]:
    """Return the cells of this table without those of nested tables."""
    rows = [row for row in tag.find_all("tr") if row.find_parent("table") is tag and not is_hidden(row)]
    return [[cell for cell in row.find_all(("td", "th"), recursive=False) if not is_hidden(cell)] for row in rows]


def _is_layout(tag: Tag, rows: list[list[Tag]]) -> bool:
    """Return whether a table is used only for layout: one column, or whole page sections in its cells."""
    if tag.get("role") in ("presentation", "none") or max(map(len, rows), default=0) <= 1:
        return True
    if tag.find("th") is not None:
        return False
    cells = [cell for row in rows for cell in row]
    return any(
        cell.find(("h1", "h2", "h3", "pre", "form")) is not None
        or (len(rows) == 1 and len(cell.find_all(("br", "p"))) > 3)
        for cell in cells
    )


def grid(rows: list[list[Tag]]) -> list[list[str]]:
    """Return cell texts as rows; cells that span rows are repeated, and header cells that span columns."""
    filled: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for row in rows:
        cells: list[str] = []
        for cell in row:
            _take_hanging(cells, hanging)
            text = _cell_text(cell)
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            for i in range(across):
                if down > 1:
                    hanging[len(cells)] = (down - 1, text if i == 0 or cell.name == "th" else "")
                cells.append(text if i == 0 or cell.name == "th" else "")
        _take_hanging(cells, hanging)
        filled.append(cells)
    return filled


def _take_hanging(cells: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    while len(cells) in hanging:
        column = len(cells)
        left, text = hanging.pop(column)
        cells.append(text)
        if left > 1:
            hanging[column] = (left - 1, text)


def _span(cell: Tag, which: str) -> int:
    value = str(cell.get(which) or "1")
    return max(1, min(int(value), MAX_SPAN)) if value.isdigit() and len(value) < 9 else 1


def _cell_text(cell: Tag) -> str:
    inner = [_inline_nested_block(child) if isinstance(child, Tag) else _inline(child) for child in cell.children]
    return re.sub(r"\n+", " ", _tidy("".join(inner)))


def _inline_nested_block(child: Tag) -> str:
    """Return a cell's content on one line: lists joined with semicolons, tables row by row."""
    if child.name in _DROPPED or is_hidden(child):
        return ""
    if child.name in ("ul", "ol"):
        return "; ".join(_tidy(_inline(item)).replace("\n", " ") for item in child.find_all("li", recursive=False))
    if child.name == "table":
        return "; ".join(", ".join(_cell_text(cell) for cell in row) for row in _own_rows(child))
    if child.find(("ul", "ol", "table")) is not None:
        return " ".join(_inline_nested_block(c) if isinstance(c, Tag) else _inline(c) for c in child.children)
    return _inline(child)


def _with_one_header(rows: list[list[Tag]], texts: list[list[str]]) -> list[Row]:
    """Merge several header rows into one: 'Price 2024', 'Price 2025'."""
    heads = 0
    while heads < len(rows) and rows[heads] and all(cell.name == "th" for cell in rows[heads]):
        heads += 1
    if heads < 2 or heads == len(rows):
        return list(texts)
    width = max(map(len, texts[:heads]))
    columns = ([row[i] for row in texts[:heads] if i < len(row)] for i in range(width))
    return [[" ".join(dict.fromkeys(filter(None, column))) for column in columns], *texts[heads:]]


_WRITERS: dict[str, Callable[[Tag], str]] = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _heading_text),
    **dict.fromkeys(("ul", "ol", "menu"), _list),
    "pre": _code_block,
    "blockquote": _quote,
    "table": _table,
    "dl": _definitions,
    "hr": lambda _: "",
}
_INLINE: dict[str, Callable[[Tag, str], str]] = {
    **dict.fromkeys(("code", "kbd", "samp", "tt"), _code),
    **dict.fromkeys(("b", "strong"), _strong),
    **dict.fromkeys(sorted(_BLOCKS), lambda _, inner: f" {inner} "),
    "span": lambda tag, inner: _mail_address(tag, "") or inner,  # a proxy may hide an address in it
    "a": _link,
    "br": lambda _tag, _inner: _BREAK,
    "img": lambda tag, _: _alt(tag),
    "sup": _superscript,
}
