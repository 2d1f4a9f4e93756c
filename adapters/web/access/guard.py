"""The guard around every route: checks requests before a screen sees them, and adds headers to responses.

The Host must be ours and there must be a session. A change must come from our own page, as shown by its Origin and the
session's CSRF token. Errors become one line with a remedy.
"""

import asyncio
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler as PlainHandler

from adapters.web.access.forms import KIND, MultipartForm, read_form
from adapters.web.access.rules import AccessRules, audience_of
from adapters.web.pages import SECURITY_HEADERS, Pages, wants_part
from adapters.web.routing import MULTIPART, Right, Route, Visitor
from core.model.errors import (
    WENT_WRONG,
    Busy,
    Denied,
    DocumentRejected,
    FootnoteError,
    NotFound,
    PlatformUnavailable,
    Unavailable,
)
from core.ports.access import Audit, SignInMethod, WebSession, WebSessions
from core.ports.platform import Platform

COOKIE = "footnote"
VISITOR = web.RequestKey("visitor", Visitor)
CSRF_FIELD, CSRF_HEADER = "csrf", "X-CSRF-Token"
_HEADINGS = {403: "Access denied", 404: "Not found", 405: "Not found", 429: "Too many requests"}
CHANGES_A_MINUTE = 120
RIGHTS_SECONDS = 10.0  # for checking whether someone is still an admin in their chat
_MINUTE = 60
_STATUS: tuple[tuple[type[FootnoteError], int], ...] = (
    (NotFound, 404),
    (Denied, 403),
    (Busy, 429),
    (DocumentRejected, 422),
    (Unavailable, 503),
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Guard:
    """Guard of every route of the page. ``chats`` are the platforms of this process."""

    rules: AccessRules
    sessions: WebSessions
    audit: Audit
    pages: Pages
    chats: Sequence[Platform] = ()

    def protect(self, route: Route) -> web.RouteDef:
        """Return the route for the server, open only to visitors with its permission."""

        async def guarded_handler(request: web.Request) -> web.StreamResponse:
            return await self._handle(request, route)

        return web.route(route.method, route.path, self.outermost(guarded_handler))

    def outermost(self, handler: PlainHandler) -> "PlainHandler":
        """Return a handler whose errors become one line, and whose responses have our headers."""

        async def guarded_handler(request: web.Request) -> web.StreamResponse:
            try:
                self.rules.check_host(request.host)
                response = await handler(request)
            except web.HTTPException as error:
                response = error if error.status < 400 else self.respond(request, _reason(error), error.status)
            except web.RequestPayloadError:
                response = self.respond(request, "The request arrived incomplete.", 400)
            except FootnoteError as error:
                status = next((status for kind, status in _STATUS if isinstance(error, kind)), 400)
                response = self.respond(request, str(error), status)
            except Exception:
                log.exception("page_failed", path=request.path)
                response = self.respond(request, WENT_WRONG, 500)
            if not response.prepared:
                response.headers.update(SECURITY_HEADERS)
            if isinstance(response, web.HTTPException):
                raise response
            return response

        return guarded_handler

    def respond(self, request: web.Request, message: str, status: int) -> web.Response:
        """Return one line that says what is wrong, as a page or part of a page."""
        if wants_part(request):
            response = self.pages.part("_error.html", message=message)
            response.set_status(status)
            response.headers.update({"HX-Retarget": "#notice", "HX-Reswap": "innerHTML"})
            return response
        heading = "Something went wrong" if status >= 500 else _HEADINGS.get(status, "That did not work")
        visitor = request.get(VISITOR)
        return self.pages.html(request, visitor, "error.html", heading=heading, message=message, status=status)

    async def not_found(self, request: web.Request) -> web.StreamResponse:
        """Raise NotFound for this address, with the menu if someone is signed in."""
        session = (await self._session(request))[1]
        if session is not None:
            request[VISITOR] = _visitor(session)
        raise NotFound("There is no page at this address.", remedy="Check the address, or go to the start page.")

    async def session(self, request: web.Request) -> WebSession | None:
        """Return the browser's current session."""
        return (await self._session(request))[1]

    async def _handle(self, request: web.Request, route: Route) -> web.StreamResponse:
        token, session = await self._session(request)
        if session is None:
            return _to_sign_in(request)
        visitor = _visitor(session)
        request[VISITOR] = visitor
        if not visitor.may(route.right):
            await self.audit.record(session.person.id, f"page {route.path}", request.path, allowed=False)
            raise _denied(route.right, visitor)
        if request.method not in ("GET", "HEAD"):
            await self._check_change(request, visitor)
        response = await route.handler(request, visitor)
        if token and not response.prepared:
            self.set_cookie(response, token)
        return response

    async def _session(self, request: web.Request) -> tuple[str, WebSession | None]:
        """Return the session, and its token if the browser needs a new cookie."""
        token = request.cookies.get(COOKIE, "")
        session = await self.sessions.read(token) if token else None
        if session is not None and not await self.holds(session):
            await self.sessions.end(token)
            session = None
        if not self.rules.identity_header:
            return "", session
        named = self.rules.identity(request.remote or "", request.headers.get(self.rules.identity_header, ""))
        if named is None:  # signed out at the proxy, or bypassing it: sessions of the proxy do not count
            return "", session if session is not None and session.method is not SignInMethod.PROXY else None
        if session is not None and (session.person, session.is_admin) == (named.person, named.is_admin):
            return "", session
        if session is not None and session.method is SignInMethod.CHAT:
            return "", session
        return await self.sessions.begin(named), named

    async def holds(self, session: WebSession) -> bool:
        """Return whether a session is still valid. Someone who came by a chat link must still be an admin there.

        Raises PlatformUnavailable if that cannot be checked.
        """
        if session.method is not SignInMethod.CHAT:
            return True
        thread = session.thread
        platform = next((one for one in self.chats if thread is not None and one.name == thread.platform), None)
        if platform is None or thread is None:
            return False
        try:
            async with asyncio.timeout(RIGHTS_SECONDS):
                rights = await platform.permissions(session.person, thread)
        except TimeoutError:
            raise PlatformUnavailable(
                "Your permissions cannot be checked right now.", remedy="Try again in a moment."
            ) from None
        return rights.is_admin

    async def _check_change(self, request: web.Request, visitor: Visitor) -> None:
        check_origin(request)
        given = request.headers.get(CSRF_HEADER) or await _csrf_field(request)
        if not hmac.compare_digest(given.encode(errors="replace"), visitor.csrf.encode()):
            raise Denied("This form is from another session.", remedy="Reload the page and try again.")
        if await self.sessions.count(f"changes:{visitor.person.id}", _MINUTE) > CHANGES_A_MINUTE:
            raise Busy("Too many requests within a minute.", remedy="Wait a moment and try again.")

    def set_cookie(self, response: web.StreamResponse, token: str) -> None:
        """Set the session cookie. Scripts cannot read it, and forms of other sites do not send it."""
        response.set_cookie(COOKIE, token, httponly=True, samesite="Lax", secure=self.rules.is_secure, path="/")


def _visitor(session: WebSession) -> Visitor:
    connects_only = session.method is SignInMethod.CHAT
    return Visitor(session.person, audience_of(session.person), session.is_admin, session.csrf, connects_only)


def _reason(error: web.HTTPException) -> str:
    """Return the message for an error that the server raised before a screen saw the request."""
    if error.status == 413:
        return "This is too much for one request. Send less at once."
    return f"{error.reason}."


def _denied(right: Right, visitor: Visitor) -> Denied:
    if visitor.connects_only:
        return Denied("Your link opens only the Connect page.", remedy="Choose Connect in the menu above.")
    if right is Right.OPERATOR:
        return Denied(
            "Only the operator of this machine can open this page.", remedy="Use the link that footnote web prints."
        )
    return Denied("Only admins can see this.", remedy="Ask one of them.")


def check_origin(request: web.Request) -> None:
    """Raise Denied unless our own page sent this. Browsers send an Origin with every POST."""
    if request.headers.get("Origin", "").partition("://")[2] != request.host:
        raise Denied("This request did not come from this page.", remedy="Open the page directly and try again.")


async def _csrf_field(request: web.Request) -> str:
    """Return the CSRF token in a form. In a form with files it is the first field; the rest stays unread."""
    if request.content_type == KIND:
        upload = request[MULTIPART] = MultipartForm(request)
        first = await upload.next()
        return await upload.read_text(256) if first is not None and first.name == CSRF_FIELD else ""
    return (await read_form(request)).get(CSRF_FIELD, "")


def _to_sign_in(request: web.Request) -> web.StreamResponse:
    """Redirect to the sign-in page, which later leads back to the requested page."""
    if wants_part(request):
        return web.Response(status=401, headers={"HX-Redirect": "/sign-in"})
    if request.method != "GET":
        raise Denied("You are no longer signed in.", remedy="Reload the page.")
    there = "" if request.path == "/" else f"?{urlencode({'next': request.path}, errors='replace')}"
    return web.Response(status=303, headers={"Location": f"/sign-in{there}"})
