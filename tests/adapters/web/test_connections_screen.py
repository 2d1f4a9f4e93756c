"""The Connect page: permissions, secrets that are checked, stored and never shown, and errors that admins see."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer

from adapters.connectors.registry import connector_names
from adapters.web.access.guard import COOKIE, Guard
from adapters.web.access.rules import AccessRules
from adapters.web.access.sign_in import HASHING, SignIn
from adapters.web.connections_screen import ConnectionsScreen
from adapters.web.pages import Pages
from adapters.web.routing import Right, Route
from core.model.conversation import Person
from core.model.errors import NotFound
from core.model.principals import mail_principal
from core.ports.access import SignInMethod, WebSession
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.results import ConnectLink, Refused
from core.service.sync.connections import ConnectLinks
from tests.connectors.sync_room import ConnectedRoom
from tests.core.service.kb.knowledge_room import ADMIN, MEMBER, Room, words
from tests.fakes.confluence.contract import SPECIFICATION
from tests.fakes.confluence.server import EMAIL, TOKEN, FakeConfluence
from tests.fakes.memory.platform import RecordedPlatform
from tests.fakes.memory.web_sessions import InProcessWebSessions

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.filterwarnings("ignore:It is recommended to use web.RequestKey"),
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="The description is not shared here."),
]
ADA = mail_principal("ada@example.org")
OTHER = Person("paper:T/other", "another admin")
SECRET_TITLE = "Wages of zanzibar"
PATHS = ["/connections", "/connect/confluence", "/connections/wiki"]


@dataclass
class Page:
    """The screen before a room with a fake site, and somebody at a browser."""

    room: ConnectedRoom
    site: FakeConfluence
    sessions: InProcessWebSessions
    server: BaseTestServer
    chats: list[RecordedPlatform]

    async def sign_in(self, who: str, method: SignInMethod = SignInMethod.LINK) -> str:
        person = Person(f"web:{who}", who)
        is_admin = not who.startswith("reader")
        return await self.sessions.begin(WebSession(person, method, is_admin=is_admin, csrf="c"))

    async def get(self, path: str, who: str = "operator") -> tuple[int, str]:
        return await self.send("GET", path, await self.sign_in(who))

    async def post(self, path: str, who: str = "operator", *, csrf: str = "c", **fields: str) -> tuple[int, str]:
        given = {name.replace("set_", "set-"): value for name, value in fields.items()}
        return await self.send("POST", path, await self.sign_in(who), {"csrf": csrf, **given})

    async def send(self, method: str, path: str, token: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        """A request; where it leads, or the page that comes back."""
        origin = {"Origin": str(self.server.make_url("/")).rstrip("/")}
        cookies = aiohttp.CookieJar(unsafe=True)
        async with (
            aiohttp.ClientSession(cookies={COOKIE: token}, cookie_jar=cookies) as browser,
            browser.request(
                method, self.server.make_url(path), data=form, headers=origin, allow_redirects=False
            ) as got,
        ):
            self.cookie = got.cookies[COOKIE].value if COOKIE in got.cookies else token
            return got.status, got.headers.get("Location", "") or await got.text()

    async def connects(self, who: str = "operator", **other: str) -> tuple[int, str]:
        given = {"name": "wiki", "set_url": self.site.url, "set_email": EMAIL, "set_token": TOKEN} | other
        return await self.post("/connect/confluence", who, **given)

    async def syncs(self) -> None:
        self.room.clock.advance(timedelta(minutes=16).total_seconds())
        await self.room.scheduler.tick()
        await self.room.works()


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    async with FakeConfluence() as site:
        for number in range(1, 4):
            site.add_page(str(number), f"Page {number}", f"<p>Alpha number {number}.</p>")
        room = ConnectedRoom(site, tmp_path)
        sessions, pages = InProcessWebSessions(), Pages()
        screen = ConnectionsScreen(pages, room.sources, room.queries, connector_names)
        pages.show_menu(screen.menu)
        chats = [RecordedPlatform(admins=frozenset({ADMIN.id, OTHER.id}))]
        guard = Guard(AccessRules(), sessions, room.audit, pages, chats)
        sign_in = SignIn(guard, sessions, pages, asyncio.Semaphore(HASHING))

        async def plain(request: web.Request, visitor: object) -> web.StreamResponse:
            return web.Response(text="A page for readers.")

        routes = [*sign_in.routes(), *screen.routes(), Route("GET", "/", plain), Route("GET", "/g", plain, Right.ADMIN)]
        app = web.Application()
        app.add_routes([*sign_in.open_routes(), *(guard.protect(route) for route in routes)])
        async with room.parser, TestServer(app) as server:  # type: ignore[attr-defined]
            yield Page(room, site, sessions, server, chats)
        assert not site.violations


# --- who may


@pytest.mark.parametrize("path", PATHS)
async def test_only_admins_see_connections(page: Page, path: str) -> None:
    await page.connects()
    status, text = await page.get(path, "reader/1")
    assert status == 403
    assert "wiki" not in text.replace(path, "")


@pytest.mark.parametrize(
    "path", ["/connect/confluence", *(f"/connections/wiki/{do}" for do in ("map", "sync", "remove"))]
)
async def test_changes_need_an_admin_and_the_form_of_their_session(page: Page, path: str) -> None:
    await page.connects()
    before = await page.room.sources.find("wiki")
    for who, csrf in (("reader/1", "c"), ("operator", "other")):
        status, _ = await page.post(path, who, csrf=csrf, group="g-staff", principals="mail:user:eve@example.org")
        assert status == 403
    assert await page.room.sources.find("wiki") == before


# --- connecting


async def test_a_source_is_tried_kept_and_synced(page: Page) -> None:
    status, text = await page.connects()
    assert status == 200
    assert "sees 3 documents" in text
    assert TOKEN not in text
    await page.syncs()
    assert await page.room.titles(ADA) == ["Page 1", "Page 2", "Page 3"]
    status, text = await page.get("/connections")
    assert "up to date" in text
    assert "3 documents" in text
    assert ("web:operator", "connect", "wiki") in [
        (one.actor, one.action, one.target) for one in await page.room.audit.recent()
    ]


async def test_a_refused_token_is_not_kept_and_not_shown(page: Page) -> None:
    status, text = await page.connects(set_token="mistyped-secret")
    assert status == 422
    assert "rejected the token" in text
    assert "mistyped-secret" not in text
    assert page.site.url in text  # what is no secret need not be typed again
    assert await page.room.store.connections() == []


async def test_no_page_shows_a_secret_that_was_kept(page: Page) -> None:
    await page.connects()
    sealed = (await page.room.sources.find("wiki")).secrets["token"]
    for path in (*PATHS, "/connect/confluence?of=wiki"):
        status, text = await page.get(path)
        assert status == 200
        assert TOKEN not in text
        assert sealed not in text


async def test_settings_cannot_be_changed_without_the_secret(page: Page) -> None:
    await page.connects()
    before = await page.room.sources.find("wiki")
    status, text = await page.connects(set_token="", set_url="https://evil.example")
    assert status == 422
    assert "needs: API token" in text
    assert await page.room.sources.find("wiki") == before


async def test_changed_settings_keep_what_the_form_shows(page: Page) -> None:
    await page.connects(minutes="60", hours="999999")
    connection = await page.room.sources.find("wiki")
    assert (connection.minutes, connection.hours) == (60, 24)
    _, text = await page.get("/connect/confluence?of=wiki")
    assert 'value="60"' in text
    assert page.site.url in text


async def test_a_source_that_states_no_readers_asks_for_them(page: Page) -> None:
    assert 'name="readers"' in (await page.get("/connect/notion"))[1]
    assert 'name="readers"' not in (await page.get("/connect/confluence"))[1]
    assert (await page.get("/connect/nothing"))[0] == 404


# --- state and readers


async def test_groups_are_mapped_and_what_nobody_reads_is_counted(page: Page) -> None:
    page.site.pages["3"].groups = ("g-board",)
    page.site.groups["g-board"] = []
    await page.connects()
    await page.syncs()
    _, text = await page.get("/connections/wiki")
    assert "1 document not read" in text
    status, there = await page.post("/connections/wiki/map", group="g-board", principals=f"{ADA}, {ADA}")
    assert (status, there) == (303, "/connections/wiki#readers")
    await page.syncs()
    assert "Page 3" in await page.room.titles(ADA)
    assert f'value="{ADA}"' in (await page.get("/connections/wiki"))[1]
    status, text = await page.post("/connections/wiki/map", group="g-board", principals="nonsense")
    assert status == 422
    assert "not a reader that I know" in text


async def test_titles_of_broken_documents_are_for_their_readers_and_the_operator(page: Page) -> None:
    page.site.add_page("9", SECRET_TITLE, "")
    page.site.without_body.add("9")
    page.site.add_page("8", "<b>Open</b> to all", "", space="OPEN")
    await page.connects()
    await page.syncs()
    _, text = await page.get("/connections/wiki")
    assert SECRET_TITLE in text
    assert "sent the page without its text" in text
    _, text = await page.get("/connections/wiki", "user/eve@example.org")
    assert SECRET_TITLE not in text
    assert "1 more document could not be read" in text
    _, text = await page.get("/connections/wiki", "user/ada@example.org")
    assert SECRET_TITLE in text


async def test_a_failing_connection_says_since_when_and_what_to_do(page: Page) -> None:
    await page.connects()
    page.site.is_revoked = True
    await page.syncs()
    _, text = await page.get("/connections/wiki")
    assert "failing since" in text
    assert "Create a new token and connect again." in text


async def test_it_is_synced_now_and_removed(page: Page) -> None:
    await page.connects()
    assert await page.post("/connections/wiki/sync") == (303, "/connections/wiki")
    await page.room.works()
    assert len(await page.room.titles(ADA)) == 3
    status, there = await page.post("/connections/wiki/remove")
    assert (status, there) == (303, "/connections?removed=wiki")
    assert await page.room.titles(ADA) == []
    assert await page.room.store.connections() == []


# --- the link from a chat


async def link_for(page: Page, by: Person = ADMIN, *, private: bool = True) -> ConnectLink:
    links = ConnectLinks(page.sessions, str(page.server.make_url("/")))
    return await links.issue(KbCommand(KbVerb.CONNECT), page.room.caller(by, private=private))


async def test_a_link_from_a_chat_opens_connections_once_and_nothing_else(page: Page) -> None:
    link = (await link_for(page)).address
    path = link[link.index("/sign-in/") :]
    assert await page.send("POST", path, "") == (303, "/connections")
    token = page.cookie
    status, text = await page.send("GET", "/connections", token)
    assert status == 200
    csrf = re.findall(r'name="csrf" value="([^"]+)"', text)[0]
    for closed in ("/", "/g"):
        assert (await page.send("GET", closed, token))[0] == 403
    form = {"csrf": csrf, "set-url": page.site.url, "set-email": EMAIL, "set-token": TOKEN, "name": "wiki"}
    assert (await page.send("POST", "/connect/confluence", token, form))[0] == 200
    assert (await page.room.sources.find("wiki")).by == ADMIN
    assert (await page.send("POST", path, ""))[0] == 403
    assert (await page.send("POST", "/sign-out", token, {"csrf": csrf}))[0] == 303
    assert (await page.send("GET", "/connections", token))[0] == 303


async def test_a_link_from_a_chat_takes_nothing_from_who_is_signed_in(page: Page) -> None:
    operator = await page.sign_in("operator")
    link = (await link_for(page)).address
    assert await page.send("POST", link[link.index("/sign-in/") :], operator) == (303, "/connections")
    assert (await page.send("GET", "/g", page.cookie))[0] == 200


async def test_without_an_address_of_the_page_the_terminal_is_named() -> None:
    with pytest.raises(NotFound, match=r"WEB_ADDRESS and a way to sign in\. footnote connect in a terminal"):
        await ConnectLinks(InProcessWebSessions(), "").issue(KbCommand(KbVerb.CONNECT), Room().caller(ADMIN))


async def test_a_link_is_for_admins_in_private_alone_and_in_no_record(page: Page) -> None:
    room = page.room
    assert isinstance(await room.says(KbVerb.CONNECT, MEMBER), Refused)
    assert "Others could read" in words(await room.says(KbVerb.CONNECT, private=False))
    given = await room.says(KbVerb.CONNECT)
    assert isinstance(given, ConnectLink)
    assert given.address.startswith("https://notes.example/sign-in/")
    assert given.address in words(given)
    entries = await room.audit.recent()
    assert entries[0].action == "kb connect"
    assert not any(given.address.rpartition("/")[2] in f"{one.target} {one.detail}" for one in entries)


async def path_for(page: Page, by: Person = ADMIN) -> str:
    link = (await link_for(page, by)).address
    return link[link.index("/sign-in/") :]


async def test_a_link_opens_nothing_for_who_is_no_admin_any_more(page: Page) -> None:
    path = await path_for(page)
    page.chats[:] = [RecordedPlatform()]
    status, text = await page.send("POST", path, "")
    assert status == 403
    assert "for admins of the chat" in text
    page.chats.clear()  # where nobody can be asked
    assert (await page.send("POST", await path_for(page), ""))[0] == 403


@pytest.mark.parametrize("path", PATHS[:2])
async def test_a_session_from_a_chat_ends_with_the_rights_there(page: Page, path: str) -> None:
    await page.send("POST", await path_for(page), "")
    token = page.cookie
    assert (await page.send("GET", "/connections", token))[0] == 200
    page.chats[:] = [RecordedPlatform()]
    assert (await page.send("GET", path, token))[1].startswith("/sign-in")
    page.chats[:] = [RecordedPlatform(admins=frozenset({ADMIN.id}))]
    assert (await page.send("GET", path, token))[1].startswith("/sign-in")


async def test_a_look_ahead_does_not_use_a_link_up(page: Page) -> None:
    path = await path_for(page)
    for method in ("HEAD", "GET"):  # as chats do that show what is behind a link
        assert (await page.send(method, path, ""))[0] == 200
    assert await page.send("POST", path, "") == (303, "/connections")


async def test_a_link_signs_in_its_own_admin_where_another_came_by_a_link(page: Page) -> None:
    await page.send("POST", await path_for(page, OTHER), "")
    assert await page.send("POST", await path_for(page), page.cookie) == (303, "/connections")
    session = await page.sessions.read(page.cookie)
    assert session is not None
    assert session.person == ADMIN
