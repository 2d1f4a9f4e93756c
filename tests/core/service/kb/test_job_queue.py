"""The queue of jobs: what is accepted stands in line once, and who has too much there is asked to wait."""

from dataclasses import replace

import pytest

from core.model.jobs import JobState
from core.service.kb.commands import KbVerb
from core.service.kb.results import is_success
from tests.core.service.kb.knowledge_room import ADMIN, Room, words


@pytest.fixture
def room() -> Room:
    return Room()


async def test_a_job_that_was_kept_but_never_put_in_line_is_put_there_later(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    room.platform.files["a.md"] = b"# A\n\nWords."
    lost = room.job_queue.create_job(
        kind=(await room.accepts(1)).kind, base="handbook", caller=room.caller(ADMIN), subject="a"
    )
    await room.jobs.keep(lost)
    await room.works()
    assert (await room.job(lost.id)).state is JobState.QUEUED
    room.clock.advance(61)
    await room.scheduler.tick()
    await room.works()
    assert (await room.job(lost.id)).state is JobState.DONE


async def test_who_has_many_jobs_waiting_is_asked_to_wait(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    replies = [await room.says(KbVerb.INGEST, base="handbook", target=f"https://docs.example/{n}") for n in range(22)]
    assert [is_success(reply) for reply in replies] == [True] * 20 + [False] * 2
    assert "wait until" in words(replies[-1])


async def test_a_job_that_is_known_is_not_put_in_line_again(room: Room) -> None:
    job = await room.accepts(1)
    await room.works()
    again = await room.job_queue.accept(replace(job, turn=7))
    assert again.id == job.id
    assert await room.inbox.count_waiting() == 0
