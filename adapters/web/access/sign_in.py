"""Signing in and out by a one-time link or a password, with a rate limit against guessing.

Chat previews and mail scanners also open links. So a link shows a button and signs in only when that is pressed.
"""

import asyncio
from dataclasses import dataclass
from urllib.parse import urlsplit

from aiohttp import web

from adapters.web.access.forms import read_form
from adapters.web.access.guard import COOKIE, Guard, check_origin
from adapters.web.access.rules import operator
from adapters.web.pages import Pages
from adapters.web.routing import Right, Route, Visitor
from core.model.errors import Busy
from core.ports.access import SignInMethod, WebSession, WebSessions

ATTEMPTS_A_MINUTE = 10  # from one address
HASHING = 2  # passwords checked in parallel: each takes 32 MB and a core
_MINUTE = 60
CONNECTIONS = "/connections"
USED_UP = "This link has been used or has expired."
NO_ADMIN = "This link is only for admins of the chat that it came from. You are not an admin there now."
WRONG = "The password is wrong."


@dataclass(frozen=True, slots=True)
class SignIn:
    """The pages for signing in and out."""

    guard: Guard
    sessions: WebSessions
    pages: Pages
    hashing: asyncio.Semaphore

    def open_routes(self) -> tuple[web.RouteDef, ...]:
        """Return the routes that need no session."""
        return (
            web.get("/sign-in", self.guard.outermost(self._page)),
            web.post("/sign-in", self.guard.outermost(self._password)),
            web.get("/sign-in/{code}", self.guard.outermost(self._link)),
            web.post("/sign-in/{code}", self.guard.outermost(self._redeem)),
        )

    def routes(self) -> tuple[Route, ...]:
        """Return the routes of signing in and out."""
        return (Route("POST", "/sign-out", self._sign_out, Right.ANYBODY),)

    async def _page(self, request: web.Request) -> web.StreamResponse:
        return self._form(request, "", 200)

    def _form(self, request: web.Request, message: str, status: int, *, is_link: bool = False) -> web.StreamResponse:
        rules = self.guard.rules
        return self.pages.html(
            request,
            None,
            "sign_in.html",
            message=message,
            is_link=is_link,
            takes_password=rules.takes_password,
            by_proxy=bool(rules.identity_header),
            next=_own_path(request.query.get("next", "")),
            status=status,
        )

    async def _link(self, request: web.Request) -> web.StreamResponse:
        return self._form(request, "", 200, is_link=True)

    async def _redeem(self, request: web.Request) -> web.StreamResponse:
        check_origin(request)
        await self._slowly(request)
        session = await self.sessions.take_code(request.match_info["code"])
        before = await self.guard.session(request)
        if session is not None and not await self.guard.holds(session):
            return self._form(request, NO_ADMIN, 403)
        if session is not None and session.method is SignInMethod.CHAT:
            if before is not None and before.is_admin and before.method is not SignInMethod.CHAT:  # it opens more
                return web.Response(status=303, headers={"Location": CONNECTIONS})
            return await self._signed_in(session, CONNECTIONS)
        if session is not None:
            return await self._signed_in(session, "/")
        if before is not None:  # the same link, opened again
            there = CONNECTIONS if before.method is SignInMethod.CHAT else "/"
            return web.Response(status=303, headers={"Location": there})
        return self._form(request, USED_UP, 403)

    async def _password(self, request: web.Request) -> web.StreamResponse:
        check_origin(request)
        await self._slowly(request)
        form = await read_form(request)
        async with self.hashing:
            session = await asyncio.to_thread(self.guard.rules.of_password, form.get("password", ""))
        if session is None:
            return self._form(request, WRONG, 403)
        return await self._signed_in(session, _own_path(form.get("next", "")))

    async def _slowly(self, request: web.Request) -> None:
        forwarded = ",".join(request.headers.getall("X-Forwarded-For", []))
        address = self.guard.rules.client_address(request.remote or "", forwarded)
        if await self.sessions.count(f"sign-in:{address}", _MINUTE) > ATTEMPTS_A_MINUTE:
            raise Busy("There were too many attempts.", remedy="Wait a minute.")

    async def _signed_in(self, session: WebSession, there: str) -> web.StreamResponse:
        response = web.Response(status=303, headers={"Location": there})
        self.guard.set_cookie(response, await self.sessions.begin(session))
        return response

    async def _sign_out(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        await self.sessions.end(request.cookies.get(COOKIE, ""))
        response = web.Response(status=303, headers={"Location": "/sign-in"})
        response.del_cookie(COOKIE, path="/")
        return response


async def new_sign_in_path(sessions: WebSessions) -> str:
    """Return a path that signs the operator in, once."""
    return f"/sign-in/{await sessions.issue_code(operator())}"


def _own_path(given: str) -> str:
    """Return a path on this site for any input, so that there is no open redirect."""
    ours = given.startswith("/") and not given.startswith(("//", "/\\")) and given.isprintable()
    return urlsplit(given).path if ours else "/"
