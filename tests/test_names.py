"""Names in docstrings and pages must exist, and names of tests must be short."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("core", "adapters", "bot")
PAGES = ("CONTRIBUTING.md", "docs/architecture.md", "docs/glossary.md", "docs/vendor-hooks.md", "docs/extractive.md")
OF_VENDORS = {"AsyncMilvusClient", "hybrid_search", "sentinel_username", "sentinel_password"}  # not called here
_NAMED = re.compile(r"``([A-Za-z_]\w*(?:\.\w+)*)``")
_PATH = re.compile(r"`((?:core|adapters|bot|research|tests|docs|deploy)/[\w./*{},-]*)`")
_PYTHON = re.compile(r"\b((?:core|adapters|bot|research)(?:\.\w+)+)\b")


@cache
def _trees() -> dict[Path, ast.Module]:
    paths = [path for package in (*PACKAGES, "research", "tests") for path in sorted((ROOT / package).rglob("*.py"))]
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


@cache
def _identifiers() -> frozenset[str]:
    """Every name that code of the product has: of a module, a folder, a class, a function, a field, a parameter."""
    found: set[str] = set()
    for path, tree in _trees().items():
        found.update(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(tree):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    found.add(node.name)
                case ast.Name():
                    found.add(node.id)
                case ast.Attribute():
                    found.add(node.attr)
                case ast.arg() | ast.keyword():
                    found.add(node.arg or "")
                case ast.alias():
                    found.update(node.name.split("."))
                case ast.Constant(value=str() as text) if " " not in text:
                    found.update(re.findall(r"\w+", text))
                case _:
                    pass
    return frozenset(found)


def _docstrings() -> list[tuple[str, str]]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        (str(path.relative_to(ROOT)), text)
        for path, tree in _trees().items()
        if path.relative_to(ROOT).parts[0] in PACKAGES
        for node in ast.walk(tree)
        if isinstance(node, kinds) and (text := ast.get_docstring(node))
    ]


def test_what_a_docstring_names_is_the_name_of_something() -> None:
    known = _identifiers() | OF_VENDORS
    gone = [
        f"{path}: {named}"
        for path, text in _docstrings()
        for named in _NAMED.findall(text)
        if not set(named.split(".")) <= known
    ]
    assert gone == []


def test_a_module_named_with_its_package_is_where_it_is_said_to_be() -> None:
    gone = [
        f"{path}: {named}"
        for path, text in _docstrings()
        for named in _PYTHON.findall(text)
        if not _exists(named.split("."))
    ]
    assert gone == []


def _exists(parts: list[str]) -> bool:
    """Whether these lead to a package or a module, and what is left of them to something in it."""
    for end in range(len(parts), 1, -1):
        at = ROOT.joinpath(*parts[:end])
        if at.is_dir() or at.with_suffix(".py").is_file():
            return set(parts[end:]) <= _identifiers()
    return False


@pytest.mark.parametrize("page", PAGES)
def test_a_path_on_a_page_for_developers_is_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [path for path in _PATH.findall(text) if not any(map(_is_there, _spelt_out(path)))] == []


def _spelt_out(path: str) -> list[str]:
    """``a/{b,c}.py`` as both of them."""
    head, brace, rest = path.partition("{")
    options, _, tail = rest.partition("}")
    return [f"{head}{one}{tail}" for one in options.split(",")] if brace else [path]


def _is_there(path: str) -> bool:
    return any(ROOT.glob(path.rstrip("/")))


SIBLINGS = {  # the same idea, once a platform or a format, beside each other: a search finds them together
    "AnswerStage",
    "ChannelAccess",
    "EventListener",
    "LookBack",
    "Messages",
    "Piece",
    "RequestRefused",
    "Spot",
}


def test_a_class_has_a_name_of_its_own() -> None:
    places: dict[str, list[str]] = {}
    for path, tree in _trees().items():
        at = path.relative_to(ROOT)
        for node in ast.walk(tree) if at.parts[0] in PACKAGES else ():
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(at))
    assert {name: at for name, at in places.items() if len(at) > 1 and name not in SIBLINGS} == {}


def test_a_test_has_a_name_of_at_most_80_characters() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and len(node.name) > 80
    ] == []
