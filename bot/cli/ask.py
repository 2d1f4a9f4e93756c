"""Asking: ``ask``, ``resume``, ``chat``, ``demo``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.terminal.output import print_json, say
from bot.cli.runner import finish, open_to_read
from core.model.profile import Profile

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.terminal_socket import Request, RunningProcess
    from core.model.events import AgentEvent

Kb = Annotated[str | None, typer.Option("--kb", help="Search only this knowledge base.")]
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
    thread: Annotated[
        str | None, typer.Option(help=("The name of the conversation to continue. A new name starts one."))
    ] = None,
    profile: Annotated[Profile | None, typer.Option(help="How much effort an answer may take.")] = None,
    as_json: Json = False,
) -> None:
    """Ask one question."""
    finish(_ask(question, kb, thread, profile, as_json))


async def _ask(question: str, kb: str | None, thread: str | None, profile: Profile | None, as_json: bool) -> int:
    import uuid

    from bot.terminal_socket import TerminalQuestion
    from core.model.message_text import too_long

    if not question.strip():
        raise typer.BadParameter("The question is empty.")
    if refusal := too_long(question):
        raise typer.BadParameter(refusal)
    return await _answer(TerminalQuestion(question, thread or uuid.uuid4().hex[:8], kb, profile), as_json)


def resume(
    checkpoint: Annotated[str, typer.Argument(help="The checkpoint's id.")],
    choice: Annotated[str, typer.Argument(help="The number, id or label of a choice, or the text that it asks for.")],
    as_json: Json = False,
) -> None:
    """Answer a question that Footnote asked back, also in another process or days later."""
    finish(_resume(checkpoint, choice, as_json))


async def _resume(checkpoint: str, pressed: str, as_json: bool) -> int:
    from bot.terminal_socket import TerminalChoice

    return await _answer(TerminalChoice(checkpoint, pressed), as_json)


async def _answer(request: "Request", as_json: bool) -> int:
    """Answer in the process that serves this data directory, otherwise here. Return 0 unless it failed."""
    from adapters.terminal.console import SafeConsole
    from bot.terminal_socket import EVERYTHING, WrongCall, open_request

    try:
        if (running := await _running_process(request)) is not None:
            return await _show(running.events(), as_json)
        async with open_to_read(SafeConsole(stderr=True)) as footnote:
            thread, events = await open_request(footnote, request)
            code = await _show(events, as_json)
            await footnote.question_service.reflect(thread, EVERYTHING)
            return code
    except WrongCall as error:
        raise typer.BadParameter(str(error)) from None


async def _running_process(request: "Request") -> "RunningProcess | None":
    from bot.sample_company import stands_in
    from bot.settings import load_settings
    from bot.terminal_socket import LOADING, NOT_ANSWERING, OtherFootnote, ask_running_process, settings_given

    settings = load_settings()
    if await stands_in(settings):
        return None
    try:
        return await ask_running_process(settings.home, request, settings_given(settings))
    except TimeoutError:
        say(f"{NOT_ANSWERING} {LOADING}", err=True)
    except OtherFootnote as other:
        say(f"{other} {LOADING}", err=True)
    return None


async def _show(events: "AsyncGenerator[AgentEvent, None]", as_json: bool) -> int:
    """Show one run, or print it as JSON. Return 0 unless it failed."""
    from contextlib import aclosing

    from adapters.terminal.answer_view import TerminalAnswerView
    from adapters.terminal.console import SafeConsole
    from adapters.terminal.json_view import Recorder
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
