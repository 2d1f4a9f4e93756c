"""Files that hang on a question, as evidence for that question alone: nothing of them is kept."""

import re
from collections.abc import Iterator, Sequence

from core.model.conversation import ContextMessage
from core.model.evidence import Evidence, Hit
from core.model.knowledge import Passage
from core.model.text import sentences

_LONGEST = 1_200  # characters of a stretch that is weighed as a passage is
_MOST = 24  # stretches of all files together
_SUMMARY = 700  # characters of all files together
_ASKS_SUMMARY = re.compile(
    r"(?:(?:hi|hello|hey|please|can you|could you|would you|bitte|por favor)[\s,]*)*"
    r"(?:summari[sz]e|sum up|tl;?dr|(?:give (?:me|us) )?(?:a|the) (?:short )?summary(?: of)?|what(?:'s| is) in"
    r"|what (?:does|do)|fass|fasse|zusammenfassung|résume[zr]?|resume|resumir|resumen(?: de)?)"
    r"(?: (?:this|that|it|these|the|attached|uploaded|my|our|das|die|diese|dieses|datei|ce|cet|cette|le|fichier|este"
    r"|esto|el|archivo|files?|documents?|pdf|attachments?|spreadsheet|say|mean|about|zusammen|for (?:me|us)|please"
    r"|bitte))*"
    r"[\s.?!]*",
    re.IGNORECASE,
)
_NAMES_IT = re.compile(
    r"\b(?:(?:in|of|from|according to|per) )?(?:this|that|the|my|our|these) (?:attached |uploaded )?"
    r"(?:file|document|attachment|pdf|spreadsheet|text|doc|page|upload)s?\b|\battached\b",
    re.IGNORECASE,
)


def without_naming(question: str) -> str:
    """The question without the words that only point to the file."""
    return " ".join(_NAMES_IT.sub(" ", question).split()) or question


def summary_of(files: Sequence[ContextMessage], question: str) -> str:
    """The beginnings of the files' sections in their own words, where the question asks for a summary; else empty."""
    if not _ASKS_SUMMARY.fullmatch(question.strip()):
        return ""
    read = [file for file in files if not file.unread and file.text.strip()]
    share = _SUMMARY // max(1, len(read))
    return "\n\n".join(f"From *{file.author}*:\n\n{_beginnings(file.text, share)}" for file in read)


def _beginnings(text: str, most: int) -> str:
    """The first sentence of each paragraph, as many as fit, and at least one."""
    first = [found[0] for paragraph in re.split(r"\n\s*\n", text) if (found := sentences(paragraph.strip()))]
    kept, left = first[:1], most - len(first[0]) if first else 0
    for sentence in first[1:]:
        if (left := left - len(sentence)) < 0:
            break
        kept.append(sentence)
    return "\n\n".join(kept)


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
