"""Text layout of ``/kb`` results: parts of lines, each with the actions below it.

The words and their order are the same in Slack, in Discord and in the terminal. Each client decides how a line and an
action look. A client with its own layout, such as the web page, uses the results directly.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from core.service.kb import wording
from core.service.kb.job_cards import job_card, job_id_line, job_line
from core.service.kb.results import (
    BaseDetails,
    BaseList,
    DocumentDetails,
    DocumentList,
    JobDetails,
    JobList,
    KbView,
    ProposalList,
    QueueStatus,
    ReadersPreview,
    RemovalPreview,
    RestorableList,
)
from core.service.kb.summaries import BaseSummary, JobSummary, OfferedCommand, Page, ProposalsWaiting
from core.service.kb.text_spans import Line, plain, strong

PROPOSALS = "/kb proposals"  # the command that lists proposals
ONE_PAGE = Page()
_BULLET = plain("• ")


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines, and the actions below them."""

    lines: tuple[Line, ...]
    actions: tuple[OfferedCommand, ...] = ()


@dataclass(frozen=True, slots=True)
class TextLayout:
    """The layout of a whole result: its parts, the action of a question, and its page."""

    parts: tuple[Part, ...]
    confirm: OfferedCommand | None = None
    page: Page = ONE_PAGE


def plain_lines(texts: Iterable[str]) -> tuple[Line, ...]:
    """Return lines without any style."""
    return tuple((plain(text),) for text in texts)


def lay_out(view: KbView, proposals: str = PROPOSALS) -> TextLayout:  # noqa: PLR0911 - one arm for each kind of view
    """Lay out a result; ``proposals`` is the client's command that lists proposals."""
    match view:
        case BaseList(bases=bases):
            below = (*_closed_parts(bases), *_waiting_parts(view.waiting, proposals))
            return _list(view, [wording.base_line(base) for base in bases], below)
        case DocumentList(documents=documents, as_of=now):
            rows = [wording.document_line(one, now) for one in documents]
            return _list(view, rows, _waiting_parts(view.waiting, proposals))
        case JobList(jobs=jobs):
            return _list(view, map(job_line, jobs))
        case RestorableList(documents=removed):
            return _list(view, map(wording.restorable_line, removed))
        case ProposalList():
            return _proposal_list(view)
        case BaseDetails() | DocumentDetails() | QueueStatus() | JobDetails():
            return _details(view, proposals)
        case RemovalPreview(confirm=confirm):
            return TextLayout((Part(plain_lines([wording.removal_question(view)])),), confirm)
        case ReadersPreview(confirm=confirm, with_me=with_me):
            return TextLayout((Part((wording.readers_question(view),), (with_me,) if with_me else ()),), confirm)
        case unknown:
            assert_never(unknown)


def _list(view: wording.ListView, rows: Iterable[Line], below: tuple[Part, ...] = ()) -> TextLayout:
    heading, empty = wording.heading_and_empty(view)
    lines = tuple((_BULLET, *row) for row in rows) or plain_lines([empty])
    whole = ((strong(heading),), *lines, *_page(view.page))
    return TextLayout((Part(whole), *below), page=view.page)


def _proposal_list(view: ProposalList) -> TextLayout:
    heading, empty = wording.heading_and_empty(view)
    head: tuple[Line, ...] = ((strong(heading),),)
    if not view.proposals:
        return TextLayout((Part((*head, *plain_lines([empty]))),))
    above = Part((*head, wording.approval_line(view)))
    rows = [
        Part(((_BULLET, *wording.proposal_line(one)), (plain(f"  {one.beginning}"),)), one.actions)
        for one in view.proposals
    ]
    below = [Part(note)] if (note := _page(view.page)) else []
    return TextLayout((above, *rows, *below), page=view.page)


def _details(view: BaseDetails | DocumentDetails | QueueStatus | JobDetails, proposals: str) -> TextLayout:
    match view:
        case BaseDetails(base=base):
            return TextLayout((Part(_base_lines(view)), *_closed_parts([base])))
        case DocumentDetails():
            return TextLayout((Part(_document_lines(view)),), page=view.page)
        case QueueStatus():
            return TextLayout((Part(_queue_lines(view)), *_waiting_parts(view.waiting, proposals)))
        case JobDetails(job=job):
            return TextLayout((Part(_job_lines(job)),))
        case unknown:
            assert_never(unknown)


def _base_lines(view: BaseDetails) -> tuple[Line, ...]:
    return (
        (_BULLET, *wording.base_line(view.base)),
        *plain_lines(map(wording.schedule_line, view.schedules)),
        *((_BULLET, *job_line(job)) for job in view.jobs),
        *plain_lines(f"• failed: {note.source}: {note.text}" for note in view.failures),
    )


def _document_lines(view: DocumentDetails) -> tuple[Line, ...]:
    title: Line = (strong(view.document.title), plain(f" in {view.document.base}"))
    passages = plain_lines(f"• {wording.passage_line(passage)}" for passage in view.passages)
    return (title, *plain_lines(wording.document_facts(view)), *passages, *_page(view.page))


def _queue_lines(view: QueueStatus) -> tuple[Line, ...]:
    running = (line for job in view.running for line in _job_lines(job))
    others = ((_BULLET, *job_line(job)) for job in (*view.queued, *view.troubled))
    schedules = plain_lines(map(wording.schedule_line, view.schedules))
    return (*plain_lines([wording.queue_line(view)]), *running, *others, *schedules)


def _job_lines(job: JobSummary) -> tuple[Line, ...]:
    return (*job_card(job).lines, *plain_lines([job_id_line(job.id)]))


def _page(page: Page) -> tuple[Line, ...]:
    return plain_lines(filter(None, [wording.page_line(page)]))


def _closed_parts(bases: Iterable[BaseSummary]) -> tuple[Part, ...]:
    """Return the part with an admin's actions for bases that are closed after a loss in Redis."""
    actions = tuple(base.confirm for base in bases if base.confirm is not None)
    return (Part(plain_lines([wording.CLOSED]), actions),) if actions else ()


def _waiting_parts(waiting: ProposalsWaiting | None, proposals: str) -> tuple[Part, ...]:
    if waiting is None:
        return ()
    actions = (waiting.look,) if waiting.look is not None else ()
    return (Part(plain_lines([wording.proposals_line(waiting.count, proposals)]), actions),)
