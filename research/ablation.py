"""What each rule of the reasoner without a model brings, paired question by question on the sets for choosing.

    python -m research.ablation                       # the sample as it is answered now, by set
    python -m research.ablation --rules               # and without each rule in turn: what is lost and gained
    python -m research.ablation --save now.json       # verdicts by question
    python -m research.ablation --beside before.json  # against verdicts saved earlier

The sets are indexed once, into ``.ablation``. Searches, vectors and readings are kept there too, so a run costs only
what the rules cost. Delete the folder after a change to ingestion, retrieval or a model.
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import json
import pickle
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.encoders.answer_reader import LowRankAnswerReader
from adapters.reasoners.extractive import rules
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.rules import GroupMatch, Rule
from bot.container import NEVER, Footnote, open_footnote
from bot.settings import Settings
from core.agent.agent import Agent
from core.agent.run import AgentDeps
from core.model.inquiry import PROFILE_LIMITS
from core.ports.index import Encoder, PassageVectors, Scope
from core.retrieval.hybrid import Retrieval, Retriever
from research.evaluation.answer_scoring import AnswerVerdict
from research.evaluation.corpus import WrappedEncoder, fill
from research.evaluation.dataset_loader import Dataset, read
from research.evaluation.question_runs import ask_question_set

if TYPE_CHECKING:
    from core.ports.index import Vectors

QUESTIONS = Path(__file__).parent / "questions"
SETS = ("tune", "tune_2", *(f"unseen_{n}" for n in (2, 3, 4, 5, 6, 7, 8, 13)))
HOME = Path(__file__).parent.parent / ".ablation"
SAMPLE = 30  # conversations of each set

Verdicts = dict[str, AnswerVerdict]


def folder_of(name: str) -> Path:
    """Return a set by its name, or by its folder where its pages were brought back (``research.measure.page_sets``)."""
    return QUESTIONS / name if (QUESTIONS / name).is_dir() else Path(name)


def only_threads(dataset: Dataset) -> Dataset:
    """Return the conversations of several turns alone."""
    assert dataset.questions is not None
    kept = [one for thread in dataset.questions.conversations if len(thread) > 1 for one in thread]
    return replace(dataset, questions=replace(dataset.questions, questions=tuple(kept)))


class Kept:
    """Results by key, in a file between runs."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._found: dict[str, dict[Hashable, Any]] = pickle.loads(file.read_bytes()) if file.is_file() else {}  # noqa: S301 - our own

    def of(self, kind: str) -> dict[Hashable, Any]:
        """Return the results of one kind."""
        return self._found.setdefault(kind, {})

    def save(self) -> None:
        """Write them all."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_bytes(pickle.dumps(self._found))


class KeptEncoder(WrappedEncoder):
    """An encoder that encodes each text once."""

    def __init__(self, encoder: Encoder, kept: Kept) -> None:
        super().__init__(encoder)
        self._queries, self._passages = kept.of("queries"), kept.of("passages")

    async def encode_queries(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32."""
        import numpy as np

        if fresh := [text for text in texts if text not in self._queries]:
            self._queries.update(zip(fresh, await super().encode_queries(fresh), strict=True))
        return np.stack([self._queries[text] for text in texts])

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32."""
        import numpy as np

        if fresh := [text for text in texts if text not in self._passages]:
            self._passages.update(zip(fresh, await super().encode_passages(fresh), strict=True))
        return np.stack([self._passages[text] for text in texts])


class KeptReader:
    """A reader that reads each pair once; ``pairs`` counts what it was asked for."""

    def __init__(self, reader: LowRankAnswerReader, kept: Kept) -> None:
        self._reader = reader
        self._known = kept.of("readings")
        self.pairs = 0

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the logarithm of the odds that each text answers."""
        self.pairs += len(texts)
        if fresh := [text for text in dict.fromkeys(texts) if (question, text) not in self._known]:
            odds = await self._reader.read(question, fresh)
            self._known.update(((question, text), value) for text, value in zip(fresh, odds, strict=True))
        return [self._known[question, text] for text in texts]


class KeptVectors:
    """The index's vectors of passages, asked for once."""

    def __init__(self, footnote: Footnote, kept: Kept) -> None:
        self._index, self._known = footnote.index, kept.of("vectors")

    async def known_vectors(self, passage_ids: Sequence[str]) -> Mapping[str, PassageVectors]:
        """Of those passages that are there."""
        if fresh := [name for name in passage_ids if name not in self._known]:
            found = await self._index.known_vectors(fresh)
            self._known.update((name, found.get(name)) for name in fresh)
        return {name: self._known[name] for name in passage_ids if self._known[name] is not None}


class KeptRetriever(Retriever):
    """A retriever that makes each search once; ``searches`` counts what it was asked for."""

    def __init__(self, retriever: Retriever, kept: Kept) -> None:
        self._retriever, self._known = retriever, kept.of("searches")
        self.searches = 0

    async def search(self, query: str, scope: Scope, limit: int = 10) -> Retrieval:
        """Return the best passages for a query."""
        self.searches += 1
        key = query, tuple(sorted(scope.bases)), tuple(sorted(scope.documents or ())), limit
        if key not in self._known:
            self._known[key] = replace(await self._retriever.search(query, scope, limit), seconds={})
        found: Retrieval = self._known[key]
        return found


class Bench:
    """The sample of every set, indexed, and an agent over what is kept."""

    def __init__(self, footnote: Footnote, kept: Kept, sets: Sequence[Dataset]) -> None:
        self.sets = sets
        self.reader = KeptReader(LowRankAnswerReader(), kept)
        self.retriever = KeptRetriever(footnote.retriever, kept)
        reasoner = ExtractiveReasoner(KeptEncoder(footnote.encoder, kept), self.reader, KeptVectors(footnote, kept))
        deps = AgentDeps(
            reasoner=reasoner,
            retriever=self.retriever,
            index=footnote.index,
            catalog=footnote.catalog,
            clock=footnote.clock,
            confident=NEVER,
        )
        self.asking = ""
        self._footnote = footnote.with_agent(Agent(deps, dict(PROFILE_LIMITS)))

    async def verdicts(self, answers: dict[str, Any] | None = None, only: Collection[str] | None = None) -> Verdicts:
        """Return the verdict of each question of the sample, or of ``only`` these conversations by their first id.

        ``answers`` takes each answer as JSON.
        """
        found: Verdicts = {}
        for dataset in self.sets:
            assert dataset.questions is not None
            for thread in dataset.questions.conversations:
                self.asking = f"{dataset.name}/{thread[0].id}"
                if only is not None and self.asking not in only:
                    continue
                alone = replace(dataset, questions=replace(dataset.questions, questions=thread))
                for one in await ask_question_set(self._footnote, alone):
                    found[f"{dataset.name}/{one.question.id}"] = one.scored.verdict
                    if answers is not None:
                        answers[f"{dataset.name}/{one.question.id}"] = one.as_json()
        return found

    async def without_each_rule(self, now: Verdicts) -> AsyncIterator[tuple[Rule, int, Verdicts]]:
        """Each rule, in how many conversations it applied, and the verdicts of these without it."""
        everything = rules.RULES
        touched: dict[str, set[str]] = {rule.name: set() for rule in everything}

        def noting(rule: Rule) -> Rule:
            def applies(group: GroupMatch) -> bool:
                if applied := rule.applies(group):
                    touched[rule.name].add(self.asking)
                return applied

            return replace(rule, applies=applies)

        try:
            rules.RULES = tuple(map(noting, everything))
            assert await self.verdicts() == now
            for left_out in everything:
                rules.RULES = tuple(rule for rule in everything if rule is not left_out)
                yield left_out, len(touched[left_out.name]), await self.verdicts(only=touched[left_out.name])
        finally:
            rules.RULES = everything


async def index_sets(footnote: Footnote, sets: Sequence[Dataset]) -> None:
    """Bring in what is not there yet."""
    there = await footnote.all_bases()
    for dataset in sets:
        if dataset.name not in there:
            print(f"indexing {dataset.name}: {await fill(footnote, dataset)} passages", flush=True)


def shares(verdicts: Verdicts) -> str:
    """How many are right and wrong."""
    counted, total = Counter(verdicts.values()), len(verdicts) or 1
    right, wrong = counted[AnswerVerdict.RIGHT], counted[AnswerVerdict.WRONG]
    return f"{right:5} right {right / total:6.1%} {wrong:5} wrong {wrong / total:6.1%} of {total}"


def change(before: Verdicts, after: Verdicts) -> tuple[int, int, int, int]:
    """Questions that became right, were right, became wrong, were wrong."""
    both = before.keys() & after.keys()

    def became(verdict: AnswerVerdict, one: Verdicts, other: Verdicts) -> int:
        return sum(one[name] == verdict != other[name] for name in both)

    right, wrong = AnswerVerdict.RIGHT, AnswerVerdict.WRONG
    return (
        became(right, after, before),
        became(right, before, after),
        became(wrong, after, before),
        became(wrong, before, after),
    )


def compared(before: Verdicts, after: Verdicts) -> str:
    """Return the change in one line."""
    gained, lost, worse, better = change(before, after)
    return f"right +{gained} -{lost}   wrong +{worse} -{better}"


async def measure(chosen: argparse.Namespace) -> None:
    """Answer the sample and print what came of it."""
    sets = [read(folder_of(name), None if chosen.threads else chosen.sample) for name in chosen.sets]
    sets = [only_threads(one) for one in sets] if chosen.threads else sets
    home = Settings().model_copy(
        update={"footnote_home": HOME / "home", "redis_url": None, "milvus_uri": None, "milvus_token": None}
    )
    async with open_footnote(home) as footnote:
        await index_sets(footnote, sets)
        kept = Kept(HOME / "kept.pickle")
        bench = Bench(footnote, kept, sets)
        try:
            await _print(bench, chosen)
        finally:
            kept.save()


async def _print(bench: Bench, chosen: argparse.Namespace) -> None:
    answers: dict[str, Any] = {}
    started = time.process_time()
    now = await bench.verdicts(answers)
    spent = time.process_time() - started
    for dataset in bench.sets:
        print(f"{dataset.name:14}", shares({k: v for k, v in now.items() if k.startswith(f"{dataset.name}/")}))
    print(f"{'all':14}", shares(now))
    reads, searches = bench.reader.pairs / len(now), bench.retriever.searches / len(now)
    print(f"{spent / len(now):.3f} s of processor, {reads:.1f} pairs read, {searches:.2f} searches an answer")
    if chosen.rules:
        print("without, of 1,000 questions:")
        async for rule, touched, without in bench.without_each_rule(now):
            gained, lost, worse, better = (1000 * count / len(now) for count in change(now, without))
            told = f"right {gained - lost:+5.1f}   wrong {worse - better:+5.1f}   applied in {touched} conversations"
            print(f"  {rule.name:28} {told}", flush=True)
    if chosen.save:
        chosen.save.write_text(json.dumps(answers, indent=1))
    if chosen.beside:
        earlier = json.loads(chosen.beside.read_text())
        before = {name: AnswerVerdict(one["verdict"]) for name, one in earlier.items()}
        print("beside", compared(before, now))
        for name in sorted(before.keys() & now.keys()):
            if chosen.show and before[name] != now[name]:
                _show(name, earlier[name], answers[name])


def _show(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    print(f"\n{name}: {before['verdict']} -> {after['verdict']}")
    print("  " + " / ".join([*after["after"], after["text"]]))
    print("  before: " + before["answer"].replace("\n", " ")[:400])
    print("  after:  " + after["answer"].replace("\n", " ")[:400])
    print(f"  {after['reason']} missing {after['missing']} wrong {after['wrong']}")


def main() -> None:
    """Read the arguments and measure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sets", nargs="+", default=SETS)
    arguments.add_argument("--sample", type=int, default=SAMPLE, help="conversations of each set")
    arguments.add_argument("--threads", action="store_true", help="the conversations of several turns, all of them")
    arguments.add_argument("--rules", action="store_true", help="what each rule brings")
    arguments.add_argument("--save", type=Path)
    arguments.add_argument("--beside", type=Path)
    arguments.add_argument("--show", action="store_true", help="each question whose verdict changed")
    asyncio.run(measure(arguments.parse_args()))


if __name__ == "__main__":
    main()
