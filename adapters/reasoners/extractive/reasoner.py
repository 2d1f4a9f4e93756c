"""The reasoner that needs no model to write: it searches, weighs and quotes. Also the standby for one that is away.

Everything it decides is counted from words, scores and sentence vectors, so the same question over the same evidence
always gets the same answer. Each method only joins what the modules beside it do. What computes over passages runs in
a thread of its own, so that a long question keeps nobody else waiting.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.answer import claims as judging
from adapters.reasoners.extractive.answer import composer, replies, selection
from adapters.reasoners.extractive.evidence import grading, sufficiency
from adapters.reasoners.extractive.evidence import thread as lends
from adapters.reasoners.extractive.evidence.clarification import needs_of
from adapters.reasoners.extractive.evidence.reading import AnswerReader
from adapters.reasoners.extractive.evidence.weighing import KnownVectors, Weigher
from core.model.answer import Claim, ClaimVerdict
from core.model.budget import Meter
from core.model.conversation import Thread, Turn
from core.model.evidence import Evidence, Grade
from core.model.inquiry import Decision, Inquiry, Investigate, Plan, Reply
from core.ports.index import Encoder


class ExtractiveReasoner:
    """Implements ``core.ports.reasoner.Reasoner`` by quoting."""

    def __init__(self, encoder: Encoder, reader: AnswerReader | None = None, known: KnownVectors | None = None) -> None:
        """Weigh with this encoder, or by words alone while it is away; read the best units with this reader.

        Sentences whose vectors are ``known`` are not encoded.
        """
        self.weigher = Weigher(encoder, reader, known)

    @property
    def name(self) -> str:
        """The name under which its answers stand in traces and metrics."""
        return "quotes from the documents"

    @property
    def top_k(self) -> int:
        """More than a model is given to grade, since it costs no tokens."""
        return weights.PASSAGES_SEARCHED

    async def understand(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Plan:
        """Return a reply to small talk and to questions about the thread; for the rest, what to search for."""
        del meter  # costs no tokens
        if plan := lends.plan_without_search(inquiry, thread):
            return plan
        if thread.attachments and (reply := await self._from_attached(inquiry, thread)):
            return reply
        return lends.plan_searches(inquiry, thread)

    async def _from_attached(self, inquiry: Inquiry, thread: Thread) -> Reply | None:
        """Return what the files that hang on the question say, in their own words; None when they do not answer it."""
        if summary := lends.summary_of(thread.attachments, inquiry.question):
            return Reply(summary, "it asks what a file says that hangs on it")
        question = lends.question_of_files(inquiry.question)
        items = lends.evidence_of(thread.attachments)
        weighed = await self.weigher.weigh(question, items, items)
        grades = await self.weigher.off_loop(grading.grade_found, inquiry, weighed)
        if max((grade.score for grade in grades), default=0) < inquiry.cutoff:
            return None
        ranked = await self.weigher.off_loop(selection.rank_units, inquiry, weighed, grades, of_many=True)
        return Reply(composer.quote_files(question, ranked, items), "a file that hangs on the question answers it")

    async def grade(self, inquiry: Inquiry, evidence: Sequence[Evidence], meter: Meter) -> Sequence[Grade]:
        """Grades in order; for several needs, by the one that a passage meets best."""
        del meter
        pool = (*inquiry.library, *(item for item in evidence if inquiry.library.get(item.id) is None))
        weighed = [
            await self.weigher.weigh(need, evidence, pool, lends.leaning_of(inquiry)) for need in needs_of(inquiry)
        ]
        graded = [await self.weigher.off_loop(grading.grade_found, inquiry, found) for found in weighed]
        return grading.best_grades(inquiry, graded, evidence)

    async def decide(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Decision:
        """Ask back between readings, search on over what the evidence names, or be content."""
        del meter, thread
        return await self.weigher.off_loop(sufficiency.decide, inquiry, await self._as_read(inquiry))

    async def _as_read(self, inquiry: Inquiry) -> Inquiry:
        """Return the inquiry with its question, and each of its needs, in the words of what was found."""
        if not isinstance(inquiry.plan, Investigate):
            return inquiry
        pool = tuple(inquiry.library)
        question = await self.weigher.in_words_of(inquiry.plan.question, pool)
        needs = [await self.weigher.in_words_of(query, pool) for query in inquiry.plan.queries]
        return replace(inquiry, plan=replace(inquiry.plan, question=question, queries=tuple(needs)))

    async def compose(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: Meter
    ) -> AsyncIterator[str]:
        """Return the best sentences, verbatim, need by need and document by document."""
        del meter
        asked_for, inquiry = inquiry.standalone, await self._as_read(inquiry)
        pool = tuple(inquiry.library) or tuple(evidence)
        found = []
        needs = needs_of(inquiry)
        for need in needs:
            weighed = await self.weigher.weigh(need, evidence, pool, lends.leaning_of(inquiry))
            grades: Sequence[Grade | None] = [item.grade for item in evidence]
            if len(needs) > 1:  # what answers one part of a question is no answer to its other part
                grades = await self.weigher.off_loop(grading.grade_found, inquiry, weighed)
            ranked = await self.weigher.off_loop(selection.rank_units, inquiry, weighed, grades, of_many=len(needs) > 1)
            found.append((need, ranked))
        for piece in composer.compose(inquiry, thread, pool, found, asked_for):
            yield piece

    async def check(
        self, inquiry: Inquiry, claims: Sequence[Claim], evidence: Sequence[Evidence], meter: Meter
    ) -> Sequence[ClaimVerdict]:
        """Verbatim claims hold; others are compared word by word."""
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
        """Quotes need no repair, and rules cannot write."""
        del inquiry, draft, evidence, meter
        return [""] * len(failed)

    async def critique(self, inquiry: Inquiry, answer: str, meter: Meter) -> str:
        """Quotes are complete as they stand."""
        del inquiry, answer, meter
        return ""

    async def summarise(self, summary: str, turns: Sequence[Turn], meter: Meter) -> str:
        """Return the questions with the sentence that answered each, newest kept when it grows too long."""
        del meter
        return replies.summarise(summary, turns)
