"""Layout of a backup on disk: a folder of plain files, and a manifest that is written after all of them.

    backup.json          what made it, when, with which model, how much there is, and a digest of each file below
    passages.jsonl.gz    one document a line: the catalog's entry, its passages and their vectors
    memory.jsonl.gz      one key of Redis a line
    kept/, originals/    what was removed or waits to be read, and what documents were made of

A folder without a manifest is not a backup, so an interrupted one cannot be mistaken for a whole one.
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
_LEVEL = 3  # of gzip: vectors hardly compress


@dataclass(frozen=True, slots=True)
class Manifest:
    """Metadata of a backup. ``files`` are SHA-256 digests by path."""

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
    installation: str = ""  # the installation whose folders the documents came from; empty if unknown


class BackupWriter:
    """Writer of one backup to an empty or new folder. All calls block."""

    def __init__(self, folder: Path) -> None:
        """Raise ConfigurationError if the folder is not empty or cannot be created."""
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            taken = next(folder.iterdir(), None)
        except OSError as error:
            raise ConfigurationError(f"{folder} cannot be written: {error.strerror or error}.") from error
        if taken is not None:
            raise ConfigurationError(f"{folder} is not empty.", remedy="Use a new folder for each backup.")
        self._lines: dict[str, gzip.GzipFile] = {}

    def add_line(self, name: str, line: str) -> None:
        """Add a line to one of the compressed files."""
        if name not in self._lines:
            self._lines[name] = gzip.open(self._folder / name, "wb", _LEVEL)  # noqa: SIM115 - closed by ``finish``
        self._lines[name].write(line.encode() + b"\n")

    def add_file(self, name: str, data: bytes) -> None:
        """Add a separate file."""
        path = self._folder / name
        path.parent.mkdir(exist_ok=True, mode=0o700)
        path.write_bytes(data)

    def finish(self, manifest: Manifest) -> Manifest:
        """Write the manifest with the digests of all files, and return it."""
        for file in self._lines.values():
            file.close()
        digests: dict[str, str] = {}
        for path in sorted(path for path in self._folder.rglob("*") if path.is_file()):
            digests[str(path.relative_to(self._folder))] = _digest(path)
            _flush(path)
        whole = Manifest(**{**asdict(manifest), "files": digests})
        told = {name: value for name, value in asdict(whole).items() if value != ""}  # unknown to older versions
        draft = self._folder / f"{MANIFEST}.draft"
        draft.write_text(json.dumps(told, indent=2), encoding="utf-8")
        _flush(draft)
        draft.replace(self._folder / MANIFEST)
        return whole


class BackupReader:
    """Reader of a backup. All calls block."""

    def __init__(self, folder: Path) -> None:
        """Raise NotFound if there is no backup, ConfigurationError if it is damaged or from a newer Footnote."""
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
            raise ConfigurationError("The backup was made by a newer Footnote.", remedy="Upgrade Footnote first.")
        self.manifest = Manifest(**told)

    def check(self) -> None:
        """Raise ConfigurationError unless every file matches its digest."""
        for name, digest in self.manifest.files.items():
            try:
                whole = _digest(self._folder / name) == digest
            except OSError:
                whole = False
            if not whole:
                raise _damage_error(self._folder, name)

    def lines(self, name: str) -> Iterator[str]:
        """Yield the lines of one of the compressed files; none if there is no such file."""
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
        f"The backup in {folder} is damaged: {name} has changed since it was written.", remedy="Use another backup."
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
