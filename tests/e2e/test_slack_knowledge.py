"""Knowledge from Slack: ``/kb`` in words, as a form and by buttons; cards, proposals and corrections."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from adapters.slack.kb.command_parser import parse_command
from adapters.slack.kb.job_cards import EDITS
from adapters.slack.platform import SlackPlatform
from core.model.jobs import Job, JobProgress, JobStage, JobState
from core.ports.index import Scope
from core.ports.platform import PlatformCapabilities
from core.service.kb.chat_changes import ChangedConversation
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.job_runner import JobRunner
from tests.core.service.kb.knowledge_room import Room
from tests.e2e.inprocess import REFUNDS, Bot, parse
from tests.e2e.slack_driver import Road, SlackDriver
from tests.e2e.test_discord_knowledge import WrittenDown
from tests.fakes.slack import FakeSlack, Message, View, specs_are_here
from tests.fakes.slack.rendering import buttons_of

e2e = [
    pytest.mark.e2e,
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]
HANDBOOK = b"# Refund policy\n\nRefunds are paid within 14 days."
TRAVEL = b"# Travel policy\n\nTrains come before planes."


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as workspace:
        yield workspace
        assert workspace.violations == []
        assert workspace.unfurling() == []


class SlackRoom(Room):
    """The real desk with in-process stores, whose jobs are worked on with what Slack lends."""

    def __init__(self, slack: FakeSlack, road: Road = "socket") -> None:
        super().__init__()
        self.slack = slack
        self.road = road
        self.bot = Bot(SlackDriver(slack, "socket"))
        self.platforms: list[SlackPlatform] = []
        self.message_states = self.bot.message_states
        self.wire()

    @asynccontextmanager
    async def process(self) -> AsyncIterator[SlackPlatform]:
        """One process of the bot, connected."""
        stop, bot = asyncio.Event(), self.bot
        driver = SlackDriver(self.slack, self.road)
        opening = driver.connecting(
            bot.inbox, bot.message_states, bot.harness.checkpoints, bot.user_actions, parse=parse, kb=self.kb_service
        )
        async with opening as platform:
            assert isinstance(platform, SlackPlatform)
            running = asyncio.create_task(platform.run(stop))
            self.platforms.append(platform)
            await self.slack.until(lambda: not platform.readiness_problem(), what="a connection")
            try:
                yield platform
            finally:
                self.platforms.remove(platform)
                stop.set()
                await running

    def runner(self, platforms: Mapping[str, PlatformCapabilities] | None = None) -> JobRunner:
        return super().runner({"slack": self.platforms[-1].capabilities(), "paper": self.platform.capabilities()})

    async def newest(self) -> Job:
        return (await self.jobs.recent())[0]

    async def follows(self, notes: int) -> None:
        """Wait until so many conversations are noted as changed; then read them again, as the clock would have it."""
        blank = ChangedConversation(source="")

        async def noted() -> bool:
            return len(await self.bot.message_states.read_entries(blank)) >= notes

        async with asyncio.timeout(60):
            while not await noted():
                await asyncio.sleep(0.01)
        await self.scheduler.tick()
        await self.works()
        await self.scheduler.tick()
        assert not await self.bot.message_states.read_entries(blank)

    async def documents(self) -> dict[str, str]:
        """Titles by source."""
        bases = frozenset(base.name for base in await self.catalog.bases())
        return {one.source: one.title for one in await self.catalog.documents(bases)}

    async def card(self, name: str, job: Job) -> Message:
        """A job's card, in somebody's direct message."""

        def there() -> list[Message]:
            direct = self.slack.person(name).dm
            return [one for one in self.slack.visible(direct) if f"job {job.id}" in one.markdown]

        await self.slack.until(there, what="a card")
        records = self.bot.harness.state.records
        await self.slack.until(lambda: records.get(card_at(job), {}).get("message"), what="its place, kept")
        (card,) = there()
        return card


@pytest.fixture
async def room(slack: FakeSlack) -> AsyncIterator[SlackRoom]:
    room = SlackRoom(slack)
    await room.says(KbVerb.CREATE, base="handbook")
    async with room.process():
        yield room


async def opened(slack: FakeSlack, name: str = "ada", words: str = "", place: str = "general") -> View:
    await slack.person(name).slash("/kb", words, place)
    return await slack.person(name).next_modal()


async def told(slack: FakeSlack, name: str, words: str) -> Message:
    """What somebody is shown for a command."""
    await slack.person(name).slash("/kb", words, "general")
    return await slack.person(name).next_private()


class TestConnect:
    pytestmark = e2e

    async def test_an_admin_gets_a_link_that_slack_does_not_open(self, slack: FakeSlack, room: SlackRoom) -> None:
        word = (await told(slack, "ada", "connect")).markdown
        assert re.search(r"`https://notes\.example/sign-in/[\w-]{16,}`", word), word
        assert "Only admins" in (await told(slack, "alice", "connect")).markdown


class TestTheForm:
    pytestmark = e2e

    async def test_two_attached_files_are_added_and_the_card_shows_how_far_it_is(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        ada = slack.person("ada")
        form = await opened(slack)
        await ada.submits(form, {"files": [("refunds.md", HANDBOOK), ("travel.md", TRAVEL)], "base": "handbook"})
        assert not form.open
        word = await ada.next_private()
        assert word.markdown.splitlines() == [
            "*Adding 2 documents to “handbook”*",
            "The added documents are open to everyone.",
            "I show the progress in our direct message.",
        ]
        card = await room.card("ada", await room.newest())
        assert "Queued." in card.markdown
        assert card.buttons() == ["Cancel"]
        await room.works()
        assert "Done: 2 added." in card.markdown
        assert card.buttons() == []
        assert await room.documents() == {"refunds.md": "Refund policy", "travel.md": "Travel policy"}
        assert (await room.finds("refunds"))[0] == "Refund policy"

    async def test_it_says_what_is_missing_and_stays_open(self, slack: FakeSlack, room: SlackRoom) -> None:
        form = await opened(slack, words="ingest")
        await slack.person("ada").submits(form)
        assert form.errors == {"link": "Attach a file, enter a link, or choose this channel."}
        await slack.person("ada").submits(form, {"link": "handbook.pdf"})
        assert "not a link" in form.errors["link"]
        assert not await room.jobs.recent()

    async def test_a_link_is_followed_to_as_many_pages_as_asked(self, slack: FakeSlack, room: SlackRoom) -> None:
        room.site.pages = {
            "https://docs.example/": "<html><a href='/a'>a</a><a href='/b'>b</a></html>",
            "https://docs.example/a": "Alpha.",
            "https://docs.example/b": "Beta.",
        }
        await slack.person("ada").submits(await opened(slack), {"link": "https://docs.example/", "limit": "2"})
        await room.works()
        assert (await room.newest()).limit == 2
        assert len(await room.documents()) == 2
        assert "Adding the pages below https://docs.example/" in (await slack.person("ada").next_private()).markdown

    async def test_a_channels_history_is_its_threads_and_its_days(self, slack: FakeSlack, room: SlackRoom) -> None:
        said = await slack.person("bob").says("How long do <@alice> refunds take?", "general")
        await slack.person("alice").says("14 days.", "general", thread=said)
        await slack.person("bob").says("The office is closed on Friday.", "general")
        await slack.bot("builds").says("Build 17 is green.", "general")
        await slack.person("ada").submits(await opened(slack), {"here": ["here"]})
        await room.works()
        job = await room.newest()
        assert (job.subject, job.state) == ("#general", JobState.DONE)
        day, thread = sorted((await room.documents()).values(), key=len)
        assert thread == "How long do @alice refunds take?"
        assert day.startswith("#general, ")
        words = "\n".join([hit async for hit in _texts(room)])
        assert "closed on Friday" in words
        assert "Build 17" not in words

    async def test_what_is_edited_or_deleted_in_slack_is_no_longer_found(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        bob, alice = slack.person("bob"), slack.person("alice")
        root = await bob.says("How long do refunds take?", "general")
        wrong = await alice.says("Refunds take 45 days.", "general", thread=root)
        office = await bob.says("The office is closed on Friday.", "general")
        await alice.says("Lunch is at noon.", "general")
        await slack.person("ada").submits(await opened(slack), {"here": ["here"]})
        await room.works()
        assert "45 days" in await _found(room, "refunds")
        assert "closed on Friday" in await _found(room, "office closed")

        await alice.deletes(wrong)
        await bob.edits(office, "The office is open on Friday.")
        await room.follows(3)
        assert "45 days" not in await _found(room, "refunds")
        assert "open on Friday" in await _found(room, "office friday")
        assert "closed on Friday" not in await _found(room, "office closed")
        assert "at noon" in await _found(room, "lunch")

        await alice.says("Refunds take 14 days.", "general", thread=root)
        await bob.deletes(root)
        await room.follows(2)
        assert [title[:8] for title in (await room.documents()).values()] == ["#general"]

    async def test_there_is_no_channel_to_add_in_a_direct_message(self, slack: FakeSlack, room: SlackRoom) -> None:
        ada = slack.person("ada")
        await ada.slash("/kb", "", ada.dm)
        form = await ada.next_modal()
        assert "This channel" not in form.markdown
        await ada.submits(form, {"files": [("refunds.md", HANDBOOK)]})
        assert "Queued." in (await room.card("ada", await room.newest())).markdown

    async def test_sent_twice_it_is_one_job(self, slack: FakeSlack, room: SlackRoom) -> None:
        form = await opened(slack)
        sent = await slack.person("ada").submits(form, {"files": [("refunds.md", HANDBOOK)]})
        again = slack.courier.send("interactive", sent.payload)
        await again.finished.wait()
        assert again.acknowledged
        assert len(await room.jobs.recent()) == 1

    async def test_who_is_no_admin_any_more_when_it_is_sent_adds_nothing(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        form = await opened(slack)
        slack.person("ada").user.is_admin = False
        room.platforms[-1].workspace.directory._members._values.clear()  # a minute later
        await slack.person("ada").submits(form, {"files": [("refunds.md", HANDBOOK)]})
        assert form.errors == {"files": "Only admins can do that. Ask one of them."}
        assert not await room.jobs.recent()

    async def test_of_many_bases_one_is_found_by_typing_its_name(self, slack: FakeSlack, room: SlackRoom) -> None:
        for number in range(30):
            await room.says(KbVerb.CREATE, base=f"team {number:02}")
        form = await opened(slack, words="ingest --kb 'Team 05'")
        assert form.blocks[-1]["element"]["initial_option"]["value"] == "team 05"
        found = await slack.person("ada").looks_up(form, "base", "TEAM 2")
        assert [one["value"] for one in found] == [f"team {number}" for number in range(20, 30)]
        await slack.person("ada").submits(form, {"base": found[3], "files": [("refunds.md", HANDBOOK)]})
        assert (await room.newest()).base == "team 23"

    async def test_over_http_it_is_the_same_form(self, slack: FakeSlack) -> None:
        room = SlackRoom(slack, "http")
        for number in range(30):
            await room.says(KbVerb.CREATE, base=f"team {number:02}")
        async with room.process():
            form = await opened(slack)
            found = await slack.person("ada").looks_up(form, "base", "team 07")
            await slack.person("ada").submits(form, {"base": found[0], "files": [("refunds.md", HANDBOOK)]})
            card = await room.card("ada", await room.newest())
            await room.works()
            assert "1 added" in card.markdown
        assert await room.finds("refunds", "team 07") == ["Refund policy"]


async def _texts(room: Room) -> AsyncIterator[str]:
    for words in ("office closed", "refunds", "build green"):
        scope = Scope(frozenset({"handbook"}))
        for hit in (await room.retriever.search(words, scope)).hits:
            yield hit.passage.text


async def _found(room: Room, words: str) -> str:
    return "\n".join(await room.finds_text(words, "handbook"))


class TestFiles:
    pytestmark = e2e

    async def test_a_canvas_is_added_by_its_link_where_it_is_shared(self, slack: FakeSlack, room: SlackRoom) -> None:
        canvas = await slack.person("bob").writes_canvas("Onboarding", "<h1>Day one</h1><p>Get a key.</p>", "general")
        link = canvas.link(slack.world.domain, slack.team_id)
        assert "Adding" in (await told(slack, "ada", f"ingest {link}")).markdown
        await room.works()
        assert list(await room.documents()) == [f"canvas {canvas.id}.html"]
        assert await room.finds("day one key") != []

    async def test_a_canvas_of_another_private_channel_is_not_ours_to_add(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        slack.channel("board", private=True, members=["bob"])
        canvas = await slack.person("bob").writes_canvas("Plans", "<p>Secret.</p>", "board")
        link = canvas.link(slack.world.domain, slack.team_id)
        assert (
            "Run the command in the channel where it is shared" in (await told(slack, "ada", f"ingest {link}")).markdown
        )
        form = await opened(slack)
        await slack.person("ada").submits(form, {"link": link})
        assert "I can't tell whether you have permission to read that." in form.errors["link"]
        slack.channel("hidden", private=True, members=["bob"], bot=False)
        other = await slack.person("bob").writes_canvas("More", "<p>Secret.</p>", "hidden")
        word = await told(slack, "ada", f"ingest {other.link(slack.world.domain, slack.team_id)}")
        assert "not shared with me" in word.markdown
        assert slack.downloads == []

    async def test_a_thread_is_added_by_the_link_of_a_message(self, slack: FakeSlack, room: SlackRoom) -> None:
        said = await slack.person("bob").says("How long do refunds take?", "general")
        answer = await slack.person("alice").says("30 days since May.", "general", thread=said)
        assert "Adding" in (await told(slack, "ada", f"ingest {slack.world.permalink(answer)}")).markdown
        await room.works()
        assert list((await room.documents()).values()) == ["How long do refunds take?"]
        board = slack.channel("board", private=True, members=["bob"])
        secret = await slack.person("bob").says("We sell the company.", board)
        word = await told(slack, "ada", f"ingest {slack.world.permalink(secret)}")
        assert "I can't tell whether you have permission to read that." in word.markdown
        refused = [one for one in await room.bot.audit.recent() if not one.allowed]
        assert [one.target for one in refused] == [board.id]

    async def test_the_missing_scope_is_named(self, slack: FakeSlack, room: SlackRoom) -> None:
        form = await opened(slack)
        await slack.person("ada").submits(form, {"files": [("refunds.md", HANDBOOK)]})
        slack.scopes.discard("files:read")
        await room.works()
        card = await room.card("ada", await room.newest())
        assert "refunds.md: I cannot read files here, because the app lacks the scope files:read." in card.markdown
        await slack.person("ada").next_private()
        canvas = await slack.person("bob").writes_canvas("Onboarding", "<p>Hello.</p>", "general")
        word = await told(slack, "ada", f"ingest {canvas.link(slack.world.domain, slack.team_id)}")
        assert "the app lacks the scope files:read" in word.markdown

    async def test_a_page_to_sign_in_is_never_taken_for_the_file(self, slack: FakeSlack, room: SlackRoom) -> None:
        slack.serves_sign_in_page = True
        form = await opened(slack)
        await slack.person("ada").submits(form, {"files": [("a.md", HANDBOOK), ("page.html", b"<p>Refunds.</p>")]})
        await room.works()
        job = await room.newest()
        assert [item.state for item in job.failed_items] == ["failed", "failed"]
        assert all("files:read" in item.reason for item in job.failed_items)
        assert await room.documents() == {}

    async def test_a_file_larger_than_it_was_said_to_be_is_refused(self, slack: FakeSlack, room: SlackRoom) -> None:
        form = await opened(slack)
        await slack.person("ada").submits(form, {"files": [("big.txt", b"x" * (25 * 2**20 + 1))]})
        next(iter(slack.world.files.values())).claimed_size = 10
        await room.works()
        (item,) = (await room.newest()).failed_items
        assert "larger than 25 MB" in item.reason


class TestButtons:
    pytestmark = e2e

    async def test_a_removal_is_confirmed_by_a_button_that_acts_once(self, slack: FakeSlack, room: SlackRoom) -> None:
        ada = slack.person("ada")
        await room.adds(refunds_md=HANDBOOK.decode())
        asked = await told(slack, "ada", 'remove "Refund policy"')
        assert asked.buttons() == ["Remove it"]
        assert "--yes" not in asked.markdown
        await asyncio.gather(ada.clicks(asked, "Remove it"), ada.clicks(asked, "Remove it"))
        await slack.until(lambda: "Removed “Refund policy”" in asked.markdown, what="the end of it")
        await ada.clicks(asked, "Remove it", stale=True)
        assert "Removed “Refund policy”" in asked.markdown
        assert asked.buttons() == []
        assert await room.documents() == {}
        removals = [one for one in await room.audit.recent() if one.action == "kb remove"]
        assert len(removals) == 1

    async def test_in_words_a_removal_is_confirmed_in_words(self, slack: FakeSlack, room: SlackRoom) -> None:
        await room.adds(refunds_md=HANDBOOK.decode())
        assert "Removed" in (await told(slack, "ada", 'remove "Refund policy" --yes')).markdown
        assert await room.documents() == {}

    async def test_a_long_list_is_turned_page_by_page(self, slack: FakeSlack, room: SlackRoom) -> None:
        ada = slack.person("ada")
        for number in range(23):
            await room.says(KbVerb.CREATE, base=f"team {number:02}")
        page = await told(slack, "ada", "list")
        assert page.buttons() == ["Next page"]
        await ada.clicks(page, "Next page")
        await slack.until(lambda: "Page 2 of 3." in page.markdown, what="the second page")
        assert page.buttons() == ["Previous page", "Next page"]
        await ada.clicks(page, "Previous page")
        await slack.until(lambda: "Page 1 of 3." in page.markdown, what="the first page")
        assert "*team 00*" in page.markdown
        assert "Page 3" in (await told(slack, "ada", "list --page 3")).markdown

    async def test_whoever_presses_is_looked_up_anew(self, slack: FakeSlack, room: SlackRoom) -> None:
        await room.adds(refunds_md=HANDBOOK.decode())
        asked = await told(slack, "ada", 'remove "Refund policy"')
        slack.person("ada").user.is_admin = False
        room.platforms[-1].workspace.directory._members._values.clear()  # a minute later
        await slack.person("ada").clicks(asked, "Remove it")
        await slack.until(lambda: "Only admins can do that." in asked.markdown, what="the refusal")
        assert await room.documents() != {}

    async def test_a_button_made_for_somebody_else_does_nothing(self, slack: FakeSlack, room: SlackRoom) -> None:
        await room.adds(refunds_md=HANDBOOK.decode())
        asked = await told(slack, "ada", 'remove "Refund policy"')
        root = slack.person("root", admin=True)
        asked.visible_to = root.id  # a forged press: the value is ada's
        await root.clicks(asked, "Remove it")
        await slack.until(lambda: "has expired" in asked.markdown, what="the refusal")
        assert await room.documents() != {}
        (refused,) = [one for one in await room.bot.audit.recent() if one.action == "kb button"]
        assert (refused.actor.endswith(root.id), refused.allowed) == (True, False)


class TestWhoMay:
    pytestmark = e2e

    async def test_who_is_no_admin_is_refused_in_one_line(self, slack: FakeSlack, room: SlackRoom) -> None:
        for words in ("ingest", "ingest https://docs.example/", "remove handbook", "ingest --here"):
            word = await told(slack, "alice", words)
            assert word.markdown == "Only admins can do that. Ask one of them."
        assert "Only admins can add documents." in (await told(slack, "alice", "")).markdown
        assert slack.person("alice").modal is None
        assert {one.allowed for one in await room.audit.recent() if one.action == "kb ingest"} == {False}

    async def test_a_proposal_is_added_when_an_admin_approves_it(self, slack: FakeSlack, room: SlackRoom) -> None:
        said = await slack.person("bob").says("Refunds take 30 days since May.", "general")
        await slack.person("ada").says("And 14 before that.", "general", thread=said)
        await slack.person("alice").shortcut("footnote_add_to_knowledge", said)
        assert "waits for an admin" in (await slack.person("alice").next_private()).markdown
        assert await room.documents() == {}
        waiting = (await told(slack, "ada", "proposals")).markdown
        (proposal,) = await room.proposal_store.proposals()
        assert proposal.id in waiting
        assert "Adding Refunds take 30 days" in (await told(slack, "ada", f"approve {proposal.id}")).markdown
        await room.works()
        assert "Done" in (await room.card("ada", await room.newest())).markdown
        assert await room.finds("refunds since May") == ["Refunds take 30 days since May."]


class TestProposals:
    pytestmark = e2e

    async def test_an_admin_decides_by_buttons_and_the_outcome_takes_the_place_of_the_list(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        ada = slack.person("ada")
        for words in ("Refunds take 30 days since May.", "Lunch is at noon."):
            said = await slack.person("bob").says(words, "general")
            await slack.person("alice").shortcut("footnote_add_to_knowledge", said)
            assert "Your proposal waits for an admin" in (await slack.person("alice").next_private()).markdown
        listed = await told(slack, "ada", "proposals")
        assert listed.buttons() == ["Approve", "Reject"] * 2
        approve, reject = button(listed, "Approve", 0), button(listed, "Reject", 1)
        await asyncio.gather(*(ada.clicks(listed, approve) for _ in range(3)))
        await slack.until(lambda: "Adding Refunds take 30 days" in listed.markdown, what="the outcome")
        assert "I show the progress in our direct message." in listed.markdown
        assert "Lunch is at noon." in listed.markdown
        await ada.clicks(listed, approve, stale=True)
        await ada.clicks(listed, button(listed, "Reject", 0))
        await slack.until(lambda: "Rejected the proposal “Lunch is at noon.”." in listed.markdown, what="the other one")
        assert listed.buttons() == []
        assert "No proposals are waiting" in listed.markdown
        assert reject not in [one.action_id for one in buttons_of(listed.blocks)]
        await room.works()
        assert "1 added" in (await room.card("ada", await room.newest())).markdown
        assert len(await room.jobs.recent()) == 1
        assert await room.finds("refunds lunch") == ["Refunds take 30 days since May."]
        verbs = [one.action for one in await room.audit.recent() if one.allowed]
        assert (verbs.count("kb approve"), verbs.count("kb reject")) == (1, 1)

    async def test_what_another_admin_decided_is_said(self, slack: FakeSlack, room: SlackRoom) -> None:
        await self.proposed(slack)
        root = slack.person("root", admin=True)
        lists = {name: await told(slack, name, "proposals") for name in ("ada", "root")}
        await slack.person("ada").clicks(lists["ada"], "Approve")
        await slack.until(lambda: "Adding Refunds" in lists["ada"].markdown, what="the outcome")
        await root.clicks(lists["root"], "Reject")
        await slack.until(lambda: "already approved this for “handbook”" in lists["root"].markdown, what="who it was")
        assert lists["root"].markdown.startswith("ada already approved this for “handbook”, just now.")
        assert lists["root"].buttons() == []
        assert len(await room.jobs.recent()) == 1

    async def test_who_is_no_admin_any_more_decides_nothing(self, slack: FakeSlack, room: SlackRoom) -> None:
        await self.proposed(slack)
        listed = await told(slack, "ada", "proposals")
        slack.person("ada").user.is_admin = False
        room.platforms[-1].workspace.directory._members._values.clear()  # a minute later
        await slack.person("ada").clicks(listed, "Approve")
        await slack.until(lambda: "Only admins can do that." in listed.markdown, what="the refusal")
        assert len(await room.proposal_store.proposals()) == 1
        refused = [one for one in await room.audit.recent() if not one.allowed]
        assert [one.action for one in refused] == ["kb approve"]

    async def test_a_button_made_for_another_admin_decides_nothing(self, slack: FakeSlack, room: SlackRoom) -> None:
        await self.proposed(slack)
        listed = await told(slack, "ada", "proposals")
        root = slack.person("root", admin=True)
        listed.visible_to = root.id  # a forged press: the value is ada's
        await root.clicks(listed, "Approve")
        await slack.until(lambda: "has expired" in listed.markdown, what="the refusal")
        assert len(await room.proposal_store.proposals()) == 1

    async def test_admins_read_that_something_waits_where_they_look_and_nobody_is_written_to(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        await self.proposed(slack)
        assert slack.visible(slack.person("ada").dm) == []
        assert slack.pings() == []
        for words in ("status", "list", "please"):
            assert "1 proposal to review: /kb proposals" in (await told(slack, "ada", words)).markdown
            assert "to review" not in (await told(slack, "alice", words)).markdown
        form = await opened(slack)
        assert "1 proposal to review: /kb proposals" in form.markdown
        status = await told(slack, "ada", "status")
        await slack.person("ada").clicks(status, "Review proposals")
        await slack.until(lambda: status.buttons() == ["Approve", "Reject"], what="the list")

    async def test_the_home_tab_shows_admins_what_waits_with_its_buttons(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        await self.proposed(slack)
        ada, alice = slack.person("ada"), slack.person("alice")
        await alice.opens_home()
        assert "Proposals" not in (await alice.home_shows("Knowledge bases")).markdown
        await ada.opens_home()
        tab = await ada.home_shows("Proposals to review")
        assert "Refunds take 30 days since May." in tab.markdown
        assert tab.buttons()[-2:] == ["Approve", "Reject"]
        assert "go into “handbook”, open to everyone" in tab.markdown
        await asyncio.gather(*(ada.clicks(tab, "Approve") for _ in range(2)))
        after = await ada.home_shows("Adding Refunds take 30 days since May. to “handbook”")
        assert "Approve" not in after.buttons()
        assert "Proposals to review" not in after.markdown
        await room.works()
        assert "1 added" in (await room.card("ada", await room.newest())).markdown
        assert len(await room.jobs.recent()) == 1
        assert [one.actor for one in await room.audit.recent() if not one.allowed] == []

    async def proposed(self, slack: FakeSlack) -> None:
        """Alice would have something in the knowledge."""
        said = await slack.person("bob").says("Refunds take 30 days since May.", "general")
        await slack.person("alice").shortcut("footnote_add_to_knowledge", said)
        await slack.person("alice").next_private()


def button(message: Message, label: str, number: int) -> str:
    """Of several buttons of the same name, this one."""
    return [one.action_id for one in buttons_of(message.blocks) if one.text == label][number]


def card_at(job: Job) -> tuple[str, str]:
    """Where the card of a job is kept."""
    return f"slack/kb/{job.by.id}", f"job-{job.id}"


class TestCards:
    pytestmark = e2e

    async def test_a_job_is_cancelled_on_its_card(self, slack: FakeSlack, room: SlackRoom) -> None:
        await slack.person("ada").submits(await opened(slack), {"files": [("refunds.md", HANDBOOK)]})
        card = await room.card("ada", await room.newest())
        await slack.person("ada").clicks(card, "Cancel")
        await slack.until(lambda: "Cancelling." in card.markdown, what="a word on the card")
        assert card.buttons() == []
        await room.works()
        assert "Cancelled. Nothing was changed." in card.markdown
        assert await room.documents() == {}

    async def test_what_an_admin_adds_from_a_message_has_its_card_too(self, slack: FakeSlack, room: SlackRoom) -> None:
        said = await slack.person("bob").says("Refunds take 30 days since May.", "general")
        await slack.person("ada").shortcut("footnote_add_to_knowledge", said)
        word = await slack.person("ada").next_private()
        assert word.markdown.splitlines()[0] == "*Adding Refunds take 30 days since May. to “handbook”*"
        await room.works()
        assert "1 added" in (await room.card("ada", await room.newest())).markdown

    async def test_where_the_bot_is_no_member_the_word_comes_directly(self, slack: FakeSlack, room: SlackRoom) -> None:
        slack.channel("quiet", bot=False)
        form = await opened(slack, place="quiet")
        await slack.person("ada").submits(form, {"files": [("refunds.md", HANDBOOK)]})

        def words() -> list[str]:
            return [one.markdown for one in slack.visible(slack.person("ada").dm)]

        await slack.until(
            lambda: any("open to everyone" in one for one in words()), what="a word in the direct message"
        )

    async def test_the_card_is_edited_at_a_bounded_rate_and_ends_as_the_job_does(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        await slack.person("ada").submits(await opened(slack), {"files": [("refunds.md", HANDBOOK)]})
        job = await room.newest()
        card = await room.card("ada", job)
        shown = room.platforms[-1].capabilities().card
        assert shown is not None
        for number in range(40):
            progress = JobProgress(JobStage.EMBEDDING, "refunds.md", number, 40)
            await shown.show(replace(job, state=JobState.RUNNING, progress=progress))
        assert 1 <= len(slack.calls_of("chat.update")) <= EDITS
        assert "indexing" in card.markdown
        await shown.show(job.at_end(room.clock.now(), JobState.DONE))
        assert "Done" in card.markdown
        assert len(slack.calls_of("chat.update")) <= EDITS + 1

    async def test_where_direct_messages_are_closed_it_is_said_in_words(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        slack.faults.fail("conversations.open", "user_disabled", times=None)
        await slack.person("ada").submits(await opened(slack), {"files": [("refunds.md", HANDBOOK)]})
        job = await room.newest()
        word = await slack.person("ada").next_private()
        assert "`/kb jobs` shows the progress" in word.markdown
        await room.works()
        assert len(slack.calls_of("conversations.open")) == 1
        assert "Done" in (await told(slack, "ada", f"jobs {job.id}")).markdown

    async def test_another_process_goes_on_with_the_card(self, slack: FakeSlack, room: SlackRoom) -> None:
        await slack.person("ada").submits(await opened(slack), {"files": [("refunds.md", HANDBOOK)]})
        job = await room.newest()
        card = await room.card("ada", job)
        async with room.process():
            await room.works()
        assert "1 added" in card.markdown
        assert len(slack.visible(slack.person("ada").dm)) == 1

    @pytest.mark.parametrize("posted", [True, False])
    async def test_a_card_that_nobody_kept_is_found_or_posted_at_the_end(
        self, slack: FakeSlack, room: SlackRoom, posted: bool
    ) -> None:
        room.clock.advance(-60)  # the job is that old when it is worked on
        await slack.person("ada").submits(await opened(slack), {"files": [("refunds.md", HANDBOOK)]})
        job = await room.newest()
        card = await room.card("ada", job)
        kept = room.bot.harness.state.records[card_at(job)]
        del kept["message"]  # as if its process had died just after posting, or just before
        if not posted:
            slack.take_away(card)
        await room.works()
        (now,) = slack.visible(slack.person("ada").dm)
        assert "1 added" in now.markdown

    async def test_the_last_state_stands_there_however_busy_slack_is(self, slack: FakeSlack, room: SlackRoom) -> None:
        await slack.person("ada").submits(await opened(slack), {"files": [("refunds.md", HANDBOOK)]})
        card = await room.card("ada", await room.newest())
        slack.faults.rate_limit("chat.update", times=2)
        await room.works()
        assert "1 added" in card.markdown

    @pytest.mark.parametrize("error", ["edit_window_closed", "cant_update_message", "message_not_found"])
    async def test_a_card_that_takes_no_edit_gives_way_to_a_message_with_the_end(
        self, slack: FakeSlack, room: SlackRoom, error: str
    ) -> None:
        ada = slack.person("ada")
        await ada.submits(await opened(slack), {"files": [("refunds.md", HANDBOOK)]})
        await room.card("ada", await room.newest())
        slack.faults.fail("chat.update", error, None)
        await room.works()
        await slack.until(lambda: not left(room), what="nothing left to tell")
        _, end = slack.visible(ada.dm)
        assert "1 added" in end.markdown

    async def test_a_last_state_whose_layout_is_refused_is_told_plainly(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        ada = slack.person("ada")
        await ada.submits(await opened(slack), {"files": [("refunds.md", HANDBOOK)]})
        await room.card("ada", await room.newest())
        slack.faults.fail("chat.update", "invalid_blocks", None)
        slack.faults.fail("chat.postMessage", "invalid_blocks", 1)
        await room.works()
        await slack.until(lambda: not left(room), what="nothing left to tell")
        assert "1 added" in slack.visible(ada.dm)[-1].markdown

    async def test_a_last_state_that_slack_held_up_is_shown_by_the_next_process(self, slack: FakeSlack) -> None:
        room = SlackRoom(slack)
        async with room.process():
            await slack.person("ada").submits(await opened(slack), {"files": [("refunds.md", HANDBOOK)]})
            card = await room.card("ada", await room.newest())
            slack.faults.rate_limit("chat.update", times=None, retry_after=60)
            working = asyncio.create_task(room.works())
            await slack.until(lambda: slack.calls_of("chat.update"), what="a try")
        await asyncio.wait({working})
        assert "added" not in card.markdown
        assert (await room.newest()).over
        slack.faults.clear()
        async with room.process():
            await slack.until(lambda: "1 added" in card.markdown, what="the end")
            await slack.until(lambda: not left(room), what="nothing left to tell")
            told = len(slack.calls_of("chat.update"))
            await room.platforms[-1]._knowledge.cards.finish()
            assert len(slack.calls_of("chat.update")) == told
        assert card.buttons() == []
        assert len(slack.visible(slack.person("ada").dm)) == 1

    @pytest.mark.parametrize("posted", [True, False])
    async def test_an_end_whose_card_nobody_kept_is_told_by_the_next_process(
        self, slack: FakeSlack, posted: bool
    ) -> None:
        room = SlackRoom(slack)
        async with room.process():
            room.clock.advance(-60)  # the job is that old when it is worked on
            await slack.person("ada").submits(await opened(slack), {"files": [("refunds.md", HANDBOOK)]})
            job = await room.newest()
            card = await room.card("ada", job)
            del room.bot.harness.state.records[f"slack/kb/{job.by.id}", f"job-{job.id}"]["message"]
            if not posted:
                slack.take_away(card)
            slack.faults.rate_limit("conversations.open", times=None, retry_after=60)
            shown = room.platforms[-1].capabilities().card
            assert shown is not None
            showing = asyncio.create_task(shown.show(job.at_end(room.clock.now(), JobState.DONE)))
            await slack.until(lambda: len(slack.calls_of("conversations.open")) > 1, what="a try")
        await asyncio.wait({showing})
        assert list(left(room)) == [job.id]
        slack.faults.clear()
        async with room.process():
            await slack.until(lambda: not left(room), what="nothing left to tell")
            (now,) = slack.visible(slack.person("ada").dm)
            assert "Done" in now.markdown

    async def test_a_card_that_is_gone_is_not_tried_for_ever(self, slack: FakeSlack, room: SlackRoom) -> None:
        await slack.person("ada").submits(await opened(slack), {"files": [("refunds.md", HANDBOOK)]})
        slack.take_away(await room.card("ada", await room.newest()))
        await room.works()
        assert left(room) == {}


def left(room: SlackRoom) -> dict[str, str]:
    """The jobs whose cards are still to say that they are over."""
    return dict(room.bot.harness.state.records.get(("slack/kb", "endings"), {}))


class TestCorrections:
    pytestmark = e2e

    async def test_the_right_answer_is_proposed_from_a_thumb_down(self, slack: FakeSlack) -> None:
        room = SlackRoom(slack)
        await room.bot.harness.knows(REFUNDS, title="Refund policy")
        room.bot.more["kb"] = room.kb_service
        alice = slack.person("alice")
        async with room.bot.running():
            question = await alice.says("<@bot> how long do refunds take?", "general")
            answer = await slack.reply_to(question, until=lambda one: "👎" in one.buttons())
            await alice.clicks(answer, "👎")
            form = await alice.next_modal()
            sent = await alice.submits(form, {"answer": "Refunds take 30 days since May."})
            assert "waits for an admin" in (await alice.next_private()).markdown
            again = slack.courier.send("interactive", sent.payload)
            await again.finished.wait()
            await room.bot.rated(1)
        (proposal,) = await room.proposal_store.proposals()
        assert proposal.title == "how long do refunds take?"
        assert "Refunds take 30 days since May." in proposal.text
        assert proposal.permalink == slack.world.permalink(answer)
        (word,) = [one async for one in room.bot.feedback.all()]
        assert word.reason == "It should be: Refunds take 30 days since May."


class TestInWords:
    pytestmark = e2e

    @pytest.fixture
    async def kb(self, slack: FakeSlack) -> AsyncIterator[WrittenDown]:
        kb = WrittenDown()
        bot = Bot(SlackDriver(slack, "socket"))
        bot.more["kb"] = kb
        async with bot.running():
            yield kb

    async def test_a_message_is_proposed_with_its_thread_and_a_way_back(
        self, slack: FakeSlack, kb: WrittenDown
    ) -> None:
        said = await slack.person("bob").says("Refunds take 30 days since May.", "general")
        await slack.person("ada").says("And 14 before that.", "general", thread=said)
        await slack.person("alice").shortcut("footnote_add_to_knowledge", said)
        assert "Your proposal waits for an admin" in (await slack.person("alice").next_private()).markdown
        ((conversation, caller),) = kb.proposed
        assert [one.text for one in conversation.messages] == ["Refunds take 30 days since May.", "And 14 before that."]
        assert conversation.permalink
        assert not caller.permissions.is_admin

    async def test_a_command_reaches_the_desk_with_the_rights_slack_knows(
        self, slack: FakeSlack, kb: WrittenDown
    ) -> None:
        for name in ("alice", "ada"):
            assert "Done: status" in (await told(slack, name, "status --kb handbook")).markdown
        assert [(command.base, caller.permissions.is_admin) for command, caller in kb.commands] == [
            ("handbook", False),
            ("handbook", True),
        ]

    async def test_what_is_no_command_gets_the_list_of_them(self, slack: FakeSlack, kb: WrittenDown) -> None:
        assert "ingest LINK" in (await told(slack, "ada", "please")).markdown
        assert kb.commands == []


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (
            "ingest <https://x.example/a|x.example> --limit 5",
            KbCommand(KbVerb.INGEST, target="https://x.example/a", limit=5),
        ),
        ("ingest --here --limit 20", KbCommand(KbVerb.INGEST, channel="C1", limit=20)),
        (
            "create handbook “all that is in the handbook”",
            KbCommand(KbVerb.CREATE, "handbook", text="all that is in the handbook"),
        ),
        (
            "grant handbook slack:group:T/S everyone",
            KbCommand(KbVerb.GRANT, "handbook", principals=("slack:group:T/S", "everyone")),
        ),
        (
            "schedule https://x.example --every daily",
            KbCommand(KbVerb.SCHEDULE, target="https://x.example", every="daily"),
        ),
        ("list —page 2", KbCommand(KbVerb.LIST, page=2)),
        ("remove handbook --yes", KbCommand(KbVerb.REMOVE, target="handbook", confirmed=True)),
    ],
)
def test_words_become_a_command(words: str, command: KbCommand) -> None:
    assert parse_command(words, "C1") == command


@pytest.mark.parametrize("words", ["", "dance", "list --loud", 'show "open', "list --page two"])
def test_what_cannot_be_read_says_so(words: str) -> None:
    assert isinstance(parse_command(words), str)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (
            "grant handbook <#C2|general> <@U1|ada> <!subteam^S1|@ops>",
            KbCommand(KbVerb.GRANT, "handbook", principals=("<#C2>", "<@U1>", "<!subteam^S1>")),
        ),
        ("remove R&amp;D plan", KbCommand(KbVerb.REMOVE, target="R&D plan")),
        (
            "describe handbook for <#C2|general> &amp; <@U1|ada>",
            KbCommand(KbVerb.DESCRIBE, "handbook", text="for #general & @ada"),
        ),
        (
            "ingest <https://x.example/?a=1&amp;b=2>",
            KbCommand(KbVerb.INGEST, target="https://x.example/?a=1&b=2"),
        ),
    ],
)
def test_what_slack_marks_in_a_command_is_read_as_it_was_meant(words: str, command: KbCommand) -> None:
    assert parse_command(words, "C1") == command


class TestWhomABaseIsFor:
    pytestmark = e2e

    @staticmethod
    async def grants(room: SlackRoom) -> frozenset[str]:
        return next(base.grants for base in await room.catalog.bases() if base.name == "handbook")

    async def test_it_is_granted_by_names_kept_by_ids_and_shown_by_names(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        bob, ops = slack.person("bob"), slack.usergroup("ops", ["bob"])
        general, team = slack.channel("general"), slack.team_id
        answer = await told(slack, "ada", "grant handbook #general @ops @bob")
        assert await self.grants(room) == {
            f"slack:channel:{team}/{general.id}",
            f"slack:group:{team}/{ops.id}",
            f"slack:user:{team}/{bob.id}",
        }
        assert "restricted to #general, @\u2060ops, @\u2060bob" in answer.markdown
        assert "#general" in (await told(slack, "ada", "list")).markdown
        assert not slack.pings()
        answer = await told(slack, "ada", "revoke handbook @bob #general")
        assert await self.grants(room) == {f"slack:group:{team}/{ops.id}"}
        assert "general" not in answer.markdown

    async def test_restricting_what_everyone_reads_is_asked_with_who_loses_access(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        await room.adds(refunds_md=HANDBOOK.decode())
        ada, bob = slack.person("ada"), slack.person("bob")
        asked = await told(slack, "ada", "grant handbook @bob")
        assert "Restrict “handbook” to @\u2060bob? Everyone can read its 1 document now" in asked.markdown
        assert "You lose it too" in asked.markdown
        assert asked.buttons() == ["Restrict to these and me", "Restrict to these"]
        assert await self.grants(room) == frozenset()
        await ada.clicks(asked, "Restrict to these and me")
        await slack.until(lambda: "is restricted to" in asked.markdown, what="the outcome")
        assert await self.grants(room) == {f"slack:user:{slack.team_id}/{one.id}" for one in (ada, bob)}

    async def test_the_form_asks_before_it_restricts_what_everyone_reads(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        await room.adds(refunds_md=HANDBOOK.decode())
        ada = slack.person("ada")
        form = await opened(slack, words="grant handbook")
        await ada.submits(form, {"channels": [slack.channel("general").id]})
        assert not form.open
        asked = await ada.next_private()
        assert "Restrict “handbook” to #general?" in asked.markdown
        assert await self.grants(room) == frozenset()
        await ada.clicks(asked, "Restrict to these")
        await slack.until(lambda: "is restricted to #general" in asked.markdown, what="the outcome")
        assert await self.grants(room) == {f"slack:channel:{slack.team_id}/{slack.channel('general').id}"}

    async def test_a_grant_says_where_people_of_another_organization_read(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        slack.channel("general").host_team = "T0PARTNER"
        answer = await told(slack, "ada", "grant handbook everyone")
        assert "People of other organizations read it too" in answer.markdown
        assert "organization" not in (await told(slack, "ada", "grant handbook #random")).markdown
        answer = await told(slack, "ada", "grant handbook #general")
        assert "People from another organization can read it too." in answer.markdown

    async def test_alone_it_opens_a_form_with_pickers(self, slack: FakeSlack, room: SlackRoom) -> None:
        bob, ops = slack.person("bob"), slack.usergroup("ops", ["bob"])
        general, team = slack.channel("general"), slack.team_id
        form = await opened(slack, words="grant handbook")
        await slack.person("ada").submits(form)
        assert form.errors == {"channels": "Pick a channel, a group or a person."}
        await slack.person("ada").submits(form, {"channels": [general.id], "groups": ["@ops"], "people": [bob.id]})
        assert not form.open
        assert await self.grants(room) == {
            f"slack:channel:{team}/{general.id}",
            f"slack:group:{team}/{ops.id}",
            f"slack:user:{team}/{bob.id}",
        }
        assert "restricted to #general" in (await slack.person("ada").next_private()).markdown
        form = await opened(slack, words="revoke handbook")
        await slack.person("ada").submits(form, {"people": [bob.id]})
        assert f"slack:user:{team}/{bob.id}" not in await self.grants(room)
        form = await opened(slack, words="grant handbook")
        await slack.person("ada").submits(form, {"everyone": ["everyone"]})
        assert await self.grants(room) == frozenset()

    async def test_a_name_that_slack_does_not_know_closes_no_base(self, slack: FakeSlack, room: SlackRoom) -> None:
        answer = await told(slack, "ada", "grant handbook #nowhere")
        assert "I don't know who “#nowhere” is" in answer.markdown
        assert "to open a form" in answer.markdown
        assert await self.grants(room) == frozenset()

    async def test_who_is_no_admin_gets_no_form_and_grants_nothing(self, slack: FakeSlack, room: SlackRoom) -> None:
        for words in ("grant handbook", "grant handbook @bob"):
            answer = await told(slack, "bob", words)
            assert "Only admins" in answer.markdown
        assert await self.grants(room) == frozenset()

    async def test_the_form_that_is_sent_twice_grants_once_and_by_admins_alone(
        self, slack: FakeSlack, room: SlackRoom
    ) -> None:
        form = await opened(slack, words="grant handbook")
        slack.person("ada").user.is_admin = False
        room.platforms[-1].workspace.directory._members._values.clear()  # a minute later
        await slack.person("ada").submits(form, {"channels": [slack.channel("general").id]})
        assert form.errors == {"channels": "Only admins can do that. Ask one of them."}
        assert await self.grants(room) == frozenset()


class TestDisputes:
    pytestmark = e2e

    async def test_the_owner_decides_once_and_the_answer_cites_the_decision(self, slack: FakeSlack) -> None:
        room = SlackRoom(slack)
        harness = room.bot.harness
        room.catalog, room.index, room.encoder = harness.catalog, harness.index, harness.encoder
        room.proposal_store = room.bot.proposal_store
        room.assemble()
        room.bot.more["kb"] = room.kb_service
        await harness.knows("Logs are kept for 30 days.", title="Runbook", dated="2024-05-02")
        await harness.knows("Logs are kept for 90 days.", title="Retention", dated="2026-03-09")
        alice, ada = slack.person("alice"), slack.person("ada")
        async with room.bot.running():
            question = await alice.says("<@bot> how long are logs kept?", "general")
            answer = await slack.reply_to(question, until=lambda one: "Tell the document's owner" in one.buttons())
            assert "Two sources differ" in answer.markdown
            await alice.clicks(answer, "Tell the document's owner")
            assert "can now decide which one is right" in (await alice.next_private()).markdown
            await slack.person("bob").clicks(answer, "Tell the document's owner")
            assert "already know" in (await slack.person("bob").next_private()).markdown
            listed = await told(slack, "ada", "proposals")
            assert "A, Retention (2026-03-09): “Logs are kept for 90 days.”" in listed.markdown
            assert listed.buttons() == ["A is right", "B is right", "Reject"]
            await ada.clicks(listed, "A is right")
            await slack.until(lambda: "No proposals are waiting" in listed.markdown, what="the decision")
            assert isinstance(room.bot.platform, SlackPlatform)
            room.platforms.append(room.bot.platform)
            await room.works()
            again = await alice.says("<@bot> how long are logs kept?", "general")
            answer = await slack.reply_to(again, until=lambda one: "Show quotes" in one.buttons())
            assert "how long are logs kept" in answer.markdown.split("Sources")[-1]
            assert "Two sources differ" not in answer.markdown
            assert "Tell the document's owner" not in answer.buttons()
            asked = await told(slack, "ada", "remove how long are logs kept")
            await ada.clicks(asked, "Remove it")
            await slack.until(lambda: "Removed" in asked.markdown, what="the withdrawal")
            once_more = await alice.says("<@bot> how long are logs kept?", "general")
            answer = await slack.reply_to(once_more, until=lambda one: "Tell the document's owner" in one.buttons())
            assert "Two sources differ" in answer.markdown
            await alice.clicks(answer, "Tell the document's owner")
            assert "can now decide which one is right" in (await alice.next_private()).markdown
