"""Original files of documents, kept so that a lost index can be rebuilt without asking people for the files.

They are compressed. A version's original is kept as long as the version is visible or restorable.
"""

import asyncio
import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta

from core.model.knowledge import Document
from core.ports.catalog import BlobStore


@dataclass(frozen=True, slots=True)
class Material:
    """A file to ingest. ``source`` is its path or link within the base.

    ``origin`` says where it comes from (``core.model.document_content``). It is empty if the source shows that.
    """

    source: str
    name: str
    data: bytes
    url: str | None = None
    added_by: str = ""
    title: str = ""
    etag: str = ""
    dated: str = ""  # YYYY-MM-DD, if the sender gives it; otherwise the date in the text counts
    origin: str = ""


_LEFT_BEHIND = timedelta(days=1)  # longer than any ingest takes
STORE_MARK = "which store this is"  # name of the blob that identifies the store; never swept
_LEVEL = 3  # gzip level; low, because office files and PDFs are compressed already


@dataclass(slots=True)
class Originals:
    """Original files in their own blob store."""

    blobs: BlobStore

    async def keep(self, document: Document, material: Material) -> int:
        """Store the file of this version. Return its compressed size in bytes. Raises DocumentRejected without room."""
        packed = await asyncio.to_thread(_pack, material)
        await self.blobs.keep(original_name(document), packed)
        return len(packed)

    async def lost(self, documents: Sequence[Document]) -> frozenset[str]:
        """Return the ids of documents whose original is missing or has another size. Contents are not read."""
        kept = {original_name(one): one for one in documents if one.original}
        sizes = await self.blobs.sizes(kept) if kept else {}
        return frozenset(one.id for name, one in kept.items() if sizes.get(name) != one.original)

    async def read(self, document: Document) -> Material | None:
        """Return the file of this version, or None if it is missing or unreadable."""
        data = await self.blobs.read(original_name(document))
        try:
            return None if data is None else await asyncio.to_thread(_unpack, data)
        except (OSError, EOFError, ValueError, TypeError):  # truncated on a full or broken disk
            return None

    async def forget(self, document: Document) -> None:
        """Remove the file of this version, if it exists."""
        await self.blobs.forget(original_name(document))

    async def sweep(self, documents: Iterable[Document]) -> int:
        """Remove originals that are a day old and belong to none of these documents. Return the number."""
        spared = [STORE_MARK, *(original_name(document) for document in documents)]
        return await self.blobs.sweep(_LEFT_BEHIND, sparing=spared)


def original_name(document: Document) -> str:
    """Return the blob name of a document's original."""
    return f"original-{document.id}-{document.version}"


def _pack(material: Material) -> bytes:
    head = {name: value for name, value in asdict(material).items() if name != "data"}
    return gzip.compress(json.dumps(head).encode() + b"\n" + material.data, _LEVEL)


def _unpack(data: bytes) -> Material:
    head, _, content = gzip.decompress(data).partition(b"\n")
    return Material(**json.loads(head), data=content)
