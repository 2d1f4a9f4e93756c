"""Files that hang on a question, as evidence for that question alone: nothing of them is kept."""

import re
from collections.abc import Iterator, Sequence

from core.model.conversation import ContextMessage
from core.model.evidence import Evidence, Hit
from core.model.knowledge import Passage

_LONGEST = 1_200  # characters of a stretch that is weighed as a passage is
_MOST = 24  # stretches of all files together
_NAMES_IT = re.compile(
    r"\b(?:(?:in|of|from|according to|per) )?(?:this|that|the|my|our|these) (?:attached |uploaded )?"
    r"(?:file|document|attachment|pdf|spreadsheet|text|doc|page|upload)s?\b|\battached\b",
    re.IGNORECASE,
)


def without_naming(question: str) -> str:
    """The question without the words that only point to the file."""
    return " ".join(_NAMES_IT.sub(" ", question).split()) or question


def evidence_of(files: Sequence[ContextMessage]) -> tuple[Evidence, ...]:
    """The stretches of the files, in order, numbered from 1."""
    passages = [
        Passage(f"{file.author}-{at}", "", file.author, "", f"{file.author}-{at}", at, file.author, text)
        for file in files
        if not file.unread
        for at, text in enumerate(_stretches(file.text))
    ]
    return tuple(Evidence(number, Hit(passage, 0.5), "attached") for number, passage in enumerate(passages[:_MOST], 1))


def _stretches(text: str) -> Iterator[str]:
    """Paragraphs, joined up to a length that a passage has."""
    gathered = ""
    for paragraph in re.split(r"\n\s*\n", text):
        if gathered and len(gathered) + len(paragraph) > _LONGEST:
            yield gathered
            gathered = ""
        gathered = f"{gathered}\n\n{paragraph}".strip()
    if gathered:
        yield gathered
