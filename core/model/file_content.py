"""Files on their way into a base: what they hold, what they are called there, and where they come from.

An **origin** says where a document comes from. For a file on a disk it is the installation and the absolute folder that
was named; for a file that somebody uploaded it is ``UPLOAD``. A document never replaces one of another origin. What
comes from an address or a channel has that as its source, and no origin beside it. A home of an older version knows no
origins. Origins hold absolute folders, so only the operator at the terminal may see them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

UPLOAD = "upload"  # a file without a place: one that is uploaded again under its name replaces the earlier one


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file whose bytes are at hand. Its format is recognised by ``name``.

    ``source`` names it within its base, as ``Document.source`` does.
    """

    source: str
    name: str
    data: bytes
    origin: str = UPLOAD


class LocalFile(NamedTuple):
    """A file on a disk, and the folder that was named to find it; ``root`` is ``path`` for a file named by itself."""

    path: Path
    root: Path


class NamedFile(NamedTuple):
    """A file on a disk with its source in one base."""

    path: Path
    source: str
    origin: str = UPLOAD


def folder_origin(installation: str, folder: str) -> str:
    """The origin of what was found in this absolute folder of this installation."""
    return f"{installation}:{folder}"


def folder_of(origin: str) -> str:
    """The absolute folder, or the file named by itself, of an origin; empty for what comes from no folder."""
    return origin.partition(":")[2]
