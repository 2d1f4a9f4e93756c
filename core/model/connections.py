"""Connections to document sources, and how far each is synced."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from core.model.conversation import Person


@dataclass(frozen=True, slots=True)
class Connection:
    """A source that is kept in sync.

    Attributes:
        name: the name of the connection and of its knowledge bases.
        kind: the connector, as in ``ConnectorPlugin.name``.
        settings: without secrets.
        secrets: encrypted, by the names of their settings.
        by: who connected it.
        minutes: interval between syncs, if the source allows it.
        hours: age in hours at which permissions that were not refreshed hide their documents.
        mapping: principals that stand for a group of the source, by the group's id.
        readers: who may read everything, if the source states no readers.
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
    """Phases of a sync."""

    IDLE = "idle"
    LISTING = "listing"  # list the documents and their readers
    RIGHTS = "rights"  # look up groups and people, and withdraw documents without permission
    DOCUMENTS = "documents"  # fetch new and changed documents


@dataclass(frozen=True, slots=True)
class SyncState:
    """How far a connection is synced.

    Attributes:
        round: number of this sync; an item missing from a complete listing has an older one.
        cursor: where the listing continues.
        whole: whether this round lists everything.
        started_at: start of this round, which is also the age of its permissions.
        listed_seconds: duration of the listing, without interruptions.
        rights_at: start of the last round whose permissions are in force.
        ended_at: when the last round ended.
        next_at: when the next round is due.
        failure: why the last attempt failed; empty after a success.
        failed_since: time of the first failure in a row.
        readers: the reader sets that items name, by their digests, as JSON.
        bases: the knowledge base of each class of readers, by the same digests.
        unmapped: number of documents that nobody may read here.
        groups: groups without any mapped member, with the number of documents that name them.
        places: the unique, never reused id of each place of the source, as of connecting.
        unread: number of listed things that Footnote does not read, by kind.
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
        """Return the state at the start of a round. An interrupted round continues where it was."""
        if self.phase is not SyncPhase.IDLE:
            return self
        fresh = replace(self, round=self.round + 1, phase=SyncPhase.LISTING, started_at=now)
        return replace(fresh, whole=False, listed_seconds=0.0, unread={})

    def end(self, now: datetime, minutes: int) -> "SyncState":
        """Return the state after a round.

        A slow listing is repeated less often: the pause is at least four times as long as the listing took.
        """
        pause = max(timedelta(minutes=minutes), timedelta(seconds=4 * self.listed_seconds))
        return replace(self, phase=SyncPhase.IDLE, ended_at=now, next_at=now + pause, failure="", failed_since=None)

    def fail(self, now: datetime, reason: str, after: timedelta) -> "SyncState":
        """Return the state after a failed attempt. The round continues where it is, once ``after`` has passed."""
        return replace(self, failure=reason, failed_since=self.failed_since or now, next_at=now + after)


@dataclass(frozen=True, slots=True)
class SyncedItem:
    """A document of a source: as listed now, and as last read.

    Attributes:
        id: the source's own id.
        listed: its version, title, address and readers as the source lists them now (``SourceItem`` as JSON).
        readers: the digest of its readers now.
        seen: the round that named it last.
        gone: whether the source has deleted it.
        version: the version last read; empty if none was.
        base: the base that holds it; empty if none does.
        indexed: the version of its document in that base; empty if it had no text.
        hidden: whether it was withdrawn from that base and has to be moved or removed.
        reason: why it could not be read; empty if it could.
        failed_since: time of the first such failure.
        tries: number of failed attempts for this version.
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
