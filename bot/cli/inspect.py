"""Inspection: ``trace``, ``forget``, ``doctor``."""

from typing import TYPE_CHECKING, Annotated

import typer

from adapters.terminal.output import print_json, say
from bot.cli.runner import finish, open_to_read

if TYPE_CHECKING:
    from core.model.conversation import ThreadKey

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(trace)
    app.command()(forget)
    app.command()(doctor)


def trace(trace_id: Annotated[str, typer.Argument(help="The trace's id.")], as_json: Json = False) -> None:
    """Show what happened, step by step, from the recorded events."""
    finish(_trace(trace_id, as_json))


async def _trace(trace_id: str, as_json: bool) -> int:
    import json

    from adapters.terminal.answer_view import print_trace
    from adapters.terminal.console import SafeConsole
    from core.model.errors import NotFound
    from core.model.json_codec import to_json

    async with open_to_read(models=False, index=False) as footnote:
        if as_json:
            events = await footnote.trace_store.trace(trace_id)
            if not events:
                raise NotFound(f"There is no trace {trace_id}.", remedy="Traces are kept for 14 days.")
            print_json([json.loads(to_json(event)) for event in events])
            return 0
        await print_trace(SafeConsole(), footnote.trace_store, trace_id)
    return 0


def forget(
    thread: Annotated[
        str | None, typer.Option(help=("The name of a terminal conversation, or the full key of a thread."))
    ] = None,
    person: Annotated[str | None, typer.Option(help="A person's id, such as slack:T1/U1.")] = None,
) -> None:
    """Remove a thread, or everything about a person."""
    if (thread is None) == (person is None):
        raise typer.BadParameter("Use either --thread or --person.")
    finish(_forget(thread, person))


async def _forget(thread: str | None, person: str | None) -> int:
    """Forget in all data, including the sample company's."""
    from bot.container import open_footnote
    from bot.sample_company import has_samples, sample_settings
    from bot.settings import load_settings

    own = load_settings()
    turns, answers, there = 0, 0, False
    for settings in [own, *([sample_settings(own)] if has_samples(own) else [])]:
        async with open_footnote(settings, models=False, index=False) as footnote:
            if person is not None:
                answers += await footnote.knowledge_stack.person_answers.forget(person)
                turns += await footnote.memory.forget_person(person)
            else:
                there |= await footnote.memory.forget_thread(_thread_key(thread or ""))
    if person is None:
        say(f"Forgot the thread {thread}." if there else f"There is no thread {thread}.")
    elif turns or answers:
        kept = f" and {answers} kept answer{'' if answers == 1 else 's'}" if answers else ""
        say(f"Forgot {turns} turn{'' if turns == 1 else 's'}{kept} of {person}.")
    else:
        say(f"No question of {person} is stored. An id looks like slack:T1/U1: a workspace and its member.")
    return 0


def _thread_key(name: str) -> "ThreadKey":
    from adapters.terminal.operator import terminal_thread
    from core.model.conversation import ThreadKey

    return ThreadKey.parse(name) if name.count("/") == 3 else terminal_thread(name)


def doctor(
    place: Annotated[
        str | None, typer.Option(help="Show the settings of one channel and their origin, such as slack:channel:T1/C1.")
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help=("First repair damaged data by cutting off the unreadable part."))
    ] = False,
    seconds: Annotated[float, typer.Option(min=1, help="The seconds to wait for slow checks.")] = 8.5,
    as_json: Json = False,
) -> None:
    """Check every dependency and setting, each with what to do about it."""
    from bot.doctor import examine, explain

    finish(explain(place, as_json=as_json) if place else examine(as_json=as_json, fix=fix, seconds=seconds))
