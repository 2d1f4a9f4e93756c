"""Documents and passages in the terminal, for people and as JSON."""

import textwrap
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from core.model.document_content import folder_of
from core.model.evidence import Hit
from core.model.knowledge import Document, Passage
from core.service.kb.text_spans import count

PREVIEW = 240
ROOM_FOR_COLUMNS = 100  # columns; on a narrower terminal each document has its own lines


def hit_as_json(hit: Hit) -> dict[str, Any]:
    """Return a hit with the score of each leg."""
    scores = {"score": hit.score, "dense": hit.dense, "bm25": hit.bm25, "rerank": hit.rerank}
    rounded = {name: None if value is None else round(value, 4) for name, value in scores.items()}
    return {**rounded, **passage_as_json(hit.passage)}


def passage_as_json(passage: Passage) -> dict[str, Any]:
    """Return a passage with its place."""
    return {
        "passage": passage.id,
        "document": passage.source,
        "title": passage.title,
        "locator": passage.place,
        "knowledge_base": passage.knowledge_base,
        "url": passage.url,
        "dated": passage.dated,
        "text": passage.text,
    }


def print_hits(console: Console, hits: Sequence[Hit]) -> None:
    """Print each passage under its scores."""
    if not hits:
        console.print(Text("Nothing found.", style="dim"))
    for number, hit in enumerate(hits, 1):
        legs = {"dense": hit.dense, "bm25": hit.bm25, "rerank": hit.rerank}
        shown = "  ".join(f"{name} {value:.3f}" for name, value in legs.items() if value is not None)
        console.print(
            Text.assemble(
                (f"{number:>2}  {hit.score:.3f}", "bold cyan"),
                (f"  {shown}  ", "dim"),
                (hit.passage.title, "bold"),
                (f"  {hit.passage.place}", "dim"),
            ),
            soft_wrap=not console.is_terminal,  # one line per hit, for programs that read the pipe
        )
        text = textwrap.shorten(hit.passage.text, PREVIEW, placeholder=" …")
        console.print(Padding(Text(text), (0, 0, 1, 4)))


def print_documents(console: Console, documents: Sequence[Document]) -> None:
    """Print one row for each document, or a few lines if there is no room for columns."""
    if not documents:
        console.print("Nothing is indexed yet. Bring something in with: footnote ingest PATH")
        return
    if console.is_terminal and console.width < ROOM_FOR_COLUMNS:
        for d in documents:
            facts = " · ".join(filter(None, (d.knowledge_base, count(d.passages, "passage"), d.dated, d.version[:8])))
            console.print(Text(d.title, style="bold"))
            console.print(Padding(Text(f"{d.source}\n{facts}", style="dim"), (0, 0, 0, 2)))
        return
    names = ("Base", "Title", "Source", "Passages", "Dated", "Version")
    columns = [Column(name, overflow="fold", justify="right" if name == "Passages" else "left") for name in names]
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for d in documents:
        table.add_row(d.knowledge_base, d.title, d.source, str(d.passages), d.dated, d.version[:8])
    if not console.is_terminal:  # one line per document, for programs that read the pipe
        console.width = max(console.width, console.measure(table, options=console.options.update(width=10_000)).maximum)
    console.print(table)


def print_document(console: Console, document: Document, passages: Sequence[Passage]) -> None:
    """Print a document's entry and every passage."""
    console.print(Text(document.title, style="bold"))
    facts = {
        "source": document.source,
        "from": folder_of(document.origin),  # only for the operator; printed only here
        "link": document.url or "",
        "base": document.knowledge_base,
        "kind": document.media_type,
        "version": document.version,
        "dated": document.dated or "states no date",
        "added": f"{document.added_at} {('by ' + document.added_by) if document.added_by else ''}",
        "passages": str(document.passages),
        "notes": "; ".join(document.notes),
    }
    for name, value in facts.items():
        if value.strip():
            console.print(Text.assemble((f"{name:>10}  ", "dim"), value))
    for passage in passages:
        console.print(Padding(Text(passage.place or "—", style="cyan"), (1, 0, 0, 0)))
        console.print(Padding(Text(passage.text), (0, 0, 0, 2)))
