"""Long Markdown into pieces that fit a platform's messages, without breaking what has to stay whole.

A code fence that is cut is closed and opened again; a citation marker, a link, an escaped character is never cut.
Joined and with the added fence lines removed, the pieces are the text: nothing is lost, nothing is said twice.
"""

import re

_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)$")
# What may not be cut: a run of citation markers, a Markdown link, an inline code span, a character entity.
_WHOLE = re.compile(r"(?:\s?\[\d{1,4}\])+|\[[^\]\n]{0,300}\]\([^)\s]{1,2000}\)|`[^`\n]{1,200}`|&[a-z]{2,6};")
# Where to cut, the best first: a paragraph, a line, a sentence, a word.
_SEAMS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?…])(?:\s?\[\d{1,4}\])*\s+"),
    re.compile(r"\s+"),
)
_LEAST_SHARE = 0.5  # a better seam is taken only where the piece stays at least half full


def split_markdown(text: str, limit: int) -> tuple[str, ...]:
    """``text`` in pieces of at most ``limit`` characters each; one empty piece for an empty text.

    Raises ValueError when ``limit`` leaves no room for a fence and a line in it.
    """
    if limit < 80:
        raise ValueError("A piece needs room for at least 80 characters.")
    pieces: list[str] = []
    rest, reopen = text.strip("\n"), ""
    while len(reopen) + len(rest) > limit:
        room = limit - len(reopen)
        cut = _cut(rest, room)
        fence = _open_fence(reopen + rest[:cut])
        if fence:
            closing = "\n" + _mark(fence)
            cut = _cut(rest, room - len(closing))
            fence = _open_fence(reopen + rest[:cut])
        piece = (reopen + rest[:cut]).rstrip()
        pieces.append(piece + "\n" + _mark(fence) if fence else piece)
        rest = rest[cut:].lstrip("\n") if fence else rest[cut:].lstrip()
        reopen = fence + "\n" if fence else ""
    pieces.append(reopen + rest)
    return tuple(pieces)


def _cut(text: str, room: int) -> int:
    """Where to end a piece of at most ``room`` characters; more than 0."""
    if len(text) <= room:
        return len(text)
    for seam in _SEAMS:
        ends = [match.end() for match in seam.finditer(text, 0, room + 1) if match.start() <= room]
        good = [min(end, room) for end in ends if end >= room * _LEAST_SHARE and not _inside(text, min(end, room))]
        if good:
            return good[-1]
    around = _inside(text, room)
    return around[0] if around and around[0] > 0 else max(1, room)


def _inside(text: str, position: int) -> tuple[int, int] | None:
    """The stretch around this position that has to stay whole, if there is one."""
    start = max(0, position - 2400)
    for match in _WHOLE.finditer(text, start, position + 2400):
        first = match.start() - text[match.start()].isspace()  # a marker stays with the word before it
        if first < position < match.end():
            return match.span()
        if match.start() >= position:
            break
    return None


def _open_fence(text: str) -> str:
    """The line that opened the fence in which ``text`` ends; empty when it ends outside one."""
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
