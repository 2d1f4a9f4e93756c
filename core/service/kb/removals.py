"""Commands that remove and restore documents and whole bases; a search then verifies the result."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.ingestion.trash import Trash
from core.model.errors import FootnoteError, NotFound
from core.model.jobs import JobKind
from core.model.knowledge import Document, KnowledgeBase, Passage, find_base, matching_sources, redact_link
from core.ports.catalog import Catalog, RemovedDocument
from core.ports.index import Index, Scope
from core.ports.job_store import ProposalStore, SiteStore
from core.retrieval.hybrid import Retriever
from core.service.disputes.decisions import withdraw_decision
from core.service.kb.commands import Caller, KbCommand
from core.service.kb.job_queue import JobQueue
from core.service.kb.queries import KnowledgeQueries, not_one, page_of
from core.service.kb.results import (
    BaseRemoved,
    DocumentRemoved,
    DocumentRestored,
    JobAccepted,
    KbResult,
    RemovalPreview,
    RestorableList,
)
from core.service.kb.schedules import Schedules
from core.service.kb.summaries import OfferedCommand, SearchCheck, summarize_job, summarize_removal

CHECKED = 10  # search results that verify a removal
OTHERS = 3  # titles of other documents found
SHORT = 8  # characters of a version, as lists show it


@dataclass(frozen=True, slots=True)
class Removals:
    """Handles REMOVE and RESTORE. Removed documents are no longer fetched on a schedule."""

    catalog: Catalog
    index: Index
    retriever: Retriever
    trash: Trash
    site_store: SiteStore
    job_queue: JobQueue
    schedules: Schedules
    queries: KnowledgeQueries
    proposal_store: ProposalStore

    async def remove(self, command: KbCommand, caller: Caller) -> KbResult:
        """REMOVE a document or a whole base, after confirmation."""
        if command.target:
            document = await self.queries.document(command, caller)
            await self.queries.own_base(document.knowledge_base, caller)
            return await self._remove_document(command, document, caller)
        if not command.base:
            raise NotFound("What should be removed?", remedy="Name a document, or a whole knowledge base.")
        return await self._remove_base(command, await self.queries.own_base(command.base, caller), caller)

    async def _remove_base(self, command: KbCommand, base: KnowledgeBase, caller: Caller) -> KbResult:
        documents = await self.queries.documents(base)
        if not command.confirmed:
            asked = replace(command, base=base.name, confirmed=True)
            confirm = OfferedCommand(f"Remove {base.name}", asked, once=True)
            return RemovalPreview(base.name, confirm, documents=len(documents))
        gone = await self.trash.remove_base(base, caller.person.id)
        await self.schedules.remove(base.name)
        for document in gone:
            await withdraw_decision(self.proposal_store, document.source)
        for site in await self.site_store.sites(base.name):
            await self.site_store.save_site(replace(site, pages={}))
        job = await self.job_queue.queue_documents(JobKind.REMOVE, gone, base.name, caller)
        check = await self._search_check(gone[0]) if gone else None
        return BaseRemoved(base.name, summarize_job(job), check)

    async def _remove_document(self, command: KbCommand, document: Document, caller: Caller) -> KbResult:
        if not command.confirmed:
            asked = replace(command, base=document.knowledge_base, target=document.id, confirmed=True)
            return RemovalPreview(
                document.knowledge_base, OfferedCommand("Remove it", asked, once=True), document.title
            )
        scope = Scope(frozenset({document.knowledge_base}), frozenset({document.id}))
        passages = await self.trash.remove(document, caller.person.id)
        await withdraw_decision(self.proposal_store, document.source)
        await self.schedules.remove(document.knowledge_base, document.source)
        return DocumentRemoved(
            title=document.title,
            base=document.knowledge_base,
            passages=passages,
            passages_left=await self.index.count(scope),
            check=await self._search_check(document),
        )

    async def _search_check(self, document: Document) -> SearchCheck:
        """Return what a search for a document's title finds now; unknown if the search fails."""
        scope = Scope(frozenset({document.knowledge_base}))
        try:
            hits = (await self.retriever.search(document.title, scope, CHECKED)).hits
        except FootnoteError:
            return SearchCheck(document.title, found=None)
        others = dict.fromkeys(_distinct_title(hit.passage, document) for hit in hits)
        found = any(hit.passage.document == document.id for hit in hits)
        return SearchCheck(document.title, found, tuple(others)[:OTHERS])

    async def restore(self, command: KbCommand, caller: Caller) -> KbResult:
        """RESTORE a document or a whole base; without a name, list what can be restored."""
        now = {base.name: base for base in await self.catalog.bases()}  # their readers may have changed since
        removed = await self.trash.restorable()
        bases = [now.get(one.base.name, one.base) for one in removed]
        kept = [
            one
            for one, base in zip(removed, bases, strict=True)
            if base.visible_to(caller.readers) and not base.connection
        ]
        if command.base:
            kept = [one for one in kept if one.base.name.casefold() == command.base.strip().casefold()]
        if command.target:
            return await self._restore_document(kept, command.target, caller)
        whole = [one for one in kept if one.whole_base]
        if not command.base or not whole:
            rows, page = page_of(kept, command)
            return RestorableList(tuple(map(summarize_removal, rows)), page)
        base = whole[0].base
        if find_base(await self.catalog.bases(), base.name) is None:
            await self.catalog.save_base(base)
        documents = [one.document for one in whole]
        job = await self.job_queue.queue_documents(JobKind.RESTORE, documents, base.name, caller)
        return JobAccepted(summarize_job(job))

    async def _restore_document(self, kept: Sequence[RemovedDocument], name: str, caller: Caller) -> KbResult:
        """Restore the document that the name means: a key from the list, a version, or the latest of that title."""
        wanted = name.strip()
        exact = [one for one in kept if one.key == wanted]
        found = exact or [one for one in kept if len(wanted) >= SHORT and one.document.version.startswith(wanted)]
        if not found:
            named = {one.id for one in matching_sources([one.document for one in kept], name)}
            found = [one for one in kept if one.document.id in named]
        documents = tuple({one.document.id: one.document for one in found}.values())
        if len(documents) != 1:
            raise not_one(name, documents, "among what was removed or replaced in the last 7 days")
        removed = found[0]
        await self.job_queue.check_idle(removed.document)  # the job would replace the restored document without a copy
        document = await self.trash.restore(removed, caller.person.id)
        return DocumentRestored(document.title, document.knowledge_base, await self._search_check(document))


def _distinct_title(passage: Passage, document: Document) -> str:
    """Return a passage's title, with its source if it is the same as the document's."""
    same = passage.title == document.title
    return f"{passage.title} ({redact_link(passage.source)})" if same else passage.title
