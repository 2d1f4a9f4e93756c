"""Pages of documents as pictures, with the places where a quote stands."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a picture, in pixels from its upper left corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PagePicture:
    """One page as a PNG. ``marks`` are where the quote stands, line by line; none where it is not found there."""

    png: bytes
    width: int
    height: int
    pages: int  # of the whole document
    marks: tuple[Box, ...] = ()


class PagePictures(Protocol):
    """Draws pages of untrusted files."""

    async def draw(self, name: str, data: bytes, page: int, quote: str = "") -> PagePicture:
        """One page, counted from 1. Raises DocumentRejected with the reason why it cannot be drawn."""
