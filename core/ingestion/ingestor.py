"""Ingestion of one document: parse, chunk, encode new passages, write, publish, retire the old version.

After a failure at any point, the old version stays searchable. New rows are invisible until the catalog names their
version, and a failure removes them.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from itertools import count
from pathlib import PurePosixPath

from core.ingestion.chunking import passages_of, same_passage_in
from core.ingestion.consistency import IndexConsistency
from core.ingestion.originals import Material, Originals
from core.ingestion.passage_vectors import vectors_of
from core.model.clock import Clock
from core.model.document_content import UPLOAD, ParsedDocument
from core.model.errors import DocumentRejected, FootnoteError, NoText, StoreUnavailable
from core.model.jobs import JobStage
from core.model.knowledge import Document, KnowledgeBase, Passage
from core.model.plain_text import one_line
from core.ports.catalog import Catalog
from core.ports.index import Encoder, Index
from core.ports.sources import Parser

LOOKED_AT = 1_500  # characters at the top that may state a date
_FIRST_LINES = 6
_MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
)
_MONTH_NUMBERS = {
    name[:length]: number
    for names in _MONTHS
    for number, name in enumerate(names.split(), 1)
    for length in (3, 4, len(name))
    if length > 3 or name not in ("juin", "juillet")
}
_STATES = (
    r"(?:(?:version|edition|issue|revision)(?: [\d.]+(?=,))?(?= of|,)|state(?=:)|looked through"
    r"|(?:last )?(?:updated|revised|reviewed|changed|modified|edited|amended|corrected)"
    r"|effective|valid|dated?"
    r"|published|released?|released on|exported|issued|written|saved|approved|adopted|in force|as of|as at"
    r"|stand|gültig|aktualisiert|geändert|veröffentlicht|erstellt|datum|mise? à jour|publiée?|modifiée?|en vigueur"
    r"|applicable|rédigée?)"
)
_WORD = r"[^\W\d_]{3,9}"
_NAMED = rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s+(?:of\s+)?(?P<month>{_WORD})\.?,?\s+(?P<year>(?:19|20)\d\d)"
_AMERICAN = rf"(?P<month2>{_WORD})\.?\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year2>(?:19|20)\d\d)"
_DOTTED = r"(?P<day3>\d{1,2})\.\s?(?P<month3>\d{1,2})\.\s?(?P<year3>(?:19|20)\d\d)"
_ISO = r"(?P<iso>(?:19|20)\d\d-\d\d-\d\d)"
_MONTHLY = rf"(?P<month4>{_WORD})\s+(?P<year4>(?:19|20)\d\d)"
_DATE = rf"(?:{_ISO}|{_NAMED}|{_AMERICAN}|{_DOTTED}|{_MONTHLY})"
# "Updated on 24 March 2026", "**Date** 2026-03-01", a table row with the cells Date and 2026-03-01.
_STATED = re.compile(rf"(?i)\b{_STATES}\b[^\n.]{{0,40}}?(?<![\w.-]){_DATE}(?![\w-])")
# A line that is a date or ends in one, for example below a title. A title with a date, of a report or a meeting.
_ALONE = re.compile(rf"(?im)^[\s*_>|-]*(?:[^\n|.#]{{0,60}}?[\s(,:–—])??\(?{_DATE}[\s)*_|]*$")
_IN_TITLE = re.compile(rf"(?im)^#[^\n]*?(?<![\w.-]){_DATE}(?![\w-])")


def stated_date(text: str) -> str:
    """Return the date after a word like "updated" near the top, or one in the title or alone on a line, or ""."""
    top = text[:LOOKED_AT]
    first = "\n".join(top.splitlines()[:_FIRST_LINES])
    for pattern, where in ((_STATED, top), (_IN_TITLE, first), (_ALONE, first)):
        for found in pattern.finditer(where):
            try:
                return _iso(found)
            except (KeyError, ValueError):
                continue
    return ""


def _iso(found: re.Match[str]) -> str:
    if found["iso"]:
        return date.fromisoformat(found["iso"]).isoformat()
    if found["year4"]:
        return f"{found['year4']}-{_month(found['month4']):02}"
    if found["year3"]:
        return date(int(found["year3"]), int(found["month3"]), int(found["day3"])).isoformat()
    day, month, year = found["day"] or found["day2"], found["month"] or found["month2"], found["year"] or found["year2"]
    return date(int(year), _month(month), int(day)).isoformat()


def _month(word: str) -> int:
    """Return the number of a month from its name or abbreviation. Raises KeyError for other words."""
    bare = word.casefold()
    return _MONTH_NUMBERS.get(bare) or _MONTH_NUMBERS[bare[:3]]


REFILLED = "A part of it was missing from the index or the stored originals. It is restored."
TAKEN = "A document from another place already has this name. Rename the file and add it again."
BATCH = 64  # passages encoded and written per call
RECIPE = "12"  # increase it when the same file yields other passages, so that files are ingested again


class Change(StrEnum):
    """Effect of an ingest on a document."""

    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"  # it has no text
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IngestResult:
    """Result of one document's ingest. ``reason`` says why it failed."""

    source: str
    change: Change
    passages: int = 0
    reason: str = ""
    notes: tuple[str, ...] = ()


Retire = Callable[[Document], Awaitable[bool]]  # moves a version to the trash; returns whether it can be restored
Progress = Callable[[JobStage, int, int], None]  # stage, pages or passages done, and total


@dataclass(slots=True, kw_only=True)
class Ingestor:
    """Ingestion and removal of documents. Without ``originals``, the documents' files are not stored."""

    index: Index
    encoder: Encoder
    catalog: Catalog
    parser: Parser
    clock: Clock
    originals: Originals | None = None

    async def ensure_base(self, name: str) -> KnowledgeBase:
        """Return the base of this name, and create it if it does not exist."""
        for base in await self.catalog.bases():
            if base.name == name:
                return base
        base = KnowledgeBase(name)
        await self.catalog.save_base(base)
        return base

    async def find_unchanged(self, material: Material, base: str) -> Document | None:
        """Return the document if its visible version was made from exactly this file. Nothing is written.

        Passages are not checked. ``IndexConsistency.incomplete`` does that for many documents at once.
        """
        before = await self.catalog.document(document_id_of(base, material.source))
        same = before is not None and before.version == self._version(material) and not _is_taken(before, material)
        return before if same else None

    async def keep_apart(self, material: Material, base: str) -> Material:
        """Return the upload, renamed if a folder's file already has its name, so that both are kept."""
        if material.origin != UPLOAD:
            return material
        path = PurePosixPath(material.source)
        names = (f"{path.stem} (uploaded{f' {number}' if number > 1 else ''}){path.suffix}" for number in count(1))
        source = material.source
        while (there := await self.catalog.document(document_id_of(base, source))) and _is_taken(there, material):
            source = next(names)
        return replace(material, source=source)

    async def preview(self, material: Material, base: str) -> IngestResult:
        """Return the result of an ingest without writing. Only unchanged documents have a passage count."""
        before = await self.catalog.document(document_id_of(base, material.source))
        if before is not None and _is_taken(before, material):
            return IngestResult(material.source, Change.FAILED, reason=TAKEN)
        if before is not None and before.version == self._version(material):
            return IngestResult(material.source, Change.UNCHANGED, before.passages)
        try:
            parsed = await self.parser.parse(material.name, material.data)
        except NoText as reason:
            return IngestResult(material.source, Change.SKIPPED, reason=str(reason))
        except DocumentRejected as reason:
            return IngestResult(material.source, Change.FAILED, reason=str(reason))
        return IngestResult(material.source, Change.UPDATED if before else Change.ADDED, notes=parsed.notes)

    async def ingest(
        self,
        material: Material,
        base: str,
        progress: Progress = lambda *_: None,
        *,
        still_ours: Callable[[], Awaitable[None]] | None = None,
        retire: Retire | None = None,
        moved_from: Document | None = None,
    ) -> IngestResult:
        """Ingest one document. Report a document's failure in the result, but raise if a store is unavailable.

        ``still_ours`` is called just before the new version becomes visible, and raises to prevent that. ``retire``
        moves the replaced version to the trash. Without it, that version is deleted. ``moved_from`` is the same
        document in another base, whose vectors are reused.
        """
        document_id = document_id_of(base, material.source)
        version = self._version(material)
        before = await self.catalog.document(document_id)
        if before is not None and _is_taken(before, material):
            return IngestResult(material.source, Change.FAILED, reason=TAKEN)
        lost = (
            before is not None
            and before.version == version
            and await IndexConsistency(self.catalog, self.index, self.originals).incomplete([before])
        )
        if before is not None and before.version == version and not lost:
            return IngestResult(material.source, Change.UNCHANGED, before.passages)
        try:
            progress(JobStage.PARSING, 0, 1)
            parsed = await self.parser.parse(
                material.name, material.data, lambda done, total: progress(JobStage.RECOGNIZING, done, total)
            )
            document = self._document(material, parsed, document_id, base, version)
            passages = await passages_of(parsed, document, self.encoder.count_tokens, self.encoder.window)
            if self.originals is not None:
                document = replace(document, original=await self.originals.keep(document, material))
            await self._write(passages, before or moved_from, progress)
            replaced = before if before is not None and before.version != version else None
            retired = replaced is not None and retire is not None and await retire(replaced)
        except NoText as reason:
            return IngestResult(material.source, Change.SKIPPED, reason=str(reason))
        except DocumentRejected as reason:
            await self._discard(document_id, before)
            return IngestResult(material.source, Change.FAILED, reason=str(reason))
        except FootnoteError:
            await self._discard(document_id, before)
            raise
        if still_ours is not None:
            await still_ours()  # not in the ``try``: another worker that took over may have written the same rows
        origin = material.origin or (before.origin if before else "")
        await self.catalog.publish(replace(document, passages=len(passages), origin=origin))
        await self.index.remove(document_id, keep_version=version)
        if replaced is not None and not retired:
            await self._forget_original(replaced)
        change = Change.UPDATED if before else Change.ADDED
        return IngestResult(
            material.source, change, len(passages), notes=(*parsed.notes, *([REFILLED] if lost else []))
        )

    async def remove(self, document_id: str) -> Document | None:
        """Remove a document. It is invisible at once, and its passages are deleted on return."""
        document = await self.catalog.withdraw(document_id)
        await self.index.remove(document_id)
        if document is not None:
            await self._forget_original(document)
        return document

    async def _forget_original(self, document: Document) -> None:
        if self.originals is not None:
            await self.originals.forget(document)

    async def tidy(self, base: str, source: str) -> int:
        """Remove all versions of a document but the visible one. Return the number of passages.

        For a worker that takes over after another one died on this document. That one may have left a version that was
        never published, or the replaced version.
        """
        document_id = document_id_of(base, source)
        visible = await self.catalog.visible_versions([document_id])
        return await self.index.remove(document_id, keep_version=visible.get(document_id, ""))

    def _version(self, material: Material) -> str:
        recipe = f"{RECIPE}\x1f{self.encoder.name}\x1f{material.name}\x1f{material.title}\x1f{material.url}\x1f"
        recipe += f"{material.dated}\x1f" if material.dated else ""
        return hashlib.sha256(recipe.encode() + material.data).hexdigest()[:16]

    def _document(
        self, material: Material, parsed: ParsedDocument, document_id: str, base: str, version: str
    ) -> Document:
        now = self.clock.now()
        return Document(
            id=document_id,
            knowledge_base=base,
            source=material.source,
            title=one_line(material.title or parsed.title),
            version=version,
            media_type=parsed.media_type,
            passages=0,
            dated=material.dated
            or stated_date("\n".join(block.text for block in parsed.blocks[:2]))
            or (parsed.modified or "")[:10],
            added_at=now.isoformat(timespec="seconds"),
            added_by=material.added_by,
            url=material.url,  # only from where the file was fetched: don't trust an address that the document states
            etag=material.etag,
            notes=parsed.notes,
        )

    async def _write(self, passages: Sequence[Passage], earlier: Document | None, progress: Progress) -> None:
        """Encode and write passages in batches. Reuse the vectors of text that the earlier document had."""
        twins = same_passage_in(earlier.version, passages, earlier.id) if earlier else {}
        for start in range(0, len(passages), BATCH):
            progress(JobStage.EMBEDDING, start, len(passages))
            batch = passages[start : start + BATCH]
            known = await self.index.known_vectors([twins[p.id] for p in batch]) if twins else {}
            taken = {p.id: known[twins[p.id]] for p in batch if twins.get(p.id) in known}
            await self.index.add(batch, await vectors_of(batch, self.encoder, taken))
        progress(JobStage.EMBEDDING, len(passages), len(passages))
        if passages and await self.index.confirm(passages[0].document, passages[0].version) < len(passages):
            raise StoreUnavailable("The index has lost some of the data that was just written.", remedy="Try again.")

    async def _discard(self, document_id: str, before: Document | None) -> None:
        """Try to remove what a failed ingest has written. It is invisible either way."""
        try:
            await self.index.remove(document_id, keep_version=before.version if before else "")
        except FootnoteError:
            return


def _is_taken(there: Document, material: Material) -> bool:
    """Return whether a document of another origin has this source. Such a document is never replaced."""
    return bool(there.origin and material.origin) and there.origin != material.origin


def document_id_of(base: str, source: str) -> str:
    """Return the id of a source in a base."""
    return hashlib.sha256(f"{base}\x1f{source}".encode()).hexdigest()[:24]
