"""When to speak: what to do with a message, and why; the same on every platform.

We answer what is put to us: in a mention, a direct message, a reply to us, or by name. A message that names nobody goes
on with our conversation while its asker and we are alone in it. Once a colleague has written, people may mean each
other: then we try only a question that is put to nobody, and speak only where the documents plainly answer it.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches

from core.model.channel_settings import LEAST_CONFIDENCE, ChannelSettings
from core.model.incoming_events import OUR_MENTION, IncomingMessage, MessageRoute
from core.model.questions import LEAD_INS, asks_by_words, is_question, opens_question, without_question_words
from core.model.text import STOPWORDS, content_words, words

LONGEST_COMMAND = 4  # words
LONGEST_FRAGMENT = 8  # words of a follow-up that leaves out what was asked before: "and for enterprise"
LEAST_SUBJECT = 2  # words with meaning that a question has when nothing said before explains it
LEAST_LETTERS = 4  # of such a word

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
_IN_OUR_THREAD = (MessageRoute.MUTE, MessageRoute.UNMUTE)  # need no mention there

_THANKS = re.compile(r"(?i)\b(?:thank(?:s| you)|thx|ty|cheers|danke\w*|dank|merci|gracias)\b")
_THANK_WORDS = ("thanks", "danke", "merci", "gracias")
# Words with which people receive an answer. What consists of them and stop words says nothing more.
_RECEIPTS = frozenset(
    """ok okay k yes yeah yep no nope sure fine great nice cool perfect good super lovely brilliant awesome excellent
    amazing wow haha lol right true exactly understood noted sense makes helpful helps helped got gotcha spot answer bot
    job star respect worries problem morning weekend day evening night bye welcome sorry oh ah hm hmm
    ja nein gut antwort respekt supi prima klasse toll alles klar passt verstanden genau stimmt schön hilft hat geholfen
    sehr mir das oui non bien bonne réponse parfait d'accord ça marche compris génial c'est très noté journée
    sí vale buena muy respuesta perfecto genial claro entendido bueno estupendo eso""".split()  # noqa: SIM905 - as STOPWORDS
)
# To us, beside what we have answered: one more thing of the same kind.
_ADDS = re.compile(
    r"(?i)^\W*(?:and|or|but|also|same|und|oder|aber|auch|et|ou|mais|aussi|y|o|pero|también|no|nope|nein|non|for|in|at|with|from|per"
    r"|für|bei|mit|pro|ab|im|pour|avec|chez|à|dans|par|para|con|en|desde|ensuite)\b"
    r"|\b(?:too|also|as well|instead|please|auch|stattdessen|bitte|aussi|plutôt|también|tampoco)\W*$"
)
_GREETS = r"(?i)^\W*(?:(?:hey|hi|hello|ok|so|and|thanks|danke|hallo)\s+)?"
_CODE = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_LEAD = rf"(?i)^\W*(?:(?:{LEAD_INS}|well|wait|actually)[\s,.!–—-]+)*"
# To us, of our answer: it is put right, doubted, or more of it is wanted.
_GOES_BACK = re.compile(
    rf"{_LEAD}(?:i (?:meant|mean|was asking|asked)\b|ich (?:mein\w*|wollte|rede von|hatte nach)\b|nicht \w+.* sondern\b"
    r"|je (?:voulais|parl\w+|demandais)\b|(?:me refer[ií]a|quer[ií]a decir|quise decir|hablo de|preguntaba)\b"
    r"|(?:that|this|it|the answer|your answer)(?:['’]?s| is| was| looks| seems| must be)? (?:\w+ )?"
    r"(?:wrong|incorrect|false|outdated|out of date|old|not (?:right|true|correct|helpful|what i \w+))\b"
    r"|(?:das|es) (?:ist|war|stimmt) (?:\w+ )?(?:falsch|veraltet|nicht)\b|c['’]est (?:faux|pas)\b|(?:eso )?no es eso\b"
    r"|(?:wrong|incorrect|falsch|faux|not what i|you misunderstood)\b|not the \w+"
    r"|(?:some |a bit )?more(?: (?:details?|about (?:that|this|it)))*\b|(?:go on|details|mehr dazu)\W*$"
    r"|(?:in short|shorter|more simply|say that|same for|the same|in english)\b)"
)
# Somebody who does something, and so a sentence of its own: "I'll try that", "mine is worse".
_STATES = re.compile(
    r"(?i)\b(?:he|she|they|is|are|was|were|will|had|has|have|it['’]s|that['’]s|did|ist|sind|war|hat|habe|est|c['’]est"
    r"|était|es|fue|estaba)\b|^\W*\w+ed\b"
)
_PERSON = r"(?:i|i['’]\w+|we|we['’]\w+|you|you['’]\w+|ich|wir|je|j['’]\w+|nous|yo|nosotros)"
_PERSONAL = re.compile(rf"(?i)\b(?:{_PERSON}|me|my|mine|us|our|mich|mir|mein\w*|uns|moi|mon|ma|mi)\b")
# To us: about the writer or about us, and no errand: "you're a star", "saved me".
_REMARKS = re.compile(rf"{_LEAD}{_PERSON}\b|\b(?:me|us|mir|uns|moi)\W*$")
_YOU = re.compile(
    r"(?i)\b(?:you|your|yours|u|ur|du|dich|dir|dein\w*|ihr|euch|euer|eure\w*|tu|te|toi|ton|ta|tes|vous|votre|vos|t['’]as"
    r"|tú|usted(?:es)?|vosotros|tus?|te)\b|\b\w+(?:st du|-tu|-vous)\b|(?i:shall we|should we|let['’]?s)\b"
)
# What was said before explains these: without it nobody knows what they mean.
_LEANS = re.compile(
    r"(?i)(?<!is )(?<!are )(?<!a-t-)\b(?:it|its|that|this|these|those|he|him|his|she|her|they|them|their|there|then"
    r"|das|dies\w*|er|sie|ihn|ihm|dort|dann|davon|dafür|il|elle|ils|elles|lui|ça|cela|eso|esto|él|ella|ellos|allí)\b"
)
_OUR_NAME = "footnote"
_NAME = re.compile(
    rf"(?i)(?<![\w@#./-]){_OUR_NAME}(?![\w/.-]*\w)|(?<=\bdear )bot\b|(?<=\blieber )bot\b|(?<=\bhey )bot\b"
)
_OTHER_MENTION = re.compile(r"(?<!\w)@[\w.-]+")
# A clause ends here: what stands before or behind says who a mention in it belongs to.
_CLAUSE_END = re.compile(r"[.!?;:,\n…–—](?:\s|$)|\s-\s")
_SENTENCE_END = re.compile(r"[.!?\n…]\s+")
_ONLY_LEAD = re.compile(rf"(?i)^\W*+(?:(?:{LEAD_INS}|nice|dear|lieber|cher|dis|dites|oye|perfecto|@[\w.-]+)\b\W*+)*+$")
_REQUEST_FRAME = re.compile(rf"{_LEAD}(?:can|could|would|will|kannst?|könnte|peux|pourrait|puede|podría)\s*$")
_OF_US = re.compile(  # with us as its subject: "@Footnote usually knows"
    r"(?i)^\s*(?:(?:usually|always|never|often|really|also|just|sometimes|meist|immer|auch|te|me|vous|nous|ya|lo|la|le|ne)"
    r"\s+)*(?:is|was|has|had|does|did"
    r"|can|could|will|would|might|should|seems|looks|works?|worked|kn[eo]ws?|sa(?:ys|id)|thinks?|told|tells|gave|gives|got"
    r"|found|finds|answers|answered|reads|needs|hat|ist|war|kann|sagt\w*|meint\w*|weiß|findet|hilft|antwortet"
    r"|est|a|dit|sait|peut|répond|dice|dijo|sabe|puede|ha|es|está|responde|dira|liest)\b"
)
_LEADS_TO_US = re.compile(  # ends where we are its object: "ask @Footnote", "the numbers from @Footnote"
    r"(?i)\b(?:ask|asked|asking|from|by|with|of|about|for|to|via|let|like|than|bother|use|using|try|love|tell|told|see"
    r"|frag\w*|von|mit|bei|an|für|demande\w*|de|avec|par|à|pregunt\w+|con|por|a|que|the|das|den|le|el)\s*$"
)


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """A message as a platform hears it. ``text`` is without the mention of us, ``wording`` with ``OUR_MENTION``."""

    text: str
    wording: str = ""
    mentions_us: bool = False  # or replies to us
    replies: bool = False  # it is a reply to a message, of us or of another
    has_files: bool = False
    direct: bool = False  # a direct message, or a place made for asking
    mentions_others: bool = False  # or replies to somebody else
    in_our_thread: bool = False  # we have answered here before
    by_last_asker: bool = False  # of the person whom we answered last here
    follows_answer: bool = False  # nobody has written since
    in_company: bool = False  # somebody else has written since
    muted: bool = False
    answered: str = ""  # our last answer here, and its question
    asked_back: bool = False  # our last words here were a question to this person
    chooses: bool = False  # it makes a choice of the card that waits for this person
    in_channel: bool = False  # in no thread
    opens_post: bool = False  # a forum's post begins with it
    by_moderator: bool = False  # asked only of who opens a post
    answers_unasked: bool = False  # the place's settings, as the next
    answers_posts: bool = False


@dataclass(frozen=True, slots=True)
class RoutingDecision:
    """What to do with a message, and why."""

    route: MessageRoute
    reason: str
    to_colleague: bool = False
    standalone: bool = False  # try it without what was said before: a colleague may have changed the subject


def route_message(heard: MessageFacts) -> RoutingDecision:
    """Decide what to do with a message. Muting needs no mention in our own thread; being spoken to always works."""
    to_us = _said_to_us(heard)
    if command := _command(heard.text if to_us is None else to_us, spoken_to=to_us is not None, heard=heard):
        return RoutingDecision(command, "it is a command")
    return _route_unaddressed(heard) if to_us is None else _route_addressed(heard, to_us)


def _route_addressed(heard: MessageFacts, to_us: str) -> RoutingDecision:
    """Decide about what is put to us: all that asks, and what may be a question without a question's form."""
    by_press = heard.mentions_us and not heard.wording and not heard.replies
    bare = not words(to_us) and (bool(heard.wording) or heard.has_files)
    if heard.chooses or by_press or bare or is_question(to_us):
        return RoutingDecision(MessageRoute.ANSWER, "it asks us")
    if _only_receives(to_us):
        return RoutingDecision(MessageRoute.THANKED, "it thanks us")
    by_mention = OUR_MENTION in heard.wording
    asks = by_mention and not _REMARKS.search(to_us) and not (heard.replies and not _is_phrase(to_us))
    begins = heard.direct and not heard.in_our_thread and not _REMARKS.search(to_us)
    if asks or begins or _goes_on(to_us) or len(words(to_us)) > LONGEST_FRAGMENT:
        return RoutingDecision(MessageRoute.ANSWER, "it is put to us")
    route = MessageRoute.ANSWER_IF_CERTAIN if _is_phrase(to_us) else MessageRoute.THANKED
    return RoutingDecision(route, "it remarks on our answer")


def could_be_answered(message: IncomingMessage, settings: ChannelSettings) -> bool:
    """Whether a message that begins a conversation without naming us may be answered where these settings apply.

    For platforms, which hear all that is said: what cannot be for us is not put in line. Its writer's rights are looked
    at later.
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


ANYWHERE = ChannelSettings(auto_answer=LEAST_CONFIDENCE, forum_posts=True)  # where all is answered that ever is


def is_named(text: str) -> bool:
    """Whether a message addresses us by name, without a mention, and asks something."""
    for name in _NAME.finditer(text):
        before, behind = _last_clause(text[: name.start()]), text[name.end() :]
        if _ONLY_LEAD.match(before) and (
            opens_question(behind.lstrip(" ,")) or (behind[:1] in (",", "?") and is_question(behind))
        ):
            return True
        if not words(behind) and text[: name.start()].rstrip().endswith(",") and is_question(text):
            return True
    return False


def _command(text: str, *, spoken_to: bool, heard: MessageFacts) -> MessageRoute | None:
    if len(words(text)) > LONGEST_COMMAND:
        return None
    for route, pattern in _BY_COMMAND.items():
        if pattern.match(text) and (spoken_to or (heard.in_our_thread and route in _IN_OUR_THREAD)):
            return route
    return None


# --- what is said to us


def _said_to_us(heard: MessageFacts) -> str | None:
    """What of a message is said to us; None where nothing is: it names us not, or only speaks of us."""
    if OUR_MENTION in heard.wording and not heard.direct:
        return _behind_mention(heard.wording)
    if heard.mentions_us or heard.direct:
        return heard.text
    return _NAME.sub(" ", heard.text) if is_named(heard.text) and not heard.mentions_others else None


def _behind_mention(wording: str) -> str | None:
    """What is said to us in a message that mentions us; None where each mention is part of what is said of us."""
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
    """Whether a mention between these words of its clause addresses us, rather than speaks of us."""
    clause = _last_clause(before)
    ends = _CLAUSE_END.match(behind.lstrip()) is not None or not words(behind)
    if _ONLY_LEAD.match(clause):
        begins = _ONLY_LEAD.match(_SENTENCE_END.split(before)[-1]) is not None
        return is_question(behind) or (ends and begins) or (begins and not _OF_US.match(_first_clause(behind)))
    if ends:
        return not _LEADS_TO_US.search(clause) and (is_question(clause) or _only_receives(clause))
    return _REQUEST_FRAME.match(clause) is not None


def _last_clause(text: str) -> str:
    return _CLAUSE_END.split(text)[-1]


def _first_clause(text: str) -> str:
    return _CLAUSE_END.split(text.lstrip(" ,:"))[0]


def _until_other(before: str, behind: str) -> str:
    """Our part: up to where somebody else is addressed, and of what stands before us the last sentences to nobody."""
    cut = next(
        (m.start() for m in _OTHER_MENTION.finditer(behind) if re.search(r"[.!?\n]\s*$", behind[: m.start()])), None
    )
    ours = behind if cut is None else behind[:cut]
    earlier = re.split(r"(?<=[.!?\n])\s+", before)
    kept = " ".join(part for part in earlier if not re.match(r"\W*@\w", part) or _ONLY_LEAD.match(part))
    return re.sub(r"\s{2,}", " ", f"{kept} {ours}".replace(OUR_MENTION, " ")).strip(" ,:")


# --- what names nobody


def _route_unaddressed(heard: MessageFacts) -> RoutingDecision:
    """Decide about a message that is not put to us: the asker goes on with our conversation, others may not mean us."""
    if reason := _reason_to_be_quiet(heard):
        return RoutingDecision(MessageRoute.KEEP_QUIET, reason)
    if heard.chooses or (heard.opens_post and heard.answers_posts):
        return RoutingDecision(MessageRoute.ANSWER, "it makes a choice, or opens a post")
    if _names_colleague(heard.text):
        return RoutingDecision(MessageRoute.KEEP_QUIET, "it names a colleague", to_colleague=True)
    if heard.in_channel or heard.opens_post:
        route = MessageRoute.ANSWER_IF_CERTAIN if is_question(heard.text) else MessageRoute.KEEP_QUIET
        return RoutingDecision(route, "it begins without naming us", standalone=True)
    if heard.by_last_asker and (not heard.in_company or (heard.asked_back and _is_phrase(heard.text))):
        return _route_alone(heard)
    return _route_in_company(heard)


def _reason_to_be_quiet(heard: MessageFacts) -> str:
    """Why a message that is not put to us gets nothing whatever it says; empty where it may get an answer."""
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


def _route_alone(heard: MessageFacts) -> RoutingDecision:
    """Decide about a line of the asker while only we two talk."""
    if is_question(heard.text):
        return RoutingDecision(MessageRoute.ANSWER, "the asker asks on")
    if _only_receives(heard.text):
        return RoutingDecision(MessageRoute.KEEP_QUIET, "it thanks us")
    if heard.asked_back or _goes_on(heard.text):
        return RoutingDecision(MessageRoute.ANSWER, "the asker goes on")
    route = MessageRoute.ANSWER_IF_CERTAIN if _is_phrase(heard.text) else MessageRoute.KEEP_QUIET
    return RoutingDecision(route, "it has no question's form")


def _route_in_company(heard: MessageFacts) -> RoutingDecision:
    """Where others have written, or somebody else writes: a question that is put to nobody, and stands by itself."""
    if not is_question(heard.text):
        return RoutingDecision(MessageRoute.KEEP_QUIET, "it asks nothing")
    if _YOU.search(heard.text):
        return RoutingDecision(MessageRoute.KEEP_QUIET, "it is put to a person")
    if heard.follows_answer and asks_by_words(heard.text):
        return RoutingDecision(MessageRoute.ANSWER_IF_CERTAIN, "it follows our answer")
    if heard.by_last_asker and set(content_words(heard.text)) & set(content_words(heard.answered)):
        return RoutingDecision(MessageRoute.ANSWER_IF_CERTAIN, "it goes on with what we answered")
    if not _stands_alone(heard.text):
        return RoutingDecision(MessageRoute.KEEP_QUIET, "it leans on what a colleague said")
    return RoutingDecision(MessageRoute.ANSWER_IF_CERTAIN, "it is put to nobody", standalone=True)


def _stands_alone(text: str) -> bool:
    """Whether a question can be understood by who has not read what was said before."""
    subject = {
        word.casefold() for word in words(without_question_words(text)) if len(word) >= LEAST_LETTERS
    } - STOPWORDS
    subject -= {"anything", "something", "everything", "anyone", "someone", "anybody", "somebody"}
    return asks_by_words(text) and not _LEANS.search(text) and len(subject) >= LEAST_SUBJECT


def _only_receives(text: str) -> bool:
    """Whether a message that asks nothing thanks for an answer, or says no more than that it has arrived."""
    said = {word.casefold().replace("’", "'") for word in words(text)}
    if _THANKS.search(text) or not said:
        return True
    if len(said) <= LONGEST_COMMAND and any(get_close_matches(word, _THANK_WORDS, 1, 0.8) for word in said):
        return True  # misspelled
    return bool(said & _RECEIPTS) and said <= _RECEIPTS | STOPWORDS


def _goes_on(text: str) -> bool:
    """Whether a message without a question's form plainly goes on with one: "no, I meant …", "and for enterprise"."""
    return _GOES_BACK.match(text) is not None or (_is_phrase(text) and _ADDS.search(text) is not None)


def _is_phrase(text: str) -> bool:
    """Whether a message is a few words without a sentence's form: what a question was about, or what it left out."""
    phrase = re.sub(_LEAD, "", _CODE.sub(" ", text)).strip(" .!,")
    if not 0 < len(words(phrase)) <= LONGEST_FRAGMENT:
        return False
    if re.search(r"[.;!]\s|,\s(?!no\b|not\b|non\b|nicht\b|pas\b)", phrase):
        return False
    return bool(content_words(phrase)) and not _STATES.search(phrase) and not _PERSONAL.search(phrase)


def _names_colleague(text: str) -> bool:
    """Whether a message begins or ends with a person's name: "bob, is that right?", "teo what time do you start?"."""
    begins = re.match(rf"{_GREETS}([^\W\d_]+)(\s*[,:])?\s+(.+)", text, re.DOTALL)
    if begins is not None and not _is_common(begins.group(1)):
        comma, rest = begins.group(2), begins.group(3)
        told = any((is_question(rest), _STATES.search(rest), _PERSONAL.search(rest), _YOU.search(rest)))
        if (comma and told) or (opens_question(rest) and _YOU.search(rest)):
            return True
    ends = re.search(r",\s+([^\W\d_]+)\s*[?!.]*\s*$", text)
    return ends is not None and is_question(text) and not _is_common(ends.group(1))


def _is_common(word: str) -> bool:
    """Whether a word that could be a name by its place is none."""
    word = word.casefold()
    return word in STOPWORDS | _RECEIPTS or word == _OUR_NAME or re.fullmatch(LEAD_INS, word) is not None
