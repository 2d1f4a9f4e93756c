"""WebVTT and SRT: cues joined to paragraphs by speaker, in sections that are cited by time.

A cue is what fits on a screen, not a sentence. Consecutive cues of one speaker form one paragraph.
"""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from adapters.documents.encodings import decode
from adapters.documents.format import Format
from adapters.documents.titles import choose_title
from core.model.document_content import Block, ParsedDocument
from core.model.errors import NoText

MAX_CUES = 100_000
STRETCH_CHARS = 900
"""Length of speech that is cited together: about a minute."""

PAUSE = 6.0
"""Seconds of silence that end a paragraph after a complete sentence."""

LONG_PAUSE = 120.0
"""Seconds of silence that end any paragraph."""

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMING = re.compile(rf"^\s*{_TIME}\s*-->\s*{_TIME}")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]{1,80})>")
_TAG = re.compile(r"</?(?:[a-z][^<>]{0,100}|\d[\d:.]*)?>|\{\\[^{}]{0,100}\}", re.IGNORECASE)
_NAMED = re.compile(r"^(?:>>\s*)?([A-ZÀ-Þ][\w .'’()-]{0,40}?):\s+(?=\S)")
_ANOTHER = "\n"
"""Marker for an unnamed speaker who differs from the previous one."""

_ENDS = re.compile(r"[.!?…][\"'”’)]*$")


_Cue = tuple[float, float, int, list[str]]
"""Start and end in seconds, the line from 1, and the lines of text."""


@dataclass(slots=True)
class _Turn:
    """Uninterrupted speech of one person: start and end in seconds, and first line."""

    speaker: str
    start: float
    end: float
    line: int
    words: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text, prefixed with the speaker's name."""
        said = " ".join(self.words)
        return f"{self.speaker}: {said}" if self.speaker else said


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the speech in paragraphs by speaker, in sections with their times."""
    lines = decode(data).split("\n")
    cues = list(islice(_cues(lines, blank_ends=lines[0].lstrip("\ufeff").startswith("WEBVTT")), MAX_CUES + 1))
    turns = [turn for turn in _turns(cues[:MAX_CUES], voiced=any("<v" in line for line in lines)) if turn.words]
    if not turns:
        raise NoText("There is no speech in this transcript.")
    title = re.match(r"WEBVTT\s+(?:-\s*)?(\S.{2,150})", lines[0].lstrip("\ufeff"))
    return ParsedDocument(
        title=choose_title(name, title[1] if title else None),
        blocks=tuple(_blocks(turns)),
        media_type="text/vtt",
        notes=(f"only the first {MAX_CUES:,} cues were read",) if len(cues) > MAX_CUES else (),
    )


def _turns(cues: Iterable[_Cue], *, voiced: bool) -> Iterator[_Turn]:
    """Yield paragraphs by speaker or pause; if ``voiced``, a cue without a name has an unknown speaker."""
    turn: _Turn | None = None
    for start, end, number, words in cues:
        for speaker, said in _voices(words, "" if voiced else None):
            if turn is None or _begins(turn, speaker, start):
                if turn is not None:
                    yield turn
                turn = _Turn((speaker or "").strip(), start, end, number)
            if not (turn.words and turn.words[-1] == said):  # scrolling captions repeat their last line
                turn.words.append(said)
            turn.end = max(turn.end, end)
    if turn is not None:
        yield turn


def _begins(turn: _Turn, speaker: str | None, start: float) -> bool:
    """Return whether a cue begins a new paragraph: another speaker, a pause, or long speech before."""
    if speaker == _ANOTHER or (speaker is not None and speaker != turn.speaker):
        return True
    length = sum(map(len, turn.words))
    ended = bool(turn.words and _ENDS.search(turn.words[-1]))
    silence = start - turn.end
    rested = silence > (PAUSE if ended else LONG_PAUSE)
    return rested or (ended and length > STRETCH_CHARS // 2) or length > 3 * STRETCH_CHARS


def _cues(lines: list[str], *, blank_ends: bool) -> Iterator[_Cue]:
    """Yield the cues without comments, styles and numbers; a blank line ends a WebVTT cue, but not every SRT cue."""
    at = 0
    while at < len(lines):
        timing = _TIMING.match(lines[at])
        at += 1
        if not timing:
            continue
        first, words = at, list[str]()
        while at < len(lines) and (lines[at].strip() or not blank_ends) and not _TIMING.match(lines[at]):
            words += [lines[at].strip()] if lines[at].strip() else []
            at += 1
        if at < len(lines) and _TIMING.match(lines[at]) and words and words[-1].isdigit():
            words.pop()  # the number of the next cue
        yield _seconds(timing.groups()[:4]), _seconds(timing.groups()[4:]), first, words


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0) + float(f"0.{fraction}")


def _voices(words: list[str], unnamed: str | None) -> Iterator[tuple[str | None, str]]:
    """Yield (speaker, text) of a cue; None means the previous speaker.

    Args:
        words: the lines of the cue.
        unnamed: the speaker if the cue has no name.
    """
    text = "\n".join(words)
    pieces = _VOICE.split(text)
    if said := _plain(pieces[0].replace("\n", " ")):
        named = _NAMED.match(said)
        dashed = len(words) > 1 and all(re.match(r"[-–]\s*\S", line) for line in words)
        if dashed:  # two unnamed people in one cue
            yield from ((_ANOTHER, _plain(line.lstrip("-– "))) for line in words)
        else:
            yield (named[1], said[named.end() :]) if named else (unnamed, said)
    for speaker, spoken in zip(pieces[1::2], pieces[2::2], strict=True):
        if said := _plain(spoken.replace("\n", " ")):
            yield _plain(speaker), said


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(_TAG.sub("", text))).strip()


def _blocks(turns: list[_Turn]) -> Iterator[Block]:
    """Yield turns that are cited together, labelled with their start and end times."""
    group: list[_Turn] = []
    for turn in turns:
        if group and sum(len(one.text) for one in group) + len(turn.text) > STRETCH_CHARS:
            yield _block(group)
            group = []
        group.append(turn)
    yield _block(group)


def _block(turns: list[_Turn]) -> Block:
    lines = tuple(line for turn in turns for line in (turn.line, turn.line))
    place = f"{_clock(turns[0].start)}–{_clock(turns[-1].end)}"
    return Block("\n\n".join(turn.text for turn in turns), label=place, first_line=turns[0].line, lines=lines)


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def _is_transcript(known: str | None, head: str) -> bool:
    """Return whether the text is a transcript: it has a WebVTT header or begins with a numbered cue."""
    if known not in (None, "text/plain", "text/vtt"):
        return False
    start = head.lstrip("\ufeff \n")
    return bool(re.match(r"WEBVTT(?:\s|$)", start) or re.match(rf"\d{{1,6}}[ \t]*\n{_TIME}\s*-->", start))


FORMATS = (
    Format(
        media_type="text/vtt",
        read=read,
        label="transcripts (VTT, SRT)",
        suffixes=("vtt", "srt"),
        in_text=_is_transcript,
        text_by_content=True,
        rank=1,
    ),
)
