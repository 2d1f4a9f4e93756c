"""Several processes, one of which is killed: everything is answered once and in order, and people take turns."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest

from tests.fakes.slack import FakeSlack, Message, specs_are_here
from tests.topologies.installation import PASSWORD, Installation, installation
from tests.topologies.servers import server_binary

pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]
OFFICE = """# Lift

The lift is inspected every spring by Mr Otis.

# Printer

The printer takes A4 paper.

# Ferry

The ferry leaves from the north pier at nine.
"""
ASKED = {
    "who inspects the lift?": "Otis",
    "what paper does the printer take?": "A4",
    "when does the ferry leave?": "nine",
}
FIRST, *FOLLOWING = ASKED
THREADS = 8
PATIENCE = 240.0  # seconds, for a machine that is busy with something else


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    binary = server_binary()
    if binary is None:
        pytest.skip("There is no Redis or Valkey server here.")
    document = tmp_path_factory.mktemp("documents") / "office.md"
    document.write_text(OFFICE, encoding="utf-8")
    with installation(binary, tmp_path_factory.mktemp("several"), document) as made:
        yield made


def answers(slack: FakeSlack, root: Message) -> list[Message]:
    """The answers in a thread that stand, in the order in which they were posted."""
    shown = [one for one in slack.answers_to(root) if "Show quotes" in one.buttons() and not one.streaming]
    return sorted(shown, key=lambda one: float(one.ts))


async def conversation(slack: FakeSlack, number: int) -> Message:
    """Three questions in one thread, none of which waits for the answer to the one before."""
    person = slack.person(f"person{number}")
    root = await person.says(f"<@bot> {FIRST}", "general")
    for words in FOLLOWING:
        await person.says(f"<@bot> {words}", "general", thread=root)
    return root


async def test_two_workers_answer_what_a_third_process_heard_and_one_may_die(shared: Installation) -> None:
    async with FakeSlack(retry_delays=(1.0, 5.0, 30.0)) as slack, AsyncExitStack() as stack:
        await stack.enter_async_context(shared.serving(slack, "platform", "platform"))
        killed = await stack.enter_async_context(shared.serving(slack, "worker-1", "worker", WORKERS="2"))
        await stack.enter_async_context(shared.serving(slack, "worker-2", "worker", WORKERS="2"))
        await shared.ready("platform", "worker-1", "worker-2")
        assert len(slack.sockets.connections) == 1
        crowd = [await slack.person("crowd").says(f"<@bot> {FIRST}", "general") for _ in range(12)]
        threads = [await conversation(slack, number) for number in range(THREADS)]
        late = await slack.person("late").says(f"<@bot> {FIRST}", "general")
        await slack.until(lambda: answers(slack, late), PATIENCE, what="the answer to the one who came last")
        assert not all(answers(slack, one) for one in crowd)  # twelve questions of one person did not go before it
        killed.kill()
        await slack.until(
            lambda: all(answers(slack, one) for one in crowd) and all(len(answers(slack, one)) == 3 for one in threads),
            PATIENCE,
            what="an answer to every question",
        )
        for root in threads:
            for answer, fact in zip(answers(slack, root), ASKED.values(), strict=True):
                assert fact in answer.markdown
        shown = {len(slack.answers_to(one)) for one in (*crowd, late)}, {len(slack.answers_to(one)) for one in threads}
        assert shown == ({1}, {3})
        assert slack.violations == []


async def test_another_process_reads_an_uploaded_file_and_a_third_must_share_the_index(
    shared: Installation,
) -> None:
    async with FakeSlack() as slack, AsyncExitStack() as stack:
        await stack.enter_async_context(shared.serving(slack, "platform", "platform"))
        await stack.enter_async_context(shared.serving(slack, "worker-1", "worker"))
        await shared.ready("platform", "worker-1")
        alone = await stack.enter_async_context(shared.serving(slack, "alone", "worker", MILVUS_URI=""))
        ada = slack.person("ada")
        await ada.slash("/kb", "", "general")
        form = await ada.next_modal()
        await ada.submits(form, {"files": [("boiler.md", b"# Boiler\n\nThe boiler is cleaned by Ms Bell.")]})
        await slack.until(
            lambda: any("1 added" in one.markdown for one in slack.visible(ada.dm)), PATIENCE, what="the job's end"
        )
        question = await slack.person("bob").says("<@bot> who cleans the boiler?", "general")
        await slack.until(lambda: answers(slack, question), PATIENCE, what="an answer")
        assert "Bell" in answers(slack, question)[0].markdown
        async with asyncio.timeout(PATIENCE):
            assert await alone.wait() != 0
        assert "MILVUS_URI" in shared.log("alone")
        assert "Traceback" not in shared.log("alone")
        assert slack.violations == []


async def test_stores_that_are_away_at_the_start_are_waited_for_and_a_refusal_is_not(shared: Installation) -> None:
    async with FakeSlack() as slack, AsyncExitStack() as stack:
        nowhere = {"REDIS_URL": "redis://127.0.0.1:1/0", "MILVUS_URI": "http://127.0.0.1:1"}
        waiting = await stack.enter_async_context(shared.serving(slack, "early", "all", **nowhere))
        wrong = {"REDIS_URL": shared.redis_url.replace(PASSWORD, "wrong")}
        refused = await stack.enter_async_context(shared.serving(slack, "refused", "all", **wrong))
        async with asyncio.timeout(PATIENCE):
            while not (await shared.readiness("early") or {}).get("redis"):
                assert waiting.returncode is None, shared.log("early")
                await asyncio.sleep(0.1)
            assert await refused.wait() != 0
        assert (await shared.readiness("early") or {})["redis"].startswith("Redis does not respond.")
        assert "Redis rejected the credentials. Check REDIS_URL." in shared.log("refused")
