"""Makes a dataset of what people thought of answers: the helpful ones, as questions with the sources they cited.

An answer that as many found unhelpful as helpful says nothing. A follow-up keeps the questions before it, where the
thread is still remembered. Sources of several bases may share a name, so a document is known here by both.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.model.conversation import ThreadKey
from core.model.knowledge import Document
from core.ports.catalog import Catalog
from core.ports.feedback import Feedback, FeedbackStore
from core.ports.index import Index, Scope
from core.ports.memory import Memory

SEPARATOR = ":"


@dataclass(frozen=True, slots=True)
class FeedbackDataset:
    """The lines of the three files, without line ends."""

    corpus: tuple[str, ...]
    queries: tuple[str, ...]
    qrels: tuple[str, ...]

    def write(self, folder: Path) -> None:
        """Write them in BEIR's layout."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, lines in (("corpus.jsonl", self.corpus), ("queries.jsonl", self.queries)):
            _write(folder / name, lines)
        _write(folder / "qrels.tsv", ("query-id\tcorpus-id\tscore", *self.qrels))


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


async def export_feedback(box: FeedbackStore, catalog: Catalog, index: Index, memory: Memory) -> FeedbackDataset:
    """The dataset: every visible document of the bases that helpful answers cited, and those answers' questions."""
    judged = await _helpful(box.all())
    bases = frozenset(citation.knowledge_base for one in judged for citation in one.citations)
    documents = {_name(d.knowledge_base, d.source): d for d in await catalog.documents(bases)} if bases else {}
    cited = {
        one.trace_id: sorted(
            {name for c in one.citations if (name := _name(c.knowledge_base, c.document)) in documents}
        )
        for one in judged
    }
    kept = [one for one in judged if cited[one.trace_id]]  # an answer whose sources are all gone cannot be found again
    queries = []
    for one in kept:
        about = {"thread": await _before(one, memory)}
        queries.append(_line({"_id": one.trace_id, "text": one.question, "answers": [], "metadata": about}))
    corpus = [
        _line({"_id": name, "title": document.title, "text": await _text(index, document)})
        for name, document in documents.items()
    ]
    qrels = [f"{one.trace_id}\t{name}\t1" for one in kept for name in cited[one.trace_id]]
    return FeedbackDataset(tuple(corpus), tuple(queries), tuple(qrels))


async def _helpful(words: AsyncIterator[Feedback]) -> list[Feedback]:
    """One word for each answer that more people found helpful than not, with a question and sources."""
    by_trace: dict[str, list[Feedback]] = {}
    async for word in words:
        by_trace.setdefault(word.trace_id, []).append(word)
    return [
        said[-1]
        for said in by_trace.values()
        if sum(1 if word.helpful else -1 for word in said) > 0 and said[-1].question and said[-1].citations
    ]


async def _before(word: Feedback, memory: Memory) -> list[str]:
    """The questions asked before this one in its thread; none where that is forgotten."""
    if not word.thread:
        return []
    asked: list[str] = []
    for turn in (await memory.recall(ThreadKey.parse(word.thread))).turns:
        if turn.trace_id == word.trace_id:
            return asked
        asked.append(turn.question)
    return []


async def _text(index: Index, document: Document) -> str:
    passages = await index.passages(document.id, document.version, Scope(frozenset({document.knowledge_base})))
    return "\n\n".join(passage.text for passage in passages)


def _name(base: str, source: str) -> str:
    return f"{base}{SEPARATOR}{source}"


def _line(row: Mapping[str, object]) -> str:
    return json.dumps(row, ensure_ascii=False)
