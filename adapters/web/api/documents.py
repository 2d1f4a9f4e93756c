"""/v1/documents: API clients add, list, replace and delete their own documents, and follow the jobs."""

from dataclasses import dataclass

from aiohttp import web

from adapters.web.access.forms import FormPart, MultipartForm
from adapters.web.api.requests import body_of, send, too_large
from adapters.web.api.schemas import (
    AddDocumentRequest,
    DocumentDeletedReply,
    DocumentFields,
    DocumentReply,
    DocumentsQuery,
    DocumentsReply,
    JobReply,
    PutDocumentRequest,
)
from core.model.errors import DocumentRejected, NotFound
from core.model.jobs import Job
from core.model.knowledge import Document
from core.service.api_clients import ApiClient
from core.service.kb.commands import LARGEST_FILE
from core.service.kb.program_documents import GivenDocument, ProgramDocuments, key_of

BODY_LIMIT = LARGEST_FILE + 64 * 1024  # bytes
_MOST_PARTS = 120  # parts of a form: the file, its fields, and an audience
_MOST_FIELD = 4_000  # bytes of one field of a form


@dataclass(frozen=True, slots=True)
class DocumentEndpoints:
    """Handlers, each behind the token check."""

    documents: ProgramDocuments

    async def add(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        """Handle POST, with the key in the body."""
        if request.content_type == "multipart/form-data":
            return await self._put(request, client, await _from_form(request))
        asked = await body_of(request, AddDocumentRequest, BODY_LIMIT)
        return await self._put(request, client, _given(asked.key, asked.text.encode(), asked.name, asked))

    async def put(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        """Handle PUT, with the key in the address."""
        key = request.match_info["key"]
        if request.content_type == "multipart/form-data":
            return await self._put(request, client, await _from_form(request, key))
        asked = await body_of(request, PutDocumentRequest, BODY_LIMIT)
        return await self._put(request, client, _given(_checked(key), asked.text.encode(), asked.name, asked))

    async def _put(self, request: web.Request, client: ApiClient, given: GivenDocument) -> web.StreamResponse:
        return await send(request, job_reply(await self.documents.put(client, given), client), 202)

    async def all(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        """Handle GET: return a page of the token's own documents."""
        wanted = DocumentsQuery.model_validate(dict(request.query))
        found = await self.documents.documents(client, wanted.knowledge_base)
        found = [one for one in found if _position(*one) > wanted.cursor]
        page = found[: wanted.limit]
        return await send(
            request,
            DocumentsReply(
                documents=[document_reply(key, one) for key, one in page],
                next_cursor=_position(*page[-1]) if len(found) > len(page) else None,
            ),
        )

    async def one(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        """Return one document."""
        key = request.match_info["key"]
        found = await self.documents.document(client, key, request.query.get("knowledge_base", ""))
        return await send(request, document_reply(key, found))

    async def delete(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        """Delete one document."""
        key = request.match_info["key"]
        gone = await self.documents.remove(client, key, request.query.get("knowledge_base", ""))
        return await send(request, DocumentDeletedReply(key=key, knowledge_base=gone.knowledge_base))

    async def job(self, request: web.Request, client: ApiClient) -> web.StreamResponse:
        """Return a job."""
        return await send(request, job_reply(await self.documents.job(client, request.match_info["job"]), client))


def _position(key: str, document: Document) -> str:
    """Return the cursor of a document: text that sorts after its key and is safe in an address."""
    return f"{key}\x1f{document.knowledge_base}".encode().hex()


def _given(key: str, data: bytes, name: str, fields: DocumentFields) -> GivenDocument:
    return GivenDocument(
        key,
        data,
        name,
        fields.title,
        fields.address,
        fields.dated,
        fields.knowledge_base,
        frozenset(fields.audience),
    )


def _checked(key: str) -> str:
    """Return the key. Raises ValidationError if it is not valid."""
    return AddDocumentRequest.model_validate({"key": key, "text": "-"}).key


async def _from_form(request: web.Request, key: str = "") -> GivenDocument:
    """Return the document in a form with a ``file`` and other fields.

    Raises ValidationError, DocumentRejected if it is not a form, NotFound, HTTPRequestEntityTooLarge.
    """
    file, fields, audience = await _read_form(request)
    if file is None or not file[1]:
        raise NotFound("There is no file in this form.", remedy="Send the document as the field “file”.")
    named = {"key": key} if key else {}
    filled = {name: value for name, value in fields.items() if value}  # forms also send empty fields
    checked = AddDocumentRequest.model_validate({**filled, **named, "audience": audience, "text": "-", "name": file[0]})
    return _given(checked.key, file[1], checked.name, checked)


async def _read_form(request: web.Request) -> tuple[tuple[str, bytes] | None, dict[str, str], list[str]]:
    """Return the file by its name, the fields, and the audience."""
    fields: dict[str, str] = {}
    audience: list[str] = []
    file: tuple[str, bytes] | None = None
    parts = 0
    form = MultipartForm(request)
    while (part := await form.next()) is not None:
        parts += 1
        if parts > _MOST_PARTS or (part.name == "file" and file is not None):
            raise DocumentRejected(
                (f"A form can have one file and at most {_MOST_PARTS} parts."), remedy="Send one document."
            )
        data = await _bytes_of(form, part, LARGEST_FILE if part.name == "file" else _MOST_FIELD)
        if part.name == "file":
            file = (part.file or "", data)
        elif part.name == "audience":
            audience.append(data.decode(errors="replace"))
        else:
            fields[part.name] = data.decode(errors="replace")
    return file, fields, audience


async def _bytes_of(form: MultipartForm, part: FormPart, limit: int) -> bytes:
    data = bytearray()
    while chunk := await form.read():
        data += chunk
        if len(data) > limit:
            raise too_large(limit, f"The field “{part.name[:60]}”")
    return bytes(data)


def document_reply(key: str, document: Document) -> DocumentReply:
    """Return a document as ``/v1`` describes it."""
    return DocumentReply(
        key=key,
        knowledge_base=document.knowledge_base,
        title=document.title,
        address=document.url,
        dated=document.dated,
        added_at=document.added_at,
        version=document.version,
        passages=document.passages,
        media_type=document.media_type,
    )


def job_reply(job: Job, client: ApiClient) -> JobReply:
    """Return a job of one document as ``/v1`` describes it."""
    item = job.items[0]
    return JobReply(
        id=job.id,
        state=job.state,
        key=key_of(client, item.source),
        knowledge_base=job.base,
        stage=job.progress.stage,
        done=job.progress.done,
        total=job.progress.total,
        result=item.state,
        reason=item.reason or job.reason,
        passages=item.passages,
        notes=list(item.notes),
    )
