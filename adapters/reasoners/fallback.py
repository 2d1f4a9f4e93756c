"""A reasoner that never leaves a question unanswered: when the first one cannot work, the second does.

A circuit breaker keeps people from waiting for an endpoint that is known to be down; the writing has one of its own
beside it, since an endpoint may answer everything but a stream. What an endpoint says of one question alone (a content
filter, a prompt that is too long) counts in neither: the next person's question may be in order. Whoever waited once in
vain for a hanging endpoint does not wait for it again with the same question.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from adapters.reasoners.circuit_breaker import BreakerState, CircuitBreaker
from core.model.answer import Claim, ClaimVerdict
from core.model.budget import Meter
from core.model.clock import Clock
from core.model.conversation import Thread, Turn
from core.model.errors import BudgetExhausted, ModelFailure, ModelUnavailable
from core.model.evidence import Evidence, Grade
from core.model.inquiry import Decision, Inquiry, Investigate, Plan
from core.ports.reasoner import DraftDeclined, DraftPart, DraftRestarted, Reasoner

T = TypeVar("T")
log = logging.getLogger(__name__)

QUOTING = "The writing model does not answer right now, so I quote the documents instead."
STOOD_IN = "The writing model did not answer for a part of this, so simpler rules stood in for it."
# In place of QUOTING, where the model did answer: what it has against this question or its evidence.
OF_THIS_QUESTION: Mapping[ModelFailure, str] = {
    ModelFailure.CONTENT_FILTER: "The writing model's content filter stopped this, so I quote the documents instead.",
    ModelFailure.REFUSED_TEXT: "The writing model refused to answer this, so I quote the documents instead.",
    ModelFailure.CONTEXT: "This is longer than the writing model can read, so I quote the documents instead.",
    ModelFailure.LENGTH: "The writing model came to no answer in its length, so I quote the documents instead.",
}
INSTEAD = ", so I quote the documents instead."  # ends every notice that says so
CAPPED = "What one answer may cost is used up, so I quote the documents instead."
LONG_WAIT_SECONDS = 5.0  # a failure that took this long is not waited for again with the same question
REMEMBERED = 512  # questions that have waited in vain


@dataclass(frozen=True, slots=True)
class Reserves:
    """Seconds of the remaining time that the first reasoner may not use, by step.

    They lie above what the loop itself keeps back from the searching, so that the second can still do the step.
    """

    understand: float = 10.0
    gather: float = 6.0  # grading and deciding
    write: float = 2.0  # composing, checking and the rest


class FallbackReasoner:
    """Asks ``primary``, and ``standby`` when that cannot work. The same Reasoner to the loop."""

    def __init__(
        self,
        primary: Reasoner,
        standby: Reasoner,
        *,
        clock: Clock,
        failures: int = 5,
        cool_down_seconds: float = 30.0,
        reserves: Reserves | None = None,
        on_failure: Callable[[ModelFailure], None] | None = None,
    ) -> None:
        """Open the breaker after ``failures`` in a row, for ``cool_down_seconds``."""
        self._on_failure = on_failure
        self._last_failure = ""
        self._lasting: set[str] = set()  # what is wrong with the model itself, logged once
        self._primary = primary
        self._standby = standby
        self._clock = clock
        self._breaker = CircuitBreaker(clock, failures, cool_down_seconds)
        self._writing = CircuitBreaker(clock, failures, cool_down_seconds)  # of the streams alone
        self._reserves = reserves or Reserves()
        self._waited: deque[str] = deque(maxlen=REMEMBERED)

    @property
    def name(self) -> str:
        """Who would write now. Who has written a certain answer is in its meter, ``written_by``."""
        return (self._standby if self.state is BreakerState.OPEN else self._primary).name

    @property
    def top_k(self) -> int:
        """That of who would grade now."""
        return (self._standby if self._breaker.state is BreakerState.OPEN else self._primary).top_k

    @property
    def state(self) -> BreakerState:
        """The breaker's state, for diagnosis and metrics; where that is closed, the writing's."""
        return self._writing.state if self._breaker.state is BreakerState.CLOSED else self._breaker.state

    async def understand(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Plan:
        """See Reasoner."""
        plan, by = await self._run_step(
            lambda reasoner: reasoner.understand(inquiry, thread, meter),
            meter,
            inquiry.id,
            self._reserves.understand,
        )
        if not isinstance(plan, Investigate):
            meter.written_by = by
        return plan

    async def grade(self, inquiry: Inquiry, evidence: Sequence[Evidence], meter: Meter) -> Sequence[Grade]:
        """See Reasoner."""
        grades, _ = await self._run_step(
            lambda reasoner: reasoner.grade(inquiry, evidence, meter), meter, inquiry.id, self._reserves.gather
        )
        return grades

    async def decide(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Decision:
        """See Reasoner."""
        decision, _ = await self._run_step(
            lambda reasoner: reasoner.decide(inquiry, thread, meter), meter, inquiry.id, self._reserves.gather
        )
        return decision

    async def check(
        self, inquiry: Inquiry, claims: Sequence[Claim], evidence: Sequence[Evidence], meter: Meter
    ) -> Sequence[ClaimVerdict]:
        """See Reasoner."""
        verdicts, _ = await self._run_step(
            lambda reasoner: reasoner.check(inquiry, claims, evidence, meter), meter, inquiry.id, self._reserves.write
        )
        return verdicts

    async def repair(
        self,
        inquiry: Inquiry,
        draft: str,
        failed: Sequence[ClaimVerdict],
        evidence: Sequence[Evidence],
        meter: Meter,
    ) -> Sequence[str]:
        """See Reasoner."""
        texts, _ = await self._run_step(
            lambda reasoner: reasoner.repair(inquiry, draft, failed, evidence, meter),
            meter,
            inquiry.id,
            self._reserves.write,
        )
        return texts

    async def critique(self, inquiry: Inquiry, answer: str, meter: Meter) -> str:
        """See Reasoner."""
        missing, _ = await self._run_step(
            lambda reasoner: reasoner.critique(inquiry, answer, meter), meter, inquiry.id, self._reserves.write
        )
        return missing

    async def summarise(self, summary: str, turns: Sequence[Turn], meter: Meter) -> str:
        """See Reasoner."""
        text, _ = await self._run_step(
            lambda reasoner: reasoner.summarise(summary, turns, meter), meter, "", self._reserves.write
        )
        return text

    async def compose(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: Meter
    ) -> AsyncGenerator[DraftPart, None]:
        """Yield the first reasoner's text. When it fails in the middle: Restarted, and the second's.

        A cap on tokens or money is no reason to say nothing here: quoting costs neither. What is only attempted is
        withheld then: the second quotes from graded evidence, and grading costs it nothing.
        """
        begun, notice = False, QUOTING
        if self._admits(inquiry.id, meter, self._reserves.write, self._writing, self._breaker):
            meter.written_by = self._primary.name
            try:
                async with aclosing(self._first(inquiry, thread, evidence, meter)) as parts:
                    async for part in parts:
                        begun = True
                        yield part
            except ModelUnavailable as error:
                self._blame(meter, error)
                notice = _notice_of(error)
            except BudgetExhausted:
                notice = CAPPED
            else:
                return
        if inquiry.fast_path:
            yield DraftDeclined()
            return
        if STOOD_IN in meter.notices:
            meter.notices.remove(STOOD_IN)
        meter.notice(notice)
        meter.written_by = self._standby.name
        if begun:
            yield DraftRestarted(notice)
        async for part in self._standby.compose(inquiry, thread, evidence, meter):
            yield part

    async def _first(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: Meter
    ) -> AsyncGenerator[DraftPart, None]:
        """Yield the first reasoner's stream under its deadline, with the breakers told how it ended."""
        deadline = asyncio.get_running_loop().time() + meter.remaining_seconds - self._reserves.write
        started = self._clock.monotonic()
        parts = self._primary.compose(inquiry, thread, evidence, meter)
        settle: Callable[[CircuitBreaker], None] = CircuitBreaker.release
        try:
            while (part := await _before(deadline, anext(parts, None))) is not None:
                if isinstance(part, DraftDeclined):  # that is a reply too, and nobody reads on after it
                    settle = CircuitBreaker.record_success
                yield part
            settle = CircuitBreaker.record_success
        except ModelUnavailable as error:
            settle = self._verdict_on(error, inquiry.id, started)
            raise
        finally:
            for breaker in (self._writing, self._breaker):
                settle(breaker)
            if isinstance(parts, AsyncGenerator):
                await parts.aclose()

    async def _run_step(
        self, step: Callable[[Reasoner], Awaitable[T]], meter: Meter, inquiry_id: str, reserve: float
    ) -> tuple[T, str]:
        """Return the step's result, and whose it is."""
        if self._admits(inquiry_id, meter, reserve, self._breaker):
            deadline = asyncio.get_running_loop().time() + meter.remaining_seconds - reserve
            started = self._clock.monotonic()
            try:
                result = await _before(deadline, step(self._primary))
            except ModelUnavailable as error:
                self._blame(meter, error)
                self._verdict_on(error, inquiry_id, started)(self._breaker)
                if error.kind is ModelFailure.BUDGET:
                    meter.notice(_notice_of(error))
                if error.kind is ModelFailure.UNRELIABLE:
                    return await step(self._standby), self._standby.name
            except BaseException:
                self._breaker.release()
                raise
            else:
                self._breaker.record_success()
                self._last_failure = ""
                return result, self._primary.name
        result = await step(self._standby)
        if not any(one.endswith(INSTEAD) for one in meter.notices):
            meter.notice(STOOD_IN)
        return result, self._standby.name

    @property
    def last_failure(self) -> str:
        """What was wrong at the endpoint the last time, in one line with its remedy; empty after a success."""
        return self._last_failure

    def _blame(self, meter: Meter, error: ModelUnavailable) -> None:
        """Keep the cause with the answer and for diagnosis; it is logged when it changes, what cannot change once."""
        meter.blame(str(error))
        if error.kind is ModelFailure.BUDGET:  # our own limit, and no fault of the endpoint
            return
        if str(error) != self._last_failure:
            self._last_failure = str(error)
            if str(error) not in self._lasting:
                log.warning("The model endpoint: %s", error, extra={"kind": str(error.kind)})
        if error.kind is ModelFailure.UNRELIABLE:
            self._lasting.add(str(error))
        if self._on_failure is not None:
            self._on_failure(error.kind)

    def _admits(self, inquiry_id: str, meter: Meter, reserve: float, *breakers: CircuitBreaker) -> bool:
        """Whether the first reasoner is asked. Each of the breakers is to be told then how that ended."""
        if meter.remaining_seconds <= reserve or inquiry_id in self._waited:
            return False
        for position, breaker in enumerate(breakers):
            if not breaker.admits():
                for admitting in breakers[:position]:
                    admitting.release()
                return False
        return True

    def _verdict_on(self, error: ModelUnavailable, inquiry_id: str, started: float) -> Callable[[CircuitBreaker], None]:
        """Return what a failure says of the endpoint; a question that has waited long for it is noted."""
        if error.kind is ModelFailure.UNRELIABLE:  # it answers, and what it says is not believed
            return CircuitBreaker.record_success
        if inquiry_id and self._clock.monotonic() - started >= LONG_WAIT_SECONDS:
            self._waited.append(inquiry_id)
        spares = error.kind in OF_THIS_QUESTION or error.kind is ModelFailure.BUDGET  # which another channel may have
        return CircuitBreaker.release if spares else CircuitBreaker.record_failure


def _notice_of(error: ModelUnavailable) -> str:
    """Return what is said below quotes that this failure is the reason for."""
    if error.kind is ModelFailure.BUDGET:
        return str(error).removesuffix(".") + INSTEAD
    return OF_THIS_QUESTION.get(error.kind, QUOTING)


async def _before(deadline: float, work: Awaitable[T]) -> T:
    """Await until the loop's ``deadline``. Raises ModelUnavailable when it passes."""
    timing = asyncio.timeout_at(deadline)
    try:
        async with timing:
            return await work
    except TimeoutError:
        if not timing.expired():
            raise
        raise ModelUnavailable("The writing model did not answer in time.") from None
