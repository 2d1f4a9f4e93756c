"""Follow-up suggestions: at most two questions below an answer that the evidence already answers.

They come from headings of evidence that was found but not used in the answer, without a model. A question is suggested
only if the quoting reasoner, which costs no tokens, grades its passage as an answer. A press is looked up by the
answer's trace and the suggestion's number, and asked as a question of the person who pressed.
"""

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.agent.question_back import short_label
from core.agent.run import WEAK, Run
from core.model.answer import Answer, FollowUp, Outcome
from core.model.errors import FootnoteError
from core.model.events import AgentCompleted, TracedEvent
from core.model.evidence import Evidence
from core.model.inquiry import Investigate
from core.model.knowledge import Passage
from core.model.languages import language_of

MOST = 2
TRIED = 5  # passages to check
SECONDS = 3.0  # the longest delay of the answer; it usually takes 20 ms
LONGEST_TOPIC = 70  # characters of a heading that still names a topic
FEWEST_CHARACTERS = 60  # of a passage; a shorter one says too little
_NUMBERING = re.compile(r"^(?:§\s*\d+(?:\.\d+)*|\d+(?:\.\d+)+|\d+(?=[.):]))[.):]?\s+")
_LEANS_ON_TITLE = re.compile(  # "Who can see it" is clear only below a cited document's title
    r"(?i)(?:who|what|where|when|how|why|wer|was|wo|wann|wie|warum|qui|que|où|quand|comment|qué|dónde|cuándo|cómo)\b"
)
_OF_NO_TOPIC = frozenset(
    {
        *("overview", "introduction", "summary", "note", "notes", "general", "contents", "background", "about"),
        *("other", "details", "miscellaneous", "faq", "appendix", "references", "conclusion", "changelog"),
        *("überblick", "übersicht", "einleitung", "einführung", "zusammenfassung", "allgemeines", "inhalt", "anhang"),
        *("aperçu", "résumé", "généralités", "sommaire", "annexe"),
        *("resumen", "introducción", "generalidades", "contenido", "anexo"),
    }
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Wording:
    """How to ask about a topic: ``question`` takes the document's title and the topic, ``label`` takes the topic."""

    question: str
    label: str


_WORDINGS = {
    "en": _Wording("What does “{title}” say about “{topic}”?", "More on: {topic}"),
    "de": _Wording("Was steht in „{title}“ zu „{topic}“?", "Mehr zu: {topic}"),
    "fr": _Wording("Que dit « {title} » sur « {topic} » ?", "En savoir plus : {topic}"),
    "es": _Wording("¿Qué dice «{title}» sobre «{topic}»?", "Más sobre: {topic}"),
}


async def suggest_follow_ups(run: Run, answer: Answer) -> tuple[FollowUp, ...]:
    """Return suggestions for a new answer; none if they are switched off or nothing is left.

    An error is logged, and the answer is shown without suggestions.
    """
    if not run.inquiry.policy.follow_ups or answer.outcome is not Outcome.ANSWERED or not answer.citations:
        return ()
    found: list[FollowUp] = []
    try:
        async with asyncio.timeout(SECONDS):
            for item in _unused_evidence(run, answer)[:TRIED]:
                suggested = follow_up_on(item.passage)
                if suggested not in found and await _is_answered_by(run, suggested.question, item):
                    found.append(suggested)
                if len(found) == MOST:
                    break
    except (FootnoteError, TimeoutError) as error:
        log.warning("no_follow_ups", extra={"trace_id": run.inquiry.id, "reason": str(error) or "timeout"})
    return tuple(found)


def follow_ups_in(trace: Sequence[TracedEvent]) -> tuple[FollowUp, ...]:
    """Return the suggestions below the answer that a trace ended with."""
    answers = [one.event.answer for one in trace if isinstance(one.event, AgentCompleted)]
    return answers[-1].follow_ups if answers else ()


def follow_up_on(passage: Passage) -> FollowUp:
    """Return the question that a passage with a heading answers. A heading that asks is the question itself."""
    topic = topic_of(passage)
    if topic.endswith("?"):
        return FollowUp(short_label(topic), topic)
    wording = _WORDINGS[language_of(passage.text)]
    asked = wording.question.format(title=passage.title, topic=topic)
    return FollowUp(short_label(wording.label.format(topic=topic)), asked)


def _unused_evidence(run: Run, answer: Answer) -> Sequence[Evidence]:
    """Return evidence that neither this nor an earlier answer used, one passage for each section.

    Documents that the answer cites come first, then the best matches for the question. Passages of other documents must
    match the question and have a heading that is clear without the document's title.
    """
    library = run.inquiry.library
    cited = {one.evidence for one in answer.citations}
    used = {item.passage.section for item in library if item.id in cited}
    before = {one.passage for turn in run.thread.turns for one in turn.citations}
    used |= {item.passage.section for item in library if item.passage.id in before}
    documents = {item.passage.document for item in library if item.id in cited}

    def is_near(item: Evidence) -> bool:
        graded = item.grade.score if item.grade else 0
        return item.passage.document in documents or (graded >= WEAK and _stands_alone(item.passage))

    ranked = sorted(
        (
            item
            for item in library.items_found()
            if item.passage.section not in used and names_topic(item.passage) and is_near(item)
        ),
        key=lambda item: (
            item.passage.document not in documents,
            -(item.grade.score if item.grade else 0),
            -item.hit.score,
        ),
    )
    return list({item.passage.section: item for item in reversed(ranked)}.values())[::-1]


def names_topic(passage: Passage) -> bool:
    """Return whether a passage is long enough and its heading names a topic."""
    topic = topic_of(passage)
    plain = topic.casefold().strip(" .:")
    named = bool(plain) and plain not in _OF_NO_TOPIC and plain != passage.title.casefold()
    wordy = any(letter.isalpha() for letter in plain) and len(topic) <= LONGEST_TOPIC
    return named and wordy and len(passage.text) >= FEWEST_CHARACTERS


def _stands_alone(passage: Passage) -> bool:
    """Return whether a heading is clear without its document's title."""
    topic = topic_of(passage)
    return topic.endswith("?") or _LEANS_ON_TITLE.match(topic) is None


def topic_of(passage: Passage) -> str:
    """Return the innermost heading without its number; empty if there is none."""
    heading = passage.heading[-1] if passage.heading else ""
    return _NUMBERING.sub("", " ".join(heading.split())).strip(" :")


async def _is_answered_by(run: Run, question: str, item: Evidence) -> bool:
    """Return whether this passage answers the question, as graded by the reasoner that needs no model."""
    grader = run.deps.quote_fallback or run.deps.reasoner
    asked = replace(run.inquiry, question=question, plan=Investigate(question, (question,)), fast_path=False)
    (grade,) = await grader.grade(asked, [item], run.meter)
    return grade.score >= asked.cutoff
