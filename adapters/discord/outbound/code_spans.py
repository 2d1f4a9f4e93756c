"""Where code stands in Discord's Markdown, as far as every reader of it must agree.

In code nothing is a link, so that a command can be copied as it is. A reader that sees the code elsewhere would make a
link of what we left alone. So this is strict: where anything could be read in two ways, there is no code at all.
"""

import re

_FENCE = re.compile(r"```[\w+.#-]*\Z")
_STYLES = frozenset("*_~|")

Span = tuple[int, int]


def code_spans(text: str) -> list[Span]:
    """The start and the end of each piece of code, in order; nothing where it is not certain.

    Fences are lines of their own at the left edge; spans begin and end on one line, with single backticks; no style
    could begin before a piece and end in it, and no label end in it.
    """
    spans = _fences_and_spans(text)
    styles = set[str]()
    last = 0
    for start, end in spans or ():
        styles |= _STYLES.intersection(text[last:start])
        if styles.intersection(text[start:end]) or "](" in text[start:end]:
            return []
        last = end
    return spans or []


def _fences_and_spans(text: str) -> list[Span] | None:
    """Fences and spans in order; None when a line could be read in another way."""
    spans: list[Span] = []
    opened, position = -1, 0
    for line in text.split("\n"):
        if opened >= 0 and line == "```":
            if not text[opened:position].partition("\n")[2].strip():
                return None  # an empty fence ends elsewhere for Discord
            spans.append((opened, position + len(line)))
            opened = -1
        elif opened < 0 and _FENCE.match(line):
            opened = position
        elif "```" in line or "~~~" in line:
            return None
        elif opened < 0:
            found = _inline_spans(line, position)
            if found is None:
                return None
            spans += found
        position += len(line) + 1
    return None if opened >= 0 else spans


def _inline_spans(line: str, position: int) -> list[Span] | None:
    """The code spans of a line that starts at this position; None when they could be read in another way."""
    ticks = [n for n, character in enumerate(line) if character == "`"]
    pairs = list(zip(ticks[::2], ticks[1::2], strict=False))
    uncertain = len(ticks) % 2 or "``" in line or "\\`" in line
    if uncertain or any(not line[start + 1 : end].strip() for start, end in pairs):
        return None
    return [(position + start, position + end + 1) for start, end in pairs]
