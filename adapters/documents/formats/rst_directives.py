"""What docutils makes of directives and roles that it does not know: the text that they hold.

Sphinx and its extensions have hundreds, and every project may have its own.
"""

import re
import textwrap
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en

MOST_NAMES = 5_000
"""Of unknown directives and roles in one document; those after them are dropped."""

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
# Where nothing else names what is meant: "select the |favorite-icon| icon", and a line that begins with it.
_NEEDS_NAME = re.compile(r"(?:^|\b(?:an?|the|your|select|selecting|choose|click|tap|press|use))$", re.IGNORECASE)
_OF_PICTURES = frozenset(("icon", "button", "badge", "image", "img", "svg", "vertical", "horizontal"))


class _AnyOption(dict[str, Any]):
    """Takes every option as text."""

    def __missing__(self, name: str) -> Any:
        return directives.unchanged


class UnknownDirective(Directive):  # type: ignore[misc]
    """A directive as a paragraph of what it is given, and its body."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOption(name=directives.unchanged)

    def run(self) -> list[nodes.Node]:
        """What it shows."""
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
        """The body below its label: a note's kind, a tab's name, or whatever else the directive is given."""
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
        """Read the body; the titles in it are no sections of the document."""
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
    """The words of a role that docutils does not know."""


def accept_unknown(source: str) -> None:
    """Have docutils read what this document names and it does not know."""
    for name in sorted({found[1].lower() for found in _DIRECTIVE.finditer(source)})[:MOST_NAMES]:
        if name in _SILENT | _CODE or name not in en.directives:
            directives.register_directive(name, UnknownDirective)
        else:
            directives.register_directive(name, _with_any_option(name))
    for name in sorted({found[1].lower() for found in _ROLE.finditer(source)})[:MOST_NAMES]:
        if name not in en.roles:
            roles.register_generic_role(name, _Role)


def _with_any_option(name: str) -> type[Directive]:
    """A directive of docutils with the options of Sphinx: it would drop its body for one that it does not know."""
    known = _known_directive(name)
    return type(known.__name__, (known,), {"option_spec": _AnyOption(known.option_spec or {})})


@cache
def _known_directive(name: str) -> type[Directive]:
    module, class_name = directives._directive_registry[en.directives[name]]  # noqa: SLF001 - nothing else names it
    known: type[Directive] = getattr(import_module(f"docutils.parsers.rst.directives.{module}"), class_name)
    return known


def plain_labels(tree: nodes.document) -> None:
    """Put into words what HTML would show by its looks: kinds of notes, addresses of links, and what is not defined."""
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
    tree.parse_messages, tree.transform_messages = [], []  # of references, whose words are put above
    for dropped in list(filter(_is_for_site, tree.findall(nodes.field))):
        dropped.parent.remove(dropped)
    _put_references(tree)
    for code in tree.findall(nodes.literal_block):
        code["classes"] = [f"language-{name}" for name in code["classes"] if name != "code"]


def _source(block: nodes.literal_block) -> nodes.literal_block:
    """What docutils could not read, as it is written: a table whose columns do not fit, the body of a directive."""
    text = block.astext()
    if head := _HEAD.match(text):
        text = f"{head['said']}\n{textwrap.dedent(text[head.end() :]).strip()}".strip()
    return nodes.literal_block(text, text)


def _is_for_site(field: nodes.field) -> bool:
    return field.children[0].astext().lower() in _SITE_FIELDS


def _put_references(tree: nodes.document) -> None:
    """Roles as the words that they show, links with their address."""
    for role in list(tree.findall(_Role)):
        words = re.sub(r"\s*<[^<>]*>$", "", role.astext()).removeprefix("~").strip() or role.astext()
        role.parent.replace(role, nodes.literal("", words))
    for link in list(tree.findall(nodes.reference)):
        address, words = str(link.get("refuri", "")), link.astext()
        if address.startswith(("http://", "https://")) and words and words != address:
            link.parent.replace(link, nodes.Text(f"[{words}]({address})"))


def _put_words(problem: nodes.problematic) -> None:
    """Put what docutils could not read into words: a reference, or the name of a substitution that has no text."""
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
    """The nodes with a label on their first paragraph, or above what else they begin with."""
    first = children[0] if children else None
    if isinstance(first, nodes.paragraph):
        first.insert(0, nodes.Text(f"{label}: "))
        return list(children)
    return [nodes.paragraph("", f"{label}:"), *children]
