"""File uploads on the page, read one after another so that only one is in memory."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from aiohttp import web

from adapters.web.access.forms import FormPart, MultipartForm
from adapters.web.routing import MULTIPART
from core.model.document_content import FileContent
from core.model.errors import DocumentRejected
from core.model.plain_text import remove_controls
from core.service.kb.commands import MOST_FILES

LARGEST = 25 * 2**20  # bytes of one file, as in chat
_LONGEST_NAME = 150
_LONGEST_FIELD = 2_000
_MOST_FIELDS = 50  # before the first file


@dataclass(slots=True)
class Upload:
    """A form with files, after its other fields. ``refused`` says which files were left out, and why."""

    request: web.Request
    fields: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    longest_field: int = _LONGEST_FIELD  # bytes; longer fields are cut
    _first: FormPart | None = None
    _taken: int = 0

    async def read_fields(self) -> None:
        """Read the fields before the first file. Raises DocumentRejected like ``MultipartForm``."""
        form = self._form()
        for _ in range(_MOST_FIELDS):
            part = await form.next()
            if part is None or part.file is not None:
                self._first = part
                return
            self.fields[part.name] = (await form.read_text(self.longest_field)).strip()
        raise DocumentRejected(f"This form has over {_MOST_FIELDS} fields.", remedy="Send the files alone.")

    async def files(self) -> AsyncIterator[FileContent]:
        """Yield each accepted file."""
        form, part = self._form(), self._first
        while part is not None:
            name = file_name(part.file or "")
            data = await self._data(form, name) if name else None
            if data is not None:
                self._taken += 1
                yield FileContent(name, name, data)
            part = await form.next()

    def _form(self) -> MultipartForm:
        """Return the form, which the guard has begun to read unless the CSRF token came in a header."""
        if MULTIPART not in self.request:
            self.request[MULTIPART] = MultipartForm(self.request)
        return self.request[MULTIPART]

    async def _data(self, form: MultipartForm, name: str) -> bytes | None:
        """Return a file's bytes; None if it is left out, which is recorded. Its rest is read and discarded."""
        why = f"{name} is left out: at most {MOST_FILES} files at once." if self._taken >= MOST_FILES else ""
        data = bytearray()
        while chunk := await form.read():
            if not why:
                data += chunk
            if len(data) > LARGEST:
                why = f"{name} is left out: it is larger than {LARGEST // 2**20} MB. Add it in parts."
                data.clear()
        if why:
            self.refused.append(why)
        return None if why else bytes(data)


def file_name(given: str) -> str:
    """Return a file's name without folders, whatever the browser sent."""
    plain = remove_controls(given).replace("\\", "/")
    return PurePosixPath(plain).name[-_LONGEST_NAME:].strip()
