"""Renders Markdown of models and documents as safe HTML: no scripts, no images, only allowed links.

Two independent layers: markdown-it renders without HTML and drops every address that is not exactly allowed; nh3
(ammonia) then keeps only these tags and attributes.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import cache
from html import unescape
from itertools import pairwise

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from core.model.markdown_lines import cells_of, is_table_rule
from core.model.passage_units import units
from core.model.plain_text import remove_controls

_TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"),
    *("s", "span", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_CITATION = re.compile(r"\[(\d{1,3})\]")
_NO_BREAK = "\N{NO-BREAK SPACE}"  # keeps a number on the same line as its words
_ROWS = re.compile(r"^\|.*\|[ \t]*$(?:\n\|.*\|[ \t]*$)*", re.MULTILINE)
_EMPTY_HEAD = re.compile(r"<thead>\s*<tr>\s*(?:<th></th>\s*)+</tr>\s*</thead>")
_LONGEST = 400_000  # characters rendered at once

LinkTo = Callable[[int], str]  # the address of a source by its number in an answer


def render_answer(text: str, numbers: Collection[int], link_to: LinkTo, allowed: Collection[str] = ()) -> Markup:
    """Render an answer. ``[n]`` of these numbers links to its source; only allowed links stay."""
    tokens = _parse(text, frozenset(allowed))
    for token in tokens:
        if token.type == "inline" and token.children is not None:
            token.children = _with_citations(token.children, frozenset(numbers), link_to)
    return _sanitize(tokens)


def render_passage(text: str) -> Markup:
    """Render part of a document. Addresses are shown but are never links."""
    return _sanitize(_parse(_with_small_headings(text), frozenset()))


def _with_small_headings(text: str) -> str:
    """Return the text with each small heading on its own line."""
    found = {unit.under for unit in units(text[:_LONGEST])}
    heads = {one for one in found if one[:1].isalnum() and not one.endswith(":")}
    return "\n".join(f"\n**{line.strip()}**\n" if line.strip() in heads else line for line in text.split("\n"))


def render_quote(text: str) -> Markup:
    """Render a quote like a passage, but keep table rows without a header as a table, and make headings bold."""
    text = _ROWS.sub(_with_empty_head, text)
    tokens = _parse(text, frozenset())
    for before, token in pairwise(tokens):
        if before.type == "heading_open" and token.children is not None:
            token.children = [Token("strong_open", "strong", 1), *token.children, Token("strong_close", "strong", -1)]
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "p"
    return Markup(_EMPTY_HEAD.sub("", _sanitize(tokens)))  # noqa: S704 - cleaned, then only shortened


def _with_empty_head(rows: re.Match[str]) -> str:
    """Return table rows under an empty header; unchanged if they have a header."""
    lines = rows[0].splitlines()
    if len(lines) > 1 and is_table_rule(lines[1]):
        return rows[0]
    columns = max(len(cells_of(line)) for line in lines)
    return f"\n{'|  ' * columns}|\n{'|---' * columns}|\n{rows[0]}"


def words_of(text: str) -> str:
    """Return part of a document as plain words, without markup."""
    html = re.sub(r"</(?:p|li|td|th|h\d|pre)>", " ", str(render_passage(text)))
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
    return parser.enable(["table", "strikethrough"]).disable(["reference"])


def _parse(text: str, allowed: frozenset[str]) -> list[Token]:
    tokens = _parser().parse(remove_controls(text[:_LONGEST]))
    for token in tokens:
        if token.type == "inline" and token.children is not None:
            token.children = _without_foreign(token.children, allowed)
        if token.type in ("th_open", "td_open"):
            token.attrs = {}  # alignment is an inline style, which our pages forbid
    return tokens


def _without_foreign(children: Sequence[Token], allowed: frozenset[str]) -> list[Token]:
    """Replace links that are not allowed by their words and, if these hide it, their address; images by their text."""
    kept: list[Token] = []
    opened: list[str] = []  # for each open link: its address if not allowed, otherwise empty
    for token in children:
        if token.type == "link_open":
            address = str(token.attrs.get("href", ""))
            opened.append("" if address in allowed else address)
            if address in allowed:
                token.attrs = {"href": address, "rel": "noopener noreferrer nofollow", "target": "_blank"}
                kept.append(token)
        elif token.type == "link_close":
            address = opened.pop() if opened else ""
            if address:
                kept.append(_text("" if token.markup == "autolink" else f" ({address})"))
            else:
                kept.append(token)
        elif token.type == "image":
            kept.append(_text(token.content or "picture"))
        else:
            kept.append(token)
    return kept


def _with_citations(children: Sequence[Token], numbers: frozenset[int], link_to: LinkTo) -> list[Token]:
    kept: list[Token] = []
    for token in children:
        if token.type != "text":
            kept.append(token)
            continue
        start = 0
        for match in _CITATION.finditer(token.content):
            if (n := int(match[1])) not in numbers:
                continue
            before = token.content[start : match.start()].rstrip() + _NO_BREAK
            link = f'<a class="cite" href="{escape(link_to(n))}" title="Source {n}">{n}</a>'
            kept += [_text(before), Token("html_inline", "", 0, content=link)]
            start = match.end()
        kept.append(_text(token.content[start:]))
    return kept


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _sanitize(tokens: list[Token]) -> Markup:
    parser = _parser()
    html = parser.renderer.render(tokens, parser.options, {})
    return Markup(  # noqa: S704 - cleaned right here
        nh3.clean(
            html,
            tags=_TAGS,
            attributes={"a": {"href", "title", "target", "rel"}, "ol": {"start"}},
            allowed_classes={"a": {"cite"}},
            url_schemes={"http", "https"},
            link_rel=None,
        )
    )
