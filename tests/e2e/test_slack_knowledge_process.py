"""What an admin feeds through Slack, in the real process: from the form to an answer that cites it.

One process plays all tests, one after another, because starting it is what takes time.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from tests.e2e.test_slack_process import answered, end_server, serving
from tests.fakes.slack import FakeSlack, Message, specs_are_here

PARKING = b"# Parking\n\nParking permits are issued by the reception desk every Monday.\n"
TRAVEL = b"# Travel\n\nTravel expenses are approved by the regional manager within a week.\n"
CANVAS = "<h1>Onboarding</h1><p>New colleagues receive their laptop from the hardware counter on the first day.</p>"
PAGE = "<html><head><title>Holidays</title></head><body><h1>Holidays</h1><p>Holiday requests are decided by the team \
lead within three days.</p></body></html>"

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]


@asynccontextmanager
async def site() -> AsyncIterator[str]:
    """A page on this machine; its address."""

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=PAGE, content_type="text/html")

    app = web.Application()
    app.router.add_get("/holidays.html", page)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/holidays.html"
    finally:
        await runner.cleanup()


class Office:
    """Ada, who is an admin, Alice, who is none, and what they see."""

    def __init__(self, slack: FakeSlack) -> None:
        self.slack = slack
        self.ada, self.alice = slack.person("ada"), slack.person("alice")

    async def told(self, words: str, *, admin: bool = True) -> Message:
        who = self.ada if admin else self.alice
        await who.slash("/kb", words, "general")
        return await who.next_private(30)

    async def card(self, number: int, *containing: str, within: float = 60.0) -> Message:
        """The admin's newest card, of so many, once it says all of this."""

        def there() -> bool:
            cards = self.slack.visible(self.ada.dm)
            return len(cards) == number and all(one in cards[-1].markdown for one in containing)

        try:
            await self.slack.until(there, within, what=f"a card with {containing}")
        except AssertionError as error:
            error.add_note("\n\n".join(one.markdown for one in self.slack.visible(self.ada.dm)))
            raise
        return self.slack.visible(self.ada.dm)[-1]

    async def asks(self, question: str, containing: str) -> Message:
        said = await self.alice.says(f"<@bot> {question}", "general")
        answer = await answered(self.slack, said, "Show quotes")
        assert containing in answer.markdown, answer.markdown
        return answer


async def test_what_an_admin_feeds_through_slack_is_answered_from(
    tmp_path: Path,
) -> None:
    async with FakeSlack() as slack, site() as link:
        office = Office(slack)
        async with serving(tmp_path, slack, FETCH_ALLOW_PRIVATE=urlsplit(link).netloc):
            await two_files_through_the_form(office)
            await a_link_a_canvas_and_a_channel(office, link)
            await a_removal_pressed_twice(office)
            await a_proposal_and_a_correction(office)
            await a_job_cancelled_on_its_card(office)
        assert slack.violations == []
        assert slack.unfurling() == []
    await end_server(tmp_path)


async def two_files_through_the_form(office: Office) -> None:
    await office.ada.slash("/kb", "", "general")
    form = await office.ada.next_modal()
    await office.ada.submits(form, {"files": [("parking.md", PARKING), ("travel.md", TRAVEL)]})
    assert "Adding 2 documents" in (await office.ada.next_private(30)).markdown
    card = await office.card(1, "Done", "2 added")
    assert [state.markdown for state in card.history if "Queued." in state.markdown]
    assert card.buttons() == []
    answer = await office.asks("who issues parking permits?", "reception desk")
    assert "*Parking*" in answer.markdown
    await office.alice.clicks(answer, "Show quotes")
    await office.alice.modal_shows("reception desk every Monday")


async def a_link_a_canvas_and_a_channel(office: Office, link: str) -> None:
    slack = office.slack
    assert "Adding http://127.0.0.1" in (await office.told(f"ingest {link}")).markdown
    await office.card(2, "Done", "1 added")
    await office.asks("who decides holiday requests?", "team lead")
    canvas = await slack.person("bob").writes_canvas("Onboarding", CANVAS, "general")
    assert "Adding canvas" in (await office.told(f"ingest {canvas.link(slack.world.domain, slack.team_id)}")).markdown
    await office.card(3, "Done", "1 added")
    await office.asks("where do new colleagues receive their laptop?", "hardware counter")
    kitchen = slack.channel("kitchen")
    said = await slack.person("bob").says("When is the coffee machine descaled?", kitchen)
    await slack.person("bob").says("The coffee machine is descaled on the last Friday.", kitchen, thread=said)
    await office.ada.slash("/kb", "ingest --here", kitchen)
    assert "Adding the conversations of #kitchen" in (await office.ada.next_private(30)).markdown
    await office.card(4, "Done", "1 added")
    await office.asks("when is the coffee machine descaled?", "last Friday")


async def a_removal_pressed_twice(office: Office) -> None:
    assert (await office.told("remove Travel", admin=False)).markdown == "Only admins can do that. Ask one of them."
    asked = await office.told("remove Travel")
    assert asked.buttons() == ["Remove it"]
    await asyncio.gather(*(office.ada.clicks(asked, "Remove it") for _ in range(2)))
    await office.slack.until(lambda: "Removed “Travel”" in asked.markdown, 60, what="the removal")
    await office.ada.clicks(asked, "Remove it", stale=True)
    assert "Travel" not in (await office.told("list --kb default")).markdown
    assert "Removed “Travel”" in asked.markdown


async def a_proposal_and_a_correction(office: Office) -> None:
    said = await office.alice.says("The lift is inspected by the facility team each spring.", "general")
    await office.alice.shortcut("footnote_add_to_knowledge", said)
    assert "waits for an admin" in (await office.alice.next_private(30)).markdown
    assert "1 proposal to review" in (await office.told("status")).markdown
    listed = await office.told("proposals")
    await asyncio.gather(*(office.ada.clicks(listed, "Approve") for _ in range(3)))
    await office.slack.until(lambda: "No proposals are waiting" in listed.markdown, 60, what="the outcome")
    assert "Adding The lift is inspected" in listed.markdown
    await office.card(5, "Done", "1 added")
    answer = await office.asks("who inspects the lift?", "facility team")
    await office.alice.clicks(answer, "👎")
    form = await office.alice.next_modal()
    await office.alice.submits(form, {"answer": "The lift is inspected by an outside firm."})
    assert "waits for an admin" in (await office.alice.next_private(30)).markdown
    assert "who inspects the lift?" in (await office.told("proposals")).markdown


async def a_job_cancelled_on_its_card(office: Office) -> None:
    office.slack.faults.slow("files.info", 5.0)
    await office.ada.slash("/kb", "ingest", "general")
    form = await office.ada.next_modal()
    await office.ada.submits(form, {"files": [("late.md", b"# Late\n\nThis never arrives.")]})
    card = await office.card(6, "Cancel")
    await office.ada.clicks(card, "Cancel")
    await office.card(6, "Cancelled. Nothing was changed.")
    assert card.buttons() == []
    assert "Late" not in (await office.told("list --kb default")).markdown
