"""What a client of ``/kb`` calls: Slack, Discord, the terminal and the page."""

from collections.abc import AsyncIterable, Mapping, Sequence
from typing import Protocol

from core.ingestion.ingestor import IngestResult
from core.model.file_content import FileContent, LocalFile
from core.model.knowledge import Document, KnowledgeBase, Passage
from core.model.transcripts import Conversation
from core.service.kb.commands import Caller, KbCommand
from core.service.kb.file_origins import FileNaming
from core.service.kb.results import KbResult, Refused


class KnowledgeCommands(Protocol):
    """What every client calls. Nothing is raised: every result can be shown as it is."""

    async def handle(self, command: KbCommand, caller: Caller) -> KbResult:
        """Do it, or say in one line why not. Work that takes longer is accepted as a job, within a second."""

    async def propose(self, conversation: Conversation, caller: Caller, base: str = "") -> KbResult:
        """*Add to knowledge base*: an admin's is ingested, anybody else's waits for an admin."""

    async def correct(
        self,
        question: str,
        answer: str,
        permalink: str | None,
        caller: Caller,
        *,
        trace_id: str = "",
        bases: Sequence[str] = (),
    ) -> KbResult:
        """Propose the right answer to a question that was answered wrongly, in this trace and from these bases."""

    async def proposals_waiting(self, caller: Caller) -> int:
        """How many proposals an admin has to look at; 0 for everybody else, and where that cannot be read."""

    async def complete(self, typed: str, caller: Caller) -> tuple[str, ...]:
        """Names of knowledge bases that begin like this, for autocomplete: at most 25, those the caller may see."""

    async def complete_document(self, typed: str, caller: Caller, base: str = "") -> tuple[tuple[str, str], ...]:
        """(title, id) of documents that match what was typed, at most 25, of bases that the caller may see."""


class KnowledgeUploads(KnowledgeCommands, Protocol):
    """What a client calls besides where it has the bytes of files at hand: the page and the terminal."""

    async def ingest_bytes(self, files: AsyncIterable[FileContent], base: str, caller: Caller) -> KbResult:
        """INGEST of files whose bytes are at hand. An admin's alone."""

    async def require_base(self, name: str, caller: Caller) -> KnowledgeBase | Refused:
        """The base of this name, whatever the case of its letters; created, on record, when it is new."""

    async def has_base(self, name: str) -> bool:
        """Whether there is a base of this name, whatever the case of its letters. Raises StoreUnavailable."""

    async def discard_empty_base(self, name: str, caller: Caller) -> None:
        """Remove a base that was made for an ingest of which nothing came in. Raises Denied, StoreUnavailable."""

    async def name_files(
        self, files: Sequence[LocalFile], base: str, caller: Caller, *, name: str = "", dry: bool = False
    ) -> FileNaming:
        """Name files by where they come from. Raises Denied, DocumentRejected, StoreUnavailable.

        With ``name``, their one folder is called so, or takes over what is called so. ``dry`` changes nothing.
        """

    async def find_unchanged(
        self, files: AsyncIterable[FileContent], base: str, caller: Caller
    ) -> Mapping[str, Document]:
        """Those of these files that need no ingest, by source, each with its document. Raises Denied, Unavailable."""

    async def preview_ingest(
        self, files: AsyncIterable[FileContent], base: str, caller: Caller
    ) -> Sequence[IngestResult]:
        """How an ingest of these would come out, in their order; nothing is changed. Raises Denied, Unavailable."""


class KnowledgeDocuments(Protocol):
    """What a client calls that shows documents whole: the terminal."""

    async def documents(self, caller: Caller, base: str = "") -> Sequence[Document]:
        """Every document of a base, or of all that the caller may know of. Raises NotFound, Unavailable."""

    async def document(self, name: str, caller: Caller, base: str = "") -> tuple[Document, Sequence[Passage]]:
        """The one document that is meant, with all its passages. Raises NotFound, Unavailable."""
