"""Puts questions into the inbox as a platform does, and waits for their outcomes.

Three ways of asking: all in the same instant, as no team does it, which shows the worst; threads that go on by
themselves, each asking again a while after its answer; and as many under way as there are lanes, all the time.
"""

import asyncio
import random
import time
from collections.abc import Iterator
from contextlib import suppress

from bot.container import Footnote
from core.model.conversation import Person, ThreadKey
from core.model.errors import FootnoteError
from core.model.incoming_events import IncomingMessage
from core.service.incoming import delivery
from research.benchmark.endpoint import numbered_question
from research.benchmark.load_plan import Plan
from research.benchmark.resource_samples import Look, Looking
from research.benchmark.rows import percentile
from research.benchmark.stopwatch import StopwatchPlatform

PEOPLE = 500
PATIENCE = 120.0  # seconds for one question; then it counts as an error
CHECKPOINTS = 20  # looks at the memory
_DICE = 7


class Load:
    """One measurement's questions. What became of each is told to the platform's stopwatch."""

    def __init__(self, footnote: Footnote, platform: StopwatchPlatform, plan: Plan, questions: list[str]) -> None:
        """Ask these questions in turn, each case a question."""
        self._footnote = footnote
        self._platform = platform
        self._plan = plan
        self._questions = questions
        self._looking = Looking(footnote.redis)
        self._dice = random.Random(_DICE)

    async def warm_up(self) -> None:
        """Ask everything, and from then on only what this model has answered: the case's number moves what is close."""
        await self._at_once(self._plan.first)
        count = len(self._questions)
        wrong = {(case - 1) % count for case in self._platform.times.wrong}
        kept = [question for place, question in enumerate(self._questions) if place not in wrong]
        self._questions = kept or self._questions

    async def bursts(self) -> None:
        """All threads in the same instant, and again when the last of them is answered."""
        for start in self._plan.burst[:: self._plan.threads]:
            await self._at_once(range(start, start + self._plan.threads))

    async def run_conversations(self) -> None:
        """Threads that begin one after the other and go on, each with a pause after its answer."""
        cases, most = iter(self._plan.conversation_cases), self._plan.thinking
        async with asyncio.TaskGroup() as group:
            for _ in range(self._plan.threads):
                group.create_task(self._ask_with_pauses(cases, self._dice.uniform(0, 2 * most)))

    async def _ask_with_pauses(self, cases: Iterator[int], pause: float) -> None:
        await asyncio.sleep(pause)
        for case in cases:
            await self._ask(case)
            await asyncio.sleep(self._dice.uniform(0, self._plan.thinking))

    async def run_sustained(self) -> list[Look]:
        """As many under way as there are lanes, until all cases are asked; looks at the process on the way."""
        ramp = self._plan.ramp
        cases, looks = iter(self._plan.sustained_cases), _Looks(self._plan, self._looking)
        spacing = self._one_takes() / ramp
        async with asyncio.TaskGroup() as group:
            for lane in range(ramp):  # spread, or they would all come to the same step at the same time
                group.create_task(self._one_after_the_other(cases, looks, lane * spacing))
        return looks.taken

    async def _one_after_the_other(self, cases: Iterator[int], looks: "_Looks", wait: float) -> None:
        await asyncio.sleep(wait)
        for case in cases:
            await self._ask(case)
            await looks.after_one_more()

    def _one_takes(self) -> float:
        """Seconds, by the burst; 0 when it had no answer."""
        times = self._platform.times
        took = [times.ended[case] - times.put[case] for case in self._plan.burst if case not in times.wrong]
        return percentile(took, 0.5) if took else 0.0

    async def _at_once(self, cases: range) -> None:
        async with asyncio.TaskGroup() as group:
            for case in cases:
                group.create_task(self._ask(case))

    async def _ask(self, case: int) -> None:
        thread = ThreadKey(self._platform.name, "bench", "load", f"case-{case}")
        person = Person(f"paper:person-{case % PEOPLE}", "Ada")
        text = numbered_question(case, self._questions[(case - 1) % len(self._questions)])
        message = IncomingMessage(f"m{case}", thread, text, person, mentions_us=True)
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._platform.waiting[case] = ended
        self._platform.times.put[case] = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE):
                await self._footnote.inbox.put(delivery(f"d{case}", message))
                await ended
        except TimeoutError:
            self._platform.times.wrong[case] = "no outcome in time"
        except FootnoteError as error:  # a platform would not have said "ok", and the question would come again
            self._platform.times.wrong[case] = str(error)


class _Looks:
    """Looks at the process each time that another share of the answers is there, from the first counted on."""

    def __init__(self, plan: Plan, looking: Looking) -> None:
        self.taken: list[Look] = []
        self._plan = plan
        self._looking = looking
        self._every = max(1, plan.answers // CHECKPOINTS)
        self._done = 0

    async def after_one_more(self) -> None:
        """Another answer is there."""
        self._done += 1
        counted = self._done - self._plan.ramp
        last = counted == self._plan.answers
        if 0 <= counted <= self._plan.answers and (last or counted % self._every == 0):
            with suppress(FootnoteError):  # one look less
                self.taken.append(await self._looking.look(counted))
