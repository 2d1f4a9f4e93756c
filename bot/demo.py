"""The demo for new users: the sample documents, and a conversation about them."""

import json
import sys
from pathlib import Path
from typing import Any

from rich.text import Text

from adapters.documents.folders import files_in
from adapters.terminal.chat import Chat
from adapters.terminal.console import SafeConsole
from adapters.terminal.ingest_view import ingest_files, report
from adapters.terminal.prompt import converse
from bot.container import Footnote, open_footnote
from bot.sample_company import BASE, sample_settings
from bot.settings import load_settings

SAMPLES = Path(__file__).parent / "samples"


async def play(home: Path | None) -> int:
    """Ingest the samples, then start a conversation; without a terminal, play the scripted one."""
    settings = sample_settings(load_settings(), home)
    console = SafeConsole()
    interactive = sys.stdin.isatty() and console.is_terminal
    console.print(Text("Starting the embedded stores and the model …", style="dim"))
    async with open_footnote(settings) as footnote:
        await _ingest(console, footnote)
        chat = footnote.chat(console, frozenset({BASE}))
        if interactive:
            _welcome(console)
            await converse(chat)
        else:
            await _play_script(console, chat)
        _farewell(console, kept=home is None)
    return 0


async def _ingest(console: SafeConsole, footnote: Footnote) -> None:
    documents = SAMPLES / "documents"
    files = [(path, str(Path(source).relative_to(documents.name))) for path, source in files_in([documents])]
    results = await ingest_files(console, footnote.knowledge_stack.ingest_client(), files, BASE)
    report(console, results)


def _welcome(console: SafeConsole) -> None:
    console.print()
    console.print("These are the documents of Brindlepost, an invented company that plans delivery routes. Try:")
    for line in _script():
        console.print(Text(f"  {line['say']}", style="cyan"))


async def _play_script(console: SafeConsole, chat: Chat) -> None:
    """Play the conversation of ``samples/demo.json``."""
    for line in _script():
        console.print()
        console.print(Text(f"── {line['shows']}", style="dim"))
        console.print(Text(f"› {line['say']}", style="bold"))
        await chat.say(line["say"])
        checkpoint = chat.open_checkpoint
        if checkpoint is not None and line.get("press"):
            choice = checkpoint.choices[line["press"] - 1]
            console.print(Text(f"› {choice.label}", style="bold"))
            await chat.press(choice)


def _farewell(console: SafeConsole, *, kept: bool) -> None:
    """Print the next steps, and where to find the sample company again."""
    console.print()
    if kept:
        console.print(
            "footnote ask and footnote chat go on with this company until you bring in documents of your own:"
        )
    else:
        console.print("That was the demo. To use your own documents:")
    console.print(Text("  footnote ingest PATH\n  footnote chat", style="cyan"))


def _script() -> list[dict[str, Any]]:
    script: list[dict[str, Any]] = json.loads((SAMPLES / "demo.json").read_text(encoding="utf-8"))
    return script
