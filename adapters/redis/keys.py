"""Names of all keys in Redis, and the index from a person to the data about them.

All keys of a thread share the hash tag ``{thread}``, so that one Lua call can use them together on a Cluster. No call
in this package uses keys with two tags.
"""

import json
import re
import time
from collections.abc import Sequence
from urllib.parse import quote, unquote

from adapters.redis.pipelines import Command, lua
from core.model.records import Address

PREFIX = "footnote"
BASES = f"{PREFIX}:{{catalog}}:bases"
VERSIONS = f"{PREFIX}:{{catalog}}:versions"
HOMES = f"{PREFIX}:{{catalog}}:homes"
DOCUMENTS = f"{PREFIX}:{{catalog}}:documents:"
INDEX = f"{PREFIX}:{{catalog}}:index"
CHANGES = f"{PREFIX}:{{catalog}}:changes"
SCHEMA = f"{PREFIX}:schema"
COUNTERS = f"{PREFIX}:counters"
DUE = f"{PREFIX}:checkpoints:due"
FEEDBACK = f"{PREFIX}:{{feedback}}:words"
FEEDBACK_ORDER = f"{PREFIX}:{{feedback}}:order"
QUESTIONS = f"{PREFIX}:{{questions}}:records"
QUESTIONS_ORDER = f"{PREFIX}:{{questions}}:order"
QUESTIONS_OWNERS = f"{PREFIX}:{{questions}}:owners"
QUESTIONS_CORRECTED = f"{PREFIX}:{{questions}}:corrected"
API_TOKENS = f"{PREFIX}:api-tokens"
VERIFIERS = f"{PREFIX}:verifiers"
AUDIT = f"{PREFIX}:audit"
PLACES = f"{PREFIX}:places"
INBOX = f"{PREFIX}:inbox"
WAITING = f"{PREFIX}:waiting"
JOBS = f"{PREFIX}:jobs"
REMOVED = f"{PREFIX}:{{shelf}}:removed"
SCHEDULES = f"{PREFIX}:{{shelf}}:schedules"
SITES = f"{PREFIX}:{{shelf}}:sites"
CONNECTIONS = f"{PREFIX}:{{connections}}:kept"
CONNECTION_STATES = f"{PREFIX}:{{connections}}:states"
CONNECTED_ITEMS = f"{PREFIX}:{{connections}}:items:"
PROPOSALS = f"{PREFIX}:{{shelf}}:proposals"
UNDONE = f"{PREFIX}:{{shelf}}:undone"
DECIDED = f"{PREFIX}:{{shelf}}:decided:"
SERVING = f"{PREFIX}:serving"
HELD = f"{PREFIX}:held:"


def tagged_key(name: str, *rest: str) -> str:
    """Return a key whose Cluster slot depends only on ``name``, whatever characters it contains.

    A name with braces is escaped and prefixed with two percent signs, with which no other name of ours begins.
    """
    tag = f"%%{quote(name, safe=':/.-_')}" if "{" in name or "}" in name or name.startswith("%%") else name
    return ":".join((f"{PREFIX}:{{{tag}}}", *rest))


def inbox_keys(namespace: str) -> tuple[str, str]:
    """Return an inbox's stream of ready tokens and its index of waiting deliveries."""
    return (INBOX, WAITING) if namespace == "inbox" else (f"{INBOX}:{namespace}", f"{WAITING}:{namespace}")


def job_key(job_id: str) -> str:
    """Return the key of a job's hash: its head, its items by position, and its canceller."""
    return tagged_key(f"job:{job_id}")


EVERY_JOB = f"{PREFIX}:{{job:*"
EVERY_DECISION = f"{DECIDED}*"
EVERY_SESSION = (f"{PREFIX}:{{session:*", f"{PREFIX}:{{sign-in:*")


def trace_key(trace_id: str) -> str:
    """Return the key of the list of a trace's events."""
    return tagged_key(f"trace:{trace_id}")


def checkpoint_key(checkpoint_id: str) -> str:
    """Return the key of a parked inquiry's hash."""
    return tagged_key(f"checkpoint:{checkpoint_id}")


def named_lease_key(name: str) -> str:
    """Return the key of a lease that only one process can hold."""
    return f"{HELD}{name}"


def person_key(person_id: str, what: str) -> str:
    """Return the key of the sorted set of a person's threads, checkpoints, traces or message states, by last write."""
    return tagged_key(f"person:{person_id}", what)


def thread_keys(thread: str) -> tuple[str, str, str, str]:
    """Return the keys of a thread: turns by trace id, their order, evidence by id, other fields (one hash tag)."""
    return (
        tagged_key(thread, "turns"),
        tagged_key(thread, "order"),
        tagged_key(thread, "library"),
        tagged_key(thread, "about"),
    )


def lease_key(thread: str) -> str:
    """Return the key of the hash with a thread's lease and fence."""
    return tagged_key(thread, "lease")


def queue_key(thread: str) -> str:
    """Return the key of the list of a thread's deliveries, current one first."""
    return tagged_key(thread, "queue")


def seen_key(thread: str, delivery_id: str) -> str:
    """Return the key of a delivery's outcome, which is kept for a day."""
    return tagged_key(thread, "seen", delivery_id)


def waiting_member(thread: str, delivery_id: str, person: str) -> str:
    """Return the member for a delivery in the indexes of waiting deliveries."""
    return json.dumps([thread, delivery_id, person])


def record_key(place: str, subject: str) -> str:
    """Return the key of the hash of a message's records."""
    return tagged_key(place, "posting", subject)


def index_member(address: Address) -> str:
    """Return the member for a record in a person's index, or in the index of a thread that does not contain it."""
    return json.dumps([part for part in (address.place, address.subject, address.entry) if part])


EVERY_RECORD = f"{PREFIX}:*:posting:*"
_RECORD = re.compile(rf"{PREFIX}:\{{([^}}]*)\}}:posting:(.*)", re.DOTALL)


def record_address(key: str) -> tuple[str, str]:
    """Return the place and subject of a record's key. Raises ValueError for any other key."""
    found = _RECORD.fullmatch(key)
    if found is None:
        raise ValueError(f"{key} is no record's key.")
    return unquote(found[1][2:]) if found[1].startswith("%%") else found[1], found[2]


def cancel_request_key(thread: str, subject: str) -> str:
    """Return the key of the reason why a subject's worker should stop."""
    return tagged_key(thread, "called-off", subject)


def live_key(thread: str, subject: str) -> str:
    """Return the key of the stream of an answer's live updates."""
    return tagged_key(thread, "live", subject)


def thread_index_key(thread: str, what: str) -> str:
    """Return the key of the sorted set of a thread's checkpoints, traces or message states, by last write."""
    return tagged_key(thread, f"all-{what}")


# KEYS index; ARGV now expired ttl member …
_INDEX = """
for i = 4, #ARGV do redis.call('ZADD', KEYS[1], ARGV[1], ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
"""


def of_person(person_id: str, what: str, members: str | Sequence[str], ttl: int) -> Sequence[Command]:
    """Return commands that index members as data of this person, for ``ttl`` seconds.

    Run them before the data is written: a crash in between then leaves a dangling index entry, never data that cannot
    be found and erased.
    """
    return [_index_command(person_key(person_id, what), members, ttl)] if person_id else []


def of_thread(thread: str, what: str, members: str | Sequence[str], ttl: int) -> Sequence[Command]:
    """Return commands that index members as data of this thread, for ``ttl`` seconds; also before the write."""
    return [_index_command(thread_index_key(thread, what), members, ttl)] if thread else []


def _index_command(key: str, members: str | Sequence[str], ttl: int) -> Command:
    now = time.time()
    return lua(_INDEX, [key], now, now - ttl, ttl, *([members] if isinstance(members, str) else members))
