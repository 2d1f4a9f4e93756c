"""Files that are dropped on the page: read one after the other, so that no more than one is in memory."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from aiohttp import BodyPartReader, web

from adapters.web.routing import MULTIPART
from core.model.file_content import FileContent
from core.model.plain_text import remove_controls
from core.service.kb.commands import MOST_FILES

LARGEST = 25 * 2**20  # bytes of one file, as in chat
_CHUNK = 256 * 1024
_LONGEST_NAME = 150
_LONGEST_FIELD = 2_000


@dataclass(slots=True)
class Upload:
    """A form with files. Its other fields come before them; ``refused`` says which files were left out, and why."""

    request: web.Request
    fields: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    longest_field: int = _LONGEST_FIELD  # bytes; what is longer is cut
    _first: BodyPartReader | None = None
    _taken: int = 0

    async def read_fields(self) -> None:
        """Everything up to the first file."""
        while (part := await self._next()) is not None:
            if part.filename is not None:
                self._first = part
                return
            value = bytearray()
            while len(value) < self.longest_field and (chunk := await part.read_chunk(self.longest_field)):
                value += chunk
            self.fields[part.name or ""] = value[: self.longest_field].decode(errors="replace").strip()

    async def files(self) -> AsyncIterator[FileContent]:
        """(source, name, bytes) of each file that is taken."""
        part = self._first
        while part is not None:
            name = file_name(part.filename or "")
            data = await self._data(part, name) if name else None
            if data is not None:
                self._taken += 1
                yield FileContent(name, name, data)
            part = await self._next()

    async def _next(self) -> BodyPartReader | None:
        reader = self.request.get(MULTIPART)
        if reader is None:
            reader = self.request[MULTIPART] = await self.request.multipart()
        part = await reader.next()
        return part if isinstance(part, BodyPartReader) else None

    async def _data(self, part: BodyPartReader, name: str) -> bytes | None:
        """A file's bytes; None where it is left out, which is then said. Its rest is read and thrown away."""
        why = f"{name} is left out: at most {MOST_FILES} files at once." if self._taken >= MOST_FILES else ""
        data = bytearray()
        while chunk := await part.read_chunk(_CHUNK):
            if not why:
                data += chunk
            if len(data) > LARGEST:
                why = f"{name} is left out: it is larger than {LARGEST // 2**20} MB. Add it in parts."
                data.clear()
        if why:
            self.refused.append(why)
        return None if why else bytes(data)


def file_name(given: str) -> str:
    """A file's name without any folder, whatever the browser sent."""
    plain = remove_controls(given).replace("\\", "/")
    return PurePosixPath(plain).name[-_LONGEST_NAME:].strip()
