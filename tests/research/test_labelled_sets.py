"""Folders of follow-ups and of labelled claims are read in each of their layouts."""

import json
from pathlib import Path

from bot.demo import SAMPLES
from research.labelled.__main__ import OWN, labelled


def put(folder: Path, name: str, *rows: object) -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_questions_with_rewrites_are_follow_ups_and_need_no_corpus(tmp_path: Path) -> None:
    about = {"user_turns": ["a", "b"], "rewrite": "b of a"}
    put(tmp_path, "queries.jsonl", *({"_id": str(n), "text": "b", "metadata": about} for n in range(2)))
    corpus, follow_ups, claims = labelled(tmp_path, None)
    assert [one.rewrite for one in follow_ups] == ["b of a", "b of a"]
    assert not corpus.has_corpus
    assert not claims


def test_replies_with_the_knowledge_they_had_are_claims(tmp_path: Path) -> None:
    about = {"knowledge": "It is so.", "label": "Fully attributable"}
    put(tmp_path, "queries.jsonl", {"_id": "r", "text": "So it is.", "metadata": about})
    assert [claim.label for claim in labelled(tmp_path, None)[2]] == ["Fully attributable"]


def test_labelled_pairs_beside_a_corpus_are_claims_too(tmp_path: Path) -> None:
    put(tmp_path, "corpus.jsonl", {"_id": "d1", "title": "T", "text": "words"})
    put(tmp_path, "grounding.jsonl", {"claim_id": "c", "claim": "words", "doc_id": "d1", "label": "SUPPORT"})
    assert len(labelled(tmp_path, None)[2]) == 1


def test_our_own_follow_ups_name_sample_documents() -> None:
    corpus, follow_ups, _ = labelled(OWN, SAMPLES / "documents")
    assert follow_ups
    sources = {source for _, source in corpus.files}
    assert {name for one in follow_ups for name in one.relevant} <= sources
    assert {title for one in follow_ups for said in one.earlier for title in said.titles} <= sources
