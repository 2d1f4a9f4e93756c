"""Asks one knowledge base a question, as the operator, and returns what a person would read."""

import re
import time
import unicodedata
from contextlib import aclosing
from dataclasses import dataclass
from functools import lru_cache

from bot.container import Footnote
from core.model.answer import Answer, Outcome
from core.model.conversation import Audience, Person, Thread, ThreadKey, Turn
from core.model.events import AgentCompleted, CheckpointReached
from core.model.inquiry import Inquiry
from core.model.knowledge import KnowledgeBase
from core.model.plain_text import compose

_ASKER = Person("eval")


@dataclass(frozen=True, slots=True)
class Prediction:
    """An answer. ``cited`` are the sources of its citations."""

    outcome: Outcome
    text: str
    cited: frozenset[str] = frozenset()


def turn_of(footnote: Footnote, inquiry: Inquiry, answer: Answer | None) -> Turn:
    """Return a question and its answer as a turn of its thread."""
    return Turn(
        inquiry.question,
        answer.text if answer else "",
        answer.outcome if answer else Outcome.FAILED,
        _ASKER,
        footnote.clock.now(),
        inquiry.id,
        rewritten=inquiry.standalone if inquiry.searches else "",
        citations=answer.citations if answer else (),
        knowledge_bases=frozenset(base.name for base in inquiry.bases),
    )


def new_inquiry(footnote: Footnote, base: str, text: str, thread: ThreadKey) -> Inquiry:
    """Return the inquiry for the operator's question to one base."""
    return Inquiry(
        id=f"eval-{time.monotonic_ns()}",
        question=compose(text),
        thread=thread,
        asker=_ASKER,
        audience=Audience(unrestricted=True),
        started_at=footnote.clock.now(),
        policy=footnote.policy,
        bases=(KnowledgeBase(base),),
    )


async def pursue_question(footnote: Footnote, base: str, text: str, thread: Thread) -> tuple[Answer | None, Inquiry]:
    """Return the answer, None if the run failed, and the inquiry as it ended."""
    run = footnote.agent.run(new_inquiry(footnote, base, text, thread.key), thread)
    answer: Answer | None = None
    async with aclosing(footnote.agent.pursue(run)) as events:
        async for event in events:
            if isinstance(event, AgentCompleted | CheckpointReached):
                answer = event.answer
    return answer, run.inquiry


def reply_of(answer: Answer | None) -> Prediction:
    """Return what the asker reads: the text and the notices below it. A tentative quote counts as an answer."""
    if answer is None:
        return Prediction(Outcome.FAILED, "")
    outcome = Outcome.ANSWERED if answer.is_tentative else answer.outcome
    cited = frozenset(citation.document for citation in answer.citations if outcome is Outcome.ANSWERED)
    return Prediction(outcome, "\n".join((answer.text, *answer.notices)), cited)


_MARKERS = re.compile(r"\s*(?:\[\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]|【\d{1,3}】)")
_LINKS = re.compile(r"\[([^\]]*)\]\([^)\s]*\)")
_MARKS = re.compile(r"[*`]|(?<!\w)_+|_+(?!\w)|^\s*(?:>|#+|[-+•])\s+", re.MULTILINE)
_QUOTES = str.maketrans("“”„‟«»‘’‚‛‹›", '""""""' + "''''''")
_DASHES = re.compile(r"[‐‑‒–—−]")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[,'\u00a0\u2009\u202f]\d{3})+(?!\d)")
_SEPARATORS = re.compile(r"\D")
_UNITS = re.compile(r"(?<=\d)\s+(?=[%°])")
_CURRENCY_BEFORE = re.compile(r"([€$£])\s+(?=\d)")
_CURRENCY_AFTER = re.compile(r"(?<![\w€$£.,])(\d[\d.,]*)\s?([€$£])(?!\s?\d)")
_RANGE = re.compile(r"(?<=\d)\s+-\s+(?=\d)")
_SPACE = re.compile(r"\s+")

# Ways to say that the documents do not answer, in the languages of the questions. The subject is always a document,
# because "frost is not covered" is an answer.
_DOCUMENTS = r"(?:documents?|docs|sources?|passages?|knowledge|they|I|dokumente?n?|quellen?|unterlagen|ich|je)"
_NOT_SAID = re.compile(
    rf"\b{_DOCUMENTS}\b[^.!?]{{0,60}}\b(?:do|does|did|could|can)(?: not|n't|not)\b[^.!?]{{0,25}}"
    r"\b(?:say|mention|cover|state|tell|contain|have|answer|give|name|specify|find|know)\b"
    r"|\b(?:found|find|finds|says?|say|have|know) nothing\b"
    r"|\bnothing (?:about|on|for|in)\b[^.!?]{0,60}\b(?:documents|found)\b"
    r"|\bnot (?:(?:found|covered|mentioned|stated|said|documented) )?(?:in|by) (?:the|these|your|my|any) "
    r"(?:docu|sourc|passag)"
    rf"|\bno {_DOCUMENTS} (?:says?|mentions?|covers?|answers?|states?|about|on)\b"
    rf"|\b{_DOCUMENTS}\b[^.!?]{{0,80}}\b(?:nicht|nichts|kein\w*)\b"
    r"|\b(?:sagen|steht|stehen)\b[^.!?]{0,40}\bdokument\w* (?:nicht|nichts)"
    rf"|\b{_DOCUMENTS}\b[^.!?]{{0,40}}\bn(?:e\b|')[^.!?]{{0,40}}\b(?:pas|rien|aucun\w*)\b|\brien (?:trouvé|sur|dans)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4_096)
def comparable(text: str) -> str:
    """Return a normalised text for comparison: no markers and marks, lower case, uniform numbers."""
    bare = _LINKS.sub(r"\1", _MARKERS.sub("", text)).replace("\\", "")
    bare = _MARKS.sub("", bare).replace("|", " ").translate(_QUOTES)
    bare = _THOUSANDS.sub(lambda number: _SEPARATORS.sub("", number.group()), bare)
    bare = _DASHES.sub("-", unicodedata.normalize("NFKC", bare)).translate(_QUOTES)
    bare = _CURRENCY_AFTER.sub(r"\2\1", _CURRENCY_BEFORE.sub(r"\1", _UNITS.sub("", bare)))
    return _SPACE.sub(" ", _RANGE.sub("-", bare)).strip().casefold()


def place_of(fact: str, text: str) -> int | None:
    """Return where a fact first occurs in a text as whole words and numbers; None if nowhere. Both are normalised."""
    found = re.search(rf"(?<!\w)(?<!\d[.,]){re.escape(fact)}(?!\w)(?![.,]\d)", text)
    return found.start() if found else None


def states(text: str, fact: str) -> bool:
    """Return whether a text contains a fact, however both are written."""
    return place_of(comparable(fact), comparable(text)) is not None


def says_not_covered(text: str) -> bool:
    """Return whether a sentence says that the documents do not answer."""
    return bool(_NOT_SAID.search(text.translate(_QUOTES)))
