"""Guests and partners of Slack Connect ask for what they may not read, in every way: nothing of it is shown."""

from collections.abc import AsyncIterator

import pytest

from adapters.slack.api.ids import team_principal, user_principal
from core.model.principals import channel_principal
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.slack import FakeSlack, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]
PARTNER = "T0PARTNER"
CANARIES = {"ours": "The canary of ours", "board": "The canary of the board", "alices": "The canary of Alice"}
QUESTIONS = (
    "when does the canary sing?",
    "what is in “Canary board”?",
    "which documents do you have?",
    "list your sources",
)
ECHOED = (
    "There is no document called “Canary ours” here."  # to "show Canary ours"; also said of a title that exists nowhere
)
COMMANDS = ("list", "show ours", "show board", "show Canary ours", "search canary", "status", "jobs", "proposals")


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as workspace:
        workspace.channel("general").host_team = PARTNER
        workspace.channel("board", private=True, members=["alice"])
        workspace.person("guest").user.is_guest = True
        workspace.person("partner").user.home_team = PARTNER
        yield workspace


@pytest.fixture
async def bot(slack: FakeSlack) -> AsyncIterator[Bot]:
    bot = Bot(SlackDriver(slack, "socket"))
    await bot.harness.knows(REFUNDS, title="Refund policy")
    team, board, alice = slack.team_id, slack.channel("board").id, slack.person("alice").id
    grants = {
        "ours": team_principal(team),
        "board": channel_principal("slack", team, board),
        "alices": user_principal(team, alice),
    }
    for base, text in CANARIES.items():
        title = f"Canary {base}"
        await bot.harness.knows(f"{text} sings at dawn.", title=title, base=base, grants=frozenset({grants[base]}))
    async with bot.running():
        yield bot


def shown_to(slack: FakeSlack, name: str) -> str:
    """All that a person could have read."""
    person = slack.person(name)
    messages = [*slack.visible(slack.channel("general")), *slack.visible(person.dm), *person.private]
    return "\n".join(one.markdown for one in messages if not any(question in one.markdown for question in QUESTIONS))


@pytest.mark.parametrize("name", ["guest", "partner"])
async def test_an_outsider_reads_nothing_that_was_granted_to_others(slack: FakeSlack, bot: Bot, name: str) -> None:
    asker = slack.person(name)
    for question in QUESTIONS:
        for text, place in ((f"<@bot> {question}", "general"), (question, asker.dm)):
            asked = await asker.says(text, place)
            answer = await slack.reply_to(asked, until=lambda one: one.buttons() or "documents" in one.markdown)
            if "Why" in answer.buttons():
                await asker.clicks(answer, "Why")
    for command in COMMANDS:
        await asker.slash("/kb", command, "general")
        await asker.slash("/kb", command, asker.dm)
    open_to_all = await asker.says("how long do refunds take?", asker.dm)
    await slack.reply_to(open_to_all, until=lambda one: REFUNDS in one.markdown)
    shown = shown_to(slack, name)
    assert ECHOED in shown
    assert not any(text in shown.replace(ECHOED, "") for text in (*CANARIES.values(), "Canary "))


async def test_a_member_reads_them_so_the_probes_above_can_fail(slack: FakeSlack, bot: Bot) -> None:
    alice = slack.person("alice")
    for place, bases in ((alice.dm, ("ours", "alices")), ("board", ("ours", "board"))):
        text = QUESTIONS[0] if place is alice.dm else f"<@bot> {QUESTIONS[0]}"
        answer = await slack.reply_to(await alice.says(text, place), until=lambda one: "Why" in one.buttons())
        assert all(CANARIES[base] in answer.markdown for base in bases)
