"""The setup in the terminal: the guide's steps in order. Finished steps are skipped, and any step can be postponed."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import typer

from adapters.terminal.output import say
from bot.doctor import examine
from bot.settings import load_settings
from bot.setup import model
from bot.setup.dialogue import Dialogue
from bot.setup.guide import InstallationSetup
from bot.setup.saved_settings import SavedSettings
from bot.stores import has_documents
from core.model.health import MODEL, TERMINAL, SetupStep, SetupStepState, TokenField

STOPPED = "\nYour settings so far are saved. footnote setup continues from there."
PATIENCE = 60.0  # seconds for the final checks; people who set everything up prefer to wait
Ingest = Callable[[list[Path]], int]


def set_up(place: str | None, ingest: Ingest, *, browser: bool) -> int:
    """Run every step. Return 0 if all is in order, 1 if something is left to do, 130 after Ctrl-C.

    Raises ConfigurationError without a terminal, or if the ``.env`` cannot be written.
    """
    dialogue = Dialogue(browser=browser)
    try:
        return _steps(dialogue, place, ingest)
    except (typer.Abort, KeyboardInterrupt, EOFError):
        say(STOPPED, err=True)
        return 130


def _steps(dialogue: Dialogue, place: str | None, ingest: Ingest) -> int:
    home = load_settings().home
    guide = InstallationSetup(home)
    place = place or _choose(dialogue, guide)
    _check_place(place, guide)
    if place == MODEL:
        return int(not model.set_up(dialogue, SavedSettings(home)))
    reached = place == TERMINAL or all(_take_step(dialogue, guide, place, step) for step in guide.steps(place))
    _documents(dialogue, guide, ingest)
    dialogue.heading("Everything checked, which takes a few seconds")
    failed = asyncio.run(examine(as_json=False, seconds=PATIENCE))
    if place == TERMINAL:
        dialogue.heading("Ask it")
        dialogue.say("  footnote chat")
    elif reached:
        _keep_running(dialogue, guide)
        _ask_there(dialogue, guide, place)
    else:
        dialogue.say(f"\nStill to do: {guide.platforms()[place]}. Continue with footnote setup {place}.")
    return int(bool(failed) or not reached)


def _check_place(place: str, guide: InstallationSetup) -> None:
    places = [*guide.platforms(), TERMINAL, MODEL]
    if place not in places:
        raise typer.BadParameter(f"{place!r} is not one of {', '.join(places)}.", param_hint="PLACE")


def _choose(dialogue: Dialogue, guide: InstallationSetup) -> str:
    there = guide.configured_platforms()
    labels = guide.platforms().items()
    choices = {name: f"{label}{' (a token is set)' if name in there else ''}" for name, label in labels}
    choices |= {TERMINAL: "this terminal alone", MODEL: "nowhere yet: set up a language model"}
    return list(choices)[dialogue.choose("Where should Footnote answer?", list(choices.values()))]


def _take_step(dialogue: Dialogue, guide: InstallationSetup, place: str, step: SetupStep) -> bool:
    """Take a step. Return whether to continue: it is done, or can wait."""
    state = asyncio.run(guide.look(place, step))
    if step.token is not None:
        dialogue.heading(step.title)
        return _obtain(dialogue, guide, step, step.token, state)
    if step.until:
        dialogue.heading(step.title)
        return _mend(dialogue, guide, place, step, state) or step.optional
    if not state.done:
        dialogue.heading(step.title)
        dialogue.say(step.text)
        dialogue.link(step.link)
    return True


def _obtain(
    dialogue: Dialogue, guide: InstallationSetup, step: SetupStep, field: TokenField, state: SetupStepState
) -> bool:
    """Ask for a token until it works or is postponed, unless it is set. Return whether it works."""
    if state.origin:
        dialogue.say(f"{field.setting} is set in {state.origin}.")
        dialogue.show(state.checks)
    if not state.done and state.fixed:
        dialogue.say("Change it there, because it overrides the settings file.")
        return False
    if state.done:
        return True
    dialogue.say(step.text)
    while pasted := dialogue.ask_hidden():
        outcome = asyncio.run(guide.take_token(field.setting, pasted))
        if outcome.mistake:
            dialogue.say(outcome.mistake)
        dialogue.show(outcome.checks)
        if outcome.kept:
            dialogue.say(f"Saved as {field.setting} in {outcome.file}.")
            return True
    return False


def _mend(dialogue: Dialogue, guide: InstallationSetup, place: str, step: SetupStep, state: SetupStepState) -> bool:
    """Show the state of the step until it is done. Return False if it is postponed."""
    while True:
        dialogue.show(state.checks)
        if state.done:
            return True
        if state.link:
            dialogue.link(state.link)
        if not dialogue.pause(step.until):
            return False
        state = asyncio.run(guide.look(place, step))


def _documents(dialogue: Dialogue, guide: InstallationSetup, ingest: Ingest) -> None:
    dialogue.heading("Your documents")
    if asyncio.run(has_documents(load_settings())):
        dialogue.say("There are documents already. footnote sources list shows them.")
    while named := dialogue.ask("A folder or file to read"):
        named = named.strip("\"'")
        path = Path(named).expanduser()
        if path.exists():
            ingest([path])
            return
        if label := guide.platform_of_token(named):  # not repeated on the screen
            dialogue.say(f"That is a {label} token, not a folder. Enter the path of a folder, or press Enter to skip.")
        else:
            dialogue.say(f"There is no file or folder {path}.")


def _keep_running(dialogue: Dialogue, guide: InstallationSetup) -> None:
    """Print how to start it now, and write the systemd unit if wanted."""
    options = guide.running_options()
    dialogue.heading("Start it")
    dialogue.say(f"  {options.start}")
    if options.unit:
        dialogue.say(f"systemd can keep it running, with {options.unit}.")
        if options.unit_written or dialogue.confirm("Write that file?"):
            guide.write_unit()
            dialogue.say("Written. These commands start it and keep it running after you log out and after a restart:")
            for command in options.unit_commands:
                dialogue.say(f"  {command}")
    dialogue.say("Or with Docker, in a clone of the repository (Docker keeps the data in its own volumes):")
    for command in options.compose_commands:
        dialogue.say(f"  {command}")


def _ask_there(dialogue: Dialogue, guide: InstallationSetup, place: str) -> None:
    dialogue.heading(f"Then, in a channel of {guide.platforms()[place]}")
    for message in guide.first_messages(place):
        dialogue.say(f"  {message}")
