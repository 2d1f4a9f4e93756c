"""What sites of documentation add to Markdown: MDX's imports and components, notes between colons, GitHub's alerts.

A reader of the site sees the words of a component, its title before them, and no tag. Every line keeps its number.
"""

import re

from core.model.markdown_lines import fenced_runs

_IMPORT = re.compile(r"^(?:import\s[^\n]*(?:from\s+)?[\"'][^\"'\n]+[\"'];?|export\s+default\s[^\n]*)\s*$", re.MULTILINE)
_CONSTANT = re.compile(
    r"^export\s+(?:const|let|var)\s+(?P<name>\w+)\s*=\s*(?P<value>\d[\d.]*|\"[^\"\n]*\"|'[^'\n]*')\s*;?\s*$",
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export\s+(?:const|let|var|function|async function)\s[^\n]*(?:\n(?!\s*$)[^\n]*){0,200}", re.MULTILINE
)
_COMMENT = re.compile(r"\{/\*.{0,5000}?\*/\}", re.DOTALL)
_COMPONENT = re.compile(
    r"(?P<code>`+[^`\n]*`+)|<(?P<close>/?)(?P<name>[A-Z][\w.]{0,60})(?P<props>(?:\s[^<>]{0,2000}?)?)/?>|<(?P<fragment>/?)>",
    re.DOTALL,
)
_EXPRESSION = re.compile(r"(?P<code>`+[^`\n]*`+)|\{\s*(?P<name>\w+)\s*\}")
_PROP = re.compile(
    r"""\b(?P<name>title|label|header|summary|heading|type|href|to|alt)\s*=\s*\{?\s*(["'`])(?P<value>.{0,300}?)\2"""
)
_KINDS = re.compile(r"note|tip|info|warning|danger|caution|important|success|error|check|example|question")
_NOTE = re.compile(
    r"^(?P<lead>\s*):{3,}\s*\{?(?P<kind>[a-z][\w-]*)\}?\s*(?:\[(?P<boxed>[^\]\n]*)\]|(?P<title>[^\n{]*?))\s*(?:\{[^}\n]*\})?\s*$"
)
_NOTE_END = re.compile(r"^\s*:{3,}\s*$")
_ALERT = re.compile(r"^(?P<lead>\s*>\s*)\[!(?P<kind>[A-Za-z]+)\][+-]?\s*(?P<title>.*)$")


def with_components(text: str, *, jsx: bool) -> str:
    """The text with the words of notes, alerts and, in MDX, of components; code stays as it is."""
    constants = {found["name"]: found["value"].strip("\"'") for found in _CONSTANT.finditer(text)} if jsx else {}
    runs = ((fenced, "\n".join(lines)) for fenced, lines in fenced_runs(text.split("\n")))
    return "\n".join(run if fenced else _plain(run, constants, jsx=jsx) for fenced, run in runs)


def looks_like_mdx(text: str) -> bool:
    """Whether Markdown begins with imports of components, whatever its ending."""
    return bool(re.match(r"\s*import\s[^\n]{1,200}from\s+[\"'][^\"'\n]+[\"'];?\s*\n", text))


def _plain(text: str, constants: dict[str, str], *, jsx: bool) -> str:
    if jsx:
        text = _IMPORT.sub("", text)
        text = _EXPORT.sub(_blank, text)
        text = _COMMENT.sub(_blank, text)
        text = _COMPONENT.sub(_component, text)
        text = _EXPRESSION.sub(lambda found: found["code"] or constants.get(found["name"], found[0]), text)
    return "\n".join(_line(line) for line in text.split("\n")) if ":::" in text or "[!" in text else text


def _component(found: re.Match[str]) -> str:
    """The title of a component before its words; of one that leads somewhere its title as a link."""
    if found["code"]:
        return found["code"]
    breaks = "\n" * found[0].count("\n")
    if found["close"] or found["fragment"] is not None:
        return breaks
    props = {prop["name"]: prop["value"] for prop in _PROP.finditer(found["props"] or "")}
    title = next((props[key] for key in ("title", "label", "header", "summary", "heading") if props.get(key)), "")
    address = props.get("href") or props.get("to") or ""
    if address and title:
        return f"[{title}]({address}) {breaks}"
    if not title and _KINDS.fullmatch(props.get("type", "").lower()):
        title = props["type"].capitalize()
    if not title and (props.get("alt") or "").strip():
        return f"[Image: {props['alt']}]{breaks}"
    return f"{title}: {breaks}" if title else breaks


def _line(line: str) -> str:
    """The words of a line that opens or closes a note."""
    if _NOTE_END.match(line):
        return ""
    if note := _NOTE.match(line):
        return f"{note['lead']}{_words(note['kind'], note['boxed'] or note['title'] or '')}"
    if alert := _ALERT.match(line):
        return f"{alert['lead']}{_words(alert['kind'], alert['title'])}"
    return line


def _words(kind: str, title: str) -> str:
    title = title.strip()
    if not title:
        return f"{kind.capitalize()}:"
    return f"{kind.capitalize()}: {title}." if _KINDS.fullmatch(kind.lower()) else f"{title}."


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")
