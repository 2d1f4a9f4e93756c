"""What an ingest would do, with nothing done: each file read and compared with what is indexed."""

from collections.abc import Sequence
from pathlib import Path

from adapters.terminal.ingest_view import AnyFile, read_files, unreadable_result
from core.ingestion.ingestor import IngestResult
from core.service.kb.commands import Caller
from core.service.kb.service import KnowledgeService


async def preview_files(
    kb: KnowledgeService, caller: Caller, files: Sequence[AnyFile], base: str
) -> list[IngestResult]:
    """How each of these files would come out; passages are only known of those that stay as they are."""
    unreadable: dict[Path, IngestResult] = {}

    def note(path: Path, source: str, error: OSError) -> None:
        unreadable[path] = unreadable_result(source, error)

    previewed = iter(await kb.preview_ingest(read_files(files, note), base, caller))
    return [unreadable[path] if path in unreadable else next(previewed) for path, *_ in files]
