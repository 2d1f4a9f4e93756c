"""Connections to places where teams keep documents, and how far each is synced."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from core.model.conversation import Person


@dataclass(frozen=True, slots=True)
class Connection:
    """One source that is kept in sync.

    Attributes:
        name: the name of its knowledge bases, and of the connection.
        kind: the connector, as in ``ConnectorPlugin.name``.
        settings: without secrets.
        secrets: encrypted, by the names of their settings.
        by: who connected it.
        minutes: from one sync to the next, where the source allows it.
        hours: after so many hours rights that were not read again hide their documents.
        mapping: principals that hold a group of the source, by the group's id.
        readers: of a source that states no readers, who may read it all.
    """

    name: str
    kind: str
    settings: Mapping[str, str]
    secrets: Mapping[str, str]
    by: Person
    created_at: datetime
    minutes: int = 15
    hours: int = 24
    mapping: Mapping[str, frozenset[str]] = field(default_factory=dict)
    readers: frozenset[str] = frozenset()


class SyncPhase(StrEnum):
    """What a sync does."""

    IDLE = "idle"
    LISTING = "listing"  # what there is, and who may read it
    RIGHTS = "rights"  # groups and people are looked up, and what is no longer allowed is withdrawn
    DOCUMENTS = "documents"  # what is new or changed is fetched


@dataclass(frozen=True, slots=True)
class SyncState:
    """How far a connection is synced.

    Attributes:
        round: counts syncs; an item that a whole listing did not name has an older one.
        cursor: where the listing goes on.
        whole: whether this round lists all there is.
        started_at: when this round began: rights are as old as that.
        listed_seconds: what the listing took, without what came between.
        rights_at: the start of the last round whose rights are in force.
        ended_at: when the last round ended.
        next_at: when the next one is due.
        failure: why the last attempt failed; empty after a success.
        failed_since: of a row of failures, when the first one was.
        readers: the reader sets that items name, by their digests, as JSON.
        bases: the knowledge base of each class of readers, by the same digests.
        unmapped: how many documents nobody may read here.
        groups: the groups of which nobody could be mapped, with how many documents name them.
        places: what each place of the source was known by when it was connected, as an id that is never used again.
        unread: how many things this round listed that Footnote does not read, by their kind.
    """

    round: int = 0
    phase: SyncPhase = SyncPhase.IDLE
    cursor: str = ""
    whole: bool = False
    started_at: datetime | None = None
    listed_seconds: float = 0.0
    rights_at: datetime | None = None
    ended_at: datetime | None = None
    next_at: datetime | None = None
    failure: str = ""
    failed_since: datetime | None = None
    readers: Mapping[str, str] = field(default_factory=dict)
    bases: Mapping[str, str] = field(default_factory=dict)
    unmapped: int = 0
    groups: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)

    def begin(self, now: datetime) -> "SyncState":
        """Return the state at the beginning of a round; of one that was interrupted, as it was left."""
        if self.phase is not SyncPhase.IDLE:
            return self
        fresh = replace(self, round=self.round + 1, phase=SyncPhase.LISTING, started_at=now)
        return replace(fresh, whole=False, listed_seconds=0.0, unread={})

    def end(self, now: datetime, minutes: int) -> "SyncState":
        """Return the state after a round. A slow listing is repeated less often: it gets a quarter of the time."""
        pause = max(timedelta(minutes=minutes), timedelta(seconds=4 * self.listed_seconds))
        return replace(self, phase=SyncPhase.IDLE, ended_at=now, next_at=now + pause, failure="", failed_since=None)

    def fail(self, now: datetime, reason: str, after: timedelta) -> "SyncState":
        """Return the state after an attempt that failed: the round goes on where it is, ``after`` a while."""
        return replace(self, failure=reason, failed_since=self.failed_since or now, next_at=now + after)


@dataclass(frozen=True, slots=True)
class SyncedItem:
    """What is known of one document of a source: as it is listed there, and as it was read last.

    Attributes:
        id: the source's own id.
        listed: its version, title, address and readers as the source lists them now (``SourceItem`` as JSON).
        readers: the digest of its readers now.
        seen: the round that named it last.
        gone: whether the source no longer has it.
        version: the version that was read last; empty where none was.
        base: the base that holds it; empty where none does.
        indexed: the version of its document in that base; empty where there was no text in it.
        hidden: whether it was withdrawn from that base, and is to be moved or removed.
        reason: why it could not be read; empty where it could.
        failed_since: since when.
        tries: how often this version failed.
    """

    id: str
    listed: str
    readers: str
    seen: int
    gone: bool = False
    version: str = ""
    base: str = ""
    indexed: str = ""
    hidden: bool = False
    reason: str = ""
    failed_since: datetime | None = None
    tries: int = 0
