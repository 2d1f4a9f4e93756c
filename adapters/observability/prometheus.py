"""Prometheus metrics. Labels are few and bounded: never a person, channel, question or document."""

from contextlib import AbstractContextManager

from prometheus_client import Counter, Gauge, Histogram

from core.model.events import AgentCompleted, AgentFailed, CheckpointReached, FinalEvent
from core.ports.usage import Metrics

SECONDS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60)

OUTCOMES = Counter("footnote_outcomes_total", "Questions by platform and outcome", ("platform", "outcome"))
ANSWERING = Histogram("footnote_answer_seconds", "From taking a question up to its outcome", buckets=SECONDS)
STAGES = Histogram("footnote_stage_seconds", "Time by stage of an answer", ("stage",), buckets=SECONDS)
SEARCHES = Counter("footnote_searches_total", "Searches made")
CALLS = Counter("footnote_model_calls_total", "Calls of the model endpoint")
TOKENS = Counter("footnote_model_tokens_total", "Tokens of the model endpoint", ("direction",))
WAITING = Gauge("footnote_inbox_waiting", "Deliveries that are not done")
PASSAGES = Gauge("footnote_passages", "Passages in the index")
MODEL_FAILURES = Counter("footnote_model_failures", "Steps that the model's endpoint did not do, by cause", ["cause"])
LOOP_BLOCKED = Histogram("footnote_loop_blocked_seconds", "Times that the event loop was blocked", buckets=SECONDS)
IN_WORK = Gauge("footnote_in_work", "Deliveries that are being worked on here")


class PrometheusMetrics(Metrics):
    """Metrics of outcomes and their cost, in this process's registry."""

    def track_work(self) -> AbstractContextManager[object]:
        """Count one more question in progress until the context ends."""
        return IN_WORK.track_inprogress()

    def count_outcome(self, platform: str, final: FinalEvent | None) -> None:
        """Count a question's outcome and cost."""
        match final:
            case AgentCompleted(answer=answer) | CheckpointReached(answer=answer):
                spent = answer.spent
                OUTCOMES.labels(platform, answer.outcome.value).inc()
                ANSWERING.observe(spent.seconds)
                SEARCHES.inc(spent.searches)
                CALLS.inc(spent.calls)
                TOKENS.labels("in").inc(spent.tokens_in)
                TOKENS.labels("cached").inc(spent.tokens_cached)
                TOKENS.labels("out").inc(spent.tokens_out)
                for stage, seconds in answer.timings:
                    STAGES.labels(stage).observe(seconds)
            case AgentFailed():
                OUTCOMES.labels(platform, "failed").inc()
            case None:
                pass
