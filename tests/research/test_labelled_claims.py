"""Labelled claims, and a verifier's mistakes counted from both sides."""

import json

import pytest

from research.evaluation.datasets import CorpusDocument
from research.labelled.claims import (
    NOTHING_SAID,
    SUPPORTED,
    UNSUPPORTED,
    VERBATIM,
    confusion,
    load_grounding_pairs,
    replies_from,
)

DOCUMENTS = [CorpusDocument("d1", "One", "The sky is blue."), CorpusDocument("d2", "Two", "Grass is green.")]
PAIRS = [
    json.dumps({"claim_id": "c1", "claim": "The sky is blue.", "doc_id": "d1", "label": "SUPPORT"}),
    json.dumps({"claim_id": "c2", "claim": "Grass is red.", "doc_id": "d2", "label": "CONTRADICT"}),
]


def test_each_claim_is_also_held_against_a_document_that_says_nothing_of_it() -> None:
    found = load_grounding_pairs(PAIRS, DOCUMENTS)
    assert [(one.id, one.label) for one in found] == [
        ("c1-d1", "SUPPORT"),
        ("c1-d1-other", NOTHING_SAID),
        ("c2-d2", "CONTRADICT"),
        ("c2-d2-other", NOTHING_SAID),
    ]
    assert "Grass" in found[1].evidence


def test_a_pair_whose_document_is_not_there_is_refused() -> None:
    with pytest.raises(KeyError):
        load_grounding_pairs(PAIRS, DOCUMENTS[:1])


def test_a_reply_is_labelled_against_the_knowledge_it_had() -> None:
    row = {"_id": "r", "text": "Yes.", "metadata": {"knowledge": "It is so.", "label": "Not fully attributable"}}
    (found,) = replies_from([json.dumps(row)])
    assert (found.evidence, found.holds) == ("It is so.", False)


def test_what_is_called_supported_and_what_is_are_two_questions() -> None:
    true, false = load_grounding_pairs(PAIRS, DOCUMENTS)[0], load_grounding_pairs(PAIRS, DOCUMENTS)[2]
    found = confusion([(true, VERBATIM), (true, SUPPORTED), (true, UNSUPPORTED), (false, SUPPORTED)])
    assert found.precision == pytest.approx(2 / 3)
    assert found.recall == pytest.approx(2 / 3)
    assert found.counts["CONTRADICT"] == {VERBATIM: 0, SUPPORTED: 1, "contradicted": 0, UNSUPPORTED: 0}


def test_a_verifier_that_supports_nothing_has_no_precision() -> None:
    assert confusion([(load_grounding_pairs(PAIRS, DOCUMENTS)[2], UNSUPPORTED)]).precision is None
