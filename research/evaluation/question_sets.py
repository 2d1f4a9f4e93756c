"""Questions about a folder of documents, each with the facts that a right answer contains.

Our own layout, a folder with ``documents``, ``documents.json`` and ``questions.jsonl``. The manifest gives each
document its kind: ``{"handbook/leave.md": "handbook"}``. A line of ``questions.jsonl`` is one question::

    {"id": "quantity-03", "text": "how much leave do i get", "kind": "quantity", "language": "en",
     "documents": ["handbook/leave.md"], "passages": ["Everyone has 27 days of annual leave a year"],
     "facts": [["27 days", "27 working days"]], "wrong": ["25 days"], "only_after": ["24 days"]}

What each field means is said on ``LabelledQuestion``. A question that ``follows`` another is asked in the same thread,
after it, so that a conversation is a chain of lines of which each is judged.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from research.evaluation.datasets import spread


class QuestionKind(StrEnum):
    """What is asked for, or what makes it hard."""

    FACT = "fact"
    PERSON = "person"
    DATE = "date"
    PLACE = "place"
    QUANTITY = "quantity"
    YES_NO = "yes_no"
    HOW_TO = "how_to"
    NEGATION = "negation"
    COMPARISON = "comparison"
    LISTING = "listing"
    AGGREGATE = "aggregate"
    VERSION = "version"
    NEAR_MISS = "near_miss"
    PARTS = "parts"
    DEFINITION = "definition"
    PARAPHRASE = "paraphrase"
    MISSPELT = "misspelt"
    ABOUT_DOCUMENTS = "about_documents"
    FOLLOW_UP = "follow_up"
    CORRECTION = "correction"
    OTHER_LANGUAGE = "other_language"
    UNANSWERABLE = "unanswerable"


class DocumentKind(StrEnum):
    """What sort of document holds the answer."""

    HANDBOOK = "handbook"
    API_REFERENCE = "api_reference"
    RELEASE_NOTES = "release_notes"
    TABLES = "tables"
    FAQ = "faq"
    WIKI = "wiki"
    CODE_DOCS = "code_docs"
    LEGAL = "legal"


class Polarity(StrEnum):
    """How a right answer to a yes/no question may begin, if it begins with yes or no at all."""

    YES = "yes"
    NO = "no"


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """One question and what is right.

    ``documents`` hold the answer (or come nearest to one) and ``passages`` are words of theirs that decide it.
    ``facts`` are lists of alternatives: a right answer contains one of each list. One that contains any of ``wrong``
    is wrong, and so is one in which something of ``only_after`` comes before all facts: what an older version says, or
    another row of the table that was compared. ``names`` are documents to be
    named or cited, each counting as a fact. ``computed`` facts follow from a table and need not stand in it.
    ``uncovered`` are words for a part that the documents do not answer: it must be said of one of them. Nothing
    answers an ``unanswerable`` question: right is to say so. ``follows`` is the id of the question asked before.
    """

    id: str
    text: str
    kind: QuestionKind
    language: str = "en"
    documents: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    facts: tuple[tuple[str, ...], ...] = ()
    wrong: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    computed: bool = False
    polarity: Polarity | None = None
    uncovered: tuple[str, ...] = ()
    unanswerable: bool = False
    follows: str = ""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """All questions about one folder of documents, and the kind of each document by its source."""

    questions: tuple[LabelledQuestion, ...]
    document_kinds: Mapping[str, DocumentKind]

    @property
    def conversations(self) -> tuple[tuple[LabelledQuestion, ...], ...]:
        """The questions in threads: each chain of followers with its beginning, in the order of the beginnings."""
        threads: dict[str, list[LabelledQuestion]] = {}
        beginning: dict[str, str] = {}
        for question in self.questions:
            start = beginning[question.follows] if question.follows else question.id
            beginning[question.id] = start
            threads.setdefault(start, []).append(question)
        return tuple(tuple(thread) for thread in threads.values())

    def limit_to(self, limit: int | None) -> "QuestionSet":
        """At most ``limit`` conversations, evenly spread, each whole."""
        kept = {question.id for thread in spread(self.conversations, limit) for question in thread}
        return QuestionSet(tuple(question for question in self.questions if question.id in kept), self.document_kinds)


def question_set_from(lines: Iterable[str], manifest: str) -> QuestionSet:
    """Return the questions of the lines, and the kinds of the documents.

    Raises ValueError when a line is no question, an id stands twice, one follows a question that does not stand
    before it, or a document is not in the manifest.
    """
    kinds = {str(source): DocumentKind(kind) for source, kind in json.loads(manifest).items()}
    questions = tuple(_question(json.loads(line)) for line in lines if line.strip())
    twice = [name for name, times in Counter(question.id for question in questions).items() if times > 1]
    if twice:
        raise ValueError(f"These ids stand twice: {', '.join(twice)}.")
    earlier: set[str] = {""}
    for question in questions:
        if question.follows not in earlier:
            raise ValueError(f"{question.id} follows {question.follows}, which does not stand before it.")
        if unknown := {*question.documents, *question.names} - kinds.keys():
            raise ValueError(f"{question.id} has documents without a kind: {', '.join(sorted(unknown))}.")
        earlier.add(question.id)
    return QuestionSet(questions, kinds)


def _question(row: Mapping[str, Any]) -> LabelledQuestion:
    unknown = row.keys() - {field.name for field in fields(LabelledQuestion)}
    if unknown:
        raise ValueError(f"{row.get('id')} has fields that no question has: {', '.join(sorted(unknown))}.")
    polarity = row.get("polarity")
    found = LabelledQuestion(
        id=str(row["id"]),
        text=str(row["text"]),
        kind=QuestionKind(row["kind"]),
        language=str(row.get("language") or "en"),
        documents=_texts(row, "documents"),
        passages=_texts(row, "passages"),
        facts=tuple(tuple(str(one) for one in alternatives) for alternatives in row.get("facts") or ()),
        wrong=_texts(row, "wrong"),
        only_after=_texts(row, "only_after"),
        names=_texts(row, "names"),
        computed=bool(row.get("computed")),
        polarity=Polarity(polarity) if polarity else None,
        uncovered=_texts(row, "uncovered"),
        unanswerable=bool(row.get("unanswerable")),
        follows=str(row.get("follows") or ""),
    )
    if found.unanswerable == bool(found.facts or found.names):
        raise ValueError(f"{found.id} needs facts or documents to name, or to be unanswerable, and not both.")
    return found


def _texts(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found: Sequence[Any] = row.get(name) or ()
    if isinstance(found, str):
        raise ValueError(f"{row.get('id')}: “{name}” is a list of texts.")  # noqa: TRY004 - it is the line that is wrong
    return tuple(str(one) for one in found)
