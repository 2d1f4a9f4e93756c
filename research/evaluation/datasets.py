"""What is measured: questions with what answers them, in BEIR's layout, as plain values.

Follow-ups and labelled claims have layouts of their own; see ``research.labelled.follow_ups`` and
``research.labelled.claims``. Where the lines come from, and how a corpus gets into an index, is left to others.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Query:
    """A question and what is known about it.

    ``relevant`` grades documents by id; ``exclude`` are documents that do not count; ``answers`` are texts of which a
    right answer contains one; ``thread`` are the questions asked before; ``expect`` is the outcome that is right.
    """

    id: str
    text: str
    relevant: Mapping[str, int]
    answers: tuple[str, ...] = ()
    exclude: frozenset[str] = frozenset()
    thread: tuple[str, ...] = ()
    expect: str = "answered"
    kind: str = ""


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """One line of ``corpus.jsonl``."""

    id: str
    title: str
    text: str


def documents_from(lines: Iterable[str]) -> tuple[CorpusDocument, ...]:
    """Return the lines of ``corpus.jsonl``. Raises ValueError on a line that is not such a document."""
    return tuple(CorpusDocument(str(r["_id"]), str(r.get("title") or ""), str(r["text"])) for r in rows(lines))


def grades_from(lines: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
    """Return the lines of ``qrels.tsv``: for each query the documents graded above 0. A header line is skipped."""
    grades: dict[str, dict[str, int]] = {}
    for line in lines:
        parts = line.rstrip("\n").split("\t")
        if len(parts) < 3 or parts[0] == "query-id":
            continue
        if (grade := int(float(parts[-1]))) > 0:
            grades.setdefault(parts[0], {})[parts[-2]] = grade
    return grades


def queries_from(lines: Iterable[str], grades: Mapping[str, Mapping[str, int]]) -> tuple[Query, ...]:
    """Return the lines of ``queries.jsonl`` with their grades. Raises ValueError on a line that is not a query.

    A query that nothing is relevant to is kept only where its metadata says what outcome is right.
    """
    found: list[Query] = []
    for row in rows(lines):
        about = row.get("metadata") or {}
        relevant = grades.get(str(row["_id"]), {})
        if not relevant and "expect" not in about:
            continue
        found.append(
            Query(
                id=str(row["_id"]),
                text=str(row["text"]),
                relevant=relevant,
                answers=tuple(str(answer) for answer in row.get("answers") or ()),
                exclude=frozenset(about.get("exclude") or ()),
                thread=tuple(about.get("thread") or ()),
                expect=str(about.get("expect") or "answered"),
                kind=str(about.get("kind") or ""),
            )
        )
    return tuple(found)


def spread(found: Sequence[T], limit: int | None) -> tuple[T, ...]:
    """At most ``limit`` of them, evenly spread."""
    if limit is None or len(found) <= limit:
        return tuple(found)
    return tuple(found[n * len(found) // limit] for n in range(limit))


def needs_several(queries: Sequence[Query]) -> bool:
    """Whether every answerable question has at least two relevant documents: all of them together are the evidence."""
    answerable = [query for query in queries if query.relevant]
    return bool(answerable) and all(len(query.relevant) > 1 for query in answerable)


def rows(lines: Iterable[str]) -> Iterable[dict[str, Any]]:
    """Yield the JSON objects of the lines that are not empty. Raises ValueError on one without ``_id`` and ``text``."""
    for line in lines:
        if line.strip():
            row = json.loads(line)
            if not isinstance(row, dict) or "_id" not in row or "text" not in row:
                raise ValueError("A line lacks “_id” or “text”.")
            yield row
