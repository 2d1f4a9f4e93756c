"""Reading the knowledge without a question: search, documents, sections; for programs and ``footnote search``."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.model.errors import NotFound
from core.model.knowledge import Document, Passage
from core.model.source_names import matching_sources
from core.ports.catalog import Catalog
from core.ports.index import Index, Scope
from core.retrieval.hybrid import Retrieval, Retriever
from core.service.api_clients import ApiClient

MOST_HITS = 100  # of one search; programs may ask for 20
MOST_DOCUMENTS = 200  # listed at once
MOST_PASSAGES = 100  # of one section


@dataclass(frozen=True, slots=True)
class Listing:
    """Documents of the bases that a client may read, and how many more there are."""

    documents: Sequence[Document]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document, its passages in reading order; ``cut`` where it has more."""

    document: Document
    passages: Sequence[Passage]
    cut: bool = False

    @property
    def text(self) -> str:
        """The section as it reads."""
        return "\n\n".join(passage.text for passage in self.passages)


@dataclass(frozen=True, slots=True)
class KnowledgeReader:
    """Looks; changes nothing. What a client may not read does not exist here."""

    catalog: Catalog
    index: Index
    retriever: Retriever

    async def search(
        self, client: ApiClient, query: str, *, base: str = "", source: str = "", limit: int = 8
    ) -> Retrieval:
        """The best passages, best first: of all bases, of one, or of the documents that ``source`` means.

        Raises NotFound for a base or a source that is not there, Unavailable.
        """
        bases = await client.select_bases(self.catalog, base)
        documents = None
        if source:
            chosen = matching_sources(await self.catalog.documents(bases), source)
            if not chosen:
                raise NotFound(
                    f"There is no source called “{source[:80]}”.", remedy="List the sources to see their names."
                )
            documents = frozenset(document.id for document in chosen)
        return await self.retriever.search(query, Scope(bases, documents), max(1, min(limit, MOST_HITS)))

    async def documents(self, client: ApiClient, *, base: str = "", name: str = "") -> Listing:
        """What there is, by base and title; with ``name`` those whose title or path holds it. Raises NotFound."""
        found = await self.catalog.documents(await client.select_bases(self.catalog, base))
        chosen = matching_sources(found, name) if name.strip() else found
        return Listing(chosen[:MOST_DOCUMENTS], max(0, len(chosen) - MOST_DOCUMENTS))

    async def section(self, client: ApiClient, document_id: str, section_id: str) -> Section:
        """One section as search names it. Raises NotFound for what is not there, or not for this client."""
        document = await self.catalog.document(document_id)
        bases = await client.select_bases(self.catalog, "")
        if document is None or document.knowledge_base not in bases:
            raise NotFound("There is no such document.", remedy="A search names the documents that there are.")
        scope = Scope(frozenset({document.knowledge_base}))
        passages = [
            one for one in await self.index.passages(document.id, document.version, scope) if one.section == section_id
        ]
        if not passages:
            raise NotFound("That document has no such section.", remedy="A search names the sections as they are now.")
        return Section(document, passages[:MOST_PASSAGES], len(passages) > MOST_PASSAGES)
