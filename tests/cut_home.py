"""A data directory with a history, and ways to cut its stores short: what a disk that failed or filled up leaves."""

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.container import Footnote, open_footnote
from bot.settings import Settings
from core.model.answer import Outcome
from core.model.conversation import Audience, Person, ThreadKey, Turn
from core.model.knowledge import Document, KnowledgeBase, find_base, grant, revoke

BASE, BOARD = "samples", "board"
CHANNEL, ANOTHER = "slack:channel:T1/C1", "slack:channel:T1/C2"
ADA, BOB = Person("slack:T1/U1", "Ada"), Person("slack:T1/U2", "Bob")
ADAS, BOBS = ThreadKey("slack", "T1", "C1", "1"), ThreadKey("slack", "T1", "C1", "2")
REMOVED = "refund-policy-2024.md"  # as its source ends
AOF = Path("valkey/appendonlydir/appendonly.aof.1.incr.aof")
INDEX = Path("milvus.db")
EVERYBODY = Audience(frozenset({CHANNEL, ANOTHER}))


@dataclass(frozen=True)
class History:
    """A filled data directory, what is right to find in it, and how long its file was before each step."""

    home: Path
    documents: frozenset[tuple[str, str]]  # id, version
    removed: Document
    grants: dict[str, frozenset[str]]
    marks: dict[str, int]  # bytes of the append-only file before a step

    def copy(self, to: Path) -> Path:
        """A copy to be cut."""
        shutil.copytree(self.home, to)
        return to

    def at(self, cut: str) -> int:
        """Where a cut is made: ``50 %``, ``last record``, or before the step of this name."""
        size = (self.home / AOF).stat().st_size
        if cut.endswith("%"):
            return size * int(cut.removesuffix("%")) // 100
        return size - 3 if cut == "last record" else self.marks[cut]


def settings_of(home: Path) -> Settings:
    """Settings with the embedded stores in this directory, and nothing of the environment."""
    return Settings(_env_file=None, footnote_home=home, redis_url=None, milvus_uri=None, llm_model=None)  # type: ignore[call-arg]


async def make_history(home: Path) -> History:
    """Grant, say, remove, forget and revoke, in a home that has the samples in it."""
    marks: dict[str, int] = {}
    async with open_footnote(settings_of(home), models=False) as footnote:
        catalog = footnote.catalog

        def mark(step: str) -> None:
            marks[step] = (home / AOF).stat().st_size

        await catalog.save_base(KnowledgeBase(BOARD, "What the board decides."))
        mark("before the grant")
        await catalog.save_base(grant(await _base(footnote, BOARD), {CHANNEL, ANOTHER}))
        for person, thread in ((ADA, ADAS), (BOB, BOBS)):
            turn = Turn("what is my salary?", "42", Outcome.ANSWERED, person, datetime.now(UTC), f"t-{person.name}")
            await footnote.memory.remember(thread, turn, [])
        found = await catalog.documents(frozenset({BASE}))
        removed = next(one for one in found if one.source.endswith(REMOVED))
        mark("before the removal")
        await footnote.knowledge_stack.deps.trash.remove(removed, "admin")
        mark("before the forgetting")
        await footnote.memory.forget_person(ADA.id)
        await footnote.memory.forget_thread(BOBS)
        mark("before the revocation")
        await catalog.save_base(revoke(await _base(footnote, BOARD), {ANOTHER}))
        bases = await catalog.bases()
        documents = await catalog.documents(frozenset(base.name for base in bases))
    return History(
        home,
        frozenset((one.id, one.version) for one in documents),
        removed,
        {base.name: base.grants for base in bases},
        marks,
    )


async def _base(footnote: Footnote, name: str) -> KnowledgeBase:
    base = find_base(await footnote.catalog.bases(), name)
    assert base is not None
    return base


def truncate(path: Path, size: int) -> None:
    """Cut a file short."""
    with path.open("r+b") as file:
        file.truncate(size)
