"""RST: underlined titles as headings, directives and roles as the text they stand for. Lines keep their numbers."""

import re
from collections.abc import Mapping

from adapters.documents.encodings import decode
from adapters.documents.format import Format
from adapters.documents.formats.rst_bodies import with_plain_bodies
from adapters.documents.formats.rst_tables import with_pipe_tables
from adapters.documents.formats.text import trim_lines
from adapters.documents.titles import choose_title
from core.model.errors import DocumentRejected, NoText
from core.model.markdown_lines import LIST_ITEM, with_fences
from core.model.parsed_document import Block, ParsedDocument

_RULE = re.compile(r"^([=\-`:.'\"~^_*+#<>!$%&,/;?@\\|(){}\[\]])\1{2,}\s*$")
_TABLE_RULE = re.compile(r"^\s*\+[-=]{2,}")
MOST_TABLE_RULES = 1_000  # the time for a grid table grows with the square of its rows
_CODE = re.compile(r"^(\s*)\.\. (?:code-block|code|sourcecode|code-tab|prompt|parsed-literal)::\s*([\w+#-]*)")
_DIRECTIVE = re.compile(r"^(\s*)\.\. ([\w:-]+)::\s*(.*)$")
_KEYS = re.compile(r":kbd:`[^`]+`(?:\s?\+?\s?:kbd:`[^`]+`)+")
_KEY = re.compile(r":kbd:`([^`]+)`")
_REPLACEMENT = re.compile(r"^\s*\.\. \|([^|]+)\| replace::\s*(\S.*)$")
_SUBSTITUTED = re.compile(r"(``.+?``|`[^`]+`)|(\s*)(?<![\w|\\])\|(\w(?:[\w .-]*\w)?)\|_{0,2}(?![\w|])")
# Where nothing else names what is meant: "select the |favorite-icon| icon", and a line that begins with it.
_NEEDS_NAME = re.compile(r"(?:^|\b(?:an?|the|your|select|selecting|choose|click|tap|press|use))$", re.IGNORECASE)
_NEAR = 40  # characters before a name, in which the word stands that needs it
_OF_PICTURES = frozenset(("icon", "button", "badge", "image", "img", "svg", "vertical", "horizontal"))
_ROLE = re.compile(r":[\w:+.-]+:`~?([^`<]+?)(?:\s*<[^`>]*>)?`")
_LINK = re.compile(r"`([^`<]+?)\s*<([^`>]+)>`_{1,2}")
_REFERENCE = re.compile(r"`([^`]+)`_{1,2}(?!\w)")


def read(name: str, data: bytes) -> ParsedDocument:
    """The document as Markdown, line for line. Raises DocumentRejected where its tables are too large."""
    written = decode(data).split("\n")
    if sum(bool(_TABLE_RULE.match(line)) for line in written) > MOST_TABLE_RULES:
        raise DocumentRejected(
            f"This file has tables of over {MOST_TABLE_RULES:,} ruled lines.", remedy="Add it in parts, or as CSV."
        )
    replacements = {found[1]: found[2].strip() for line in written if (found := _REPLACEMENT.match(line))}
    source, numbers = with_pipe_tables(with_plain_bodies(written))
    lines = _inline(_marked(_headings(source)), replacements)
    body, first = trim_lines(lines)
    if not body:
        raise NoText("There is no text in this file.")
    return ParsedDocument(
        title=choose_title(name, markdown=[body]),
        blocks=(_block(body, first, numbers),),
        media_type="text/x-rst",
    )


def _block(body: str, first: int, numbers: list[int]) -> Block:
    """The text with its lines: they count on one to one, unless a table took more or fewer than it has rows."""
    own = numbers[first - 1 : first + body.count("\n")]
    counts_on = own == list(range(own[0], own[0] + len(own)))
    return Block(body, first_line=own[0], lines=() if counts_on else tuple(own))


def _headings(lines: list[str]) -> list[str]:
    """Underlined (and overlined) titles as '#' lines; levels in the order in which their styles appear."""
    done = list(lines)
    styles: list[str] = []
    for i in range(1, len(lines)):
        under, title = lines[i], lines[i - 1]
        if not _RULE.match(under) or not title.strip() or (title[:1].isspace() and not _over(lines, i)):
            continue
        if len(under.rstrip()) < min(len(title.strip()), 4) or _RULE.match(title) or "  " in title.strip():
            continue
        over = _over(lines, i)
        if not over and i > 1 and lines[i - 2].strip():
            continue
        style = under[0] * (2 if over else 1)
        if style not in styles:
            styles.append(style)
        done[i - 1] = f"{'#' * min(styles.index(style) + 1, 6)} {title.strip()}"
        done[i] = ""
        if over:
            done[i - 2] = ""
    return done


def _over(lines: list[str], at: int) -> bool:
    """Whether the title has a line above it like the one below."""
    return at > 1 and bool(_RULE.match(lines[at - 2])) and lines[at - 2][0] == lines[at][0]


def _marked(lines: list[str]) -> list[str]:
    """Code as fences, a picture as what it shows, targets blanked; bodies of text have been read before."""
    done = list(lines)
    behind = 0  # the code that is fenced, whose lines are what they are
    for i, line in enumerate(lines):
        if i < behind:
            continue
        if code := _CODE.match(line):
            behind = _fence(done, lines, i, len(code[1]), code[2])
        elif line.rstrip().endswith("::") and not line.lstrip().startswith(".."):
            behind = _literal(done, lines, i)
        elif found := _DIRECTIVE.match(line):
            indent, kind, argument = found.groups()
            done[i] = "" if kind in ("image", "figure") else f"{indent}{argument}"
        elif alt := re.match(r"^\s+:alt:\s*(.+)$", line):
            done[i] = f"[Image: {alt[1].strip()}]"
        elif (
            (re.match(r"^\s+:[\w-]+:( \S.*)?$", line) and _below_directive(lines, i))
            or re.match(r"^\.\. (_[^:]+:|\[?[|\w#*-]*\]?\s*$)", line)
            or re.match(r"^\.\.\s*$", line)
        ):
            done[i] = ""
    return done


def _below_directive(lines: list[str], at: int) -> bool:
    while at > 0 and re.match(r"^\s+:[\w-]+:", lines[at]):
        at -= 1
    return bool(_DIRECTIVE.match(lines[at]))


def _literal(done: list[str], lines: list[str], at: int) -> int:
    """A paragraph that ends in '::' opens an indented literal block."""
    rest = lines[at].rstrip()[:-2].rstrip()
    indent = len(lines[at]) - len(lines[at].lstrip())
    below = at + 1 < len(lines) and not lines[at + 1].strip()
    behind = _fence(done, lines, at + 1, indent, "") if below else 0
    if behind:
        done[at] = f"{rest}:" if rest else ""
    return behind


def _fence(done: list[str], lines: list[str], at: int, indent: int, language: str) -> int:
    """Fence the block below line `at`, which itself becomes the opening mark; a blank line after it closes.

    The line behind the block; 0 where there is none.
    """
    start = at + 1
    while start < len(lines) and (not lines[start].strip() or re.match(r"^\s+:[\w-]+:", lines[start])):
        done[start] = ""
        start += 1
    end = start
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1
    last = end
    while last > start and not lines[last - 1].strip():
        last -= 1
    if last == start:
        return 0
    done[at] = f"```{language}"
    if last < len(lines):
        done[last] = "```"
    else:
        done[-1] += "\n```"
    return last


def _inline(lines: list[str], replacements: Mapping[str, str]) -> list[str]:
    """Roles, links, double backquotes and what is put in by its name, outside fences."""
    return [line if fenced else _inline_of(line, replacements) for line, fenced in with_fences(lines)]


def _inline_of(line: str, replacements: Mapping[str, str]) -> str:
    pressed = _KEYS.sub(lambda keys: f"`{'+'.join(_KEY.findall(keys[0]))}`", line)
    named = _ROLE.sub(r"`\1`", pressed)
    if not line.lstrip().startswith("|"):  # bars part the cells of a table
        named = _SUBSTITUTED.sub(lambda found: found[1] or _put_in(found, replacements), named)
    return _REFERENCE.sub(r"\1", _LINK.sub(r"[\1](\2)", named)).replace("``", "`")


def _put_in(found: re.Match[str], replacements: Mapping[str, str]) -> str:
    """The words that a name stands for; a picture says nothing, unless it stands where a name has to be."""
    space, name = found[2], found[3]
    if name in replacements:
        return space + replacements[name]
    at = found.start(3) - 1
    before = LIST_ITEM.sub("", found.string[max(0, at - _NEAR) : at]).rstrip()
    if not _NEEDS_NAME.search(before) or (not before and at > _NEAR):
        return ""
    words = re.split(r"[\s_.-]+", name)
    return space + " ".join([word for word in words if word.lower() not in _OF_PICTURES] or words)


FORMATS = (Format(media_type="text/x-rst", read=read, label="RST", suffixes=("rst", "rest")),)
