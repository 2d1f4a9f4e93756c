"""The page on a real socket over an assistant in this process, and browsers that are only a cookie and some headers."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer

from adapters.web.access.rules import AccessRules
from adapters.web.access.sign_in import new_sign_in_path
from adapters.web.ask.conversations import AttachedTexts, Conversations
from adapters.web.ask.live_streams import LiveStreams
from adapters.web.ask.screen import AskScreen
from adapters.web.ask.turn_views import TurnViews
from adapters.web.inspect_screen import InspectScreen
from adapters.web.knowledge_screen import KnowledgeScreen
from adapters.web.pages import Pages
from adapters.web.platform import WebPlatform
from adapters.web.setup_screen import SetupScreen
from adapters.web.source_screen import DocumentPages, SourceScreen
from adapters.web.usage_screen import UsageScreen
from core.model.channel_settings import ChannelSettings
from core.model.clock import Days
from core.model.document_content import FileContent, LocalFile, NamedFile
from core.model.errors import DocumentRejected, NotFound
from core.model.health import Check, Health, RunningOptions, SetupStep, SetupStepState, TokenField, TokenOutcome
from core.ports.sources import Box, PagePicture
from core.service.actions.user_actions import MemoryControls, UserActions
from core.service.disputes.decisions import DisputeReports
from core.service.help import ExampleQuestions
from core.service.message_handler import MessageHandler
from tests.core.harness import Harness
from tests.core.service.kb.knowledge_room import Room
from tests.fakes.memory.answer_stream import InProcessAnswerStream
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.stores import InProcessChannelSettingsStore, InProcessFeedbackStore
from tests.fakes.memory.web_sessions import InProcessWebSessions

if TYPE_CHECKING:
    from adapters.web.routing import Screen

PNG = b"\x89PNG\r\n\x1a\n"


class PaperPictures:
    """Draws every page as the same picture, with one mark; of page 9 it has none."""

    async def draw(self, name: str, data: bytes, page: int, quote: str = "") -> PagePicture:
        if page == 9:
            raise DocumentRejected("There is no page 9. The document has 2.")
        return PagePicture(PNG, 700, 990, 2, (Box(10, 20, 300, 12),) if quote else ())


class PaperFiles:
    """Two files, of which one may not be read."""

    refused_files: Sequence[str] = ()
    files = (LocalFile(Path("/srv/handbook/ferry.md"), Path("/srv/handbook")),)

    async def read(self, files: Sequence[NamedFile]) -> AsyncIterator[FileContent]:
        for _, source, origin in files:
            yield FileContent(source, "ferry.md", b"# Ferry\n\nIt leaves at nine.", origin)
        self.refused_files = ("handbook/secret.md is left out: it cannot be read: Permission denied.",)


class PaperGuide:
    """``SetupGuide`` of a Slack that takes one token, and keeps what it is given in memory."""

    works = "xoxb-works"

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        self.units = 0

    def steps(self, platform: str) -> Sequence[SetupStep]:
        return (
            SetupStep("app", "The app", "Make it.", link="https://example.com/new-app"),
            SetupStep("one", "The first token", token=TokenField("ONE_TOKEN", "first token", "begins with xoxb-")),
            SetupStep("two", "The second token", token=TokenField("TWO_TOKEN", "second token", "begins with xapp-")),
        )

    def first_messages(self, platform: str) -> Sequence[str]:
        return ("/invite @Footnote",)

    def platforms(self) -> Mapping[str, str]:
        return {"slack": "Slack", "discord": "Discord"}

    def configured_platforms(self) -> frozenset[str]:
        return frozenset(["slack"] if self.kept else [])

    async def look(self, platform: str, step: SetupStep) -> SetupStepState:
        if step.token is None:
            return SetupStepState(done=bool(self.kept))
        there = step.token.setting in self.kept
        return SetupStepState(done=there, origin="/home/ada/.env" if there else "")

    async def take_token(self, setting: str, pasted: str) -> TokenOutcome:
        if pasted != self.works:
            return TokenOutcome(kept=False, checks=(Check("Slack bot token", Health.FAILED, "refused: invalid_auth"),))
        self.kept[setting] = pasted
        return TokenOutcome(kept=True, file="/home/ada/.env")

    def running_options(self) -> RunningOptions:
        return RunningOptions("footnote serve", "/units/footnote.service", self.units > 0, ("systemctl",), ("docker",))

    def write_unit(self) -> str:
        self.units += 1
        return "/units/footnote.service"

    async def files(self, path: str) -> PaperFiles:
        if path != "~/handbook":
            raise NotFound(f"There is no file or folder {path}.")
        return PaperFiles()


@dataclass
class Reply:
    """What a browser got."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class Browser:
    """A browser: it keeps cookies, says where a form is from, and repeats the form's token."""

    address: str
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    csrf: str = ""

    async def get(self, path: str, **headers: str) -> Reply:
        return await self.send("GET", path, headers)

    async def post(self, path: str, fields: Mapping[str, str] | None = None, **headers: str) -> Reply:
        """Send a form of the page: with its token and its origin, unless other headers are given."""
        form = {"csrf": self.csrf} | dict(fields or {})
        return await self.send("POST", path, {"Origin": self.address, **headers}, data=form)

    async def drop(self, path: str, *files: tuple[str, bytes], **fields: str) -> Reply:
        """Send files, as a browser without scripts does."""
        form = aiohttp.FormData()
        for name, value in {"csrf": self.csrf, **fields}.items():
            form.add_field(name, value)
        for name, data in files:
            form.add_field("files", data, filename=name)
        return await self.send("POST", path, {"Origin": self.address}, data=form)

    async def send(self, method: str, path: str, headers: Mapping[str, str], data: object = None) -> Reply:
        async with (
            aiohttp.ClientSession(cookies=self.cookies, cookie_jar=aiohttp.CookieJar(unsafe=True)) as session,
            session.request(
                method,
                f"{self.address}{path}",
                headers={**self.headers, **headers},
                data=data,
                allow_redirects=False,
            ) as got,
        ):
            for name, morsel in got.cookies.items():
                self.cookies[name] = morsel.value
            body = await got.read()
            text = body.decode(errors="replace")
            if found := re.search(r'name="csrf" value="([^"]+)"', text):
                self.csrf = found[1]
            return Reply(got.status, dict(got.headers), text)


class PageOffice:
    """A test and a knowledge room behind one page."""

    def __init__(self, rules: AccessRules | None = None, settings: ChannelSettings | None = None) -> None:
        self.harness = harness = Harness()
        self.room = room = Room()
        room.index, room.encoder, room.catalog = harness.index, harness.encoder, harness.catalog
        room.clock = harness.clock
        room.assemble()
        self.rules = rules or AccessRules()
        self.settings = settings or ChannelSettings()
        self.sessions = InProcessWebSessions()
        self.message_states = InProcessMessageStateStore(harness.state)
        self.stream = InProcessAnswerStream()
        self.inbox = InProcessInbox(harness.state, clock=harness.clock)
        self.guide = PaperGuide()
        self.page = self._page()
        self._server: BaseTestServer | None = None

    def _page(self) -> WebPlatform:
        harness, room, pages = self.harness, self.room, Pages()
        actions = UserActions.build(
            memory=harness.memory,
            trace_store=harness.trace_store,
            catalog=harness.catalog,
            feedback=InProcessFeedbackStore(harness.state),
            settings_store=InProcessChannelSettingsStore(),
            audit=room.audit,
            inbox=self.inbox,
            message_states=self.message_states,
            checkpoints=harness.checkpoints,
            defaults=self.settings,
            disputes=DisputeReports(room.proposal_store, harness.clock),
        )
        self.conversations = conversations = Conversations(self.message_states, harness.clock)
        turns = TurnViews(self.message_states, harness.checkpoints, actions)
        self.live = live = LiveStreams(self.stream, turns, pages)
        self.ask_screen = AskScreen(
            pages,
            conversations,
            turns,
            live,
            self.inbox,
            actions,
            room.kb_service,
            AttachedTexts(self.message_states, room.parser.parse),
            ExampleQuestions(room.queries),
        )
        screens: list[Screen] = [
            self.ask_screen,
            KnowledgeScreen(pages, room.kb_service, room.audit, harness.clock, _samples, self.guide.files),
            SetupScreen(pages, self.guide, room.kb_service, room.audit, _examined),
            InspectScreen(
                pages,
                room.retriever,
                room.queries,
                harness.trace_store,
                InProcessChannelSettingsStore(),
                ChannelSettings(),
                conversations,
                turns,
                _examined,
            ),
            UsageScreen(pages, harness.usage_book, Days(harness.clock, UTC), room.queries),
            SourceScreen(
                pages,
                conversations,
                turns,
                actions,
                room.queries,
                DocumentPages(harness.index, room.originals, PaperPictures()),
            ),
        ]
        return WebPlatform(
            rules=self.rules,
            sessions=self.sessions,
            audit=room.audit,
            user_actions=actions,
            message_states=self.message_states,
            stream=self.stream,
            pages=pages,
            live=live,
            screens=screens,
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator["PageOffice"]:
        app = web.Application()
        app.add_routes(self.page.routes())
        async with TestServer(app) as server:
            self._server = server
            yield self

    @property
    def address(self) -> str:
        assert self._server is not None
        return str(self._server.make_url("")).rstrip("/")

    def browser(self, **headers: str) -> Browser:
        """Nobody's yet."""
        return Browser(self.address, headers)

    async def operator(self) -> Browser:
        """Who opened the link from the terminal."""
        browser = self.browser()
        await browser.post(await new_sign_in_path(self.sessions))
        await browser.get("/knowledge")
        return browser

    async def works(self) -> None:
        """Let a worker answer everything that waits."""
        handler = MessageHandler(
            question_service=self.harness.question_service,
            memory_controls=MemoryControls(self.harness.memory, self.room.audit),
            checkpoints=self.harness.checkpoints,
            message_states=self.message_states,
            inbox=self.inbox,
            platforms={"web": self.page},
        )
        while (lease := await self.inbox.take("w", timedelta())) is not None:
            await handler.handle(lease)
            await self.inbox.complete(lease)

    async def asked(self, browser: Browser, question: str) -> str:
        """Ask and have it answered; the address of the question."""
        reply = await browser.post("/ask", {"question": question})
        assert reply.status == 303, reply.text
        conversation, _, mark = reply.headers["Location"].partition("#q-")
        await self.works()
        return f"{conversation}/{mark}"


async def _samples() -> AsyncIterator[FileContent]:
    yield FileContent("handbook/leave.md", "leave.md", b"# Leave\n\nEverybody has 30 days of leave.")


async def _examined() -> list[Check]:
    return [Check("Redis", Health.OK, "it answers"), Check("disk", Health.FAILED, "it is full", "Make room.")]


class Elements(HTMLParser):
    """Every element of a page with its attributes, read by the standard library."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.found if name == tag]
