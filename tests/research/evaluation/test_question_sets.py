"""Questions with expected facts, as they are read."""

import json
from typing import Any

import pytest

from research.evaluation.question_sets import DocumentKind, question_set_from

MANIFEST = json.dumps({"a.md": "faq"})


def line(name: str, **fields: Any) -> str:
    return json.dumps({"id": name, "text": "?", "kind": "fact", "documents": ["a.md"], "facts": [["x"]], **fields})


def test_a_chain_of_followers_is_one_conversation() -> None:
    found = question_set_from([line("a"), line("b"), line("c", follows="a"), line("d", follows="c")], MANIFEST)
    assert [[one.id for one in thread] for thread in found.conversations] == [["a", "c", "d"], ["b"]]
    assert found.document_kinds == {"a.md": DocumentKind.FAQ}


def test_a_limit_keeps_conversations_whole() -> None:
    found = question_set_from([line("a"), line("b", follows="a"), line("c"), line("d")], MANIFEST)
    assert [one.id for one in found.limit_to(2).questions] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([line("a"), line("a")], "stand twice: a"),
        ([line("b", follows="a"), line("a")], "does not stand before"),
        ([line("a", documents=["b.md"])], "without a kind: b.md"),
        ([line("a", names=["b.md"])], "without a kind: b.md"),
        ([line("a", kind="riddle")], "riddle"),
        ([line("a", fact=[["x"]])], "no question has: fact"),
        ([line("a", facts=[])], "needs facts"),
        ([line("a", unanswerable=True)], "not both"),
        ([line("a", wrong="x")], "list of texts"),
    ],
)
def test_a_line_that_cannot_be_judged_is_refused(lines: list[str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        question_set_from(lines, MANIFEST)
