"""Messages that say nothing of their own and point at another one: "^", "please help Bob with that", "any ideas?"."""

import re
from collections.abc import Iterable

MOST_NAMES = 2  # words
LONGEST = 12  # words
GREETING = "Hello"  # what a mention without a word asks, where there is nothing that it could point at
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
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
    """Whether a message asks nothing by itself, so that what it replies to is the question.

    ``names`` are people's, as they are shown here: whom the message addresses or names is no question either.
    """
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?i)(?<!\w)@?{re.escape(name)}(?:['’]s)?(?!\w)", " ", text) if name.strip() else text
    said = _WORD.findall(text)
    return len(said) <= LONGEST and all(word.casefold() in _POINTING for word in said)


def could_point(text: str) -> bool:
    """Whether a message would only point at another one if a word or two of it were somebody's name."""
    said = _WORD.findall(text)
    beyond = [word for word in said if word.casefold() not in _POINTING]
    return len(said) <= LONGEST and len(beyond) <= MOST_NAMES and (not beyond or len(said) - len(beyond) > 1)
