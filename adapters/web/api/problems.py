"""Errors as programs read them: problem details (RFC 9457), one line and what to do about it."""

from http import HTTPStatus

from aiohttp import web
from pydantic import ValidationError

from adapters.web.api.schemas import Problem
from core.model.errors import BudgetExhausted, Busy, Denied, FootnoteError, NotFound, Unavailable
from core.service.api_clients import Unauthenticated

CONTENT_TYPE = "application/problem+json"
RETRY_SECONDS = 10
WENT_WRONG = "Something went wrong on my side."
_STATUS: tuple[tuple[type[FootnoteError], int], ...] = (
    (Unauthenticated, 401),
    (Denied, 403),
    (NotFound, 404),
    (Busy, 429),
    (BudgetExhausted, 429),
    (Unavailable, 503),
)
MOST_FIELDS = 5


def problem_of(error: FootnoteError) -> Problem:
    """What to tell a program about one of our errors."""
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 400)
    return problem(status, str(error.args[0]), error.remedy or "")


def invalid(error: ValidationError) -> Problem:
    """What was wrong with a request, field by field; never with what stood in it."""
    wrong = [
        f"{'.'.join(str(part) for part in one['loc']) or 'body'}: {one['msg']}"
        for one in error.errors(include_input=False, include_url=False, include_context=False)
    ]
    return problem(422, "; ".join(wrong[:MOST_FIELDS]), "GET /v1/openapi.json describes every request.")


def problem(status: int, detail: str, remedy: str = "", trace_id: str = "") -> Problem:
    """A problem without a type of its own: its title is the status's."""
    return Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, remedy=remedy, trace_id=trace_id)


def problem_response(told: Problem) -> web.Response:
    """The problem as a response."""
    headers = {"Cache-Control": "no-store"}
    if told.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="footnote"'
    if told.status in (429, 503):
        headers["Retry-After"] = str(RETRY_SECONDS)
    body = told.model_dump_json().encode()
    return web.Response(body=body, status=told.status, content_type=CONTENT_TYPE, headers=headers)
