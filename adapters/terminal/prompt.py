"""The prompt of ``chat``: a line editor with history, Ctrl-C that stops an answer, Ctrl-D that leaves.

Without a terminal, the lines of standard input are read one after another, without an editor.
"""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

from prompt_toolkit import PromptSession
from prompt_toolkit.patch_stdout import patch_stdout
from rich.text import Text

from adapters.terminal.chat import Chat
from core.model.errors import FootnoteError

Ask = Callable[[str], Awaitable[str]]  # reads a line after this prompt


async def converse(chat: Chat) -> None:
    """Read lines and answer them until the person leaves."""
    if not sys.stdin.isatty():
        await _read_pipe(chat)
        return
    session: PromptSession[str] = PromptSession()
    chat.console.print(Text("Ask a question. /help lists the commands, Ctrl-D leaves.", style="dim"))
    while True:
        try:
            with patch_stdout():
                line = await session.prompt_async("\n› ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if not await _stoppable(chat, line, session.prompt_async):
            return


async def _read_pipe(chat: Chat) -> None:
    """Answer each line of standard input. A choice that needs text takes the next line."""

    async def next_line() -> str:
        line: str = await asyncio.to_thread(sys.stdin.readline)
        if not line:
            raise EOFError
        return line.strip()

    with suppress(EOFError):
        while True:
            if (line := await next_line()) and not await _stoppable(chat, line, lambda _: next_line()):
                return


async def _stoppable(chat: Chat, line: str, ask: Ask) -> bool:
    """Handle one line. Ctrl-C cancels the work and keeps the conversation."""
    work = asyncio.ensure_future(_say(chat, line, ask))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, work.cancel)
    try:
        return await work
    except asyncio.CancelledError:
        current = asyncio.current_task()
        if current is not None and current.cancelling():
            raise
        chat.console.print(Text("Stopped.", style="yellow"))
        return True
    except FootnoteError as error:
        chat.console.print(Text(str(error), style="red"))
        return True
    finally:
        loop.remove_signal_handler(signal.SIGINT)


async def _say(chat: Chat, line: str, ask: Ask) -> bool:
    open_checkpoint = chat.open_checkpoint
    choice = open_checkpoint.choice(line) if open_checkpoint else None
    if choice is not None and choice.asks_text:
        with suppress(EOFError, KeyboardInterrupt):
            said = (await ask(f"  {choice.label}: ")).strip()
            if said:  # no text: the checkpoint stays open
                await chat.press(choice, said)
        return True
    return await chat.say(line)
