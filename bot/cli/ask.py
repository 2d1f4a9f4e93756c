"""Asking: ``ask``, ``resume``, ``chat``, ``demo``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.terminal.output import print_json
from bot.cli.runner import finish, open_to_read
from core.model.profile import Profile

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.container import Footnote
    from core.model.conversation import ThreadKey
    from core.model.events import AgentEvent

Kb = Annotated[str | None, typer.Option("--kb", help="Only this knowledge base.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(demo)
    app.command()(chat)
    app.command()(ask)
    app.command()(resume)


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    kb: Kb = None,
    thread: Annotated[str | None, typer.Option(help="Continue this conversation; any name.")] = None,
    profile: Annotated[Profile | None, typer.Option(help="How much an answer may cost.")] = None,
    as_json: Json = False,
) -> None:
    """Ask one question."""
    finish(_ask(question, kb, thread, profile, as_json))


async def _ask(question: str, kb: str | None, thread: str | None, profile: Profile | None, as_json: bool) -> int:
    import uuid
    from dataclasses import replace

    from adapters.terminal.console import SafeConsole
    from adapters.terminal.operator import OPERATOR, terminal_thread
    from core.model.conversation import Audience
    from core.model.errors import NotFound
    from core.model.message_text import too_long
    from core.service.question_service import Question

    if not question.strip():
        raise typer.BadParameter("The question is empty.")
    if refusal := too_long(question):
        raise typer.BadParameter(refusal)
    async with open_to_read(SafeConsole(stderr=True)) as footnote:
        bases = await footnote.only(kb)
        policy = footnote.policy if profile is None else replace(footnote.policy, profile=profile)
        key = terminal_thread(thread or uuid.uuid4().hex[:8])
        asked = Question(question, key, OPERATOR, Audience(unrestricted=True), policy, bases)
        try:
            return await _show(footnote, footnote.question_service.ask(asked), key, as_json)
        except NotFound as error:
            raise typer.BadParameter(str(error)) from None


def resume(
    checkpoint: Annotated[str, typer.Argument(help="The checkpoint's id.")],
    choice: Annotated[str, typer.Argument(help="A choice by number, id or label; or what to narrow it to.")],
    as_json: Json = False,
) -> None:
    """Answer a question that Footnote asked back, also in another process or days later."""
    finish(_resume(checkpoint, choice, as_json))


async def _resume(checkpoint_id: str, pressed: str, as_json: bool) -> int:
    from adapters.terminal.console import SafeConsole
    from adapters.terminal.operator import OPERATOR
    from core.model.conversation import Audience
    from core.model.errors import NotFound
    from core.service.typed_choice import choices_of, match_typed_choice

    async with open_to_read(SafeConsole(stderr=True)) as footnote:
        parked = await footnote.checkpoints.read(checkpoint_id)
        if parked is None:
            raise NotFound(f"There is no open checkpoint {checkpoint_id}.", remedy="It may have been answered already.")
        understood = match_typed_choice(pressed, parked.checkpoint)
        if understood is None:
            there = choices_of(parked.checkpoint)
            raise typer.BadParameter(f"There is no choice {pressed!r} here. There are: {there}.")
        events = footnote.question_service.choose(
            checkpoint_id,
            understood,
            OPERATOR,
            audience=Audience(unrestricted=True),
            is_admin=True,
        )
        return await _show(footnote, events, parked.checkpoint.thread, as_json)


async def _show(
    footnote: "Footnote", events: "AsyncGenerator[AgentEvent, None]", key: "ThreadKey", as_json: bool
) -> int:
    """Show one run, or print it as JSON. Return 0 unless it failed."""
    from contextlib import aclosing

    from adapters.terminal.answer_view import TerminalAnswerView
    from adapters.terminal.console import SafeConsole
    from adapters.terminal.json_view import Recorder
    from core.model.conversation import Audience
    from core.model.events import AgentFailed
    from core.service.event_presenter import EventPresenter

    view = Recorder() if as_json else TerminalAnswerView(SafeConsole())
    async with aclosing(events) as stream:
        await view.open()
        try:
            final = await EventPresenter(view).show(stream)
        finally:
            await view.close()
    if isinstance(view, Recorder):
        print_json(view.result(final))
    await footnote.question_service.reflect(key, Audience(unrestricted=True))
    return 1 if isinstance(final, AgentFailed) or final is None else 0


def chat(kb: Kb = None) -> None:
    """Open a conversation in the terminal."""
    finish(_chat(kb))


async def _chat(kb: str | None) -> int:
    from adapters.terminal.console import SafeConsole
    from adapters.terminal.prompt import converse

    console = SafeConsole()
    async with open_to_read(console) as footnote:
        await converse(footnote.chat(console, await footnote.only(kb)))
    return 0


def demo(
    home: Annotated[Path | None, typer.Option(help="Keep the demo's data here.")] = None,
) -> None:
    """Converse about a sample company.

    Without a terminal, a short conversation is played.
    """
    from bot.demo import play

    finish(play(home))
