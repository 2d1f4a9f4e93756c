"""Access by Slack membership: anything that Slack does not confirm is denied."""

from collections.abc import AsyncIterator

import pytest

from adapters.slack.api.channel_access import ChannelAccess
from adapters.slack.api.directory import Directory
from adapters.slack.api.ids import team_principal, user_principal
from adapters.slack.api.web_client import WebClient
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, ThreadKey
from core.model.knowledge import KnowledgeBase
from tests.fakes.slack import FakeSlack, specs_are_here

pytestmark = pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout")


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as workspace:
        yield workspace


async def defaults(_: str) -> ChannelSettings:
    return ChannelSettings()


@pytest.fixture
async def access(slack: FakeSlack) -> AsyncIterator[ChannelAccess]:
    web = WebClient(slack.bot_token, slack.api_url)
    yield ChannelAccess(Directory(web), defaults)
    await web.close()


async def test_a_full_member_holds_the_workspace(slack: FakeSlack, access: ChannelAccess) -> None:
    alice = slack.person("alice")
    held = await access.principals(slack.team_id, alice.id)
    assert held == {user_principal(slack.team_id, alice.id), team_principal(slack.team_id)}


async def test_a_member_through_the_organization_holds_the_workspace(slack: FakeSlack, access: ChannelAccess) -> None:
    alice = slack.person("alice")
    alice.user.home_team, alice.user.org_teams = "E0ORG", ("T0OTHER", slack.team_id)
    assert team_principal(slack.team_id) in await access.principals(slack.team_id, alice.id)


async def test_a_guest_does_not_hold_the_workspace(slack: FakeSlack, access: ChannelAccess) -> None:
    alice = slack.person("alice")
    alice.user.is_guest = True
    assert await access.principals(slack.team_id, alice.id) == {user_principal(slack.team_id, alice.id)}


MAIL = "mail:user:alice@example.com"


async def test_a_full_member_holds_their_confirmed_address_where_the_app_may_read_it(
    slack: FakeSlack, access: ChannelAccess
) -> None:
    slack.scopes.add("users:read.email")
    alice = slack.person("alice")
    assert MAIL in await access.principals(slack.team_id, alice.id)
    channel = ThreadKey("slack", slack.team_id, slack.channel("general").id, "1.0")
    assert MAIL not in (await access.audience(channel, alice.id)).principals  # others read there too


@pytest.mark.parametrize("change", ["is_guest", "deleted", "unconfirmed", "partner", "no scope"])
async def test_nobody_else_holds_an_address(slack: FakeSlack, access: ChannelAccess, change: str) -> None:
    slack.scopes.add("users:read.email")
    alice = slack.person("alice")
    match change:
        case "unconfirmed":
            alice.user.email_confirmed = False
        case "partner":
            alice.user.home_team = "T0PARTNER"
        case "no scope":
            slack.scopes.remove("users:read.email")
        case _:
            setattr(alice.user, change, True)
    assert MAIL not in await access.principals(slack.team_id, alice.id)


@pytest.mark.parametrize("error", ["user_not_visible", "user_not_found", "missing_scope"])
async def test_whoever_slack_does_not_show_does_not_hold_the_workspace(
    slack: FakeSlack, access: ChannelAccess, error: str
) -> None:
    slack.faults.fail("users.info", error, None)
    alice = slack.person("alice")
    assert await access.principals(slack.team_id, alice.id) == {user_principal(slack.team_id, alice.id)}


async def test_an_admin_of_another_workspace_is_nobody_here(slack: FakeSlack, access: ChannelAccess) -> None:
    ada = slack.person("ada")
    ada.user.home_team = "T0PARTNER"
    assert await access.principals(slack.team_id, ada.id) == {user_principal(slack.team_id, ada.id)}
    assert not await access.is_admin(ada.id)


async def test_a_name_that_could_not_be_looked_up_is_asked_for_again(slack: FakeSlack, access: ChannelAccess) -> None:
    alice = slack.person("alice")
    slack.faults.fail("users.info", "missing_scope", 1)
    assert await access.directory.name(alice.id) == alice.id
    assert await access.directory.name(alice.id) == "alice"


async def test_partners_in_a_closed_channel_read_only_the_chosen_open_bases(slack: FakeSlack) -> None:
    channel, alice, bob = slack.channel("general"), slack.person("alice"), slack.person("bob")
    channel.host_team = bob.user.home_team = "T0PARTNER"
    thread = ThreadKey("slack", slack.team_id, channel.id, "1.0")
    settings = ChannelSettings(closed_to_partners=True, bases=frozenset({"chosen"}))

    async def settings_of(_: str) -> ChannelSettings:
        return settings

    web = WebClient(slack.bot_token, slack.api_url)
    access = ChannelAccess(Directory(web), settings_of)
    granted = KnowledgeBase("granted", grants=frozenset({thread.place}))
    bases = (KnowledgeBase("open"), KnowledgeBase("chosen"), granted, KnowledgeBase("theirs", grants=frozenset({"x"})))

    def read_by(audience: Audience) -> list[str]:
        return [base.name for base in bases if base.visible_to(audience)]

    assert read_by(await access.audience(thread, alice.id)) == ["chosen", "granted"]
    assert read_by(await access.reader(thread, bob.id)) == ["chosen", "granted"]
    assert read_by(await access.reader(thread, alice.id)) == ["open", "chosen", "granted"]
    settings = ChannelSettings()
    assert read_by(await access.audience(thread, alice.id)) == ["open", "chosen", "granted"]
    await web.close()
