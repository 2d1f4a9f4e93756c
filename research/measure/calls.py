"""What each sample question costs a language model, in calls, by kind of question and profile.

    python -m research.measure.calls [--profile balanced] [--steps]

The documents, the retrieval and the loop are the product's; the model is scripted, twice. The *quoting* one judges by
the words that a passage shares with the question, and so withholds what it could have answered where the words differ.
The *reading* one knows the answers that the set accepts, and takes a passage for an answer exactly when one stands in
it: what it costs shows how often one search is enough. Both put every sentence in words of their own, so that each
answer is checked.
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import quantiles

from pydantic import SecretStr

from adapters.reasoners.openai import prompts
from adapters.reasoners.openai.structured_output import MISSING, UNCLEAR
from bot.container import Footnote
from bot.demo import SAMPLES
from bot.evaluation.asking import new_inquiry
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.model.conversation import Thread, ThreadKey
from core.model.errors import ModelUnavailable
from core.model.events import AgentCompleted, CheckpointReached
from core.model.profile import Profile
from core.model.text import sentences
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import Dataset, read
from research.evaluation.datasets import Query
from research.evaluation.metrics import contains
from tests.fakes.model.endpoint import RecordedRequest, Says, ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel, PromptBlock, blocks_in

STEPS = {
    prompts.UNDERSTAND: "understand",
    prompts.GRADE: "grade",
    prompts.DECIDE: "decide",
    prompts.COMPOSE: "compose",
    prompts.CHECK: "check",
    prompts.CRITIQUE: "critique",
}
RIGHT, WRONG = 9, 2  # the reading model's grades


@dataclass(frozen=True, slots=True)
class Cost:
    """What one question came to."""

    kind: str
    question: str
    outcome: str
    steps: tuple[str, ...]
    tokens: int


class Quoting(ObedientModel):
    """Never repeats a sentence as it stands."""

    def __call__(self, request: RecordedRequest) -> Says:
        said = super().__call__(request)
        return replace(said, text=f"As it says: {said.text}") if request.stream and "[" in said.text else said


class Reading(Quoting):
    """Knows what the newest question's answer looks like, and finds it or says that it is missing.

    Where the set expects a question back, it has one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.answers: Sequence[str] = ()
        self.asks = False

    def _score(self, block: PromptBlock, wanted: set[str]) -> int:
        del wanted
        return RIGHT if contains(block.text, self.answers) else WRONG

    def _compose(self, request: RecordedRequest) -> Says:
        documents = [block for block in blocks_in(request.user) if block.kind == "document"]
        held = [block for block in documents if contains(block.text, self.answers)]
        if self.asks and UNCLEAR in request.task:
            return Says(f"{UNCLEAR} Which one do you mean? | This one? | That one?")
        if not held and MISSING in request.task:
            return Says(f"{MISSING} something else")
        said = (
            next((s for s in sentences(block.text) if contains(s, self.answers)), block.text.splitlines()[0])
            for block in held[:2]
        )
        lines = [f"{text} [{block.number}]" for block, text in zip(held, said, strict=False)]
        return Says("\n".join(lines) or "It is not there.")

    def _check(self, request: RecordedRequest) -> Says:
        claims = [block for block in blocks_in(request.user) if block.kind == "sentence"]
        return Says(json.dumps({"verdicts": [{"n": int(b.named["n"]), "verdict": "supported"} for b in claims]}))


async def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--profile", action="append", choices=list(Profile), help="only this one; may be given again")
    options.add_argument("--steps", action="store_true", help="every question with its calls")
    given = options.parse_args()
    profiles = [Profile(name) for name in given.profile or Profile]
    samples = read(SAMPLES / "eval", None)
    async with ScriptedEndpoint() as endpoint:
        settings = Settings(
            _env_file=None,  # type: ignore[call-arg]
            llm_base_url=endpoint.base_url,
            llm_api_key=SecretStr("none"),
            llm_model="scripted",
        )
        async with open_temporary(settings) as footnote:
            await fill(footnote, samples, Path(tempfile.gettempdir()) / "footnote-measure")
            for model in (Quoting(), Reading()):
                endpoint.answers_with(model)
                for profile in profiles:
                    measuring = (_cost(footnote, endpoint, samples, query, profile, model) for query in _asked(samples))
                    costs = [await one for one in measuring]
                    _print(f"{type(model).__name__.casefold()}, {profile}", costs, steps=given.steps)


def _asked(samples: Dataset) -> list[Query]:
    """Return the questions that stand alone."""
    return [query for query in samples.queries if not query.thread]


async def _cost(
    footnote: Footnote, endpoint: ScriptedEndpoint, samples: Dataset, query: Query, profile: Profile, model: Quoting
) -> Cost:
    if isinstance(model, Reading):
        model.answers, model.asks = query.answers, query.expect == "clarified"
    endpoint.requests.clear()
    key = ThreadKey("measure", samples.name, "", query.id)
    inquiry = new_inquiry(footnote, samples.name, query.text, key)
    inquiry = replace(inquiry, policy=replace(inquiry.policy, profile=profile))
    outcome, tokens = "", 0
    async with aclosing(footnote.agent.pursue(footnote.agent.run(inquiry, Thread(key)))) as events:
        async for event in events:
            if isinstance(event, AgentCompleted | CheckpointReached):
                outcome, tokens = event.answer.outcome, event.answer.spent.tokens
    if not outcome:
        raise ModelUnavailable(f"The question {query.id} failed.", remedy="Run it again.")
    steps = tuple(_step(request) for request in endpoint.requests)
    return Cost(query.id.rpartition("-")[0], query.text, outcome, steps, tokens)


def _step(request: RecordedRequest) -> str:
    return next(name for opening, name in STEPS.items() if request.task.startswith(opening))


def _print(title: str, costs: Sequence[Cost], *, steps: bool) -> None:
    kinds = dict.fromkeys(cost.kind for cost in costs)
    print(f"\n{title}: calls, tokens of the middle eight in ten, outcomes")
    for kind in kinds:
        own = [cost for cost in costs if cost.kind == kind]
        tokens = quantiles([cost.tokens for cost in own], n=10)
        told = f"{_histogram([len(cost.steps) for cost in own]):26} {tokens[0]:6.0f} to {tokens[-1]:5.0f}"
        print(f"  {kind:14} {told}   {_counted([cost.outcome for cost in own])}")
    for cost in costs if steps else ():
        print(f"    {cost.kind:14} {len(cost.steps)} {cost.outcome:10} {' '.join(cost.steps):60} {cost.question}")


def _histogram(values: Sequence[int]) -> str:
    counts: Mapping[int, int] = Counter(values)
    return ", ".join(f"{counts[value]} at {value}" for value in sorted(counts))


def _counted(values: Sequence[str]) -> str:
    return ", ".join(f"{count} {value}" for value, count in Counter(values).most_common())


if __name__ == "__main__":
    asyncio.run(main())
