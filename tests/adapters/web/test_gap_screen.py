"""The Gaps page over a real socket: permissions, content and exports."""

import asyncio
import csv
import io
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from types import SimpleNamespace

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer

from adapters.web.access.guard import COOKIE, Guard
from adapters.web.access.rules import AccessRules
from adapters.web.gaps_screen import GapScreen
from adapters.web.pages import Pages
from core.model.conversation import Person
from core.model.knowledge import KnowledgeBase
from core.ports.access import SignInMethod, WebSession
from core.service.gaps.drafts import GapDrafts
from core.service.kb.queries import KnowledgeQueries
from tests.core.service.gaps.planted import HANDBOOK, House
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.proposal_store import InProcessProposalStore
from tests.fakes.memory.stores import InProcessAudit
from tests.fakes.memory.web_sessions import InProcessWebSessions

pytestmark = [pytest.mark.e2e, pytest.mark.filterwarnings("ignore:It is recommended to use web.RequestKey")]

PARKING = "Where may I park?"
SALARY = "zanzibarcanary may I get an advance on my salary?"
HOSTILE = '<script>alert("x")</script> =cmd|calc where may I park?'


@dataclass
class Page:
    """The screen before a house, and somebody at a browser."""

    house: House
    records: InProcessProposalStore
    sessions: InProcessWebSessions
    server: BaseTestServer

    async def get(self, path: str, *, admin: bool = True) -> tuple[int, str]:
        """A page, as an admin or a reader."""
        async with self._browser(await self._sign_in(admin)) as browser, browser.get(self._url(path)) as got:
            return got.status, await got.text()

    async def post(self, path: str, *, admin: bool = True, csrf: str = "c", **fields: str) -> tuple[int, str]:
        """A form; where it leads, or the page that comes back."""
        origin = {"Origin": str(self.server.make_url("/")).rstrip("/")}
        async with (
            self._browser(await self._sign_in(admin)) as browser,
            browser.post(self._url(path), data={"csrf": csrf, **fields}, headers=origin, allow_redirects=False) as got,
        ):
            return got.status, got.headers.get("Location", "") or await got.text()

    async def _sign_in(self, admin: bool) -> str:
        who = Person("web:operator" if admin else "web:reader/1", "you")
        return await self.sessions.begin(WebSession(who, SignInMethod.LINK, is_admin=admin, csrf="c"))

    def _browser(self, token: str) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(cookies={COOKIE: token}, cookie_jar=aiohttp.CookieJar(unsafe=True))

    def _url(self, path: str) -> str:
        return str(self.server.make_url(path))


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    house, records = House(HashingEncoder()), InProcessProposalStore()
    await house.furnish()
    sessions, audit, pages = InProcessWebSessions(), InProcessAudit(), Pages()
    screen = GapScreen(
        pages=pages,
        analysis=house.analysis,
        drafts=GapDrafts(house.feedback, records, audit, house.clock),
        queries=KnowledgeQueries(house.catalog, *[SimpleNamespace()] * 6),
    )
    pages.show_menu(screen.menu)
    guard = Guard(AccessRules(), sessions, audit, pages)
    app = web.Application()
    app.add_routes([guard.protect(route) for route in screen.routes()])
    async with TestServer(app) as server:
        yield Page(house, records, sessions, server)


async def parking(page: Page, times: int = 2) -> str:
    """So many ask where to park; the gap's id."""
    asked = [await page.house.asks(PARKING, by=f"slack:T/U{n}", ago=timedelta(days=n + 1)) for n in range(times)]
    return asked[-1].trace_id


@pytest.mark.parametrize("path", ["/gaps", "/gaps/gaps.csv", "/gaps/gaps.json", "/gaps/t0001/draft"])
async def test_only_admins_see_what_others_asked(page: Page, path: str) -> None:
    await parking(page)
    status, text = await page.get(path, admin=False)
    assert status == 403
    assert PARKING not in text


async def test_it_says_what_to_do_before_anything_was_asked(page: Page) -> None:
    status, text = await page.get("/gaps")
    assert status == 200
    assert 'href="/ask"' in text
    assert "<table" not in text


async def test_a_gap_stands_with_how_often_by_how_many_and_where_to_begin(page: Page) -> None:
    gap = await parking(page)
    _, text = await page.get("/gaps")
    assert f"<h2>{PARKING}</h2>" in text
    assert "2 questions" in text
    assert "of 2 people" in text
    assert f'href="/gaps/{gap}/draft?days=30"' in text
    assert 'href="/documents/d1"' in text


async def test_words_of_private_questions_are_in_nothing_that_leaves(page: Page) -> None:
    await parking(page)
    for number in range(4):
        await page.house.asks(SALARY, by=f"slack:T/U{number}", private=True)
    for path in ("/gaps", "/gaps/gaps.csv", "/gaps/gaps.json"):
        _, text = await page.get(path)
        assert "zanzibarcanary" not in text
        assert "salary" not in text


async def test_a_question_is_text_and_nothing_else(page: Page) -> None:
    asked = await page.house.asks(HOSTILE)
    for path in ("/gaps", f"/gaps/{asked.trace_id}/draft"):
        _, text = await page.get(path)
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text


async def test_the_period_is_one_of_those_that_are_offered(page: Page) -> None:
    await page.house.asks(PARKING, ago=timedelta(days=20))
    assert PARKING not in (await page.get("/gaps?days=7"))[1]
    for days in ("90", "30", "99999", "x"):
        assert PARKING in (await page.get(f"/gaps?days={days}"))[1]


async def test_a_table_is_taken_away(page: Page) -> None:
    await parking(page)
    _, text = await page.get("/gaps/gaps.csv")
    (line,) = csv.DictReader(io.StringIO(text.lstrip("\ufeff")))
    assert (line["title"], line["questions"]) == (PARKING, "2")


async def test_a_draft_is_completed_and_waits_as_a_proposal(page: Page) -> None:
    gap = await parking(page)
    _, text = await page.get(f"/gaps/{gap}/draft")
    assert re.search(rf"<textarea[^>]*># {re.escape(PARKING)}", text)
    status, there = await page.post(
        f"/gaps/{gap}/draft", title="Parking", text="# Parking\n\nOn deck two.", base="handbook"
    )
    assert (status, there) == (303, "/knowledge/proposals")
    (proposal,) = await page.records.proposals()
    assert (proposal.title, proposal.base, proposal.text) == ("Parking", "handbook", "# Parking\n\nOn deck two.")


async def test_a_draft_goes_into_no_base_of_a_connected_source(page: Page) -> None:
    gap = (await page.house.asks(PARKING, nearest=(HANDBOOK,))).trace_id
    assert " selected>handbook</option>" in (await page.get(f"/gaps/{gap}/draft"))[1]
    await page.house.catalog.save_base(KnowledgeBase("handbook", connection="wiki"))
    assert ">handbook</option>" not in (await page.get(f"/gaps/{gap}/draft"))[1]
    status, _ = await page.post(f"/gaps/{gap}/draft", title="Parking", text="# Parking\n\nDeck two.", base="handbook")
    assert status == 303
    assert [one.base for one in await page.records.proposals()] == [""]


async def test_a_draft_that_is_not_written_is_refused_and_its_text_kept(page: Page) -> None:
    gap = await parking(page)
    text = "# Parking\n\nOn deck two, or (to be written)."
    status, shown = await page.post(f"/gaps/{gap}/draft", title="Parking", text=text, base="handbook")
    assert status == 422
    assert "The draft still says “(to be written)”." in shown
    assert "On deck two, or" in shown
    assert list(await page.records.proposals()) == []


@pytest.mark.parametrize(("admin", "csrf"), [(False, "c"), (True, "another session's")])
async def test_nobody_else_proposes_and_no_other_page_makes_an_admin_do_it(page: Page, admin: bool, csrf: str) -> None:
    gap = await parking(page)
    status, _ = await page.post(f"/gaps/{gap}/draft", admin=admin, csrf=csrf, title="x", text="x", base="")
    assert status == 403
    assert list(await page.records.proposals()) == []


async def test_a_gap_that_is_gone_is_one_line(page: Page) -> None:
    status, text = await page.get("/gaps/nothing/draft")
    assert status == 404
    assert "There is no gap" in text


async def test_many_look_at_once(page: Page) -> None:
    await parking(page)
    assert {status for status, _ in await asyncio.gather(*(page.get("/gaps") for _ in range(8)))} == {200}
