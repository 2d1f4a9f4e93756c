"""Classification of replies in a thread: does one answer the question, and is the asker content?

It prefers precision over recall, because asking people needlessly whether their words may be stored annoys them. A
doubtful reply does not count as an answer. Evaluate it with ``python -m research.kept_answers``.
"""

import re
from dataclasses import replace
from enum import StrEnum

from core.model.message_text import is_question, without_emoji
from core.model.person_answers import PersonAnswer
from core.model.text import words
from core.service.answer_wish import STEM, meaningful, only_receives

LEAST_WORDS = 3
LEAST_SHARED = 2  # words with the question
LONGEST = 2_000  # characters; a longer reply is a document of its own
_QUOTED = re.compile(r"(?m)^\s*>.*$")
_LINK = re.compile(r"<?\w+://\S+")
_OWN = re.compile(r"(?i)\W*(?:i|we|my|our|ich|wir|je|nous|yo)\b")
_CODE = re.compile(r"(?s)```.*?(?:```|$)|`[^`\n]*`")


def _phrases(text: str) -> re.Pattern[str]:
    """Compile phrases, one for each line, into a pattern that matches them as whole words."""
    lines = [line.strip().replace("'", "['’]") for line in text.splitlines()]
    return re.compile(rf"(?i)(?<!\w)(?:{'|'.join(filter(None, lines))})(?!\w)")


_I_WILL = r"(?:i|we)(?:'ll| will|'m going to| am going to| can| could) (?:\w+ )?"
_LATER = _phrases(  # an answer comes later, or from somebody else
    r"""
    look(?:ing)? (?:into|at) (?:it|this|that)
    let me (?:check|look|see|find|ask|ping|dig|think|get back)
    I_WILL(?:check|look|see|find out|ask|ping|dig|try|test|investigate|get back|take|report|post|follow up)
    I_WILL(?:open|file|raise|escalate|reproduce|let you)
    checking|investigating|on it|get back to you|working on (?:it|this|that)|will (?:do|check|look|get back)
    give me a (?:sec|moment|minute)|one (?:sec|moment)|stay tuned|to be (?:decided|confirmed)|tb[dc]
    schau(?:e|en)? (?:ich|wir|mal)|kümmere mich|je regarde
    """.replace("I_WILL", _I_WILL)
)
_UNSURE = _phrases(
    r"""
    no (?:idea|clue)|not (?:really |entirely |100% |completely |quite |too )?(?:sure|certain)|unsure|idk|dunno
    (?:don't|do not) know|i (?:guess|suppose|wonder|hope|assume|would assume)|i'd assume|my guess|hopefully
    i (?:think|believe|suspect)|not an expert|seems? (?:like|to)|looks like|probably|in theory
    maybe|perhaps|possibly|might (?:be|have|need|work|help)|could be|iirc|afaik
    not familiar|never (?:used|tried|seen)|(?:can't|cannot|can not) (?:reproduce|help|say|tell)
    keine ahnung|weiß (?:ich )?nicht|vielleicht|wohl eher|aucune idée|peut-être|sais pas|ni idea|no sé|quizás?
    """
)
_SAME = _phrases(
    r"""
    me too|same (?:here|problem|question|issue|error|thing|for me)|similar (?:problem|issue|error)|bump
    any (?:update|news|progress|luck)|i (?:also )?have (?:this|the same|a similar)
    (?:i'm|i am|we're|we are) (?:also )?(?:having|seeing|facing|getting)
    """
)
_POLITE = _phrases(r"""
    hope (?:that|this|it) helps?|you're welcome|no (?:problem|worries)|my pleasure|sorry|good luck|congrat\w*
    """)
_ASKS_BACK = _phrases(
    r"""
    (?:can|could|would) you|which version|(?:more|further) (?:info|information|details?|context)|let (?:us|me) know
    please (?:provide|share|post|send|attach|open|file|create|try|check|show|include|describe|paste|tell|let)
    need (?:to know|more|some|your|the (?:full|complete))
    """
)
_JOKES = re.compile(
    r"(?i)\b(?:lol|lmao|rofl|ha(?:ha)+|hehe|jk|(?:just )?kidding)\b|[;:]-?[)PpD](?:\s|$)|[😂🤣😜😉😅]|:joy:|:rofl:"
)
_SENDS_ON = _phrases(
    r"""
    cc|pinging|paging|@[\w.-]+ (?:knows?|might know|may know|can help|will know)
    (?:he|she|they) (?:knows?|might know|may know|can help|will know)
    (?:ask|try asking|contact|talk to|speak to|check with) (?:@[\w.-]+|him|her|them|somebody|someone|the team)
    (?:duplicate|dupe) of|wrong (?:channel|place|list|forum)|move this
    """
)
_THANKS = _phrases(
    r"""
    thank(?:s| you)|thx|ty|cheers|danke\w*|merci|gracias
    (?:that|this|it)(?: totally| really)? (?:works?|worked|did (?:it|the trick)|does (?:it|the trick)|was it|is it)
    (?:that|this|it)(?: totally| really)? (?:solved|solves|fixed|fixes|answers?|helped)
    (?:works|working) (?:now|perfectly|great|like a charm)|(?:problem|issue) (?:is )?(?:solved|fixed|resolved)
    """
)
_TRIES = _phrases(
    r"""
    in advance|(?:will|i'll|we'll|let me|going to|gonna) (?:try|check|test|see|do|look|give)|trying|anyway
    for (?:looking|trying|checking|the (?:quick )?(?:reply|response|info))
    """
)
_NOT_YET = _phrases(
    r"""
    but|however|although|except|unfortunately|still|yet|instead|actually|aber|leider|mais|pero
    (?:does|did|do|is|was|has|have|can|could|would|are)(?:n't| not)|can't|cannot|no longer|nope|no|not
    """
)


class AskerSays(StrEnum):
    """What the asker's next message means for the reply before it."""

    CONTENT = "content"
    WAITS = "waits"  # says nothing about it yet
    GOES_ON = "goes on"


def asker_says(text: str) -> AskerSays:
    """Return whether the asker is content with the reply before. All but thanks and receipts counts as asking on."""
    said = _own_words(text)
    if is_question(said) or _NOT_YET.search(said):
        return AskerSays.GOES_ON
    if _TRIES.search(said):
        return AskerSays.WAITS
    if _THANKS.search(said):
        return AskerSays.CONTENT
    return AskerSays.WAITS if only_receives(said) else AskerSays.GOES_ON


def could_answer(text: str) -> bool:
    """Return whether a reply states something that could answer a question. Doubtful replies do not count."""
    said = _own_words(text)
    told = _LINK.sub(" ", said)
    if len(text) > LONGEST or len(words(told)) < LEAST_WORDS or not meaningful(told):
        return False
    prose = _CODE.sub(" ", told)
    doubts = (_LATER, _UNSURE, _SAME, _POLITE, _ASKS_BACK, _JOKES, _SENDS_ON)
    if asker_says(told) is AskerSays.CONTENT:  # a colleague is content with somebody else's answer
        return False
    return not (is_question(prose) or only_receives(without_emoji(prose)) or any(one.search(prose) for one in doubts))


def is_clear(call: PersonAnswer, text: str, question: str) -> bool:
    """Return whether this reply solves the question although its asker writes nothing more.

    Nobody else may have replied, the reply must share words with the question, and must not begin with its writer's own
    experience ("I", "we").
    """
    if call.rival or call.talked or _OWN.match(_own_words(text)):
        return False
    asked, said = ({word[:STEM] for word in meaningful(one)} for one in (question, text))
    return len(asked & said) >= min(LEAST_SHARED, len(asked))


def after_reply(call: PersonAnswer, person: str, message: str, text: str) -> PersonAnswer:
    """Return the question's state after this reply.

    The longest reply of one author is the candidate answer. With two authors, it is unclear which of them solves the
    question.
    """
    size, same = len(words(text)), call.answerer in ("", person)
    if not could_answer(text) or (same and call.message and size <= call.size):
        return call
    return replace(call, answerer=person, message=message, size=size, rival=call.rival or not same)


def after_asker(call: PersonAnswer, text: str) -> PersonAnswer:
    """Return the question's state after its asker continued. No candidate remains; a new question makes it unclear."""
    unclear = call.rival or is_question(_own_words(text))
    return replace(call, answerer="", message="", size=0, rival=unclear, talked=True)


def _own_words(text: str) -> str:
    return _QUOTED.sub(" ", text).strip()
