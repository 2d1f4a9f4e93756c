"""Programs add documents: only their own, only in their token's bases, and only for its readers."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from core.model.errors import NotFound
from core.model.knowledge import KnowledgeBase
from core.ports.access import TokenScope
from tests.adapters.web.api.office import OWNER, Office, Program, Response

pytestmark = pytest.mark.e2e
INGEST = frozenset(TokenScope)
LIFT = "# Lift\n\nThe lift is inspected every spring by Mr Otis."
GRANT = "slack:channel:T/BOARD"


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    office = Office()
    for base, grants in (("handbook", frozenset[str]()), ("board", frozenset({GRANT}))):
        await office.harness.catalog.save_base(KnowledgeBase(base, "", grants=grants))
    async with office.open():
        yield office


async def adds(office: Office, program: Program, key: str = "wiki/lift", **fields: Any) -> Response:
    """A document, and what became of its job."""
    accepted = await program.post("/v1/documents", **{"key": key, "text": LIFT, **fields})
    if accepted.status != 202:
        return accepted
    await office.room.works()
    return await program.send("GET", f"/v1/jobs/{accepted.body['id']}")


async def test_a_document_is_added_found_shown_and_deleted(office: Office) -> None:
    program = await office.program("handbook", scopes=INGEST)
    given = {"title": "The lift", "address": "https://wiki.example/lift", "dated": "2026-03-01"}
    job = (await adds(office, program, **given)).body
    assert (job["state"], job["result"], job["key"], job["knowledge_base"]) == (
        "done",
        "added",
        "wiki/lift",
        "handbook",
    )
    shown = (await program.send("GET", "/v1/documents/wiki/lift")).body
    assert {name: shown[name] for name in given} == given
    hit = (await program.post("/v1/search", query="lift inspected")).body["hits"][0]
    assert (hit["title"], hit["url"], hit["dated"]) == ("The lift", "https://wiki.example/lift", "2026-03-01")
    assert [one["key"] for one in (await program.send("GET", "/v1/documents")).body["documents"]] == ["wiki/lift"]
    assert (await program.send("DELETE", "/v1/documents/wiki/lift")).status == 200
    assert (await program.send("GET", "/v1/documents/wiki/lift")).status == 404
    assert (await program.post("/v1/search", query="lift inspected")).body["hits"] == []


async def test_documents_are_listed_in_pages_of_a_bounded_size(office: Office) -> None:
    program = await office.program("handbook", "board", scopes=INGEST)
    keys = [f"wiki/{number}" for number in range(5)]
    for key in keys:
        await adds(office, program, key, knowledge_base="board")
    await adds(office, program, "wiki/2", knowledge_base="handbook")
    seen: list[tuple[str, str]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = (await program.send("GET", f"/v1/documents?limit=2&cursor={cursor}")).body
        assert len(page["documents"]) <= 2
        seen += [(one["key"], one["knowledge_base"]) for one in page["documents"]]
        cursor = page["next_cursor"]
    assert seen == sorted([*((key, "board") for key in keys), ("wiki/2", "handbook")])
    for wrong in ("limit=0", "limit=1001", "cursor=nonsense", "page=2"):
        assert (await program.send("GET", f"/v1/documents?{wrong}")).status == 422


@pytest.mark.parametrize("dated", ["9999-99-99", "2026-02-30", "0000-01-01"])
async def test_a_date_that_no_calendar_has_is_refused(office: Office, dated: str) -> None:
    program = await office.program("handbook", scopes=INGEST)
    assert (await program.post("/v1/documents", key="lift", text=LIFT, dated=dated)).status == 422


async def test_the_address_of_a_document_is_never_fetched(office: Office) -> None:
    program = await office.program("handbook", scopes=INGEST)
    await adds(office, program, address="https://wiki.example/lift")
    await adds(office, program, address="https://wiki.example/lift", text=f"{LIFT} Twice.")
    assert office.room.site.asked == []


async def test_the_same_key_replaces_and_the_same_document_changes_nothing(office: Office) -> None:
    program = await office.program("handbook", scopes=INGEST)
    assert [(await adds(office, program)).body["result"] for _ in range(2)] == ["added", "unchanged"]
    assert (await adds(office, program, text="# Lift\n\nBy Mrs Schindler.")).body["result"] == "updated"
    hits = (await program.post("/v1/search", query="lift")).body["hits"]
    assert "Schindler" in hits[0]["text"]
    assert not any("Otis" in hit["text"] for hit in hits)


async def test_a_request_that_is_sent_again_while_it_waits_is_the_same_job(office: Office) -> None:
    program = await office.program("handbook", scopes=INGEST)
    sent = [await program.post("/v1/documents", key="a", text=LIFT) for _ in range(2)]
    assert sent[0].body["id"] == sent[1].body["id"]
    other = await program.post("/v1/documents", key="a", text=LIFT, title="Another title")
    assert other.body["id"] != sent[0].body["id"]


async def test_a_token_replaces_and_deletes_its_own_alone(office: Office) -> None:
    first, second = [await office.program("handbook", scopes=INGEST) for _ in range(2)]
    job = await first.post("/v1/documents", key="a", text=LIFT)
    await office.room.works()
    await adds(office, second, "a", text="# Lift\n\nBy nobody.")
    assert (await first.send("DELETE", "/v1/documents/a")).status == 200
    assert (await first.send("GET", "/v1/documents")).body["documents"] == []
    left = (await second.send("GET", "/v1/documents")).body["documents"]
    assert [one["key"] for one in left] == ["a"]
    assert (await second.send("GET", f"/v1/jobs/{job.body['id']}")).status == 404
    third = await office.program("handbook", scopes=INGEST)
    assert (await third.send("DELETE", "/v1/documents/a")).status == 404
    assert (await third.send("DELETE", f"/v1/documents/api:{second.secret.split('_')[1]}:a")).status == 404


async def test_a_token_adds_only_to_the_bases_it_names(office: Office) -> None:
    program = await office.program("handbook", scopes=INGEST)
    for base in ("board", "attic"):
        refused = await program.post("/v1/documents", key="a", text=LIFT, knowledge_base=base)
        assert refused.status == 404
        assert "board" not in refused.body["remedy"]
    assert {base.name for base in await office.harness.catalog.bases()} == {"handbook", "board"}
    unbound = await office.program()
    assert (await unbound.post("/v1/documents", key="a", text=LIFT)).status == 403


async def test_a_grant_that_was_taken_back_closes_the_base(office: Office) -> None:
    token, program = await office.admitted("board", scopes=INGEST)
    assert (await adds(office, program)).body["result"] == "added"
    base = next(one for one in await office.harness.catalog.bases() if one.name == "board")
    await office.harness.catalog.save_base(KnowledgeBase("board", "", grants=base.grants - {token.principal}))
    assert (await program.post("/v1/documents", key="b", text=LIFT)).status == 404
    assert (await program.send("DELETE", "/v1/documents/wiki/lift")).status == 404


@pytest.mark.parametrize(
    ("base", "audience", "status"),
    [
        ("handbook", ["slack:user:T/U"], 403),
        ("handbook", ["everyone"], 202),
        ("board", ["slack:user:T/U"], 403),
        ("board", [GRANT, "slack:user:T/U"], 202),
        ("board", [], 202),
    ],
)
async def test_a_document_gets_no_wider_audience_than_it_is_for(
    office: Office, base: str, audience: list[str], status: int
) -> None:
    program = await office.program(base, scopes=INGEST)
    assert (await program.post("/v1/documents", key="a", text=LIFT, audience=audience)).status == status


@pytest.mark.parametrize("grants", [(), (GRANT, "slack:user:T/U"), (GRANT,)])
async def test_a_base_that_changes_readers_meanwhile_gets_no_document(office: Office, grants: tuple[str, ...]) -> None:
    token, program = await office.admitted("board", scopes=INGEST)
    parse = office.room.parser.parse

    async def parse_and_change(*given: Any) -> Any:
        kept = {*grants, token.principal} if len(grants) > 1 else grants
        await office.harness.catalog.save_base(KnowledgeBase("board", "", grants=frozenset(kept)))
        return await parse(*given)

    office.room.parser.parse = parse_and_change  # type: ignore[method-assign,assignment]
    accepted = await program.post("/v1/documents", key="a", text=LIFT, audience=[GRANT])
    assert accepted.status == 202
    await office.room.works()
    item = (await office.room.job(accepted.body["id"])).items[0]
    assert item.state == "failed"
    assert "this document may have" in item.reason or "can no longer use" in item.reason
    assert await office.room.index.count() == 0
    assert list(await office.harness.catalog.documents(frozenset({"board"}))) == []


async def test_who_may_not_read_the_base_finds_no_document_of_it(office: Office) -> None:
    await adds(office, await office.program("board", scopes=INGEST))
    assert (await (await office.program()).post("/v1/search", query="lift inspected")).body["hits"] == []


async def test_a_file_is_added_by_a_form(office: Office) -> None:
    program = await office.program("handbook", scopes=INGEST)
    form = aiohttp.FormData({"title": "Lifts"})
    form.add_field("file", LIFT.encode(), filename="lift.md")
    accepted = await program.send("PUT", "/v1/documents/lifts", form)
    assert accepted.status == 202
    await office.room.works()
    assert (await program.send("GET", "/v1/documents/lifts")).body["title"] == "Lifts"


@pytest.mark.parametrize(
    "fields", [{"key": ""}, {"key": "a b"}, {"address": "javascript:alert(1)"}, {"dated": "soon"}, {"fetch": True}]
)
async def test_what_is_not_as_described_is_refused(office: Office, fields: dict[str, Any]) -> None:
    program = await office.program("handbook", scopes=INGEST)
    assert (await program.post("/v1/documents", **{"key": "a", "text": LIFT, **fields})).status == 422


@pytest.mark.parametrize(
    ("fields", "files", "status", "said"),
    [
        ([("audience", "everyone")] * 200, 1, 400, "one file"),
        ([], 2, 400, "one file"),
        ([("title", "x" * 5_000)], 1, 413, "“title”"),
    ],
)
async def test_a_form_that_holds_too_much_is_refused_in_true_words(
    office: Office, fields: list[tuple[str, str]], files: int, status: int, said: str
) -> None:
    program = await office.program("handbook", scopes=INGEST)
    form = aiohttp.FormData(fields)
    for n in range(files):
        form.add_field("file", b"x", filename=f"{n}.md")
    refused = await program.send("PUT", "/v1/documents/a", form)
    assert refused.status == status
    assert said in refused.body["detail"]


async def test_what_is_refused_for_a_full_queue_takes_no_room(office: Office) -> None:
    program = await office.program("handbook", scopes=INGEST)
    accepted = 0
    while (await program.post("/v1/documents", key=f"k{accepted}", text=LIFT)).status == 202:
        accepted += 1
    assert 0 < accepted == len(office.room.blobs.kept)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--x\r\n",
        b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nabc',
        b'--x\r\nContent-Disposition: form-data; name="\x0b\xf2"\r\n\r\nabc\r\n--x--\r\n',
    ],
)
async def test_a_form_that_cannot_be_read_is_refused(office: Office, body: bytes) -> None:
    program = await office.program("handbook", scopes=INGEST)
    headers = {"Authorization": f"Bearer {program.secret}", "Content-Type": "multipart/form-data; boundary=x"}
    async with (
        aiohttp.ClientSession() as session,
        session.put(office.url("/v1/documents/a"), data=body, headers=headers) as got,
    ):
        assert got.status in (400, 404)
        assert (await got.json())["trace_id"]


@pytest.mark.parametrize("key", ["%FF", "%00", "%ED%A0%80", "a" * 3_000, "a%0Ab"])
async def test_a_strange_key_is_not_there(office: Office, key: str) -> None:
    program = await office.program("handbook", scopes=INGEST)
    assert (await program.send("GET", f"/v1/documents/{key}")).status in (400, 404)
    assert (await program.send("DELETE", f"/v1/documents/{key}")).status in (400, 404)


async def test_a_token_without_a_base_cannot_be_made_to_add(office: Office) -> None:
    with pytest.raises(NotFound, match="needs a knowledge base"):
        await office.clients.create("x", INGEST, (), OWNER)


async def test_one_key_in_two_bases_is_two_documents(office: Office) -> None:
    program = await office.program("handbook", "board", scopes=INGEST)
    for base in ("handbook", "board"):
        assert (await adds(office, program, "lift", knowledge_base=base)).body["result"] == "added"
    listed = await program.send("GET", "/v1/documents")
    assert [one["knowledge_base"] for one in listed.body["documents"]] == ["board", "handbook"]
