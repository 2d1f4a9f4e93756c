"""What in a draft is a claim: a sentence that states something and can be true or false."""

import re
from collections.abc import Iterable

from core.agent.citations import cited_ids, without_markers
from core.model.answer import Claim
from core.model.text import content_words, sentences

FEWEST_WORDS = 3
_DECORATION = re.compile(r"[*_`>#|~]+|^\s*(?:[-•]|\d+[.)])\s+", re.MULTILINE)
# Sentences about the search rather than the world: they need no source.
_ABOUT_ITSELF = re.compile(
    r"(?i)\b(?:the documents|the sources|the passages|i (?:could|can|did|found|searched|have not)"
    r"|not from the documents|nothing (?:in|about)|do(?:es)?n[’']t say|do not say|no source)\b"
)
_TABLE_RULE = re.compile(r"^\s*\|[\s:|-]+\|\s*$")  # the line below a table's header
_EXACT = re.compile(r"[\W_]+")


def claims_in(draft: str) -> tuple[Claim, ...]:
    """The claims of a draft in order, each as it stands there, with the evidence ids it cites.

    A marker that stands alone after a full stop belongs to the sentence before it.
    """
    found: list[Claim] = []
    in_code = False
    lines = draft.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line.lstrip().startswith("```"):
            in_code = not in_code
            continue
        if in_code or line.lstrip().startswith(("#", "|--", "|:-")) or _introduces(line) or _TABLE_RULE.match(below):
            continue
        found.extend(Claim(text, cited_ids(text)) for text in _with_their_markers(line) if _states_something(text))
    return tuple(found)


def _introduces(line: str) -> bool:
    """Whether a line only announces what follows: "From *Refund policy*, section 4. Annual plans:"."""
    return line.rstrip("*_ ").endswith(":") and not cited_ids(line)


def _with_their_markers(line: str) -> list[str]:
    """The sentences of a line, each with the markers that follow its full stop."""
    pieces: list[str] = []
    position = 0
    for sentence in sentences(line):
        start = line.index(sentence, position)
        position = start + len(sentence)
        alone = not without_markers(sentence).strip(" .;,")
        leading = re.match(r"(?:\s*\[[\d,\s]+\])+", sentence)
        if pieces and (alone or leading):
            end = position if alone else start + (leading.end() if leading else 0)
            begin = line.rindex(pieces[-1], 0, start)
            pieces[-1] = line[begin:end]
            rest = "" if alone else line[end:position].strip()
            if rest:
                pieces.append(rest)
        else:
            pieces.append(sentence)
    return pieces


def _states_something(sentence: str) -> bool:
    prose = without_markers(sentence).strip()
    if prose.endswith((":", "?")) and not cited_ids(sentence):
        return False
    if not cited_ids(sentence) and _ABOUT_ITSELF.search(prose):
        return False
    return len(content_words(prose)) >= FEWEST_WORDS or bool(cited_ids(sentence) and content_words(prose))


def stands_verbatim(claim: str, texts: Iterable[str]) -> bool:
    """Whether the claim's words stand in one of the texts in exactly this order, whatever the punctuation."""
    said = _plain(without_markers(claim))
    return bool(said) and any(said in _plain(text) for text in texts)


def _plain(text: str) -> str:
    return f" {_EXACT.sub(' ', _DECORATION.sub(' ', text)).strip().casefold()} "
