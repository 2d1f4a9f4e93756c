"""What the reasoner makes of follow-up questions: beside a person's rewrite, and in what is then found."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bot.container import Footnote
from bot.evaluation.asking import new_inquiry
from core.model.answer import Citation, Outcome
from core.model.conversation import Exchange, Person, Thread, ThreadKey, Turn
from core.model.inquiry import Investigate
from core.retrieval.hybrid import POOL
from research.evaluation.case_report import case
from research.evaluation.dataset_loader import Dataset
from research.evaluation.datasets import Query
from research.evaluation.metrics import bootstrap, paired_difference
from research.evaluation.retrieval import documents_of, per_question, plain_retriever, scope_of
from research.labelled.follow_ups import Closeness, FollowUpCase, closeness, is_left_alone

RAW, REWRITTEN, HUMAN = "as asked", "rewritten", "by a person"
RETRIEVAL_METRICS = ("nDCG@10", "Recall@10")
PARTS = ("precision", "recall", "f1")
WORST = 10


class Rewriter:
    """Rewrites follow-ups as the product would: each earlier question of a thread first, once."""

    def __init__(self, footnote: Footnote, base: str) -> None:
        """Ask this Footnote's reasoner."""
        self._footnote = footnote
        self._base = base
        self._known: dict[tuple[str, tuple[Exchange, ...]], str] = {}

    async def rewritten(self, text: str, earlier: tuple[Exchange, ...]) -> str:
        """Return the self-contained question; as it stands where the reasoner would not search for it."""
        known = self._known.get((text, earlier))
        if known is None:
            known = await self._rewrite(text, earlier)
            self._known[text, earlier] = known
        return known

    async def _rewrite(self, text: str, earlier: tuple[Exchange, ...]) -> str:
        key = ThreadKey("eval", self._base, "", "rewriting")
        turns = [await self._turn(one, earlier[:number]) for number, one in enumerate(earlier)]
        inquiry = new_inquiry(self._footnote, self._base, text, key)
        plan = await self._footnote.reasoner.understand(
            inquiry, Thread(key, tuple(turns)), self._footnote.agent.meter()
        )
        return plan.question if isinstance(plan, Investigate) else text

    async def _turn(self, said: Exchange, before: tuple[Exchange, ...]) -> Turn:
        cited = [Citation(n, n, "", self._base, title, title, "", "", 1.0) for n, title in enumerate(said.titles, 1)]
        return Turn(
            said.question,
            said.answer,
            Outcome.ANSWERED,
            Person("eval"),
            self._footnote.clock.now(),
            "eval",
            rewritten=await self.rewritten(said.question, before) if said.question else "",
            citations=tuple(cited),
            knowledge_bases=frozenset({self._base}),
        )


async def measure_rewrites(footnote: Footnote, dataset: Dataset, asked: Sequence[FollowUpCase]) -> dict[str, Any]:
    """Measure closeness to the person's rewrites, whether plain questions are left alone, and retrieval."""
    rewriter = Rewriter(footnote, dataset.name)
    written = [await rewriter.rewritten(one.text, one.earlier) for one in asked]
    raw = [closeness(one.text, one.rewrite) for one in asked]
    ours = [closeness(text, one.rewrite) for one, text in zip(asked, written, strict=True)]
    needing = [number for number, one in enumerate(asked) if one.needs_context]
    free = [(one.text, text) for one, text in zip(asked, written, strict=True) if not one.needs_context]
    return {
        "questions": len(asked),
        RAW: _means(raw),
        REWRITTEN: _means(ours),
        "f1 over as asked": asdict(paired_difference([one.f1 for one in ours], [one.f1 for one in raw])),
        "needing context": {
            "questions": len(needing),
            RAW: _means([raw[number] for number in needing]),
            REWRITTEN: _means([ours[number] for number in needing]),
        },
        "no context needed": {
            "questions": len(free),
            "left alone": sum(is_left_alone(text, was) for was, text in free),
        },
        "retrieval": await _retrieval(footnote, dataset, asked, written),
        "worst": _worst(asked, written, raw, ours),
    }


def _means(found: Sequence[Closeness]) -> dict[str, Any]:
    return {part: asdict(bootstrap([getattr(one, part) for one in found])) for part in PARTS}


async def _retrieval(
    footnote: Footnote, dataset: Dataset, asked: Sequence[FollowUpCase], written: Sequence[str]
) -> dict[str, Any] | None:
    """Return what one search finds with each wording, for follow-ups with known documents; None without any."""
    judged = [
        (one, {RAW: one.text, REWRITTEN: text, HUMAN: one.rewrite})
        for one, text in zip(asked, written, strict=True)
        if one.relevant
    ]
    if not judged or not dataset.has_corpus:
        return None
    queries = [Query(one.id, one.text, one.relevant) for one, _ in judged]
    retriever = plain_retriever(footnote)
    each = {}
    for wording in (RAW, REWRITTEN, HUMAN):
        rankings = {}
        for query, (_, texts) in zip(queries, judged, strict=True):
            hits = (await retriever.search(texts[wording], scope_of(dataset), POOL)).hits
            rankings[query.id] = documents_of([hit.passage for hit in hits], query)
        each[wording] = per_question(queries, rankings)
    return {
        "questions": len(queries),
        **{
            wording: {name: asdict(bootstrap(figures[name])) for name in RETRIEVAL_METRICS}
            for wording, figures in each.items()
        },
        "nDCG@10 over as asked": asdict(paired_difference(each[REWRITTEN]["nDCG@10"], each[RAW]["nDCG@10"])),
    }


def _worst(
    asked: Sequence[FollowUpCase], written: Sequence[str], raw: Sequence[Closeness], ours: Sequence[Closeness]
) -> list[dict[str, Any]]:
    """Return the rewrites that lost most against leaving the question alone, then those furthest from the person's."""
    order = sorted(range(len(asked)), key=lambda n: (min(0.0, ours[n].f1 - raw[n].f1), ours[n].f1))
    return [
        case(
            asked[n].text,
            f"F1 {ours[n].f1:.2f}, as asked {raw[n].f1:.2f}",
            [{"id": HUMAN, "text": asked[n].rewrite}],
            [{"id": REWRITTEN, "text": written[n]}],
            [one.question for one in asked[n].earlier if one.question][-3:],
        )
        for n in order[:WORST]
        if ours[n].f1 < 1
    ]
