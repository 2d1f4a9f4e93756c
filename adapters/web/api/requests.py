"""The checks of every request to /v1: its token, its typed body, and errors as problem details."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from adapters.web.api.replies import WENT_WRONG, invalid, problem, problem_of, problem_response
from adapters.web.api.schemas import Problem
from core.model.errors import FootnoteError
from core.ports.access import TokenScope
from core.service.api_clients import ApiClient, ApiClients

BODY_LIMIT = 64 * 1024  # bytes

R = TypeVar("R", bound=BaseModel)
Handler = Callable[[web.Request, ApiClient], Awaitable[web.StreamResponse]]
Respond = Callable[[Problem], web.Response]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TokenGuard:
    """Checks a request's token and scope. Every error leaves as a problem with an id that is also in the log."""

    clients: ApiClients

    def __call__(
        self, handler: Handler, scope: TokenScope, respond: Respond = problem_response
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """Return the handler behind the check. ``respond`` formats problems."""

        async def guarded(request: web.Request) -> web.StreamResponse:
            trace_id = uuid.uuid4().hex[:16]
            try:
                client = await self.clients.authenticate(bearer(request))
                client.check(scope)
                return await handler(request, client)
            except ValidationError as error:
                told = invalid(error)
            except FootnoteError as error:
                told = problem_of(error)
            except web.HTTPRequestEntityTooLarge as error:
                told = problem(413, error.text or "The body is too large.")
            except web.RequestPayloadError:
                told = problem(400, "The body arrived incomplete.")
            except (web.HTTPException, ConnectionResetError):
                raise
            except Exception:
                log.exception("api_failed", extra={"path": request.path, "trace_id": trace_id})
                told = problem(500, WENT_WRONG)
            if not told.trace_id:
                told = told.model_copy(update={"trace_id": trace_id})
                log.info("api_refused", extra={"path": request.path, "trace_id": trace_id, "status": told.status})
            return respond(told)

        return guarded


def bearer(request: web.Request) -> str:
    """Return a request's bearer token; empty if there is none."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else ""


async def body_of(request: web.Request, kind: type[R], limit: int = BODY_LIMIT) -> R:
    """Return the body parsed as ``kind``. Raises ValidationError, HTTPRequestEntityTooLarge."""
    body = bytearray()
    async for part in request.content.iter_chunked(64 * 1024):
        body += part
        if len(body) > limit:
            raise too_large(limit)
    if len(body) <= BODY_LIMIT:
        return kind.model_validate_json(bytes(body))
    return await asyncio.to_thread(lambda: kind.model_validate_json(bytes(body)))  # 25 MB take a second to parse


def too_large(limit: int, what: str = "The body") -> web.HTTPRequestEntityTooLarge:
    """Return the error for a body, or part of it, that is larger than this."""
    return web.HTTPRequestEntityTooLarge(
        max_size=limit, actual_size=limit, text=f"{what} is larger than {limit} bytes."
    )


async def send(request: web.Request, reply: BaseModel, status: int = 200) -> web.StreamResponse:
    """Send the reply before returning, so that work afterwards delays nobody."""
    if isinstance(reply, Problem):
        response = problem_response(reply)
    else:
        headers: dict[str, Any] = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        response = web.Response(
            body=reply.model_dump_json().encode(), status=status, content_type="application/json", headers=headers
        )
    await response.prepare(request)
    await response.write_eof()
    return response
