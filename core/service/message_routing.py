"""Routing rules: what to do with a message, and why; the same on every platform.

We answer what is addressed to us: a mention, a direct message, a reply to us, or our name. In our thread, an
unaddressed message continues our conversation while only its asker and we write there. Once a colleague has written,
people may mean each other. Then we try only a question addressed to nobody, and answer only if the documents clearly
do.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from core.model.channel_settings import LEAST_CONFIDENCE, ChannelSettings
from core.model.incoming_events import OUR_MENTION, IncomingMessage, MessageRoute
from core.model.message_text import LEAD_INS, asks_by_words, is_question, opens_question, without_question_words
from core.model.text import STOPWORDS, words
from core.service.answer_wish import (
    PERSONAL,
    RECEIPTS,
    STATES,
    MessageFacts,
    exclaims,
    is_phrase,
    meaningful,
    only_receives,
    signals_of,
    wish_for_answer,
)

LONGEST_COMMAND = 4  # words
LEAST_WISH = 0.7  # minimum probability that a message wants our answer
LEAST_WISH_PUT_TO_US = 0.55  # silence is worse here: it addresses us, or answers our question
LEAST_SUBJECT = 2  # meaningful words that a question needs without earlier context

_COMMANDS: dict[MessageRoute, str] = {
    MessageRoute.MUTE: r"mute|be quiet|quiet|shush|stop answering|stop listening",
    MessageRoute.UNMUTE: r"unmute|un-mute|speak again|you can talk again",
    MessageRoute.HELP: r"help|hilfe|aide|ayuda",
    MessageRoute.FORGET_THREAD: r"forget(?: this thread| this)?",
    MessageRoute.FORGET_ME: r"forget (?:me|everything)",
    MessageRoute.SETTINGS: r"settings",
}
_PLEASE = r"(?:please|bitte|por favor|s['’]il (?:te|vous) pla[iî]t)"
_BY_COMMAND = {
    route: re.compile(rf"(?i)^\W*(?:{_PLEASE}\s+)?(?:{words_of})\W*{_PLEASE}?\W*$")
    for route, words_of in _COMMANDS.items()
}
_IN_OUR_THREAD = (MessageRoute.MUTE, MessageRoute.UNMUTE)  # these need no mention there

_GREETS = r"(?i)^\W*(?:(?:hey|hi|hello|ok|so|and|thanks|danke|hallo)\s+)?"
_LEAD = rf"(?i)^\W*(?:(?:{LEAD_INS}|well|wait|actually)[\s,.!–—-]+)*"
_YOU = re.compile(
    r"(?i)\b(?:you|your|yours|u|ur|du|dich|dir|dein\w*|ihr|euch|euer|eure\w*|tu|te|toi|ton|ta|tes|vous|votre|vos|t['’]as"
    r"|tú|usted(?:es)?|vosotros|tus?|te|os|he|him|his|she|her"
    r"|ihn|ihm)\b|\b\w+(?:st du|-tu|-vous)\b|(?i:shall we|should we|let['’]?s)\b"
)
_THEY = re.compile(r"(?i)\b(?:they|them|their)\b")  # people, unless the asker continues with our answer's subject
_OUR_NAME = "footnote"
_NAME_LIKENESS = 0.85  # of a misspelled name
_NAME = re.compile(  # our name, perhaps misspelled or as an unresolved mention
    r"(?i)(?<![\w#./-])@?fo\w{4,7}(?![\w/.-]*\w)|(?<=\bdear )bot\b|(?<=\blieber )bot\b|(?<=\bhey )bot\b|\bbot(?=\s*,)"
)
_OTHER_MENTION = re.compile(r"(?<!\w)@[\w.-]+")
# The end of a clause. The words around a mention in its clause show whom it addresses.
_CLAUSE_END = re.compile(r"[.!?;:,\n…–—](?:\s|$)|\s-\s")
_SENTENCE_END = re.compile(r"[.!?\n…]\s+")
_ONLY_LEAD = re.compile(
    rf"(?i)^[^\w@]*+(?:(?:{LEAD_INS}|nice|dear|lieber|cher|dis|dites|oye|perfecto|@[\w.-]+)\b[^\w@]*+)*+$"
)
_REQUEST_FRAME = re.compile(rf"{_LEAD}(?:can|could|would|will|kannst?|könnte|peux|pourrait|puede|podría)\s*$")
_OF_US = re.compile(  # with us as its subject: "@Footnote usually knows"
    r"(?i)^\s*(?:(?:usually|always|never|often|really|also|just|sometimes|meist|immer|auch|te|me|vous|nous|ya|lo|la|le|ne)"
    r"\s+)*(?:is|was|has|had|does|did"
    r"|can|could|will|would|might|should|seems|looks|works?|worked|kn[eo]ws?|sa(?:ys|id)|thinks?|told|tells|gave|gives|got"
    r"|found|finds|answers|answered|reads|needs|hat|ist|war|kann|sagt\w*|meint\w*|weiß|findet|hilft|antwortet"
    r"|est|a|dit|sait|peut|répond|dice|dijo|sabe|puede|ha|es|está|responde|dira|liest)\b"
)
_LEADS_TO_US = re.compile(  # ends with us as the object: "ask @Footnote", "the numbers from @Footnote"
    r"(?i)\b(?:ask|asked|asking|from|by|with|of|about|for|to|via|let|like|than|bother|use|using|try|love|tell|told|see"
    r"|frag\w*|von|mit|bei|an|für|demande\w*|de|avec|par|à|pregunt\w+|con|por|a|que|the|das|den|le|el)\s*$"
)


@dataclass(frozen=True, slots=True)
class RoutingDecision:
    """The decision about a message, and its reason."""

    route: MessageRoute
    reason: str
    to_colleague: bool = False
    signals: frozenset[str] | None = None  # that decided, if signals did


def route_message(heard: MessageFacts) -> RoutingDecision:
    """Decide what to do with a message. Muting our own thread needs no mention; addressing us works even if muted."""
    to_us = _said_to_us(heard)
    if command := _command(heard.text if to_us is None else to_us, spoken_to=to_us is not None, heard=heard):
        return RoutingDecision(command, "it is a command")
    return _route_unaddressed(heard) if to_us is None else _route_addressed(heard, to_us)


def _route_addressed(heard: MessageFacts, to_us: str) -> RoutingDecision:
    """Decide about a message to us: answer all that asks, or may be a question without the form of one."""
    by_press = heard.mentions_us and not heard.wording
    bare = not words(to_us) and (OUR_MENTION in heard.wording or heard.has_files)
    if heard.chooses or by_press or bare:
        return RoutingDecision(MessageRoute.ANSWER, "it asks us")
    return _by_wish(to_us, heard, MessageRoute.THANKED)


def _by_wish(text: str, heard: MessageFacts, otherwise: MessageRoute) -> RoutingDecision:
    signals = signals_of(text, heard)
    wish = wish_for_answer(signals)
    put_to_us = otherwise is MessageRoute.THANKED or heard.asked_back
    least = LEAST_WISH_PUT_TO_US if put_to_us else LEAST_WISH
    route = MessageRoute.ANSWER if wish >= least else otherwise
    return RoutingDecision(route, f"it wants an answer by {wish:.0%}", signals=signals)


def could_be_answered(message: IncomingMessage, settings: ChannelSettings) -> bool:
    """Return whether a new, unaddressed message may be answered with these settings.

    Platforms hear everything, so they do not enqueue messages that cannot be for us. The writer's rights are checked
    later.
    """
    facts = MessageFacts(
        text=message.text,
        mentions_others=message.mentions_others,
        in_channel=message.in_channel,
        opens_post=message.opens_post,
        answers_unasked=settings.answers_unasked,
        answers_posts=settings.forum_posts,
    )
    return route_message(facts).route is not MessageRoute.KEEP_QUIET


ANYWHERE = ChannelSettings(auto_answer=LEAST_CONFIDENCE, forum_posts=True)  # settings with which we answer the most


def is_named(text: str) -> bool:
    """Return whether a message addresses us by name, without a mention, and asks something."""
    for name in _our_names(text):
        before, behind = _last_clause(text[: name.start()]), text[name.end() :]
        if _ONLY_LEAD.match(before) and (
            opens_question(behind.lstrip(" ,")) or (behind[:1] in (",", "?") and is_question(behind))
        ):
            return True
        if not words(behind) and text[: name.start()].rstrip().endswith(",") and is_question(text):
            return True
    return False


def _our_names(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of our name in a text, also misspelled."""
    for found in _NAME.finditer(text):
        name = found.group().lstrip("@").casefold()
        is_other_word = name.startswith(_OUR_NAME) and name != _OUR_NAME  # "footnotes"
        if name == "bot" or (get_close_matches(name, [_OUR_NAME], 1, _NAME_LIKENESS) and not is_other_word):
            yield found


def _command(text: str, *, spoken_to: bool, heard: MessageFacts) -> MessageRoute | None:
    if len(words(text)) > LONGEST_COMMAND:
        return None
    for route, pattern in _BY_COMMAND.items():
        if pattern.match(text) and (spoken_to or (heard.in_our_thread and route in _IN_OUR_THREAD)):
            return route
    return None


# --- what is addressed to us


def _said_to_us(heard: MessageFacts) -> str | None:
    """Return the part of a message that is addressed to us; None if there is none, or it only mentions us."""
    if OUR_MENTION in heard.wording and not heard.direct:
        return _behind_mention(heard.wording)
    if heard.mentions_us or heard.direct:
        return heard.text
    if heard.mentions_others or not is_named(heard.text):
        return None
    name = next(_our_names(heard.text))
    return f"{heard.text[: name.start()]} {heard.text[name.end() :]}".strip(" ,:")


def _behind_mention(wording: str) -> str | None:
    """Return what a message that mentions us says to us; None if every mention only speaks about us."""
    plain = wording.replace(OUR_MENTION, " ")
    if not words(plain):
        return ""
    parts = wording.split(OUR_MENTION)
    for number, behind in enumerate(parts[1:], 1):
        before = OUR_MENTION.join(parts[:number])
        if _addresses(before, behind):
            return _until_other(before, behind)
    return None


def _addresses(before: str, behind: str) -> bool:
    """Return whether a mention between these words addresses us, rather than speaks about us."""
    clause = _last_clause(before)
    ends = _CLAUSE_END.match(behind.lstrip()) is not None or not words(behind)
    if _ONLY_LEAD.match(clause):
        begins = _ONLY_LEAD.match(_SENTENCE_END.split(before)[-1]) is not None
        return is_question(behind) or (ends and begins) or (begins and not _OF_US.match(_first_clause(behind)))
    if ends:
        return not _LEADS_TO_US.search(clause) and (is_question(clause) or only_receives(clause))
    asks_behind = opens_question(behind) and not _LEADS_TO_US.search(clause)
    return asks_behind or _REQUEST_FRAME.match(clause) is not None


def _last_clause(text: str) -> str:
    return _CLAUSE_END.split(text)[-1]


def _first_clause(text: str) -> str:
    return _CLAUSE_END.split(text.lstrip(" ,:"))[0]


def _until_other(before: str, behind: str) -> str:
    """Return our part: up to where somebody else is addressed, with the sentences before us that address nobody."""
    cut = next(
        (m.start() for m in _OTHER_MENTION.finditer(behind) if re.search(r"[.!?\n]\s*$", behind[: m.start()])), None
    )
    ours = behind if cut is None else behind[:cut]
    earlier = re.split(r"(?<=[.!?\n])\s+", before)
    kept = " ".join(part for part in earlier if not re.match(r"\W*@\w", part) or _ONLY_LEAD.match(part))
    return re.sub(r"\s{2,}", " ", f"{kept} {ours}".replace(OUR_MENTION, " ")).strip(" ,:")


# --- unaddressed messages


def _route_unaddressed(heard: MessageFacts) -> RoutingDecision:
    """Decide about an unaddressed message: the asker continues our conversation, others may not mean us."""
    if reason := _reason_to_be_quiet(heard):
        return RoutingDecision(MessageRoute.KEEP_QUIET, reason)
    if heard.chooses or (heard.opens_post and heard.answers_posts):
        return RoutingDecision(MessageRoute.ANSWER, "it makes a choice, or opens a post")
    if _names_colleague(heard.text):
        return RoutingDecision(MessageRoute.KEEP_QUIET, "it names a colleague", to_colleague=True)
    begins = heard.in_channel or heard.opens_post
    if not begins and heard.by_last_asker and (not heard.in_company or (heard.asked_back and is_phrase(heard.text))):
        return _by_wish(heard.text, heard, MessageRoute.KEEP_QUIET)
    return _route_in_company(heard)


def _reason_to_be_quiet(heard: MessageFacts) -> str:
    """Return why an unaddressed message gets no answer, whatever it says; empty if it may get one."""
    begins = heard.in_channel or heard.opens_post
    by_post = heard.opens_post and heard.answers_posts
    reasons = (
        (heard.mentions_us, "it speaks of us"),
        (heard.muted, "we are muted here"),
        (heard.mentions_others, "it is put to somebody else"),
        (by_post and heard.by_moderator, "a moderator opens a post"),
        (begins and not by_post and not heard.answers_unasked, "it begins without naming us"),
        (not begins and not heard.in_our_thread, "we have not answered here"),
    )
    return next((reason for applies, reason in reasons if applies), "")


def _route_in_company(heard: MessageFacts) -> RoutingDecision:
    """Try, among others or in a new conversation, a question that addresses nobody and names its subject."""
    if not asks_by_words(heard.text) or exclaims(heard.text):
        return RoutingDecision(MessageRoute.KEEP_QUIET, "it asks nothing")
    if any(_our_names(heard.text)):
        return RoutingDecision(MessageRoute.KEEP_QUIET, "it speaks of us")
    if _YOU.search(heard.text) or (_THEY.search(heard.text) and not heard.by_last_asker):
        return RoutingDecision(MessageRoute.KEEP_QUIET, "it is put to a person, or about one")
    if len(meaningful(without_question_words(heard.text))) < LEAST_SUBJECT:
        return RoutingDecision(MessageRoute.KEEP_QUIET, "it does not say what it is about")
    return RoutingDecision(MessageRoute.ANSWER_IF_CERTAIN, "it is put to nobody")


def _names_colleague(text: str) -> bool:
    """Return whether a message begins or ends with a name: "bob, is that right?", "teo what time do you start?"."""
    begins = re.match(rf"{_GREETS}([^\W\d_]+)(\s*[,:])?\s+(.+)", text, re.DOTALL)
    if begins is not None and not _is_common(begins.group(1)):
        comma, rest = begins.group(2), begins.group(3)
        told = any((is_question(rest), STATES.search(rest), PERSONAL.search(rest), _YOU.search(rest)))
        if (comma and told) or (opens_question(rest) and _YOU.search(rest)):
            return True
    ends = re.search(r",\s+([^\W\d_]+)\s*[?!.]*\s*$", text)
    return ends is not None and is_question(text) and not _is_common(ends.group(1))


def _is_common(word: str) -> bool:
    """Return whether a word at the place of a name is a common word."""
    word = word.casefold()
    return word in STOPWORDS | RECEIPTS or word == _OUR_NAME or re.fullmatch(LEAD_INS, word) is not None
