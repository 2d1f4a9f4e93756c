"""Wording of ``/kb``, the same in all clients: turns results into plain lines without markup.

Each client styles, escapes and lays out the lines; none parses a line.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import assert_never

from core.model.conversation import Person
from core.model.knowledge import is_link
from core.ports.job_store import Decision, Every
from core.service.kb.results import (
    BaseCreated,
    BaseDescribed,
    BaseList,
    BaseRemoved,
    CancelRequested,
    ConfirmationView,
    ConnectLink,
    DocumentDetails,
    DocumentList,
    DocumentRemoved,
    DocumentRestored,
    GrantsChanged,
    JobAccepted,
    JobList,
    KbOutcome,
    ProposalList,
    ProposalRejected,
    ProposalSent,
    QueueStatus,
    ReadersPreview,
    RefreshAccepted,
    Refused,
    RemovalPreview,
    RepairAccepted,
    RestorableList,
    ScheduleRemoved,
    ScheduleSaved,
)
from core.service.kb.summaries import (
    BaseSummary,
    DocumentSummary,
    Page,
    PassagePreview,
    ProposalSummary,
    Readers,
    RestorableDocument,
    ScheduleSummary,
    SearchCheck,
)
from core.service.kb.text_spans import (
    Line,
    age,
    code,
    count,
    duration,
    line_text,
    link,
    plain,
    principal,
    strong,
)

ListView = BaseList | DocumentList | JobList | ProposalList | RestorableList

_PlainOutcome = (
    RefreshAccepted | RepairAccepted | ScheduleSaved | ScheduleRemoved | BaseRemoved | DocumentRemoved
    | DocumentRestored | BaseDescribed | CancelRequested | ProposalSent | ProposalRejected | Refused
)  # fmt: skip

MOST_NAMED = 20  # documents that have to be added again
ADD_AGAIN = "To update one, add the new file or conversation under the same name."
CLOSED = "Redis lost some data. If these readers are right, confirm them to reopen the knowledge base."
KEPT_A_WEEK = "You can restore it within 7 days."

# --- lists


def heading_and_empty(view: ListView) -> tuple[str, str]:
    """Return the heading of a list, and the line to show below it if the list is empty."""
    match view:
        case BaseList():
            return "Knowledge bases", "There is no knowledge base yet."
        case DocumentList(base=base):
            return base, "It has no documents yet."
        case JobList():
            return "Jobs", "There are no jobs yet."
        case ProposalList():
            return "Proposals", "No proposals are waiting for review."
        case RestorableList():
            return "Removed or replaced in the last 7 days", "Nothing was removed or replaced in the last 7 days."
        case unknown:
            assert_never(unknown)


def page_line(page: Page) -> str:
    """Return the page number; empty for a single page."""
    return f"Page {page.number} of {page.pages}." if page.pages > 1 else ""


def proposals_line(waiting: int, command: str) -> str:
    """Return how many proposals wait and the command that lists them; empty if none does."""
    return f"{count(waiting, 'proposal')} to review: {command}" if waiting else ""


# --- one value, one line


def readers_line(readers: Readers) -> Line:
    """Return who may read a base, to follow “is” or a comma."""
    if readers.closed:
        then = readers_line(replace(readers, closed=False))
        return (plain("closed to everyone except admins, until an admin confirms that it is "), *then)
    if readers.everybody:
        return (plain("open to everyone"),)
    if not readers.principals:
        return (plain("restricted to nobody until you grant it"),)
    return (plain("restricted to "), *_principals(readers))


def _principals(readers: Readers) -> Line:
    first, *others = readers.principals
    return (principal(first), *(span for one in others for span in (plain(", "), principal(one))))


def readers_phrase(readers: Readers) -> str:
    """Return who may read a base, as plain text."""
    return line_text(readers_line(readers))


def base_line(base: BaseSummary) -> Line:
    """Return a base in one line: its name, size and description."""
    about = f": {base.description}" if base.description else ""
    size = f"{count(base.documents, 'document')}, {count(base.passages, 'passage')}"
    readers = (plain(", "), *readers_line(base.readers)) if base.readers is not None else ()
    return (strong(base.name), plain(f"{about} ({size}"), *readers, plain(")"))


def document_line(document: DocumentSummary, now: datetime) -> Line:
    """Return a document in one line: its title, size, age and source."""
    added = age(document.added_at, now)
    facts = ", ".join(filter(None, [count(document.passages, "passage"), added and f"added {added}"]))
    return (strong(document.title), plain(f" ({facts}), {document.source}"))


def restorable_line(removed: RestorableDocument) -> Line:
    """Return a document that can be restored, in one line."""
    version = f", version {removed.version[:8]} before it was replaced" if removed.replaced else ""
    until = f"can be restored until {removed.until:%Y-%m-%d}"
    return (strong(removed.title), plain(f" in “{removed.base}”{version}, {until}"))


def schedule_line(schedule: ScheduleSummary) -> str:
    """Return a schedule in one line."""
    if schedule.every is Every.ON_CHANGE:
        return f"• {schedule.link} in {schedule.base}: watched, and updated when a file changes"
    what = "pages" if is_link(schedule.link) else "files"
    pages = f", up to {schedule.limit} {what}" if schedule.limit > 1 else ""
    return f"• {schedule.link} in {schedule.base}: fetched {schedule.every}{pages}, next on {schedule.next_at:%Y-%m-%d}"


def passage_line(passage: PassagePreview) -> str:
    """Return a passage's place and first words."""
    return f"{passage.place or 'beginning'}: {passage.text}"


def proposal_line(proposal: ProposalSummary) -> Line:
    """Return a proposal without its text."""
    where = f" for {proposal.base}" if proposal.base else ""
    way = (plain(" "), link(proposal.permalink)) if proposal.permalink else ()
    return (code(proposal.id), plain(" "), strong(proposal.title), plain(f"{where}, by {proposal.by}:"), *way)


def approval_line(proposals: ProposalList) -> Line:
    """Return the target of approved proposals and its readers, because private words may become public there."""
    goes = plain(f"Approved proposals go into “{proposals.base}”, ")
    return (goes, *readers_line(proposals.readers), plain(", unless you name another knowledge base."))


def document_facts(details: DocumentDetails) -> list[str]:
    """Return facts about a document, to show below its title and base."""
    document = details.document
    dated = f"dated {details.dated}" if details.dated else "without a date"
    by = f" by {details.added_by}" if details.added_by else ""
    facts = [
        f"{document.source}, {details.media_type}",
        f"{count(document.passages, 'passage')}, {dated}",
        f"added {age(document.added_at, details.as_of) or 'some time ago'}{by}",
    ]
    if (look := details.last_look) is not None:
        why = f" ({look.reason})" if look.reason else ""
        facts.append(f"last checked {age(look.at, details.as_of)}: {look.state}{why}")
    return [*facts, *details.notes]


def queue_line(status: QueueStatus) -> str:
    """Return the length of the queue."""
    return f"{count(status.in_line, 'job')} queued or running."


def removal_question(preview: RemovalPreview) -> str:
    """Return the confirmation question for a removal."""
    if preview.title:
        return f"Remove “{preview.title}” from “{preview.base}”? {KEPT_A_WEEK}"
    documents = count(preview.documents, "document")
    return f"Remove the whole knowledge base “{preview.base}” with its {documents}? {KEPT_A_WEEK}"


def readers_question(preview: ReadersPreview) -> Line:
    """Return the confirmation question before many people lose or get access to a base."""
    documents = count(preview.documents, "document")
    if preview.readers.everybody:
        return (plain(f"Open “{preview.base}” to everyone? Everyone can then read all of it: {documents}."),)
    if not preview.readers.principals:
        closed = f"Take the last reader from “{preview.base}”? Then nobody can read its {documents}. "
        return (plain(f"{closed}Admins can still manage the base."),)
    losers = "all other people, channels and API tokens lose access to it"
    own = " You lose it too, but can still manage the base." if preview.caller_loses else ""
    return (
        plain(f"Restrict “{preview.base}” to "),
        *_principals(preview.readers),
        plain(f"? Everyone can read its {documents} now; {losers}.{own}"),
    )


def confirmation_question(preview: ConfirmationView) -> str:
    """Return the confirmation question of a preview, as plain text."""
    match preview:
        case RemovalPreview():
            return removal_question(preview)
        case ReadersPreview():
            return line_text(readers_question(preview))
        case unknown:
            assert_never(unknown)


def search_line(check: SearchCheck) -> str:
    """Return what a search for a removed or restored document finds."""
    if check.found is None:
        return "I could not check this with a search."
    finding = "that document" if check.found else ", ".join(check.others) or "nothing"
    return f"A search for its title now finds: {finding}."


def decision_line(decision: Decision, caller: Person, now: datetime) -> str:
    """Return that a proposal was already decided: by which admin, how and when."""
    who = "You" if decision.by.id == caller.id else decision.by.name or decision.by.id
    how = f"already approved this for “{decision.base}”" if decision.approved else "already rejected this"
    ago = now - decision.at
    return f"{who} {how}, {'just now' if ago < timedelta(minutes=1) else f'{duration(ago)} ago'}."


# --- outcomes


def outcome_lines(outcome: KbOutcome) -> list[str]:
    """Return the outcome of a command as plain text, without its jobs' cards."""
    return list(map(line_text, outcome_layout(outcome)))


def outcome_layout(outcome: KbOutcome) -> tuple[Line, ...]:
    """Return the outcome of a command, without its jobs' cards."""
    match outcome:
        case JobAccepted():
            if outcome.readers is None:
                return ()
            return ((plain("The added documents are "), *readers_line(outcome.readers), plain(".")),)
        case BaseCreated(base=base, readers=readers):
            return ((plain(f"Created “{base}”, "), *readers_line(readers), plain(".")),)
        case GrantsChanged(base=base, readers=readers, opened=opened):
            wider = f" They can now read all of it: {count(opened, 'document')}." if opened else ""
            return ((plain(f"“{base}” is "), *readers_line(readers), plain(f".{wider}")),)
        case ConnectLink(address=address, minutes=minutes):
            once = (
                f"This link opens the Connect page once. It expires in {count(minutes, 'minute')}. Keep it to yourself:"
            )
            return ((plain(once),), (code(address),))
        case _:
            return tuple((plain(sentence),) for sentence in _sentences(outcome))


def _sentences(outcome: _PlainOutcome) -> list[str]:  # noqa: C901, PLR0911, PLR0912 - one arm for each outcome is the point
    match outcome:
        case RefreshAccepted(base=base, left=left):
            stay = f"{count(left, 'document')} of “{base}” did not come from links and stay unchanged. {ADD_AGAIN}"
            return [stay] if left else []
        case RepairAccepted():
            return _repair_lines(outcome)
        case ScheduleSaved(schedule=schedule):
            return [schedule_line(schedule)]
        case ScheduleRemoved(link=link):
            return [f"I no longer fetch {link} on a schedule."]
        case BaseRemoved(base=base, check=check):
            proof = f" {search_line(check)}" if check is not None else ""
            return [f"Removed “{base}”. Answers no longer use its documents.{proof} {KEPT_A_WEEK}"]
        case DocumentRemoved(title=title, base=base, passages=passages, passages_left=left, check=found):
            stay = f" {left:,} of its {count(passages, 'passage')} are still in the index. Retry." if left else ""
            return [f"Removed “{title}” from “{base}”.{stay} {search_line(found)} {KEPT_A_WEEK}"]
        case DocumentRestored(title=title, base=base, check=found):
            return [f"Restored “{title}” in “{base}”. {search_line(found)}"]
        case BaseDescribed(base=base, description=description):
            return [f"“{base}” {f'is now described as “{description}”.' if description else 'has no description now.'}"]
        case CancelRequested():
            return ["Cancelling. Finished documents stay as they are, and the others are not changed."]
        case ProposalSent():
            return ["Thank you. Your proposal waits for an admin, who can approve or reject it."]
        case ProposalRejected(title=title):
            return [f"Rejected the proposal “{title}”."]
        case Refused(message=message, remedy=remedy):
            return [f"{message} {remedy}".strip()]
        case unknown:
            assert_never(unknown)


def _repair_lines(repair: RepairAccepted) -> list[str]:
    lines = list(repair.restored)
    if repair.left:
        lines.append(f"Still to repair: {count(repair.left, 'document')}. Run the same command again.")
    if repair.lost:
        lines.append(
            f"The originals of {count(len(repair.lost), 'document')} are not stored. Add them again, or remove them:"
        )
        lines += [f"• {one.base}: {one.source}" for one in repair.lost[:MOST_NAMED]]
    if len(repair.lost) > MOST_NAMED:
        lines.append(f"• and {len(repair.lost) - MOST_NAMED} more")
    if not (repair.left or repair.lost or repair.jobs):
        lines.append(f"Nothing to repair: the index has all passages of {count(repair.complete, 'document')}.")
    return lines
