"""HTTP mode: events, interactions and commands as signed POST requests to the app's request URL.

The signature is Slack's v0: an HMAC-SHA256 over `v0:timestamp:body` with the signing secret.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

import aiohttp

if TYPE_CHECKING:
    from tests.fakes.slack.delivery import Attempt, Delivery, Kind

Signature = Literal["valid", "wrong", "old", "missing"]

_REPLAY_WINDOW = 5 * 60


class HttpPush:
    """Posts to one request URL. `signature` decides how every request is signed from now on."""

    def __init__(self, signing_secret: str) -> None:
        self.url: str | None = None
        self.signature: Signature = "valid"
        self._secret = signing_secret
        self._session: aiohttp.ClientSession | None = None

    async def attempt(self, delivery: Delivery, attempt: Attempt) -> None:
        """Post it once; a 2xx within the deadline is the acknowledgement."""
        attempt.via = str(self.url)
        retry = {"X-Slack-Retry-Num": str(attempt.number), "X-Slack-Retry-Reason": attempt.reason or "http_timeout"}
        try:
            status, body, headers = await self.post(
                delivery.kind, delivery.payload, signature=self.signature, headers=retry if attempt.number else None
            )
        except aiohttp.ClientError:
            attempt.fail("connection_failed")
            return
        attempt.status = status
        attempt.final = headers.get("X-Slack-No-Retry") == "1"
        if 200 <= status < 300:
            attempt.acknowledge(_as_json(body))
        else:
            attempt.fail("http_error")

    async def post(
        self,
        kind: Kind,
        payload: dict[str, Any],
        *,
        signature: Signature = "valid",
        headers: dict[str, str] | None = None,
    ) -> tuple[int, str, dict[str, str]]:
        """Post a payload as Slack would, and answer with the status, the body and the headers.

        Raises aiohttp.ClientError when nobody listens.
        """
        assert self.url is not None, "give the workspace a request_url first"
        body, content_type = json.dumps(payload), "application/json"
        if kind != "events_api":
            form = {"payload": body} if kind == "interactive" else payload
            body, content_type = urlencode(form), "application/x-www-form-urlencoded"
        sent = {"Content-Type": content_type, "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)"}
        sent |= self.sign(body, signature) | (headers or {})
        if self._session is None:
            # Sockets are not kept: the bot's process dies and returns under the same address in some tests.
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True, limit=0))
        async with self._session.post(self.url, data=body.encode(), headers=sent) as answer:
            return answer.status, await answer.text(), dict(answer.headers)

    def sign(self, body: str, signature: Signature = "valid") -> dict[str, str]:
        """The signature headers of this body."""
        if signature == "missing":
            return {}
        stamp = str(int(time.time()) - (_REPLAY_WINDOW + 60 if signature == "old" else 0))
        secret = "another-secret" if signature == "wrong" else self._secret
        digest = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}

    async def verify_url(self) -> bool:
        """Ask the app to echo a challenge, as when a request URL is entered in the settings."""
        challenge = "3eZbrw1aB10FEMAGAZd4FyFQ"
        status, body, _ = await self.post("events_api", {"type": "url_verification", "challenge": challenge})
        answer = _as_json(body)
        echoed = answer.get("challenge") if isinstance(answer, dict) else body.strip()
        return status == 200 and echoed == challenge

    async def close(self) -> None:
        """Close the client session."""
        if self._session is not None:
            await self._session.close()


def _as_json(body: str) -> Any:
    if not body.strip():
        return None
    try:
        return json.loads(body)
    except json.JSONDecodeError:
        return {"text": body}
