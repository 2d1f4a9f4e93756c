"""RST: docutils parses, its HTML goes the way of web pages. Lines keep their numbers.

Documents cannot make docutils read files or pass raw markup through. Directives and roles that docutils does not know,
as those of Sphinx and its extensions, are read as the text that they hold.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from adapters.documents.encodings import decode
from adapters.documents.format import Format
from adapters.documents.formats.rst_directives import accept_unknown, plain_labels
from adapters.documents.formats.text import read_text, trim_lines
from adapters.documents.html_markdown import soup, to_markdown
from adapters.documents.titles import choose_title
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

if TYPE_CHECKING:
    from docutils.nodes import document

MEDIA_TYPE = "text/x-rst"
MOST_TABLE_RULES = 1_000  # the time for a grid table grows with the square of its rows
MOST_LINE_CHARS = 20_000
MOST_SUBSTITUTIONS = 20_000
"""Names put in by substitutions; each may stand for a long text."""

_ENUMERATORS = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
_OTHER_FILE = re.compile(r"^\s*\.\. (?:include|literalinclude)::\s*\S|^\s+:file:\s*\S", re.MULTILINE)
_TABLE_RULE = re.compile(r"^\s*\+[-=]{2,}")
_KEYS = re.compile(r":kbd:`[^`]+`(?:\s?\+?\s?:kbd:`[^`]+`)+")
_KEY = re.compile(r":kbd:`([^`]+)`")
_WORD = re.compile(r"\w{2,}")
_COMPARED = 20
"""Of a line's words."""

_AHEAD = 400
"""How many lines further down a line of the Markdown may have been written."""


def read(name: str, data: bytes) -> ParsedDocument:
    """The document as Markdown. Raises DocumentRejected where its tables are too large."""
    source = decode(data)
    written = source.split("\n")
    if sum(bool(_TABLE_RULE.match(line)) for line in written) > MOST_TABLE_RULES:
        raise DocumentRejected(
            f"This file has tables of over {MOST_TABLE_RULES:,} ruled lines.", remedy="Add it in parts, or as CSV."
        )
    if max(map(len, written)) > MOST_LINE_CHARS or source.count("|") > 2 * MOST_SUBSTITUTIONS:
        return read_text(name, data)
    lines = _markdown(source).split("\n")
    body, _ = trim_lines(lines)
    if not body:
        raise NoText("There is no text in this file.")
    numbers = list(_source_lines(body.split("\n"), written))
    return ParsedDocument(
        title=choose_title(name, markdown=[body]),
        blocks=(Block(body, first_line=numbers[0], lines=tuple(numbers)),),
        media_type=MEDIA_TYPE,
        notes=("other files that this one includes are not read",) if _OTHER_FILE.search(source) else (),
    )


def _markdown(source: str) -> str:
    from docutils.core import publish_doctree, publish_from_doctree

    keys = _KEYS.sub(lambda found: f":kbd:`{'+'.join(_KEY.findall(found[0]))}`", source)
    accept_unknown(keys)
    tree: document = publish_doctree(keys, settings_overrides=_SETTINGS)
    plain_labels(tree)
    html: bytes = publish_from_doctree(tree, writer="html5", settings_overrides=_SETTINGS)
    page = soup(html.decode())
    for literal in page.select("span.literal"):
        literal.name = "code"
    for code in page.select("pre[lang]"):
        code["class"] = f"language-{code['lang']}"
    for numbered in page.select("ol"):
        classes = numbered.get_attribute_list("class")
        numbered["type"] = next((kind for name, kind in _ENUMERATORS.items() if name in classes), "1")
    return to_markdown(page.body or page)


_SETTINGS: dict[str, Any] = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "line_length_limit": MOST_LINE_CHARS,
    "report_level": 3,  # errors stay in the tree with their source, which is put into words
    "warning_stream": False,
    "halt_level": 6,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "initial_header_level": 1,
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "math_output": "LaTeX",
    "syntax_highlight": "none",
    "strip_comments": True,
    "toc_backlinks": False,
    "footnote_backlinks": False,
    "datestamp": None,
    "output_encoding": "utf-8",
}


def _source_lines(lines: Sequence[str], written: Sequence[str]) -> Iterator[int]:
    """For each line of the Markdown the line of the source, from 1, in which its words begin."""
    words = [_WORD.findall(line) for line in written]
    at = -1
    for line in lines:
        wanted = _WORD.findall(line)[:_COMPARED]
        best, found = 0, at
        for i in range(at + 1, min(at + _AHEAD, len(words))) if wanted else ():
            held = _held(wanted, words[i])
            if held > best:
                best, found = held, i
            if best == len(wanted) or (best > 1 and best == len(words[found])):  # all of either line
                break
        if best > 1 or best == len(wanted):
            at = found
        yield max(at, 0) + 1


def _held(wanted: Sequence[str], line: Sequence[str]) -> int:
    """How many of these words a line holds one after the other, from the first on."""
    if wanted[0] not in line:
        return 0
    start = line.index(wanted[0])
    pairs = zip(wanted, line[start:], strict=False)
    return next((i for i, (one, other) in enumerate(pairs) if one != other), min(len(wanted), len(line) - start))


FORMATS = (Format(media_type=MEDIA_TYPE, read=read, label="RST", suffixes=("rst", "rest")),)
