"""Knowledge screens: bases, documents, jobs, readers, and proposals to decide.

Everything goes through ``KnowledgeService``, as in chat, which handles permissions, audit and wording.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from aiohttp import web

from adapters.web.access.forms import KIND, read_form
from adapters.web.pages import Pages, wants_part
from adapters.web.routing import MenuEntry, Right, Route, Visitor
from adapters.web.uploads import LARGEST, Upload
from core.model.clock import Clock
from core.model.document_content import FileContent
from core.model.errors import DocumentRejected, NotFound
from core.model.principals import EVERYONE
from core.ports.access import Audit
from core.ports.sources import LocalFiles
from core.service.kb.commands import MOST_FILES, KbCommand, KbVerb
from core.service.kb.job_cards import job_state, job_title
from core.service.kb.results import (
    BaseDetails,
    BaseList,
    BaseRemoved,
    ConfirmationView,
    DocumentList,
    JobDetails,
    KbOutcome,
    KbResult,
    ProposalDecided,
    Refused,
    accepted_jobs,
    is_success,
)
from core.service.kb.service import KnowledgeService
from core.service.kb.wording import outcome_lines

SAMPLES = "samples"
AUDITED = 200
UPLOAD_SECONDS = 900.0  # for ten large files on a slow connection
CHANGED = {"HX-Trigger": "kb-changed"}  # lists on the page reload
REMOVED = {"HX-Retarget": "#main", "HX-Reselect": "#main > *", "HX-Push-Url": "/knowledge"}  # its page no longer exists
JOB_OVER = {"HX-Trigger": "kb-changed, kb-job-over"}
_LONGEST = 2_000
_CHANGES = frozenset(KbVerb) - {
    KbVerb.LIST, KbVerb.SHOW, KbVerb.STATUS, KbVerb.JOBS, KbVerb.PROPOSALS, KbVerb.CONNECT,
}  # fmt: skip

Files = Callable[[], AsyncIterator[FileContent]]


@dataclass(frozen=True, slots=True)
class KnowledgeScreen:
    """The knowledge screens.

    ``samples`` yields the documents of a fictional company, for a first look. ``local_files`` returns the files at a
    path of this machine, for its operator.
    """

    pages: Pages
    kb: KnowledgeService
    audit: Audit
    clock: Clock
    samples: Files
    local_files: Callable[[str], Awaitable[LocalFiles]]
    menu: tuple[MenuEntry, ...] = (MenuEntry("Knowledge", "/knowledge"),)

    def routes(self) -> tuple[Route, ...]:
        """Return the routes of the knowledge screens."""
        return (
            Route("GET", "/knowledge", self._overview),
            Route("GET", "/knowledge/bases/{base}", self._base),
            Route("POST", "/knowledge/do", self._do),
            Route("POST", "/knowledge/files", self._files, Right.ADMIN),
            Route("POST", "/knowledge/folder", self._folder, Right.OPERATOR),
            Route("POST", "/knowledge/samples", self._samples, Right.ADMIN),
            Route("GET", "/knowledge/jobs", self._jobs, Right.ADMIN),
            Route("GET", "/knowledge/jobs/{job}", self._job, Right.ADMIN),
            Route("GET", "/knowledge/proposals", self._proposals, Right.ADMIN),
            Route("GET", "/knowledge/removed", self._removed_documents, Right.ADMIN),
            Route("GET", "/knowledge/audit", self._audit, Right.ADMIN),
        )

    # --- looking

    async def _overview(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        bases = await self._look(visitor, KbCommand(KbVerb.LIST, page=_page(request)))
        queue = await self._look(visitor, KbCommand(KbVerb.STATUS)) if visitor.is_admin else None
        if not isinstance(bases, BaseList):
            raise NotFound("The knowledge bases cannot be shown.")
        return self._html(request, visitor, "knowledge.html", bases=bases, queue=queue, **_LIMITS)

    async def _base(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        name = request.match_info["base"]
        documents = await self._look(visitor, KbCommand(KbVerb.LIST, name, page=_page(request)))
        details = await self._look(visitor, KbCommand(KbVerb.SHOW, name))
        if not isinstance(documents, DocumentList) or not isinstance(details, BaseDetails):
            raise NotFound("There is no such knowledge base.")
        return self._html(request, visitor, "base.html", documents=documents, details=details, **_LIMITS)

    async def _jobs(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        view = await self._look(visitor, KbCommand(KbVerb.JOBS, page=_page(request)))
        return self._html(request, visitor, "jobs.html", view=view)

    async def _job(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        view = await self._look(visitor, KbCommand(KbVerb.JOBS, target=request.match_info["job"]))
        if not isinstance(view, JobDetails):
            raise NotFound("There is no such job.")
        if not wants_part(request):
            return self._html(request, visitor, "job.html", job=view.job)
        response = self.pages.part("_job_card.html", job=view.job, visitor=visitor)
        if view.job.over:
            response.headers.update(JOB_OVER)
        return response

    async def _proposals(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        view = await self._look(visitor, KbCommand(KbVerb.PROPOSALS, page=_page(request)))
        return self._html(request, visitor, "proposals.html", view=view)

    async def _removed_documents(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        view = await self._look(visitor, KbCommand(KbVerb.RESTORE, page=_page(request)))
        return self._html(request, visitor, "removed.html", view=view)

    async def _audit(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        return self._html(request, visitor, "audit.html", entries=await self.audit.recent(AUDITED))

    async def _look(self, visitor: Visitor, command: KbCommand) -> KbResult:
        """Return the result of a query. Raises NotFound with the service's message if it refuses."""
        result = await self.kb.handle(command, visitor.caller())
        if isinstance(result, Refused):
            raise NotFound(result.message, remedy=result.remedy or None)
        return result

    # --- changing

    async def _do(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        """Run the command in a form. The service checks permissions now."""
        form = {name: value.strip()[:_LONGEST] for name, value in (await read_form(request)).items()}
        return self._result(request, visitor, await self.kb.handle(command_of(form), visitor.caller()))

    async def _files(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        if request.content_type != KIND:
            raise DocumentRejected("No files were chosen.", remedy="Choose files, then send them.")
        upload = Upload(request)
        try:
            async with asyncio.timeout(UPLOAD_SECONDS):
                await upload.read_fields()
                result = await self._ingest(visitor, upload.fields.get("base", ""), upload.files())
        except TimeoutError:
            raise DocumentRejected("The files took too long to arrive.", remedy="Send fewer at once.") from None
        return self._result(request, visitor, result, upload.refused)

    async def _folder(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        """Ingest a folder of this machine, with the file names that ``footnote ingest`` uses."""
        form = await read_form(request)
        found = await self.local_files(form.get("path", "")[:_LONGEST])
        base = form.get("base", "").strip()[:_LONGEST]
        name = form.get("name", "").strip()
        naming = await self.kb.name_files(found.files, base, visitor.caller(), name=name)
        result = await self._ingest(visitor, base, found.read(naming.files))
        notes = [*map(str, naming.kept), *naming.notes, *filter(None, [naming.missing_note])]
        return self._result(request, visitor, result, [*found.refused_files, *notes])

    async def _samples(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        return self._result(request, visitor, await self._ingest(visitor, SAMPLES, self.samples()))

    async def _ingest(self, visitor: Visitor, base: str, files: AsyncIterator[FileContent]) -> KbResult:
        """Ingest files into a base, which is created if it does not exist."""
        caller = visitor.caller()
        there = await self.kb.require_base(base, caller) if base else None
        if isinstance(there, Refused):
            return there
        return await self.kb.ingest_bytes(files, there.name if there else "", caller)

    def _result(
        self, request: web.Request, visitor: Visitor, result: KbResult, refused: list[str] | None = None
    ) -> web.StreamResponse:
        context = {
            "lines": result_lines(result),
            "jobs": accepted_jobs(result),
            "ok": is_success(result),
            "confirm": result if isinstance(result, ConfirmationView) else None,
            "refused": refused or [],
        }
        if isinstance(result, BaseRemoved) or not wants_part(request):
            page = self._html(request, visitor, "kb_result.html", **context)
            page.headers.update(REMOVED if isinstance(result, BaseRemoved) else {})
            return page
        response = self.pages.part("_kb_result.html", visitor=visitor, **context)
        if context["ok"] and context["confirm"] is None:
            response.headers.update(CHANGED)
        return response

    def _html(self, request: web.Request, visitor: Visitor, template: str, **context: Any) -> web.StreamResponse:
        return self.pages.html(request, visitor, template, now=self.clock.now(), **context)


_LIMITS = {"most_files": MOST_FILES, "largest": LARGEST // 2**20}


def command_of(form: dict[str, str]) -> KbCommand:
    """Return the command in a form. Raises DocumentRejected if the page does not offer it."""
    try:
        verb = KbVerb(form.get("verb", ""))
    except ValueError:
        verb = KbVerb.LIST
    if verb not in _CHANGES:
        raise DocumentRejected("That action does not exist here.")
    limit = form.get("limit", "")
    command = KbCommand(
        verb,
        base=form.get("base", ""),
        target=form.get("target", ""),
        text=form.get("text", ""),
        principals=tuple(form.get("principals", "").replace(",", " ").split()),
        every=form.get("every", ""),
        limit=int(limit) if limit.isdecimal() and len(limit) < 6 else 0,
        confirmed=form.get("confirmed") == "yes",
    )
    return replace(command, principals=(EVERYONE,)) if form.get("everyone") == "yes" else command


def _page(request: web.Request) -> int:
    given = request.query.get("page", "")
    return int(given) if given.isdecimal() and 0 < len(given) < 6 else 1


def result_lines(result: KbResult) -> list[str]:
    """Return the lines of an outcome; none for views, which have their own templates."""
    outcome = result.outcome if isinstance(result, ProposalDecided) else result
    return outcome_lines(outcome) if isinstance(outcome, KbOutcome) else []


def told_with_jobs(result: KbResult) -> str:
    """Return the result and its jobs in one paragraph, for places without job cards."""
    jobs = [f"{job_title(job)}. {job_state(job)}" for job in accepted_jobs(result)]
    return " ".join([*jobs, *result_lines(result)])
