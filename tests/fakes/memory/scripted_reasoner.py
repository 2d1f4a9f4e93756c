"""A reasoner that says what it was told to: for tests of the loop that run in milliseconds.

    reasoner = ScriptedReasoner()
    reasoner.enqueue("understand", Investigate("How long are refunds open?", ("refund window",)))
    reasoner.enqueue("compose", "Refunds stay open for [1] thirty days.")

What is not scripted has a sensible default: search for the question, find everything relevant, quote it, support it.
"""

from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from core.model.answer import Claim, ClaimVerdict, Support
from core.model.budget import Meter
from core.model.conversation import Thread, Turn
from core.model.evidence import Evidence, Grade
from core.model.inquiry import AskBack, Decision, Inquiry, Insufficient, Investigate, Plan, Sufficient
from core.model.text import sentences
from core.ports.reasoner import DraftPart, GradesWithDecision

Step: TypeAlias = Literal["understand", "grade", "decide", "compose", "check", "repair", "critique", "summarise"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the reasoner: the step, and what it was given."""

    step: Step
    given: tuple[Any, ...]


class ScriptedReasoner:
    """A queue of results for each step, and a record of all calls."""

    def __init__(self, name: str = "scripted", *, tokens: tuple[int, int] = (0, 0), top_k: int = 8) -> None:
        """Every call is admitted and counted with these ``tokens`` in and out."""
        self._name = name
        self._tokens = tokens
        self._top_k = top_k
        self._scripts: dict[str, deque[Any]] = defaultdict(deque)
        self._always: dict[str, Any] = {}
        self.calls: list[Call] = []

    @property
    def name(self) -> str:
        """As given."""
        return self._name

    @property
    def top_k(self) -> int:
        """As given."""
        return self._top_k

    def enqueue(self, step: Step, *results: Any) -> "ScriptedReasoner":
        """Results of the next calls of a step.

        An exception is raised; a function is called with what the step was given and its result taken. For
        ``compose`` a result is a text, or a list of parts in which an exception breaks off.
        """
        self._scripts[step].extend(results)
        return self

    def always(self, step: Step, result: Any) -> "ScriptedReasoner":
        """The result of every call of a step for which nothing is queued."""
        self._always[step] = result
        return self

    def calls_of(self, step: Step) -> list[Call]:
        """The calls of one step."""
        return [call for call in self.calls if call.step == step]

    async def understand(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Plan:
        """Search for the question as it stands."""
        plan: Plan = self._next(
            "understand", lambda: Investigate(inquiry.question, (inquiry.question,)), meter, inquiry, thread
        )
        return plan

    async def grade(self, inquiry: Inquiry, evidence: Sequence[Evidence], meter: Meter) -> Sequence[Grade]:
        """Eight out of ten for everything; a scripted number stands for all of a call, a decision makes a Judgement."""
        grades = self._next(
            "grade", lambda: [Grade(8, _first_sentence(item)) for item in evidence], meter, inquiry, evidence
        )
        if isinstance(grades, Sufficient | Insufficient | AskBack):
            return GradesWithDecision(tuple(Grade(8, _first_sentence(item)) for item in evidence), grades)
        return [Grade(grades)] * len(evidence) if isinstance(grades, int) else grades

    async def decide(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Decision:
        """Always that the evidence suffices."""
        decision: Decision = self._next("decide", Sufficient, meter, inquiry, thread)
        return decision

    async def compose(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: Meter
    ) -> AsyncGenerator[DraftPart, None]:
        """The first sentence of every piece of evidence, cited."""
        parts = self._next("compose", lambda: _quote_first_sentences(evidence), meter, inquiry, thread, evidence)
        for part in [parts] if isinstance(parts, str) else parts:
            if isinstance(part, BaseException):
                raise part
            yield part

    async def check(
        self, inquiry: Inquiry, claims: Sequence[Claim], evidence: Sequence[Evidence], meter: Meter
    ) -> Sequence[ClaimVerdict]:
        """Always that every claim is supported, by the first words of the first passage that it cites."""
        verdicts = self._next("check", lambda: Support.SUPPORTED, meter, inquiry, claims)
        given = [ClaimVerdict(c, verdicts) for c in claims] if isinstance(verdicts, Support) else list(verdicts)
        return [one if one.words else replace(one, words=_first_words(inquiry, one.claim)) for one in given]

    async def repair(
        self,
        inquiry: Inquiry,
        draft: str,
        failed: Sequence[ClaimVerdict],
        evidence: Sequence[Evidence],
        meter: Meter,
    ) -> Sequence[str]:
        """Always that no document says anything; a scripted text is for all that failed."""
        texts = self._next("repair", str, meter, inquiry, draft, failed)
        return [texts] * len(failed) if isinstance(texts, str) else list(texts)

    async def critique(self, inquiry: Inquiry, answer: str, meter: Meter) -> str:
        """Always that the answer is complete."""
        return str(self._next("critique", str, meter, inquiry, answer))

    async def summarise(self, summary: str, turns: Sequence[Turn], meter: Meter) -> str:
        """The summary and the questions asked since."""
        return str(
            self._next(
                "summarise", lambda: " ".join((summary, *(t.question for t in turns))).strip(), meter, summary, turns
            )
        )

    def _next(self, step: Step, default: Callable[[], Any], meter: Meter, *given: Any) -> Any:
        self.calls.append(Call(step, given))
        meter.admit(sum(self._tokens))
        meter.count_call(*self._tokens)
        script = self._scripts[step]
        result = script.popleft() if script else self._always.get(step, default)
        if isinstance(result, BaseException):
            raise result
        if result is default:
            return default()
        return result(*given) if callable(result) else result


def _quote_first_sentences(evidence: Sequence[Evidence]) -> str:
    return "\n".join(f"{_first_sentence(item)} [{item.id}]" for item in evidence)


def _first_sentence(item: Evidence) -> str:
    return next(iter(sentences(item.passage.text)), "")


def _first_words(inquiry: Inquiry, claim: Claim) -> str:
    cited = next((item for n in claim.evidence if (item := inquiry.library.get(n))), None)
    return sentences(cited.passage.text)[0] if cited else ""
