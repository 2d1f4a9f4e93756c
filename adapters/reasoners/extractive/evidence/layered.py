"""Questions that reach their answer by way of other documents, which are known by the names they are about."""

import re
from collections.abc import Iterable, Sequence

from adapters.reasoners.extractive.question.names import names
from core.model.evidence import Evidence
from core.model.text import words

_BESIDE = re.compile(r" \(|, ")  # what tells a title from others of its name begins here: "(film)", ", Ohio"
_SHORTEST = 3  # letters of a title that may be a name
# A question that asks for something by way of something else, or for several things at once.
_LAYERED = re.compile(
    r"^(?:when|where|who|whom|which)\b[^?]*?\bthe \w+ of\b|"
    r"\b(?:of|by|in|from|to|with|at|for|on) (?:the|a|an) [^?]*?\b(?:of|that|who|which|whose|where|in|by|from"
    r"|for)\b|\b(?:whose|both|same|older|younger|"
    r"earlier|later|first|before|after)\b|\b(?:that|which|who|where) (?:is|was|are|were|has|had|did|does|have)\b"
    r"|[’']s [^?]*\b(?:of|in|for|per|that|who|which)\b|[’']s? \w+[’']s?\b| or ",
    re.IGNORECASE,
)


def is_layered(question: str) -> bool:
    """Whether the question reaches its answer through something else that has to be found first."""
    return bool(_LAYERED.search(question)) or len([name for name in names(question) if not name.isupper()]) > 1


def known_by_name(question: str, evidence: Iterable[Evidence]) -> bool:
    """Whether the question names a document that was found: by its title, in any case, written as a name.

    Only where documents are about what their titles name does a name lead to one. In a manual, whose titles say what a
    page is for, searches over the names in it bring more of the same.
    """
    asked = [_without_s(word) for word in words(question)]
    titles = dict.fromkeys(_BESIDE.split(item.passage.title)[0] for item in evidence)
    return any(_stands_in(asked, [_without_s(word) for word in words(title)]) for title in titles)


def _stands_in(asked: Sequence[str], title: Sequence[str]) -> bool:
    """Whether these words stand together in the question, one of them with a capital that is not a sentence's first."""
    size = len(title)
    if sum(map(len, title)) < _SHORTEST:
        return False
    wanted = [word.casefold() for word in title]
    return any(
        [word.casefold() for word in asked[at : at + size]] == wanted
        and any(word[0].isupper() for word in asked[max(at, 1) : at + size])
        for at in range(len(asked) - size + 1)
    )


def _without_s(word: str) -> str:
    return re.sub(r"['’]s$", "", word, flags=re.IGNORECASE)
