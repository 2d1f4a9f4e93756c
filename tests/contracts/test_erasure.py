"""Forgetting a person reaches every store. This file lists them, with the personal data in each.

A new store that is not listed here fails the first test.
"""

import importlib
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from redis.asyncio import Redis

import adapters.redis
from adapters.redis.kb_stores import (
    RedisConnectionStore,
    RedisJobStore,
    RedisProposalStore,
    RedisScheduleStore,
    RedisTrashStore,
)
from adapters.redis.memory import RedisMemory
from adapters.redis.web_stores import RedisApiTokens, RedisWebSessions
from core.model.connections import Connection
from core.model.conversation import FORGOTTEN, Person, ThreadKey
from core.model.incoming_events import IN_THREAD, ReplyTarget
from core.model.jobs import ItemKind, Job, JobItem, JobKind, JobState
from core.model.knowledge import Document, KnowledgeBase
from core.ports.access import ApiToken, KeptToken, SignInMethod, TokenScope, WebSession
from core.ports.catalog import RemovedDocument
from core.ports.job_store import Decision, Every, Proposal, Schedule
from tests.contracts.test_memory import _everything

pytestmark = pytest.mark.live

ADA, BEN = Person("slack:T1/U1", "Ada Lovelace"), Person("slack:T1/U12", "Ben")
NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
THREAD = ThreadKey("slack", "T1", "D7", "1")
LINK = "https://example.org/a"


def _job(name: str, by: Person = ADA) -> Job:
    items = (JobItem(ItemKind.LINK, LINK, LINK), JobItem(ItemKind.LINK, f"{LINK}/b", f"{LINK}/b"))
    address = ReplyTarget(channel="D7", asker="U1")
    return Job(name, JobKind.INGEST, "handbook", by, NOW, thread=str(THREAD), reply_target=address, items=items)


async def _jobs(redis: Redis) -> None:
    jobs = RedisJobStore(redis)
    for job in (_job("waits"), _job("ended").at_end(NOW, JobState.DONE), _job("his", BEN)):
        await jobs.keep(job)
    await jobs.cancel("his", ADA.id)


async def _decisions(redis: Redis) -> None:
    proposals = RedisProposalStore(redis)
    for name in ("settled", "unsettled", "rejected"):
        await proposals.keep_proposal(Proposal(name, "", name, "Days", "Thirty.", BEN, NOW))
        job = None if name == "rejected" else _job(f"of-{name}")
        await proposals.decide(Decision(f"d-{name}", name, job is not None, ADA, NOW, "handbook", job))
    await proposals.settle("settled")


async def _schedules(redis: Redis) -> None:
    for person, link in ((ADA, LINK), (BEN, f"{LINK}/his")):
        await RedisScheduleStore(redis).save_schedule(Schedule("handbook", link, Every.DAILY, person, NOW))


async def _removals(redis: Redis) -> None:
    document = Document("d1", "handbook", "a.md", "A", "1", "text/markdown", 1)
    removed = RemovedDocument(document, KnowledgeBase("handbook", ""), NOW, ADA.id, "kept")
    await RedisTrashStore(redis).keep_removal(removed)


async def _tokens(redis: Redis) -> None:
    token = ApiToken("t1", "Intranet", frozenset({TokenScope.ASK}), None, NOW, ADA.id)
    await RedisApiTokens(redis).keep(KeptToken(token, "digest"))


async def _sessions(redis: Redis) -> None:
    sessions = RedisWebSessions(redis)
    await sessions.begin(WebSession(ADA, SignInMethod.PASSWORD))
    await sessions.issue_code(WebSession(ADA, SignInMethod.LINK))


async def _connections(redis: Redis) -> None:
    await RedisConnectionStore(redis).save_connection(Connection("wiki", "confluence", {}, {}, ADA, NOW))


WORK: dict[str, Callable[[Redis], Awaitable[None]]] = {
    "RedisJobStore": _jobs,
    "RedisProposalStore": _decisions,
    "RedisScheduleStore": _schedules,
    "RedisTrashStore": _removals,
    "RedisApiTokens": _tokens,
    "RedisWebSessions": _sessions,
    "RedisConnectionStore": _connections,
}
ELSEWHERE = {
    "RedisMemory": "test_memory",
    "RedisCheckpoints": "test_memory",
    "RedisFeedbackStore": "test_memory",
    "RedisInbox": "test_memory",
    "RedisMessageStateStore": "test_memory, every type of record",
    "RedisTraceStore": "test_memory",
    "RedisQuestionLog": "test_question_log",
    "RedisAnswerStream": "test_answer_stream",
}
OF_NOBODY = {
    "RedisAudit": "stays, and is said to stay",
    "RedisCatalog": "what became a document stays, and is said to stay",
    "RedisChannelSettingsStore": "what holds in a place; who changed it is in the audit",
    "RedisAnswerCounts": "a day's counts, of people under a hash of the day",
    "RedisDailyBudget": "a day's sums, by channel",
    "RedisNamedLeases": "processes",
    "RedisProcessRegistry": "processes",
    "RedisSiteStore": "links and ids of jobs",
    "RedisUsageBook": "sums by day, channel and base",
    "RedisVerifierRecords": "models",
}


def test_it_is_said_of_every_store_what_of_a_person_it_keeps() -> None:
    folder = Path(adapters.redis.__path__[0])
    stores = {
        name
        for path in folder.glob("*.py")
        for name, kind in inspect.getmembers(importlib.import_module(f"adapters.redis.{path.stem}"), inspect.isclass)
        if kind.__module__ == f"adapters.redis.{path.stem}" and _is_store(kind)
    }
    assert stores == {*WORK, *ELSEWHERE, *OF_NOBODY}


def _is_store(kind: type) -> bool:
    return any(base.__module__.startswith("core.ports") for base in kind.__mro__)


async def _everything_kept(redis: Redis) -> list[str]:
    return [await _everything(redis, key) async for key in redis.scan_iter()]


@pytest.mark.parametrize("write", WORK.values(), ids=WORK)
async def test_neither_name_nor_id_of_whom_was_forgotten_is_left(
    redis: Redis, write: Callable[[Redis], Awaitable[None]]
) -> None:
    await write(redis)
    there = await _everything_kept(redis)
    assert any(f'"{ADA.id}"' in text or f"'{ADA.id}'" in text for text in there)
    await RedisMemory(redis).forget_person(ADA.id)
    left = await _everything_kept(redis)
    assert not [text for text in left if ADA.name in text or f'"{ADA.id}"' in text or f"'{ADA.id}'" in text]
    assert sum(BEN.id in text for text in left) == sum(BEN.id in text for text in there)


async def test_work_that_somebody_began_goes_on_without_their_name(redis: Redis) -> None:
    for write in WORK.values():
        await write(redis)
    before = {job.id: job for job in await RedisJobStore(redis).recent()}
    await RedisMemory(redis).forget_person(ADA.id)
    jobs = {job.id: job for job in await RedisJobStore(redis).recent()}
    assert jobs["waits"] == replace(before["waits"], by=FORGOTTEN)  # its card still exists
    assert jobs["ended"] == replace(before["ended"], by=FORGOTTEN, thread="", reply_target=IN_THREAD)
    assert jobs["his"] == replace(before["his"], cancelled_by=FORGOTTEN.id)
    proposals = RedisProposalStore(redis)
    held = {name: await proposals.decision(name) for name in ("settled", "unsettled", "rejected")}
    assert [one.by for one in held.values() if one] == [FORGOTTEN] * 3
    assert [one.job.by for one in await proposals.open_decisions() if one.job] == [FORGOTTEN]
    assert [one.by for one in await RedisScheduleStore(redis).schedules()] == [FORGOTTEN, BEN]
    assert all([await redis.ttl(key) > 0 async for key in redis.scan_iter(match="*:decided:*")])


async def test_a_worker_that_has_the_job_in_hand_does_not_bring_the_name_back(redis: Redis) -> None:
    jobs = RedisJobStore(redis)
    await jobs.keep(in_hand := _job("waits"))
    await RedisMemory(redis).forget_person(ADA.id)
    await jobs.record(replace(in_hand, state=JobState.RUNNING), in_hand.items[:1])
    assert (running := await jobs.read("waits")) == replace(in_hand, by=FORGOTTEN, state=JobState.RUNNING)
    assert running is not None
    await jobs.record(in_hand.at_end(NOW, JobState.DONE))
    ended = await jobs.read("waits")
    assert ended is not None
    assert (ended.by, ended.thread, ended.reply_target) == (FORGOTTEN, "", IN_THREAD)


async def test_who_was_forgotten_is_signed_out_and_others_are_not(redis: Redis) -> None:
    sessions = RedisWebSessions(redis)
    hers, his = [await sessions.begin(WebSession(one, SignInMethod.PASSWORD)) for one in (ADA, BEN)]
    code = await sessions.issue_code(WebSession(ADA, SignInMethod.LINK))
    await RedisMemory(redis).forget_person(ADA.id)
    assert await sessions.read(hers) is None
    assert await sessions.take_code(code) is None
    assert await sessions.read(his)
