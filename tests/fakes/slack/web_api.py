"""The HTTP face of the workspace: `/api/<method>`, file downloads and uploads, response urls, the socket's door.

Every call is checked against the method's description before its handler sees it; whatever a caller could have
known better is recorded in `slack.violations`.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.fakes.slack import (
    methods_chat,
    methods_rooms,  # noqa: F401  they fill METHODS
    methods_views,  # noqa: F401  they fill METHODS
)
from tests.fakes.slack.methods import METHODS, Call, Refused
from tests.fakes.slack.specs import STRUCTURED

if TYPE_CHECKING:
    from tests.fakes.slack.faults import Fault
    from tests.fakes.slack.server import FakeSlack
    from tests.fakes.slack.specs import MethodSpec

_APP_TOKEN_METHODS = {"apps.connections.open"}
_CUSTOMIZE = ("username", "icon_url", "icon_emoji")
_LARGEST_UPLOAD = 64 * 1024 * 1024


def build_app(slack: FakeSlack) -> web.Application:
    """The aiohttp application that serves this workspace."""
    face = WebApi(slack)
    app = web.Application(client_max_size=_LARGEST_UPLOAD)
    app.router.add_route("*", "/api/{method}", face.call)
    app.router.add_get("/link/", slack.sockets.serve)
    app.router.add_get("/files-pri/{id}/{name}", face.download)
    app.router.add_get("/login", face.login_page)
    app.router.add_post("/upload/{id}", face.upload)
    app.router.add_post("/response/{key}", face.response_url)
    return app


class WebApi:
    """Answers HTTP requests."""

    def __init__(self, slack: FakeSlack) -> None:
        self._slack = slack

    async def call(self, request: web.Request) -> web.StreamResponse:
        """One Web API call."""
        name = request.match_info["method"]
        args, as_json = await _arguments(request)
        token = _token(request, args)
        call = Call(name, args)
        self._slack.calls.append(call)
        await asyncio.sleep(self._slack.faults.delay_of(name))
        fault = self._slack.faults.take(name, args)
        if fault is not None and fault.kind != "lost_answer":
            if fault.kind == "dropped" and request.transport is not None:
                request.transport.abort()
            return _planned(fault, call)
        wait = self._rate_limited(name, args)
        if wait:
            call.error, call.status = "ratelimited", 429
            return _too_many(wait)
        answer = await self._answer(call, token, as_json=as_json)
        call.error = None if answer["ok"] else answer["error"]
        if fault is not None:
            if request.transport is not None:
                request.transport.abort()
            call.status = 0
        return web.json_response(answer, headers=self._scope_headers(name))

    async def _answer(self, call: Call, token: str, *, as_json: bool) -> dict[str, Any]:
        try:
            self._admit(call.method, token)
            spec = self._slack.specs.get(call.method)
            handler = METHODS.get(call.method)
            if spec is None or handler is None:
                raise Refused("unknown_method", "there is no such method here")  # noqa: TRY301
            self._check(spec, call.args, as_json=as_json)
            return {"ok": True} | await handler(self._slack, call.args)
        except Refused as refusal:
            for rule in refusal.broken_rules:
                self._slack.violate(f"{call.method}: {rule}")
            return {"ok": False, "error": refusal.error} | refusal.extra

    def _admit(self, name: str, token: str) -> None:
        slack = self._slack
        if not token:
            raise Refused("not_authed")
        if token not in {slack.bot_token, slack.app_token}:
            raise Refused("invalid_auth")
        wanted = slack.app_token if name in _APP_TOKEN_METHODS else slack.bot_token
        if token != wanted:
            raise Refused("not_allowed_token_type")

    def _check(self, spec: MethodSpec, args: dict[str, Any], *, as_json: bool) -> None:
        faults = spec.faults_of(args, as_json=as_json)
        if faults:
            messages = {"messages": [f"[ERROR] {fault}" for fault in faults]}
            raise Refused("invalid_arguments", *faults, response_metadata=messages)
        if args.pop("team_id", self._slack.team_id) != self._slack.team_id:
            raise Refused("team_access_not_granted", "team_id names another workspace")
        needed = self._needed_scopes(spec, args)
        if needed and not needed & self._slack.scopes:
            provided = ",".join(sorted(self._slack.scopes))
            raise Refused("missing_scope", needed=",".join(sorted(needed)), provided=provided)
        if any(args.get(one) for one in _CUSTOMIZE) and "chat:write.customize" not in self._slack.scopes:
            raise Refused("missing_scope", needed="chat:write.customize", provided=",".join(self._slack.scopes))

    def _needed_scopes(self, spec: MethodSpec, args: dict[str, Any]) -> set[str]:
        """The scopes of which one is enough; with several kinds of channel, the one for this channel's kind."""
        needed = set(spec.bot_scopes)
        channel = self._slack.world.channels.get(str(args.get("channel")))
        if len(needed) > 1 and channel is not None:
            prefix = {"public": "channels", "private": "groups", "im": "im", "mpim": "mpim"}[channel.kind]
            needed = {one for one in needed if one.startswith(f"{prefix}:")} or needed
        return needed

    def _rate_limited(self, name: str, args: dict[str, Any]) -> int:
        spec = self._slack.specs.get(name)
        return self._slack.limits.wait_for(spec, args) if spec else 0

    def _scope_headers(self, name: str) -> dict[str, str]:
        spec = self._slack.specs.get(name)
        accepted = ",".join(spec.bot_scopes) if spec else ""
        return {
            "x-oauth-scopes": ",".join(sorted(self._slack.scopes)), "x-accepted-oauth-scopes": accepted,
            "x-slack-req-id": self._slack.world.new_id("Q").lower(),
        }  # fmt: skip

    # --- files

    async def download(self, request: web.Request) -> web.StreamResponse:
        """A file's bytes; without the bot's token and files:read, the way to a login page, as in Slack."""
        file = self._slack.world.files.get(request.match_info["id"])
        if file is None:
            raise web.HTTPNotFound
        allowed = request.headers.get("Authorization") == f"Bearer {self._slack.bot_token}"
        if not allowed or "files:read" not in self._slack.scopes:
            raise web.HTTPFound("/login")
        if self._slack.serves_sign_in_page:  # where the edge does not redirect
            return await self.login_page(request)
        self._slack.downloads.append(file.id)
        served = "text/html" if file.canvas else file.to_json()["mimetype"]
        return web.Response(body=file.content, content_type=served)

    async def login_page(self, _: web.Request) -> web.StreamResponse:
        """What an unauthorised download ends in: status 200 and HTML."""
        return web.Response(text="<!DOCTYPE html><title>Sign in | Slack</title>", content_type="text/html")

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """The bytes for an upload URL, raw or as a form."""
        file = self._slack.world.uploads.get(request.match_info["id"])
        if file is None:
            raise web.HTTPNotFound
        if request.content_type == "multipart/form-data":
            posted = await request.post()
            parts = [part.file.read() for part in posted.values() if isinstance(part, web.FileField)]
            file.content = b"".join(parts)
        else:
            file.content = await request.read()
        return web.Response(text=f"OK - {len(file.content)}")

    async def response_url(self, request: web.Request) -> web.StreamResponse:
        """A post to a response_url: JSON in, `ok` out."""
        hook = self._slack.world.response_urls.get(request.match_info["key"])
        if hook is None:
            self._slack.violate("response_url: it was never issued")
            return web.json_response({"ok": False, "error": "expired_url"}, status=404)
        body = await request.json()
        self._slack.calls.append(Call("response_url", body))
        error = await methods_chat.respond(self._slack, hook, body)
        if error:
            return web.json_response({"ok": False, "error": error}, status=404 if error == "used_url" else 400)
        return web.Response(text="ok")


def _planned(fault: Fault, call: Call) -> web.Response:
    call.error, call.status = fault.error or "server_error", fault.status
    if fault.kind == "rate_limit":
        return _too_many(fault.retry_after)
    if fault.kind == "not_json":
        return web.Response(text="<!DOCTYPE html><title>Please sign in</title>", content_type="text/html")
    if fault.kind == "server_error":
        page = "<!DOCTYPE html><title>Server Error | Slack</title>"
        return web.Response(status=fault.status, text=page, content_type="text/html")
    return web.json_response({"ok": False, "error": fault.error}, status=fault.status)


def _too_many(wait: int) -> web.Response:
    return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": str(wait)})


async def _arguments(request: web.Request) -> tuple[dict[str, Any], bool]:
    """Query, form and JSON arguments together, and whether there was a JSON body."""
    args: dict[str, Any] = dict(request.query)
    as_json = request.content_type == "application/json"
    if as_json:
        body = await request.json()
        args |= body if isinstance(body, dict) else {}
    elif request.method == "POST":
        args |= {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
    return {name: _decoded(name, value) for name, value in args.items()}, as_json


def _decoded(name: str, value: Any) -> Any:
    if name in STRUCTURED and isinstance(value, str):
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            return value
    return value


def _token(request: web.Request, args: dict[str, Any]) -> str:
    header = request.headers.get("Authorization", "")
    in_arguments = args.pop("token", "")
    return header.removeprefix("Bearer ").strip() if header else str(in_arguments)
