"""A file whose bytes are at hand, on its way into a base."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileContent:
    """``source`` names it within its base, as ``Document.source`` does; by ``name`` its format is recognised."""

    source: str
    name: str
    data: bytes
