"""Results of ``/kb`` as data, which each client renders in its own way.

Everything in here may be shown to the caller. Links have no possible secrets in their query, the person who added a
document is set only for admins, and jobs lack the address of their card. The next possible action is an
``OfferedCommand``; a client stores its command, and the button carries an id.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from core.model.errors import Denied, FootnoteError
from core.service.kb.summaries import (
    BaseSummary,
    DocumentSummary,
    JobSummary,
    LastLook,
    OfferedCommand,
    Page,
    PassagePreview,
    ProposalSummary,
    ProposalsWaiting,
    Readers,
    RestorableDocument,
    ScheduleSummary,
    SearchCheck,
    SourceNote,
)

# --- views


@dataclass(frozen=True, slots=True)
class BaseList:
    """LIST without a base."""

    bases: tuple[BaseSummary, ...]
    page: Page
    waiting: ProposalsWaiting | None = None
    kind: Literal["base_list"] = "base_list"


@dataclass(frozen=True, slots=True)
class BaseDetails:
    """SHOW of a base. Schedules, newest jobs and latest failures are set only for admins."""

    base: BaseSummary
    schedules: tuple[ScheduleSummary, ...] = ()
    jobs: tuple[JobSummary, ...] = ()
    failures: tuple[SourceNote, ...] = ()
    kind: Literal["base_details"] = "base_details"


@dataclass(frozen=True, slots=True)
class DocumentList:
    """LIST of a base. ``as_of`` is when it was read, to compute ages."""

    base: str
    documents: tuple[DocumentSummary, ...]
    as_of: datetime
    page: Page
    waiting: ProposalsWaiting | None = None
    kind: Literal["document_list"] = "document_list"


@dataclass(frozen=True, slots=True)
class DocumentDetails:
    """SHOW of a document, with a page of its passages. ``added_by`` and ``last_look`` are only for admins."""

    document: DocumentSummary
    media_type: str
    dated: str  # ISO date that it states ("2026-03"); empty when it states none
    added_by: str
    last_look: LastLook | None
    notes: tuple[str, ...]
    passages: tuple[PassagePreview, ...]
    as_of: datetime
    page: Page
    kind: Literal["document_details"] = "document_details"


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """STATUS: ``in_line`` counts everybody's jobs; the other fields cover bases that the caller may see."""

    in_line: int
    running: tuple[JobSummary, ...]
    queued: tuple[JobSummary, ...]
    troubled: tuple[JobSummary, ...]  # the newest that are over and had failures
    schedules: tuple[ScheduleSummary, ...]
    waiting: ProposalsWaiting | None = None
    kind: Literal["queue_status"] = "queue_status"


@dataclass(frozen=True, slots=True)
class JobList:
    """JOBS, newest first."""

    jobs: tuple[JobSummary, ...]
    page: Page
    kind: Literal["job_list"] = "job_list"


@dataclass(frozen=True, slots=True)
class JobDetails:
    """JOBS with an id."""

    job: JobSummary
    kind: Literal["job_details"] = "job_details"


@dataclass(frozen=True, slots=True)
class RestorableList:
    """RESTORE without a name."""

    documents: tuple[RestorableDocument, ...]
    page: Page
    kind: Literal["restorable_list"] = "restorable_list"


@dataclass(frozen=True, slots=True)
class ProposalList:
    """PROPOSALS, oldest first. ``base`` is the default target of approved ones, with its ``readers``."""

    proposals: tuple[ProposalSummary, ...]
    base: str
    readers: Readers
    page: Page
    kind: Literal["proposal_list"] = "proposal_list"


@dataclass(frozen=True, slots=True)
class RemovalPreview:
    """REMOVE before confirmation: of a document or, without ``title``, of a whole base."""

    base: str
    confirm: OfferedCommand
    title: str = ""
    documents: int = 1
    kind: Literal["removal_preview"] = "removal_preview"


@dataclass(frozen=True, slots=True)
class ReadersPreview:
    """GRANT or REVOKE before confirmation, if it restricts an open base, opens it to all, or leaves no reader.

    ``readers`` are all who could then read it. ``with_me`` also keeps the caller; None if they keep access anyway or
    cannot be named.
    """

    base: str
    readers: Readers
    documents: int
    confirm: OfferedCommand
    with_me: OfferedCommand | None = None
    caller_loses: bool = False
    kind: Literal["readers_preview"] = "readers_preview"


ConfirmationView = RemovalPreview | ReadersPreview

# --- outcomes of commands


@dataclass(frozen=True, slots=True)
class JobAccepted:
    """A job that continues; its card has to be shown and updated. ``readers`` of what it adds, if it adds anything."""

    job: JobSummary
    readers: Readers | None = None
    kind: Literal["job_accepted"] = "job_accepted"


@dataclass(frozen=True, slots=True)
class RefreshAccepted:
    """REFRESH of a base: one job for each site and one for other links. ``left`` did not come from links."""

    jobs: tuple[JobSummary, ...]
    base: str
    left: int = 0
    kind: Literal["refresh_accepted"] = "refresh_accepted"


@dataclass(frozen=True, slots=True)
class RepairAccepted:
    """REPAIR: ``lost`` can only be added again, ``left`` wait for the next command, ``complete`` need nothing.

    ``restored`` lists the bases and documents that Redis had lost and has again.
    """

    jobs: tuple[JobSummary, ...]
    lost: tuple[DocumentSummary, ...] = ()
    left: int = 0
    complete: int = 0
    restored: tuple[str, ...] = ()
    kind: Literal["repair_accepted"] = "repair_accepted"


@dataclass(frozen=True, slots=True)
class ScheduleSaved:
    """SCHEDULE, with the job of the first fetch if the link is new."""

    schedule: ScheduleSummary
    job: JobSummary | None = None
    kind: Literal["schedule_saved"] = "schedule_saved"


@dataclass(frozen=True, slots=True)
class ScheduleRemoved:
    """SCHEDULE never."""

    base: str
    link: str
    kind: Literal["schedule_removed"] = "schedule_removed"


@dataclass(frozen=True, slots=True)
class BaseRemoved:
    """REMOVE of a base, confirmed. It is no longer found, and a job removes its documents."""

    base: str
    job: JobSummary
    check: SearchCheck | None = None
    kind: Literal["base_removed"] = "base_removed"


@dataclass(frozen=True, slots=True)
class DocumentRemoved:
    """REMOVE of a document, confirmed; ``passages_left`` is counted in the index afterwards."""

    title: str
    base: str
    passages: int
    passages_left: int
    check: SearchCheck
    kind: Literal["document_removed"] = "document_removed"


@dataclass(frozen=True, slots=True)
class DocumentRestored:
    """RESTORE of a document."""

    title: str
    base: str
    check: SearchCheck
    kind: Literal["document_restored"] = "document_restored"


@dataclass(frozen=True, slots=True)
class BaseCreated:
    """CREATE."""

    base: str
    readers: Readers
    kind: Literal["base_created"] = "base_created"


@dataclass(frozen=True, slots=True)
class BaseDescribed:
    """DESCRIBE."""

    base: str
    description: str
    kind: Literal["base_described"] = "base_described"


@dataclass(frozen=True, slots=True)
class GrantsChanged:
    """GRANT, REVOKE and CONFIRM: the base's readers now. ``opened``: documents with new readers."""

    base: str
    readers: Readers
    opened: int = 0
    kind: Literal["grants_changed"] = "grants_changed"


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """CANCEL, with the job being cancelled, which may take a moment."""

    job_id: str
    job: JobSummary
    kind: Literal["cancel_requested"] = "cancel_requested"


@dataclass(frozen=True, slots=True)
class ProposalSent:
    """A proposal of somebody who is no admin, which waits for one."""

    proposal_id: str
    kind: Literal["proposal_sent"] = "proposal_sent"


@dataclass(frozen=True, slots=True)
class ProposalRejected:
    """REJECT."""

    title: str
    kind: Literal["proposal_rejected"] = "proposal_rejected"


@dataclass(frozen=True, slots=True)
class ConnectLink:
    """CONNECT: a one-time address that opens the connections page for its holder."""

    address: str
    minutes: int
    kind: Literal["connect_link"] = "connect_link"


class RefusalReason(StrEnum):
    """Why nothing was done."""

    DENIED = "denied"  # this person may not do this
    NOT_DONE = "not_done"  # the command cannot be done as given
    FAILED = "failed"  # something broke on our side


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was done: the reason in one readable line, and what to do about it."""

    reason: RefusalReason
    message: str
    remedy: str = ""
    kind: Literal["refused"] = "refused"

    @classmethod
    def of(cls, error: FootnoteError) -> "Refused":
        """Return the refusal for an error that stopped a command."""
        reason = RefusalReason.DENIED if isinstance(error, Denied) else RefusalReason.NOT_DONE
        return cls(reason, error.args[0], error.remedy or "")


KbOutcome = (
    JobAccepted | RefreshAccepted | RepairAccepted | ScheduleSaved | ScheduleRemoved
    | BaseRemoved | DocumentRemoved | DocumentRestored | BaseCreated | BaseDescribed | GrantsChanged
    | CancelRequested | ProposalSent | ProposalRejected | ConnectLink | Refused
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProposalDecided:
    """APPROVE or REJECT pressed in the list: the outcome, and the rest of the list to replace it."""

    outcome: KbOutcome
    remaining: ProposalList
    kind: Literal["proposal_decided"] = "proposal_decided"


KbView = (
    BaseList | BaseDetails | DocumentList | DocumentDetails | QueueStatus | JobList | JobDetails
    | RestorableList | ProposalList | RemovalPreview | ReadersPreview
)  # fmt: skip
KbResult = KbView | KbOutcome | ProposalDecided


def is_success(result: KbResult) -> bool:
    """Return whether the request was done or is in progress."""
    match result:
        case Refused():
            return False
        case RepairAccepted(lost=lost):
            return not lost
        case ProposalDecided(outcome=outcome):
            return is_success(outcome)
        case _:
            return True


def accepted_jobs(result: KbResult) -> tuple[JobSummary, ...]:
    """Return the jobs that a command started; each gets a card."""
    match result:
        case JobAccepted(job=job) | BaseRemoved(job=job):
            return (job,)
        case ScheduleSaved(job=maybe):
            return (maybe,) if maybe is not None else ()
        case RefreshAccepted(jobs=jobs) | RepairAccepted(jobs=jobs):
            return jobs
        case ProposalDecided(outcome=outcome):
            return accepted_jobs(outcome)
        case _:
            return ()
