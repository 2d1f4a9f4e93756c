"""Splitter of long Markdown into pieces that fit a platform's messages.

A code fence that is cut is closed and opened again. Citation markers, links and escaped characters are never cut.
Joining the pieces and removing the added fence lines restores the text.
"""

import re
from bisect import bisect_left

# A fence line too long to leave room for content does not count as a fence.
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,12}|~{3,12})(?P<info>[^`~\n][^`\n]{0,23}|)$")
# Never cut: a run of citation markers, a Markdown link, an inline code span, a character entity.
_WHOLE = re.compile(r"(?:\s?\[\d{1,4}\])+|\[[^\]\n]{0,300}\]\([^)\s]{1,2000}\)|`[^`\n]{1,200}`|&[a-z]{2,6};")
_LONGEST_WHOLE = 2_400  # characters
# Where to cut, the best first: a paragraph, a line, a sentence, a word.
_SEAMS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?…])(?:\s?\[\d{1,4}\])*\s+"),
    re.compile(r"\s+"),
)
_LEAST_SHARE = 0.5  # use a better seam only if the piece stays at least half full


def split_markdown(text: str, limit: int) -> tuple[str, ...]:
    """Return ``text`` in pieces of at most ``limit`` characters; one empty piece for an empty text.

    Raises ValueError when ``limit`` leaves no room for a fence and a line in it.
    """
    if limit < 80:
        raise ValueError("A piece needs room for at least 80 characters.")
    pieces: list[str] = []
    rest, reopen = text.strip("\n"), ""
    while len(reopen) + len(rest) > limit:
        room = limit - len(reopen)
        cut = _cut_position(rest, room)
        fence = _open_fence(reopen + rest[:cut])
        if fence:
            closing = "\n" + _mark(fence)
            cut = _cut_position(rest, room - len(closing))
            fence = _open_fence(reopen + rest[:cut])
        piece = (reopen + rest[:cut]).rstrip()
        pieces.append(piece + "\n" + _mark(fence) if fence else piece)
        rest = rest[cut:].lstrip("\n") if fence else rest[cut:].lstrip()
        reopen = fence + "\n" if fence else ""
    pieces.append(reopen + rest)
    return tuple(pieces)


def _cut_position(text: str, room: int) -> int:
    """Return where to end a piece of at most ``room`` characters; more than 0."""
    if len(text) <= room:
        return len(text)
    whole = _whole_stretches(text, room)
    for seam in _SEAMS:
        ends = [match.end() for match in seam.finditer(text, 0, room + 1) if match.start() <= room]
        good = [end for end in (min(one, room) for one in ends) if end >= room * _LEAST_SHARE]
        if fitting := next((end for end in reversed(good) if _inside(whole, end) is None), None):
            return fitting
    around = _inside(whole, room)
    return around[0] if around and around[0] > 0 else max(1, room)


def _whole_stretches(text: str, room: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the spans that must not be cut: where each effectively starts, and its start and end."""
    found = [match.span() for match in _WHOLE.finditer(text, 0, room + _LONGEST_WHOLE)]
    return [start - text[start].isspace() for start, _ in found], found  # a marker stays with the word before it


def _inside(whole: tuple[list[int], list[tuple[int, int]]], position: int) -> tuple[int, int] | None:
    """Return the uncuttable span around this position, or None."""
    firsts, spans = whole
    before = bisect_left(firsts, position) - 1
    return spans[before] if before >= 0 and position < spans[before][1] else None


def _open_fence(text: str) -> str:
    """Return the line that opened the fence in which ``text`` ends; empty if it ends outside one."""
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line.rstrip())
        if match is None:
            continue
        if not fence:
            fence = line.rstrip()
        elif line.strip().startswith(_mark(fence)) and not match.group("info").strip():
            fence = ""
    return fence


def _mark(fence: str) -> str:
    match = _FENCE.match(fence)
    return match.group("mark") if match else ""
