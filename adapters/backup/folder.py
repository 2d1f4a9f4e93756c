"""What a backup looks like on disk: a folder of plain files, and a manifest that is written when all of them are whole.

    backup.json          what made it, when, with which model, how much there is, and a digest of each file below
    passages.jsonl.gz    one document a line: the catalog's entry, its passages and their vectors
    memory.jsonl.gz      one key of Redis a line
    kept/, originals/    what was removed or waits to be read, and what documents were made of

A folder without its manifest is no backup: whoever died over it leaves nothing that could be taken for one.
"""

import gzip
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from core.model.errors import ConfigurationError, NotFound

FORMAT = 1
MANIFEST, PASSAGES, MEMORY = "backup.json", "passages.jsonl.gz", "memory.jsonl.gz"
_LEVEL = 3  # of gzip: vectors hardly get smaller


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself. ``files`` are SHA-256 digests by path."""

    made_at: str
    footnote: str
    model: str
    dimension: int
    schema: int  # of the data in Redis
    documents: int
    passages: int
    keys: int
    files: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT
    installation: str = ""  # whose folders its documents came from; empty where that is not known


class BackupWriter:
    """Writes one backup into an empty or new folder. Everything here blocks."""

    def __init__(self, folder: Path) -> None:
        """Raise ConfigurationError when the folder holds something, or cannot be made."""
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            taken = next(folder.iterdir(), None)
        except OSError as error:
            raise ConfigurationError(f"{folder} cannot be written: {error.strerror or error}.") from error
        if taken is not None:
            raise ConfigurationError(f"{folder} is not empty.", remedy="Name a folder of its own for each backup.")
        self._lines: dict[str, gzip.GzipFile] = {}

    def add_line(self, name: str, line: str) -> None:
        """Add a line to one of the compressed files."""
        if name not in self._lines:
            self._lines[name] = gzip.open(self._folder / name, "wb", _LEVEL)  # noqa: SIM115 - closed by ``finish``
        self._lines[name].write(line.encode() + b"\n")

    def add_file(self, name: str, data: bytes) -> None:
        """Add a file of its own."""
        path = self._folder / name
        path.parent.mkdir(exist_ok=True, mode=0o700)
        path.write_bytes(data)

    def finish(self, manifest: Manifest) -> Manifest:
        """Everything is there: the manifest, with the digests."""
        for file in self._lines.values():
            file.close()
        digests: dict[str, str] = {}
        for path in sorted(path for path in self._folder.rglob("*") if path.is_file()):
            digests[str(path.relative_to(self._folder))] = _digest(path)
            _flush(path)
        whole = Manifest(**{**asdict(manifest), "files": digests})
        told = {name: value for name, value in asdict(whole).items() if value != ""}  # what older versions do not know
        draft = self._folder / f"{MANIFEST}.draft"
        draft.write_text(json.dumps(told, indent=2), encoding="utf-8")
        _flush(draft)
        draft.replace(self._folder / MANIFEST)
        return whole


class BackupReader:
    """Reads a backup. Everything here blocks."""

    def __init__(self, folder: Path) -> None:
        """Raise NotFound when there is no backup, ConfigurationError when it is damaged or a newer Footnote's."""
        self._folder = folder
        try:
            told: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        except OSError:
            raise NotFound(
                f"{folder} is not a finished backup: it has no {MANIFEST}.",
                remedy="footnote backup makes one.",
            ) from None
        except ValueError:
            raise _damage_error(folder, MANIFEST) from None
        if int(told.get("format", 0)) > FORMAT:
            raise ConfigurationError("The backup was made by a newer Footnote.", remedy="Upgrade this one first.")
        self.manifest = Manifest(**told)

    def check(self) -> None:
        """Raise ConfigurationError unless every file is what it was."""
        for name, digest in self.manifest.files.items():
            try:
                whole = _digest(self._folder / name) == digest
            except OSError:
                whole = False
            if not whole:
                raise _damage_error(self._folder, name)

    def lines(self, name: str) -> Iterator[str]:
        """Yield the lines of one of the compressed files; none where there is no such file."""
        if name not in self.manifest.files:
            return
        with gzip.open(self._folder / name, "rt", encoding="utf-8") as file:
            yield from file

    def entries(self, below: str) -> list[str]:
        """Return the names of a sub-folder's files."""
        return [name.removeprefix(f"{below}/") for name in self.manifest.files if name.startswith(f"{below}/")]

    def read(self, below: str, entry: str) -> bytes:
        """Return the bytes of one file of the backup."""
        return (self._folder / below / entry).read_bytes()


def _damage_error(folder: Path, name: str) -> ConfigurationError:
    return ConfigurationError(
        f"The backup in {folder} is damaged: {name} has changed since it was written.", remedy="Use another one."
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
