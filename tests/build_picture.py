"""Draws docs/conversation.svg: a real conversation about the sample documents, as the terminal shows it.

python -m tests.build_picture
"""

import asyncio
import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from adapters.documents.folders import files_in
from adapters.terminal.ingest_view import ingest_files
from bot.container import open_footnote
from bot.demo import SAMPLES
from bot.settings import Settings

if TYPE_CHECKING:
    from adapters.terminal.chat import Chat

SAID = ("How many days of holiday do I get?", "And how many can I carry over?", "How do I configure the timeout?", "2")
PICTURE = Path(__file__).parents[1] / "docs" / "conversation.svg"


async def draw() -> None:
    """Hold the conversation on a fresh installation and save what it looks like."""
    console = Console(record=True, width=104, file=io.StringIO(), force_terminal=False)
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(_env_file=None, footnote_home=Path(home), redis_url=None, milvus_uri=None, llm_model=None)  # type: ignore[call-arg]
        async with open_footnote(settings) as footnote:
            files = [
                (path, str(Path(name).relative_to("documents"))) for path, name in files_in([SAMPLES / "documents"])
            ]
            await ingest_files(Console(quiet=True), footnote.knowledge_stack.terminal(), files, "samples")
            chat: Chat = footnote.chat(console, None)
            for line in SAID:
                console.print()
                console.print(Text(f"› {line}", style="bold"))
                await chat.say(line)
    PICTURE.write_text(console.export_svg(title="footnote chat"), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(draw())
