"""What doctor says of servers and of those that serve: pure judgements on what they tell."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from adapters.milvus.collection_status import CollectionStatus
from core.model.health import Check, Health
from core.ports.inbox import ServingProcess

if TYPE_CHECKING:
    from adapters.redis.client import MemoryUse

NEARLY_FULL = 0.8  # of Redis's maxmemory


def milvus_server_check(status: CollectionStatus) -> Check:
    """Whether a Milvus server can be searched, and how what is in it is indexed and spread."""
    built = ", ".join(
        f"{one.field} {one.kind}" + ("" if one.is_built else f" ({one.pending_rows:,} rows wait to be indexed)")
        for one in status.indexes
    )
    key = f"partition key {status.partition_key}" if status.partition_key else "no partition key"
    detail = f"{status.version}; {built or 'no index'}; {status.load_state}, {status.replicas} replica(s); {key}"
    if status.missing_indexes:
        remedy = "Restart a worker: it creates what is missing."
        return Check(
            "Milvus server", Health.FAILED, f"{detail}; none of {', '.join(sorted(status.missing_indexes))}", remedy
        )
    if not status.is_loaded:
        remedy = "A worker loads it as it starts; look at the server's query nodes if it does not come."
        return Check("Milvus server", Health.FAILED, detail, remedy)
    if not all(one.is_built for one in status.indexes):
        remedy = "Rows that wait are searched one by one, slowly; it passes while the server's index nodes work."
        return Check("Milvus server", Health.NOTE, detail, remedy)
    return Check("Milvus server", Health.OK, detail)


def redis_memory_check(memory: "MemoryUse") -> Check | None:
    """What is wrong with how Redis is limited; None where nothing is."""
    if memory.evicts:
        remedy = "Set its maxmemory-policy to noeviction: what it evicts is documents, settings and answers."
        detail = f"it forgets what it was told when it is full (maxmemory-policy {memory.policy})"
        return Check("Redis memory", Health.FAILED, detail, remedy)
    if memory.share > NEARLY_FULL:
        remedy = "Raise its maxmemory, or make room with footnote forget; when it is full it takes no writes."
        detail = f"{memory.share:.0%} of {memory.limit / 2**20:,.0f} MiB (maxmemory) are used"
        return Check("Redis memory", Health.NOTE, detail, remedy)
    return None


def processes_check(serving: Sequence[ServingProcess]) -> Check:
    """Who answers now, by role."""
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
