"""The contracts of every settings store and every audit log."""

import pytest
from redis.asyncio import Redis

from adapters.redis.settings import RedisAudit, RedisChannelSettingsStore
from core.model.channel_settings import ChosenSettings
from core.model.profile import Profile
from core.ports.access import Audit
from core.ports.platform import ChannelSettingsStore
from tests.fakes.memory.stores import InProcessAudit, InProcessChannelSettingsStore

PLACE = "slack:channel:T1/C1"


class PreferencesContract:
    """Override ``settings_store``."""

    @pytest.fixture
    def settings_store(self) -> ChannelSettingsStore:
        raise NotImplementedError

    async def test_what_was_chosen_replaces_what_was_there(self, settings_store: ChannelSettingsStore) -> None:
        assert await settings_store.read(PLACE) == ChosenSettings()
        await settings_store.write(PLACE, ChosenSettings(profile=Profile.QUICK, languages=("de", "ja: 日本語")))
        assert (await settings_store.read(PLACE)).languages == ("de", "ja: 日本語")
        await settings_store.write(PLACE, ChosenSettings(profile=Profile.THOROUGH))
        assert await settings_store.read(PLACE) == ChosenSettings(profile=Profile.THOROUGH)
        assert await settings_store.read("slack:channel:T1/C2") == ChosenSettings()

    async def test_choosing_nothing_goes_back_to_the_defaults(self, settings_store: ChannelSettingsStore) -> None:
        await settings_store.write(PLACE, ChosenSettings(profile=Profile.QUICK))
        await settings_store.write(PLACE, ChosenSettings())
        assert await settings_store.read(PLACE) == ChosenSettings()

    async def test_every_place_in_which_something_is_chosen_is_known(
        self, settings_store: ChannelSettingsStore
    ) -> None:
        for place in (PLACE, "discord:channel:1/2"):
            await settings_store.write(place, ChosenSettings(proposal_digest=True))
        assert set(await settings_store.places()) == {PLACE, "discord:channel:1/2"}
        assert (await settings_store.read(PLACE)).proposal_digest
        await settings_store.write(PLACE, ChosenSettings())
        assert list(await settings_store.places()) == ["discord:channel:1/2"]


class AuditContract:
    """Override ``audit``: one that keeps three."""

    @pytest.fixture
    def audit(self) -> Audit:
        raise NotImplementedError

    async def test_the_newest_come_first_and_the_oldest_go(self, audit: Audit) -> None:
        for number in range(5):
            await audit.record("slack:T1/U1", "remove", f"doc{number}", allowed=number % 2 == 0, detail="by a button")
        found = await audit.recent()
        assert [(entry.target, entry.allowed) for entry in found] == [("doc4", True), ("doc3", False), ("doc2", True)]
        assert found[0].detail == "by a button"
        assert found[0].at.tzinfo is not None
        assert [entry.target for entry in await audit.recent(1)] == ["doc4"]


class TestInProcessPreferences(PreferencesContract):
    @pytest.fixture
    def settings_store(self) -> ChannelSettingsStore:
        return InProcessChannelSettingsStore()


class TestInProcessAudit(AuditContract):
    @pytest.fixture
    def audit(self) -> Audit:
        return InProcessAudit(most=3)


@pytest.mark.live
class TestRedisPreferences(PreferencesContract):
    @pytest.fixture
    def settings_store(self, redis: Redis) -> ChannelSettingsStore:
        return RedisChannelSettingsStore(redis)


@pytest.mark.live
class TestRedisAudit(AuditContract):
    @pytest.fixture
    def audit(self, redis: Redis) -> Audit:
        return RedisAudit(redis, most=3)
