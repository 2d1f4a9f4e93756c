"""Data on disk for the setup: the data directory's ``.env``, and folders to read."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import dotenv

from adapters.documents.folders import find_refused_files, local_files
from bot.settings import env_files
from core.model.document_content import FileContent, LocalFile, NamedFile
from core.model.errors import ConfigurationError, DocumentRejected, NotFound

_OWNER_ALONE = 0o600


class SavedSettings:
    """Settings by name, wherever they are set. New values go into the data directory's ``.env``."""

    def __init__(self, home: Path) -> None:
        self.file = home / ".env"

    def value(self, name: str) -> str:
        """Return the value in force: the environment's, the working directory's or our file's; otherwise empty."""
        return self._find(name)[0]

    def origin(self, name: str) -> str:
        """Return where a setting is set, for a person; empty if it is not."""
        return self._find(name)[1]

    def can_save(self, name: str) -> bool:
        """Return whether a value written to the file would apply, because no source that overrides it is set."""
        return self.origin(name) in {"", str(self.file)}

    def save(self, name: str, value: str) -> None:
        """Set a value and leave all other lines unchanged. Raises ConfigurationError if the file cannot be written."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(self.file, os.O_WRONLY | os.O_CREAT, _OWNER_ALONE))
            self.file.chmod(_OWNER_ALONE)  # before there is a secret in it
            dotenv.set_key(self.file, name, value, quote_mode="never")  # the form that every reader of .env accepts
            self.file.chmod(_OWNER_ALONE)
        except OSError as error:
            raise ConfigurationError(
                f"{self.file} cannot be written: {error.strerror}.",
                remedy="Set FOOTNOTE_HOME to a folder that is writable and has free space.",
            ) from None

    def _find(self, name: str) -> tuple[str, str]:
        if value := os.environ.get(name):
            return value, "the environment"
        for path in reversed(env_files()):
            if path.is_file() and (value := dotenv.dotenv_values(path, interpolate=False).get(name)):
                return value, str(path)
        return "", ""


MOST = 500  # files in one job


class FilesOnDisk:
    """The ``LocalFiles`` found on disk."""

    def __init__(self, files: Sequence[LocalFile], refused: Sequence[str]) -> None:
        self._files = files
        self._refused = list(refused)

    @property
    def refused_files(self) -> Sequence[str]:
        """The files left out, one line each."""
        return self._refused

    @property
    def files(self) -> Sequence[LocalFile]:
        """The files found. Their sources still have to be derived from their paths."""
        return self._files

    async def read(self, files: Sequence[NamedFile]) -> AsyncIterator[FileContent]:
        """Yield one file after another, because together they may exceed the memory."""
        for path, source, origin in files:
            try:
                data = await asyncio.to_thread(path.read_bytes)
            except OSError as error:
                self._refused.append(f"{source} is left out: it cannot be read: {error.strerror or error}.")
            else:
                yield FileContent(source, path.name, data, origin)


def files_on_disk(named: str) -> FilesOnDisk:
    """Return the files at a path. Blocks on the disk, so run it in a thread.

    Raises NotFound if nothing there can be read, and DocumentRejected for more than MOST files.
    """
    path = Path(named.strip().strip("\"'")).expanduser()
    if not named.strip() or not path.exists():
        raise NotFound(f"There is no file or folder {path}.", remedy="Enter the full path, which begins with / or ~.")
    files = local_files([path])
    refused = [f"{one.source} is left out: {one.reason}" for one in find_refused_files([path])]
    if not files:
        raise NotFound(f"There is no readable file in {path}.", remedy="Name another folder.")
    if len(files) > MOST:
        many = f"There are {len(files):,} files in {path}, but at most {MOST:,} are read at once."
        raise DocumentRejected(many, remedy="footnote ingest reads any number.")
    return FilesOnDisk(files, refused)
