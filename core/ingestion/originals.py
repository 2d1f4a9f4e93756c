"""What documents were made of, kept so that a lost index can be filled again without asking anybody for the files.

Compressed, one for each document at its visible version, and as long as that can be seen or restored.
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
    """A file that wants to become knowledge. ``source`` names it within its base: a path or a link.

    ``origin`` says where it comes from (``core.model.document_content``); empty where the source says so.
    """

    source: str
    name: str
    data: bytes
    url: str | None = None
    added_by: str = ""
    title: str = ""
    etag: str = ""
    dated: str = ""  # YYYY-MM-DD, where its giver says so; else the text's own date counts
    origin: str = ""


_LEFT_BEHIND = timedelta(days=1)  # no document takes as long to come in
STORE_MARK = "which store this is"  # what tells one store of files from another lies among them, and stays
_LEVEL = 3  # of gzip: files are compressed once, and office files and PDFs are so already


class Originals:
    """Keeps and finds them in a blob store of their own."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    async def keep(self, document: Document, material: Material) -> int:
        """Keep what this version of a document is made of, in so many bytes. Raises DocumentRejected without room."""
        packed = await asyncio.to_thread(_pack, material)
        await self._blobs.keep(original_name(document), packed)
        return len(packed)

    async def lost(self, documents: Sequence[Document]) -> frozenset[str]:
        """Return the ids of those whose original is missing or has another length. Its content is not read."""
        kept = {original_name(one): one for one in documents if one.original}
        sizes = await self._blobs.sizes(kept) if kept else {}
        return frozenset(one.id for name, one in kept.items() if sizes.get(name) != one.original)

    async def read(self, document: Document) -> Material | None:
        """Return what this version was made of; None where it was not kept, or what is kept cannot be read."""
        data = await self._blobs.read(original_name(document))
        try:
            return None if data is None else await asyncio.to_thread(_unpack, data)
        except (OSError, EOFError, ValueError, TypeError):  # cut short on a disk that was full or broken
            return None

    async def forget(self, document: Document) -> None:
        """Remove what this version was made of, if it is there."""
        await self._blobs.forget(original_name(document))

    async def sweep(self, documents: Iterable[Document]) -> int:
        """Remove what belongs to none of these documents, and has for a day; how many."""
        spared = [STORE_MARK, *(original_name(document) for document in documents)]
        return await self._blobs.sweep(_LEFT_BEHIND, sparing=spared)


def original_name(document: Document) -> str:
    """Return the name under which a document's bytes are kept."""
    return f"original-{document.id}-{document.version}"


def _pack(material: Material) -> bytes:
    head = {name: value for name, value in asdict(material).items() if name != "data"}
    return gzip.compress(json.dumps(head).encode() + b"\n" + material.data, _LEVEL)


def _unpack(data: bytes) -> Material:
    head, _, content = gzip.decompress(data).partition(b"\n")
    return Material(**json.loads(head), data=content)
