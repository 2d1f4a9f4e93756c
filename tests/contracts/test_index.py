"""The contract of every index: in memory and the embedded Milvus."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.milvus.index import MilvusIndex
from core.ingestion.passage_vectors import vectors_of
from core.model.errors import DocumentRejected
from core.model.knowledge import Locator, Passage
from core.model.passage_units import texts_of_units
from core.ports.index import NO_SENTENCES, Index, PassageVectors, Scope
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.index import InProcessIndex

ENCODER = HashingEncoder()
ODD_NAMES = (
    "plain",
    "it's",
    'say "so"',
    "back\\slash",
    "ends in \\",
    "two\nlines",
    "Überblick",
    "日本語",
    "😀",
    '" or knowledge_base != "',
    '"] or knowledge_base in ["plain',
    "{name}",
    "100 %41",
    "\u2028",
    "a,b",
    "bell\x07",
)


@pytest.fixture(
    params=[InProcessIndex, pytest.param(MilvusIndex, marks=pytest.mark.live)], ids=["in process", "milvus"]
)
async def index(request: pytest.FixtureRequest) -> AsyncIterator[Index]:
    if request.param is InProcessIndex:
        yield InProcessIndex()
        return
    # Not pytest's own folder: its names are long enough to push the socket elsewhere, which has its own test.
    with tempfile.TemporaryDirectory(prefix="index-") as folder:
        async with MilvusIndex(f"{folder}/milvus.db", model=ENCODER.name, dimension=ENCODER.dimension) as milvus:
            yield milvus


def passage(name: str, text: str, base: str = "handbook", **more: object) -> Passage:
    plain = Passage(
        id=name, knowledge_base=base, document="doc", version="v1", section="s1", ordinal=0, title="Leave", text=text
    )
    return replace(plain, **more)  # type: ignore[arg-type]


async def add(index: Index, *passages: Passage) -> None:
    await index.add(passages, await vectors_of(passages, ENCODER))


async def find(index: Index, query: str, *bases: str, documents: Sequence[str] | None = None) -> set[str]:
    """Return the ids that either search found."""
    scope = Scope(frozenset(bases), None if documents is None else frozenset(documents))
    legs = await index.search(query, (await ENCODER.encode_queries([query]))[0], scope, 10)
    return {p.id for p, _ in (*legs.dense, *legs.bm25)}


async def test_what_was_added_is_found_on_return_by_both_legs(index: Index) -> None:
    await add(index, passage("a", "Annual leave is thirty days."), passage("b", "The printer is on the second floor."))
    query = "how many days of annual leave"
    legs = await index.search(query, (await ENCODER.encode_queries([query]))[0], Scope(frozenset({"handbook"})), 10)
    assert [p.id for p, _ in legs.dense][:1] == ["a"]
    assert [p.id for p, _ in legs.bm25][:1] == ["a"]
    assert all(score > 0 for _, score in legs.bm25)
    assert legs.dense[0][1] <= 1.0001


async def test_a_passage_comes_back_whole(index: Index) -> None:
    whole = passage(
        "a",
        'Zeile eins – «Überstunden» 日本語 😀\n\n| a | b |\n\tIt\'s "so" \\n {x}',
        heading=("Part I", "Überblick"),
        locator=Locator(page=3, label="Sheet 1", first_line=7, last_line=9),
        source="ordner/datei.md",
        url="https://example.org/ä?b=c#d",
        dated="2026-02-03",
        ordinal=4,
    )
    await add(index, whole)
    assert list(await index.passages("doc", "v1", Scope(frozenset({"handbook"})))) == [whole]


async def test_lexical_search_stems(index: Index) -> None:
    await add(index, passage("a", "Refunds were processed."), passage("b", "Something else entirely."))
    legs = await index.search(
        "processing a refund", (await ENCODER.encode_queries(["zzz"]))[0], Scope(frozenset({"handbook"})), 10
    )
    assert [p.id for p, _ in legs.bm25] == ["a"]


async def test_the_title_and_the_headings_are_searched_too(index: Index) -> None:
    await add(index, passage("a", "Ask your lead.", heading=("Sabbatical",)), passage("b", "Ask the office."))
    assert "a" in await find(index, "sabbatical", "handbook")


async def test_the_filter_is_inside_the_query(index: Index) -> None:
    """Sixty better passages of another base do not crowd out the one that may be seen."""
    crowd = [passage(f"x{n}", "leave leave leave days", base="secret") for n in range(60)]
    await add(index, *crowd, passage("mine", "A day of leave, once in a while."))
    assert await find(index, "leave days", "handbook") == {"mine"}


async def test_one_source_alone_can_be_searched(index: Index) -> None:
    await add(index, passage("a", "leave", document="one"), passage("b", "leave", document="two"))
    assert await find(index, "leave", "handbook", documents=["two"]) == {"b"}
    assert await find(index, "leave", "handbook", documents=["three"]) == set()


@pytest.mark.parametrize("scope", [Scope(frozenset()), Scope(frozenset({"handbook"}), frozenset())])
async def test_an_empty_scope_finds_nothing(index: Index, scope: Scope) -> None:
    await add(index, passage("a", "leave"))
    legs = await index.search("leave", (await ENCODER.encode_queries(["leave"]))[0], scope, 10)
    assert not legs.dense
    assert not legs.bm25
    assert await index.count(scope) == 0
    assert not await index.passages("doc", "v1", scope)


@pytest.mark.parametrize("text", ["", "  ", "?!", "the of and", "\x00", "word " * 20_000, 'AND OR NOT (" *:^~', "日本"])
async def test_no_query_text_breaks_the_lexical_leg(index: Index, text: str) -> None:
    await add(index, passage("a", "leave"))
    legs = await index.search(text, (await ENCODER.encode_queries(["leave"]))[0], Scope(frozenset({"handbook"})), 10)
    assert [p.id for p, _ in legs.dense] == ["a"]
    assert legs.bm25 == ()


async def test_names_of_any_kind_stay_names(index: Index) -> None:
    """Each base sees its own passage only: no name can widen the filter, and none is lost."""
    named = [
        passage(f"p{n}", "leave", base=name, document=name, version=name, section=name)
        for n, name in enumerate(ODD_NAMES)
    ]
    await add(index, *named)
    for n, name in enumerate(ODD_NAMES):
        assert await find(index, "leave", name) == {f"p{n}"}
        assert await find(index, "leave", *ODD_NAMES, documents=[name]) == {f"p{n}"}
        assert [p.id for p in await index.passages(name, name, Scope(frozenset({name})))] == [f"p{n}"]
        assert await index.count(Scope(frozenset({name}))) == 1
    assert await index.versions() == {name: frozenset({name}) for name in ODD_NAMES}
    for left, name in zip(range(len(ODD_NAMES) - 1, -1, -1), ODD_NAMES, strict=True):
        assert await index.remove(name) == 1
        assert await index.count() == left


async def test_the_same_id_again_replaces(index: Index) -> None:
    await add(index, passage("a", "Thirty days of leave."))
    await add(index, passage("a", "Forty days of leave."))
    assert await index.count() == 1
    (found,) = await index.passages("doc", "v1", Scope(frozenset({"handbook"})))
    assert found.text == "Forty days of leave."
    assert not (
        await index.search("thirty", (await ENCODER.encode_queries(["x"]))[0], Scope(frozenset({"handbook"})), 10)
    ).bm25


async def test_an_id_twice_in_one_batch_is_one_passage(index: Index) -> None:
    await add(index, passage("a", "first"), passage("a", "second"))
    assert await index.count() == 1


async def test_removing_all_but_one_version_leaves_that_one(index: Index) -> None:
    await add(
        index,
        passage("a", "leave", version="v1"),
        passage("b", "leave", version="v1"),
        passage("c", "leave", version="v2"),
        passage("d", "leave", document="other"),
    )
    assert await index.versions() == {"doc": frozenset({"v1", "v2"}), "other": frozenset({"v1"})}
    assert await index.remove("doc", keep_version="v2") == 2
    assert await find(index, "leave", "handbook") == {"c", "d"}
    assert await index.remove("doc") == 1
    assert await index.remove("doc") == 0
    assert await index.versions() == {"other": frozenset({"v1"})}


async def test_passages_are_counted_by_the_version_that_is_asked_for(index: Index) -> None:
    await add(
        index,
        passage("a", "leave", version="v1"),
        passage("b", "leave", version="v2"),
        passage("c", "leave", version="v2"),
        passage("d", "leave", document="it's", version="v1"),
    )
    counts = await index.passage_counts({"doc": "v2", "it's": "v9", "gone": "v1"})
    assert [counts.get(name, 0) for name in ("doc", "it's", "gone")] == [2, 0, 0]
    assert not await index.passage_counts({})


async def test_an_empty_index_knows_no_vectors(index: Index) -> None:
    assert not await index.known_vectors(["a", "b"])
    await add(index, passage("a", "leave"))
    await index.remove("doc")
    assert not await index.known_vectors(["a", "b"])


async def test_no_two_indexes_have_the_same_identity(index: Index) -> None:
    assert index.identity
    assert index.identity != InProcessIndex().identity


async def test_sweeping_deletes_exactly_the_versions_that_are_named(index: Index) -> None:
    await add(
        index,
        passage("a", "leave", version="v1"),
        passage("b", "leave", version="v2"),
        passage("c", "leave", version="v3"),
        passage("d", "leave", document="it's", version="v1"),
        passage("e", "leave", document="other", version="v1"),
    )
    assert await index.sweep({"doc": {"v1", "v3", "never"}, "it's": {"v1"}, "unknown": {"v1"}, "other": set()}) == 3
    assert await index.versions() == {"doc": frozenset({"v2"}), "other": frozenset({"v1"})}
    assert await find(index, "leave", "handbook") == {"b", "e"}
    assert await index.sweep({}) == 0


async def test_many_documents_are_swept(index: Index) -> None:
    await add(index, *(passage(f"p{n}", "leave", document=f"d{n}", version="dead") for n in range(60)))
    await add(index, passage("kept", "leave"))
    assert await index.sweep({f"d{n}": {"dead"} for n in range(60)}) == 60
    assert await index.versions() == {"doc": frozenset({"v1"})}


async def test_known_vectors_come_back_as_they_were_written(index: Index) -> None:
    await add(index, passage("a", "leave"), passage('"b"', "printer"))
    (written,) = await vectors_of([passage("a", "leave")], ENCODER)
    known = await index.known_vectors(["a", '"b"', "c"])
    assert set(known) == {"a", '"b"'}
    assert known["a"].whole == pytest.approx(written.whole, abs=1e-6)
    assert known["a"].sentences == written.sentences
    assert await index.known_vectors([]) == {}


async def test_of_each_hit_the_nearest_of_its_sentences_is_told(index: Index) -> None:
    two = passage("two", "The printer hums. Parking is free on Sundays.")
    await add(index, two, passage("one", "Leave is thirty days."))
    (query,) = await ENCODER.encode_queries(["parking on Sundays"])
    found = await index.search("parking on Sundays", query, Scope(frozenset({"handbook"})), 5)
    exact = await ENCODER.encode_passages(texts_of_units(two))
    assert set(found.nearest) == {"one", "two"}
    assert found.nearest["two"] == pytest.approx(float(max(exact @ query)), abs=0.01)
    assert found.nearest["two"] > found.nearest["one"]


async def test_of_a_passage_whose_sentences_have_no_vectors_nothing_is_told(index: Index) -> None:
    """As an earlier version wrote it."""
    older = passage("a", "Parking is free.")
    (vectors,) = await vectors_of([older], ENCODER)
    await index.add([older], [PassageVectors(vectors.whole)])
    (query,) = await ENCODER.encode_queries(["parking"])
    found = await index.search("parking", query, Scope(frozenset({"handbook"})), 5)
    assert [one.id for one, _ in found.dense] == ["a"]
    assert not found.nearest
    assert (await index.known_vectors(["a"]))["a"].sentences == NO_SENTENCES


async def test_many_passages_are_written_and_listed_in_batches(index: Index) -> None:
    many = [passage(f"p{n:05d}", f"rule number {n}", ordinal=n) for n in range(2_300)]
    await add(index, *many)
    assert await index.count(Scope(frozenset({"handbook"}))) == 2_300
    listed = await index.passages("doc", "v1", Scope(frozenset({"handbook"})))
    assert [p.ordinal for p in listed] == list(range(2_300))
    assert len(await index.known_vectors([p.id for p in many])) == 2_300


async def test_searches_and_writes_run_side_by_side(index: Index) -> None:
    await add(index, passage("a", "annual leave"))

    async def write(n: int) -> None:
        await add(index, passage(f"w{n}", f"note {n}", base="notes", document=f"d{n}"))

    async with asyncio.TaskGroup() as tasks:
        found = [tasks.create_task(find(index, "annual leave", "handbook")) for _ in range(20)]
        for n in range(10):
            tasks.create_task(write(n))
    assert all(task.result() == {"a"} for task in found)
    assert await index.count(Scope(frozenset({"notes"}))) == 10


async def test_nothing_is_added_when_nothing_is_given(index: Index) -> None:
    await add(index)
    assert await index.count() == 0
    assert await index.versions() == {}


@pytest.mark.live
async def test_text_near_the_limit_of_a_field_is_kept_and_beyond_it_refused(tmp_path: Path) -> None:
    async with MilvusIndex(str(tmp_path / "m.db"), model=ENCODER.name, dimension=ENCODER.dimension) as index:
        long = passage("a", "é" * 32_000, title="")
        await add(index, long)
        assert list(await index.passages("doc", "v1", Scope(frozenset({"handbook"})))) == [long]
        with pytest.raises(DocumentRejected, match="65,535 bytes"):
            await add(index, passage("b", "é" * 33_000))
