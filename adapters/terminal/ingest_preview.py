"""What an ingest would do, with nothing done: each file read and compared with what is indexed."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from adapters.terminal.ingest_view import Terminal
from core.ingestion.ingestor import Change, IngestResult, document_id_of
from core.ingestion.material import Material
from core.model.errors import DocumentRejected, NoText
from core.ports.parser import Parser


async def preview_files(
    terminal: Terminal, parser: Parser, files: Sequence[tuple[Path, str]], base: str
) -> list[IngestResult]:
    """How each of (path, source name) would come out; passages are only known of those that stay as they are."""
    there = await terminal.trash.base(base)
    return [await _preview(terminal, parser, path, source, there.name if there else None) for path, source in files]


async def _preview(terminal: Terminal, parser: Parser, path: Path, source: str, base: str | None) -> IngestResult:
    try:
        data = await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        return IngestResult(source, Change.FAILED, reason=f"It cannot be read: {error.strerror or error}.")
    material = Material(source=source, name=path.name, data=data)
    known = await terminal.ingestor.find_unchanged(material, base) if base else None
    if known is not None:
        return IngestResult(source, Change.UNCHANGED, known.passages)
    try:
        parsed = await parser.parse(path.name, data)
    except NoText as reason:
        return IngestResult(source, Change.SKIPPED, reason=str(reason))
    except DocumentRejected as reason:
        return IngestResult(source, Change.FAILED, reason=str(reason))
    before = await terminal.ingestor.document(document_id_of(base, source)) if base else None
    return IngestResult(source, Change.UPDATED if before else Change.ADDED, notes=parsed.notes)
