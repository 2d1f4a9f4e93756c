"""Writes docs/settings.md from .env.example, and docs/reference.md from the commands.

``python -m tests.build_reference`` does it. A test says when one of them is not what this would write.
"""

import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from typer.main import get_command

from bot.__main__ import app
from bot.cli.help import EXAMPLES, commands_of
from bot.plugins import installed_platforms, installed_reasoners
from bot.settings import Settings

ROOT = Path(__file__).parents[1]
SETTINGS, REFERENCE = ROOT / "docs" / "settings.md", ROOT / "docs" / "reference.md"
_SECTION = re.compile(r"# --- (.+?) -+")
_SETTING = re.compile(r"(?:# )?([A-Z][A-Z0-9_]+)=(.*)")


def setting_names() -> set[str]:
    """Return the names of all settings, those of installed plugins included."""
    plugins = (*installed_platforms(), *installed_reasoners())
    of_plugins = {f"{one.name}_{name}".upper() for one in plugins for name in one.settings.model_fields}
    return {name.upper() for name in Settings.model_fields} | of_plugins


def settings_page() -> str:
    """Every setting under the comment that stands above it in .env.example."""
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    beginning = next(number for number, line in enumerate(lines) if _SECTION.match(line))
    page = [
        "# Settings",
        "",
        "Nothing is required. Settings are environment variables, or lines of a file `.env` in the folder that you",
        "start Footnote in or in its data directory: what the environment says wins, then the folder's file, then the",
        "data directory's. `footnote doctor` says which files were read; `footnote setup` writes the tokens for you. A",
        "setting that is empty is not set. What admins choose for a channel stands in [channels](channels.md).",
    ]
    comment: list[str] = []
    names: list[str] = []
    for line in [*lines[beginning:], "# --- end ---"]:
        section, setting = _SECTION.match(line), _SETTING.fullmatch(line)
        if names and not setting:
            page += [*_settings(names, comment)]
            comment, names = [], []
        if section:
            page += ["", f"## {section[1]}"] if section[1] != "end" else []
            page += ["", " ".join(comment)] if comment else []
            comment = []
        elif setting:
            names.append(line.removeprefix("# "))
        elif line.startswith("#"):
            comment.append(line.removeprefix("#").strip())
    return "\n".join(page) + "\n"


def _settings(names: list[str], comment: list[str]) -> Iterator[str]:
    yield ""
    for line in names:
        name, _, example = line.partition("=")
        field = Settings.model_fields.get(name.lower())
        default = f" (default `{example}`)" if field is not None and example else ""
        yield f"- **`{name}`**{default}"
    if comment:
        yield ""
        yield f"    {_in_markdown(' '.join(comment))}"


def _in_markdown(text: str) -> str:
    """Plain text in which no sign means anything; addresses and settings as code."""
    return re.sub(
        r"(?<![\w`])((?:[a-z0-9+…]+://[^\s,;)]+|[A-Z]+_[A-Z_]+(?:=\S+)?))", r"`\1`", text.replace("<", "&lt;")
    )


def reference_page() -> str:
    """Every command with its arguments, options and example, as ``--help`` has them."""
    page = [
        "# Every command and option",
        "",
        "What `--help` says, on one page. By what they are for: [commands](commands.md).",
    ]
    for name, info in sorted(commands_of(app), key=lambda one: one[0]):
        command: Any = get_command(app)
        for part in name.split():
            command = command.commands[part]
        about = " ".join((info.help or (info.callback.__doc__ if info.callback else "") or "").split())
        page += [
            "",
            f"## footnote {name}",
            "",
            about.replace("<", "&lt;").replace("|", "\\|"),
            "",
            f"    {EXAMPLES[name]}",
            "",
        ]
        rows = [_row(one) for one in command.params]
        page += ["| | |", "|---|---|", *rows] if rows else []
    return "\n".join(page).rstrip() + "\n"


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        shown = parameter.name.upper() + ("" if parameter.required else ", may be left out")
        return f"| `{shown.partition(',')[0]}`{shown[len(shown.partition(',')[0]) :]} | {_cell(parameter.help)} |"
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    kind = parameter.bare_type
    choices = [str(one.value) for one in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []
    said = _cell(parameter.help) + (f" One of {', '.join(choices)}." if choices else "")
    return f"| {names} | {said} |"


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|").replace("<", "&lt;")


def main() -> None:
    """Write both pages."""
    SETTINGS.write_text(settings_page(), encoding="utf-8")
    REFERENCE.write_text(reference_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
