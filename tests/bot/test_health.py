"""The HTTP port answers malformed requests with 400."""

import json

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.health import application
from bot.readiness import ReadinessReport
from bot.settings import Settings


async def _reads(request: web.Request) -> web.Response:
    return web.json_response({"read": json.loads(await request.text())})


async def _ready() -> ReadinessReport:
    return ReadinessReport()


async def test_a_body_that_cannot_be_read_is_the_senders_mistake() -> None:
    app = application(_ready, [web.post("/slack/events", _reads)])
    async with TestClient(TestServer(app)) as client:
        for body, kind in ((b"\xff\xfe", "text/plain"), (b"{", "application/json"), (b"x", "text/plain; charset=none")):
            answer = await client.post("/slack/events", data=body, headers={"Content-Type": kind})
            assert answer.status == 400
            assert "Traceback" not in await answer.text()
        answer = await client.post("/slack/events", data=b"{}", headers={"Content-Type": "application/json"})
        assert answer.status == 200


def test_it_listens_on_this_machine_alone_unless_told_otherwise() -> None:
    assert Settings.model_fields["http_host"].default == "127.0.0.1"
