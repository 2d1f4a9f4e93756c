"""Draws docs/conversation.svg: a real conversation about the sample documents, as the terminal shows it, moving.

python -m tests.build_picture

The lines appear as they would be written, and the window scrolls with them. Nothing is fetched and no script runs; who
asks for less motion sees the beginning, still.
"""

import asyncio
import io
import re
import tempfile
from dataclasses import dataclass
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

SAID = ("How long are driver positions kept?", "And the delivery photos?", "How do I configure the timeout?", "1")
PICTURE = Path(__file__).parents[1] / "docs" / "conversation.svg"
COLUMNS = 92
ROWS = 27  # of the window
LINE = 24.4  # units a line, as rich draws it
READING, WRITING = 2.6, 0.09  # seconds that an answer stands, and that one of its lines takes
BEFORE_ANSWER = 0.7  # seconds between a question and the first line after it

# rich's own template with a window that scrolls, without the fonts it would fetch
TEMPLATE = """<svg viewBox="0 0 {width} @HEIGHT@" xmlns="http://www.w3.org/2000/svg" role="img"
 aria-label="A conversation with Footnote in a terminal">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 20px }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif }}
{styles}
@MOTION@
</style>
<defs>
<clipPath id="window"><rect width="{terminal_width}" height="@WINDOW@"/></clipPath>
{lines}
</defs>
<rect fill="#292929" stroke="rgba(255,255,255,0.35)" x="1" y="1" width="@INNER@" height="@FRAME@" rx="8"/>
<text class="{unique_id}-title" fill="#c5c8c6" text-anchor="middle" x="50%" y="27">footnote chat</text>
<g transform="translate(26,22)"><circle cx="0" cy="0" r="7" fill="#ff5f57"/><circle cx="22" cy="0" r="7"
 fill="#febc2e"/><circle cx="44" cy="0" r="7" fill="#28c840"/></g>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#window)">
<g class="scrolled">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g></g>
</svg>
"""


@dataclass(frozen=True, slots=True)
class Harness:
    """When each line appears: seconds from the beginning, by line; and how long it all takes."""

    appears: tuple[float, ...]
    seconds: float

    def css(self) -> str:
        """The rules that show each line at its time and scroll the window so far that the newest is in it."""
        rules = [f".scrolled {{ animation: scroll {self.seconds:.1f}s steps(1) infinite }}", self._scroll()]
        for line, at in enumerate(self.appears):
            share = 100 * at / self.seconds
            rules.append(f"@keyframes l{line} {{ 0% {{ opacity: 0 }} {share:.2f}%, 100% {{ opacity: 1 }} }}")
            rules.append(f".l{line} {{ animation: l{line} {self.seconds:.1f}s steps(1) infinite }}")
        rules.append("@media (prefers-reduced-motion: reduce) { * { animation: none !important } }")
        return "\n".join(rules)

    def _scroll(self) -> str:
        steps = ["0% { transform: translateY(0) }"]
        for line, at in enumerate(self.appears):
            if (hidden := line + 1 - ROWS) > 0:
                steps.append(f"{100 * at / self.seconds:.2f}% {{ transform: translateY(-{hidden * LINE:.1f}px) }}")
        return f"@keyframes scroll {{ {' '.join(steps)} }}"


async def draw() -> None:
    """Hold the conversation on a fresh installation and save what it looks like."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=False)
    asked: list[int] = []
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(_env_file=None, footnote_home=Path(home), redis_url=None, milvus_uri=None, llm_model=None)  # type: ignore[call-arg]
        async with open_footnote(settings) as footnote:
            files = [
                (path, str(Path(name).relative_to("documents"))) for path, name in files_in([SAMPLES / "documents"])
            ]
            await ingest_files(Console(quiet=True), footnote.knowledge_stack.ingest_client(), files, "samples")
            chat: Chat = footnote.chat(console, None)
            for line in SAID:
                console.print()
                asked.append(_lines_of(console))
                console.print(Text(f"› {line}", style="bold"))
                await chat.say(line)
    PICTURE.write_text(_moving(console, harness(asked, _lines_of(console))), encoding="utf-8")


def harness(asked: list[int], lines: int) -> Harness:
    """When each of ``lines`` lines appears, with the questions at the lines ``asked``."""
    appears, at = [], 0.4
    for line in range(lines):
        if line in asked[1:]:
            at += READING
        appears.append(at)
        at += BEFORE_ANSWER if line in asked else WRITING
    return Harness(tuple(appears), at + 2 * READING)


def _lines_of(console: Console) -> int:
    return console.export_text(clear=False).count("\n")


def _moving(console: Console, moving: Harness) -> str:
    drawn = console.export_svg(title="", code_format=TEMPLATE, unique_id="chat")
    width = float(re.findall(r'viewBox="0 0 ([\d.]+)', drawn)[0])
    height = ROWS * LINE + 60
    for mark, value in {
        "@MOTION@": moving.css(),
        "@HEIGHT@": f"{height:.0f}",
        "@WINDOW@": f"{ROWS * LINE + 6:.1f}",
        "@INNER@": f"{width - 2:.0f}",
        "@FRAME@": f"{height - 2:.0f}",
    }.items():
        drawn = drawn.replace(mark, value)
    return re.sub(r'<text class="([\w-]+)"([^>]*line-(\d+)\))', r'<text class="\1 l\3"\2', drawn)


if __name__ == "__main__":
    asyncio.run(draw())
