"""Jobs on the embedded stores: a process is killed in the middle of one, and another goes on."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.terminal.operator import operator
from bot.container import Footnote, open_footnote
from core.ingestion.originals import Material
from core.model.conversation import ThreadKey
from core.model.jobs import ItemState, Job, JobState
from core.ports.index import Scope
from core.service.kb.commands import KbCommand, KbVerb
from tests.core.service.kb.knowledge_room import asked_in, job_in, words
from tests.live.conftest import settings_for
from tests.live.job_process import DOCUMENTS, documents, worker

pytestmark = [pytest.mark.live, pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]
ROOT = Path(__file__).parents[2]


async def _killed_at(home: Path, base: str, over: int, stage: str) -> str:
    """Start a process and kill it the moment that so many items are over and it does this; the job's id."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.live.job_process", str(home), base, stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(90):
            async for line in process.stdout:
                job_id, done, now = line.decode().split()
                if int(done) >= over and now == stage:
                    return job_id
    finally:
        process.kill()  # SIGKILL: it has no time to say goodbye
        await process.wait()
    raise AssertionError("it ended by itself")


async def _until_over(footnote: Footnote, job_id: str) -> Job:
    stop = asyncio.Event()
    working = asyncio.create_task(worker(footnote).run(stop))
    try:
        async with asyncio.timeout(90):
            while (job := await footnote.knowledge_stack.deps.jobs.read(job_id)) is None or not job.over:
                await asyncio.sleep(0.1)
    finally:
        stop.set()
        await working
    return job


async def _editions(footnote: Footnote, base: str) -> set[str]:
    """The editions that a search finds now."""
    found = await footnote.retriever.search("which parcel leaves at which gate", Scope(frozenset({base})), 50)
    return {"second" if "second edition" in hit.passage.text else "first" for hit in found.hits}


@pytest.mark.parametrize(("over", "stage"), [(1, "embedding"), (0, "retiring")])
async def test_a_job_killed_in_the_middle_is_gone_on_with_by_another_process(
    tmp_path: Path, over: int, stage: str
) -> None:
    async with open_footnote(settings_for(tmp_path)) as footnote:
        await footnote.ingestor.ensure_base("rules")
        async for file in documents("first"):
            await footnote.ingestor.ingest(Material(file.source, file.name, file.data), "rules")
    job_id = await _killed_at(tmp_path, "rules", over, stage)
    async with open_footnote(settings_for(tmp_path)) as footnote:
        half = await footnote.knowledge_stack.deps.jobs.read(job_id)
        assert half is not None
        assert half.state is JobState.RUNNING
        first, *_, last = half.items
        assert last.state is ItemState.WAITING
        editions = await _editions(footnote, "rules")
        assert "first" in editions
        assert ("second" in editions) == bool(over or stage == "retiring")
        scope = Scope(frozenset({"rules"}))
        found = await footnote.retriever.search("volume 3 rule 5 parcel gate", scope, 50)
        assert all("first edition" in hit.passage.text for hit in found.hits if hit.passage.source == last.source)
        ended = await _until_over(footnote, job_id)
        assert ended.state is JobState.DONE
        unchanged = int(stage == "retiring")  # it was visible already when the first worker died
        assert ended.counts[ItemState.UPDATED] == DOCUMENTS - unchanged
        assert ended.counts.get(ItemState.UNCHANGED, 0) == unchanged
        if over:  # what had come out before the kill was not done again
            assert first == ended.items[0]
        assert await _editions(footnote, "rules") == {"second"}
        kept = sum(document.passages for document in await footnote.catalog.documents(frozenset({"rules"})))
        assert await footnote.index.count(scope) == kept


async def test_a_document_taken_out_is_gone_from_both_legs_and_comes_back_as_it_was(footnote: Footnote) -> None:
    kb_service, caller = footnote.knowledge_stack.kb_service, operator()
    await footnote.ingestor.ensure_base("shelf")
    text = b"# Heron timetable\n\nThe heron ferry leaves at quarter past nine from the north pier."
    await footnote.ingestor.ingest(Material("heron.md", "heron.md", text), "shelf")
    scope = Scope(frozenset({"shelf"}))
    asked = await kb_service.handle(KbCommand(KbVerb.REMOVE, "shelf", "heron timetable"), caller)
    reply = await kb_service.handle(asked_in(asked), caller)
    assert "now finds: nothing" in words(reply)
    vector = (await footnote.encoder.encode_queries(["when does the heron ferry leave"]))[0]
    legs = await footnote.index.search("heron ferry", vector, scope, 10)
    assert legs.dense == legs.bm25 == ()
    assert "Restored “" in words(await kb_service.handle(KbCommand(KbVerb.RESTORE, "shelf", "heron"), caller))
    legs = await footnote.index.search("heron ferry", vector, scope, 10)
    assert legs.dense[0][0] == legs.bm25[0][0]
    assert legs.dense[0][0].text.endswith("north pier.")
    await kb_service.handle(KbCommand(KbVerb.REMOVE, "shelf", confirmed=True), caller)


async def test_another_process_indexes_a_file_dropped_on_the_page(
    footnote: Footnote,
) -> None:
    kept = footnote.knowledge_stack
    await footnote.ingestor.ensure_base("dropped")
    at_the_page = replace(operator(), thread=ThreadKey("web", "", "you", "kb"))
    job = job_in(await kept.kb_service.ingest_bytes(documents("first"), "dropped", at_the_page))
    stop = asyncio.Event()
    working = asyncio.create_task(kept.worker("elsewhere", {}).run(stop))
    try:
        async with asyncio.timeout(60):
            while (now := await kept.deps.jobs.read(job.id)) is None or not now.over:
                await asyncio.sleep(0.05)
    finally:
        stop.set()
        await working
    assert now.state is JobState.DONE
