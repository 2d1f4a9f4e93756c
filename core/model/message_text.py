"""Text of a chat message: decoration, length, whether it only points at another message, whether it asks."""

import re
from collections.abc import Iterable

LONGEST_QUESTION = 4_000  # characters, on every platform
MOST_WORDS = 800  # words and figures in a question: prose of 4,000 characters has fewer, "1,1,1,…" has 2,000
LINK_PREVIEW = "preview of a link"  # author of the preview that a platform shows below a link
_WORD = re.compile(r"\w+")
_FENCE = re.compile(r"```(?:[A-Za-z0-9+#_-]{1,20}(?=\n))?(.*?)```", re.DOTALL)
_TICKS = re.compile(r"`+")
_EMOJI_CODE = re.compile(r"(?<![\w:])(?::(?=[\w+-]{0,63}[A-Za-z+-])[\w+-]{1,64}:)+(?![\w:])")
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55\ufe0f\u200d\u20e3]+")
_STRONG = re.compile(r"(\*\*|~~)(?=\S)([^*~\n]{1,500})(?<=\S)\1")
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")


def too_long(text: str) -> str:
    """Return the reply to a question that is too long, without repeating it; empty if it is not."""
    counted = ((len(text), LONGEST_QUESTION, "characters"), (len(_WORD.findall(text)), MOST_WORDS, "words and figures"))
    for found, most, what in counted:
        if found > most:
            return (
                f"Your question has {found:,} {what}; I read at most {most:,}. "
                "Shorten it, or attach the long part as a file."
            )
    return ""


def without_emoji(text: str) -> str:
    """Return the text with a space for each emoji and emoji code."""
    return _EMOJI.sub(" ", _EMOJI_CODE.sub(" ", text))


def plain_question(text: str) -> str:
    """Return a message without decoration. A message with nothing else stays as it is."""
    plain = _STRONG.sub(r"\2", _FENCE.sub(r"\n\1\n", text))
    plain = without_emoji(_TICKS.sub("", plain))
    plain = _LINES.sub("\n", _SPACES.sub(" ", plain)).strip()
    return re.sub(r" (?=[?!.,;:](?:\s|$))", "", plain) if re.search(r"\w", plain) else text.strip()


MOST_NAMES = 2  # words
LONGEST = 12  # words
GREETING = "Hello"  # text for a mention without words that refers to nothing
_POINTER_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_POINTING = frozenset(
    {
        *("hi", "hey", "hello", "so", "and", "please", "pls", "plz", "kindly"),
        *("can", "could", "would", "will", "may", "do", "does", "you", "u", "anyone", "anybody", "someone", "we"),
        *("help", "helps", "answer", "answers", "reply", "respond", "look", "check", "take", "assist", "explain"),
        *("tell", "say", "know", "have", "give", "get", "want", "need", "over", "out", "into", "at", "to", "on", "for"),
        *("with", "about", "of", "in", "a", "an", "any", "some", "hand", "the", "this", "that", "it", "these", "those"),
        *("here", "above", "below", "up", "one", "question", "questions", "message", "post", "same", "too", "also"),
        *("idea", "ideas", "thought", "thoughts", "clue", "input", "what", "what's", "your", "my", "their"),
        *("him", "her", "them", "us", "me", "he", "she", "they", "his", "colleague", "friend", "everyone"),
        *("bitte", "kannst", "könntest", "du", "ihr", "ihm", "uns", "mir", "mal", "dabei", "damit", "dazu", "hilf"),
        *("helfen", "beantworten", "antworten", "das", "dies", "diese", "frage", "jemand", "eine", "einen", "idee"),
        *("s'il", "te", "vous", "plaît", "plait", "peux-tu", "peux", "pouvez", "tu", "aider", "aide", "répondre"),
        *("à", "ça", "cela", "cette", "une", "idée", "avec", "lui", "por", "favor", "puedes", "ayudar", "ayuda"),
        *("con", "eso", "esto", "esta", "pregunta", "responder", "alguna", "le", "al", "la", "el", "alguien"),
    }
)


def only_points(text: str, names: Iterable[str] = ()) -> bool:
    """Return whether a message only refers to another, so that the message it replies to is the question.

    ``names`` are people's display names. Addressing someone by name does not make it a question.
    """
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?i)(?<!\w)@?{re.escape(name)}(?:['’]s)?(?!\w)", " ", text) if name.strip() else text
    said = _POINTER_WORD.findall(text)
    return len(said) <= LONGEST and all(word.casefold() in _POINTING for word in said)


def could_point(text: str) -> bool:
    """Return whether a message would only refer to another if one or two of its words were names."""
    said = _POINTER_WORD.findall(text)
    beyond = [word for word in said if word.casefold() not in _POINTING]
    return len(said) <= LONGEST and len(beyond) <= MOST_NAMES and (not beyond or len(said) - len(beyond) > 1)


# Words that may come before the question in its sentence.
LEAD_INS = (
    r"and|but|so|also|then|ok(?:ay)?|no|nope|yes|yeah|thanks?|thank you|ta|great|hm+|ah|oh|hi|hello|hey|please|sorry"
    r"|folks|all|team|und|aber|danke|bitte|hallo|moin|ja|nein|gut|et|mais|donc|alors|merci|bonjour|salut|oui|non|perd[oó]n|perdona|pardon|entschuldigung"
    r"|good (?:morning|evening|afternoon)|guten (?:tag|morgen|abend)|bonsoir|(?:muy )?buen[oa]s(?: d[ií]as)?"
    r"|y|pero|entonces|gracias|hola|por favor|vale|s['’]il (?:te|vous) pla[iî]t"
)
_LEAD = rf"^\W*(?:(?:{LEAD_INS})[\s,.!:]+)*"
_BEFORE = (
    r"(?:(?:until|till|since|by|from|for|to|with|at|in|on|of|after|before|within|nach|vor|bis|seit|ab|für|von|mit|um|in|an|auf|à|de|pour|avec|depuis|après|sous"
    r"|jusqu['’]à|à partir d['e]|dans|a|de|para|con|desde|hasta|en)\s+)?"
)
_SUBJECT = (
    r"(?:(?:i|we|you|he|she|it|they|there|that|this|these|those|the|my|our|your|his|her|their|any\w*|some\w*|every\w*"
    r"|all|both|each|one|people)\b|(?-i:[A-Z])|\d|an?\b(?=\s+\w+\s+\w+))"
)
_PRONOUN = r"(?:i|we|you|he|she|it|they|there|that|this|the|my|our|your|an?|any\w*|some\w*)\b"
_QUESTION_WORDS = (
    r"who(?:['’]?s)?|whom|whose|what(?:['’]?s)?(?! an?\b)|why|how(?! (?:nice|funny|cool|great|lovely|sweet)\b)|which"
    r"|(?:when|where)(?:['’]?s)?(?!\s+(?:i|we|you|he|she|they)\b)"
    r"|wann|wer|wen|wem|wessen|wo|wie|wieso|weshalb|warum|welche\w*|wieviel\w*|wo(?:her|hin|mit|für|zu|rauf|rin)"
    r"|quoi|quel(?:le)?s?|quand|où|comment|pourquoi|combien|qui|qu['’]\w+|est-ce|que(?! (?:bien|bueno|tal|guay)\b)"
    r"|qué|quién(?:es)?|cuál(?:es)?|cuales?|cuándo|dónde|donde|cómo|cu[aá]nt[oa]s?|por qu[eé]|para qué"
)
_VERB_FIRST = (
    rf"(?:is|are|am|will|would|can|could|should|shall|may|must|might|has|had)(?:n['’]?t)?\s+{_SUBJECT}"
    r"|(?:can|could|should|will|may|must|are|do|would)\s+(?!was\b|as\b|is\b|this\b)\w+[^s\W]s\s+\w+"
    rf"|(?:was|were)(?:n['’]?t)?\s+(?:there (?:an?|any|some|no)\b|(?!there\b){_SUBJECT})"
    rf"|have(?:n['’]?t)?\s+(?!an?\b){_SUBJECT}|(?:do(?:es|n['’]?t|esn['’]?t)?|did(?:n['’]?t)?)\s+(?!so\b|not\b)\w+\s+\w+"
    r"|any(?:one|body)\b|any (?:idea|chance|limit|way)\b"
    r"|(?:ist|sind|war|kann|können|könnte|darf|dürfen|muss|müssen|soll|sollen|sollte|hat|haben|habe|gibt|wird|werden"
    r"|gilt|gelten|bekomm\w+|brauch\w*|zählt|zählen|kostet|dauert|reicht|geht|verfällt|weiß|kennt|zahl\w+|läuft)\s+"
    r"(?:ich|wir|du|ihr|sie|er|es|man|das|der|die|den|dem|dies\w*|ein\w*|mein\w*|unser\w*|jemand|auch|(?-i:[A-ZÄÖÜ]))"
    r"|(?:kannst|könntest|würdest|wärst|magst|könnt|könnten|würden|wären) (?:du|ihr|sie)\b"
    r"|(?:puedo|podemos|puede|se puede|se pueden|tenemos|tengo que|hay|es posible|existe|vale para)\s+\w+"
)
_REQUEST = (
    r"(?:(?:can|could|would|will) you\s+)?(?:please\s+)?"
    r"(?:(?:tell|show|give|remind|send)\s+(?:me|us|an?|the|all)\b|explain|find|list|summari[sz]e|compare|look up"
    r"|search|translate|define|describe|quote|count|name (?:the|all)\b|put (?:that|this|it|them)\b|shorten|rephrase"
    r"|look at\b|check (?:if|whether|the)\b"
    r"|erkläre?n?|zeige?|nenne?|suche?|vergleiche?|fasse?|beschreibe?|gib|sage? (?:mir|uns)|liste|übersetze?"
    r"|explique[zr]?|montre[zr]?|donne[zr]?|cherche[zr]?|compare[zr]?|résume[zr]?|dis(?:-moi)?|dites|traduis\w*|liste[zr]?"
    r"|explica\w*|muestra\w*|enséñame|dime|dame|busca\w*|compara\w*|resume\w*|traduce\w*|enumera\w*)\b"
)
_OPENS = re.compile(
    rf"(?i){_LEAD}(?:{_BEFORE}(?:{_QUESTION_WORDS})\b|was\b(?! (?:there|fun|nice|good|great)\b)"
    rf"|{_VERB_FIRST}|{_REQUEST})"
)
# After a comma a question needs its subject: "we moved, which is nice" and "fine, is it" ask nothing.
_ASKS_BEHIND_COMMA = re.compile(
    r"(?i)^\s*(?:and |but |so |und |aber |et |mais |y |pero )?(?:(?:what|why|how)(?:['’]?s)?\s+\w+\s+\w+"
    r"|(?:is|are|do|does|did|can|could|should|would|will|has|have|may|must)(?:n['’]?t)?"
    rf" {_PRONOUN}\s+\w+|(?:was|were) (?!there\b){_PRONOUN}\s+\w+"
    r"|(?:ist|sind|kann|können|darf|muss|gibt|hat|gilt|bekomm\w+) (?:ich|wir|es|man|das|der|die)\s+\w+"
    r"|(?:nach|bis|ab|seit) (?:wie|wann|welche\w*)\b"
    r"|est-ce\b|combien\b|(?:puedo|podemos|se puede|cu[aá]nt[oa]s?)\s+\w+)"
)
# French asks anywhere in a sentence ("peut-on", "c'est combien"), and Spanish marks where the question begins.
_IN_PLACE = re.compile(
    r"(?i)\b\w+-(?:t-)?(?:il|elle|on|je|nous|vous|ils|elles|tu)\b|\bcombien d|(?:est|fait|coûte) combien\b"
    r"|¿\W*\w+(?:\s+\w+){2}"
)
_SENTENCE = re.compile(r"(?<=[.!?;…])\s+|\n+|\s[–—-]\s")
_CLAUSE = re.compile(r"[,:]\s+")
_ASKS_BY_MARK = re.compile(r"[?？¿]")
_LINK = re.compile(r"\w+://\S+")


def opens_question(text: str) -> bool:
    """Return whether the first words of a text form a question, whatever its punctuation."""
    return _OPENS.match(text) is not None


def asks_by_words(text: str) -> bool:
    """Return whether the words of a message form a question, without punctuation: "Tuesday morning?" does not."""
    plain = _LINK.sub(" ", text).strip()
    if _IN_PLACE.search(plain):
        return True
    for sentence in _SENTENCE.split(plain):
        if _OPENS.match(sentence) or any(map(_ASKS_BEHIND_COMMA.match, _CLAUSE.split(sentence)[1:])):
            return True
    return False


def is_question(text: str) -> bool:
    """Return whether a message asks for something, by its form."""
    return _ASKS_BY_MARK.search(_LINK.sub(" ", text)) is not None or asks_by_words(text)


def without_question_words(text: str) -> str:
    """Return the text without question words."""
    return re.sub(rf"(?i)\b(?:{_QUESTION_WORDS})\b", " ", text)
