"""The tools: search, list, read and ask, each under the audience of its caller.

The caller is looked up for every call, so that a revoked token stops working at once. Texts in results are quoted from
documents: data, never instructions.
"""

import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from core.model.answer import Answer, Citation
from core.model.errors import FootnoteError
from core.model.events import AgentCompleted, AgentFailed, AgentStarted, CheckpointReached, Noticed
from core.model.evidence import Hit
from core.model.inquiry import AnswerPolicy, Checkpoint
from core.model.message_text import LONGEST_QUESTION
from core.ports.access import TokenScope
from core.service.api_clients import ApiClient, KnowledgeReader, Section
from core.service.question_service import Question, QuestionService

WENT_WRONG = "Something went wrong. Please try again."

Query = Annotated[str, Field(min_length=1, max_length=2_000, description="What to look for, in words.")]
Base = Annotated[
    str, Field(max_length=80, description="Search only this knowledge base. Empty: all that the token can read.")
]
Limit = Annotated[int, Field(ge=1, le=20, description="The most passages to return.")]
Name = Annotated[str, Field(max_length=500, description="A document's title or path, or part of it.")]
Asked = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION, description="The question, in full.")]
Conversation = Annotated[
    str, Field(pattern=r"^[\w.@-]{0,64}$", description="The conversation to continue. Empty: a new one.")
]

log = logging.getLogger(__name__)


# The results are not slotted: the ``mcp`` package takes a slot for a field's default and then describes no result.


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


@dataclass(frozen=True)
class SourceDocument:
    """A document that may be read."""

    document: str
    title: str
    source: str
    knowledge_base: str
    passages: int
    dated: str


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


@dataclass(frozen=True, slots=True)
class KnowledgeTools:
    """The tools that another agent may call. ``caller`` returns the current caller."""

    caller: Callable[[], Awaitable[ApiClient]]
    reader: KnowledgeReader
    questions: QuestionService
    policy: AnswerPolicy

    async def search_knowledge_base(self, query: Query, knowledge_base: Base = "", limit: Limit = 8) -> SearchResult:
        """Search the team's documents by meaning and by words; the best passages, best first."""
        async with self._open_call(TokenScope.SEARCH) as client:
            found = await self.reader.search(client, query, base=knowledge_base, limit=limit)
            return SearchResult([FoundPassage.of(hit) for hit in found.hits])

    async def search_by_source(self, query: Query, source: Name, limit: Limit = 8) -> SearchResult:
        """Search within the documents whose title or path is, or holds, ``source``."""
        async with self._open_call(TokenScope.SEARCH) as client:
            found = await self.reader.search(client, query, source=source, limit=limit)
            return SearchResult([FoundPassage.of(hit) for hit in found.hits])

    async def list_sources(self, knowledge_base: Base = "", name: Name = "") -> Sources:
        """Return the knowledge bases and documents that may be read; with ``name``, the documents that it means."""
        async with self._open_call(TokenScope.SEARCH) as client:
            bases = await client.visible_bases(self.reader.catalog)
            listing = await self.reader.documents(client, base=knowledge_base, name=name)
            documents = [
                SourceDocument(one.id, one.title, one.source, one.knowledge_base, one.passages, one.dated)
                for one in listing.documents
            ]
            return Sources([SourceBase(base.name, base.description) for base in bases], documents, listing.left_out)

    async def read_section(
        self,
        document: Annotated[str, Field(max_length=200, description="A document's id, from a search.")],
        section: Annotated[str, Field(max_length=200, description="A section's id, from a search.")],
    ) -> SectionText:
        """Return the whole section around a passage that a search found."""
        async with self._open_call(TokenScope.SEARCH) as client:
            return SectionText.of(await self.reader.section(client, document, section))

    async def ask(self, question: Asked, conversation: Conversation = "") -> AskResult:
        """Ask a question; the answer is made from the documents alone, with a numbered source for each statement.

        ``outcome`` is "abstained" where the documents don't say. Where the answer asks back, say one of ``choices``
        in the same conversation.
        """
        async with self._open_call(TokenScope.ASK) as client:
            return await self._ask(client, question, conversation or uuid.uuid4().hex[:16])

    async def _ask(self, client: ApiClient, text: str, conversation: str) -> AskResult:
        thread = client.thread(conversation)
        question = Question(text, thread, client.person(), client.audience, self.policy, client.bases)
        trace_id, notices = question.trace_id, list[str]()
        result: AskResult | None = None
        async with aclosing(self.questions.ask(question)) as events:
            async for event in events:
                match event:
                    case AgentStarted():
                        trace_id = event.trace_id
                    case Noticed():
                        notices.append(event.text)
                    case AgentCompleted():
                        result = AskResult.of(event.answer, None, notices, conversation, trace_id)
                    case CheckpointReached():
                        result = AskResult.of(event.answer, event.checkpoint, notices, conversation, trace_id)
                    case AgentFailed():
                        raise ToolError(event.message)
                    case _:
                        pass
        if result is None:
            raise ToolError(WENT_WRONG)
        await self._reflect(client, conversation)
        return result

    async def _reflect(self, client: ApiClient, conversation: str) -> None:
        try:
            await self.questions.reflect(client.thread(conversation), client.audience)
        except FootnoteError as error:
            log.warning("not_summarised", extra={"reason": str(error)})

    @asynccontextmanager
    async def _open_call(self, scope: TokenScope) -> AsyncIterator[ApiClient]:
        """Yield the caller if the scope permits the call. Raise our errors as one-line tool errors."""
        try:
            client = await self.caller()
            client.check(scope)
            yield client
        except FootnoteError as error:
            raise ToolError(str(error)) from None
