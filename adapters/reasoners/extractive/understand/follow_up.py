"""Resolution of follow-ups: a question that depends on its thread becomes self-contained. Others stay unchanged.

A fragment is inserted into the question before it ("and blinking amber?"). A pronoun or a few words get the topic of
that question. That may be wrong, so ``evidence.reading`` also reads the question as typed and without the topic.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive.understand import PHRASES, word_sets
from adapters.reasoners.extractive.understand.names import PRONOUNS, QUESTION_WORDS, names
from core.model.conversation import Exchange
from core.model.text import STOPWORDS, content_words, stem, words

_FEW = 1  # content words of a question without its own topic
_LONGEST = 4  # content words of a fragment; more make a question
_TOPIC = 4  # words
_ENOUGH_BEFORE = 3  # content words before a pronoun, which then refers to the question itself

LEADING = PHRASES["LEADING"]
_AMENDS = PHRASES["AMENDS"]
_TAKES_BACK = PHRASES["TAKES_BACK"]
_NOT = re.compile(r"^not\s+(?:the\s+|for\s+)?(?P<old>[^,–—-]+?)\s*(?:,|\s[–—-]\s|\bbut\b)\s*(?P<new>.+)$")
_THE_SAME = PHRASES["THE_SAME"]  # "what was it in 2025?" asks the same for another year
_ASKING = re.compile(r"\b(?:who|whom|whose|what|which|where|when|why|how)\b", re.IGNORECASE)
_VERB = PHRASES["VERB"]
_CLAUSE = re.compile(r"(?:if|when|while|after|before|during|since|until|without|because|as|per|than)\b", re.IGNORECASE)
_AT = re.compile(r"(?P<word>in|for|on|at|with|to|by|from|under)\s+(?:(?:the|an?)\s+)?", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_ONE = re.compile(r"\s+ones?$", re.IGNORECASE)
_BARE = re.compile(r"(?:(?:in|for|on|at|with|to)\s+)?(?:how \w+|when|where|why|whom|which \w+|what \w+)", re.IGNORECASE)
_FRAME = re.compile(r"\bhow (?:long|often|much|many|far|soon|early|late)\b|\b(?:some|any)(?:one|body)\b", re.IGNORECASE)
_PERSON = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
_PRONOUN = PHRASES["PRONOUN"]
_EMPTY_IT = PHRASES["EMPTY_IT"]
_POSSESSIVE = frozenset({"his", "its", "their", "theirs", "hers"})
_OPEN_END = re.compile(r"\b(?:then|there|in (?:that|this) case)\s*[?.!]*$", re.IGNORECASE)
_PUT_BEHIND = re.compile(r"\s*\(([^()]+)\)\W*$")
_NUMBER = re.compile(r"(?<![\w.,])[^\W\d_]{0,4}-?\d[\d.,]*(?:\s?[^\W\d_]{1,3}\b)?")
_FULL_NAME = re.compile(r"\b[A-Z][a-z][\w’'-]+ (?:(?:[A-Z]\.|de|van|von|der|la) )*[A-Z][a-z][\w-]+")
_OFFICE = re.compile(r"\b(?:Team|Lead|Head|Officer|Chief|Manager|Director|Department|Office|The)\b")
_NO_TOPIC = word_sets("english")["no_topic"]


@dataclass(frozen=True, slots=True)
class ResolvedQuestion:
    """Question to search for. ``reason`` says what was filled in, and is empty if nothing was.

    ``amends`` says that it corrects the question before it.
    """

    question: str
    reason: str = ""
    stuck: bool = False  # it depends on a thread that has nothing to refer to
    amends: bool = False


def resolve(question: str, earlier: Sequence[Exchange]) -> ResolvedQuestion:
    """Return the question with omitted parts filled in from the question before it."""
    if not question.isascii() and not _ASKING.search(question):
        return ResolvedQuestion(question)  # another language, whose words cannot be rearranged
    last = next((one for one in reversed(earlier) if content_words(one.question)), None)
    if last is None:
        leans = pronoun_in(question) or LEADING.match(question) or len(words(question)) <= 2
        return ResolvedQuestion(question, stuck=bool(leans) and not content_words(question))
    bare, base = _AMENDS.sub("", question, count=1), last.question.rstrip("?.! ")
    amends = bool(_TAKES_BACK.search(question)) and bool(content_words(bare))
    if said := _fragment(bare if amends else question, amends=amends):
        whole = _continue(said, base)
        return ResolvedQuestion(f"{whole}?", f"continues “{base}?”", amends=amends)
    return _with_topic(question, last)


def resolve_part(part: str, former: Sequence[str]) -> ResolvedQuestion:
    """Return a later part with the topic added: "who leads the workshop, and what's the extension?"."""
    if len(content_words(part)) != 1 or names(part):
        return ResolvedQuestion(part)
    return _append(part, _topic_of(former[0]))


def pronoun_in(question: str) -> re.Match[str] | None:
    """Return the first pronoun that refers to something outside the question."""
    bare = _EMPTY_IT.sub(lambda found: "_" * len(found.group()), question)
    if found := _PRONOUN.search(bare):
        said = _FRAME.sub(" ", question[: found.start()])
        return found if not names(said) and len(content_words(said)) < _ENOUGH_BEFORE else None
    return None


def _fragment(question: str, *, amends: bool) -> str:
    """Return the text of a fragment. Empty if the question is complete."""
    led = amends or bool(LEADING.match(question))
    said = LEADING.sub("", question).strip().rstrip("?.! ")
    if same := _THE_SAME.match(said):
        said, led = said[same.end() :], True
    size = len(content_words(said))
    if _BARE.fullmatch(said) or (_ASKING.match(said) and not size and not pronoun_in(said)):
        return said
    if _CLAUSE.match(said) and (led or size <= _FEW) and size <= _LONGEST and not _VERB.search(said):
        return "" if _PRONOUN.search(said) else said
    led = led or bool(_AT.match(said)) or names(f"of {said}") == (said,) or len(words(said)) == 1
    asks = _ASKING.search(said) or _VERB.search(said) or _PRONOUN.search(_ONE.sub("", said))
    return said if led and 0 < size <= _LONGEST and not asks else ""


def _continue(said: str, last: str) -> str:
    """Return the last question with the fragment replacing a similar part, or appended."""
    if struck := _NOT.match(said):
        said = _ARTICLE.sub("", struck["new"])
        return re.sub(rf"\b{re.escape(struck['old'])}\b", lambda _: said, last, count=1, flags=re.IGNORECASE)
    if not content_words(said) or _BARE.fullmatch(said):
        return f"{last}: {said}"
    base = _PUT_BEHIND.sub("", last)
    if _CLAUSE.match(said):
        return f"{base} {said}"
    bare = _ONE.sub("", _ARTICLE.sub("", _AT.sub("", said)))
    place = _place_of(bare, said, base)
    if place is None:
        return f"{base} {said}" if _AT.match(said) else f"{base}, {said}"
    return f"{base[: place[0]]}{bare}{base[place[1] :]}"


def _place_of(bare: str, said: str, base: str) -> tuple[int, int] | None:
    """Return the span of the similar part: a number, a name, a kind of the same noun, or a phrase after "for"."""
    if _NUMBER.fullmatch(bare):
        alike = [one for one in _NUMBER.finditer(base) if _form(one.group()) == _form(bare)]
        return alike[-1].span() if len(alike) == 1 else None
    if names(f"of {bare}") == (bare,) and (known := names(base)):
        start = base.rindex(known[-1])
        return start, start + len(known[-1])
    kinds = words(bare)
    for found in re.finditer(r"\b[\w'’-]+\s+(?=(?P<noun>[\w'’-]+))", base):
        if len(kinds) > 1 and stem(found["noun"]) == stem(kinds[-1]) and content_words(found.group()):
            return found.start(), found.end("noun")
    if at := _AT.match(said):
        after = r"(?=\s+[\w'’-]+$)" if _ONE.search(said) else r"(?:\s+[\w'’-]+)?$"
        there = re.search(
            rf"\b{at['word']}\s+(?:(?:the|an?|my|our)\s+)?(?P<thing>[\w'’-]+{after})", base, re.IGNORECASE
        )
        return there.span("thing") if there else None
    return None


def _form(number: str) -> str:
    return re.sub(r"\d[\d.,]*", "0", number).casefold()


def _with_topic(question: str, last: Exchange) -> ResolvedQuestion:
    """Replace a pronoun by the last question's topic, or append the topic to a very short question."""
    pronoun = pronoun_in(question)
    if pronoun and _PERSON.fullmatch(pronoun.group()):
        told = (one for text in (last.question, last.answer) for one in _FULL_NAME.findall(text))
        person = next((one for one in told if not _OFFICE.search(one)), "")
        return _replace(question, pronoun, person) if person else ResolvedQuestion(question)
    topic = _topic_of(last.question)
    if not topic or set(content_words(topic)) <= set(content_words(question)):
        return ResolvedQuestion(question)
    if pronoun:
        of_noun = pronoun.group().casefold() in {"this", "that", "these", "those"}
        noun = of_noun and re.match(r"\s+[^\W\d_]{3,}", question[pronoun.end() :])
        return _append(question, topic) if noun else _replace(question, pronoun, topic, last.question)
    leaves_out = _OPEN_END.search(question) or len(content_words(_FRAME.sub(" ", question))) <= _FEW
    return _append(question, topic) if leaves_out and not names(question) else ResolvedQuestion(question)


def _topic_of(question: str) -> str:
    """Return the topic of a question: an appended topic, its names, or its longest run of content words."""
    if put := _PUT_BEHIND.search(question):
        return put[1]
    if named := names(question):
        return " ".join(named[:2])
    runs: list[list[str]] = [[]]
    for word in re.findall(r"[\w'’.-]*\w|[,;:?!]", question):
        if word.casefold() in STOPWORDS | PRONOUNS | QUESTION_WORDS | _NO_TOPIC or not word[0].isalnum():
            runs.append([])
        else:
            runs[-1].append(word)
    return " ".join(max(runs, key=len)[-_TOPIC:])


def _replace(question: str, pronoun: re.Match[str], topic: str, said: str = "") -> ResolvedQuestion:
    """Replace the pronoun by the topic, with the article that the topic has in ``said``."""
    note = f"“{pronoun.group()}” read as {topic}"
    if article := re.search(rf"\b(?:the|our|my) (?={re.escape(topic)}\b)", said, re.IGNORECASE):
        topic = f"{article.group().lower()}{topic}"
    text = f"{topic}'s" if pronoun.group().casefold() in _POSSESSIVE else topic
    whole = f"{question[: pronoun.start()]}{text}{question[pronoun.end() :]}"
    return ResolvedQuestion(whole, note)


def _append(question: str, topic: str) -> ResolvedQuestion:
    stop = len(question.rstrip("?.! "))
    return ResolvedQuestion(f"{question[:stop]} ({topic}){question[stop:]}", f"about {topic}")
