"""The API on a real socket over an assistant in this process, and programs that call it as a stranger would.

Whatever comes back is held against the description that the server itself gives.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import jsonschema
from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer

from adapters.web.api.asking import Asking
from adapters.web.api.endpoints import Api
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Person
from core.model.inquiry import AnswerPolicy
from core.ports.access import ApiToken, TokenScope
from core.retrieval.hybrid import Retriever
from core.service.actions.user_actions import UserActions
from core.service.api_clients import ApiClients, KnowledgeReader
from core.service.disputes.decisions import DisputeReports
from core.service.kb.program_documents import ProgramDocuments
from tests.core.harness import Harness
from tests.core.service.kb.knowledge_room import Room
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.proposal_store import InProcessProposalStore
from tests.fakes.memory.stores import (
    InProcessApiTokens,
    InProcessAudit,
    InProcessChannelSettingsStore,
    InProcessFeedbackStore,
)

OWNER = Person("console:operator", "you")
BOTH = frozenset({TokenScope.ASK, TokenScope.SEARCH})


@dataclass(frozen=True)
class Response:
    """What a program got; already found to be as described."""

    status: int
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Event:
    """One of a stream."""

    name: str
    data: Any


class Program:
    """Somebody's program, with a token or without."""

    def __init__(self, office: "Office", secret: str) -> None:
        self._office = office
        self.secret = secret

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"} if self.secret else {}

    async def post(self, path: str, *, raw: bytes | None = None, **fields: Any) -> Response:
        """Send these fields, or these bytes."""
        return await self.send("POST", path, json.dumps(fields).encode() if raw is None else raw)

    async def send(self, method: str, path: str, body: Any = None) -> Response:
        """Send a request; where the address is described, what comes back is as described."""
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, self._office.url(path), data=body, headers=self._headers()) as got,
        ):
            text = await got.text()
            reply = json.loads(text) if "json" in got.content_type else text
            self._office.check(method, path, got.status, got.content_type, reply)
            return Response(got.status, got.headers, reply)

    async def stream(self, path: str, **fields: Any) -> AsyncIterator[Event]:
        """Send these fields, and read event by event."""
        headers = {**self._headers(), "Accept": "text/event-stream"}
        async with (
            aiohttp.ClientSession() as session,
            session.post(self._office.url(path), json=fields, headers=headers) as got,
        ):
            assert got.content_type == "text/event-stream", await got.text()
            name = ""
            async for line in got.content:
                text = line.decode().rstrip("\n")
                if text.startswith("event: "):
                    name = text.removeprefix("event: ")
                elif text.startswith("data: "):
                    yield Event(name, json.loads(text.removeprefix("data: ")))


class Office:
    """A test, and the API before it."""

    def __init__(self) -> None:
        self.harness = Harness()
        self.room = Room()  # where documents that programs add are worked on
        self.room.catalog, self.room.index, self.room.encoder = (
            self.harness.catalog,
            self.harness.index,
            self.harness.encoder,
        )
        self.room.assemble()
        self.tokens = InProcessApiTokens()
        self.audit = InProcessAudit()
        self.feedback = InProcessFeedbackStore(self.harness.state)
        self.clients = ApiClients(self.tokens, self.harness.catalog, self.audit, self.harness.clock)
        self.warming = False
        self.description: dict[str, Any] = {}
        self._server: BaseTestServer | None = None

    def api(self) -> Api:
        """The endpoints, over the test."""
        harness = self.harness
        return Api(
            clients=self.clients,
            questions=harness.question_service,
            checkpoints=harness.checkpoints,
            actions=UserActions.build(
                memory=harness.memory,
                trace_store=harness.trace_store,
                catalog=harness.catalog,
                feedback=self.feedback,
                settings_store=InProcessChannelSettingsStore(),
                audit=self.audit,
                inbox=InProcessInbox(harness.state, clock=harness.clock),
                message_states=InProcessMessageStateStore(harness.state),
                checkpoints=harness.checkpoints,
                defaults=ChannelSettings(),
                disputes=DisputeReports(InProcessProposalStore(harness.state), harness.clock),
            ),
            reader=KnowledgeReader(
                harness.catalog, harness.index, Retriever(harness.index, harness.encoder, None, harness.catalog)
            ),
            documents=ProgramDocuments(
                harness.catalog,
                self.room.trash,
                self.room.job_queue,
                self.room.jobs,
                self.room.blobs,
                self.room.kb_service.audit,
            ),
            policy=AnswerPolicy(),
            version="0.0.0",
            asking=Asking(harness.question_service, warming=lambda: self.warming),
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Office"]:
        app = web.Application()
        app.add_routes(self.api().routes())
        async with TestServer(app) as server:
            self._server = server
            async with aiohttp.ClientSession() as session, session.get(self.url("/v1/openapi.json")) as got:
                self.description = await got.json()
            yield self

    def url(self, path: str) -> str:
        assert self._server is not None
        return str(self._server.make_url(path))

    async def program(
        self, *bases: str, scopes: frozenset[TokenScope] = BOTH, rate: int = 6_000, public: bool = False
    ) -> Program:
        """A program with a new token."""
        return (await self.admitted(*bases, scopes=scopes, rate=rate, public=public))[1]

    async def admitted(
        self, *bases: str, scopes: frozenset[TokenScope] = BOTH, rate: int = 6_000, public: bool = False
    ) -> tuple[ApiToken, Program]:
        """The same, with the token."""
        token, secret = await self.clients.create("a program", scopes, bases, OWNER, rate=rate, public=public)
        return token, Program(self, secret)

    def stranger(self, secret: str = "") -> Program:
        """A program with no token, or with this one."""
        return Program(self, secret)

    def check(self, method: str, path: str, status: int, content_type: str, reply: Any) -> None:
        """Raise unless the description says that this may come from there."""
        described = next((one for one in self.description["paths"] if _is_of(one, path.partition("?")[0])), "")
        operation = self.description["paths"].get(described, {}).get(method.lower())
        if operation is None:
            assert status in (404, 405), f"{method} {path} is not described"
            assert content_type == "application/problem+json"
            return
        responses = operation["responses"]
        assert str(status) in responses, f"{status} is not described for {path}"
        content = responses[str(status)]["content"]
        assert content_type in content, f"{content_type} is not described for {status} of {path}"
        schema = {**content[content_type]["schema"], "components": self.description["components"]}
        jsonschema.Draft202012Validator(schema).validate(reply)


def _is_of(described: str, path: str) -> bool:
    fixed, _, named = described.partition("{")
    return path.startswith(fixed) and len(path) > len(fixed) if named else path == described
