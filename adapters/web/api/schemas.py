"""What goes over /v1, field by field: requests are checked against these; the description is made of them."""

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
    """What a program sends. A field that is not known is refused: it may be a slip."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class ApiResponse(BaseModel):
    """What every reply of ``/v1`` is made of."""


class AskRequest(ApiRequest):
    """A question, in a conversation that later questions may go on with."""

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    conversation: Name | None = Field(None, description="Goes on with this conversation; without it a new one begins.")
    user: Name | None = Field(None, description="Whose question it is, where the program asks for several people.")
    profile: Profile | None = Field(None, description="How much the answer may cost.")
    knowledge_base: str | None = Field(None, max_length=80, description="Only this knowledge base.")


class ResumeRequest(ApiRequest):
    """What was chosen at a checkpoint."""

    checkpoint: str = Field(pattern=r"^[0-9a-f]{16}$")
    choice: str = Field(min_length=1, max_length=200, description="A choice by its id, its label or its number.")
    text: str = Field("", max_length=2_000, description="For a choice that asks for text.")
    user: Name | None = Field(None, description="As in the question.")


class FeedbackRequest(ApiRequest):
    """The body of ``/v1/feedback``."""

    answer: str = Field(pattern=r"^[0-9a-f]{16}$", description="The answer's id.")
    conversation: Name
    helpful: bool
    reason: str = Field("", max_length=2_000)
    user: Name | None = Field(None, description="As in the question.")


class SearchRequest(ApiRequest):
    """The body of ``/v1/search``."""

    query: str = Field(min_length=1, max_length=2_000)
    knowledge_base: str | None = Field(None, max_length=80, description="Only this knowledge base.")
    source: str | None = Field(None, max_length=500, description="Only documents whose title or path holds this.")
    limit: int = Field(8, ge=1, le=20)


class CitationReply(ApiResponse):
    """A numbered source. ``quote`` is verbatim; ``score`` is its grade scaled to 0 to 1."""

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
    """One way on from a checkpoint."""

    id: str
    label: str
    asks_text: bool


class CheckpointReply(ApiResponse):
    """A question back: choose with /v1/resume before it expires."""

    id: str
    kind: CheckpointKind
    message: str
    choices: list[ChoiceReply]
    found: list[str]
    missing: str
    expires_at: datetime


class SpentReply(ApiResponse):
    """What the answer cost, so far as prices are configured."""

    searches: int
    calls: int
    tokens_in: int
    tokens_out: int
    seconds: float
    cost: float


class AnswerReply(ApiResponse):
    """How a question ended. ``answer`` is Markdown with [n] for ``citations``; it has no other address."""

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
    """A passage that was found. ``document`` and ``section`` together name what read_section reads."""

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
    dense: float | None = Field(description="The cosine, where the search by meaning found it.")
    bm25: float | None = Field(description="The weight of its words, where the search by words found it.")
    rerank: float | None = Field(description="A cross-encoder's probability, where there is one.")


class SearchReply(ApiResponse):
    """What was found, best first."""

    hits: list[HitReply]


Key = Annotated[
    str,
    Field(
        pattern=r"^[\w.@/:-]{1,200}$",
        description="Your own name for the document: up to 200 letters, digits and . _ - @ / :",
    ),
]


def _checked_date(text: str) -> str:
    """Raise ValueError for a date that no calendar has."""
    if text:
        date.fromisoformat(text)
    return text


class DocumentFields(ApiRequest):
    """What is said of a document that a program adds."""

    title: str = Field("", max_length=300, description="Else the document's own.")
    address: str | None = Field(
        None, max_length=2_000, pattern=r"^https?://[^\s<>]+$", description="Shown with citations, never fetched."
    )
    dated: Annotated[str, AfterValidator(_checked_date)] = Field(
        "", pattern=r"^(\d{4}-\d{2}-\d{2})?$", description="Its date, YYYY-MM-DD; else the document's own."
    )
    knowledge_base: str = Field("", max_length=80, description="One of the token's; may be left out where it has one.")
    audience: list[str] = Field(
        [],
        max_length=100,
        description="Who may read it: principals as /kb grant takes them, or everyone. A base that more people read is"
        " refused. Empty: all who read the base.",
    )


class PutDocumentRequest(DocumentFields):
    """A document as text: Markdown, or another format that ``name`` says by its ending."""

    text: str = Field(min_length=1, max_length=25 * 2**20)
    name: str = Field("", max_length=200, description="A file name; its ending says the format. Empty: Markdown.")


class AddDocumentRequest(PutDocumentRequest):
    """The same with its key."""

    key: Key


class DocumentReply(ApiResponse):
    """A document that this token added. ``key`` is the program's own name for it."""

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
    """Which page of the token's own documents."""

    knowledge_base: str = Field("", max_length=80)
    limit: int = Field(100, ge=1, le=1_000, description="Documents at most.")
    cursor: str = Field("", max_length=2_000, pattern=r"^[0-9a-f]*$", description="The next_cursor of the page before.")


class DocumentsReply(ApiResponse):
    """A page of the token's own documents, by key."""

    documents: list[DocumentReply]
    next_cursor: str | None = Field(description="For the next page; null at the end.")


class DocumentDeletedReply(ApiResponse):
    """What was deleted. An admin can restore it for seven days."""

    key: str
    knowledge_base: str
    deleted: Literal[True] = True


class JobReply(ApiResponse):
    """A document on its way in. ``result`` says how it came out, ``reason`` why it failed."""

    id: str
    state: JobState
    key: str
    knowledge_base: str
    stage: JobStage
    done: int = Field(description="Pages or passages of ``total``; 0 of 0 where nothing is counted.")
    total: int
    result: ItemState
    reason: str
    passages: int
    notes: list[str]


class FeedbackReply(ApiResponse):
    """That a rating was kept."""

    kept: Literal[True] = True


class Problem(ApiResponse):
    """What went wrong, as RFC 9457 has it; ``remedy`` says what to do about it."""

    type: str = "about:blank"
    title: str
    status: int = Field(ge=400, le=599)
    detail: str
    remedy: str = ""
    trace_id: str = Field("", description="Names the run in the operator's traces, where there was one.")
