"""/v1 as programs use it, over a real socket."""

import asyncio
import json
import re
from collections.abc import AsyncIterator

import aiohttp
import pytest
from jsonschema import Draft202012Validator

from adapters.web.api import replies as event_stream
from adapters.web.api.openapi import OPERATIONS
from core.model.answer import Outcome, Support
from core.model.errors import ModelUnavailable, StoreUnavailable
from core.model.inquiry import AskBack, Insufficient
from core.ports.access import TokenScope
from tests.adapters.web.api.office import OWNER, Office, Program

pytestmark = pytest.mark.e2e

REFUNDS = "Refunds are paid within 14 days."
QUESTION = "How long do refunds take?"


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    office = Office()
    await office.harness.knows(REFUNDS, title="Refund policy")
    async with office.open():
        yield office


@pytest.fixture
async def program(office: Office) -> Program:
    return await office.program()


# --- asking


async def test_an_answer_comes_with_what_it_quotes(program: Program) -> None:
    reply = (await program.post("/v1/ask", question=QUESTION)).body
    assert reply["outcome"] == "answered"
    assert reply["answer"] == f"{REFUNDS} [1]"
    (source,) = reply["citations"]
    assert (source["n"], source["title"], source["quote"]) == (1, "Refund policy", REFUNDS)


async def test_a_conversation_goes_on_under_its_name(office: Office, program: Program) -> None:
    first = (await program.post("/v1/ask", question=QUESTION)).body
    await program.post("/v1/ask", question="and who pays them?", conversation=first["conversation"])
    _, thread = office.harness.script.calls_of("understand")[-1].given
    assert [turn.question for turn in thread.turns] == [QUESTION]


async def test_conversations_of_the_same_name_are_apart_for_two_programs_and_two_users(office: Office) -> None:
    one, other = await office.program(), await office.program()
    await one.post("/v1/ask", question=QUESTION, conversation="c", user="ana")
    for program, user in ((other, "ana"), (one, "ben"), (one, None)):
        await program.post("/v1/ask", question="and who pays them?", conversation="c", user=user)
        _, thread = office.harness.script.calls_of("understand")[-1].given
        assert thread.turns == ()


async def test_what_the_documents_do_not_say_is_an_outcome_and_no_error(office: Office, program: Program) -> None:
    office.harness.script.always("grade", 1)
    office.harness.script.always("decide", Insufficient("parking"))
    got = await program.post("/v1/ask", question="Where may I park?")
    assert (got.status, got.body["outcome"]) == (200, "abstained")
    assert [source["title"] for source in got.body["nearest"]] == ["Refund policy"]


async def test_a_stream_has_the_events_as_they_happen_and_ends_with_the_answer(program: Program) -> None:
    events = [event async for event in program.stream("/v1/ask", question=QUESTION)]
    names = [event.name for event in events]
    assert names[0] == "AGENT_STARTED"
    assert "AGENT_RETRIEVAL_COMPLETED" in names
    assert names[-1] == "answer"
    assert names.count("answer") == 1
    assert events[-1].data["answer"] == f"{REFUNDS} [1]"


async def test_a_stream_shows_no_sentence_before_it_is_checked(office: Office, program: Program) -> None:
    office.harness.script.always("compose", f"{REFUNDS} [1] Refunds are paid in cash at the desk [1].")
    office.harness.script.always("check", Support.UNSUPPORTED)
    events = [event async for event in program.stream("/v1/ask", question=QUESTION)]
    assert events[-1].data["answer"] == f"{REFUNDS} [1]"
    assert "cash" not in json.dumps([event.data for event in events])


async def test_a_program_that_hangs_up_ends_the_work(
    office: Office, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.05)
    begun, ended = asyncio.Event(), asyncio.Event()

    async def search(*_: object) -> None:
        begun.set()
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()

    office.harness.index.search = search  # type: ignore[method-assign, assignment]
    stream = program.stream("/v1/ask", question=QUESTION)
    await anext(stream)
    async with asyncio.timeout(60):
        await begun.wait()
        await stream.aclose()  # type: ignore[attr-defined]
        await ended.wait()


# --- choosing


async def parked(office: Office, program: Program, user: str | None = None) -> dict[str, object]:
    office.harness.script.enqueue("understand", AskBack("Which refunds?", ("Refunds of plans", "Refunds of seats")))
    reply = (await program.post("/v1/ask", question="refunds?", user=user)).body
    assert reply["outcome"] == "clarified"
    checkpoint: dict[str, object] = reply["checkpoint"]
    return checkpoint


@pytest.mark.parametrize("choice", ["option-1", "Refunds of plans", "1"])
async def test_a_choice_goes_on_to_the_answer(office: Office, program: Program, choice: str) -> None:
    checkpoint = await parked(office, program)
    reply = (await program.post("/v1/resume", checkpoint=checkpoint["id"], choice=choice)).body
    assert (reply["outcome"], reply["answer"]) == ("answered", f"{REFUNDS} [1]")


async def test_a_choice_counts_once(office: Office, program: Program) -> None:
    checkpoint = await parked(office, program)
    await program.post("/v1/resume", checkpoint=checkpoint["id"], choice="1")
    again = await program.post("/v1/resume", checkpoint=checkpoint["id"], choice="1")
    assert again.status == 404


async def test_nobody_chooses_at_the_checkpoint_of_another(office: Office, program: Program) -> None:
    checkpoint = await parked(office, program, user="ana")
    for other, user in ((await office.program(), "ana"), (program, "ben"), (program, None)):
        got = await other.post("/v1/resume", checkpoint=checkpoint["id"], choice="1", user=user)
        assert got.status == 404
    mine = await program.post("/v1/resume", checkpoint=checkpoint["id"], choice="1", user="ana")
    assert mine.status == 200


async def test_what_is_no_choice_names_those_that_are(office: Office, program: Program) -> None:
    checkpoint = await parked(office, program)
    got = await program.post("/v1/resume", checkpoint=checkpoint["id"], choice="99")
    assert got.status == 404
    assert "option-1" in got.body["remedy"]


# --- rating, searching


async def test_a_rating_is_kept_with_its_answer(office: Office, program: Program) -> None:
    answer = (await program.post("/v1/ask", question=QUESTION)).body
    said = {"answer": answer["id"], "conversation": answer["conversation"]}
    assert (await program.post("/v1/feedback", **said, helpful=False, reason="outdated")).body == {"kept": True}
    (word,) = [word async for word in office.feedback.all()]
    assert (word.trace_id, word.helpful, word.reason) == (answer["id"], False, "outdated")


async def test_nobody_rates_an_answer_of_another(office: Office, program: Program) -> None:
    answer = (await program.post("/v1/ask", question=QUESTION)).body
    other = await office.program()
    said = {"answer": answer["id"], "conversation": answer["conversation"], "helpful": True}
    assert (await other.post("/v1/feedback", **said)).status == 404


async def test_a_search_names_each_legs_score_and_the_section(program: Program) -> None:
    (hit,) = (await program.post("/v1/search", query="refunds")).body["hits"]
    assert (hit["text"], hit["title"], hit["section"]) == (REFUNDS, "Refund policy", "d1s1")
    assert hit["dense"] is not None
    assert hit["bm25"] is not None


async def test_a_search_within_a_source_that_is_not_there_says_so(program: Program) -> None:
    got = await program.post("/v1/search", query="refunds", source="attic")
    assert got.status == 404
    assert "attic" in got.body["detail"]


# --- what is refused, and how


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/resume", "/v1/feedback", "/v1/search"])
async def test_without_a_token_that_is_in_force_nothing_opens(office: Office, path: str) -> None:
    token, revoked = await office.admitted()
    await office.clients.revoke(token.id, OWNER)
    for program in (office.stranger(), office.stranger("nonsense"), revoked):
        got = await program.post(path, question="x")
        assert got.status == 401
        assert got.headers["WWW-Authenticate"].startswith("Bearer")
        assert got.body["remedy"]


@pytest.mark.parametrize(
    ("scope", "path"),
    [(TokenScope.SEARCH, "/v1/ask"), (TokenScope.SEARCH, "/v1/feedback"), (TokenScope.ASK, "/v1/search")],
)
async def test_a_token_opens_only_what_it_was_made_for(office: Office, scope: TokenScope, path: str) -> None:
    got = await (await office.program(scopes=frozenset({scope}))).post(path, question="x", query="x")
    assert got.status == 403
    assert f"may not {'ask' if scope is TokenScope.SEARCH else 'search'}" in got.body["detail"]


async def test_too_many_requests_are_told_when_to_go_on(office: Office) -> None:
    hasty = await office.program(rate=1)
    assert (await hasty.post("/v1/search", query="refunds")).status == 200
    got = await hasty.post("/v1/search", query="refunds")
    assert got.status == 429
    assert int(got.headers["Retry-After"]) > 0


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'{"question": ""}', b'{"question": 5}', b'{"question": "x", "audience": "all"}',
     b'{"question": "x", "conversation": "../c"}', b'{"question": "x", "profile": "endless"}', b"\xff\xfe"],
)  # fmt: skip
async def test_what_is_not_as_described_is_told_field_by_field(program: Program, body: bytes) -> None:
    got = await program.post("/v1/ask", raw=body)
    assert got.status == 422
    assert got.body["detail"]


async def test_what_was_sent_wrongly_is_not_sent_back(program: Program) -> None:
    got = await program.post("/v1/ask", raw=b'{"question": {"secret": "s3cret-value"}}')
    assert "s3cret-value" not in json.dumps(got.body)


async def test_a_question_of_more_than_4000_characters_is_refused_without_repeating_it(program: Program) -> None:
    got = await program.post("/v1/ask", question="QUJD" * 1_001)
    assert (got.status, "4000 characters" in got.body["detail"]) == (422, True)
    assert "QUJD" not in json.dumps(got.body)


async def test_a_body_without_end_is_cut_off(program: Program) -> None:
    assert (await program.post("/v1/ask", raw=b"x" * 100_000)).status == 413


async def test_a_model_that_is_away_is_a_problem_with_its_trace(office: Office, program: Program) -> None:
    office.harness.script.always("understand", ModelUnavailable("The model is away."))
    got = await program.post("/v1/ask", question=QUESTION)
    assert got.status == 503
    assert got.body["trace_id"]
    events = [event async for event in program.stream("/v1/ask", question=QUESTION)]
    assert (events[-1].name, events[-1].data["status"]) == ("problem", 503)


async def test_a_store_that_is_away_is_a_problem_in_either_way(office: Office, program: Program) -> None:
    async def away(*_: object) -> None:
        raise StoreUnavailable("Redis does not respond.", remedy="Check that it runs.")

    office.harness.memory.recall = away  # type: ignore[method-assign, assignment]
    got = await program.post("/v1/ask", question=QUESTION)
    assert (got.status, got.body["remedy"]) == (503, "Check that it runs.")
    events = [event async for event in program.stream("/v1/ask", question=QUESTION)]
    assert [event.name for event in events] == ["problem"]


async def test_a_stream_that_a_store_ends_names_its_trace(office: Office, program: Program) -> None:
    async def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("Redis does not respond.")

    office.harness.memory.remember = away  # type: ignore[method-assign]
    events = [event async for event in program.stream("/v1/ask", question=QUESTION)]
    assert (events[-1].name, events[-1].data["status"]) == ("problem", 503)
    assert events[-1].data["trace_id"]


async def test_what_nobody_foresaw_is_one_line_without_its_words(office: Office, program: Program) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("s3cret-value")

    office.harness.memory.recall = broken  # type: ignore[method-assign, assignment]
    got = await program.post("/v1/ask", question=QUESTION)
    assert got.status == 500
    assert "s3cret" not in json.dumps(got.body)


async def test_while_everything_starts_it_says_so(office: Office, program: Program) -> None:
    office.warming = True
    asked, sought = program.post("/v1/ask", question=QUESTION), program.post("/v1/search", query="refunds")
    for got in (await asked, await sought):
        assert (got.status, "still starting" in got.body["detail"]) == (503, True)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nope", 404),
        ("GET", "/mcp", 404),
        ("POST", "/mcp/", 404),
        ("GET", "/v1", 404),
        ("GET", "/v1/ask", 405),
        ("PATCH", "/v1/documents/a", 405),
    ],
)
async def test_an_address_that_is_not_there_is_a_problem_with_its_trace(
    program: Program, method: str, path: str, status: int
) -> None:
    got = await program.send(method, path)
    assert (got.status, got.body["status"]) == (status, status)
    assert got.body["trace_id"]
    assert ("Allow" in got.headers) is (status == 405)


async def test_every_refusal_has_a_trace(office: Office, program: Program) -> None:
    refused = [
        await office.stranger().post("/v1/ask", question=QUESTION),
        await program.post("/v1/ask", raw=b"{"),
        await program.post("/v1/documents", key="a", text="b"),
        await program.send("GET", "/v1/documents/a"),
    ]
    assert [one.status for one in refused] == [401, 422, 403, 403]
    assert all(one.body["trace_id"] for one in refused)


# --- the description


async def test_people_read_of_every_operation_on_a_page_without_scripts(office: Office) -> None:
    async with aiohttp.ClientSession() as session, session.get(office.url("/docs")) as got:
        page, policy = await got.text(), got.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "<script" not in page
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert links <= set(re.findall(r'id="([^"]+)"', page))
    assert {one.name for one in OPERATIONS} <= links


async def test_the_description_is_valid_and_needs_no_token(office: Office) -> None:
    assert office.description["openapi"] == "3.1.0"
    described = {(method, path) for path, methods in office.description["paths"].items() for method in methods}
    assert {("post", "/v1/ask"), ("put", "/v1/documents/{key}"), ("get", "/v1/models")} <= described
    assert len(described) == len(OPERATIONS)
    for schema in office.description["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


async def test_nothing_that_is_sent_may_be_kept_by_who_passes_it_on(office: Office, program: Program) -> None:
    answered = await program.post("/v1/ask", question=QUESTION)
    refused = await office.stranger().post("/v1/ask", question=QUESTION)
    assert {answered.headers["Cache-Control"], refused.headers["Cache-Control"]} == {"no-store"}


# --- what stays


@pytest.mark.parametrize("public", [False, True])
async def test_words_asked_with_a_token_are_kept_only_where_it_was_made_so(office: Office, public: bool) -> None:
    await (await office.program(public=public)).post("/v1/ask", question=QUESTION)
    (kept,) = [one async for one in office.harness.questions.since(office.harness.clock.now())]
    assert kept.outcome is Outcome.ANSWERED
    assert kept.question == (QUESTION if public else "")
