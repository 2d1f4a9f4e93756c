"""Entry point of ``/kb`` for Slack, Discord, the web page and the terminal: checks rights and records commands.

The caller's rights are looked up now. The audit records every change and every refusal, but no reads. Each verb's
module does the work: ``queries`` (reads), ``job_commands``, ``schedules``, ``removals``, ``bases``, ``proposals``.
"""

import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from core.ingestion.consistency import IndexConsistency
from core.ingestion.ingestor import Ingestor, IngestResult
from core.ingestion.originals import Material
from core.model.document_content import FileContent, LocalFile
from core.model.errors import WENT_WRONG, Denied, FootnoteError
from core.model.jobs import pending_sources
from core.model.knowledge import Document, KnowledgeBase, Passage
from core.service.kb.bases import Bases
from core.service.kb.command_audit import CommandAudit, describe_command, describe_result
from core.service.kb.commands import Caller, KbCommand, KbVerb
from core.service.kb.file_origins import FileNaming, FileOrigins
from core.service.kb.job_commands import JobCommands
from core.service.kb.proposals import Proposals
from core.service.kb.queries import KnowledgeQueries
from core.service.kb.removals import Removals
from core.service.kb.results import KbResult, KbView, RefusalReason, Refused
from core.service.kb.schedules import Schedules
from core.service.sync.connections import ConnectLinks

FOR_ALL = frozenset({KbVerb.LIST, KbVerb.SHOW})
ONLY_LOOKING = FOR_ALL | {KbVerb.STATUS, KbVerb.JOBS, KbVerb.PROPOSALS}

log = logging.getLogger(__name__)

VerbHandler = Callable[[KbCommand, Caller], Awaitable[KbResult]]


@dataclass(frozen=True, slots=True)
class KnowledgeService:
    """The interface for every client. No command raises: every result can be shown as it is. Stateless."""

    queries: KnowledgeQueries
    job_commands: JobCommands
    schedules: Schedules
    removals: Removals
    bases: Bases
    proposals: Proposals
    origins: FileOrigins
    connect_links: ConnectLinks
    ingestor: Ingestor
    consistency: IndexConsistency
    audit: CommandAudit

    async def handle(self, command: KbCommand, caller: Caller) -> KbResult:
        """Run a command, or return a refusal in one line. Longer work is accepted as a job within a second."""
        about = describe_command(command)
        try:
            if command.verb not in FOR_ALL:
                _require_admin(caller)
            result = await self._handler(command.verb)(command, caller)
        except Denied as error:
            await self.audit.record(caller, command.verb, about, allowed=False)
            return Refused.of(error)
        except FootnoteError as error:
            if not _only_looks(command):
                await self.audit.record(caller, command.verb, about, detail=f"not done: {error}")
            return Refused.of(error)
        except Exception:
            log.exception("kb_failed", extra={"verb": command.verb})
            return Refused(RefusalReason.FAILED, WENT_WRONG)
        if not isinstance(result, KbView):
            await self.audit.record(caller, command.verb, about, detail=describe_result(result))
        return result

    def _handler(self, verb: KbVerb) -> VerbHandler:
        return {
            KbVerb.INGEST: self.job_commands.ingest,
            KbVerb.LIST: self.queries.list_contents,
            KbVerb.SHOW: self.queries.show,
            KbVerb.REMOVE: self.removals.remove,
            KbVerb.RESTORE: self.removals.restore,
            KbVerb.REFRESH: self.job_commands.refresh,
            KbVerb.SCHEDULE: self.schedules.schedule,
            KbVerb.REPAIR: self.job_commands.repair_index,
            KbVerb.CREATE: self.bases.create,
            KbVerb.DESCRIBE: self.bases.describe,
            KbVerb.GRANT: self.bases.grant,
            KbVerb.REVOKE: self.bases.revoke,
            KbVerb.CONFIRM: self.bases.confirm,
            KbVerb.STATUS: self.queries.status,
            KbVerb.JOBS: self.queries.job_list,
            KbVerb.CANCEL: self.job_commands.cancel,
            KbVerb.PROPOSALS: self.queries.proposals,
            KbVerb.APPROVE: self.proposals.decide,
            KbVerb.REJECT: self.proposals.decide,
            KbVerb.CONNECT: self.connect_links.issue,
        }[verb]

    async def proposals_waiting(self, caller: Caller) -> int:
        """Return how many proposals wait for an admin; 0 for others, and if that cannot be read."""
        try:
            waiting = await self.queries.proposals_waiting(caller)
        except FootnoteError:
            return 0
        return waiting.count if waiting is not None else 0

    # --- for clients that send bytes

    async def ingest_bytes(self, files: AsyncIterable[FileContent], base: str, caller: Caller) -> KbResult:
        """INGEST files whose bytes the client sends. Only for admins."""
        if not caller.permissions.is_admin:
            return await self.handle(KbCommand(KbVerb.INGEST, base), caller)
        return await self.job_commands.ingest_bytes(files, base, caller)

    async def require_base(self, name: str, caller: Caller) -> KnowledgeBase | Refused:
        """Return the base of this name, ignoring case; create and record it if it is new."""
        there = await self.bases.find(name)
        if there is not None:
            return there
        made = await self.handle(KbCommand(KbVerb.CREATE, name), caller)
        there = await self.bases.find(name)  # another caller may have created it first
        if there is not None:
            return there
        return (
            made
            if isinstance(made, Refused)
            else Refused(RefusalReason.NOT_DONE, f"“{name}” was removed in the meantime.")
        )

    async def has_base(self, name: str) -> bool:
        """Return whether there is a base of this name, ignoring case."""
        return await self.bases.find(name) is not None

    async def discard_empty_base(self, name: str, caller: Caller) -> None:
        """Remove and record a base that was created for an ingest that added nothing."""
        _require_admin(caller)
        base = await self.bases.find(name)
        if base is not None and await self.bases.discard_empty(base, self.job_commands.jobs):
            await self.audit.record(caller, KbVerb.REMOVE, base.name, detail="nothing came in")

    async def name_files(
        self, files: Sequence[LocalFile], base: str, caller: Caller, *, name: str = "", dry: bool = False
    ) -> FileNaming:
        """Name files by their place of origin. Raises Denied, DocumentRejected, StoreUnavailable."""
        _require_admin(caller)
        there = await self.bases.find(base)
        return await self.origins.name_files(files, there.name if there is not None else base, name=name, dry=dry)

    async def find_unchanged(
        self, files: AsyncIterable[FileContent], base: str, caller: Caller
    ) -> Mapping[str, Document]:
        """Return the documents of those files that need no ingest, by source. Raises Denied, StoreUnavailable.

        A file needs one if the index has lost passages of it, or if a queued job will change its document.
        """
        _require_admin(caller)
        pending = pending_sources(base, await self.job_commands.jobs.recent())
        same: dict[str, Document] = {}
        async for file in files:
            document = await self.ingestor.find_unchanged(_material(file), base)
            if document is not None and file.source not in pending:
                same[file.source] = document
        lost = {one.document.source for one in await self.consistency.incomplete(list(same.values()))}
        return {source: document for source, document in same.items() if source not in lost}

    async def preview_ingest(
        self, files: AsyncIterable[FileContent], base: str, caller: Caller
    ) -> Sequence[IngestResult]:
        """Return the outcome that an ingest of these files would have, in order. Raises Denied, StoreUnavailable."""
        _require_admin(caller)
        there = await self.bases.find(base)
        name = there.name if there is not None else base
        return [await self.ingestor.preview(_material(file), name) async for file in files]

    # --- for clients that show whole documents

    async def documents(self, caller: Caller, base: str = "") -> Sequence[Document]:
        """Return all documents of a base, or of all visible bases. Raises NotFound, StoreUnavailable."""
        bases = [await self.queries.base(base, caller)] if base else await self.queries.visible(caller)
        return await self.queries.documents(*bases)

    async def document(self, name: str, caller: Caller, base: str = "") -> tuple[Document, Sequence[Passage]]:
        """Return the document of this name with all its passages. Raises NotFound, StoreUnavailable."""
        found = await self.queries.document(KbCommand(KbVerb.SHOW, base, name), caller)
        return found, await self.queries.passages(found)


def _material(file: FileContent) -> Material:
    return Material(file.source, file.name, file.data, origin=file.origin)


def _only_looks(command: KbCommand) -> bool:
    """Return whether a command changes nothing. RESTORE without a name only lists."""
    lists = command.verb is KbVerb.RESTORE and not command.base and not command.target
    return lists or command.verb in ONLY_LOOKING


def _require_admin(caller: Caller) -> None:
    if not caller.permissions.is_admin:
        raise Denied("Only admins can do that.", remedy="Ask one of them.")
