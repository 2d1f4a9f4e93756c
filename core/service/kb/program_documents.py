"""Documents that programs add over the API, each under the program's own key, in a base that its token names.

A document's source is ``api:TOKEN:key``, so a token reaches only its own documents. Their readers are those of their
base. A program may state who may read a document. A base with more readers is then refused, both when the document is
accepted and when it is published.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.ingestion.ingestor import document_id_of
from core.ingestion.trash import Trash
from core.model.conversation import ThreadKey
from core.model.errors import Denied, NotFound
from core.model.incoming_events import Permissions
from core.model.jobs import ItemKind, Job, JobItem, JobKind, content_digest
from core.model.knowledge import Document, KnowledgeBase
from core.model.plain_text import one_line
from core.ports.catalog import BlobStore, Catalog
from core.ports.job_store import JobStore
from core.service.api_clients import API_PLATFORM, ApiClient
from core.service.kb.command_audit import CommandAudit
from core.service.kb.commands import Caller, KbVerb
from core.service.kb.item_sources import file_name, spool_name
from core.service.kb.job_queue import JobQueue

EVERYONE = "everyone"  # in an audience: all who read the base


@dataclass(frozen=True, slots=True)
class GivenDocument:
    """A document from a program. ``address`` is shown with citations and never fetched.

    ``audience`` are principals as text, or EVERYONE; empty means all readers of the base. The ending of ``name`` gives
    the format; empty means Markdown.
    """

    key: str
    data: bytes
    name: str = ""
    title: str = ""
    address: str | None = None
    dated: str = ""
    base: str = ""
    audience: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ProgramDocuments:
    """Adds, shows and deletes a token's own documents. Every method raises Denied, NotFound and StoreUnavailable."""

    catalog: Catalog
    trash: Trash
    job_queue: JobQueue
    jobs: JobStore
    blobs: BlobStore
    audit: CommandAudit

    async def put(self, client: ApiClient, given: GivenDocument) -> Job:
        """Add or replace this document; if the same one is already queued, return that job. Raises Busy."""
        base = await self._base(client, given.base)
        caller = _caller(client)
        job = self.job_queue.create_job(JobKind.INGEST, base.name, caller, one_line(given.title) or given.key)
        source, spooled = _source(client, given.key), spool_name(job.id, given.key)
        audience = frozenset() if EVERYONE in given.audience else given.audience
        (giver,) = client.audience.principals
        check_readers(base, audience, giver)
        told = "\x1f".join((given.title, given.address or "", given.dated, *sorted(audience))).encode()
        item = JobItem(
            ItemKind.SPOOLED,
            source,
            spooled,
            name=given.name or file_name(given.title or given.key),
            url=given.address,
            title=one_line(given.title),
            dated=given.dated,
            audience=audience,
            giver=giver,
            digest=await asyncio.to_thread(content_digest, told + given.data),
        )
        await self.blobs.keep(spooled, given.data)
        accepted = await self.job_queue.accept_once(replace(job, items=(item,)))
        await self.audit.record(caller, KbVerb.INGEST, f"{base.name}/{source}", detail=f"job {accepted.id}")
        return accepted

    async def documents(self, client: ApiClient, base: str = "") -> Sequence[tuple[str, Document]]:
        """Return the token's own documents with their keys, by key and base."""
        bases = [await self._base(client, base)] if base else await self._bases(client)
        found = await self.catalog.documents(frozenset(one.name for one in bases))
        prefix = _source(client, "")
        own = [(one.source.removeprefix(prefix), one) for one in found if one.source.startswith(prefix)]
        return sorted(own, key=lambda keyed: (keyed[0], keyed[1].knowledge_base))

    async def document(self, client: ApiClient, key: str, base: str = "") -> Document:
        """Return the token's own document with this key."""
        name = (await self._base(client, base)).name
        found = await self.catalog.document(document_id_of(name, _source(client, key)))
        if found is None:
            raise NotFound("This token has no document with this key.", remedy="GET /v1/documents lists its documents.")
        return found

    async def remove(self, client: ApiClient, key: str, base: str = "") -> Document:
        """Remove the token's own document; an admin can restore it for seven days. Raises Busy while it is added."""
        found = await self.document(client, key, base)
        await self.job_queue.check_idle(found)
        await self.trash.remove(found, client.person().id)
        await self.audit.record(_caller(client), KbVerb.REMOVE, f"{found.knowledge_base}/{found.source}")
        return found

    async def job(self, client: ApiClient, job_id: str) -> Job:
        """Return a job that this token started."""
        job = await self.jobs.read(job_id)
        if job is None or job.by.id != client.person().id:
            raise NotFound("This token has no job with this id.")
        return job

    async def _bases(self, client: ApiClient) -> Sequence[KnowledgeBase]:
        if client.bases is None:
            raise Denied("This token has no knowledge base.", remedy="Create a token with --scope ingest --kb NAME.")
        return [base for base in await client.visible_bases(self.catalog) if not base.connection]

    async def _base(self, client: ApiClient, name: str) -> KnowledgeBase:
        bases = await self._bases(client)
        named = [one for one in bases if not name or one.name.casefold() == name.strip().casefold()]
        if len(named) == 1:
            return named[0]
        there = ", ".join(sorted(one.name for one in bases)) or "none now"
        if not name:
            raise NotFound("Which knowledge base?", remedy=f"Name one of this token's knowledge bases: {there}.")
        raise NotFound(f"This token has no access to a knowledge base “{name[:60]}”.", remedy=f"Available: {there}.")


def key_of(client: ApiClient, source: str) -> str:
    """Return the key of one of this token's documents."""
    return source.removeprefix(_source(client, ""))


def _source(client: ApiClient, key: str) -> str:
    return f"{API_PLATFORM}:{client.id}:{key}"


def check_readers(base: KnowledgeBase, audience: frozenset[str], giver: str) -> None:
    """Raise Denied if more people read the base than a document is for, or if its program may not read it."""
    if giver and base.grants and giver not in base.grants:
        raise Denied(f"This token can no longer use “{base.name}”.", remedy="Ask an admin to grant it.")
    if audience and not (base.grants and base.grants <= audience | {giver}):
        raise Denied(
            f"“{base.name}” has more readers than this document may have.",
            remedy="Choose a knowledge base with fewer readers, or leave out the audience.",
        )


def _caller(client: ApiClient) -> Caller:
    person = client.person()
    return Caller(person, Permissions(), client.audience, ThreadKey(API_PLATFORM, "", person.id, "documents"))
