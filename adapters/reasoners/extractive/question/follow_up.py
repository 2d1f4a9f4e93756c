"""Follow-ups: a question that leans on its thread becomes one to search for; any other stays as it is.

A fragment goes into the question before it ("and blinking amber?"), a pronoun or a few words get the topic of that
question. What is put in may be wrong, so ``evidence.reading`` also reads the question as it was typed, and behind the
question before it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive.question.names import PRONOUNS, QUESTION_WORDS, names, word_list
from adapters.reasoners.extractive.question.parallels import put_in_place
from core.model.conversation import Exchange
from core.model.text import STOPWORDS, content_words, words

EXCHANGES = 8  # further back, nothing is leaned on
_FEW = 1  # content words of a question that leaves out what it is about
_LONGEST = 4  # content words of a fragment; more is a question of its own
_TOPIC = 4  # words
_ENOUGH_BEFORE = 3  # content words before a pronoun: it looks back inside the question

LEADING = re.compile(
    r"^(?:(?:and|but|so|also|then|or|plus)\b[\s,]*)*(?:what|how)\s+about\s+|^(?:and|but|or|plus|also)\b[\s,]+",
    re.IGNORECASE,
)
_SORRY = r"(?:sorry|sory|sry|no|nope|oh|ah|oops|wait|hang on|hold on|well|ok|okay)"
_AMENDS = re.compile(
    rf"^(?:{_SORRY}\b[\s,.!–—-]*)*(?P<told>(?:i (?:just |actually )?(?:mean|mea?nt)|i was asking(?: about)?|mea?nt"
    r"|make (?:that|it)(?: an?)?|wrong(?: \w+)?)\b(?: (?:to ask|to say|that|what|is|was))*[\s,:]*)?(?=[^\W_])",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(r"^(?:sorry|sory|sry|no|nope|oops|wait|not)\b", re.IGNORECASE)
_MEANT_LAST = re.compile(r"[\s,–—-]+(?:i (?:just )?mea?nt?|sorry|sry)\W*$", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
_NUMBERED = re.compile(r"\b(?:(?:version|edition|release|v) ?\d[\d.]*\b|\d+\.\d+(?:\.\d+)*)", re.IGNORECASE)
_NUMBER_OR_YEAR = re.compile(rf"{_NUMBERED.pattern}|\b(?:19|20)\d\d\b", re.IGNORECASE)
_THAT_VERSION = re.compile(r"\b(?:this|that) (?:version|release|edition|update|year)\b", re.IGNORECASE)
_ONE = re.compile(r"\s+ones?$", re.IGNORECASE)
_BUT_NOT = re.compile(r"^(?P<new>[^,–—-]+?)(?: ?[,–—-])? (?:and )?not (?:the |for )?(?P<old>[^,–—-]+)$")
_NOT = re.compile(r"^not\s+(?:the\s+|for\s+)?(?P<old>[^,–—-]+?)\s*(?:,|\s[–—-]\s|\bbut\b)\s*(?:but\s+)?(?P<new>.+)$")
_ASKING = re.compile(r"\b(?:who|whom|whose|what|which|where|when|why|how)\b", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|am|be|been|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must"
    r"|(?:is|are|was|does|do|did|ca|wo)n['’]?t|(?:it|he|she|that|there|who|what|where|when|how)['’]s)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:if|when|while|after|before|during|since|until|without|because|as|per|than)\b", re.IGNORECASE)
_AT = re.compile(r"(?:in|for|on|at|with|to|by|from|under|above|below|over|within|outside)\b", re.IGNORECASE)
_AS_WELL = re.compile(r",?\s+(?:as well|too|also|then)$|^also\s+|,?\s+(?:the\s+)?same$", re.IGNORECASE)
_OF_ITS_OWN = re.compile(r"when\s+(?:do|does|did|is|are|was|were|can|will|must|should|may)\b", re.IGNORECASE)
_FRAME = re.compile(r"\bhow (?:long|often|much|many|far|soon|early|late)\b|\b(?:some|any)(?:one|body)\b", re.IGNORECASE)
_BARE = re.compile(
    r"(?:(?:in|for|on|at|with|to|since|until)\s+)?(?:how \w+|when|where|why|whom|which \w+|what \w+)", re.IGNORECASE
)
_OF_VERSION = re.compile(
    r"\b(?:old(?:er)?|previous|former|last year)\b|\bversion \d|\b(?:19|20)\d\d (?:terms|edition|rules)\b",
    re.IGNORECASE,
)
_CURRENT = re.compile(r"\b(?:current|latest|newest|present)\s+|\s+in force\b", re.IGNORECASE)
# "What was it in 2025?", "was it the same under the old terms?" ask the same of another year.
_THE_SAME = re.compile(
    r"^(?:what|how much|how many|how)?\s*(?:(?:was|is|were|are)\s+(?:it|that|they|those)(?:\s+one)?"
    r"|(?:it|that|they)\s+(?:was|is|were|are))\s+(?:different\s+|the same\s+|also\s+|back\s+|more\s+|less\s+|\w+er\s+)?"
    r"(?=(?:in|under|on|for|at|with)\s)|^(?:what\s+(?:happens\s+)?)?(?:if|when)\s+(?:it|that|this)"
    r"(?:['’]?s|\s+(?:is|was|falls))\s+(?:on\s+)?",
    re.IGNORECASE,
)
_PERSON = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:he|she|him|his|her|hers|it|its|they|them|their|theirs|these|those)\b"
    r"|\b(?:this|that)\b(?!\s+(?:is|was)\b)(?!\s+(?:week|month|year|morning|time|way)\b)|\b(?:which|that|the) one\b"
    r"|\bone\b(?=\s*(?:[,.?!;]|$|before\b|after\b|there\b|here\b|home\b|out\b|back\b))",
    re.IGNORECASE,
)
_EMPTY_IT = re.compile(
    r"\bit(?:['’]s| is| was| would be)?\s+(?:be )?(?:possible|true|necessary|better|worth|ok|okay|allowed|take|takes"
    r"|cost|costs|likely)\b(?=\s+(?:to|for|if|that)\b)|\b(?:is|was|does|will) it (?:be )?(?:possible|true that"
    r"|necessary|ok|okay|allowed|take|normal)\b(?=\s+\w)",
    re.IGNORECASE,
)
_POSSESSIVE = frozenset({"his", "its", "their", "theirs", "hers"})
_DEMONSTRATIVE = word_list("this that these those")
_OPEN_END = re.compile(r"\b(?:then|there|in (?:that|this) case)\s*[?.!]*$", re.IGNORECASE)
_PUT_BEHIND = re.compile(r"\s*\(([^()]+)\)\W*$")
_FULL_NAME = re.compile(
    r"\b(?:(?:Dr|Mrs?|Ms)\.? )?[A-Z][a-z][\w’'-]+ (?:(?:[A-Z]\.|de|van|von|der|la) )*[A-Z][a-z][\w-]+"
)
_OFFICE = re.compile(r"\b(?:Team|Lead|Head|Officer|Chief|Manager|Director|Department|Office|The)\b")
_PALE = word_list(
    """
    ask asks charge leads lead owns own wants
    many much long often far soon tell know need get got happen happens happened mean means costs cost price take takes
    use say says want please still find called come comes came make made per day last new old work works keep about
    """
)


@dataclass(frozen=True, slots=True)
class ResolvedQuestion:
    """The question to search for; ``reason`` says what was put in, and is empty when nothing was.

    ``amends``: it corrects the one before it, whose answer was not what was wanted. ``holds_last``: it is the question
    before it with a part in the place of another, so that nothing of that is left out.
    """

    question: str
    reason: str = ""
    stuck: bool = False  # it leans on something, and there is nothing to lean on
    amends: bool = False
    holds_last: bool = False


def resolve(question: str, earlier: Sequence[Exchange]) -> ResolvedQuestion:
    """The question with what it leaves out put in from the thread."""
    if not question.isascii() and not _ASKING.search(question):
        return ResolvedQuestion(question)  # another language: its words are not ours to move
    window = [one for one in earlier[-EXCHANGES:] if content_words(one.question)]
    if not window:
        leans = pronoun_in(question) or LEADING.match(question) or len(words(question)) <= 2
        return ResolvedQuestion(question, stuck=bool(leans) and not content_words(question))
    bare, amends = _without_frames(question)
    last, before = (one.question.rstrip("?.! ") for one in (window[-1], window[-2] if len(window) > 1 else window[-1]))
    if (said := _fragment(bare, amends=amends)) and (whole := _continue(said, last, before, amends=amends)):
        return ResolvedQuestion(f"{whole}?", f"continues “{last}?”", amends=amends, holds_last=amends or said != whole)
    return _with_topic(bare, window)


def resolve_part(part: str, former: Sequence[str]) -> ResolvedQuestion:
    """A later part that says but what is asked for: "who leads the workshop, and what's the extension?"."""
    if len(content_words(part)) != 1 or names(part):
        return ResolvedQuestion(part)
    return _append(part, _topic_of(former[0]))


def pronoun_in(question: str) -> re.Match[str] | None:
    """The first word that stands for something outside the question."""
    bare = _EMPTY_IT.sub(lambda found: "_" * len(found.group()), question)
    if found := _PRONOUN.search(bare):
        said = _FRAME.sub(" ", question[: found.start()])
        return found if not names(said) and len(content_words(said)) < _ENOUGH_BEFORE else None
    return None


def _without_frames(question: str) -> tuple[str, bool]:
    """The question without "no, I meant", and whether it amends the one before it."""
    found = _AMENDS.match(question)
    bare = question[found.end() :] if found else question
    last = _MEANT_LAST.search(bare)
    bare = bare[: last.start()] if last else bare
    amends = bool(last or (found and (found["told"] or _TAKES_BACK.match(question))) or _NOT.match(question))
    return (bare, amends) if content_words(bare) else (question, False)


def _fragment(question: str, *, amends: bool) -> str:
    """What the question says where it is but a part of one; empty where it asks something of its own."""
    led = amends or bool(LEADING.match(question))
    said = LEADING.sub("", question).strip().rstrip("?.! ")
    if same := _THE_SAME.match(said):
        said, led = said[same.end() :], True
    said = _AS_WELL.sub("", said)
    few = led or len(content_words(said)) <= _FEW
    if _CLAUSE.match(said) and few and not _OF_ITS_OWN.match(said) and len(content_words(said)) <= _LONGEST:
        return "" if _PRONOUN.search(said) else said
    if _BARE.fullmatch(said) or (_ASKING.match(said) and not content_words(said) and not pronoun_in(said)):
        return said
    led = led or bool(_AT.match(said)) or names(f"of {said}") == (said,) or len(words(said)) == 1
    short = 0 < len(content_words(said)) <= _LONGEST
    if amends and _OF_VERSION.search(said) and short:
        return said
    if not led or not short or _ASKING.search(said) or _VERB.search(said) or _PRONOUN.search(_ONE.sub("", said)):
        return ""
    return said


def _continue(said: str, last: str, before: str, *, amends: bool) -> str:
    """The last question with the fragment in its place."""
    if struck := _NOT.match(said) or _BUT_NOT.match(said):
        old = re.search(rf"\b{re.escape(struck['old'])}\b", last, re.IGNORECASE)
        said = _ARTICLE.sub("", struck["new"])
        if old:
            return f"{last[: old.start()]}{said}{last[old.end() :]}"
    if not content_words(said) or _BARE.fullmatch(said):
        return f"{last}: {said}"
    base = _PUT_BEHIND.sub("", last)
    added = base.removeprefix(f"{before} ")
    base = before if added != base and (_CLAUSE.match(added) or _AT.match(added)) else base
    if amends and _OF_VERSION.search(said):
        return f"{_CURRENT.sub('', base)}, {said}"
    if _CLAUSE.match(said):
        return f"{base} {said}"
    # Not in brackets, which the reader leaves out in turn: it is another question than the last one.
    return put_in_place(base, said, before, amends=amends) or f"{base}, {said}"


def _with_topic(question: str, window: Sequence[Exchange]) -> ResolvedQuestion:
    """The question with the thread's topic for its pronoun, or behind it where it hardly says anything itself."""
    if _THAT_VERSION.search(question):
        numbers = (found for one in reversed(window) for found in _NUMBER_OR_YEAR.findall(one.question)[-1:])
        if number := next(numbers, ""):
            return _append(question, number)
    pronoun = pronoun_in(question)
    if pronoun and _PERSON.fullmatch(pronoun.group()):
        person = _person_in(window)
        return _replace(question, pronoun, person) if person else ResolvedQuestion(question)
    topic, said = _topic_in(window)
    known = set(content_words(question))
    if not topic or set(content_words(topic)) <= known:
        return ResolvedQuestion(question)
    if pronoun:
        noun = pronoun.group().casefold() in _DEMONSTRATIVE and re.match(r"\s+[^\W\d_]{3,}", question[pronoun.end() :])
        return _append(question, topic) if noun else _replace(question, pronoun, topic, said)
    leaves_out = _OPEN_END.search(question) or len(content_words(_FRAME.sub(" ", question))) <= _FEW
    return _append(question, topic) if leaves_out and not names(question) else ResolvedQuestion(question)


def _person_in(window: Sequence[Exchange]) -> str:
    """Who "she" is: the first full name of the last question or its answer."""
    last = window[-1]
    found = (
        one for text in (last.question, last.answer) for one in _FULL_NAME.findall(text) if not _OFFICE.search(one)
    )
    return next(found, "")


def _topic_in(window: Sequence[Exchange]) -> tuple[str, str]:
    """What the thread is about, and the question that says so: what several say, else what the last one says."""
    topics = [(topic, one.question) for one in reversed(window) if (topic := _topic_of(one.question))]
    if topics and names(topics[0][1]):
        return topics[0]
    again = (
        (topic, said)
        for at, (topic, said) in enumerate(topics)
        if any(set(content_words(topic)) <= set(content_words(other)) for _, other in topics[at + 1 :])
    )
    return next(again, topics[0] if topics else ("", ""))


def _topic_of(question: str) -> str:
    """What a question is about: what was put behind it, its names, else its longest run of words that carry meaning."""
    if put := _PUT_BEHIND.search(question):
        return put[1]
    if named := names(question):
        return " ".join(named[:2])
    numbered = _NUMBERED.search(question)
    run: list[str] = []
    runs: list[list[str]] = []
    for word in re.findall(r"[\w'’.-]*\w|[,;:?!]", question):
        low = word.casefold()
        if low in STOPWORDS | PRONOUNS | QUESTION_WORDS | _PALE or not low[0].isalnum():
            run = []
            continue
        if not run:
            runs.append(run)
        run.append(word)
    topic = " ".join(max(runs, key=len, default=[])[-_TOPIC:])
    return f"{topic} {numbered.group()}".strip() if numbered and numbered.group() not in topic else topic


def _replace(question: str, pronoun: re.Match[str], topic: str, said: str = "") -> ResolvedQuestion:
    """The pronoun as the topic, with the article that it has where it was ``said``."""
    article = re.search(rf"\b(?P<article>(?:the|our|my) ){re.escape(topic)}\b", said, re.IGNORECASE)
    text = f"{article['article'].lower() if article else ''}{topic}"
    text = f"{text}'s" if pronoun.group().casefold() in _POSSESSIVE else text
    whole = f"{question[: pronoun.start()]}{text}{question[pronoun.end() :]}"
    return ResolvedQuestion(whole, f"“{pronoun.group()}” read as {topic}")


def _append(question: str, topic: str) -> ResolvedQuestion:
    stop = len(question.rstrip("?.! "))
    return ResolvedQuestion(f"{question[:stop]} ({topic}){question[stop:]}", f"about {topic}")
