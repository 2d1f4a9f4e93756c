"""What doctor says of servers and of those that serve: pure judgements on what they tell."""

from collections import Counter
from collections.abc import Sequence

from adapters.milvus.collection_status import CollectionStatus
from core.model.health import Check, Health
from core.ports.process_registry import ServingProcess


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


def processes_check(serving: Sequence[ServingProcess]) -> Check:
    """Who answers now, by role."""
    roles = Counter(one.role for one in serving)
    if not roles:
        return Check("processes", Health.OK, "none serves now")
    said = ", ".join(f"{count} {role}" for role, count in sorted(roles.items()))
    if roles["platform"] and not roles["worker"] and not roles["all"]:
        return Check("processes", Health.FAILED, f"{said}: nobody answers", "footnote serve --role worker")
    if roles["worker"] and not roles["platform"] and not roles["all"]:
        return Check("processes", Health.FAILED, f"{said}: nobody listens", "footnote serve --role platform")
    return Check("processes", Health.OK, said)
