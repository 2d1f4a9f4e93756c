"""What all clients of ``/kb`` say in the same words: a value of a result becomes plain lines, without any markup.

How a line is set, escaped and laid out is each client's own; none reads a line back.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import assert_never

from core.model.conversation import Person
from core.ports.proposal_store import Decision
from core.ports.schedule_store import Every
from core.service.kb.results import (
    BaseCreated,
    BaseDescribed,
    BaseList,
    BaseRemoved,
    BaseSummary,
    CancelRequested,
    ConfirmationView,
    DocumentDetails,
    DocumentList,
    DocumentRemoved,
    DocumentRestored,
    DocumentSummary,
    GrantsChanged,
    JobAccepted,
    JobList,
    KbOutcome,
    Page,
    PassagePreview,
    ProposalList,
    ProposalRejected,
    ProposalSent,
    ProposalSummary,
    QueueStatus,
    Readers,
    RefreshAccepted,
    Refused,
    RemovalPreview,
    RepairAccepted,
    RestorableDocument,
    RestorableList,
    RestrictionPreview,
    ScheduleRemoved,
    ScheduleSaved,
    ScheduleSummary,
    SearchCheck,
)
from core.service.kb.text_spans import (
    Line,
    age,
    code,
    count,
    duration,
    join_names,
    line_text,
    link,
    plain,
    principal,
    strong,
)
from core.service.kb.web_links import is_link

ListView = BaseList | DocumentList | JobList | ProposalList | RestorableList

_PlainOutcome = (
    RefreshAccepted | RepairAccepted | ScheduleSaved | ScheduleRemoved | BaseRemoved | DocumentRemoved
    | DocumentRestored | BaseDescribed | CancelRequested | ProposalSent | ProposalRejected | Refused
)  # fmt: skip

MOST_NAMED = 20  # documents that have to be added again
ADD_AGAIN = "Add the new file or conversation under the same name: it takes the old one's place."
CLOSED = "Redis lost some of what it knew. Confirm that these readers are right, and they can read again."
KEPT_A_WEEK = "It can be restored for 7 days."

# --- lists and what stands around them


def heading(view: ListView) -> str:
    """What stands above a list."""
    match view:
        case BaseList():
            return "Knowledge bases"
        case DocumentList(base=base):
            return base
        case JobList():
            return "Jobs"
        case ProposalList():
            return "Proposals"
        case RestorableList():
            return "Can be restored"
        case unknown:
            assert_never(unknown)


def empty_line(view: ListView) -> str:
    """What stands in place of a list's entries where there is none."""
    match view:
        case BaseList():
            return "There is no knowledge base yet."
        case DocumentList():
            return "Nothing is in there yet."
        case JobList():
            return "There was no job yet."
        case ProposalList():
            return "Nothing waits to be looked at."
        case RestorableList():
            return "Nothing was removed or replaced in the last 7 days."
        case unknown:
            assert_never(unknown)


def page_line(page: Page) -> str:
    """Which page this is; empty where there is one alone."""
    return f"Page {page.number} of {page.pages}." if page.pages > 1 else ""


def proposals_line(waiting: int, commands: str) -> str:
    """How many proposals wait, and the command that shows them; empty where none does."""
    return f"{count(waiting, 'proposal')} to look at: {commands} proposals" if waiting else ""


# --- one value, one line


def readers_line(readers: Readers) -> Line:
    """Who may read a base, as it goes on after “is” or a comma."""
    if readers.closed:
        then = readers_line(replace(readers, closed=False))
        return (plain("closed to all but admins, until one of them confirms that it is "), *then)
    if readers.everybody:
        return (plain("open to everyone"),)
    if not readers.principals:
        return (plain("restricted to nobody until you grant it"),)
    return (plain("restricted to "), *_principals(readers))


def _principals(readers: Readers) -> Line:
    first, *others = readers.principals
    return (principal(first), *(span for one in others for span in (plain(", "), principal(one))))


def readers_phrase(readers: Readers) -> str:
    """The same in words alone."""
    return line_text(readers_line(readers))


def base_line(base: BaseSummary) -> Line:
    """A base in one line: its name, size and description."""
    about = f": {base.description}" if base.description else ""
    size = f"{count(base.documents, 'document')}, {count(base.passages, 'passage')}"
    readers = (plain(", "), *readers_line(base.readers)) if base.readers is not None else ()
    return (strong(base.name), plain(f"{about} ({size}"), *readers, plain(")"))


def document_line(document: DocumentSummary, now: datetime) -> Line:
    """A document in one line: its title, version, age and size."""
    added = age(document.added_at, now)
    facts = [count(document.passages, "passage"), f"version {document.version[:8]}", added and f"added {added}"]
    return (strong(document.title), plain(f" ({join_names(filter(None, facts))}), {document.source}"))


def restorable_line(removed: RestorableDocument) -> Line:
    """Something that can be restored."""
    version = f", version {removed.version[:8]} before it was replaced" if removed.replaced else ""
    return (strong(removed.title), plain(f" of {removed.base}{version}, until {removed.until:%Y-%m-%d}"))


def schedule_line(schedule: ScheduleSummary) -> str:
    """A link that is fetched again and again."""
    if schedule.every is Every.ON_CHANGE:
        return f"• {schedule.link} in {schedule.base}: watched, read when something there changes"
    what = "pages" if is_link(schedule.link) else "files"
    pages = f", up to {schedule.limit} {what}" if schedule.limit > 1 else ""
    return f"• {schedule.link} in {schedule.base}: {schedule.every}{pages}, next {schedule.next_at:%Y-%m-%d}"


def passage_line(passage: PassagePreview) -> str:
    """Where a passage stands, and how it begins."""
    return f"{passage.place or 'the beginning'}: {passage.text}"


def proposal_line(proposal: ProposalSummary) -> Line:
    """A proposal, but for the beginning of its text."""
    where = f" for {proposal.base}" if proposal.base else ""
    way = (plain(" "), link(proposal.permalink)) if proposal.permalink else ()
    return (code(proposal.id), plain(" "), strong(proposal.title), plain(f"{where}, by {proposal.by}:"), *way)


def approval_line(proposals: ProposalList) -> Line:
    """Where what is approved goes, and who will read it there: words of few may become words to all."""
    goes = plain(f"What is approved goes into “{proposals.base}”, ")
    return (goes, *readers_line(proposals.readers), plain(", unless another is named."))


def document_facts(details: DocumentDetails) -> list[str]:
    """What is known of a document, below its title and base."""
    document = details.document
    dated = f"dated {details.dated}" if details.dated else "states no date"
    by = f" by {details.added_by}" if details.added_by else ""
    facts = [
        f"{document.source}, {details.media_type}",
        f"version {document.version[:8]}, {dated}, {count(document.passages, 'passage')}",
        f"added {age(document.added_at, details.as_of) or 'some time ago'}{by}",
    ]
    if (look := details.last_look) is not None:
        why = f": {look.reason}" if look.reason else ""
        facts.append(f"last looked at {age(look.at, details.as_of)}, {look.state}{why}")
    return [*facts, *details.notes]


def queue_line(status: QueueStatus) -> str:
    """How much there is to do."""
    return f"{count(status.in_line, 'job')} in line or under way."


def removal_question(preview: RemovalPreview) -> str:
    """What an admin is asked before something is removed."""
    if preview.title:
        return f"Remove “{preview.title}” from {preview.base}? {KEPT_A_WEEK}"
    documents = count(preview.documents, "document")
    return f"Remove the whole knowledge base “{preview.base}” with its {documents}? {KEPT_A_WEEK}"


def restriction_question(preview: RestrictionPreview) -> Line:
    """What an admin is asked before a base that everyone can read is restricted: who loses access."""
    documents = count(preview.documents, "document")
    losers = "all other people, channels and API tokens lose access to it"
    own = " You lose it too, but can still manage the base." if preview.caller_loses else ""
    return (
        plain(f"Restrict “{preview.base}” to "),
        *_principals(preview.readers),
        plain(f"? Everyone can read its {documents} now; {losers}.{own}"),
    )


def confirmation_question(preview: ConfirmationView) -> str:
    """What an admin is asked before something is removed or restricted, in words alone."""
    match preview:
        case RemovalPreview():
            return removal_question(preview)
        case RestrictionPreview():
            return line_text(restriction_question(preview))
        case unknown:
            assert_never(unknown)


def search_line(check: SearchCheck) -> str:
    """What a search for a document finds after it was removed or restored."""
    if check.found is None:
        return "No search can be made just now."
    finding = f"“{check.title}” itself" if check.found else join_names(check.others) or "nothing"
    return f"A search for “{check.title}” now finds {finding}."


def decision_line(decision: Decision, caller: Person, now: datetime) -> str:
    """That a proposal was decided already: by whom, how and when."""
    who = "You" if decision.by.id == caller.id else decision.by.name or decision.by.id
    how = f"approved this already, for {decision.base}" if decision.approved else "rejected this already"
    ago = now - decision.at
    return f"{who} {how}, {'just now' if ago < timedelta(minutes=1) else f'{duration(ago)} ago'}."


# --- outcomes


def outcome_lines(outcome: KbOutcome) -> list[str]:
    """What has become of a command, in words alone, beside the cards of its jobs."""
    return list(map(line_text, outcome_layout(outcome)))


def outcome_layout(outcome: KbOutcome) -> tuple[Line, ...]:
    """What has become of a command, beside the cards of its jobs."""
    match outcome:
        case JobAccepted():
            if outcome.readers is None:
                return ()
            return ((plain("What it adds is "), *readers_line(outcome.readers), plain(".")),)
        case BaseCreated(base=base, readers=readers):
            return ((plain(f"Created “{base}”, "), *readers_line(readers), plain(".")),)
        case GrantsChanged(base=base, readers=readers):
            return ((plain(f"“{base}” is "), *readers_line(readers), plain(".")),)
        case _:
            return tuple((plain(sentence),) for sentence in _sentences(outcome))


def _sentences(outcome: _PlainOutcome) -> list[str]:  # noqa: C901, PLR0911, PLR0912 - one arm for each outcome is the point
    match outcome:
        case RefreshAccepted(base=base, left=left):
            stay = f"{count(left, 'document')} of {base} did not come from links and stay as they are. {ADD_AGAIN}"
            return [stay] if left else []
        case RepairAccepted():
            return _repair_lines(outcome)
        case ScheduleSaved(schedule=schedule):
            return [schedule_line(schedule)]
        case ScheduleRemoved():
            return ["It is not fetched again by itself any more."]
        case BaseRemoved(base=base, check=check):
            proof = f" {search_line(check)}" if check is not None else ""
            return [f"“{base}” is gone: nothing of it is found from now on.{proof}"]
        case DocumentRemoved(title=title, base=base, passages=passages, passages_left=left, check=found):
            counted = f"{count(passages, 'passage')} then, {left} now"
            return [f"Removed “{title}” from {base}: {counted}. {search_line(found)} {KEPT_A_WEEK}"]
        case DocumentRestored(title=title, base=base, check=found):
            return [f"“{title}” is back in {base}. {search_line(found)}"]
        case BaseDescribed(base=base, description=description):
            return [f"“{base}”: {description or 'no description'}."]
        case CancelRequested(job_id=job_id):
            return [f"Cancelling job {job_id}. What it has done so far stays; the rest stays as it was."]
        case ProposalSent(proposal_id=proposal_id):
            waits = f"it waits as proposal {proposal_id}, and admins read of it when they next use /kb"
            return [f"Thank you. An admin will look at it: {waits}."]
        case ProposalRejected(title=title):
            return [f"“{title}” is not added."]
        case Refused(message=message, remedy=remedy):
            return [f"{message} {remedy}".strip()]
        case unknown:
            assert_never(unknown)


def _repair_lines(repair: RepairAccepted) -> list[str]:
    lines = list(repair.restored)
    lines += [f"{repair.left} more are left: the same command goes on with them."] if repair.left else []
    if repair.lost:
        lines.append(
            f"The originals of {count(len(repair.lost), 'document')} are not there. Add them again, or remove them:"
        )
        lines += [f"• {one.base}: {one.source}" for one in repair.lost[:MOST_NAMED]]
    if len(repair.lost) > MOST_NAMED:
        lines.append(f"• and {len(repair.lost) - MOST_NAMED} more")
    if not (repair.left or repair.lost or repair.jobs):
        lines.append(f"Nothing is missing: all passages of {count(repair.complete, 'document')} are there.")
    return lines
