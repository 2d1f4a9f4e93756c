"""A folder of this machine, or one file, to be read in: by the same rules as ``footnote ingest``."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from adapters.documents.folders import find_refused_files, local_files
from core.model.document_content import FileContent, LocalFile, NamedFile
from core.model.errors import DocumentRejected, NotFound

MOST = 500  # files of one job


class FilesOnDisk:
    """``LocalFiles`` that were found."""

    def __init__(self, files: Sequence[LocalFile], refused: Sequence[str]) -> None:
        self._files = files
        self._refused = list(refused)

    @property
    def refused_files(self) -> Sequence[str]:
        """What was left out, one line each."""
        return self._refused

    @property
    def files(self) -> Sequence[LocalFile]:
        """What was found, to be named by where it comes from."""
        return self._files

    async def read(self, files: Sequence[NamedFile]) -> AsyncIterator[FileContent]:
        """One after the other: together they may be more than there is memory."""
        for path, source, origin in files:
            try:
                data = await asyncio.to_thread(path.read_bytes)
            except OSError as error:
                self._refused.append(f"{source} is left out: it cannot be read: {error.strerror or error}.")
            else:
                yield FileContent(source, path.name, data, origin)


def files_on_disk(named: str) -> FilesOnDisk:
    """What lies there. It looks at the disk: for a thread.

    Raises NotFound where there is nothing that could be read, and DocumentRejected for more than MOST files.
    """
    path = Path(named.strip().strip("\"'")).expanduser()
    if not named.strip() or not path.exists():
        raise NotFound(f"There is no file or folder {path}.", remedy="Its whole path begins with / or ~.")
    files = local_files([path])
    refused = [f"{one.source} is left out: {one.reason}" for one in find_refused_files([path])]
    if not files:
        raise NotFound(f"There is no file in {path} that can be read.", remedy="Name another folder.")
    if len(files) > MOST:
        many = f"There are {len(files):,} files in {path}, and here at most {MOST:,} are read at once."
        raise DocumentRejected(many, remedy="footnote ingest reads any number.")
    return FilesOnDisk(files, refused)
