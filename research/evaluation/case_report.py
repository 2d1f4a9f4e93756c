"""A case to read: a question with what was wanted and what came, side by side.

{"query", "after" (the questions before it), "what" (is wrong), "wanted" and "found" (each [{"id", "text"}])}
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.container import Footnote
from core.model.text import content_words
from research.evaluation.dataset_loader import Dataset
from research.evaluation.datasets import Query
from research.evaluation.metrics import contains
from research.evaluation.retrieval import scope_of

SNIPPET = 500  # characters
_WANTED = 2  # documents shown of those that are relevant


class Excerpts:
    """The part of each document that bears on a question."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        """Choose from the parts of each document, by its source."""
        self._texts = texts

    def of(self, source: str, query: Query) -> str:
        """Return the part with an answer, or else with most of the question's words; empty for an unknown document."""
        asked = set(content_words(query.text))

        def worth(part: str) -> tuple[bool, int]:
            return bool(contains(part, query.answers)), len(asked & set(content_words(part)))

        return max(self._texts.get(source, ()), key=worth, default="")[:SNIPPET]

    def reference(self, query: Query) -> list[dict[str, str]]:
        """Return the reference answers and the relevant documents, as one side of a case."""
        shown = [{"id": name, "text": self.of(name, query)} for name in list(query.relevant)[:_WANTED]]
        if query.answers:
            shown.insert(0, {"id": "the answer", "text": " / ".join(query.answers)[:SNIPPET]})
        return shown or [{"id": query.expect, "text": "The documents do not answer this."}]


async def excerpts(footnote: Footnote, dataset: Dataset) -> Excerpts:
    """Of a dataset's texts as they are, or of its files as the index holds them."""
    if dataset.documents:
        return Excerpts({document.id: (f"{document.title}\n{document.text}",) for document in dataset.documents})
    scope = scope_of(dataset)
    return Excerpts(
        {
            document.source: [
                passage.searchable for passage in await footnote.index.passages(document.id, document.version, scope)
            ]
            for document in await footnote.catalog.documents(scope.bases)
        }
    )


def case(
    query: str, what: str, wanted: Sequence[Mapping[str, str]], found: Sequence[Mapping[str, str]], after: Sequence[str]
) -> dict[str, Any]:
    """One case, as it is kept and shown."""
    return {"query": query, "after": list(after), "what": what, "wanted": list(wanted), "found": list(found)}
