"""Source code: one block per top-level definition, with its name and lines.

Python is split by its grammar, other languages at unindented lines that open a definition. Settings files (YAML, TOML,
XML …) stay whole.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import PurePosixPath

from adapters.documents.encodings import decode
from adapters.documents.format import Format
from adapters.documents.formats.text import trim_lines
from adapters.documents.titles import stem
from core.model.document_content import Block, ParsedDocument
from core.model.errors import NoText

LANGUAGES = {
    "py": "python", "pyi": "python", "js": "javascript", "jsx": "javascript", "mjs": "javascript", "ts": "typescript",
    "tsx": "typescript", "java": "java", "kt": "kotlin", "scala": "scala", "go": "go", "rs": "rust", "c": "c",
    "h": "c", "cc": "cpp", "cpp": "cpp", "hpp": "cpp", "cs": "csharp", "rb": "ruby", "php": "php", "swift": "swift",
    "sh": "bash", "bash": "bash", "ps1": "powershell", "sql": "sql", "lua": "lua", "pl": "perl", "r": "r",
    "ex": "elixir", "exs": "elixir", "erl": "erlang", "hs": "haskell", "dart": "dart", "vue": "vue", "tf": "hcl",
    "yaml": "yaml", "yml": "yaml", "toml": "toml", "ini": "ini", "cfg": "ini", "conf": "ini", "xml": "xml",
    "css": "css", "proto": "protobuf", "graphql": "graphql", "gradle": "groovy", "groovy": "groovy",
}  # fmt: skip
"""File extensions with the language name for code fences."""

_MODIFIERS = (
    r"(?:export|default|public|private|protected|internal|static|final|abstract|async|open|sealed|pub(?:\([^)]*\))?"
    r"|unsafe|extern|virtual|inline|override|suspend|data|partial|const|constexpr|template\s*<[^>]*>)\s+"
)
_DEFINITIONS = re.compile(
    rf"^(?:{_MODIFIERS})*(?:function\*?|func|fn|def|defp|defmodule|class|interface|trait|impl(?:<[^>]*>)?|struct|enum|"
    r"module|object|namespace|type|record|protocol|extension|mod|message|service|sub)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$.:?!]*)"
)
_ASSIGNED = re.compile(
    rf"^(?:{_MODIFIERS})*(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function|\()"
)
_C_LIKE = re.compile(r"^[A-Za-z_][\w\s*&:<>,~]*?\b([A-Za-z_~][\w:~]*)\s*\([^;]*$")
_SQL = re.compile(
    r"^\s*create\s+(?:or\s+replace\s+)?(?:\w+\s+)?(table|view|function|procedure|index|trigger|type)\s+"
    r"(?:if\s+not\s+exists\s+)?([\w.\"`\[\]]+)",
    re.IGNORECASE,
)
_SHELL = re.compile(r"^(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{?")
_WHOLE = frozenset(("yaml", "toml", "ini", "xml", "css", "hcl", "vue"))
_KEYWORDS = frozenset(("if", "for", "while", "switch", "return", "else", "catch", "using", "do"))
_LEADING = re.compile(r"^\s*(//|#(?!include|define|if|endif|pragma)|/\*|\*|--|@|\[|///|template)")
MAX_LINES = 200_000


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the file's definitions as blocks in order, including the code before and between them."""
    text = decode(data)
    if not text.strip():
        raise NoText("There is no text in this file.")
    path = PurePosixPath(name.replace("\\", "/"))
    language = LANGUAGES.get(path.suffix.lower().lstrip("."), "")
    lines = text.split("\n")[:MAX_LINES]
    starts = _python(text) if language == "python" else _others(lines, language)
    blocks = tuple(_blocks(lines, starts, language, path.name))
    return ParsedDocument(title=path.name or stem(name), blocks=blocks, media_type="text/x-source")


def _blocks(lines: list[str], starts: list[tuple[int, str]], language: str, title: str) -> Iterator[Block]:
    """Yield a block per section; `starts` holds (0-based line, name)."""
    edges = [(0, ""), *starts] if not starts or starts[0][0] > 0 else starts
    for i, (start, named) in enumerate(edges):
        end = edges[i + 1][0] if i + 1 < len(edges) else len(lines)
        body, first = trim_lines(lines[start:end])
        if not body:
            continue
        fence = "````" if "```" in body else "```"
        heading = f"## {named}" if named else f"# {title}"
        begins = start + first
        ends = begins + body.count("\n")
        numbers = (begins, begins, begins, *range(begins, ends + 1), ends)
        yield Block(f"{heading}\n\n{fence}{language}\n{body}\n{fence}", first_line=begins, lines=numbers)


def _python(text: str) -> list[tuple[int, str]]:
    """Return top-level definitions with decorators; classes over 60 lines are split by method."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about escapes in third-party code
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return _others(text.split("\n"), "python")
    found: list[tuple[int, str]] = []
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        found.append((_first_line(node), node.name))
        if isinstance(node, ast.ClassDef) and (node.end_lineno or 0) - node.lineno > 60:
            found += [
                (_first_line(inner), f"{node.name}.{inner.name}")
                for inner in node.body
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))
            ]
    return found


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1


def _others(lines: list[str], language: str) -> list[tuple[int, str]]:
    """Return unindented lines that open a definition, with the comments and annotations above them."""
    if language in _WHOLE:
        return []
    found: list[tuple[int, str]] = []
    for i, line in enumerate(lines):
        named = _definition(line[:500], language)
        if not named or named in _KEYWORDS:
            continue
        start = i
        while start > 0 and _LEADING.match(lines[start - 1]) and (not found or start - 1 > found[-1][0]):
            start -= 1
        found.append((start, named))
    return found


def _definition(line: str, language: str) -> str | None:
    """Return the name that a line defines, or None."""
    if language == "sql":
        match = _SQL.match(line)
        return match[2] if match else None
    if line[:1].isspace() or not line.strip():
        return None
    for pattern in (_DEFINITIONS, _ASSIGNED):
        if match := pattern.match(line):
            return match[1].rstrip(":")
    if language == "bash" and (match := _SHELL.match(line)):
        return match[1]
    if language in ("c", "cpp", "java", "csharp", "dart") and not line.startswith(("#", "//", "typedef", "return")):
        match = _C_LIKE.match(line)
        return match[1] if match and "=" not in line.split("(", maxsplit=1)[0] else None
    return None


FORMATS = (Format(media_type="text/x-source", read=read, label="source code", suffixes=tuple(LANGUAGES)),)
