"""A process that opens Footnote as ``serve`` does, says how far it is, searches, and waits to be ended.

``bench.opening`` starts it and times it from outside. On standard input it gets one line of JSON: the questions, and
the bases to look in. It imports no more than ``serve`` does, because imports are part of a start.
"""

import asyncio
import json
import sys
from pathlib import Path

UP, WARMING, READY, ANSWERED = "up", "warming", "ready", "answered"


async def open_and_report(home: Path) -> None:
    """Open this home and say, one word a line: up, warming where the index is not ready yet, ready, answered."""
    from bot.container import open_footnote
    from bot.settings import load_settings
    from core.model.errors import Unavailable
    from core.ports.index import Scope

    apart = {"footnote_home": home, "redis_url": None, "milvus_uri": None, "milvus_token": None}
    async with open_footnote(load_settings().model_copy(update=apart), wait=False) as footnote:
        _say(UP)
        given = json.loads(await asyncio.to_thread(sys.stdin.readline))
        scope = Scope(frozenset(given["bases"]))
        try:
            await footnote.index.count(scope)
        except Unavailable:  # what whoever asks now is told
            _say(WARMING)
        await footnote.opened
        _say(READY)
        for question in given["questions"]:
            await footnote.retriever.search(question, scope)
        _say(ANSWERED)
        await asyncio.to_thread(sys.stdin.read)


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(open_and_report(Path(sys.argv[1])))
