"""What a document says of itself: who wrote, keeps or approved it, when it was changed, reviewed or published.

Such a question is answered by one line, in the head of the document or at its end, that has hardly a word of it. Every
other sentence of the document is about its matter, and answers nothing, however many words of its title it repeats.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from adapters.reasoners.extractive.evidence.answer_odds import with_odds
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage
from adapters.reasoners.extractive.evidence.versions import other_version
from adapters.reasoners.extractive.question.answer_type import NEUTRAL, fits
from adapters.reasoners.extractive.question.intent import split_question
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry, SearchAction, SearchSource
from core.model.passage_units import units
from core.model.text import content_words, words

_STATED, _NOT_STATED = math.log(0.8 / 0.2), math.log(0.1 / 0.9)  # odds: as good as certain, and not evidence
_FOUND = 0.15  # a score of the search from which its first was right for 9 of 12 such questions
_HEAD = "title author owner written approved updated reviewed edited version edition date"
_SAID = {
    attribute: re.compile(rf"\b(?:{said})\b", re.IGNORECASE)
    for attribute, said in {
        r"wrote|writes?|written|authors?|drafted|prepared": r"written|drafted|prepared|compiled|authors?",
        r"updated?|edited|changed|touched|revised|modified|corrected": (
            r"updated?|edited|changed?|revised|modified|corrected|state|as of"
        ),
        r"reviewed|looked (?:at|over|through)|checked": r"reviewed|review|checked|looked through",
        r"approved|passed|adopted": r"approved|passed|adopted|agreed",
        r"owns?|owner|owned|maintains?|maintained": r"owners?|owned|maintained|maintainer|kept by|responsible",
        r"published|issued": r"published|issued",
    }.items()
}
_ASKS = re.compile(r"^(?:and |so |but )?(?:who|when|by whom|on what date)\b", re.IGNORECASE)
_STAMPS = re.compile(
    r"^\W*(?:written|drafted|created|prepared|compiled|kept|owned|owner|reviewed|approved)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_NAME = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)+|(?<=\w )[A-Z]\w+")
_BREAK = re.compile(r"[.;!?|]")
_DOCUMENT = re.compile(
    r"\b(?:pages?|handbook|manual|guide|policy|document|doc|file|rules|runbook|terms|agreement|contract|list|sheet"
    r"|notice|readme|article|edition|version|faq|wiki|booklet|instructions|conditions|reference|report)\b",
    re.IGNORECASE,
)
_BESIDE = frozenset(
    content_words(
        "page handbook manual guide policy document doc file rules runbook terms agreement contract list sheet notice"
        " readme article edition version faq wiki booklet instructions conditions reference report last latest first"
        " previous"
        " former old new current present time date title created person people written owner approved reviewed changed"
        " edited updated published issued drafted prepared"
    )
)


@dataclass(frozen=True, slots=True)
class AskedOfDocument:
    """A question for what a document says of itself: its words for what is said, and those that name the document."""

    question: str
    said: re.Pattern[str]
    names: frozenset[str]
    said_names: tuple[str, ...] = ()  # as the question has them: "site operations" may be a file, site-operations.md

    def is_about(self, item: Evidence) -> bool:
        """Whether the passage is of the document that is named, by its title or its file."""
        file = PurePosixPath(item.passage.source).stem.replace("_", " ")
        return self.names <= set(content_words(f"{item.passage.title} {file}"))

    def is_stated_by(self, item: Evidence, text: str) -> bool:
        """Whether a text says it, of the version that is named, and nothing else before it: "Last changed on 3 May".

        One that says several such things says each by itself: "Written by Ada Lund; reviewed by Bo Ek."
        """
        parts = text.split(";") if _STAMPS.match(text) else [text]
        return any(self._is_said_by(item, part) for part in parts)

    def _is_said_by(self, item: Evidence, text: str) -> bool:
        found = self.said.search(text)
        if found is None or fits(self.question, text) < NEUTRAL:
            return False
        if not set(_NUMBER.findall(self.question)) <= set(_NUMBER.findall(f"{item.passage.title} {text}")):
            return False
        if text[found.end() :].startswith(":"):  # "owner: Ada Lund, office updated: 2026-02-11"
            return True
        before = text[: found.start()].lstrip("|>-* ")
        if _BREAK.search(before):
            return False
        before = _NAME.sub(" ", before)
        known = _BESIDE | set(content_words(item.passage.title))
        return all(word in known or word.isdigit() for word in content_words(before))


def asked_of_document(question: str) -> AskedOfDocument | None:
    """What a document is asked of itself; None where the question asks of its matter, or names none."""
    if not _ASKS.match(question) or not _DOCUMENT.search(question):
        return None
    for attribute, said in _SAID.items():
        verb = re.compile(rf"\b(?:{attribute})\b", re.IGNORECASE)
        if verb.search(question):
            named = [word for word in words(verb.sub(" ", question)) if not word.isdigit()]
            named = [word for word in named if frozenset(content_words(word)) - _BESIDE]
            names = frozenset(content_words(" ".join(named)))
            return AskedOfDocument(question, said, names, tuple(map(str.casefold, named))) if names else None
    return None


def judge(question: str, weighed: Sequence[WeighedPassage], pool: Sequence[Evidence]) -> list[WeighedPassage]:
    """Of the document that is asked about, what states it is sure to answer and nothing else does; others stay."""
    asked = asked_of_document(question)
    if asked is None:
        return list(weighed)
    there = any(asked.is_about(item) for item in pool)
    judged = []
    for one in weighed:
        if asked.is_about(one.evidence):
            judged.append(_judged(asked, one, pool))
        else:
            judged.append(_without_stamps(asked, one) if there else one)
    return judged


def _without_stamps(asked: AskedOfDocument, passage: WeighedPassage) -> WeighedPassage:
    """What another document says of itself is no evidence where the one that is asked about is there."""
    doubted = (
        with_odds(one, min(one.odds, _NOT_STATED)) if asked.is_stated_by(passage.evidence, one.unit.text) else one
        for one in passage.units
    )
    return replace(passage, units=tuple(sorted(doubted, key=lambda one: -one.odds)))


def _judged(asked: AskedOfDocument, passage: WeighedPassage, pool: Sequence[Evidence]) -> WeighedPassage:
    holds = not other_version(asked.question, passage.evidence, pool)

    def judged(one: ScoredUnit) -> ScoredUnit:
        states = asked.is_stated_by(passage.evidence, one.unit.text)
        if states and not holds:
            return one
        return with_odds(one, max(one.odds, _STATED) if states else min(one.odds, _NOT_STATED))

    units = (judged(one) for one in passage.units)
    return replace(passage, units=tuple(sorted(units, key=lambda one: -one.odds)))


def head_of_document(inquiry: Inquiry, near: Iterable[Evidence]) -> tuple[SearchAction, ...]:
    """For what a document is asked of itself, its head, where nothing that was found of it says so. Once."""
    asked = asked_of_document(inquiry.standalone)
    if asked is None or any(isinstance(search.action, SearchSource) for search in inquiry.searches):
        return ()
    found = [item for item in near if asked.is_about(item)]
    if not found:
        return (SearchSource(_HEAD, "-".join(asked.said_names)),) if len(asked.said_names) > 1 else ()
    if any(asked.is_stated_by(item, line) for item in found for line in item.passage.text.split("\n")):
        return ()
    wanted = set(inquiry.standalone.casefold().split())
    title = max((item.passage.title for item in found), key=lambda one: len(wanted & set(one.casefold().split())))
    return (SearchSource(_HEAD, title),)


_WORDS_OF_OURS = r"glossary|vocabulary|terminology|abbreviations|acronyms|jargon"
_ASKS_FOR_WORDS = re.compile(rf"\b(?:{_WORDS_OF_OURS}|slang|lingo)\b", re.IGNORECASE)
_GLOSSARY = re.compile(rf"\b(?:{_WORDS_OF_OURS}|words (?:we|and|you|used)|terms (?:we|used))\b", re.IGNORECASE)


def titled(question: str, evidence: Iterable[Evidence]) -> frozenset[int]:
    """Where it is asked which documents there are about something: the evidence below a title or heading that has it.

    They need not say a thing about it in any one sentence. So does what has all its words in one, a table that has them
    over its columns, a title that has most of them, and what the search puts first; of words of one's own, a glossary.
    """
    asked, listed = split_question(question), list(evidence)
    topic = set(content_words(asked.question)) if asked.lists_documents else set()
    if not topic:
        return frozenset()
    first = max((item.hit.score for item in listed), default=1.0)
    return frozenset(
        item.id
        for item in listed
        if any(topic <= told for told in _told(item))
        or _most(topic, item)
        or (item.hit.score == first >= _FOUND)
        or (_ASKS_FOR_WORDS.search(asked.question) and _is_glossary(item))
    )


def _is_glossary(item: Evidence) -> bool:
    return any(_GLOSSARY.search(said) for said in (item.passage.title, *item.passage.heading))


def _most(topic: set[str], item: Evidence) -> bool:
    """Whether a title has two of the words at least, and two thirds of them."""
    shared = topic & set(content_words(item.passage.title))
    return len(shared) > 1 and 3 * len(shared) >= 2 * len(topic)


def _told(item: Evidence) -> Iterator[set[str]]:
    """The words over a passage and over its tables, and those of each of its sentences and rows."""
    listed = units(item.passage.text)
    heads = dict.fromkeys(unit.head[0] for unit in listed if unit.head)
    yield set(content_words(" ".join((item.passage.title, *item.passage.heading, *heads))))
    yield from (set(content_words(unit.text)) for unit in listed)
