"""Typed events of a run, which answer views render and traces keep.

Each class's ``kind`` is its name on the wire. Consumers ``match`` on the class and end in ``assert_never``. So a new
event fails type checking until every answer view handles it.
"""

from dataclasses import dataclass
from typing import Literal

from core.model.answer import Answer
from core.model.inquiry import Checkpoint


@dataclass(frozen=True, slots=True)
class AgentStarted:
    """Work on the question began, or continued if ``resumed``."""

    trace_id: str
    question: str
    profile: str
    reasoner: str
    resumed: bool = False
    kind: Literal["AGENT_STARTED"] = "AGENT_STARTED"


@dataclass(frozen=True, slots=True)
class RoutingDecided:
    """The decision whether to search, and why. ``queries`` are the self-contained rewrites."""

    needs_retrieval: bool
    reason: str
    queries: tuple[str, ...] = ()
    kind: Literal["AGENT_ROUTING_DECISION"] = "AGENT_ROUTING_DECISION"


@dataclass(frozen=True, slots=True)
class RetrievalStarted:
    """A search begins; ``iteration`` counts from 1."""

    iteration: int
    query: str
    where: str = ""  # a base or a source; empty: everything visible
    kind: Literal["AGENT_RETRIEVAL_STARTED"] = "AGENT_RETRIEVAL_STARTED"


@dataclass(frozen=True, slots=True)
class RetrievalCompleted:
    """A search ended. ``new`` of ``total_docs`` passages were not known before; ``sources`` are their titles."""

    iteration: int
    query: str
    strategies: tuple[str, ...]
    vector_results: int
    bm25_results: int
    total_docs: int
    new: int
    duration_ms: float
    sources: tuple[str, ...] = ()
    note: str = ""
    kind: Literal["AGENT_RETRIEVAL_COMPLETED"] = "AGENT_RETRIEVAL_COMPLETED"


@dataclass(frozen=True, slots=True)
class RerankingCompleted:
    """A cross-encoder ordered the pool."""

    candidates: int
    duration_ms: float
    kind: Literal["AGENT_RERANKING_COMPLETED"] = "AGENT_RERANKING_COMPLETED"


@dataclass(frozen=True, slots=True)
class GradingCompleted:
    """Evidence was graded; ``average`` is from 1 to 10. ``why`` explains the best grades, for a trace."""

    total: int
    relevant: int
    average: float
    duration_ms: float
    why: tuple[str, ...] = ()
    kind: Literal["AGENT_GRADING_COMPLETED"] = "AGENT_GRADING_COMPLETED"


@dataclass(frozen=True, slots=True)
class QueryRefined:
    """Something is missing: the next query, and why."""

    original: str
    refined: str
    reason: str
    kind: Literal["AGENT_QUERY_REFINEMENT"] = "AGENT_QUERY_REFINEMENT"


@dataclass(frozen=True, slots=True)
class CheckpointReached:
    """The inquiry is parked until a person chooses."""

    checkpoint: Checkpoint
    answer: Answer  # its outcome is parked or clarified; shown until the choice
    kind: Literal["AGENT_CHECKPOINT"] = "AGENT_CHECKPOINT"


@dataclass(frozen=True, slots=True)
class GenerationStarted:
    """Writing of the answer began, from this many pieces of evidence."""

    evidence: int
    kind: Literal["AGENT_GENERATION_STARTED"] = "AGENT_GENERATION_STARTED"


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """More text of the answer, already safe to show. Not kept in traces."""

    text: str
    kind: Literal["ANSWER_DELTA"] = "ANSWER_DELTA"


@dataclass(frozen=True, slots=True)
class AnswerReset:
    """The text streamed so far is void; the text starts again."""

    reason: str
    kind: Literal["ANSWER_RESET"] = "ANSWER_RESET"


@dataclass(frozen=True, slots=True)
class GenerationCompleted:
    """The draft is written."""

    citations: int
    tokens: int
    duration_ms: float
    kind: Literal["AGENT_GENERATION_COMPLETED"] = "AGENT_GENERATION_COMPLETED"


@dataclass(frozen=True, slots=True)
class HallucinationChecked:
    """Every claim was checked against its evidence."""

    is_grounded: bool
    confidence: float
    hallucinated_claims: tuple[str, ...]
    duration_ms: float
    word_for_word: bool = False  # every claim is verbatim in its evidence
    kind: Literal["AGENT_HALLUCINATION_CHECK"] = "AGENT_HALLUCINATION_CHECK"


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something to tell the person, such as a fallback or a skipped checkpoint."""

    text: str
    kind: Literal["AGENT_NOTICE"] = "AGENT_NOTICE"


@dataclass(frozen=True, slots=True)
class AgentCompleted:
    """The end of every inquiry that was not parked and did not fail."""

    answer: Answer
    kind: Literal["AGENT_COMPLETED"] = "AGENT_COMPLETED"


@dataclass(frozen=True, slots=True)
class AgentFailed:
    """The question could not be answered. ``message`` is for the person; the trace has the rest."""

    message: str
    trace_id: str
    kind: Literal["AGENT_FAILED"] = "AGENT_FAILED"


AgentEvent = (
    AgentStarted
    | RoutingDecided
    | RetrievalStarted
    | RetrievalCompleted
    | RerankingCompleted
    | GradingCompleted
    | QueryRefined
    | CheckpointReached
    | GenerationStarted
    | AnswerDelta
    | AnswerReset
    | GenerationCompleted
    | HallucinationChecked
    | Noticed
    | AgentCompleted
    | AgentFailed
)
TimedEvent = RetrievalCompleted | RerankingCompleted | GradingCompleted | GenerationCompleted | HallucinationChecked
FinalEvent = CheckpointReached | AgentCompleted | AgentFailed


@dataclass(frozen=True, slots=True)
class TracedEvent:
    """An event in a trace, with its time in seconds since the epoch."""

    at: float
    event: AgentEvent
