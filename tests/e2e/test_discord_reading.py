"""On Discord, a question is read as people see it: names for ids, embeds as text, and what it replies to."""

import json
from collections.abc import Sequence

import pytest

from core.model.conversation import ContextMessage
from tests.e2e.discord_office import Office
from tests.fakes.discord import SPECIFICATION, FakeDiscord, Message

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]

QUESTION = "how long do refunds take?"
ALERT = {
    "title": "Refund queue is stuck",
    "description": "No refund since **12:00**, see [the board](https://grafana.example/d/7).",
    "fields": [{"name": "Region", "value": "Lyon"}, {"name": "Owner", "value": "<@&{support}>"}],
    "footer": {"text": "grafana"},
}


async def read_question(discord: FakeDiscord, office: Office, asked: Message) -> tuple[str, Sequence[ContextMessage]]:
    """Return the question and its context, as Footnote understood them."""
    await discord.reply_to(asked)
    inquiry, thread = office.script.calls_of("understand")[-1].given[:2]
    return inquiry.question, thread.context


async def test_reads_markup_as_names_and_dates(discord: FakeDiscord, office: Office) -> None:
    support = discord.role("support")
    discord.person("bob")
    said = {
        "is support open at <t:1790000000:F>?": "is support open at Monday, 21 September 2026 14:13 UTC?",
        "does </ask:123456789012345678> reach <@&support> in <#random>?": "does /ask reach @support in #random?",
        "may <@bob> or <@&99999999999999999> see ||the refunds||?": "may @Bob or @a role see the refunds?",
        "is <#88888888888888888> in <id:customize>?": "is #a channel in Channels & Roles?",
    }
    alice = discord.person("alice")
    for raw, read in said.items():
        question, _ = await read_question(discord, office, await alice.says(f"<@bot> {raw}"))
        assert question == read
    assert support.name == "support"


async def test_reads_embeds_of_bots_as_their_words(discord: FakeDiscord, office: Office) -> None:
    support = discord.role("support")
    embed = json.loads(json.dumps(ALERT).replace("{support}", str(support.id)))
    alice, bob, grafana = discord.person("alice"), discord.person("bob"), discord.bot("grafana")
    alert = await grafana.says("", "general", embeds=[embed])
    asked = await alice.says("<@bot> what should I do about this?", reply_to=alert)
    question, context = await read_question(discord, office, asked)
    assert question == "what should I do about this?"
    (line,) = context
    assert line.author == "grafana"
    assert "Refund queue is stuck" in line.text
    assert "No refund since **12:00**, see the board (https://grafana.example/d/7)." in line.text
    assert "Region: Lyon\nOwner: @support\ngrafana" in line.text
    await bob.starts_thread(alert, "stuck")
    in_thread = await alice.says("<@bot> how do we fix that?", thread=alert)
    _, context = await read_question(discord, office, in_thread)
    assert [one.author for one in context] == ["grafana"]
    assert "Region: Lyon" in context[0].text


async def test_a_link_preview_is_never_the_askers_words(discord: FakeDiscord, office: Office) -> None:
    preview = {"type": "article", "title": "Refund law", "description": "Pay at once.", "provider": {"name": "Lawbook"}}
    alice, bob = discord.person("alice"), discord.person("bob")
    asked = await alice.says(f"<@bot> {QUESTION} https://law.example", embeds=[preview])
    question, _ = await read_question(discord, office, asked)
    assert question == f"{QUESTION} https://law.example"
    linked = await bob.says("see https://law.example", embeds=[preview])
    _, context = await read_question(
        discord, office, await alice.says("<@bot> what must we pay then?", reply_to=linked)
    )
    assert [(one.author, one.text) for one in context] == [
        ("Bob", "see https://law.example"),
        ("preview of a link", "Lawbook\nRefund law\nPay at once."),
    ]


async def test_a_forward_is_text_with_its_author_named(discord: FakeDiscord, office: Office) -> None:
    alice, bob, carol = discord.person("alice"), discord.person("bob"), discord.person("carol")
    original = await carol.says("Customers in Lyon want <@bob> to pay.", "random")
    forward = await bob.forwards(original, "general")
    asked = await alice.says("<@bot> what is our rule for this?", reply_to=forward)
    _, context = await read_question(discord, office, asked)
    assert [(one.author, one.text) for one in context] == [
        ("Bob, forwarding Carol", "Customers in Lyon want @Bob to pay.")
    ]


async def test_the_message_replied_to_is_context_however_far_back(discord: FakeDiscord, office: Office) -> None:
    alice, bob = discord.person("alice"), discord.person("bob")
    root = await bob.says("Refunds in Lyon.")
    thread = await bob.starts_thread(root, "lyon")
    rule = await bob.says("Lyon pays on Fridays.", thread=thread)
    for number in range(1_005):  # told to nobody: it is only what the history holds
        said = Message(discord.world.ids.next(), thread, bob.member, f"chatter {number}")
        thread.messages[said.id] = said
    question, context = await read_question(
        discord, office, await alice.says("<@bot> what is our rule for this?", thread=thread, reply_to=rule)
    )
    assert question == "what is our rule for this?"
    said_before = [one.text for one in context]
    assert said_before[:2] == ["Refunds in Lyon.", "Lyon pays on Fridays."]
    assert said_before[-1] == "chatter 1004"
    again = await alice.says("<@bot> and who is paid by this?", thread=thread, reply_to=rule)
    _, context = await read_question(discord, office, again)
    assert "Lyon pays on Fridays." in [one.text for one in context]


@pytest.mark.parametrize(
    "said", ["<@bot>", "<@bot> ^", "<@bot> please help <@bob> with that", "<@bot> can you answer Bob's question?"]
)
async def test_a_reply_that_only_points_asks_what_it_replies_to(
    discord: FakeDiscord, office: Office, said: str
) -> None:
    question = await discord.person("bob").says(QUESTION)
    asked, _ = await read_question(discord, office, await discord.person("alice").says(said, reply_to=question))
    assert asked == QUESTION


# --- files


def files_read(office: Office) -> list[str]:
    return [one.text for one in office.script.calls_of("understand")[-1].given[1].attachments]


async def test_a_file_in_the_message_replied_to_or_at_the_root_of_the_thread_is_read(
    discord: FakeDiscord, office: Office
) -> None:
    alice, bob = discord.person("alice"), discord.person("bob")
    handover = await bob.says("here is the handover", files=[("handover.txt", b"Pay Lyon first.")])
    asked = await alice.says("<@bot> whom does this file tell us to pay?", reply_to=handover)
    _, context = await read_question(discord, office, asked)
    assert files_read(office) == ["Pay Lyon first."]
    assert [one.text for one in context] == ["here is the handover\n[attached: handover.txt]"]
    await bob.starts_thread(handover, "handover")
    await bob.says("please have a look", thread=handover)
    await read_question(discord, office, await alice.says("<@bot> whom must we pay?", thread=handover))
    assert files_read(office) == ["Pay Lyon first."]
    post = await _forum_post(discord)
    await read_question(discord, office, await alice.says("<@bot> whom must we pay?", thread=post))
    assert files_read(office) == ["Pay Turin."]


async def _forum_post(discord: FakeDiscord) -> Message:
    await discord.forum("questions")
    await discord.quiet(0.1)
    note = ("note.txt", b"Pay Turin.")
    return await discord.person("bob").posts_in_forum("questions", "Handover", "who reads this?", files=[note])


async def test_a_mention_with_a_file_alone_asks_for_its_summary(discord: FakeDiscord, office: Office) -> None:
    alice, bob = discord.person("alice"), discord.person("bob")
    own = await alice.says("<@bot>", files=[("plan.txt", b"Pay Lyon.")])
    question, _ = await read_question(discord, office, own)
    assert (question, files_read(office)) == ("Summarise the attached file.", ["Pay Lyon."])
    other = await bob.says("", files=[("other.txt", b"Pay Turin.")])
    question, _ = await read_question(discord, office, await alice.says("<@bot> ^", reply_to=other))
    assert (question, files_read(office)) == ("Summarise the attached file.", ["Pay Turin."])


@pytest.mark.parametrize("said", ["<@bot>", "<@bot> ^"])
async def test_a_bare_mention_below_a_file_alone_asks_about_that_file(
    discord: FakeDiscord, office: Office, said: str
) -> None:
    bob = discord.person("bob")
    root = await bob.says("", files=[("handover.txt", b"Pay Lyon first.")])
    await bob.starts_thread(root, "handover")
    question, _ = await read_question(discord, office, await discord.person("alice").says(said, thread=root))
    assert (question, files_read(office)) == ("Summarise the attached file.", ["Pay Lyon first."])


async def test_an_unreadable_file_is_said_before_the_answer(discord: FakeDiscord, office: Office) -> None:
    asked = await discord.person("alice").says(f"<@bot> {QUESTION}", files=[("scan.txt", b"1")])
    discord.world.attachments.clear()  # before it is read
    answer = await discord.reply_to(asked)
    assert answer.text.replace("*", "").startswith("-# I could not read scan.txt: ")
    assert "Refunds are paid within 14 days." in answer.text


async def test_decoration_is_neither_in_the_question_nor_in_the_threads_name(
    discord: FakeDiscord, office: Office
) -> None:
    asked = await discord.person("alice").says("<@bot> 🙏 how long do `refunds` take :pray: <:cash:1234567890123456>?")
    question, _ = await read_question(discord, office, asked)
    assert question == QUESTION
    assert asked.thread is not None
    assert asked.thread.name == QUESTION
