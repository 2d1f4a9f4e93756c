# ruff: noqa: T201 - a script speaks to its caller
"""How soon a job is accepted and how soon what was removed is gone: ``python -m research.measure.removal``.

On the embedded stores and the packaged encoder, with a base of 2,000 passages in 20 documents. Accepted means that the
reply is there and the job is durable. Gone means that neither leg of a search has it any more, nor the thread that had
cited it.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path

from adapters.terminal.operator import operator
from bot.container import Footnote, open_footnote
from core.model.conversation import ThreadKey
from core.model.document_content import FileContent
from core.model.incoming_events import FileReference
from core.ports.index import Scope
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.results import KbResult
from core.service.question_service import Question
from tests.core.service.kb.knowledge_room import job_in, words
from tests.live.conftest import settings_for

BASE, DOCUMENTS, SECTIONS, TRIES = "measured", 20, 100, 30
SCOPE = Scope(frozenset({BASE}))
THREAD = ThreadKey("console", "", "measured", "1")


async def _documents() -> AsyncIterator[FileContent]:
    for number in range(DOCUMENTS):
        sections = "".join(
            f"## Rule {rule} of volume {number}\n\nUnder rule {rule} of volume {number} parcel {rule * 7919 % 1000} "
            f"leaves at gate {rule * 31 % 97} before the clock of harbour {number} strikes, whatever the weather may "
            "be, and whoever carries it signs for it in the ledger that hangs by the door of the office.\n\n"
            for rule in range(SECTIONS)
        )
        yield FileContent(f"volume{number}.md", f"volume{number}.md", f"# Volume {number}\n\n{sections}".encode())


async def _timed(work: Callable[[], Awaitable[KbResult]]) -> tuple[float, KbResult]:
    start = time.perf_counter()
    reply = await work()
    return (time.perf_counter() - start) * 1_000, reply


async def _found(footnote: Footnote, title: str) -> tuple[int, int, int]:
    """How many passages of this document dense search, BM25 and the thread's memory have."""
    vector = (await footnote.encoder.encode_queries([f"{title} parcel gate harbour"]))[0]
    legs = await footnote.index.search(f"{title} parcel gate harbour", vector, SCOPE, 2_000)
    record = await footnote.memory.recall(THREAD)
    cited = sum(item.passage.title == title for item in record.library)
    cited += sum(one.title == title for turn in record.turns for one in turn.citations)
    return (
        sum(passage.title == title for passage, _ in legs.dense),
        sum(passage.title == title for passage, _ in legs.bm25),
        cited,
    )


async def _acceptance(footnote: Footnote) -> None:
    kb_service, caller = footnote.knowledge_stack.kb_service, operator()
    links: list[float] = []
    files: list[float] = []
    for number in range(TRIES):
        given = tuple(FileReference(f"F{number}-{n}", f"{number}-{n}.md") for n in range(10))
        for command, times in (
            (KbCommand(KbVerb.INGEST, BASE, f"https://docs.example/{number}"), links),
            (KbCommand(KbVerb.INGEST, BASE, files=given), files),
        ):
            took, reply = await _timed(lambda command=command: kb_service.handle(command, caller))  # type: ignore[misc]
            times.append(took)
            await kb_service.handle(KbCommand(KbVerb.CANCEL, target=job_in(reply).id), caller)
            lease = await footnote.knowledge_stack.deps.inbox.take("measure", timedelta())
            assert lease is not None
            await footnote.knowledge_stack.deps.inbox.complete(lease)
    for name, times in (("a link", links), ("ten files", files)):
        print(f"accepted, {name:<10} median {statistics.median(times):7.1f} ms   worst of {TRIES} {max(times):7.1f} ms")


async def _removals(footnote: Footnote) -> None:
    kb_service, caller = footnote.knowledge_stack.kb_service, operator()
    question = Question(
        "Under rule 5 of volume 7, at which gate does parcel 595 leave?", THREAD, caller.person, caller.audience
    )
    async for _ in footnote.question_service.ask(question):
        pass
    print(f"before: (dense, BM25, memory) has {await _found(footnote, 'Volume 7')} passages of Volume 7")
    took, reply = await _timed(
        lambda: kb_service.handle(KbCommand(KbVerb.REMOVE, BASE, "volume7.md", confirmed=True), caller)
    )
    print(
        f"removed, one of {DOCUMENTS} documents: {took:.0f} ms to the reply; then {await _found(footnote, 'Volume 7')}"
    )
    print(f"  {words(reply)}")
    took, reply = await _timed(lambda: kb_service.handle(KbCommand(KbVerb.RESTORE, BASE, "volume7.md"), caller))
    print(f"restored: {took:.0f} ms")
    start = time.perf_counter()
    took, reply = await _timed(lambda: kb_service.handle(KbCommand(KbVerb.REMOVE, BASE, confirmed=True), caller))
    print(f"removed, the whole base: {took:.0f} ms to the reply, from which nothing is found")
    print(f"  {words(reply).splitlines()[0]}")
    stop = asyncio.Event()
    working = asyncio.create_task(footnote.knowledge_stack.worker("measure", {}).run(stop))
    while (job := await footnote.knowledge_stack.deps.jobs.read(job_in(reply).id)) is None or not job.over:
        await asyncio.sleep(0.05)
    left = await footnote.index.count(SCOPE)
    print(f"  its job is over after {time.perf_counter() - start:.1f} s; {left} passages left in the index")
    stop.set()
    await working


async def main() -> None:
    """Fill a base, measure, throw everything away."""
    with tempfile.TemporaryDirectory(prefix="measure-") as home:
        async with open_footnote(settings_for(Path(home))) as footnote:
            await footnote.ingestor.ensure_base(BASE)
            reply = await footnote.knowledge_stack.kb_service.ingest_bytes(_documents(), BASE, operator())
            stop = asyncio.Event()
            working = asyncio.create_task(footnote.knowledge_stack.worker("fill", {}).run(stop))
            while (job := await footnote.knowledge_stack.deps.jobs.read(job_in(reply).id)) is None or not job.over:
                await asyncio.sleep(0.2)
            stop.set()
            await working
            print(f"{await footnote.index.count(SCOPE)} passages")
            await _acceptance(footnote)
            await _removals(footnote)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
