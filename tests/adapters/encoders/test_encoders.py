"""The packaged model, and cross-encoders that are there or are not."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adapters.encoders.model_files import PACKAGED, ModelFiles, find_model, load_folder
from adapters.encoders.reranker import CrossEncoderReranker
from adapters.encoders.text_encoder import SentenceTransformerEncoder
from core.model.errors import ModelUnavailable

pytestmark = pytest.mark.live


@pytest.fixture
async def encoder() -> AsyncIterator[SentenceTransformerEncoder]:
    made = SentenceTransformerEncoder()
    yield made
    await made.close()


async def test_the_packaged_model_is_known_before_it_is_loaded(encoder: SentenceTransformerEncoder) -> None:
    assert encoder.name == "sentence-transformers/all-MiniLM-L6-v2"
    assert (encoder.dimension, encoder.window) == (384, 256)
    assert find_model("all-MiniLM-L6-v2") == find_model("")


@pytest.mark.parametrize("changed", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json"])
def test_a_packaged_file_that_was_changed_is_refused_before_it_is_loaded(tmp_path: Path, changed: str) -> None:
    published = find_model("").folder
    assert published is not None
    (tmp_path / "1_Pooling").mkdir()
    for name in ("model.safetensors", "tokenizer.json", "config.json", "1_Pooling/config.json"):
        (tmp_path / name).symlink_to(published / name)
    assert load_folder(ModelFiles(PACKAGED, tmp_path), str) == str(tmp_path)
    (tmp_path / changed).unlink()
    (tmp_path / changed).write_bytes((published / changed).read_bytes()[:-1] + b" ")
    with pytest.raises(ModelUnavailable, match="not the published file"):
        load_folder(ModelFiles(PACKAGED, tmp_path), str)


async def test_vectors_have_unit_length_and_meaning(encoder: SentenceTransformerEncoder) -> None:
    passages = await encoder.encode_passages(["The cat sleeps on the sofa.", "Quarterly revenue grew.", "x " * 900, ""])
    query = await encoder.encode_queries(["a sleeping cat"])
    assert passages.shape == (4, 384)
    assert {str(passages.dtype), str(query.dtype)} == {"float32"}
    assert np.linalg.norm(passages, axis=1) == pytest.approx(1, abs=1e-5)
    likeness = passages @ query[0]
    assert likeness[0] > 0.5 > likeness[1]


async def test_passages_keep_their_places_whatever_order_they_are_encoded_in(
    encoder: SentenceTransformerEncoder,
) -> None:
    texts = [f"Rule {n}: " + "and so on, " * (n % 7) for n in range(30)]
    together = await encoder.encode_passages(texts)
    alone = await encoder.encode_queries(texts)
    assert (together * alone).sum(axis=1) == pytest.approx(1, abs=0.002)  # bfloat16 against float32


async def test_nothing_to_encode_is_an_empty_array(encoder: SentenceTransformerEncoder) -> None:
    assert (await encoder.encode_queries([])).shape == (0, 384)
    assert (await encoder.encode_passages([])).shape == (0, 384)
    assert list(await encoder.count_tokens([])) == []


async def test_a_repeated_query_comes_from_the_cache(encoder: SentenceTransformerEncoder) -> None:
    first = await encoder.encode_queries(["leave", "printer", "leave"])
    encoder._query_thread.shutdown()  # whoever needed the model now would find nobody who has it
    again = await encoder.encode_queries(["printer", "leave"])
    assert (again == first[[1, 0]]).all()
    assert (first[0] == first[2]).all()


async def test_tokens_are_counted_without_truncation(encoder: SentenceTransformerEncoder) -> None:
    assert list(await encoder.count_tokens(["hello world", "", "word " * 1_000])) == [2, 0, 1_000]


async def test_a_query_is_answered_while_passages_are_being_encoded(encoder: SentenceTransformerEncoder) -> None:
    await encoder.open()
    long = asyncio.create_task(encoder.encode_passages(["a rather long passage of text " * 30] * 400))
    await asyncio.sleep(0)
    assert (await encoder.encode_queries(["in between"])).shape == (1, 384)
    assert not long.done()
    long.cancel()
    await asyncio.gather(long, return_exceptions=True)


async def test_encoding_is_not_done_on_the_event_loop(encoder: SentenceTransformerEncoder) -> None:
    await encoder.open()
    used: list[str] = []
    model = encoder._query_thread.submit(encoder._model).result(60)
    encode = model.encode_query

    def watched(*texts: object, **options: object) -> object:
        used.append(threading.current_thread().name)
        return encode(*texts, **options)

    model.encode_query = watched
    await encoder.encode_queries(["leave"])
    assert used
    assert threading.main_thread().name not in used


@pytest.mark.parametrize("first", ["queries", "passages"])
async def test_each_thread_computes_on_one_core_whichever_comes_first(first: str) -> None:
    """On several, torch's threads spin at each barrier: on a busy machine 64 sentences took minutes."""
    import torch

    encoder = SentenceTransformerEncoder()
    threads = [encoder._query_thread, encoder._passage_thread]
    in_order = threads if first == "queries" else threads[::-1]
    torch.set_num_threads(2)  # what threads begun from here on start with
    assert [thread.submit(torch.get_num_threads).result(30) for thread in in_order] == [1, 1]
    await encoder.close()


async def test_a_model_that_is_nowhere_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    encoder = SentenceTransformerEncoder("nobody/no-such-model")
    with pytest.raises(ModelUnavailable, match="nobody/no-such-model is not loaded yet"):
        _ = encoder.dimension
    with pytest.raises(ModelUnavailable, match=r"not on this machine.*connect to the internet once"):
        await encoder.open()
    await encoder.close()


async def test_a_folder_that_holds_no_model_is_one_clear_line(tmp_path: Path) -> None:
    encoder = SentenceTransformerEncoder(str(tmp_path))
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        await encoder.encode_queries(["leave"])
    await encoder.close()


# --- reranking


def cross_encoder(folder: Path, labels: int) -> Path:
    """A real one with a few random weights."""
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    vocabulary = find_model("").folder
    assert vocabulary is not None
    AutoTokenizer.from_pretrained(str(vocabulary)).save_pretrained(str(folder))
    shape = BertConfig(
        vocab_size=30_522,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    shape.num_labels = labels
    BertForSequenceClassification(shape).save_pretrained(str(folder))
    return folder


async def test_a_cross_encoder_gives_each_text_a_probability(tmp_path: Path) -> None:
    said: list[str] = []
    reranker = CrossEncoderReranker(str(cross_encoder(tmp_path, 1)), say=said.append)
    scores = await reranker.rerank("leave", ["thirty days", "the printer " * 900, ""])
    assert scores is not None
    assert len(scores) == 3
    assert all(0 < score < 1 for score in scores)
    assert list(await reranker.rerank("leave", []) or []) == []
    assert reranker.available
    assert not said
    await reranker.close()


async def test_a_reranker_that_is_not_to_be_had_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    said: list[str] = []
    reranker = CrossEncoderReranker("nobody/no-such-model", say=said.append)
    asked = await asyncio.gather(*(reranker.rerank("leave", ["thirty days"]) for _ in range(5)))
    assert asked == [None] * 5
    assert not reranker.available
    assert len(said) == 1
    assert "nobody/no-such-model is not on this machine" in said[0]
    assert reranker.reason in said[0]
    await reranker.close()


async def test_a_classifier_is_not_a_reranker(tmp_path: Path) -> None:
    said: list[str] = []
    reranker = CrossEncoderReranker(str(cross_encoder(tmp_path, 3)), say=said.append)
    assert await reranker.rerank("leave", ["thirty days"]) is None
    assert "is a classifier of 3 classes" in said[0]
    await reranker.close()


async def test_a_reranker_can_be_switched_off() -> None:
    said: list[str] = []
    reranker = CrossEncoderReranker("none", say=said.append)
    assert await reranker.rerank("leave", ["thirty days"]) is None
    assert (reranker.available, reranker.reason, said) == (False, "No reranker is configured.", [])
    await reranker.close()


async def test_queries_asked_at_the_same_time_get_each_its_own_vector(encoder: SentenceTransformerEncoder) -> None:
    texts = [f"question {n} about {word}" for n, word in enumerate(["leave", "printers", "refunds", "badges"] * 5)]
    together = await asyncio.gather(*(encoder.encode_queries([text, texts[0]]) for text in texts))
    alone = await encoder.encode_passages(texts)
    for (vector, _), passage in zip(together, alone, strict=True):
        assert float(vector @ passage) == pytest.approx(1, abs=0.002)


async def test_a_query_that_is_given_up_keeps_nobody_else_waiting(encoder: SentenceTransformerEncoder) -> None:
    await encoder.open()
    first, second, third = (asyncio.create_task(encoder.encode_queries([text])) for text in ("one", "two", "three"))
    await asyncio.sleep(0)
    first.cancel()
    second.cancel()
    assert (await third).shape == (1, 384)
    assert not encoder._asked
    await asyncio.gather(first, second, return_exceptions=True)


async def test_both_threads_hold_the_same_weights_and_tokenizers_of_their_own(
    encoder: SentenceTransformerEncoder,
) -> None:
    await encoder.encode_queries(["a question"])
    await encoder.encode_passages(["a passage"])
    ours, other = (
        thread.submit(encoder._model).result(60) for thread in (encoder._query_thread, encoder._passage_thread)
    )
    assert ours is not other
    assert ours.tokenizer is not other.tokenizer
    assert [id(weight) for weight in ours.parameters()] == [id(weight) for weight in other.parameters()]


async def test_many_short_texts_and_few_long_ones_have_the_vectors_that_they_have_alone(
    encoder: SentenceTransformerEncoder,
) -> None:
    texts = [
        *(f"word{n}" for n in range(150)),
        *(f"A sentence of some length, the one with number {n}." for n in range(9)),
    ]
    together = await encoder.encode_passages(texts)
    for position in (0, 149, 150, 158):
        alone = await encoder.encode_passages([texts[position]])
        assert float(alone[0] @ together[position]) > 0.999


class CountingEncoder(SentenceTransformerEncoder):
    """Counts how many batches are under way; each waits a while for a second one to come."""

    def __init__(self, meeting: threading.Barrier) -> None:
        super().__init__()
        self.meeting = meeting
        self.met = 0

    def _encode_batch(self, texts: list[str]) -> Any:
        with contextlib.suppress(threading.BrokenBarrierError):
            self.meeting.wait()
            self.met += 1
        return super()._encode_batch(texts)


@pytest.mark.parametrize(
    ("text", "count", "seconds", "met"),
    [
        pytest.param(
            "One sentence of a document, which may answer what is asked.", 8, 60.0, 2, id="sentences together"
        ),
        pytest.param("A passage is longer than that. " * 20, 16, 0.3, 0, id="passages one by one"),
    ],
)
async def test_two_cores_share_an_answers_sentences_but_not_an_ingest(
    monkeypatch: pytest.MonkeyPatch, text: str, count: int, seconds: float, met: int
) -> None:
    monkeypatch.setattr("adapters.encoders.text_encoder.available_cores", lambda: 2)
    encoder = CountingEncoder(threading.Barrier(2, timeout=seconds))
    await encoder.encode_passages([f"{n}. {text}" for n in range(count)])  # two batches
    assert encoder.met == met
    await encoder.close()


async def test_several_threads_encode_passages_into_the_same_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.encoders.text_encoder.passage_threads", lambda: 2)
    encoder = SentenceTransformerEncoder()
    texts = [f"Rule {n}: " + "and so on, " * (n % 9) for n in range(60)]
    together = await encoder.encode_passages(texts)
    one_by_one = [(await encoder.encode_passages([text]))[0] for text in texts[:12]]
    assert [float(one @ found) for one, found in zip(one_by_one, together, strict=False)] == pytest.approx(
        [1] * 12, abs=0.002
    )
    assert len([one for one in threading.enumerate() if one.name.startswith("encode-passages")]) >= 2
    await encoder.close()
