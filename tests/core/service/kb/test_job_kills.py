"""A process that is killed before each single call of a job.

A dead process does nothing more, so what follows a call cannot be told from what precedes the next one. Whoever takes
over finds the stores as they were left: until it is done searches see the old version or the new one, whole; after
that the new one, once.
"""

import copy
import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pytest

from core.model.incoming_events import FileReference
from core.model.jobs import ItemState, JobState
from core.ports.platform import PlatformCapabilities
from core.service.kb.commands import KbVerb
from core.service.kb.results import is_success
from core.service.kb.summaries import JobSummary
from tests.core.service.kb.knowledge_room import MEMBER, Room, conversation, job_in, words

ROOT = "https://docs.example/guide/"
LEASE = 31  # seconds after which another may take over
STORES = (
    "inbox",
    "jobs",
    "trash_store",
    "schedule_store",
    "site_store",
    "proposal_store",
    "blobs",
    "site",
    "stores",
    "parser",
    "encoder",
    "index",
    "catalog",
)


class Killed(BaseException):
    """SIGKILL: nothing may catch it."""


@dataclass
class Fuse:
    """Lets a number of calls pass, then every call raises Killed."""

    calls: int
    made: list[str] = field(default_factory=list)

    def burn(self, name: str) -> None:
        self.made.append(name)
        if len(self.made) > self.calls:
            raise Killed

    @property
    def last(self) -> str:
        """Return the killed call. A job checks for cancellation by time, so there may be none."""
        return self.made[self.calls] if self.calls < len(self.made) else "none: it came to its end"


class Fused:
    """Something behind the fuse."""

    def __init__(self, fuse: Fuse, name: str, thing: object) -> None:
        self._fuse, self._name, self._thing = fuse, name, thing

    def __getattr__(self, attribute: str) -> object:
        value = getattr(self._thing, attribute)
        if not inspect.iscoroutinefunction(value):
            return value

        async def called(*given: object, **named: object) -> object:
            self._fuse.burn(f"{self._name}.{attribute}")
            return await value(*given, **named)

        return called


def process(room: Room, fuse: Fuse) -> Room:
    """Return a process over the same stores, which will be killed."""
    dying = copy.copy(room)
    for name in STORES:
        setattr(dying, name, Fused(fuse, name, getattr(room, name)))
    dying.platform = copy.copy(room.platform)
    download = Fused(fuse, "platform", room.platform)
    dying.platform.capabilities = lambda: PlatformCapabilities(download.download, room.platform, room.platform)  # type: ignore[method-assign,arg-type]
    dying.assemble()
    return dying


# --- what is asked for, and how the world then looks ----------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """A job: the state before it, its command, and the search results before and after."""

    prepare: Callable[[Room], Awaitable[None]]
    ask: Callable[[Room], Awaitable[JobSummary]]
    old: frozenset[str]
    new: frozenset[str]
    outcomes: frozenset[ItemState]
    stages: frozenset[str]  # calls that must be among those it was killed before


def _files(room: Room, edition: str) -> tuple[FileReference, ...]:
    room.platform.files = {
        f"{name}.md": f"# {name}\n\nThe {edition} words of {name}.\n\n## More\n\nThe {edition} end of {name}.".encode()
        for name in ("alpha", "beta")
    }
    return tuple(FileReference(name, name) for name in room.platform.files)


async def _two_files(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    await room.says(KbVerb.INGEST, base="handbook", files=_files(room, "old"))
    await room.works()


async def _new_files(room: Room) -> JobSummary:
    return job_in(await room.says(KbVerb.INGEST, base="handbook", files=_files(room, "new")))


async def _a_link(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    room.site.pages["https://docs.example/alpha"] = "# alpha\n\nThe old words of alpha."
    await room.says(KbVerb.INGEST, base="handbook", target="https://docs.example/alpha")
    await room.works()
    room.site.pages["https://docs.example/alpha"] = "# alpha\n\nThe new words of alpha."


async def _refresh(room: Room) -> JobSummary:
    return job_in(await room.says(KbVerb.REFRESH, base="handbook"))


def _pages(room: Room, edition: str, *names: str) -> None:
    links = "".join(f'<a href="{name}">{name}</a>' for name in names)
    room.site.pages = {ROOT: f"<html>{links}</html>"} | {
        f"{ROOT}{name}": f"# {name}\n\nThe {edition} words of {name}." for name in names
    }


async def _a_site(room: Room) -> None:
    """Four pages: one was missed once already, another is about to be."""
    await room.says(KbVerb.CREATE, base="handbook")
    for names in (("alpha", "beta", "gamma", "delta"), ("alpha", "beta", "delta")):
        _pages(room, "old", *names)
        await room.says(KbVerb.INGEST, base="handbook", target=ROOT, limit=10)
        await room.works()
    _pages(room, "new", "alpha", "beta")


async def _sync(room: Room) -> JobSummary:
    return job_in(await room.says(KbVerb.REFRESH, base="handbook", target=ROOT))


async def _remove(room: Room) -> JobSummary:
    return job_in(await room.says(KbVerb.REMOVE, base="handbook", confirmed=True))


async def _two_files_removed(room: Room) -> None:
    await _two_files(room)
    await _remove(room)
    await room.works()


async def _restore(room: Room) -> JobSummary:
    return job_in(await room.says(KbVerb.RESTORE, base="handbook"))


INGESTED = frozenset({"inbox.take", "parser.parse", "encoder.encode_passages", "index.add", "catalog.publish",
                      "index.remove", "jobs.record", "inbox.complete"})  # fmt: skip
CAME = frozenset({ItemState.ADDED, ItemState.UPDATED, ItemState.UNCHANGED})
WORK = {
    "new files": Work(_two_files, _new_files, frozenset({"old alpha", "old beta"}),
                      frozenset({"new alpha", "new beta"}), CAME, INGESTED | {"platform.download"}),
    "a refresh": Work(_a_link, _refresh, frozenset({"old alpha"}), frozenset({"new alpha"}), CAME,
                      INGESTED | {"site.fetch"}),
    "a site": Work(_a_site, _sync, frozenset({"old alpha", "old beta", "old gamma", "old delta"}),
                   frozenset({"new alpha", "new beta", "old delta"}), CAME | {ItemState.REMOVED},
                   INGESTED | {"site.fetch", "blobs.keep", "blobs.forget", "catalog.withdraw",
                               "site_store.save_site"}),
    "a base removed": Work(_two_files, _remove, frozenset(), frozenset(), frozenset({ItemState.REMOVED}),
                           frozenset({"inbox.take", "blobs.keep", "index.remove", "jobs.record"})),
    "a base restored": Work(_two_files_removed, _restore, frozenset(), frozenset({"old alpha", "old beta"}),
                            frozenset({ItemState.RESTORED}),
                            frozenset({"blobs.read", "index.add", "catalog.publish", "blobs.forget"})),
}  # fmt: skip


async def editions_found(room: Room) -> frozenset[str]:
    """The editions of documents that a search finds, all passages of each being of one edition."""
    found = await room.retriever.search("words end edition of alpha beta gamma delta", room.scope("handbook"), 50)
    editions: dict[str, set[str]] = {}
    for hit in found.hits:
        if hit.passage.text.startswith("The "):
            editions.setdefault(hit.passage.title, set()).add(hit.passage.text.split()[1])
    assert all(len(one) == 1 for one in editions.values()), f"two editions at once: {editions}"
    return frozenset(f"{edition} {name}" for name, (edition,) in editions.items())


async def _killed(work: Work, calls: int) -> tuple[Room, JobSummary, Fuse]:
    """Return an installation in which a process was killed in the middle of this job."""
    room = Room()
    await work.prepare(room)
    job = await work.ask(room)
    fuse = Fuse(calls)
    try:
        await process(room, fuse).works()
    except Killed:
        pass
    else:
        fuse.calls = len(fuse.made)
    return room, job, fuse


@pytest.mark.parametrize("kind", WORK)
async def test_killed_before_any_call_the_job_comes_to_the_same_end(kind: str) -> None:
    work, stages, calls = WORK[kind], set[str](), 0
    while True:
        room, job, fuse = await _killed(work, calls)
        if fuse.calls == len(fuse.made):
            break
        where = f"killed before call {calls}, {fuse.last}"
        stages.add(fuse.last)
        assert await editions_found(room) <= work.old | work.new, where
        half = await room.job(job.id)
        settled = [item for item in half.items if item.over]
        room.parser.read.clear()
        room.clock.advance(LEASE)
        await room.works()
        ended = await room.job(job.id)
        assert ended.state is JobState.DONE, where
        assert {item.state for item in ended.items} <= work.outcomes, where
        assert room.platform.cards[-1].state is JobState.DONE, f"its card does not say so, {where}"
        assert await editions_found(room) == work.new, where
        assert all(item in ended.items for item in settled), where
        assert len(room.parser.read) <= len(ended.items) - len(settled), where
        kept = sum(one.passages for one in await room.catalog.documents(frozenset({"handbook"})))
        assert await room.index.count() == kept, where
        assert not [name for name in room.blobs.kept if name.startswith("spooled")], where
        assert await room.inbox.count_waiting() == 0, where
        for site in await room.site_store.sites("handbook"):
            missed = {ROOT: 0, f"{ROOT}alpha": 0, f"{ROOT}beta": 0, f"{ROOT}delta": 1}
            assert site.pages == missed, f"a sync counts once, {where}"
        calls += 1
    assert work.stages <= stages


@pytest.mark.parametrize("kind", ["new files", "a refresh", "a site"])
async def test_until_it_is_published_the_old_version_of_every_document_is_there(kind: str) -> None:
    work, calls = WORK[kind], 0
    while True:
        room, _, fuse = await _killed(work, calls)
        if fuse.calls == len(fuse.made):
            break
        published = fuse.made[: fuse.calls].count("catalog.publish")
        seen = await editions_found(room)
        assert len([name for name in seen if name.startswith("new")]) <= published
        names = {name.split()[1] for name in work.new}
        assert {name.split()[1] for name in seen} >= names, f"one is missing before {fuse.last}"
        calls += 1
    assert calls > 10


@pytest.mark.parametrize("verb", ["new files", "a site"])
async def test_killed_while_it_is_accepted_a_job_is_done_or_was_never_there(verb: str) -> None:
    work, fuse = WORK[verb], Fuse(0)
    for calls in range(100):
        room, fuse = Room(), Fuse(calls)
        await work.prepare(room)
        try:
            await work.ask(process(room, fuse))
        except Killed:
            room.clock.advance(61)
            await room.scheduler.tick()
            await room.works()
            job = (await room.jobs.recent(1))[0]
            assert job.state is JobState.DONE
            assert await editions_found(room) in (work.old, work.new)
        else:
            break
    assert fuse.made[-1] == "inbox.put"


async def test_what_a_dead_process_wrote_of_a_job_that_is_then_cancelled_is_taken_away() -> None:
    work = WORK["new files"]
    _, _, whole = await _killed(work, 10_000)
    for calls in (at for at, name in enumerate(whole.made) if name == "catalog.publish"):
        room, job, _ = await _killed(work, calls)
        before = await room.index.count()
        await room.says(KbVerb.CANCEL, target=job.id)
        room.clock.advance(LEASE)
        await room.works()
        assert (await room.job(job.id)).state is JobState.CANCELLED
        kept = sum(one.passages for one in await room.catalog.documents(frozenset({"handbook"})))
        assert await room.index.count() == kept < before


async def test_a_removal_that_is_killed_half_way_can_be_restored_or_said_again() -> None:
    fuse = Fuse(0)
    for calls in range(100):
        room, fuse = Room(), Fuse(calls)
        await _two_files(room)
        try:
            await process(room, fuse).says(KbVerb.REMOVE, target="alpha", confirmed=True)
        except Killed:
            if await editions_found(room) == {"old beta"}:
                await room.says(KbVerb.RESTORE, target="alpha")
            assert await editions_found(room) == {"old alpha", "old beta"}, fuse.last
            await room.says(KbVerb.REMOVE, target="alpha", confirmed=True)
            assert await editions_found(room) == {"old beta"}
        else:
            break
    assert "catalog.withdraw" in fuse.made


async def _proposed(room: Room) -> str:
    await room.says(KbVerb.CREATE, base="handbook")
    await room.kb_service.proposals.propose(conversation("The new words of alpha.", title="alpha"), room.caller(MEMBER))
    return (await room.proposal_store.proposals())[0].id


@pytest.mark.parametrize("again", [True, False], ids=["pressed again", "left alone"])
@pytest.mark.parametrize("verb", [KbVerb.APPROVE, KbVerb.REJECT])
async def test_killed_while_it_is_decided_a_proposal_waits_or_its_decision_holds(verb: KbVerb, *, again: bool) -> None:
    fuse, stages = Fuse(0), set[str]()
    for calls in range(100):
        room, fuse = Room(), Fuse(calls)
        proposal = await _proposed(room)
        try:
            await process(room, fuse).says(verb, base="handbook", target=proposal)
        except Killed:
            where = f"killed before call {calls}, {fuse.last}"
            stages.add(fuse.last)
            held = await room.proposal_store.decision(proposal)
            waits = [one.id for one in await room.proposal_store.proposals()] == [proposal]
            assert waits is (held is None), where
            if again:  # the same admin, on a screen that was not redrawn
                reply = await room.says(verb, base="handbook", target=proposal)
                assert is_success(reply) or "You " in words(reply), where
                held = await room.proposal_store.decision(proposal)
            room.clock.advance(61)
            await room.scheduler.tick()
            await room.works()
            jobs = await room.jobs.recent()
            approved = held is not None and held.approved
            assert [job.state for job in jobs] == ([JobState.DONE] if approved else []), where
            assert await _texts(room) == (1 if approved else 0), where
            assert await room.proposal_store.open_decisions() == [], where
            assert await room.inbox.count_waiting() == 0, where
            assert held is not None or not again, where
        else:
            break
    assert "proposal_store.decide" in stages
    assert {"jobs.keep", "inbox.put", "proposal_store.settle"} <= stages or verb is KbVerb.REJECT


async def _texts(room: Room) -> int:
    """How many documents there are."""
    return len(await room.catalog.documents(frozenset({"handbook"})))


async def test_a_process_that_is_slow_and_one_that_takes_over_put_one_job_in_line() -> None:
    for calls in range(100):
        room, fuse = Room(), Fuse(calls)
        proposal = await _proposed(room)
        with suppress(Killed):
            await process(room, fuse).says(KbVerb.APPROVE, base="handbook", target=proposal)
        held = await room.proposal_store.decision(proposal)
        if held is None:
            continue
        if held.job is None:
            break
        for _ in range(3):  # the scheduler, and the slow process that continues after all
            await room.scheduler.tick()
            await room.proposals.enqueue(held)
        await room.works()
        await room.proposals.enqueue(held)
        await room.works()
        assert [job.state for job in await room.jobs.recent()] == [JobState.DONE]
        assert await _texts(room) == 1
    assert calls > 3


async def test_a_job_that_never_got_in_line_is_done_however_many_follow() -> None:
    room = Room()
    waiting = await room.accepts(1)
    lost = replace(waiting, id="lost")
    await room.jobs.keep(lost)
    for n in range(60):
        room.clock.advance(1)
        await room.jobs.keep(replace(waiting, id=f"later{n}", state=JobState.DONE, created_at=room.clock.now()))
    room.clock.advance(60)
    await room.job_queue.requeue_orphaned()
    await room.works()
    assert (await room.job("lost")).state is JobState.DONE
