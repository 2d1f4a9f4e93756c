"""The words of a chat message without what only decorates them: emoji, marks of code and emphasis, white space."""

import re

LONGEST_QUESTION = 4_000  # characters, wherever it is asked
MOST_WORDS = 800  # words and figures of one: prose of 4,000 characters has fewer, "1,1,1,…" has 2,000
LINK_PREVIEW = "preview of a link"  # the author of what a platform shows below a link
_WORD = re.compile(r"\w+")
_FENCE = re.compile(r"```(?:[A-Za-z0-9+#_-]{1,20}(?=\n))?(.*?)```", re.DOTALL)
_TICKS = re.compile(r"`+")
_EMOJI_CODE = re.compile(r"(?<![\w:])(?::(?=[\w+-]{0,63}[A-Za-z+-])[\w+-]{1,64}:)+(?![\w:])")
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55\ufe0f\u200d\u20e3]+")
_STRONG = re.compile(r"(\*\*|~~)(?=\S)([^*~\n]{1,500})(?<=\S)\1")
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")


def too_long(text: str) -> str:
    """What to say to a question that is too long, without repeating it; empty where it is not."""
    counted = ((len(text), LONGEST_QUESTION, "characters"), (len(_WORD.findall(text)), MOST_WORDS, "words and figures"))
    for found, most, what in counted:
        if found > most:
            return (
                f"Your question has {found:,} {what}; I read at most {most:,}. "
                "Shorten it, or attach the long part as a file."
            )
    return ""


def without_emoji(text: str) -> str:
    """The text with a space for each emoji and emoji code."""
    return _EMOJI.sub(" ", _EMOJI_CODE.sub(" ", text))


def plain_question(text: str) -> str:
    """A message as it is to be understood. One of decoration alone stays as it is."""
    plain = _STRONG.sub(r"\2", _FENCE.sub(r"\n\1\n", text))
    plain = without_emoji(_TICKS.sub("", plain))
    plain = _LINES.sub("\n", _SPACES.sub(" ", plain)).strip()
    return re.sub(r" (?=[?!.,;:](?:\s|$))", "", plain) if re.search(r"\w", plain) else text.strip()
