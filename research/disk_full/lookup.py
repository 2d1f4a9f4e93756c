"""Print the files of ``research.disk_full`` that a search finds by the code that each alone holds."""

import asyncio
import sys

from bot.container import open_footnote
from bot.settings import load_settings
from core.ports.index import Scope


async def main(files: int) -> None:
    """Search for a code of each file."""
    async with open_footnote(load_settings(), any_index=True) as footnote:
        for number in range(files):
            code = f"ZQ{number:03}X7"
            found = await footnote.retriever.search(code, Scope(frozenset({"default"})), 3)
            if any(code in hit.passage.text for hit in found.hits):
                sys.stdout.write(f"file{number:02}.md\n")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
