"""Right answers with false twins: what the scripted model knows about a question."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

MARK = re.compile(r"\[(?P<file>[^\[\]\n]+\.\w{2,5})\]")  # names the document that supports a sentence: [leave.md]
_ANY_MARK = re.compile(r"\s*\[(?:[^\[\]\n]+\.\w{2,5}|\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_TOKEN = re.compile(r"[^\W_]+(?:(?:['’./-]|(?<=\d)[,:](?=\d))[^\W_]+)*|[%€$£]")
_LIST_MARK = re.compile(r"(?m)^\s*(?:[-*•]|\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class Support:
    """The words of a document that a sentence of the right answer rests on."""

    claim: str
    file: str
    words: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with its right answer and a twin in which one claim is false."""

    id: str
    company: str
    kind: str
    language: str
    question: str
    right: str
    right_claim: str
    false: str
    false_claim: str
    supports: tuple[Support, ...]


def read_pairs(path: Path, company: str) -> list[Pair]:
    """Read a file of pairs, one JSON object a line."""
    pairs = []
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            row = json.loads(line)
            supports = tuple(Support(one["claim"], one["file"], one["words"]) for one in row.pop("supports"))
            pairs.append(Pair(company=company, supports=supports, **row))
    return pairs


def without_marks(text: str) -> str:
    """Return a text without its marks and the white space before them."""
    return _ANY_MARK.sub("", text)


def without_list_marks(text: str) -> str:
    """Return a text without the bullets and numbers at the beginning of its lines."""
    return _LIST_MARK.sub("", text)


def words_of(text: str) -> str:
    """Return the words of a text with one space around each, so that ``in`` compares whole words.

    Case, marks, markup, list numbers and the punctuation between words are left out.
    """
    bare = without_list_marks(without_marks(text))
    return f" {' '.join(_TOKEN.findall(bare.casefold()))} "


def find_words(wanted: str, text: str) -> str:
    """Return the stretch of ``text`` that has the wanted words in their order; empty when it has not.

    Where a passage was cut in the middle of them, the longest part counts if it has most of the words.
    """
    found = list(_TOKEN.finditer(text))
    there = [match.group().casefold() for match in found]
    words = words_of(wanted).split()
    for size in (len(words), max(3, -(-len(words) * 6 // 10))):
        for skipped in range(len(words) - size + 1):
            part = words[skipped : skipped + size]
            starts = [at for at, word in enumerate(there) if word == part[0]] if part else []
            at = next((at for at in starts if there[at : at + size] == part), None)
            if at is not None:
                return text[found[at].start() : found[at + size - 1].end()]
    return ""
