"""The reasoner that needs no model to write: it searches, weighs and quotes. Also the standby for one that is away.

Everything it decides is counted from words, scores and sentence vectors, so the same question over the same evidence
always gets the same answer. Each method only joins what the modules beside it do. What computes over passages runs in
a thread of its own, so that a long question keeps nobody else waiting.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import chain

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.answer import composer, replies, selection
from adapters.reasoners.extractive.answer.claims import judge_claim, verbatim
from adapters.reasoners.extractive.answer.quote_markdown import render
from adapters.reasoners.extractive.answer.tables.computed_answer import tables_that_answer
from adapters.reasoners.extractive.answer.tables.releases import releases_that_answer
from adapters.reasoners.extractive.evidence import (
    answer_odds,
    other_languages,
    sufficiency,
)
from adapters.reasoners.extractive.evidence import thread as lends
from adapters.reasoners.extractive.evidence.clarification import (
    chosen_reading,
    credit_offered,
    is_about_reading,
    question_back,
    readings,
)
from adapters.reasoners.extractive.evidence.reading import AnswerReader
from adapters.reasoners.extractive.evidence.scoring import (
    ScoredUnit,
    WeighedPassage,
)
from adapters.reasoners.extractive.evidence.versions import without_old_alone
from adapters.reasoners.extractive.evidence.weighing import KnownVectors, Weigher
from adapters.reasoners.extractive.question import intent
from adapters.reasoners.extractive.question.follow_up import (
    pronoun_in,
    resolve,
    resolve_part,
)
from adapters.reasoners.extractive.question.parts import sides_of
from adapters.reasoners.extractive.question.query_translation import note_of_translation
from core.model.answer import Claim, ClaimVerdict, Support
from core.model.budget import Meter
from core.model.conversation import Exchange, Thread, Turn
from core.model.evidence import Evidence, Grade
from core.model.inquiry import (
    AskBack,
    Decision,
    Inquiry,
    Insufficient,
    Investigate,
    Plan,
    Reply,
    Sufficient,
)
from core.model.languages import language_of
from core.model.text import without_markers
from core.ports.index import Encoder
from core.ports.reasoner import DraftRemark

_SUMMARY = 1_200  # characters
_QUOTES_OF_FILES = 3


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
        if overview := intent.overview_of(inquiry.question, {base.name for base in inquiry.bases}):
            return overview
        kind = intent.kind_of(inquiry.question, in_thread=bool(thread.turns))
        if kind is intent.Intent.MORE and thread.last and (question := thread.last.rewritten):
            return Investigate(question, (question,), "more of what was asked last", resolved_from_thread=True)
        if kind is not None:
            return replies.reply_to(kind, thread)
        if thread.attachments and (reply := await self._from_attached(inquiry, thread)):
            return reply
        asked = intent.split_question(inquiry.question)
        needs: list[str] = []
        reasons: list[str] = []
        leans = False
        earlier = lends.exchanges(thread)
        for number, need in enumerate(asked.needs):
            # A later part leans on the earlier ones where it says so, or names but one thing: "what's the extension?".
            resolved = resolve(need, earlier) if not number or pronoun_in(need) else resolve_part(need, needs)
            if resolved.stuck:
                return AskBack("What do you mean? Tell me a word or two about what you are looking for.")
            needs.append(resolved.question)
            reasons.extend([resolved.reason] if resolved.reason else [])
            leans = leans or (lends.goes_on(need, resolved) and not resolved.amends)
            earlier = (*earlier, Exchange(resolved.question))
        question = needs[0] if len(needs) == 1 else " ".join(needs)
        if len(needs) == 1 and (sides := sides_of(question)):
            needs = list(sides)
        return Investigate(
            question,
            tuple(needs),
            "; ".join(reasons),
            sources_first=asked.sources_first,
            resolved_from_thread=bool(reasons),
            leans_on=lends.quoted_last(thread) if leans else (),
        )

    async def _from_attached(self, inquiry: Inquiry, thread: Thread) -> Reply | None:
        """Return what the files that hang on the question say, in their own words; None when they do not answer it."""
        if summary := lends.summary_of(thread.attachments, inquiry.question):
            return Reply(summary, "it asks what a file says that hangs on it")
        question = lends.without_naming(intent.split_question(inquiry.question).question)
        items = lends.evidence_of(thread.attachments)
        weighed = await self.weigher.weigh(question, items, items)
        grades = await self.weigher.off_loop(self._grade_found, inquiry, weighed)
        if max((grade.score for grade in grades), default=0) < inquiry.cutoff:
            return None
        ranked = await self.weigher.off_loop(selection.rank_units, inquiry, weighed, grades, (), of_many=True)
        said = "".join(render(selection.choose_quotations(question, ranked, _QUOTES_OF_FILES, items)))
        return Reply(without_markers(said).strip(), "a file that hangs on the question answers it")

    async def grade(self, inquiry: Inquiry, evidence: Sequence[Evidence], meter: Meter) -> Sequence[Grade]:
        """Grades in order; for several needs, by the one that a passage meets best."""
        del meter
        pool = (*inquiry.library, *(item for item in evidence if inquiry.library.get(item.id) is None))
        weighed = [
            await self.weigher.weigh(need, evidence, pool, lends.leaning_of(inquiry)) for need in needs_of(inquiry)
        ]
        graded = [await self.weigher.off_loop(self._grade_found, inquiry, found) for found in weighed]
        best = [max(options, key=lambda grade: grade.score) for options in zip(*graded, strict=True)]
        pairs = zip(best, evidence, strict=True)
        return [
            grade if is_about_reading(inquiry, item) else replace(grade, score=1, chance=0.0) for grade, item in pairs
        ]

    def _grade_found(self, inquiry: Inquiry, found: Sequence[WeighedPassage]) -> list[Grade]:
        """Return the grade of each passage for the need that it was weighed for."""
        grades: dict[int, Grade] = {}
        for one in found:
            grade = answer_odds.grade_of(one.units, one.evidence.hit.rerank)
            grades[one.evidence.id] = credit_offered(inquiry, one.evidence, grade)
        evidence = [one.evidence for one in found]
        asked_of = inquiry
        if found and isinstance(inquiry.plan, Investigate) and len(inquiry.plan.queries) > 1:
            asked_of = replace(inquiry, plan=replace(inquiry.plan, question=found[0].asked.question))
        grades = without_old_alone(asked_of, grades, evidence)
        for known in _worked_out(found[0].asked.question, evidence) if found else ():
            grades[known] = replace(grades[known], score=max(grades[known].score, inquiry.cutoff))
        return list(grades.values())

    async def decide(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Decision:
        """Ask back between readings, search on over what the evidence names, or be content."""
        del meter, thread
        read = await self._as_read(inquiry)
        decision = await self.weigher.off_loop(self._decide_as_read, read)
        again = sufficiency.as_corrected(inquiry, needs_of(inquiry), needs_of(read))
        language = language_of(inquiry.standalone)
        relevant = inquiry.library.relevant(inquiry.cutoff)
        if language != "en" and any(language_of(item.passage.text) == language for item in relevant):
            again = ()  # it is answered in its own language
        if not again or isinstance(decision, AskBack):
            return decision
        others = decision.actions if isinstance(decision, Insufficient) else ()
        translated = note_of_translation(inquiry.standalone, read.standalone)
        missing = "the question in English" if translated else "what is probably meant by the misspelt words"
        return Insufficient(missing, (*again, *others))

    async def _as_read(self, inquiry: Inquiry) -> Inquiry:
        """Return the inquiry with its question, and each of its needs, in the words of what was found."""
        if not isinstance(inquiry.plan, Investigate):
            return inquiry
        pool = tuple(inquiry.library)
        question = await self.weigher.in_words_of(inquiry.plan.question, pool)
        needs = [await self.weigher.in_words_of(query, pool) for query in inquiry.plan.queries]
        return replace(inquiry, plan=replace(inquiry.plan, question=question, queries=tuple(needs)))

    def _decide_as_read(self, inquiry: Inquiry) -> Decision:
        relevant = inquiry.library.relevant(inquiry.cutoff)
        near = inquiry.library.relevant(answer_odds.NEAR)
        if not inquiry.refining and (options := readings(inquiry.standalone, tuple(inquiry.library))):
            return AskBack(question_back(inquiry.standalone), options, "several readings")
        for missing, actions in (
            ("the releases", sufficiency.rest_of_changelog(inquiry)),
            ("the rest of the table", sufficiency.rest_of_table(inquiry, near)),
            ("what it says in another language", other_languages.in_their_words(inquiry, relevant)),
        ):
            if actions:
                return Insufficient(missing, actions)
        missing, actions = sufficiency.next_actions(inquiry, relevant)
        if missing or actions:
            return Insufficient(missing, actions)
        return Sufficient("the best passages cover the question")

    async def compose(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: Meter
    ) -> AsyncIterator[str]:
        """Return the best sentences, verbatim, need by need and document by document."""
        del meter
        asked_for, inquiry = inquiry.standalone, await self._as_read(inquiry)
        chosen = chosen_reading(inquiry)[1]
        pool = tuple(inquiry.library) or tuple(evidence)
        found: list[tuple[str, Sequence[ScoredUnit]]] = []
        needs = needs_of(inquiry)
        for need in needs:
            weighed = await self.weigher.weigh(need, evidence, pool, lends.leaning_of(inquiry))
            grades: Sequence[Grade | None] = [item.grade for item in evidence]
            if len(needs) > 1:  # what answers one part of a question is no answer to its other part
                grades = await self.weigher.off_loop(self._grade_found, inquiry, weighed)
            ranked = await self.weigher.off_loop(
                selection.rank_units, inquiry, weighed, grades, chosen, of_many=len(needs) > 1
            )
            found.append((need, ranked))
        pieces = composer.answer(inquiry, found)
        if (asked := intent.split_question(inquiry.question)).lists_documents:
            pieces = composer.list_documents(asked.question, found[0][1])
        elif intent.kind_of(inquiry.question, in_thread=bool(thread.turns)) is intent.Intent.MORE:
            further = composer.quote_more(thread, pool, found[0][1])
            pieces = (
                render(further) if further else chain([DraftRemark(composer.nothing_more(inquiry.library))], pieces)
            )
        for piece in pieces:
            yield piece
        quoted = next((one.evidence.passage.text for one in found[0][1]), "")
        if language_of(quoted) == "en" and (note := note_of_translation(asked_for, inquiry.standalone)):
            yield DraftRemark(note)

    async def check(
        self, inquiry: Inquiry, claims: Sequence[Claim], evidence: Sequence[Evidence], meter: Meter
    ) -> Sequence[ClaimVerdict]:
        """Verbatim claims hold; others are compared word by word."""
        del meter, evidence
        verdicts: list[ClaimVerdict] = []
        for claim in claims:
            found = [inquiry.library.get(evidence_id) for evidence_id in claim.evidence]
            texts = [f"{item.passage.text}" for item in found if item is not None]
            if verbatim(claim.text, texts):
                verdicts.append(ClaimVerdict(claim, Support.SUPPORTED, by_words=True))
                continue
            passages = [item.passage for item in found if item]
            judged = await self.weigher.off_loop(judge_claim, claim.text, passages, inquiry.standalone)
            verdicts.append(
                ClaimVerdict(claim, judged.support, judged.confidence, judged.sentence, judged.fault, by_words=True)
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
        lines = summary.splitlines()
        for turn in turns:
            gist = replies.without_marks(replies.best_of(turn, 1))
            lines.append(f"- {turn.rewritten or turn.question} → {gist or 'not in the documents'}")
        while len("\n".join(lines)) > _SUMMARY and len(lines) > 1:
            lines.pop(0)
        return "\n".join(lines)[:_SUMMARY]


def _worked_out(question: str, evidence: Sequence[Evidence]) -> frozenset[int]:
    """Return the ids of the evidence whose table or changelog as a whole answers."""
    releases = releases_that_answer(question, evidence)
    quoted = releases.quotations if releases else ()
    return tables_that_answer(question, evidence) | {one.evidence.id for one in quoted}


def needs_of(inquiry: Inquiry) -> tuple[str, ...]:
    """Return the questions that an answer has to meet, one by one."""
    if isinstance(inquiry.plan, Investigate) and len(inquiry.plan.queries) > 1:
        return inquiry.plan.queries
    return (chosen_reading(inquiry)[0],)
