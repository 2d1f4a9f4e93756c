"""RST: docutils parses it, and its HTML is converted like a web page. Line numbers are kept.

Documents cannot make docutils read files or pass raw markup through. Sphinx, its extensions and single projects have
many directives and roles that docutils does not know. These are read as their text.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en

from adapters.documents.encodings import decode
from adapters.documents.format import Format
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
"""Maximum number of substitutions; each may insert a long text."""

_ENUMERATORS = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
_OTHER_FILE = re.compile(r"^\s*\.\. (?:include|literalinclude)::\s*\S|^\s+:file:\s*\S", re.MULTILINE)
_TABLE_RULE = re.compile(r"^\s*\+[-=]{2,}")
_KEYS = re.compile(r":kbd:`[^`]+`(?:\s?\+?\s?:kbd:`[^`]+`)+")
_KEY = re.compile(r":kbd:`([^`]+)`")
_WORD = re.compile(r"\w{2,}")
_COMPARED = 20
"""Maximum number of words compared per line."""

_AHEAD = 400
"""Maximum distance in lines between a Markdown line and its source line."""


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the document as Markdown. Raises DocumentRejected if its tables are too large."""
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
    "report_level": 3,  # errors stay in the tree with their source, which is converted to text
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
    """Yield for each Markdown line the source line, from 1, in which its words begin."""
    words = [_WORD.findall(line) for line in written]
    at = -1
    for line in lines:
        wanted = _WORD.findall(line)[:_COMPARED]
        best, found = 0, at
        for i in range(at + 1, min(at + _AHEAD, len(words))) if wanted else ():
            held = _held(wanted, words[i])
            if held > best:
                best, found = held, i
            if best == len(wanted) or (best > 1 and best == len(words[found])):  # all words of either line
                break
        if best > 1 or best == len(wanted):
            at = found
        yield max(at, 0) + 1


def _held(wanted: Sequence[str], line: Sequence[str]) -> int:
    """Return how many of these words occur consecutively in a line, starting with the first word."""
    if wanted[0] not in line:
        return 0
    start = line.index(wanted[0])
    pairs = zip(wanted, line[start:], strict=False)
    return next((i for i, (one, other) in enumerate(pairs) if one != other), min(len(wanted), len(line) - start))


FORMATS = (Format(media_type=MEDIA_TYPE, read=read, label="RST", suffixes=("rst", "rest")),)


MOST_NAMES = 5_000
"""Maximum number of unknown directives and roles in one document; further ones are dropped."""

_DIRECTIVE = re.compile(r"^\s*(?:\|[^|\n]+\| |\.\. (?:\|[^|\n]+\| )?)([\w:+.-]+)::(?:\s|$)", re.MULTILINE)
_HEAD = re.compile(r"\A\s*\.\. (?:\|[^|\n]+\| )?[\w:+.-]+::[ \t]*(?P<said>[^\n]*)(?:\n[ \t]+:[\w-]+:[^\n]*)*")
_ROLE = re.compile(r"(?<![\w`]):([a-zA-Z][\w:+.-]*):`")
_SILENT = frozenset(
    [
        *("toctree", "index", "meta", "contents", "highlight", "currentmodule", "module", "sectionauthor", "include"),
        *("tabularcolumns", "default-domain", "autosummary", "automodule", "autoclass", "autofunction", "testsetup"),
        *("sectnum", "section-numbering", "header", "footer", "target-notes", "raw", "literalinclude", "image-sg"),
    ]
)
_CODE = frozenset(
    [
        *("code-block", "sourcecode", "code-tab", "prompt", "doctest", "testcode", "testoutput", "productionlist"),
        *("mermaid", "graphviz", "digraph", "graph", "uml", "plantuml", "ipython", "jupyter-execute", "terminal"),
    ]
)
_OF_VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
}
_NOTES: dict[str, str] = {"seealso": "See also", "todo": "To do", **_OF_VERSIONS}
_TITLED = frozenset(
    ("tab", "tab-item", "md-tab-item", "group-tab", "dropdown", "details", "collapse", "card", "grid-item-card")
)
_SITE_FIELDS = frozenset(("orphan", "nosearch", "nocomments", "tocdepth", "hide-toc", "hidetoc", "hide-navigation"))
# Contexts in which a substitution needs its name: "select the |favorite-icon| icon", or the start of a line.
_NEEDS_NAME = re.compile(r"(?:^|\b(?:an?|the|your|select|selecting|choose|click|tap|press|use))$", re.IGNORECASE)
_OF_PICTURES = frozenset(("icon", "button", "badge", "image", "img", "svg", "vertical", "horizontal"))


class _AnyOption(dict[str, Any]):
    """Option specification that accepts every option as text."""

    def __missing__(self, name: str) -> Any:
        return directives.unchanged


class UnknownDirective(Directive):  # type: ignore[misc]
    """Fallback directive: its argument as a paragraph, followed by its body."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOption(name=directives.unchanged)

    def run(self) -> list[nodes.Node]:
        """Return the directive's visible nodes."""
        name, said = self.name.lower(), " ".join(" ".join(self.arguments).split())
        if name == "raw":
            return self._tables_of_html() if said == "html" else []
        if name in _SILENT:
            return []
        if name in _CODE:
            code = "\n".join(self.content)
            return [nodes.literal_block(code, code, classes=said.split()[:1])] if code else []
        return self._words_over_body(name, said)

    def _words_over_body(self, name: str, said: str) -> list[nodes.Node]:
        """Return the body below its label: a note's kind, a tab's name, or the directive's argument."""
        held, label = nodes.container(), _NOTES.get(name, "")
        if name in _OF_VERSIONS:
            version, _, said = said.partition(" ")
            label = f"{label} {version}".strip()
        elif name in _TITLED:
            label, said = said.rstrip(":"), ""
        if said and name != "only":
            parsed, _messages = self.state.inline_text(said, self.lineno)
            held += nodes.paragraph("", "", *parsed)
        self._parse(held)
        return _labelled(label, held.children) if label else list(held.children)

    def _parse(self, into: nodes.Element) -> None:
        """Parse the body; titles in it do not become sections of the document."""
        memo = self.state.memo
        styles, level = memo.title_styles, memo.section_level
        memo.title_styles, memo.section_level = [], 0
        try:
            self.state.nested_parse(self.content, self.content_offset, into, match_titles=True)
        finally:
            memo.title_styles, memo.section_level = styles, level
        for section in list(into.findall(nodes.section)):
            title, *rest = section.children
            words = title.astext()
            text = words if words.endswith(("?", "!", ":")) else f"{words}:"
            inner = _labelled(text[:-1], rest) if text.endswith(":") else [nodes.paragraph("", text), *rest]
            section.parent.replace(section, inner)

    def _tables_of_html(self) -> list[nodes.Node]:
        from adapters.documents.html_markdown import soup

        tables = soup("\n".join(self.content)).find_all("table")
        return [nodes.raw("", str(table), format="html") for table in tables if table.find_parent("table") is None]


class _Role(nodes.literal):  # type: ignore[misc]
    """The text of a role that docutils does not know."""


def accept_unknown(source: str) -> None:
    """Register fallbacks for directives and roles of this document that docutils does not know."""
    for name in sorted({found[1].lower() for found in _DIRECTIVE.finditer(source)})[:MOST_NAMES]:
        if name in _SILENT | _CODE or name not in en.directives:
            directives.register_directive(name, UnknownDirective)
        else:
            directives.register_directive(name, _with_any_option(name))
    for name in sorted({found[1].lower() for found in _ROLE.finditer(source)})[:MOST_NAMES]:
        if name not in en.roles:
            roles.register_generic_role(name, _Role)


def _with_any_option(name: str) -> type[Directive]:
    """Return a directive that accepts Sphinx options: docutils drops the body at an unknown option."""
    known = _known_directive(name)
    return type(known.__name__, (known,), {"option_spec": _AnyOption(known.option_spec or {})})


@cache
def _known_directive(name: str) -> type[Directive]:
    module, class_name = directives._directive_registry[en.directives[name]]  # noqa: SLF001 - nothing else names it
    known: type[Directive] = getattr(import_module(f"docutils.parsers.rst.directives.{module}"), class_name)
    return known


def plain_labels(tree: nodes.document) -> None:
    """Convert to text what HTML shows only by style: kinds of notes, link addresses, and undefined references."""
    for note in list(tree.findall(nodes.Admonition)):
        children = list(note.children)
        label = note.tagname.capitalize()
        if children and isinstance(children[0], nodes.title):
            label = children.pop(0).astext().rstrip(":")
        note.parent.replace(note, _labelled(label, children))
    for problem in list(tree.findall(nodes.problematic)):
        _put_words(problem)
    for message in list(tree.findall(nodes.system_message)):
        message.parent.replace(message, [_source(block) for block in message.findall(nodes.literal_block)])
    tree.parse_messages, tree.transform_messages = [], []  # for references, whose text is inserted above
    for field in list(tree.findall(nodes.field)):
        if field.children[0].astext().lower() in _SITE_FIELDS:
            field.parent.remove(field)
    _put_references(tree)
    for code in tree.findall(nodes.literal_block):
        code["classes"] = [f"language-{name}" for name in code["classes"] if name != "code"]


def _source(block: nodes.literal_block) -> nodes.literal_block:
    """Return the source of what docutils could not parse: a malformed table, a directive's body."""
    text = block.astext()
    if head := _HEAD.match(text):
        text = f"{head['said']}\n{textwrap.dedent(text[head.end() :]).strip()}".strip()
    return nodes.literal_block(text, text)


def _put_references(tree: nodes.document) -> None:
    """Replace roles with their visible text, and links with their text and address."""
    for role in list(tree.findall(_Role)):
        words = re.sub(r"\s*<[^<>]*>$", "", role.astext()).removeprefix("~").strip() or role.astext()
        role.parent.replace(role, nodes.literal("", words))
    for link in list(tree.findall(nodes.reference)):
        address, words = str(link.get("refuri", "")), link.astext()
        if address.startswith(("http://", "https://")) and words and words != address:
            link.parent.replace(link, nodes.Text(f"[{words}]({address})"))


def _put_words(problem: nodes.problematic) -> None:
    """Replace an unresolved reference, or a substitution without text, with its words."""
    parent, text = problem.parent, problem.astext()
    found = re.fullmatch(r"\|(\w(?:[\w .-]*\w)?)\|_{0,2}", text)
    if not found:
        words = re.sub(r"^(?::[\w:+.-]+:)?`~?|(\s*<[^<>]*>)?`_{0,2}$", "", text)
        parent.replace(problem, nodes.Text(words))
        return
    at = parent.index(problem)
    before = "".join(node.astext() for node in parent.children[:at])
    if _NEEDS_NAME.search(before[-40:].rstrip()):
        named = re.split(r"[\s_.-]+", found[1])
        kept = [word for word in named if word.lower() not in _OF_PICTURES] or named
        parent.replace(problem, nodes.Text(" ".join(kept)))
        return
    if at and isinstance(parent.children[at - 1], nodes.Text):
        parent[at - 1] = nodes.Text(parent.children[at - 1].astext().rstrip())
    parent.remove(problem)


def _labelled(label: str, children: Sequence[nodes.Node]) -> list[nodes.Node]:
    """Return the nodes with a label on their first paragraph, or with a separate label paragraph."""
    first = children[0] if children else None
    if isinstance(first, nodes.paragraph):
        first.insert(0, nodes.Text(f"{label}: "))
        return list(children)
    return [nodes.paragraph("", f"{label}:"), *children]
