"""Stored commands behind buttons and forms of ``/kb``: only their person can use them, and only once."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import pytest

from adapters.discord.kb.commands import ButtonUse, DiscordKeptCommand
from adapters.slack.kb.replies import SlackKeptCommand
from core.model.errors import AlreadyDone, NotFound
from core.model.json_codec import to_json
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.kept_commands import KeptCommand, KeptCommands
from core.service.one_time_use import LOST_SECONDS, OneTimeUses, PressOutcome
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.stores import InProcessAudit, InProcessState

ADA, EVE = "slack:user:T/ADA", "slack:user:T/EVE"
LISTED = KbCommand(KbVerb.LIST)
ONE_NOW = [PressOutcome.EARLIER] * 4 + [PressOutcome.NOW]


@dataclass(frozen=True)
class Shop:
    """What one platform keeps: a record for a button that acts once, and for one that acts whenever it is pressed."""

    once: KeptCommand
    repeated: KeptCommand
    state: InProcessState
    audit: InProcessAudit
    clock: ManualClock

    @property
    def kept(self) -> KeptCommands[Any]:
        messages = InProcessMessageStateStore(self.state)
        return KeptCommands(messages, self.audit, type(self.once), lambda: self.clock.now().timestamp())

    async def take(self, kept_id: str, person: str = ADA) -> PressOutcome:
        return await self.kept.take(await self.kept.read(kept_id, person))

    async def presses(self, kept_id: str, many: int = 5) -> list[PressOutcome]:
        return sorted(await asyncio.gather(*(self.take(kept_id) for _ in range(many))))


SLACK = SlackKeptCommand(person=ADA, command=LISTED)
DISCORD = DiscordKeptCommand(person=ADA, command=LISTED)
RECORDS = {
    "slack": (replace(SLACK, once=True), SLACK),
    "discord": (replace(DISCORD, use=ButtonUse.ONCE), DISCORD),
}


@pytest.fixture(params=RECORDS)
def shop(request: pytest.FixtureRequest) -> Shop:
    return Shop(*RECORDS[request.param], InProcessState(), InProcessAudit(), ManualClock())


async def test_what_nobody_opened_is_kept_whole_while_it_is_done(shop: Shop) -> None:
    messages = InProcessMessageStateStore(shop.state)
    use = replace(shop.once, id="done-once")
    async with OneTimeUses(messages, lambda: 5.0).once(use, ""):
        assert await messages.read(use) == replace(use, taken=5.0)


async def test_of_many_presses_one_counts(shop: Shop) -> None:
    kept_id = await shop.kept.keep(shop.once)
    assert await shop.presses(kept_id) == ONE_NOW
    kept = await shop.kept.read(kept_id, ADA)
    assert kept is not None
    assert kept.command == LISTED


async def test_it_is_for_the_one_it_was_made_for(shop: Shop) -> None:
    kept_id = await shop.kept.keep(shop.once)
    assert not await shop.kept.read(kept_id, EVE)
    assert await shop.take(kept_id, EVE) is PressOutcome.GONE
    for unknown in ("never made", ""):
        assert await shop.take(unknown) is PressOutcome.GONE
    assert await shop.take(kept_id) is PressOutcome.NOW


async def test_a_button_of_somebody_else_is_refused_on_record(shop: Shop) -> None:
    kept_id = await shop.kept.keep(shop.repeated)
    with pytest.raises(NotFound, match="has expired"):
        await shop.kept.find(kept_id, EVE)
    (entry,) = await shop.audit.recent()
    assert (entry.actor, entry.action, entry.target, entry.allowed) == (EVE, "kb button", kept_id, False)
    assert (await shop.kept.find(kept_id, ADA)).command == LISTED


async def test_a_button_that_acts_once_says_so_to_the_second_press(shop: Shop) -> None:
    kept_id = await shop.kept.keep(shop.once)
    async with shop.kept.use(await shop.kept.find(kept_id, ADA)) as command:
        assert command == LISTED
    with pytest.raises(AlreadyDone):
        async with shop.kept.use(await shop.kept.find(kept_id, ADA)):
            pytest.fail("it was used twice")


async def test_any_other_button_acts_whenever_it_is_pressed_unless_it_has_to_act_once(shop: Shop) -> None:
    kept_id = await shop.kept.keep(shop.repeated)
    for _ in range(3):
        async with shop.kept.use(await shop.kept.find(kept_id, ADA)) as command:
            assert command == LISTED
    async with shop.kept.use(await shop.kept.find(kept_id, ADA), once=True):
        pass
    with pytest.raises(AlreadyDone):
        async with shop.kept.use(await shop.kept.find(kept_id, ADA), once=True):
            pytest.fail("it was used twice")


async def test_a_button_whose_work_was_lost_with_its_process_acts_once_more(shop: Shop) -> None:
    kept_id = await shop.kept.keep(shop.once)
    with pytest.raises(OSError, match="gone"):
        async with shop.kept.use(await shop.kept.find(kept_id, ADA)):
            raise OSError("gone")
    with pytest.raises(AlreadyDone):
        async with shop.kept.use(await shop.kept.find(kept_id, ADA)):
            pytest.fail("another may still be at it")
    shop.clock.advance(LOST_SECONDS)
    async with shop.kept.use(await shop.kept.find(kept_id, ADA)) as command:
        assert command == LISTED


async def test_two_offers_of_one_command_are_two_buttons(shop: Shop) -> None:
    first, second = [await shop.kept.keep(shop.once) for _ in range(2)]
    assert await shop.take(first) is PressOutcome.NOW
    assert await shop.take(second) is PressOutcome.NOW


async def test_what_was_not_done_can_be_opened_again(shop: Shop) -> None:
    form = await shop.kept.keep(replace(shop.once, command=None))
    assert await shop.take(form) is PressOutcome.NOW
    await shop.kept.reopen(form, ADA)
    assert await shop.presses(form) == ONE_NOW


async def test_a_press_that_was_lost_with_its_worker_is_made_up_for_by_one_other(shop: Shop) -> None:
    kept_id = await shop.kept.keep(shop.once)
    assert await shop.take(kept_id) is PressOutcome.NOW
    for _ in range(2):
        shop.clock.advance(LOST_SECONDS)
        assert await shop.presses(kept_id) == ONE_NOW
    await shop.kept.mark_done(kept_id, ADA)
    shop.clock.advance(LOST_SECONDS)
    assert await shop.presses(kept_id) == [PressOutcome.EARLIER] * 5


FIRST_VERSION: dict[str, tuple[str, str, dict[str, str]]] = {
    "slack": (f"slack/kb/{ADA}", "0" * 32, {"command": to_json(LISTED), "open": "yes", "once": "yes"}),
    "discord": (
        "discord/kb/" + "0" * 24,
        "command",
        {"command": to_json(LISTED), "open": "yes", "by": ADA, "kind": "once"},
    ),
}


@pytest.mark.parametrize("platform", FIRST_VERSION)
async def test_what_the_first_version_kept_is_found_and_taken(platform: str) -> None:
    place, subject, fields = FIRST_VERSION[platform]
    shop = Shop(*RECORDS[platform], InProcessState(), InProcessAudit(), ManualClock())
    shop.state.records[place, subject] = dict(fields)
    kept_id = subject if platform == "slack" else place.rpartition("/")[2]
    async with shop.kept.use(await shop.kept.find(kept_id, ADA)) as command:
        assert command == LISTED
    with pytest.raises(AlreadyDone):
        async with shop.kept.use(await shop.kept.find(kept_id, ADA)):
            pytest.fail("it was used twice")
