"""Reasoner without a language model: it searches, scores and quotes. It is also the fallback for a failing model.

It decides from words, scores and sentence vectors, so the same question over the same evidence always gets the same
answer. Its methods only combine the modules of this package. Computations over passages run in a worker thread, so
that a long question does not block others.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from adapters.reasoners.extractive import claims as judging
from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.compose import composer, replies, selection
from adapters.reasoners.extractive.decide import grading, sufficiency
from adapters.reasoners.extractive.decide.clarification import needs_of
from adapters.reasoners.extractive.score.reading import AnswerReader
from adapters.reasoners.extractive.score.weighing import KnownVectors, Weigher
from adapters.reasoners.extractive.understand import thread as lends
from core.model.answer import Claim, ClaimVerdict
from core.model.budget import Meter
from core.model.conversation import Thread, Turn
from core.model.evidence import Evidence, Grade
from core.model.inquiry import Decision, Inquiry, Investigate, Plan, Reply
from core.ports.index import Encoder


class ExtractiveReasoner:
    """``core.ports.reasoner.Reasoner`` that quotes."""

    def __init__(self, encoder: Encoder, reader: AnswerReader | None = None, known: KnownVectors | None = None) -> None:
        """Score with this encoder, or by words alone if it fails. Read the best units with this reader.

        Sentences with ``known`` vectors are not encoded.
        """
        self.weigher = Weigher(encoder, reader, known)

    @property
    def name(self) -> str:
        """Name of its answers in traces and metrics."""
        return "quotes from the documents"

    @property
    def top_k(self) -> int:
        """Number of passages of a search. It is more than a model grades, since it costs no tokens."""
        return weights.PASSAGES_SEARCHED

    async def understand(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Plan:
        """Return a reply to small talk and questions about the thread, and searches for other questions."""
        if plan := lends.plan_without_search(inquiry, thread):
            return plan
        if thread.attachments and (reply := await self._from_attached(inquiry, thread, meter)):
            return reply
        return lends.plan_searches(inquiry, thread)

    async def _from_attached(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Reply | None:
        """Return quotes from the attached files, or None if they do not answer the question."""
        if summary := lends.summary_of(thread.attachments, inquiry.question):
            return Reply(summary, "it asks what a file says that hangs on it")
        question = lends.question_of_files(inquiry.question)
        items = lends.evidence_of(thread.attachments)
        weighed = await self.weigher.weigh(question, items, items, meter=meter)
        grades = await self.weigher.off_loop(grading.grade_found, inquiry, weighed)
        if max((grade.score for grade in grades), default=0) < inquiry.cutoff:
            return None
        ranked = await self.weigher.off_loop(selection.rank_units, inquiry, weighed, grades, of_many=True)
        return Reply(composer.quote_files(question, ranked, items), "a file that hangs on the question answers it")

    async def grade(self, inquiry: Inquiry, evidence: Sequence[Evidence], meter: Meter) -> Sequence[Grade]:
        """Grade the passages, in order. With several needs, use the need that a passage meets best."""
        pool = (*inquiry.library, *(item for item in evidence if inquiry.library.get(item.id) is None))
        weighed = [
            await self.weigher.weigh(need, evidence, pool, lends.leaning_of(inquiry), meter)
            for need in needs_of(inquiry)
        ]
        graded = [await self.weigher.off_loop(grading.grade_found, inquiry, found) for found in weighed]
        return grading.best_grades(inquiry, graded, evidence)

    async def decide(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Decision:
        """Decide to ask which reading is meant, to search for names in the evidence, or to answer."""
        del thread
        return await self.weigher.off_loop(sufficiency.decide, inquiry, await self._as_read(inquiry, meter))

    async def _as_read(self, inquiry: Inquiry, meter: Meter) -> Inquiry:
        """Return the inquiry with its question and needs translated and spelled in the words of the evidence."""
        if not isinstance(inquiry.plan, Investigate):
            return inquiry
        pool = tuple(inquiry.library)
        question = await self.weigher.in_words_of(inquiry.plan.question, pool, meter)
        needs = [await self.weigher.in_words_of(query, pool, meter) for query in inquiry.plan.queries]
        return replace(inquiry, plan=replace(inquiry.plan, question=question, queries=tuple(needs)))

    async def compose(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: Meter
    ) -> AsyncIterator[str]:
        """Yield the best sentences, verbatim, by need and document."""
        asked_for, inquiry = inquiry.standalone, await self._as_read(inquiry, meter)
        pool = tuple(inquiry.library) or tuple(evidence)
        found = []
        needs = needs_of(inquiry)
        for need in needs:
            weighed = await self.weigher.weigh(need, evidence, pool, lends.leaning_of(inquiry), meter)
            grades: Sequence[Grade | None] = [item.grade for item in evidence]
            if len(needs) > 1:  # a passage that answers one part of a question need not answer another part
                grades = await self.weigher.off_loop(grading.grade_found, inquiry, weighed)
            ranked = await self.weigher.off_loop(selection.rank_units, inquiry, weighed, grades, of_many=len(needs) > 1)
            found.append((need, ranked))
        for piece in composer.compose(inquiry, thread, pool, found, asked_for):
            yield piece

    async def check(
        self, inquiry: Inquiry, claims: Sequence[Claim], evidence: Sequence[Evidence], meter: Meter
    ) -> Sequence[ClaimVerdict]:
        """Accept verbatim claims, and compare others word by word."""
        del meter, evidence
        verdicts: list[ClaimVerdict] = []
        for claim in claims:
            found = [inquiry.library.get(evidence_id) for evidence_id in claim.evidence]
            passages = [item.passage for item in found if item]
            verdicts.append(await self.weigher.off_loop(judging.verdict_on, claim, passages, inquiry.standalone))
        return verdicts

    async def repair(
        self,
        inquiry: Inquiry,
        draft: str,
        failed: Sequence[ClaimVerdict],
        evidence: Sequence[Evidence],
        meter: Meter,
    ) -> Sequence[str]:
        """Repair nothing: quotes need no repair, and rules cannot write."""
        del inquiry, draft, evidence, meter
        return [""] * len(failed)

    async def critique(self, inquiry: Inquiry, answer: str, meter: Meter) -> str:
        """Find nothing missing: quotes are complete."""
        del inquiry, answer, meter
        return ""

    async def summarise(self, summary: str, turns: Sequence[Turn], meter: Meter) -> str:
        """Return the questions, each with the sentence that answered it. If too long, keep the newest."""
        del meter
        return replies.summarise(summary, turns)
