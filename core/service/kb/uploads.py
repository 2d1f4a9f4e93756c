"""Bytes that a client has at hand, beside what stands in a base: which need no ingest, and what an ingest would do."""

from collections.abc import AsyncIterable, Mapping, Sequence
from dataclasses import dataclass

from core.ingestion.consistency import IndexConsistency
from core.ingestion.ingestor import Ingestor, IngestResult
from core.ingestion.material import Material
from core.model.file_content import FileContent
from core.model.jobs import pending_sources
from core.model.knowledge import Document
from core.ports.job_store import JobStore


@dataclass(frozen=True, slots=True)
class Uploads:
    """Compares; changes nothing."""

    ingestor: Ingestor
    consistency: IndexConsistency
    jobs: JobStore

    async def find_unchanged(self, files: AsyncIterable[FileContent], base: str) -> Mapping[str, Document]:
        """Those of these files that need no ingest, by source, each with its document.

        A file of which the index has lost passages needs one, and so does one that a job in line has: what stands in
        the base of that one now is not what stands there when its turn comes. Raises StoreUnavailable.
        """
        pending = pending_sources(base, await self.jobs.recent())
        same: dict[str, Document] = {}
        async for file in files:
            document = await self.ingestor.find_unchanged(_material(file), base)
            if document is not None and file.source not in pending:
                same[file.source] = document
        lost = {one.document.source for one in await self.consistency.incomplete(list(same.values()))}
        return {source: document for source, document in same.items() if source not in lost}

    async def preview(self, files: AsyncIterable[FileContent], base: str) -> Sequence[IngestResult]:
        """How each of these files would come out, in their order. Raises StoreUnavailable."""
        return [await self.ingestor.preview(_material(file), base) async for file in files]


def _material(file: FileContent) -> Material:
    return Material(file.source, file.name, file.data, origin=file.origin)
