"""Probability that a message wants our answer, from counted signals.

The message addresses us, or only its writer and we are talking. Each signal is a readable trait of the message or its
place. ``WEIGHTS`` holds the log odds of each; ``python -m research.routing.train`` counts them over labelled threads
and prints the table.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from core.model.incoming_events import OUR_MENTION
from core.model.message_text import LEAD_INS, asks_by_words, is_question
from core.model.text import STOPWORDS, content_words, words


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """A message as a platform receives it. ``text`` lacks our mention; ``wording`` has it as ``OUR_MENTION``."""

    text: str
    wording: str = ""
    mentions_us: bool = False  # or replies to us
    has_files: bool = False
    direct: bool = False  # a direct message, or a place made for asking
    mentions_others: bool = False  # or replies to somebody else
    in_our_thread: bool = False  # we have answered here before
    by_last_asker: bool = False  # by the person that got our last answer here
    follows_answer: bool = False  # nobody has written since
    in_company: bool = False  # somebody else has written since
    muted: bool = False
    answered: str = ""  # our last answer here, and its question
    asked_back: bool = False  # our last message here was a question to this person
    chooses: bool = False  # it names a choice of the card that waits for this person
    in_channel: bool = False  # in no thread
    opens_post: bool = False  # it opens a forum post
    by_moderator: bool = False  # looked up only for the author of a new post
    answers_unasked: bool = False  # a setting of the place, like the next
    answers_posts: bool = False


LONGEST_FRAGMENT = 8  # words of a follow-up that leaves out what was asked before: "and for enterprise"
LONGEST_THANKS = 4  # words with a misspelled "thanks"
LEAST_LETTERS = 4  # of a word that carries meaning
STEM = 5  # letters at the start that related words share in four languages: "Urlaubstage", "Urlaubstagen"

# Counted by research.routing.train.
BIAS = -0.4
WEIGHTS: dict[str, float] = {
    "sets a condition": 0.9,
    "has a question mark": 1.8,
    "asks by its words": 2.3,
    "exclaims": -2.4,
    "goes back to our answer": 2.3,
    "adds to what was asked": 1.2,
    "changes the topic": 0.6,
    "says what it needs": 0.5,
    "is a phrase": 1.2,
    "is long": 0.4,
    "shares words with our answer": 1.3,
    "we asked back": 1.2,
    "only thanks": -2.6,
    "begins with thanks": -2.3,
    "closes": -3.4,
    "reports": -1.1,
    "remarks": -1.1,
    "points at our answer": -0.8,
    "mentions us": 0.9,
    "begins a conversation": 1.0,
}

_CODE = re.compile(r"(?sm)```.*?(?:```|$)|:[\w+-]+:|^[$] [^\n]*")  # and emoji by name
_CLAUSE = re.compile(r"[,.;:!?–—\n…]+\s*|\s-\s")
_THANKS = re.compile(r"(?i)\b(?:thank(?:s| you)|thx|ty|cheers|danke\w*|dank|merci|gracias)\b")
_THANK_WORDS = ("thanks", "danke", "merci", "gracias")
# Words that acknowledge an answer. A message of only these and stop words says nothing more.
RECEIPTS = frozenset(
    """ok okay k yes yeah yep no nope sure fine great nice cool perfect good super lovely brilliant awesome excellent
    amazing wow haha lol right true exactly understood noted sense makes helpful helps helped got gotcha spot answer bot
    job star respect worries problem morning weekend day evening night bye welcome sorry oh ah hm hmm phew damn ouch
    ja nein gut antwort respekt supi prima klasse toll alles klar passt verstanden genau stimmt schön hilft hat geholfen
    sehr mir das immerhin oui non bien bonne réponse parfait d'accord ça marche compris génial c'est très noté journée
    sí vale buena muy respuesta perfecto genial claro entendido bueno estupendo eso""".split()  # noqa: SIM905 - as STOPWORDS
)
_ONE_RECEIPT = (
    rf"(?:{'|'.join(sorted(map(re.escape, RECEIPTS), key=len, reverse=True))}"
    r"|thank(?:s| you)|thx|danke\w*|merci|gracias)"
)
_RECEIPT = re.compile(rf"(?i)^(?:\W*{_ONE_RECEIPT}\b){{1,4}}\s*[,.!:;…–—]+\s*")
_BEGINS_WITH_RECEIPT = re.compile(rf"(?i)^\W*(?!(?:no|nope|nein|non|sorry)\b){_ONE_RECEIPT}\b")
_ASKS_BY_MARK = re.compile(r"[?？¿]")
_LEAD = (
    rf"(?i)^\W*(?:(?:{LEAD_INS}|well|wait|actually|just|ach|uh|oops|ups|uy|na|pues|bueno|bon|ben|alors|lol|haha)\b"
    r"[\s,.!:–—-]*)*"
)
# It continues a question and leaves the rest out: "even for renewals", "if it was paid by invoice".
_ADDS = re.compile(
    rf"{_LEAD}(?:and|or|but|same|plus|also|even|only|except|without|no|nope|non|nein|not|for|in|at|with|from|per"
    r"|on(?= (?:the|an?|my)\b|\s\d)|by"
    r"|under|over|above|within|after|before|like|as|when|typo|the one"
    r"|und|oder|aber|auch|nicht|für|bei|beim|mit|ohne|pro|ab|im|am"
    r"|et|ou|mais|aussi|pas|pour|avec|sans|chez|à|au|dans|par|selon|ensuite|celles?|ceux"
    r"|y|e|o|u|pero|también|para|por|con|sin|en|desde|a|al|cada|cuando|(?:los?|las?|el) (?:de|del|que))\b"
    r"|\b(?:too|also|as well|instead|please|pls|plz|auch|stattdessen|bitte|aussi|plutôt|stp|svp|también|tampoco"
    r"|porfa|por favor)\W*$"
)
_SETS_CONDITION = re.compile(
    rf"{_LEAD}(?:(?:even |what |and |also |auch |und |même |y |et )?"
    r"(?:if|unless|in case|falls|wenn|sofern|si|sauf si|aunque))\b"
)
_CHANGES_TOPIC = re.compile(
    rf"{_LEAD}(?:(?:new|another|other|different|next|one more|quick|separate) (?:question|topic|one|thing)"
    r"|(?:ganz )?(?:andere|neue|noch eine|kurze) (?:frage|sache)|neues thema"
    r"|(?:autre|nouvelle) (?:question|sujet|chose)|nouveau sujet|otra (?:pregunta|cosa|duda)|nueva pregunta)\b\W*"
)
# Replies to our answer that correct it, doubt it, or want more of it.
_GOES_BACK = re.compile(
    rf"{_LEAD}(?:i (?:meant|mean|asked|thought)\b|i(?: was|['’]m) (?:asking|talking)\b"
    r"|ich (?:mein\w*|wollte|rede von|dachte|hatte nach)\b|gemeint\b|nicht \w+.* sondern\b"
    r"|je (?:voulais|parl\w+|demandais|reformule|croyais|pensais)\b"
    r"|(?:me refer[ií]a|quer[ií]a decir|quise decir|hablo de|hablaba de|preguntaba|creía)\b"
    r"|(?:that|this|it|the answer|your answer)(?:['’]?s| is| was| looks| seems| must be)? (?:\w+ )?"
    r"(?:wrong|incorrect|false|outdated|out of date|old|not (?:right|true|correct|helpful|what i \w+))\b"
    r"|(?:(?:that|this|it) )?can(?:['’]?t|not) be (?:right|true|correct)\b"
    r"|(?:das|es) (?:ist|war|stimmt|kann) (?:\w+ )?(?:falsch|veraltet|nicht)\b|c['’]est (?:faux|pas)\b"
    r"|(?:eso )?no es (?:eso|correcto|así)\b"
    r"|(?:wrong|incorrect|falsch|faux|not what i|you misunderstood|(?:try )?again|nochmal|encore|otra vez)\b"
    r"|not the \w+"
    r"|(?:some |a bit )?more(?: (?:details?|on|about (?:that|this|it)))*\b|(?:go on|details|mehr dazu)\W*$"
    r"|(?:in short|shorter|more simply|say that|same for|the same|in english)\b)"
)
_NEEDS = re.compile(  # a request that says what is missing
    rf"{_LEAD}(?:(?:i|we) (?:need|want|would like|can(?:['’]?t|not)|lost|forgot|have (?:a|to)|was wondering)\b"
    r"|i['’]d like\b"
    r"|looking for\b|(?:ich|wir) (?:brauch\w*|möchte\w*|such\w*|will|wollen|kann|habe? (?:ein|mein|kein))\b"
    r"|brauche\b|suche\b"
    r"|(?:je|nous) (?:veux|voudrais|cherche|voulons|n['’]arrive)\b|j['’](?:ai (?:besoin|perdu|oublié)|aimerais)\b"
    r"|(?:necesit|quer|quier|busc)\w+)"
)
# Words that end the topic or the day: "never mind, found it", "wrong window", "see you tomorrow".
_CLOSES = re.compile(
    rf"{_LEAD}(?:never ?mind|nvm|forget (?:it|that|about it)|scratch that|ignore (?:me|that|this|it)"
    r"|drop it|leave it|disregard"
    r"|(?:no longer|not) needed|(?:it )?does(?:n['’]?t| not) matter|all (?:good|set|sorted|done)|sorted|solved|resolved"
    r"|(?:i )?found (?:it|out)|got it|figured it out|wrong (?:chat|window|channel|thread|person|tab)"
    r"|(?:that|this) was (?:meant )?for|tell me about it|no wonder|good luck"
    r"|(?:hat sich )?erledigt|vergiss|egal|schon gut|hab['’]?s|gefunden|falsche[rsn]? (?:chat|fenster|kanal|thread)"
    r"|lass (?:mal|gut|es)|nicht mehr nötig|passt schon"
    r"|laisse[zr]? tomber|tant pis|oublie[zr]?|c['’]est bon|(?:j['’]ai )?trouvé"
    r"|(?:mauvaise?|erreur de) (?:fenêtre|canal|chat)"
    r"|pas grave|plus besoin|peu importe"
    r"|olv[ií]da\w*|d[eé]ja(?:lo|dlo)|da igual|ya (?:está|lo (?:encontré|vi|tengo))|no importa|(?:me )?equivoqué"
    r"|(?:chat|canal|ventana) equivocad[oa]|no hace falta"
    r"|bye|goodbye|see (?:you|ya)|good ?night|have a (?:good|nice|great)|going home|i['’]?m off|off to|brb"
    r"|afk|back (?:soon|in|to)"
    r"|feierabend|tschüss|bis (?:morgen|nachher|dann|später|bald|gleich|montag)|schöne[nsr]? |gute nacht|mach['’]?s gut"
    r"|à (?:demain|plus|bientôt|tout à l['’]heure|lundi)|au revoir|bonne (?:soirée|journée|nuit|fin|chance)"
    r"|bon (?:week|courage|app)|adi[oó]s|hasta (?:mañana|luego|pronto|el)|buenas noches|nos vemos|buen (?:fin|día))"
)
# Question words without a question: "what a surprise", "who even reads that", "why am I not surprised".
_EXCLAIMS = re.compile(
    rf"{_LEAD}(?:what an? |how \w+\W*$|such an? |so ein|was für ein|quel(?:le)? \w+\W*$|quand même"
    r"|qué \w+(?:\W*$| (?:tengo|más|tan)\b)|ya decía"
    r"|(?:who|why) (?:even|still|else|on earth)\b|who (?:knew|would|could|needs?|cares?|comes?|doesn['’]?t)\b"
    r"|why (?:am i|is it always|do(?:es)?(?:n['’]?t)? (?:i|we|this|that|nobody)|always)\b"
    r"|wer (?:hätte|braucht|will|macht|liest) (?:das|schon|denn|so)|warum (?:immer|bin ich|glaubt|passiert)\b"
    r"|qui (?:l['’]eût|l['’]aurait|aurait|refuserait)|quién (?:me|los?|las?|lo) \w+(?:ra|ría)\b|acaso\b)"
)
# Somebody does something, so it is a sentence of its own: "I'll try that", "mine is worse".
STATES = re.compile(
    r"(?i)\b(?:he|she|they|is|are|was|were|will|had|has|have|it['’]s|that['’]s|did|ist|sind|war|hat|habe|est|c['’]est"
    r"|était|es|fue|estaba)\b|^\W*\w+ed\b"
)
_REPORTS = re.compile(
    rf"{_LEAD}(?:(?!need)\w{{3,}}ed\b|done|sent|told|gemacht|gesendet|hecho|fait|envoyé|\w{{3,}}ado,)"
)
_PERSON = r"(?:i|i['’]\w+|we|we['’]\w+|you|you['’]\w+|ich|wir|je|j['’]\w+|nous|yo|nosotros)"
PERSONAL = re.compile(rf"(?i)\b(?:{_PERSON}|me|my|mine|us|our|mich|mir|mein\w*|uns|moi|mon|ma|mi)\b")
# Remarks about the writer or us, without a request: "you're a star", "saved me".
_REMARKS = re.compile(rf"{_LEAD}{_PERSON}\b|\b(?:me|us|mir|uns|moi)\W*$")
_POINTS = re.compile(
    rf"{_LEAD}(?:that|this|it|these|those|that['’]s|it['’]s|das|dies\w*|es|ça|c['’]est|cela|eso|esto)\b"
)
_FOREIGN_STOPWORDS = frozenset(
    """eine einen oder aber nicht auch noch nur dass wenn dann haben werden kann sind wird beim durch über pour avec
    dans mais plus aussi être cette sont leur vous nous pero para como está este esta tiene puede todo cada
    fueron eran tanto anything something everything
    anyone someone anybody somebody""".split()  # noqa: SIM905 - as STOPWORDS
)


def wish_for_answer(signals: Iterable[str]) -> float:
    """Return the probability, from 0 to 1, that a message with these signals wants our answer."""
    return 1 / (1 + math.exp(-BIAS - sum(WEIGHTS[name] for name in signals)))


def signals_of(text: str, facts: MessageFacts) -> frozenset[str]:
    """Return the signals of a message to us, for or against an answer, by their names in ``WEIGHTS``."""
    text = _CODE.sub(" ", text)
    said = _CHANGES_TOPIC.sub("", _without_receipt(text))
    closes = not _ASKS_BY_MARK.search(said) and any(map(_CLOSES.match, _CLAUSE.split(text)))
    asks = asks_by_words(said) and not exclaims(said) and not closes
    question = asks or (not closes and is_question(said))
    goes_back = not closes and _GOES_BACK.match(text) is not None
    phrase = is_phrase(said)
    adds = phrase and _ADDS.search(said) is not None
    needs = any(map(_NEEDS.match, _CLAUSE.split(said)))
    remarks = not (question or goes_back or needs)
    given = {
        "has a question mark": _ASKS_BY_MARK.search(said) is not None,
        "asks by its words": asks,
        "exclaims": exclaims(said),
        "goes back to our answer": goes_back,
        "adds to what was asked": adds,
        "sets a condition": _SETS_CONDITION.match(said) is not None,
        "changes the topic": _CHANGES_TOPIC.match(text) is not None,
        "says what it needs": needs,
        "is a phrase": phrase,
        "is long": len(words(said)) > LONGEST_FRAGMENT,
        "shares words with our answer": bool(_stems(said) & _stems(facts.answered)),
        "we asked back": facts.asked_back,
        "only thanks": not question and not facts.asked_back and only_receives(text),
        "begins with thanks": remarks and not facts.asked_back and _BEGINS_WITH_RECEIPT.match(text) is not None,
        "closes": closes,
        "reports": not question and _REPORTS.match(said) is not None,
        "remarks": remarks and _REMARKS.search(said) is not None,
        "points at our answer": remarks and _POINTS.match(said) is not None,
        "mentions us": OUR_MENTION in facts.wording,
        "begins a conversation": facts.direct and not facts.in_our_thread,
    }
    return frozenset(name for name, is_given in given.items() if is_given)


def only_receives(text: str) -> bool:
    """Return whether a message that asks nothing thanks for an answer, or only acknowledges it."""
    said = {word.casefold().replace("’", "'") for word in words(text)}
    if _THANKS.search(text) or not said:
        return True
    if len(said) <= LONGEST_THANKS and any(get_close_matches(word, _THANK_WORDS, 1, 0.8) for word in said):
        return True  # misspelled
    return bool(said & RECEIPTS) and said <= RECEIPTS | STOPWORDS


def is_phrase(text: str) -> bool:
    """Return whether a message is a few words that form no sentence: a topic, or what a question left out."""
    phrase = re.sub(_LEAD, "", text).strip(" .!,")
    if not 0 < len(words(phrase)) <= LONGEST_FRAGMENT:
        return False
    if re.search(r"[.;!]\s|,\s(?!no\b|not\b|non\b|nicht\b|pas\b)", phrase):
        return False
    return bool(content_words(phrase)) and not STATES.search(phrase) and not PERSONAL.search(phrase)


def _without_receipt(text: str) -> str:
    """Return a message without thanks and receipts at its beginning; unchanged if nothing else remains."""
    rest = _RECEIPT.sub("", text)
    return rest if words(rest) else text


def exclaims(text: str) -> bool:
    """Return whether a text has question words but asks nothing: "what a surprise", "who even reads that"."""
    return _EXCLAIMS.match(text) is not None


def meaningful(text: str) -> set[str]:
    """Return the words that carry meaning in any of our languages, in lower case."""
    said = {word.casefold() for word in words(text) if len(word) >= LEAST_LETTERS or word.isdigit()}
    return said - STOPWORDS - _FOREIGN_STOPWORDS


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in meaningful(text)}
