"""Everything that documents and messages name exists: commands, options, settings, pages, anchors, addresses."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from typer.main import get_command

from bot.__main__ import app
from tests.build_reference import setting_names

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
PAGES = (
    "install",
    "commands",
    "settings",
    "index",
    "slack",
    "discord",
    "web",
    "operations",
    "security",
    "scale",
    "formats",
)
OF_WHO_RUNS_IT = (ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in PAGES))
SOURCES = [file for folder in ("bot", "core", "adapters") for file in sorted((ROOT / folder).rglob("*.py"))]
TEMPLATES = sorted((ROOT / "adapters" / "web" / "templates").glob("*.html"))
OF_EVERY_COMMAND = {"--help", "--install-completion", "--show-completion"}
OF_DRIVERS = ("AWS_", "AZURE_", "FSSPEC_", "GOOGLE_")  # as each driver of a place documents its own
NAMES_OF_OTHERS = {
    "HF_HUB_OFFLINE", "NO_COLOR", "PIPX_DEFAULT_BACKEND",
    "CREDENTIALS_DIRECTORY",  # of systemd
    "COMPOSE_PROFILES", "BOT_MEMORY", "PYTHON_IMAGE",  # of docker-compose.yml and the Makefile
    "MINIO_ROOT_USER", "MINIO_ROOT_PASSWORD",  # of docker-compose.yml, in .env.example
    "PAGE_PICTURES",  # of the tests in a browser
}  # fmt: skip


def in_code(text: str) -> Iterator[str]:
    """Yield the code spans and the lines of code blocks."""
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for block in (*fenced, *re.findall(r"(?:^ {4}.*\n)+", text, re.MULTILINE)):
        yield from (line.strip().removeprefix("$ ") for line in block.splitlines())
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def commands_in(text: str) -> set[str]:
    """Return the ``footnote`` commands that a document shows."""
    return {code for code in in_code(text) if code.startswith("footnote ") and not code.startswith("footnote-")}


def unknown_in(call: str) -> list[str]:
    """Return the words of a call that are neither a command nor one of its options."""
    words = call.replace("\\|", "|").replace("[", " ").replace("]", " ").split()[1:]
    command: Any = get_command(app)
    while words and hasattr(command, "commands") and re.fullmatch(r"[a-z|]+", words[0]):
        names = words.pop(0).split("|")
        missing = [name for name in names if name not in command.commands]
        if missing:
            return missing
        command = command.commands[names[0]]
    known = OF_EVERY_COMMAND | {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    if words and hasattr(command, "commands") and words[0] not in ("…", "COMMAND"):
        return [word for word in words[:1] if word not in known]
    return [word for word in words if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in known]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.name)
def test_every_command_that_a_document_shows_is_one_with_the_options_that_it_has(document: Path) -> None:
    calls = commands_in(document.read_text(encoding="utf-8"))
    if document.name == "settings.md":
        calls = {call for call in calls if " over " not in call}  # a sentence that begins with a command
    assert {call: unknown for call in calls if (unknown := unknown_in(call))} == {}


def test_every_command_that_a_message_of_ours_names_is_one() -> None:
    top = get_command(app).commands  # type: ignore[attr-defined]
    wrong = []
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                wrong += [(file.name, *named) for named in _named(node.value) if not _is_command(top, *named)]
    for file in TEMPLATES:
        code = "\n".join(re.findall(r"<code>([^<]*)</code>", file.read_text(encoding="utf-8")))
        wrong += [(file.name, *named) for named in _named(code) if not _is_command(top, *named)]
    assert wrong == []


def _named(text: str) -> list[tuple[str, str]]:
    """(first word, second word) after our name, but for the slash command of the same name."""
    return re.findall(r"(?<![/\w@.-])footnote ([a-z]+)(?: ([a-z]+))?", text)


def _is_command(top: dict[str, Any], first: str, second: str) -> bool:
    """A group needs a command of its own as well; what follows any other may be an argument, or the sentence."""
    inner = getattr(top.get(first), "commands", None)
    return first in top and (inner is None or not second or second in inner)


@pytest.mark.parametrize("document", OF_WHO_RUNS_IT, ids=lambda one: one.name)
def test_every_setting_that_a_page_for_whoever_runs_it_names_is_one(document: Path) -> None:
    named = set(re.findall(r"(?<![\w/-])[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+(?!\w)", document.read_text(encoding="utf-8")))
    ours = {name for name in named if not name.startswith(OF_DRIVERS)}
    assert ours - setting_names() - NAMES_OF_OTHERS == set()


def test_no_name_of_others_is_excused_that_no_document_has() -> None:
    text = "".join(document.read_text(encoding="utf-8") for document in OF_WHO_RUNS_IT)
    assert {name for name in NAMES_OF_OTHERS if name not in text} == set()


def without_code(text: str) -> str:
    """Return the text without code, which has no links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]+`", "", re.sub(r"^ {4}.*$", "", text, flags=re.MULTILINE))


def links_of(document: Path) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", without_code(document.read_text(encoding="utf-8")))


def anchors_of(document: Path) -> set[str]:
    """Return the anchors of the headings, as GitHub and the site build them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.name)
def test_every_link_leads_to_an_existing_page_and_heading(document: Path) -> None:
    for link in links_of(document):
        if "://" in link:
            parts = urlsplit(link)
            assert parts.scheme == "https", link
            assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.hostname or ""), link
            assert not parts.username, link
            continue
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        assert target.exists(), f"{document.name} links to {link}"
        if anchor:
            assert anchor in anchors_of(target), f"{document.name} links to {link}"


def test_the_test_itself_sees_what_is_wrong() -> None:
    assert unknown_in("footnote asks") == ["asks"]
    assert unknown_in("footnote kb grnt handbook") == ["grnt"]
    assert unknown_in("footnote ask QUESTION [--threat ID]") == ["--threat"]
    assert unknown_in("footnote sources list\\|shew") == ["shew"]
    assert unknown_in("footnote --verbose") == ["--verbose"]
    assert unknown_in("footnote search QUERY [-k N] [--source NAME]") == []
    assert not _is_command(get_command(app).commands, "kb", "mend")  # type: ignore[attr-defined]
