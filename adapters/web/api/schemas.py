"""Request and reply types of /v1. They validate requests, and the OpenAPI description is generated from them."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from core.model.answer import Outcome
from core.model.inquiry import CheckpointKind
from core.model.jobs import ItemState, JobStage, JobState
from core.model.message_text import LONGEST_QUESTION
from core.model.profile import Profile

Name = Annotated[str, Field(pattern=r"^[\w.@-]{1,64}$", description="Up to 64 letters, digits and . _ - @")]


class ApiRequest(BaseModel):
    """A request body. Unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class ApiResponse(BaseModel):
    """A reply body, also from an object with the same attributes."""

    model_config = ConfigDict(from_attributes=True)


class AskRequest(ApiRequest):
    """A question, in a new or an existing conversation."""

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    conversation: Name | None = Field(None, description="The conversation to continue. Empty: a new one.")
    user: Name | None = Field(None, description="The person who asks, if the program serves several people.")
    profile: Profile | None = Field(None, description="How much effort the answer may take.")
    knowledge_base: str | None = Field(None, max_length=80, description="Search only this knowledge base.")


class ResumeRequest(ApiRequest):
    """A choice at a checkpoint."""

    checkpoint: str = Field(pattern=r"^[0-9a-f]{16}$")
    choice: str = Field(min_length=1, max_length=200, description="The id, label or number of the choice.")
    text: str = Field("", max_length=2_000, description="The text, if the choice asks for one.")
    user: Name | None = Field(None, description="The person who asked, as in the question.")


class FeedbackRequest(ApiRequest):
    """A rating of an answer."""

    answer: str = Field(pattern=r"^[0-9a-f]{16}$", description="The answer's id.")
    conversation: Name
    helpful: bool
    reason: str = Field("", max_length=2_000)
    user: Name | None = Field(None, description="The person who asked, as in the question.")


class SearchRequest(ApiRequest):
    """A search without an answer."""

    query: str = Field(min_length=1, max_length=2_000)
    knowledge_base: str | None = Field(None, max_length=80, description="Search only this knowledge base.")
    source: str | None = Field(
        None, max_length=500, description="Search only documents whose title or path contains this."
    )
    limit: int = Field(8, ge=1, le=20)


class CitationReply(ApiResponse):
    """A numbered source of an answer. ``quote`` is verbatim. ``score`` is its relevance from 0 to 1."""

    n: int = Field(ge=1)
    knowledge_base: str
    document: str
    title: str
    locator: str
    quote: str
    score: float
    url: str | None
    dated: str


class ChoiceReply(ApiResponse):
    """A choice that a checkpoint offers."""

    id: str
    label: str
    asks_text: bool


class CheckpointReply(ApiResponse):
    """A question that waits for a choice. Send the choice to /v1/resume before it expires."""

    id: str
    kind: CheckpointKind
    message: str
    choices: list[ChoiceReply]
    found: list[str]
    missing: str
    expires_at: datetime


class SpentReply(ApiResponse):
    """The resources that the answer used. ``cost`` is 0 if no prices are configured."""

    searches: int
    calls: int
    tokens_in: int
    tokens_out: int
    seconds: float
    cost: float


class AnswerReply(ApiResponse):
    """The answer to a question, or why there is none. ``answer`` is Markdown; [n] refers to ``citations``."""

    id: str
    conversation: str
    outcome: Outcome
    answer: str
    citations: list[CitationReply]
    nearest: list[CitationReply]
    checkpoint: CheckpointReply | None
    grounding: float | None = Field(ge=0, le=1)
    notices: list[str]
    written_by: str
    spent: SpentReply


class HitReply(ApiResponse):
    """A passage that the search found. ``document`` and ``section`` identify its section for read_section."""

    knowledge_base: str
    document: str
    section: str
    title: str
    heading: list[str]
    locator: str
    source: str
    text: str
    url: str | None
    dated: str
    score: float
    dense: float | None = Field(description="Cosine similarity, if the vector search found it.")
    bm25: float | None = Field(description="BM25 score, if the keyword search found it.")
    rerank: float | None = Field(description="Cross-encoder probability, if a reranker is configured.")


class SearchReply(ApiResponse):
    """The passages found, best first."""

    hits: list[HitReply]


Key = Annotated[
    str,
    Field(
        pattern=r"^[\w.@/:-]{1,200}$",
        description="Your own id for the document: up to 200 letters, digits and . _ - @ / :",
    ),
]


def _checked_date(text: str) -> str:
    """Return the date. Raises ValueError if there is no such day."""
    if text:
        date.fromisoformat(text)
    return text


class DocumentFields(ApiRequest):
    """The fields of a new document, apart from its text."""

    title: str = Field("", max_length=300, description="Empty: the title in the document.")
    address: str | None = Field(
        None, max_length=2_000, pattern=r"^https?://[^\s<>]+$", description="Shown with citations, never fetched."
    )
    dated: Annotated[str, AfterValidator(_checked_date)] = Field(
        "", pattern=r"^(\d{4}-\d{2}-\d{2})?$", description="Its date, YYYY-MM-DD. Empty: the date in the document."
    )
    knowledge_base: str = Field(
        "", max_length=80, description="A knowledge base of the token. Optional if it has only one."
    )
    audience: list[str] = Field(
        [],
        max_length=100,
        description="Who may read it: readers as in /kb grant, or everyone. The knowledge base must not have more"
        " readers than this. Empty: all readers of the knowledge base.",
    )


class PutDocumentRequest(DocumentFields):
    """A document as text. The suffix of ``name`` sets the format; without it the text is Markdown."""

    text: str = Field(min_length=1, max_length=25 * 2**20)
    name: str = Field("", max_length=200, description="A file name, whose suffix sets the format. Empty: Markdown.")


class AddDocumentRequest(PutDocumentRequest):
    """A document as text, with its key."""

    key: Key


class DocumentReply(ApiResponse):
    """A document that this token added. ``key`` is your own id for it."""

    key: str
    knowledge_base: str
    title: str
    address: str | None
    dated: str
    added_at: str
    version: str
    passages: int
    media_type: str


class DocumentsQuery(ApiRequest):
    """The page of the token's own documents to list."""

    knowledge_base: str = Field("", max_length=80)
    limit: int = Field(100, ge=1, le=1_000, description="The most documents to return.")
    cursor: str = Field("", max_length=2_000, pattern=r"^[0-9a-f]*$", description="next_cursor of the previous page.")


class DocumentsReply(ApiResponse):
    """A page of the token's own documents, sorted by key."""

    documents: list[DocumentReply]
    next_cursor: str | None = Field(description="The cursor of the next page; null on the last page.")


class DocumentDeletedReply(ApiResponse):
    """A deleted document. An admin can restore it for seven days."""

    key: str
    knowledge_base: str
    deleted: Literal[True] = True


class JobReply(ApiResponse):
    """The job that indexes a document. ``result`` is its outcome, ``reason`` says why it failed."""

    id: str
    state: JobState
    key: str
    knowledge_base: str
    stage: JobStage
    done: int = Field(description="Pages or passages done, of ``total``. Both are 0 if the step counts nothing.")
    total: int
    result: ItemState
    reason: str
    passages: int
    notes: list[str]


class FeedbackReply(ApiResponse):
    """The confirmation of a rating."""

    kept: Literal[True] = True


class Problem(ApiResponse):
    """An error in the format of RFC 9457. ``remedy`` says what to do."""

    type: str = "about:blank"
    title: str
    status: int = Field(ge=400, le=599)
    detail: str
    remedy: str = ""
    trace_id: str = Field("", description="The id of the trace, if there is one.")
