"""Markdown with common extensions: front matter, templates, HTML, MDX components, notes, reference links.

The result has the words that a reader of the rendered page sees, without tags. Removed lines become blank, so line
numbers stay valid for citations.
"""

import html
import re
from collections.abc import Iterable, Mapping

from adapters.documents.encodings import decode, without_data
from adapters.documents.format import Format
from adapters.documents.formats.markdown_blocks import with_plain_blocks
from adapters.documents.formats.text import atx_headings, trim_lines
from adapters.documents.titles import choose_title, iso_date, safe_link
from core.model.document_content import Block, ParsedDocument
from core.model.errors import NoText
from core.model.markdown_lines import HEADING, fenced_runs

# Template tags of site generators (Jekyll, Hugo, Nunjucks), which the rendered page does not show.
_HIDDEN_PART = re.compile(r"\{%-?\s*comment\b.*?endcomment\s*-?%\}", re.DOTALL)
_TAG = r"\{%[^{}]{0,300}%\}|\{\{[^{}]{0,300}\}\}"
_LINKED = r"[^\[\]\n]{1,300}(?:\n[^\[\]\n]{1,300})?"  # link text, which may span two lines
_TEMPLATED_LINK = re.compile(rf"(?<!!)\[({_LINKED})\]\([^()\n]{{0,100}}(?:{_TAG})[^()\n]{{0,100}}\)")
_TEMPLATE = re.compile(rf"(`[^`\n]*`)|({_TAG})")
# ERB of Middleman: content blocks and inserted values. A sentence passed to a helper is visible on the page.
_ERB_PART = re.compile(r"<%-?\s*content_for\b.{0,5000}?<%-?\s*end\s*-?%>", re.DOTALL)
_ERB = re.compile(r"(`+[^`\n]*`+)|<%.{0,2000}?%>", re.DOTALL)
_QUOTED = re.compile(r"""(["'])((?:(?!\1)[^\n])*)\1""")
_NO_WORDS = re.compile(r"^ {0,3}#{1,6}[ \t]*$", re.MULTILINE)
# HTML in Markdown outside of code. Only known elements: "<project-key>" is a placeholder for the reader.
_TAG_IN_TEXT = re.compile(
    r"(`+[^`\n]*`+)|</?(?:(?P<set>abbr|a|b|code|em|font|i|kbd|mark|small|span|strong|sub|sup|u)"
    r"|br|center|dd|details|div|dl|dt|figcaption|figure|h[1-6]|hr|img|li|ol|p|picture|pre|section|source|summary|table"
    r"|tbody|td|th|thead|tr|ul|video)(?:\s[^<>]{0,600})?/?>",
    re.IGNORECASE,
)
# HTML entities outside of code ("&hellip;"). In CommonMark they never act as markup, so entities for Markdown's own
# characters stay unchanged.
_CHARACTER = re.compile(r"(`+[^`\n]*`+)|&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z\d]{1,31});")
_MARKS = frozenset("\\`*_{}[]()#+|~")
_NAMED = re.compile(r"""["']([^"'/.:]{2,80})["']""")
# Front matter keys that matter to readers: author, date of change. Not those that control rendering.
_FOR_READERS = re.compile(
    r"authors?|owners?|maintainers?|contact|(?:last_)?(?:updated|modified|edited|reviewed)|(?:reviewed|approved)_by"
    r"|description|summary|subtitle|next_review|approved|effective|valid_(?:from|until)|version|edition|status"
)
_PAIR = re.compile(r"^([A-Za-z_][\w .-]*?)\s*[:=]\s*(.+?)\s*$")


def read_markdown(name: str, data: bytes) -> ParsedDocument:
    """Read Markdown: blank the front matter except useful keys, and write all headings with '#'."""
    text, stated = _front_matter(without_data(decode(data)))
    text = with_components(text, jsx=name.lower().endswith(".mdx") or looks_like_mdx(text))
    blocks = with_plain_blocks(_without_html_blocks(text).split("\n"))
    lines = atx_headings(_without_marks(blocks).split("\n"))
    body, first = trim_lines(lines)
    if not body:
        raise NoText("There is no text in this file.")
    return ParsedDocument(
        title=choose_title(name, stated.get("title"), markdown=[body]),
        blocks=(Block(body, first_line=first),),
        media_type="text/markdown",
        modified=iso_date(_first(stated, "last_modified", "updated", "lastmod", "modified", "date")),
        url=safe_link(_first(stated, "canonical", "canonical_url", "url", "permalink")),
    )


def _without_html_blocks(text: str) -> str:
    """Blank HTML comments, which readers do not see, and convert HTML tables to pipe tables.

    Comments within code stay. Tables are converted first, before later steps treat them as text.
    """
    runs = ((fenced, "\n".join(lines)) for fenced, lines in fenced_runs(text.split("\n")))
    bare = (run if fenced else with_pipe_tables(_without_comments(run, but_indented=True)) for fenced, run in runs)
    return "\n".join(bare)


def _without_comments(text: str, *, but_indented: bool = False) -> str:
    """Blank `<!-- … -->` comments; an indented line with only a comment may be code and can stay."""
    done, at = "", 0
    while (begun := text.find("<!--", at)) >= 0 and (ended := text.find("-->", begun) + 3) > 2:
        line = text[text.rfind("\n", 0, begun) + 1 : begun]
        comment = text[begun:ended]
        stays = but_indented and "\n" not in comment and not line.strip() and len(line.expandtabs(4)) >= 4
        done += text[at:begun] + (comment if stays else "\n" * comment.count("\n"))
        at = ended
    return done + text[at:]


def _without_marks(lines: list[str]) -> str:
    """Return the text without presentation markup outside of code."""
    runs = [(fenced, "\n".join(run)) for fenced, run in fenced_runs("\n".join(lines).split("\n"))]
    addresses = addresses_in(run for fenced, run in runs if not fenced)
    bare = (run if fenced else _without_site_marks(with_inline_links(run, addresses)) for fenced, run in runs)
    return "\n".join(bare)


def _without_site_marks(text: str) -> str:
    bare = _without_erb(_without_comments(text))
    bare = _TAG_IN_TEXT.sub(lambda found: found[1] or ("" if found["set"] else " ") + _blank(found), bare)
    bare = _CHARACTER.sub(lambda found: found[1] or _character(found[0]), _without_templates(bare))
    return _NO_WORDS.sub("", "\n".join(map(_without_attributes, bare.split("\n"))))


def _without_erb(text: str) -> str:
    if "<%" not in text:
        return text
    return _ERB.sub(lambda found: found[1] or _said_by_erb(found[0]), _ERB_PART.sub(_blank, text))


def _said_by_erb(tag: str) -> str:
    """Return the sentence in an ERB tag such as `warning_text("Never …")`, followed by the tag's line breaks."""
    quoted = (found[2] for found in _QUOTED.finditer(tag) if tag.startswith("<%="))
    return next((said for said in quoted if len(said.split()) > 1), "") + "\n" * tag.count("\n")


def _character(named: str) -> str:
    """Return the character of an HTML entity; white space becomes a blank, so that line numbers stay valid."""
    meant = html.unescape(named)
    return named if meant in _MARKS else " " if meant.isspace() else meant


def _without_attributes(line: str) -> str:
    """Remove attributes of a heading or block: "## Limits {#limits}", "{: .note }"."""
    before, _, attributes = line.rstrip().rpartition("{")
    if not attributes.endswith("}") or not attributes.startswith((":", "#", ".")):
        return line
    return before.rstrip() if HEADING.match(before) or (attributes[0] == ":" and not before.strip()) else line


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _words_of_link(found: re.Match[str]) -> str:
    """Return the text of a link, followed by the link's remaining line breaks."""
    return found[1] + "\n" * (found[0].count("\n") - found[1].count("\n"))


def _without_templates(text: str) -> str:
    """Keep the text of templated links and quoted names in tags; blank the rest."""
    if "{%" not in text and "{{" not in text:
        return text
    text = _TEMPLATED_LINK.sub(_words_of_link, _HIDDEN_PART.sub(_blank, text))
    return _TEMPLATE.sub(lambda found: found[1] or " ".join(_NAMED.findall(found[2])) + _blank(found), text)


def _front_matter(text: str) -> tuple[str, dict[str, str]]:
    """Return the text with blanked YAML ('---') or TOML ('+++') front matter, and its simple key-value pairs.

    Lines that matter to readers stay: author, date of change.
    """
    lines = text.split("\n")
    mark = lines[0].rstrip()
    if mark not in ("---", "+++"):
        return text, {}
    end = next((i for i, line in enumerate(lines[1:200], 1) if line.rstrip() in (mark, "...")), None)
    if end is None or not any(_PAIR.match(line) for line in lines[1:end]):
        return text, {}
    pairs = {i: match for i, line in enumerate(lines[1:end], 1) if (match := _PAIR.match(line))}
    stated = {_key(pair): pair[2].strip("\"'") for pair in pairs.values()}
    kept = [lines[i] if i in pairs and _FOR_READERS.fullmatch(_key(pairs[i])) else "" for i in range(end + 1)]
    return "\n".join([*kept, *lines[end + 1 :]]), stated


def _key(pair: re.Match[str]) -> str:
    return re.sub(r"[\s-]", "_", pair[1].lower())


def _first(stated: dict[str, str], *keys: str) -> str | None:
    return next((stated[key] for key in keys if key in stated), None)


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
    """Return the text with the words of notes, alerts and (in MDX) components; code is unchanged."""
    constants = {found["name"]: found["value"].strip("\"'") for found in _CONSTANT.finditer(text)} if jsx else {}
    runs = ((fenced, "\n".join(lines)) for fenced, lines in fenced_runs(text.split("\n")))
    return "\n".join(run if fenced else _plain(run, constants, jsx=jsx) for fenced, run in runs)


def looks_like_mdx(text: str) -> bool:
    """Return whether Markdown begins with imports of components, whatever the file extension."""
    return bool(re.match(r"\s*import\s[^\n]{1,200}from\s+[\"'][^\"'\n]+[\"'];?\s*\n", text))


def _plain(text: str, constants: dict[str, str], *, jsx: bool) -> str:
    if jsx:
        text = _IMPORT.sub("", text)
        text = _EXPORT.sub(_blank, text)
        text = _COMMENT.sub(_blank, text)
        text = _COMPONENT.sub(_component, text)
        text = _EXPRESSION.sub(lambda found: found["code"] or constants.get(found["name"], found[0]), text)
    return "\n".join(_note_line(line) for line in text.split("\n")) if ":::" in text or "[!" in text else text


def _component(found: re.Match[str]) -> str:
    """Return a component's title before its text; with a link target, the title becomes a link."""
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


def _note_line(line: str) -> str:
    """Return the words of a line that opens or closes a note."""
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


# Footnotes are excluded. The address must contain a URL character: "[Ann]: yes" is speech, not a link.
_DEFINITION = re.compile(
    r"^[ ]{0,12}\[(?!\^)(?P<ref>[^\[\]\n]{1,300})\]:[ \t]*<?(?P<address>(?=[^\s<>]*[/.:#@?=])[^\s<>]++)>?"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$",
    re.MULTILINE,
)
_WORDS = r"(?:[^\[\]\n]|\n(?!\s*\n)){1,300}"
_REFERENCE = re.compile(
    rf"(`+[^`\n]*`+)|(?<![\\\]])\[(?P<words>{_WORDS})\](?:[ ]?\[(?P<ref>{_WORDS})\]|\[\])?(?![\[(:])", re.MULTILINE
)

Addresses = Mapping[str, str]
"""The address of each reference, by its name in lower case."""


def addresses_in(texts: Iterable[str]) -> Addresses:
    """Return the addresses of reference links; the first definition of a name counts, as in CommonMark."""
    found: dict[str, str] = {}
    for text in texts:
        for match in _DEFINITION.finditer(text):
            found.setdefault(_reference_name(match["ref"]), match["address"].replace("(", "%28").replace(")", "%29"))
    return found


def with_inline_links(text: str, addresses: Addresses) -> str:
    """Return the text with reference links made inline and their definitions blanked."""
    if not addresses:
        return text
    return _REFERENCE.sub(lambda found: found[1] or _inline_link(found, addresses), _DEFINITION.sub("", text))


def _inline_link(found: re.Match[str], addresses: Addresses) -> str:
    address = addresses.get(_reference_name(found["ref"] or found["words"]))
    breaks = "\n" * (found["ref"] or "").count("\n")
    return found[0] if address is None else f"[{found['words']}]({address}){breaks}"


def _reference_name(ref: str) -> str:
    return " ".join(ref.split()).casefold()


_OPENING = re.compile(r"^([ \t]*)<table\b", re.MULTILINE | re.IGNORECASE)
_CLOSING = re.compile(r"</table>[ \t]*(?:$|(?=\n))", re.IGNORECASE)


def with_pipe_tables(text: str) -> str:
    """Return the text with HTML tables as pipe tables, if a table has enough lines for that."""
    done, at = "", 0
    while (begun := _OPENING.search(text, at)) and (ended := _CLOSING.search(text, begun.end())):
        done += text[at : begun.start()] + _as_lines(text[begun.start() : ended.end()], begun[1])
        at = ended.end()
    return done + text[at:]


def _as_lines(markup: str, indent: str) -> str:
    """Return a pipe table padded with blank lines to the same number of lines, or the original markup."""
    if markup.lower().count("<table") > 1:
        return markup
    from adapters.documents.html_markdown import soup, to_markdown

    table = to_markdown(soup(markup)).split("\n")
    spare = markup.count("\n") + 1 - len(table)
    if spare < 2 or not any(line.startswith("|") for line in table):
        return markup
    return "\n".join(["", *(f"{indent}{line}" for line in table), *[""] * (spare - 1)])


FORMATS = (
    Format(
        media_type="text/markdown",
        read=read_markdown,
        label="Markdown",
        suffixes=("md", "markdown", "mdx", "mkd"),
        not_a_title=r".*\.md",
    ),
)
