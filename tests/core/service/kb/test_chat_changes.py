"""How edits and deletions in chats reach the documents that quote them."""

from datetime import UTC, datetime

import pytest

from core.model.conversation import ThreadKey
from core.model.errors import PlatformUnavailable
from core.model.jobs import ItemState
from core.service.kb.chat_changes import GIVE_UP_SECONDS, ChangedConversation, note_change
from core.service.kb.commands import KbVerb
from tests.core.service.kb.knowledge_room import Room, conversation, words
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.stores import InProcessState

SOURCE = "paper/T/C/1.5"
WRITTEN = datetime(2026, 1, 5, 9, tzinfo=UTC)


class LivingRoom(Room):
    """A knowledge base with one thread, and the platform that it came from."""

    def __init__(self) -> None:
        super().__init__()
        self.states = self.message_states = InProcessMessageStateStore(InProcessState())
        self.wire()

    async def takes_in(self) -> None:
        self.platform.conversations_["C/1.5"] = conversation("It takes 30 days.", source=SOURCE)
        await self.says(KbVerb.CREATE, base="handbook")
        await self.says(KbVerb.INGEST, base="handbook", conversation="C/1.5")

    async def changes(self, text: str = "") -> None:
        """The thread reads otherwise now; without a text it was deleted."""
        self.platform.conversations_.clear()
        if text:
            self.platform.conversations_["C/1.5"] = conversation(text, source=SOURCE)
        await note_change(self.states, ThreadKey("paper", "T", "C", "1.5"), WRITTEN)

    async def notes(self) -> list[str]:
        return sorted(one.source for one in await self.states.read_entries(ChangedConversation(source="")))

    async def ticks(self) -> None:
        await self.scheduler.tick()
        await self.works()

    async def found(self) -> str:
        return "\n".join(await self.finds_text("how long do refunds take", "handbook"))


@pytest.fixture
async def room() -> LivingRoom:
    room = LivingRoom()
    await room.takes_in()
    return room


async def test_many_edits_are_one_job(room: LivingRoom) -> None:
    await room.works()
    for days in (40, 50, 60):
        await room.changes(f"It takes {days} days.")
    before = len(await room.jobs.recent())
    await room.ticks()
    await room.ticks()
    assert "60 days" in await room.found()
    assert "30 days" not in await room.found()
    assert len(await room.jobs.recent()) == before + 1
    assert await room.notes() == []
    (document,) = await room.catalog.documents(frozenset({"handbook"}))
    assert document.added_by == "Ada"


async def test_a_deleted_thread_is_withdrawn_and_can_be_restored(room: LivingRoom) -> None:
    await room.works()
    await room.changes()
    room.clock.advance(1)
    await room.ticks()
    assert await room.found() == ""
    assert [item.state for item in (await room.jobs.recent())[0].items] == [ItemState.REMOVED]
    assert [one.document.source for one in await room.trash.restorable()] == [SOURCE]


async def test_a_change_while_the_thread_is_being_added_is_not_lost(room: LivingRoom) -> None:
    await room.changes()
    await room.scheduler.tick()
    assert SOURCE in await room.notes()
    room.platform.conversations_["C/1.5"] = conversation("It takes 30 days.", source=SOURCE)
    await room.works()
    room.platform.conversations_.clear()
    await room.ticks()
    assert await room.found() == ""


async def test_what_is_in_no_base_costs_no_job(room: LivingRoom) -> None:
    await room.works()
    before = len(await room.jobs.recent())
    await note_change(room.states, ThreadKey("paper", "T", "C", "99.1"), WRITTEN)
    await room.ticks()
    assert await room.notes() == []
    assert len(await room.jobs.recent()) == before


async def test_an_outage_is_outlasted_with_longer_and_longer_pauses(
    room: LivingRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_: str) -> None:
        raise PlatformUnavailable("The platform does not respond.")

    await room.works()
    before = len(await room.jobs.recent())
    await room.changes()
    with monkeypatch.context() as patched:
        patched.setattr(room.platform, "read_again", away)
        for _ in range(60):
            await room.ticks()
            room.clock.advance(60)
    assert 3 <= len(await room.jobs.recent()) - before <= 8
    assert "30 days" in await room.found()
    room.clock.advance(3600)
    await room.ticks()
    assert await room.found() == ""


async def test_what_cannot_be_read_for_a_day_is_given_up(room: LivingRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(_: str) -> None:
        raise PlatformUnavailable("The platform does not respond.")

    await room.works()
    await room.changes()
    monkeypatch.setattr(room.platform, "read_again", away)
    await room.ticks()
    assert await room.notes() == [SOURCE]
    room.clock.advance(GIVE_UP_SECONDS + 60)
    await room.ticks()
    assert await room.notes() == []


async def test_a_thread_follows_a_schedule_like_a_link(room: LivingRoom) -> None:
    await room.works()
    await room.says(KbVerb.SCHEDULE, base="handbook", target=SOURCE, every="daily")
    room.platform.conversations_["C/1.5"] = conversation("It takes 70 days.", source=SOURCE)
    await room.ticks()
    assert "30 days" in await room.found()
    room.clock.advance(86_401)
    await room.ticks()
    assert "70 days" in await room.found()


async def test_a_thread_is_refreshed_on_request(room: LivingRoom) -> None:
    await room.works()
    room.platform.conversations_["C/1.5"] = conversation("It takes 80 days.", source=SOURCE)
    assert "Refreshing" in words(await room.says(KbVerb.REFRESH, base="handbook", target=SOURCE))
    await room.works()
    assert "80 days" in await room.found()
