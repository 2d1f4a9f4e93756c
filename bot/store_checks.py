"""Checks of Redis, the index, files and processes, for ``footnote doctor`` and the start of a server."""

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.milvus.collection import CollectionStatus
from bot.plugins import installed_platforms
from bot.settings import Settings
from core.ingestion.consistency import BRING_BACK, name_losses
from core.model.channel_settings import ChosenSettings
from core.model.errors import FootnoteError
from core.model.health import Check, Health
from core.ports.inbox import ServingProcess
from core.service.kb.text_spans import count
from core.service.lost_changes import CONFIRM

if TYPE_CHECKING:
    from adapters.redis.client import MemoryUse
    from core.ingestion.consistency import IndexReport
    from core.ports.message_state import MessageStateStore

Chosen = asyncio.Future[Mapping[str, ChosenSettings]]  # settings chosen in channels, by place
PATIENTLY = "footnote doctor --seconds 60."


async def store_checks(settings: Settings, opened_until: float, chosen: Chosen) -> AsyncGenerator[Check]:
    """Yield the checks of the stores. ``chosen`` gets the channels' settings, or nothing if they cannot be read."""
    try:
        async with aclosing(_opened_stores(settings, opened_until, chosen)) as checks:
            async for check in checks:
                yield check
    finally:
        if not chosen.done():
            chosen.set_result({})


async def _opened_stores(settings: Settings, opened_until: float, chosen: Chosen) -> AsyncGenerator[Check]:
    from adapters.encoders.model_files import find_model
    from adapters.milvus.embedded_server import is_damaged
    from adapters.redis.client import durability, memory_use, primaries, probe
    from bot.container import open_footnote

    local = not settings.embedding_base_url
    unknown = (
        local and find_model(settings.embedding_model or "").dimension() is None
    )  # known only once the model is loaded
    async with open_footnote(settings, models=unknown, any_index=True, wait=False) as footnote:
        await probe(footnote.redis)
        lasting, servers = await durability(footnote.redis), await primaries(footnote.redis)
        where = "configured" if settings.redis_url else "embedded Valkey"
        where += f", a Cluster of {servers} primaries" if servers > 1 else ""
        if lasting.is_durable:
            yield Check("Redis", Health.OK, f"{where}, append-only file on ({lasting.fsync or 'fsync unknown'})")
        else:
            remedy = "Switch on persistence: appendonly yes, appendfsync everysec."
            yield Check("Redis", Health.FAILED, f"{where}, but memory is not durable: no append-only file", remedy)
        if (limited := redis_memory_check(await memory_use(footnote.redis))) is not None:
            yield limited
        settings_store = footnote.settings_store
        chosen.set_result({place: await settings_store.read(place) for place in await settings_store.places()})
        for check in await _kept_by_platforms(settings, footnote.message_states):
            yield check
        yield await _blob_store(settings)
        usage = await footnote.trace_store.counts()
        yield _overkill(usage.searched, usage.searched_once)
        if not await _is_done(footnote.opened, opened_until - asyncio.get_running_loop().time()):
            yield _still_opening(footnote.opening.readiness_problems())
            return
        damaged = await asyncio.to_thread(is_damaged, Path(settings.milvus_uri or settings.home / "milvus.db"))
        report = await footnote.knowledge_stack.deps.consistency.report()
        for notice in footnote.take_notices():
            yield Check("losses", Health.NOTE, notice)
        yield _index(settings.milvus_uri or "embedded", damaged, report)
        if any(one.original_lost for one in report.incomplete):
            yield _originals(report)
        if closed := [base.name for base in await footnote.catalog.bases() if base.closed]:
            detail = f"Redis had lost something, so only admins can read {', '.join(closed)}"
            yield Check("readers", Health.FAILED, detail, f"Confirm who may read each: {CONFIRM}.")
        if (status := await footnote.index.status()) is not None:
            yield milvus_server_check(status)
        yield processes_check(await footnote.processes.live_processes())


async def _is_done(work: "asyncio.Task[None]", seconds: float) -> bool:
    """Return whether the work ends in time. Raises its errors."""
    done, _ = await asyncio.wait({work}, timeout=max(0.0, seconds))
    if done:
        work.result()
    return bool(done)


def _still_opening(reasons: Mapping[str, str]) -> Check:
    """Return the check for stores still opening: a failure if a server does not answer, a note if it is only slow."""
    if reasons:
        return Check("stores", Health.FAILED, " ".join(reasons.values()))
    return Check("Milvus", Health.NOTE, "it is still opening", f"It may just be slow: {PATIENTLY}")


async def _blob_store(settings: Settings) -> Check:
    """Check whether the blob store can be written, read and cleared, unless it is in the data directory."""
    from bot.stores import blob_store

    if not settings.blob_store_url:
        return Check("files", Health.OK, "kept in the data directory")
    store, name = blob_store(settings, "kept"), f"probe-{uuid.uuid4().hex}"
    try:
        await store.keep(name, b"probe")
        whole = await store.read(name) == b"probe"
        await store.forget(name)
    except FootnoteError as error:
        return Check("files", Health.FAILED, str(error))
    if not whole:
        return Check("files", Health.FAILED, "what is written cannot be read back", "Check BLOB_STORE_URL.")
    return Check("files", Health.OK, "BLOB_STORE_URL takes them and gives them back")


def _index(where: str, damaged: bool, report: "IndexReport") -> Check:
    """Check whether the index has everything in the catalog."""
    from adapters.milvus.embedded_server import REFILL

    detail = f"{where}, {count(report.rows, 'passage')}"
    if damaged:
        return Check("Milvus", Health.FAILED, f"{detail}; the file is damaged", REFILL)
    if lacking := [one for one in report.incomplete if one.lacks_passages]:
        whole = "" if report.same else ", and it is not the index that they are in"
        detail += f"; {len(lacking)} of {report.documents} documents lack passages{whole}: {name_losses(lacking)}"
        return Check("Milvus", Health.FAILED, detail, "footnote kb repair fills it, or names what to add again.")
    if report.surplus and not report.documents:
        health = Health.NOTE if report.same else Health.FAILED  # leftovers, or a Redis that restarted empty
        return Check("Milvus", health, f"{detail}, of which the catalog knows none", BRING_BACK)
    if not report.same:
        remedy = "footnote kb repair makes it theirs; if it is the wrong one, set MILVUS_URI back."
        return Check("Milvus", Health.FAILED, f"{detail}; not the index that the catalog's documents are in", remedy)
    if report.unknown:
        remedy = (
            "Footnote removes leftovers of an interrupted ingest within a day. If documents are missing, run"
            " footnote ingest again."
        )
        documents = count(report.unknown, "document")
        return Check("Milvus", Health.NOTE, f"{detail}; some of {documents} that the catalog does not know", remedy)
    return Check("Milvus", Health.OK, f"{detail} of {count(report.documents, 'document')}, all there")


def _originals(report: "IndexReport") -> Check:
    """Return the failed check of lost or damaged originals."""
    lost = [one for one in report.incomplete if one.original_lost]
    detail = f"the originals of {len(lost)} of {report.documents} documents are lost or damaged: {name_losses(lost)}"
    return Check("files", Health.FAILED, detail, "footnote kb repair reads links again, or names what to add.")


def _overkill(searched: int, one: int) -> Check:
    """Check whether nearly every question needs only one search, so that the quick profile would do."""
    if searched < 20:
        return Check("searches", Health.OK, f"{searched} answers so far needed a search")
    share = one / searched
    if share > 0.9:
        remedy = "To save cost, set PROFILE=quick, or the profile quick in these channels."
        return Check("searches", Health.NOTE, f"{share:.0%} of {searched} answers needed one search", remedy)
    return Check("searches", Health.OK, f"{share:.0%} of {searched} answers needed only one search")


async def _kept_by_platforms(settings: Settings, message_states: "MessageStateStore") -> list[Check]:
    configured = [plugin for plugin in installed_platforms() if plugin.is_configured(settings.of(plugin))]
    return [check for plugin in configured for check in await plugin.store_checks(message_states)]


NEARLY_FULL = 0.8  # of Redis's maxmemory


def milvus_server_check(status: CollectionStatus) -> Check:
    """Check whether a Milvus server can be searched, and report its indexes and replicas."""
    built = ", ".join(
        f"{one.field} {one.kind}" + ("" if one.is_built else f" ({one.pending_rows:,} rows wait to be indexed)")
        for one in status.indexes
    )
    key = f"partition key {status.partition_key}" if status.partition_key else "no partition key"
    detail = f"{status.version}; {built or 'no index'}; {status.load_state}, {status.replicas} replica(s); {key}"
    if status.missing_indexes:
        remedy = "Restart a worker to create what is missing."
        return Check(
            "Milvus server", Health.FAILED, f"{detail}; none of {', '.join(sorted(status.missing_indexes))}", remedy
        )
    if not status.is_loaded:
        remedy = "A worker loads it at startup. If that fails, check the server's query nodes."
        return Check("Milvus server", Health.FAILED, detail, remedy)
    if not all(one.is_built for one in status.indexes):
        remedy = "Rows that are not indexed yet are searched slowly. The server's index nodes catch up by themselves."
        return Check("Milvus server", Health.NOTE, detail, remedy)
    return Check("Milvus server", Health.OK, detail)


def redis_memory_check(memory: "MemoryUse") -> Check | None:
    """Return a problem with Redis's memory limits; None if there is none."""
    if memory.evicts:
        remedy = "Set maxmemory-policy to noeviction. Otherwise Redis deletes documents, settings and answers."
        detail = f"it forgets what it was told when it is full (maxmemory-policy {memory.policy})"
        return Check("Redis memory", Health.FAILED, detail, remedy)
    if memory.share > NEARLY_FULL:
        remedy = "Raise maxmemory, or delete data with footnote forget. A full Redis accepts no writes."
        detail = f"{memory.share:.0%} of {memory.limit / 2**20:,.0f} MiB (maxmemory) are used"
        return Check("Redis memory", Health.NOTE, detail, remedy)
    return None


def processes_check(serving: Sequence[ServingProcess]) -> Check:
    """Check which processes serve now, by role."""
    roles = Counter(one.role for one in serving)
    if not roles:
        return Check("processes", Health.OK, "none serves now")
    does = {"all": "answer and listen", "platform": "listen", "worker": "answer"}
    said = ", ".join(f"{count} that {does.get(role, role)}" for role, count in sorted(roles.items()))
    if roles["platform"] and not roles["worker"] and not roles["all"]:
        return Check("processes", Health.FAILED, f"{said}: nobody answers", "footnote serve --role worker")
    if roles["worker"] and not roles["platform"] and not roles["all"]:
        return Check("processes", Health.FAILED, f"{said}: nobody listens", "footnote serve --role platform")
    return Check("processes", Health.OK, said)
