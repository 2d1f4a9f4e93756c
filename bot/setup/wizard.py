"""From nothing to an answer in Slack or Discord, step by step: what is set is passed over, and any step may wait."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import typer

from bot.container import has_documents
from bot.doctor import examine
from bot.settings import load_settings
from bot.setup import discord, model, slack
from bot.setup.dialogue import Dialogue
from bot.setup.places import Place
from bot.setup.saved_settings import SavedSettings
from bot.setup.service_unit import offer

STOPPED = "\nWhat was set is kept: footnote setup goes on from there."
PATIENCE = 60.0  # seconds for the checks at the end: whoever set everything up would rather wait
Ingest = Callable[[list[Path]], int]


def set_up(place: Place | None, ingest: Ingest, *, browser: bool) -> int:
    """Run every step; 0 when all is in order, 1 when something is left to do, 130 when Ctrl-C stopped it.

    Raises ConfigurationError where there is no terminal, or the ``.env`` cannot be written.
    """
    dialogue = Dialogue(browser=browser)
    try:
        return _steps(dialogue, place, ingest)
    except (typer.Abort, KeyboardInterrupt, EOFError):
        typer.echo(STOPPED, err=True)
        return 130


def _steps(dialogue: Dialogue, place: Place | None, ingest: Ingest) -> int:
    home = load_settings().home
    saved = SavedSettings(home)
    place = place or _choose(dialogue, saved)
    reached = True
    if place is Place.MODEL:
        return int(not model.set_up(dialogue, saved))
    if place is Place.SLACK:
        reached = slack.set_up(dialogue, saved)
    if place is Place.DISCORD:
        reached = discord.set_up(dialogue, saved)
    _documents(dialogue, ingest)
    dialogue.heading("Everything checked, which takes some seconds")
    failed = asyncio.run(examine(as_json=False, seconds=PATIENCE))
    if place is Place.TERMINAL:
        dialogue.heading("Ask it")
        dialogue.say("  footnote chat")
    elif reached:
        offer(dialogue, home)
    else:
        dialogue.say(f"\nLeft to do: {place}. footnote setup {place} goes on from here.")
    return int(bool(failed) or not reached)


def _choose(dialogue: Dialogue, saved: SavedSettings) -> Place:
    def value_of(name: str) -> str:
        return " (a token is set)" if saved.value(name) else ""

    choices = {
        Place.SLACK: f"Slack{value_of('SLACK_BOT_TOKEN')}",
        Place.DISCORD: f"Discord{value_of('DISCORD_BOT_TOKEN')}",
        Place.TERMINAL: "this terminal alone",
        Place.MODEL: "nowhere yet: set up a language model",
    }
    return list(choices)[dialogue.choose("Where shall Footnote answer?", list(choices.values()))]


def _documents(dialogue: Dialogue, ingest: Ingest) -> None:
    dialogue.heading("Your documents")
    if asyncio.run(has_documents(load_settings())):
        dialogue.say("There are some already; footnote sources list shows them.")
    while named := dialogue.ask("A folder or file to read"):
        path = Path(named.strip("\"'")).expanduser()
        if path.exists():
            ingest([path])
            return
        dialogue.say(f"There is no file or folder {path}.")
