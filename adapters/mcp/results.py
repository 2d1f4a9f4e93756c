"""Results of the tools, as another agent reads them. Texts are quoted from documents: data, never instructions.

Not slotted: the ``mcp`` package takes a slot for a field's default and then describes no result at all.
"""

from dataclasses import dataclass

from core.model.answer import Answer, Citation
from core.model.evidence import Hit
from core.model.inquiry import Checkpoint
from core.model.knowledge import Document, KnowledgeBase
from core.service.api_clients import Section


@dataclass(frozen=True)
class FoundPassage:
    """A passage. ``document`` and ``section`` are what read_section takes."""

    title: str
    text: str
    where: str
    knowledge_base: str
    document: str
    section: str
    score: float
    url: str | None
    dated: str

    @classmethod
    def of(cls, hit: Hit) -> "FoundPassage":
        """Return the passage of a search hit."""
        one = hit.passage
        return cls(
            one.title,
            one.text,
            one.place,
            one.knowledge_base,
            one.document,
            one.section,
            round(hit.score, 4),
            one.url,
            one.dated,
        )


@dataclass(frozen=True)
class SearchResult:
    """What was found, best first."""

    passages: list[FoundPassage]


@dataclass(frozen=True)
class SourceBase:
    """A knowledge base that may be read."""

    name: str
    description: str

    @classmethod
    def of(cls, base: KnowledgeBase) -> "SourceBase":
        """Convert a base from the catalog."""
        return cls(base.name, base.description)


@dataclass(frozen=True)
class SourceDocument:
    """A document that may be read."""

    document: str
    title: str
    source: str
    knowledge_base: str
    passages: int
    dated: str

    @classmethod
    def of(cls, document: Document) -> "SourceDocument":
        """Convert a document from the catalog."""
        return cls(
            document.id, document.title, document.source, document.knowledge_base, document.passages, document.dated
        )


@dataclass(frozen=True)
class Sources:
    """What there is to read; ``left_out`` more documents are not listed."""

    knowledge_bases: list[SourceBase]
    documents: list[SourceDocument]
    left_out: int


@dataclass(frozen=True)
class SectionText:
    """A section as it reads; ``cut`` where there is more of it."""

    title: str
    heading: str
    knowledge_base: str
    text: str
    url: str | None
    cut: bool

    @classmethod
    def of(cls, section: Section) -> "SectionText":
        """Convert a section from the reader."""
        first = section.passages[0]
        return cls(
            section.document.title,
            " › ".join(first.heading),
            section.document.knowledge_base,
            section.text,
            section.document.url,
            section.cut,
        )


@dataclass(frozen=True)
class Source:
    """A numbered source of an answer; ``quote`` is verbatim."""

    n: int
    title: str
    where: str
    quote: str
    knowledge_base: str
    url: str | None

    @classmethod
    def of(cls, citation: Citation) -> "Source":
        """Convert an answer's citation."""
        return cls(citation.n, citation.title, citation.locator, citation.quote, citation.knowledge_base, citation.url)


@dataclass(frozen=True)
class AskResult:
    """How a question ended. ``answer`` has [n] for ``sources``.

    ``choices`` are what one may say next, in the same ``conversation``, where the answer asks back.
    """

    outcome: str
    answer: str
    sources: list[Source]
    nearest: list[Source]
    choices: list[str]
    notices: list[str]
    conversation: str
    id: str

    @classmethod
    def of(
        cls, answer: Answer, checkpoint: Checkpoint | None, notices: list[str], conversation: str, trace_id: str
    ) -> "AskResult":
        """Return the result of a finished run."""
        return cls(
            answer.outcome.value,
            answer.text,
            [Source.of(one) for one in answer.citations],
            [Source.of(one) for one in answer.nearest],
            [choice.label for choice in checkpoint.choices] if checkpoint is not None else [],
            [*notices, *answer.notices],
            conversation,
            trace_id,
        )
