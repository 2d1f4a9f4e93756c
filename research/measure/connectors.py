"""What a first and a second sync of many documents cost, for each connector: seconds, memory, and calls to the source.

    python -m research.measure.connectors --documents 10000

Each runs in a process of its own against the fake server of the contract suite, with pages as large as the vendor's.
The time holds the fake server's own work (it checks each answer against the vendor's description) and no embedding:
passages are encoded by hashing. ``calls`` are all requests. ``memory`` is what the process grew by, with the fake.
"""

import argparse
import asyncio
import resource
import subprocess
import sys
import time
from typing import Any

from core.model.document_content import Block, ParsedDocument
from core.model.principals import mail_principal
from tests.connectors.sync_room import SyncRoom
from tests.connectors.test_connectors import ConfluenceSource, DataCenterSource, GitHubSource, NotionSource
from tests.connectors.test_gdrive import DriveSource

SOURCES: dict[str, Any] = {
    "confluence": ConfluenceSource,
    "data-center": DataCenterSource,
    "github": GitHubSource,
    "notion": NotionSource,
    "gdrive": DriveSource,
}
HUNDRED = 100  # documents of one page of a listing
ADA = mail_principal("ada@example.org")


class AnyParser:
    """Takes the bytes of any format for text: what a parser costs is measured elsewhere."""

    async def parse(self, name: str, data: bytes, progress: object = None) -> ParsedDocument:
        return ParsedDocument("", (Block(data.decode(errors="replace")[:200], first_line=1),), "text/plain")


async def measure(name: str, documents: int) -> str:
    """Return one row of the table: a first sync, and one without changes."""
    async with SOURCES[name]() as source:
        source.page_size = HUNDRED
        fill(source, documents)
        readers = () if source.plugin.states_readers else (ADA,)
        room = SyncRoom(source.plugin, source.settings, AnyParser(), source.port, readers)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        row = []
        for _ in range(2):
            began, calls = time.monotonic(), len(source.calls)
            await room.sync()
            row += [f"{time.monotonic() - began:,.0f} s", f"{len(source.calls) - calls:,}"]
        seen = len(await room.titles(ADA))
        assert seen == documents, f"{seen} of {documents} can be read"
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        return " | ".join([name, *row, f"{grown:,.0f} MB"])


def fill(source: Any, documents: int) -> None:
    """Add documents of one short paragraph."""
    for number in range(1, documents + 1):
        source.add(str(number), f"Page {number}", f"Alpha number {number} is the word of this page.")
        source.minute = 0  # the clocks of the fakes have one day


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--only", choices=tuple(SOURCES))
    given = parser.parse_args()
    if given.only:
        sys.stdout.write(f"| {asyncio.run(measure(given.only, given.documents))} |\n")
        return
    sys.stdout.write("| connector | first | calls | second | calls | memory |\n|---|---|---|---|---|---|\n")
    sys.stdout.flush()
    for name in SOURCES:
        words = [sys.executable, "-m", "research.measure.connectors", "--documents", str(given.documents)]
        subprocess.run([*words, "--only", name], check=True)


if __name__ == "__main__":
    main()
