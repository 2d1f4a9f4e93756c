"""One hybrid search: published hits, in order, with meaningful scores."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from core.ingestion.passage_vectors import vectors_of
from core.model.errors import ModelUnavailable
from core.model.evidence import Hit
from core.model.knowledge import Passage
from core.ports.index import DenseAndBm25Hits, Scope
from core.retrieval.fusion import fuse
from core.retrieval.hybrid import FURTHER, Retrieval, Retriever, further_documents, keep_named, spread
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.index import InProcessIndex

if TYPE_CHECKING:
    from core.ports.catalog import Catalog
    from core.ports.index import Reranker

ENCODER = HashingEncoder()
HANDBOOK = Scope(frozenset({"handbook"}))


class VisibleVersions:
    """Just enough of a catalog: which version of each document is visible."""

    def __init__(self, **visible: str) -> None:
        self.visible = visible
        self.asked = 0

    async def visible_versions(self, document_ids: Sequence[str]) -> Mapping[str, str]:
        self.asked += 1
        return {name: self.visible[name] for name in document_ids if name in self.visible}


class Judge:
    """A reranker that prefers texts with its word in them."""

    available = True

    def __init__(self, word: str = "", *, broken: bool = False, absent: bool = False) -> None:
        self.word, self.broken, self.absent = word, broken, absent
        self.judged: list[str] = []

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float] | None:
        if self.broken:
            raise ModelUnavailable("The reranker took too long.")
        if self.absent:
            return None
        self.judged = list(texts)
        return [0.9 if self.word in text else 0.2 for text in texts]


def passage(name: str, text: str, document: str = "leave", version: str = "v1", **more: Any) -> Passage:
    return replace(Passage(name, "handbook", document, version, "s", 0, "", text), **more)


async def retriever(
    *passages: Passage, versions: VisibleVersions | None = None, judge: Judge | None = None, pool: int = 50
) -> Retriever:
    index = InProcessIndex()
    await index.add(passages, await vectors_of(passages, ENCODER))
    catalog = cast("Catalog", versions or VisibleVersions(**{p.document: "v1" for p in passages}))
    return Retriever(index, ENCODER, cast("Reranker | None", judge), catalog, pool=pool)


async def test_the_best_passage_comes_first_with_the_score_of_each_leg() -> None:
    search = await retriever(
        passage("a", "Annual leave is thirty days."),
        passage("b", "The printer is on the second floor."),
        passage("c", "Leave the printer on."),
    )
    found = await search.search("how many days of annual leave", HANDBOOK)
    best = found.hits[0]
    assert best.passage.id == "a"
    assert best.dense is not None
    assert best.bm25 is not None
    assert best.rerank is None
    assert (found.vector_results, found.bm25_results, found.reranked) == (3, 2, 0)
    assert {"encode", "search", "visible", "fuse"} <= set(found.seconds)
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


async def test_only_the_published_version_is_found_and_the_catalog_is_asked_once() -> None:
    versions = VisibleVersions(leave="v2")
    search = await retriever(
        passage("old", "Annual leave is thirty days."),
        passage("new", "Annual leave is forty days.", version="v2"),
        passage("draft", "Annual leave is fifty days.", document="unpublished"),
        versions=versions,
    )
    found = await search.search("annual leave", HANDBOOK)
    assert [hit.passage.id for hit in found.hits] == ["new"]
    assert versions.asked == 1


async def test_a_version_being_written_does_not_crowd_out_the_published_one() -> None:
    drafts = [passage(f"d{n}", "annual leave", document="draft") for n in range(8)]
    search = await retriever(
        *drafts, passage("a", "annual leave and more"), versions=VisibleVersions(leave="v1"), pool=4
    )
    assert [hit.passage.id for hit in (await search.search("annual leave", HANDBOOK, 1)).hits] == ["a"]


@pytest.mark.parametrize(("query", "scope", "limit"), [("", HANDBOOK, 10), ("  ", HANDBOOK, 10), ("leave", HANDBOOK, 0),
                                                       ("leave", Scope(frozenset()), 10)])  # fmt: skip
async def test_nothing_to_look_for_or_nowhere_to_look_finds_nothing(query: str, scope: Scope, limit: int) -> None:
    search = await retriever(passage("a", "leave"))
    assert await search.search(query, scope, limit) == Retrieval()


async def test_the_reranker_sees_the_top_of_the_fused_pool_only() -> None:
    judge = Judge("printer")
    search = await retriever(
        passage("best", "annual leave days printer"),
        *(passage(f"p{n}", f"annual leave days, note {n}") for n in range(40)),
        judge=judge,
    )
    found = await search.search("annual leave days", HANDBOOK, 5)
    assert len(judge.judged) == found.reranked == 30
    assert len(found.hits) == 5
    wide = await search.search("annual leave days", HANDBOOK, 41)
    assert wide.reranked == 41
    assert wide.hits[0].passage.id == "best"
    assert (wide.hits[0].rerank, wide.hits[0].score) == (0.9, 0.9)


@pytest.mark.parametrize("judge", [Judge(broken=True), Judge(absent=True)], ids=["broken", "absent"])
async def test_without_a_reranker_the_fused_order_stands(judge: Judge) -> None:
    passages = (passage("a", "annual leave"), passage("b", "annual report"), passage("c", "printer"))
    plain = await (await retriever(*passages)).search("annual leave", HANDBOOK)
    judged = await (await retriever(*passages, judge=judge)).search("annual leave", HANDBOOK)
    assert judged.hits == plain.hits
    assert judged.reranked == 0


# --- fusion


def leg(*scores: tuple[str, float]) -> tuple[tuple[Passage, float], ...]:
    return tuple((passage(name, f"text of {name}"), score) for name, score in scores)


def test_a_passage_that_both_legs_like_beats_one_that_only_one_likes() -> None:
    legs = DenseAndBm25Hits(leg(("a", 0.60), ("both", 0.58), ("c", 0.20)), leg(("z", 9.0), ("both", 8.5), ("y", 2.0)))
    assert fuse("q", legs, 3)[0].passage.id == "both"


def test_a_leg_that_had_no_more_to_return_gives_the_absent_nothing() -> None:
    """One lexical match among few passages must count: the others have no word in common with the question."""
    legs = DenseAndBm25Hits(leg(("a", 0.50), ("b", 0.49)), leg(("b", 3.0)))
    assert [hit.passage.id for hit in fuse("q", legs, 50)] == ["b", "a"]


def test_a_full_leg_gives_the_absent_its_last_score() -> None:
    """The two are alike to the dense leg; the full lexical leg says no more than that z is a little better than a."""
    full = DenseAndBm25Hits(leg(("a", 0.50), ("b", 0.30)), leg(("z", 5.0), ("y", 4.9)))
    scores = {hit.passage.id: hit.score for hit in fuse("q", full, 2)}
    assert scores["a"] > scores["z"]


def test_one_leg_alone_keeps_its_order() -> None:
    only = leg(("a", 0.5), ("b", 0.4), ("c", -0.1))
    assert [hit.passage.id for hit in fuse("", DenseAndBm25Hits(dense=only), 50)] == ["a", "b", "c"]
    assert [hit.passage.id for hit in fuse("q", DenseAndBm25Hits(bm25=leg(("a", 7.0), ("b", 0.4))), 50)] == ["a", "b"]
    assert fuse("q", DenseAndBm25Hits(), 50) == ()


def test_scores_are_probabilities_that_tell_a_good_match_from_a_hopeless_one() -> None:
    text = "Annual leave is thirty days a year."
    good = fuse(
        "days of annual leave", DenseAndBm25Hits(((passage("a", text), 0.75),), ((passage("a", text), 6.0),)), 50
    )
    poor = fuse("warp drive maintenance", DenseAndBm25Hits(((passage("a", text), 0.08),), ()), 50)
    assert 0.7 < good[0].score < 1
    assert 0 < poor[0].score < 0.1


@pytest.mark.parametrize(
    "text", ["BALANCES of annually leaving", "«Annual» leave’s balance", "balanced, annual. Leave"]
)
def test_a_word_of_the_question_counts_in_any_form(text: str) -> None:
    def score(of: str) -> float:
        return fuse("The company's annual leave balances", DenseAndBm25Hits(((passage("a", of), 0.5),)), 50)[0].score

    assert score(text) == score("annual leave balance") > score("annual leave") > score("of the company")


def test_equal_passages_keep_one_order() -> None:
    rng = np.random.default_rng(3)
    names = [f"p{n}" for n in range(20)]
    first = [hit.passage.id for hit in fuse("q", DenseAndBm25Hits(leg(*((name, 0.5) for name in names))), 50)]
    rng.shuffle(names)
    assert [hit.passage.id for hit in fuse("q", DenseAndBm25Hits(leg(*((name, 0.5) for name in names))), 50)] == first


def hits(*placed: tuple[str, float]) -> list[Hit]:
    return [Hit(passage(f"{document}{n}", "Text.", document), score) for n, (document, score) in enumerate(placed)]


def test_one_long_page_leaves_room_for_others() -> None:
    found = hits(*(("long", 0.9 - n / 100) for n in range(6)), ("other", 0.5), ("third", 0.45))
    kept = spread(found, 5)
    assert [hit.passage.document for hit in kept] == ["long", "long", "long", "other", "third"]
    assert list(kept) == sorted(kept, key=lambda hit: -hit.score)


def test_a_page_far_ahead_keeps_its_places() -> None:
    found = hits(*(("long", 0.9 - n / 100) for n in range(6)), ("other", 0.3), ("third", 0.2))
    assert spread(found, 5) == tuple(found[:5])


def test_a_page_alone_fills_all_places() -> None:
    found = hits(*(("long", 0.9 - n / 100) for n in range(6)))
    assert spread(found, 5) == tuple(found[:5])


def test_what_there_is_room_for_comes_whole_and_in_order() -> None:
    found = hits(*(("long", 0.9 - n / 100) for n in range(6)), ("other", 0.5))
    assert spread(found, 10) == tuple(found)


def test_of_each_document_that_there_was_no_room_for_the_best_passage_stays_in_reach() -> None:
    found = hits(("long", 0.9), ("long", 0.8), ("other", 0.5), ("third", 0.4), ("other", 0.3), ("long", 0.2))
    assert further_documents(found, found[:2]) == (found[2], found[3])
    many = hits(*((f"d{n}", 1 / (n + 1)) for n in range(40)))
    assert further_documents(many, many[:8]) == tuple(many[8 : 8 + FURTHER])


async def test_what_a_query_names_is_looked_for_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def noted(query: str, hits: Sequence[Hit], kept: Sequence[Hit]) -> tuple[Hit, ...]:
        threads.append(threading.get_ident())
        return keep_named(query, hits, kept)

    monkeypatch.setattr("core.retrieval.hybrid.keep_named", noted)
    await test_the_best_passage_comes_first_with_the_score_of_each_leg()
    assert threads
    assert threading.get_ident() not in threads
