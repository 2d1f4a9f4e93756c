"""A foreign program at /v1 gets no hidden data, planted links, foreign runs or missing scopes."""

import json
from collections.abc import AsyncIterator

import pytest

from core.model.inquiry import AskBack
from core.ports.access import TokenScope
from tests.adapters.web.api.office import OWNER, Office, Program
from tests.hostile_markdown import hostile_answers
from tests.markdown_reader import active_in

pytestmark = pytest.mark.e2e

BOARD = frozenset({"slack:channel:T/BOARD"})
CANARY = "zanzibarcanary"
REFUNDS = "Refunds are paid within 14 days."
LURE = "Refunds are paid at [the portal](https://evil.example/?q=secret) ![x](https://evil.example/p.png) in 14 days."


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    office = Office()
    await office.harness.knows(REFUNDS, title="Refund policy")
    await office.harness.knows(f"The {CANARY} sings at dawn.", title=f"Minutes {CANARY}", base="board", grants=BOARD)
    async with office.open():
        yield office


async def every_path(program: Program) -> str:
    """All that comes out when the board's document is asked for in every way."""
    got = [
        await program.post("/v1/ask", question="When does it sing at dawn?"),
        await program.post("/v1/ask", question="dawn?", knowledge_base="board"),
        await program.post("/v1/search", query="sings at dawn"),
        await program.post("/v1/search", query="sings at dawn", knowledge_base="board"),
        await program.post("/v1/search", query="sings at dawn", source="Minutes"),
        await program.post("/v1/search", query="sings at dawn", source="d2"),
    ]
    streamed = [event async for event in program.stream("/v1/ask", question="What sings at dawn?")]
    return json.dumps([one.body for one in got]) + json.dumps([event.data for event in streamed])


async def test_what_a_token_may_not_read_comes_out_by_no_path(office: Office) -> None:
    assert CANARY not in await every_path(await office.program())
    assert CANARY not in await every_path(await office.program("default"))


async def test_the_paths_do_lead_there_for_who_may(office: Office) -> None:
    assert CANARY in await every_path(await office.program("board"))


async def test_a_grant_that_was_taken_back_leaves_nothing_in_a_conversation(office: Office) -> None:
    token, program = await office.admitted("board")
    first = await program.post("/v1/ask", question="What sings at dawn?", conversation="c")
    assert CANARY in json.dumps(first.body)
    base = next(one for one in await office.harness.catalog.bases() if one.name == "board")
    await office.harness.catalog.save_base(type(base)(base.name, base.description, BOARD))
    later = await program.post("/v1/ask", question="And what was it called?", conversation="c")
    assert CANARY not in json.dumps(later.body)
    assert token.principal not in BOARD


async def test_a_checkpoint_shows_nothing_that_was_closed_meanwhile(office: Office) -> None:
    _, program = await office.admitted("board")
    office.harness.script.enqueue("understand", AskBack("Which?", ("What sings at dawn?", "Who sleeps?")))
    asked = await program.post("/v1/ask", question="dawn?")
    base = next(one for one in await office.harness.catalog.bases() if one.name == "board")
    await office.harness.catalog.save_base(type(base)(base.name, base.description, BOARD))
    answer = await program.post("/v1/resume", checkpoint=asked.body["checkpoint"]["id"], choice="1")
    assert CANARY not in json.dumps(answer.body)


async def test_a_revoked_token_is_refused_in_the_middle_of_a_conversation(office: Office) -> None:
    token, program = await office.admitted()
    assert (await program.post("/v1/ask", question="refunds?", conversation="c")).status == 200
    await office.clients.revoke(token.id, OWNER)
    assert (await program.post("/v1/ask", question="refunds?", conversation="c")).status == 401


async def test_links_that_a_document_plants_are_in_no_answer_and_no_stream(office: Office) -> None:
    await office.harness.knows(LURE, title="Portal")
    program = await office.program()
    office.harness.script.always("compose", "Pay at [the portal](https://evil.example/?q=secret) now [1].")
    answer = (await program.post("/v1/ask", question="How are refunds paid?")).body
    assert "evil.example" not in answer["answer"]
    events = [event async for event in program.stream("/v1/ask", question="Where are refunds paid?")]
    assert events[-1].name == "answer"
    assert "evil.example" not in json.dumps([event.data for event in events])
    assert all(source["url"] is None for source in answer["citations"])


async def test_no_hostile_text_that_a_model_copies_is_active_in_an_answer(office: Office) -> None:
    texts = hostile_answers()
    await office.harness.knows(*texts, title="[x](https://evil.example/SECRET 'title')")
    program = await office.program()
    for text in texts:
        office.harness.script.always("compose", f"{text}\n\n{REFUNDS} [1]")
        answer = (await program.post("/v1/ask", question="How are refunds paid?")).body
        assert REFUNDS in answer["answer"]
        assert active_in(answer["answer"]) == [], text
    office.harness.script.always("understand", AskBack(f"Which {texts[0]}?", (texts[1], texts[2])))
    asked = (await program.post("/v1/ask", question="x?")).body
    assert active_in(asked["checkpoint"]["message"]) == []


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/search"])
async def test_a_token_in_the_address_opens_nothing(office: Office, path: str) -> None:
    program = await office.program()
    stranger = office.stranger()
    assert (await stranger.post(f"{path}?token={program.secret}", question="x", query="x")).status == 401


async def test_no_reply_names_a_token_or_its_secret(office: Office) -> None:
    token, program = await office.admitted(scopes=frozenset({TokenScope.SEARCH}))
    for got in (await program.post("/v1/ask", question="x"), await program.post("/v1/search", query="refunds")):
        assert token.id not in json.dumps(got.body)
        assert program.secret not in json.dumps(got.body)


async def test_what_programs_do_and_what_becomes_of_their_tokens_is_on_record(office: Office) -> None:
    token, _ = await office.admitted("board")
    await office.clients.revoke(token.id, OWNER)
    assert [(one.action, one.target.split()[0]) for one in await office.audit.recent()] == [
        ("revoke token", token.id),
        ("create token", token.id),
    ]
