"""Discord's registered commands, compared with our documents."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import discord
import pytest
from discord import app_commands

from adapters.discord.interactions.ask_commands import AskCommands
from adapters.discord.interactions.command_tree import CommandTree
from adapters.discord.interactions.footnote_commands import FootnoteCommands
from adapters.discord.kb.commands import KbGroup
from adapters.discord.kb.options import MOST_OPTIONS, kb_commands

DOCS = Path(__file__).parents[3] / "docs"
SUBCOMMANDS = (1, 2)  # a subcommand, a group of them


def _tree() -> dict[str, Any]:
    """All slash commands as they are registered, by name."""
    nothing: Any = None  # to be registered they need nobody
    kb = KbGroup(nothing, Mock(), nothing)
    footnote = FootnoteCommands(nothing, nothing)
    every = [*AskCommands(nothing, nothing).commands(), footnote.group(), *kb_commands(kb)]
    commands = CommandTree(every, nothing, nothing)
    client = discord.Client(intents=discord.Intents.none())
    tree = app_commands.CommandTree(client)
    commands.register(tree)
    return {one.name: one.to_dict(tree) for one in tree.get_commands(type=discord.AppCommandType.chat_input)}


COMMANDS = _tree()


def _paths(command: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Each command, group and subcommand with what can be chosen after it."""
    path = f"{above} {command['name']}".strip()
    options = command.get("options") or []
    yield path, options
    for one in options:
        if one["type"] in SUBCOMMANDS:
            yield from _paths(one, path)


EVERY = {path: options for command in COMMANDS.values() for path, options in _paths(command)}


@pytest.mark.parametrize("path", sorted(EVERY))
def test_nobody_has_to_choose_among_more_than_eight_options(path: str) -> None:
    assert len(EVERY[path]) <= MOST_OPTIONS, [one["name"] for one in EVERY[path]]


def test_the_document_names_every_command_and_no_other() -> None:
    table = (DOCS / "discord.md").read_text(encoding="utf-8").split("\n## Commands\n")[1].split("\n## ")[0]
    named = {path for row in re.findall(r"^\| (.+?) \|", table, re.MULTILINE) for path in _expanded(row)}
    given = {path for path, options in EVERY.items() if not any(one["type"] in SUBCOMMANDS for one in options)}
    assert named == given


def _expanded(cell: str) -> Iterator[str]:
    """The commands in a cell: ``/kb jobs list\\|cancel`` names two."""
    for written in re.findall(r"`/([^`]+)`", cell):
        *before, last = re.sub(r"\s[A-Z].*|\s\[.*", "", written).split(" ")
        for one in last.split("\\|"):
            yield " ".join([*before, one])
