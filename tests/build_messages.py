"""The list of every text that a person can read: ``python -m tests.build_messages`` writes ``tests/messages.txt``.

A wording is reviewed there as a whole. A text is a literal in the product that has a space and begins and ends as a
sentence or a label does; docstrings, logs, prompts and patterns are none. Placeholders are shown as ``{}``.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTED = ROOT / "tests" / "messages.txt"
PACKAGES = ("bot", "core", "adapters")
NOT_FOR_PEOPLE = (  # texts for models, patterns of the language, and words of vendors
    "adapters/reasoners/",
    "adapters/web/api/openapi.py",
    "bot/samples/",
)
_SENTENCE = re.compile(r"[A-Z*_:>•–✓✗⚠\[{`“\"].*[.?!:…)`\"}”*_]", re.DOTALL)
_TAG = re.compile(r"<script.*?</script>|<style.*?</style>|<[^>]+>|{%.*?%}|{#.*?#}", re.DOTALL)
_SHORTEST = 12  # characters


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts of a module or a template, in the order of the file."""
    if path.suffix == ".html":
        shown = re.sub(r"{{.*?}}", "{}", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        found = (" ".join(piece.split()) for piece in _TAG.sub("\n\n", shown).split("\n\n"))
        yield from (piece for piece in found if re.search(r"[A-Za-z]{2,} ?", piece))
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = set(_docstrings(tree)) | set(_inside(tree, ast.JoinedStr))
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        text = _text_of(node)
        if text is not None and _is_for_people(text):
            yield " ".join(text.split())


def listing() -> str:
    """Return the whole list: for each file its texts."""
    lines = []
    for path in sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.*")):
        name = str(path.relative_to(ROOT))
        if path.suffix not in (".py", ".html") or name.startswith(NOT_FOR_PEOPLE):
            continue
        if texts := list(dict.fromkeys(texts_of(path))):
            lines += [f"# {name}", *texts, ""]
    return "\n".join(lines)


def _text_of(node: ast.AST) -> str | None:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return "".join(one.value if isinstance(one, ast.Constant) else "{}" for one in values)  # type: ignore[misc]
        case _:
            return None


def _is_for_people(text: str) -> bool:
    return len(text) >= _SHORTEST and " " in text.strip() and _SENTENCE.fullmatch(text.strip()) is not None


def _docstrings(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as text):
                yield id(text)
            case _:
                pass


def _inside(tree: ast.AST, kind: type[ast.AST]) -> Iterator[int]:
    for outer in ast.walk(tree):
        if isinstance(outer, kind):
            yield from (id(inner) for inner in ast.walk(outer) if inner is not outer)


if __name__ == "__main__":
    LISTED.write_text(listing(), encoding="utf-8")
