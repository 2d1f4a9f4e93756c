"""Lines of styled spans, which every client can render; and the format of numbers, times and names."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Style(StrEnum):
    """The style of a span."""

    PLAIN = "plain"
    STRONG = "strong"
    CODE = "code"
    LINK = "link"  # the text is an address that may be followed
    PRINCIPAL = "principal"  # the text is a reader as grants name it: a channel, role, group or person


@dataclass(frozen=True, slots=True)
class Span:
    """Words of one style, without markup. The client escapes them."""

    text: str
    style: Style = Style.PLAIN


Line = tuple[Span, ...]


def plain(text: str) -> Span:
    """Return a span without any style."""
    return Span(text)


def strong(text: str) -> Span:
    """Return emphasized words: a title, a name."""
    return Span(text, Style.STRONG)


def code(text: str) -> Span:
    """Return an id, or something to type."""
    return Span(text, Style.CODE)


def link(address: str) -> Span:
    """Return a platform's own link to a message."""
    return Span(address, Style.LINK)


def principal(name: str) -> Span:
    """Return a reader of a base; a client shows the name that people there use."""
    return Span(name, Style.PRINCIPAL)


def line_text(line: Line) -> str:
    """Return the line's text without styles."""
    return "".join(span.text for span in line)


def count(number: int, name: str) -> str:
    """Return a number with its noun: ``3 documents``, ``1 document``."""
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def duration(time: timedelta) -> str:
    """Return a duration in its largest unit."""
    seconds = max(0, int(time.total_seconds()))
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return count(seconds // size, name)
    return count(seconds, "second")


def age(at: datetime | None, now: datetime) -> str:
    """Return how long ago a time was; empty if unknown."""
    return "" if at is None else f"{duration(now - at)} ago"
