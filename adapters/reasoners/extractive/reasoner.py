"""The reasoner that needs no model to write: it searches, weighs and quotes. Also the standby for one that is away.

Everything it decides is counted from words, scores and sentence vectors, so the same question over the same evidence
always gets the same answer. Each method only joins what the modules beside it do.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace

from adapters.reasoners.extractive.answer import composing, replies, selection
from adapters.reasoners.extractive.answer.claims import judge_claim, sentences_of, verbatim
from adapters.reasoners.extractive.evidence import grading, sufficiency
from adapters.reasoners.extractive.evidence.similarity import Similarity
from adapters.reasoners.extractive.question import intent
from adapters.reasoners.extractive.question.follow_up import resolve
from core.model.answer import Claim, ClaimVerdict, Support
from core.model.budget import Meter
from core.model.conversation import Exchange, Role, Thread, Turn
from core.model.evidence import Evidence, Grade
from core.model.inquiry import AskBack, Decision, Inquiry, Insufficient, Investigate, Plan, Sufficient
from core.ports.encoder import Encoder

_SUMMARY = 1_200  # characters


class ExtractiveReasoner:
    """Implements ``core.ports.Reasoner`` by quoting."""

    def __init__(self, encoder: Encoder) -> None:
        """Compare sentences with this encoder; without its answer, by words alone."""
        self._similarity = Similarity(encoder)

    @property
    def name(self) -> str:
        """Who wrote this."""
        return "quotes from the documents"

    async def understand(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Plan:
        """A reply to small talk and to questions about the thread; for the rest, what to search for."""
        del meter  # costs no tokens
        if overview := intent.overview_of(inquiry.question, {base.name for base in inquiry.bases}):
            return overview
        kind = intent.kind_of(inquiry.question, in_thread=bool(thread.turns))
        if kind is intent.Kind.MORE and thread.last and (question := thread.last.rewritten):
            return Investigate(question, (question,), "more of what was asked last")
        if kind is not None:
            return replies.reply_to(kind, thread)
        asked = intent.asked(inquiry.question)
        needs: list[str] = []
        reasons: list[str] = []
        earlier = exchanges(thread)
        for need in asked.needs:
            resolved = resolve(need, earlier)
            if resolved.stuck:
                return AskBack("What do you mean? Tell me a word or two about what you are looking for.")
            needs.append(resolved.question)
            reasons.extend([resolved.reason] if resolved.reason else [])
            earlier = (*earlier, Exchange(resolved.question))
        question = needs[0] if len(needs) == 1 else " ".join(needs)
        return Investigate(question, tuple(needs), "; ".join(reasons), sources_first=asked.sources_first)

    async def grade(self, inquiry: Inquiry, evidence: Sequence[Evidence], meter: Meter) -> Sequence[Grade]:
        """Grades in order; for several needs, by the one that a passage meets best."""
        del meter
        needs = needs_of(inquiry)
        pool = (*inquiry.library, *(item for item in evidence if inquiry.library.get(item.id) is None))
        rarity = grading.rarity_of(pool)
        graded = [await self._graded(inquiry, need, evidence, rarity) for need in needs]
        return [max(options, key=lambda grade: grade.score) for options in zip(*graded, strict=True)]

    async def _graded(
        self, inquiry: Inquiry, need: str, evidence: Sequence[Evidence], rarity: Mapping[str, float]
    ) -> list[Grade]:
        near = await self._similarity.of_words((need,), (item.passage.searchable for item in evidence))
        ranked = [grading.ranked_units(need, item.passage, rarity, near) for item in evidence]
        cosines = await self._similarity.of_passages(
            need, [(item, units) for item, units in zip(evidence, ranked, strict=True)]
        )
        grades: list[Grade] = []
        layered = sufficiency.is_layered(need)
        for item, units, (whole, sentence) in zip(evidence, ranked, cosines, strict=True):
            features = grading.measured(need, item, units, rarity, whole, sentence, near, layered=layered)
            grade = grading.grade_of(features, units, item.hit.rerank)
            grades.append(sufficiency.credited(inquiry, item, grade))
        return grades

    async def decide(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Decision:
        """Ask back between readings, search on over what the evidence names, or be content."""
        del meter
        relevant = inquiry.library.relevant(inquiry.cutoff)
        near = inquiry.library.relevant(grading.NEAR)
        if not inquiry.refining and (options := sufficiency.readings(inquiry.standalone, near)):
            noun = sufficiency.noun_of(inquiry.standalone)
            return AskBack(f"The documents know more than one {noun}. Which do you mean?", options, "several readings")
        if moves := sufficiency.in_the_same_source(inquiry, thread):
            return Insufficient("what the last answer's source says", moves)
        missing, moves = sufficiency.next_moves(inquiry, relevant)
        if missing or moves:
            return Insufficient(missing, moves)
        return Sufficient("the best passages cover the question")

    async def compose(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: Meter
    ) -> AsyncIterator[str]:
        """The best sentences, verbatim, need by need and document by document."""
        del meter
        rarity = grading.rarity_of(tuple(inquiry.library) or evidence)
        leant_on = sufficiency.leant_on(inquiry, thread) or sufficiency.chosen_reading(inquiry)[1]
        found: list[tuple[str, Sequence[selection.Candidate]]] = []
        needs = needs_of(inquiry)
        for need in needs:
            # What answers one part of a question is no answer to its other part.
            own = evidence if len(needs) == 1 else await self._of_need(inquiry, need, evidence, rarity)
            asked = intent.final_question(need)
            near = await self._similarity.of_words((asked,), (item.passage.searchable for item in own))
            units = selection.candidates(asked, own, rarity, near)
            cosines = await self._similarity.of_units(asked, [(one.evidence.passage, one.unit) for one in units])
            found.append((need, selection.weighed(asked, units, cosines, leant_on)))
        for piece in composing.answer(inquiry, found):
            yield piece

    async def _of_need(
        self, inquiry: Inquiry, need: str, evidence: Sequence[Evidence], rarity: Mapping[str, float]
    ) -> list[Evidence]:
        """The evidence that counts for this need by itself, with its grade for it."""
        grades = await self._graded(inquiry, need, evidence, rarity)
        return [
            replace(item, grade=grade)
            for item, grade in zip(evidence, grades, strict=True)
            if grade.score >= inquiry.cutoff or inquiry.caveats
        ]

    async def check(self, inquiry: Inquiry, claims: Sequence[Claim], meter: Meter) -> Sequence[ClaimVerdict]:
        """Verbatim claims hold; others are compared word by word and by sentence similarity."""
        del meter
        verdicts: list[ClaimVerdict] = []
        for claim in claims:
            found = [inquiry.library.get(evidence_id) for evidence_id in claim.evidence]
            texts = [f"{item.passage.text}" for item in found if item is not None]
            if verbatim(claim.text, texts):
                verdicts.append(ClaimVerdict(claim, Support.SUPPORTED))
                continue
            cosines = await self._similarity.of_sentences(claim.text, sentences_of(texts))
            judged = judge_claim(claim.text, texts, cosines)
            correction = judged.sentence if judged.support is Support.CONTRADICTED else ""
            verdicts.append(ClaimVerdict(claim, judged.support, judged.confidence, correction))
        return verdicts

    async def critique(self, inquiry: Inquiry, answer: str, meter: Meter) -> str:
        """Quotes are complete as they stand."""
        del inquiry, answer, meter
        return ""

    async def summarise(self, summary: str, turns: Sequence[Turn], meter: Meter) -> str:
        """The questions with the sentence that answered each, newest kept when it grows too long."""
        del meter
        lines = summary.splitlines()
        for turn in turns:
            gist = replies.without_marks(replies.best_of(turn, 1))
            lines.append(f"- {turn.rewritten or turn.question} → {gist or 'not in the documents'}")
        while len("\n".join(lines)) > _SUMMARY and len(lines) > 1:
            lines.pop(0)
        return "\n".join(lines)[:_SUMMARY]


def exchanges(thread: Thread) -> tuple[Exchange, ...]:
    """The thread as follow-ups are resolved against: what was said around us first, then our own turns."""
    around = tuple(Exchange(message.text[:400]) for message in thread.context if message.role is Role.PERSON)
    turns = tuple(
        Exchange(
            turn.rewritten or turn.question,
            replies.prose(turn.answer),
            tuple(dict.fromkeys(citation.title for citation in turn.citations)),
        )
        for turn in thread.turns
    )
    return (*around, *turns)


def needs_of(inquiry: Inquiry) -> tuple[str, ...]:
    """The questions that an answer has to meet, one by one."""
    if isinstance(inquiry.plan, Investigate) and len(inquiry.plan.queries) > 1:
        return inquiry.plan.queries
    return (sufficiency.chosen_reading(inquiry)[0],)
