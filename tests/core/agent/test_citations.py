"""From evidence ids in a draft to the numbers a person sees."""

from hypothesis import given
from hypothesis import strategies as st

from core.agent.citations import CitationRenderer, finished_text
from core.model.text import cited_ids
from tests.core.agent.fixtures import library, passage

SHELF = library(*(passage(n, url=f"https://docs.example.com/{n}") for n in range(1, 8)))


def shown(*pieces: str) -> str:
    stream = CitationRenderer(SHELF)
    return "".join(stream.push(piece) for piece in pieces) + stream.finish()


def test_numbers_count_from_one_in_order_of_first_mention() -> None:
    assert shown("Two weeks [5]. By card [2], and again [5].") == "Two weeks [1]. By card [2], and again [1]."


def test_a_citation_to_nothing_is_dropped_with_its_space() -> None:
    assert shown("Two weeks [99].") == "Two weeks."


def test_several_ids_in_one_marker_are_several_citations() -> None:
    assert shown("Two weeks [5, 2, 99].") == "Two weeks [1][2]."


def test_a_marker_that_arrives_in_two_pieces_is_never_seen_in_half() -> None:
    stream = CitationRenderer(SHELF)
    seen = [stream.push(piece) for piece in ("Two weeks [", "5", "]. Then")] + [stream.finish()]
    assert seen == ["Two weeks", "", " [1].", " Then"]


def test_a_foreign_link_is_never_seen_even_in_pieces() -> None:
    pieces = ["See ![x](htt", "ps://evil.exa", "mple/?d=sec", "ret) and https:/", "/evil.example/secret", " now"]
    stream = CitationRenderer(SHELF)
    seen = [stream.push(piece) for piece in pieces] + [stream.finish()]
    assert all("evil" not in part and "secret" not in part for part in seen)


def test_a_retrieved_link_stays() -> None:
    assert shown("See https://docs.exam", "ple.com/3 for more.") == "See https://docs.example.com/3 for more."


def test_each_citation_carries_a_verbatim_quote() -> None:
    text, citations = finished_text("Refunds take two weeks [3].", SHELF, "How long do refunds take?")
    assert text == "Refunds take two weeks [1]."
    (source,) = citations
    assert (source.n, source.evidence, source.title) == (1, 3, "Document 3")
    assert source.quote in passage(3).text
    assert source.locator == "Refunds, page 3"


FORMS = library(
    passage(1, "Sick notes go through the [form](https://hr.example.com/sick?a=1).", url="https://hr.example.com/book"),
    passage(2, "Leave is booked in the [planner](https://leave.example.org/plan)."),
    passage(3, "Others use the [other form](https://other.example.net/form)."),
)
DRAFT = (
    "Use the [form](https://hr.example.com/sick?a=1) [1]. Leave: [planner](https://leave.example.org/plan) [2], "
    "or [this](https://other.example.net/form?x=1)."
)


def test_links_of_cited_passages_are_links_on_their_own_host_and_on_allowed_ones() -> None:
    text, citations = finished_text(DRAFT, FORMS, "Which form?", frozenset({"leave.example.org"}))
    assert text.startswith("Use the [form](https://hr.example.com/sick?a=1) [1]. Leave: [planner]")
    assert text.endswith("[planner](https://leave.example.org/plan) [2], or this.")
    assert [one.links for one in citations] == [
        ("https://hr.example.com/sick?a=1",),
        ("https://leave.example.org/plan",),
    ]
    assert citations[0].addresses == {"https://hr.example.com/sick?a=1", "https://hr.example.com/book"}


def test_links_of_cited_passages_to_other_hosts_are_shown_as_text() -> None:
    text, citations = finished_text(DRAFT, FORMS, "Which form?")
    assert "Leave: planner (`https://leave.example.org/plan`) [2]" in text
    assert citations[1].links == ()


def test_the_address_of_a_passage_that_is_not_cited_is_no_link_even_on_its_own_host() -> None:
    text, _ = finished_text("Ask [2]. See [form](https://hr.example.com/sick?a=1).", FORMS, "Which form?")
    assert text == "Ask [1]. See form."


def test_the_ids_of_a_draft_are_found_in_order() -> None:
    assert cited_ids("a [3] b [1, 2] c [3][9]") == (3, 1, 2, 9)


@given(
    st.lists(
        st.sampled_from([" ", "a", "b.", "[", "]", "1", "2", "9", ",", "(", ")", "https://x.y", "\n", "!"]), max_size=30
    )
)
def test_however_a_draft_is_cut_the_same_text_is_shown(pieces: list[str]) -> None:
    assert shown(*pieces) == shown("".join(pieces))
