"""RST: underlined titles as headings, directives and roles as the text they stand for. Lines keep their numbers."""

import re

from adapters.documents.encodings import decode
from adapters.documents.formats.rst_tables import with_pipe_tables
from adapters.documents.formats.text import trim_lines
from adapters.documents.titles import choose_title
from core.model.errors import NoText
from core.model.parsed_document import Block, ParsedDocument

_RULE = re.compile(r"^([=\-`:.'\"~^_*+#<>!$%&,/;?@\\|(){}\[\]])\1{2,}\s*$")
_CODE = re.compile(r"^(\s*)\.\. (?:code-block|code|sourcecode|highlight|prompt|parsed-literal)::\s*([\w+#-]*)")
_DIRECTIVE = re.compile(r"^(\s*)\.\. ([\w:-]+)::\s*(.*)$")
_NAMED = frozenset(
    ("note", "warning", "tip", "important", "caution", "danger", "hint", "attention", "error", "seealso")
)
_SILENT = frozenset(
    ("contents", "toctree", "index", "include", "raw", "meta", "only", "highlight", "currentmodule", "module")
)
_ROLE = re.compile(r":[\w:+.-]+:`~?([^`<]+?)(?:\s*<[^`>]*>)?`")
_LINK = re.compile(r"`([^`<]+?)\s*<([^`>]+)>`_{1,2}")
_REFERENCE = re.compile(r"`([^`]+)`_{1,2}(?!\w)")


def read(name: str, data: bytes) -> ParsedDocument:
    """The document as Markdown, line for line."""
    source, numbers = with_pipe_tables(decode(data).split("\n"))
    lines = _inline(_literals(_directives(_headings(source))))
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


def _directives(lines: list[str]) -> list[str]:
    """Code as fences, admonitions as 'Note: …', what only steers the layout blanked."""
    done = list(lines)
    for i, line in enumerate(lines):
        if code := _CODE.match(line):
            _fence(done, lines, i, len(code[1]), code[2])
        elif found := _DIRECTIVE.match(line):
            indent, kind, argument = found.groups()
            if kind in _NAMED:
                done[i] = f"{indent}{kind.capitalize()}: {argument}".rstrip()
            elif kind in _SILENT or kind in ("image", "figure"):
                done[i] = ""
            else:
                done[i] = f"{indent}{argument}"
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


def _literals(lines: list[str]) -> list[str]:
    """Paragraphs that end in '::' open an indented literal block."""
    done = list(lines)
    for i, line in enumerate(lines):
        if not line.rstrip().endswith("::") or line.lstrip().startswith(".."):
            continue
        rest = line.rstrip()[:-2].rstrip()
        indent = len(line) - len(line.lstrip())
        if i + 1 < len(lines) and not lines[i + 1].strip() and _fence(done, lines, i + 1, indent, ""):
            done[i] = f"{rest}:" if rest else ""
    return done


def _fence(done: list[str], lines: list[str], at: int, indent: int, language: str) -> bool:
    """Fence the block below line `at`, which itself becomes the opening mark; a blank line after it closes."""
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
        return False
    done[at] = f"```{language}"
    if last < len(lines):
        done[last] = "```"
    else:
        done[-1] += "\n```"
    return True


def _inline(lines: list[str]) -> list[str]:
    """Roles, links and double backquotes, outside fences."""
    done, fenced = [], False
    for line in lines:
        if line.startswith("```"):
            fenced = not fenced
            done.append(line)
        elif not fenced:
            linked = _LINK.sub(r"[\1](\2)", _ROLE.sub(r"`\1`", line))
            done.append(_REFERENCE.sub(r"\1", linked).replace("``", "`"))
        else:
            done.append(line)
    return done
