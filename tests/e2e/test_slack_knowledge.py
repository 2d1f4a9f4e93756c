"""``/kb`` and *Add to knowledge base* on Slack: what reaches the knowledge desk, and what is told."""

from collections.abc import AsyncIterator

import pytest

from adapters.knowledge_desk import KbCommand, KbVerb
from adapters.slack.knowledge import parsed
from tests.e2e.fake_slack import FakeSlack, specs_are_here
from tests.e2e.inprocess import Bot
from tests.e2e.slack_driver import SlackDriver
from tests.e2e.test_discord_knowledge import WrittenDown

e2e = [
    pytest.mark.e2e,
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as workspace:
        yield workspace
        assert workspace.violations == []


@pytest.fixture
async def kb(slack: FakeSlack) -> AsyncIterator[WrittenDown]:
    kb = WrittenDown()
    bot = Bot(SlackDriver(slack, "socket"))
    bot.more["kb"] = kb
    async with bot.running():
        yield kb


class TestScenes:
    pytestmark = e2e

    async def test_a_message_is_proposed_with_its_thread_and_a_way_back(
        self, slack: FakeSlack, kb: WrittenDown
    ) -> None:
        said = await slack.person("bob").says("Refunds take 30 days since May.", "general")
        await slack.person("ada").says("And 14 before that.", "general", thread=said)
        await slack.person("alice").shortcut("footnote_add_to_knowledge", said)
        assert "Proposed." in (await slack.person("alice").next_private()).markdown
        ((conversation, caller),) = kb.proposed
        assert [one.text for one in conversation.messages] == ["Refunds take 30 days since May.", "And 14 before that."]
        assert conversation.permalink
        assert not caller.permissions.is_admin

    async def test_a_command_reaches_the_desk_with_the_rights_slack_knows(
        self, slack: FakeSlack, kb: WrittenDown
    ) -> None:
        for name in ("alice", "ada"):
            await slack.person(name).slash("/kb", "status --kb handbook", "general")
            assert "Done: status." in (await slack.person(name).next_private()).markdown
        assert [(command.base, caller.permissions.is_admin) for command, caller in kb.commands] == [
            ("handbook", False),
            ("handbook", True),
        ]

    async def test_a_removal_is_said_twice(self, slack: FakeSlack, kb: WrittenDown) -> None:
        ada = slack.person("ada")
        await ada.slash("/kb", 'remove "Refund policy"', "general")
        assert "--yes" in (await ada.next_private()).markdown
        await ada.slash("/kb", 'remove "Refund policy" --yes', "general")
        assert "Done: remove." in (await ada.next_private()).markdown
        assert [(command.target, command.confirmed) for command, _ in kb.commands] == [
            ("Refund policy", False),
            ("Refund policy", True),
        ]

    async def test_what_is_no_command_gets_the_list_of_them(self, slack: FakeSlack, kb: WrittenDown) -> None:
        await slack.person("ada").slash("/kb", "please", "general")
        assert "ingest LINK" in (await slack.person("ada").next_private()).markdown
        assert kb.commands == []


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (
            "ingest <https://x.example/a|x.example> --limit 5",
            KbCommand(KbVerb.INGEST, target="https://x.example/a", limit=5),
        ),
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
    ],
)
def test_words_become_a_command(words: str, command: KbCommand) -> None:
    assert parsed(words) == command


@pytest.mark.parametrize("words", ["", "dance", "list --loud", 'show "open', "list --page two"])
def test_what_cannot_be_read_says_so(words: str) -> None:
    assert isinstance(parsed(words), str)
