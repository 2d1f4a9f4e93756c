"""Text recognition (OCR): the text of a page image in reading order, its confidence and its language.

rapidocr runs PP-OCRv6 with the models from its own package, so nothing is downloaded. It reads Latin letters with
accents, Chinese and Japanese. Other scripts come out as dots or look-alike letters with high confidence
(docs/measurements.md). It runs in the sandbox process.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from adapters.documents.page_images import page_image
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

if TYPE_CHECKING:
    import numpy as np

READ = frozenset(("Latin letters", "Chinese", "Japanese"))
"""The scripts that the model reads."""

_SCRIPTS = {
    "LATIN": "Latin letters", "CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean",
    "CYRILLIC": "Cyrillic letters", "GREEK": "Greek letters", "ARABIC": "Arabic letters", "HEBREW": "Hebrew letters",
    "DEVANAGARI": "Devanagari", "THAI": "Thai letters",
}  # fmt: skip
_COMMON_WORDS = {
    "English": "the of and to in is for that with are by on this be from not or at as it",
    "German": "der die und das von den zu mit im ist für auf ein eine dem nicht des werden sich oder",
    "French": "le la les et des de du est en pour que une un dans sur au par pas ou avec",
    "Spanish": "el la los las y de del que en por para una un con se es no al o su",
    "Italian": "il la di che e per un una in del della con i le non si da sono gli al",
    "Portuguese": "o a os as e de do da que em para um uma com não por se no na ao",
    "Dutch": "de het een en van in is op te dat voor met zijn door niet aan worden of bij die",
    "Swedish": "och att det som en på är av för med den till inte om ett har i eller vid från",
    "Danish": "og at det som en på er af for med den til ikke om et har i eller ved fra",
    "Polish": "i w na z do jest się nie że dla od przez są oraz o po lub być ma jak",
    "Czech": "a v na se je že s z do o pro od jsou k by nebo při za po být",
    "Turkish": "ve bir bu için ile da de olarak daha olan en çok veya gibi kadar ise her sonra göre değil",
}
_COMMON = {language: frozenset(words.split()) for language, words in _COMMON_WORDS.items()}
MIN_SHARE = 0.1
"""Minimum share of common words. Prose has a quarter to a half, lists and forms less."""


def script_of(text: str) -> str:
    """Return the script of most letters of a text, or 'digits and signs' if it has no letters."""
    found: Counter[str] = Counter()
    for letter in text[:5_000]:
        if letter.isalpha():
            found[_SCRIPTS.get(unicodedata.name(letter, "").split(" ")[0].partition("-")[0], "other letters")] += 1
    if found["Japanese"] and found["Japanese"] + found["Chinese"] > found.total() / 2:
        return "Japanese"  # Japanese text contains Chinese characters too
    return found.most_common(1)[0][0] if found else "digits and signs"


def language_of(text: str) -> str:
    """Return the language of a text by its common words, or the script if that is undecided."""
    script = script_of(text)
    if script != "Latin letters":
        return script
    words = re.findall(r"[^\W\d_]+", text.lower())
    shares = {name: sum(word in common for word in words) / len(words) for name, common in _COMMON.items()}
    best, second = sorted(shares, key=shares.__getitem__, reverse=True)[:2]
    return best if shares[best] >= MIN_SHARE and shares[best] > shares[second] else script


MIN_CONFIDENCE = 0.8
"""Minimum mean confidence; below it a page is noise. Readable pages reach .9 and more (docs/measurements.md)."""

MIN_CHARACTERS = 3  # letters and digits
MIN_DENSITY = 1.0
"""Characters per line height: 2.4 and more for Latin letters, 0.05 to 0.8 for unknown scripts."""

MAX_SPARSE = 0.25
"""Maximum share of the line length that may be below MIN_DENSITY."""

THREADS = 2


@dataclass(frozen=True, slots=True)
class TextLine:
    """A recognized line and its upright bounding box, in pixels from the top left corner."""

    text: str
    confidence: float
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """Height of the box in pixels."""
        return self.bottom - self.top

    @property
    def density(self) -> float:
        """Characters per line height; a wide character (Chinese) counts as two."""
        wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in self.text)
        return (len(self.text) + wide) * self.height / max(self.right - self.left, 1.0)


def read_page(_name: str, data: bytes, page: int) -> ParsedDocument:
    """Return one page as one block, labelled with its confidence; the notes hold the language.

    Raises:
        DocumentRejected: no text on it (NoText), or text too uncertain or in an unknown script.
    """
    lines = recognize(page_image(data, page))
    characters = sum(len(line.text) for line in lines)
    if characters == 0:
        raise NoText("There is no text in this picture.")
    _refuse_unknown_letters(lines)
    if sum(sign.isalnum() for line in lines for sign in line.text) < MIN_CHARACTERS:
        raise NoText("There is no text in this picture.")
    confidence = sum(line.confidence * len(line.text) for line in lines) / characters
    if confidence < MIN_CONFIDENCE:
        raise DocumentRejected(
            f"Text recognition is only {confidence:.0%} sure of this text, which is not enough.",
            remedy="Scan it again at 300 dpi or more.",
        )
    text = markdown(lines)
    sure = f"{min(confidence, 0.99):.0%} sure"
    return ParsedDocument(
        title="",
        blocks=(Block(text, page=page, label=f"read by OCR, {sure}"),),
        media_type="",
        notes=(f"{language_of(text)}, {sure}",),
    )


def _refuse_unknown_letters(lines: list[TextLine]) -> None:
    """Raise DocumentRejected if most of the page is in a script that the model does not know."""
    long = [line for line in lines if line.right - line.left > 4 * line.height]
    length = sum(line.right - line.left for line in long)
    sparse = sum(line.right - line.left for line in long if line.density < MIN_DENSITY)
    script = script_of(" ".join(line.text for line in lines))
    known = script in READ or script == "digits and signs"
    if not known or sparse > MAX_SPARSE * length:
        what = f"in {script}" if not known else "in letters of another kind"
        raise DocumentRejected(
            f"Most of this page is {what}, which text recognition (OCR) does not read.",
            remedy="OCR reads Latin letters, Chinese and Japanese. Add a version of the document that contains text.",
        )


def recognize(image: "np.ndarray") -> list[TextLine]:
    """Return the lines of an image (uint8, H x W x 3, RGB), in any order."""
    found = _engine()(image[:, :, ::-1])
    if found.boxes is None or not found.txts:
        return []
    lines = []
    for box, text, confidence in zip(found.boxes, found.txts, found.scores, strict=True):
        (left, top), (right, bottom) = box.min(axis=0), box.max(axis=0)
        if clean := " ".join(text.split()):
            lines.append(TextLine(clean, float(confidence), float(left), float(top), float(right), float(bottom)))
    return lines


@cache
def _engine() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": THREADS,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def markdown(lines: list[TextLine]) -> str:
    """Return the lines as paragraphs: column by column, each row from left to right."""
    paragraphs: list[str] = []
    for column in _columns(lines):
        last: list[TextLine] = []
        for row in _rows(column):
            text = "  ".join(line.text for line in row)
            gap = min(line.top for line in row) - max((line.bottom for line in last), default=float("-inf"))
            if paragraphs and last and gap < 0.8 * min(line.height for line in row):
                paragraphs[-1] += f"\n{text}"
            else:
                paragraphs.append(text)
            last = row
    escaped = (re.sub(r"(?m)^(#{1,6}\s|```|~~~)", r"\\\1", text) for text in paragraphs)
    return "\n\n".join(escaped)


def _columns(lines: list[TextLine], depth: int = 0) -> list[list[TextLine]]:
    """Split at continuous white space: the page into columns of prose, otherwise into bands, recursively."""
    if len(lines) < 4 or depth > 6:
        return [lines] if lines else []
    height = sorted(line.height for line in lines)[len(lines) // 2]
    sides = _split_at_gaps(lines, "left", "right", 1.5 * height)
    if len(sides) > 1 and all(len(side) >= 3 and _is_prose(side) for side in sides):
        return [column for side in sides for column in _columns(side, depth + 1)]
    bands = _split_at_gaps(lines, "top", "bottom", 1.2 * height)
    if len(bands) > 1:
        return [column for band in bands for column in _columns(band, depth + 1)]
    return [lines]


def _is_prose(lines: list[TextLine]) -> bool:
    """Return whether these lines are running text rather than the cells of a table column."""
    return sum(len(line.text.split()) >= 3 for line in lines) > len(lines) / 2


def _split_at_gaps(lines: list[TextLine], begin: str, end: str, gap: float) -> list[list[TextLine]]:
    parts: list[list[TextLine]] = []
    reach = float("-inf")
    for line in sorted(lines, key=lambda one: float(getattr(one, begin))):
        if parts and getattr(line, begin) - reach < gap:
            parts[-1].append(line)
        else:
            parts.append([line])
        reach = max(reach, getattr(line, end))
    return parts


def _rows(lines: list[TextLine]) -> list[list[TextLine]]:
    """Group lines whose vertical centres match into rows, each from left to right."""
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda one: one.top + one.bottom):
        before = rows[-1][0] if rows else None
        if before is not None and abs(line.top + line.bottom - before.top - before.bottom) < before.height:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda one: one.left) for row in rows]
