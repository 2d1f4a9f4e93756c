"""The packaged model by torch alone against the library that it is made for: the same vectors."""

import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from adapters.encoders.model_files import find_model

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from adapters.encoders.bert import MeanPoolingModel

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[3]
WORDS = [
    "leave",
    "printer",
    "Größe",
    "東京",
    "🙂",
    "refund's",
    "e-mail\tO₂",
    "42.5%",
    "<b>bold</b>",
    "[MASK]",
    "\u200b",
]
TEXTS = {
    "nothing and white space": ["", " ", "\n\t ", "\u00a0"],
    "signs and scripts": WORDS,
    "of every length": [" ".join(random.Random(n).choices(WORDS, k=n)) for n in range(1, 120, 7)],
    "about the limit": ["word " * n for n in (253, 254, 255, 256, 257, 600)],
    "one": ["How long is parental leave?"],
}


@pytest.fixture(scope="module")
def model() -> "MeanPoolingModel":
    from adapters.encoders.bert import MeanPoolingModel
    from adapters.encoders.text_encoder import use_one_core

    use_one_core()  # beside other workers, threads for every core wait for each other: 80 s where one takes a second
    files = find_model("")
    window = files.window()
    assert window is not None
    assert files.folder is not None
    return MeanPoolingModel(files.folder, window=window)


@pytest.fixture(scope="module")
def library() -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(find_model("").location, device="cpu")


@pytest.mark.parametrize(("kind", "batch"), [("document", 1), ("document", 3), ("document", 64), ("query", 3)])
@pytest.mark.parametrize("texts", TEXTS.values(), ids=TEXTS)
def test_its_vectors_are_those_of_sentence_transformers(
    model: "MeanPoolingModel", library: "SentenceTransformer", kind: str, texts: list[str], batch: int
) -> None:
    expected = getattr(library, f"encode_{kind}")(texts, batch_size=batch, normalize_embeddings=True)
    ours = getattr(model, f"encode_{kind}")(texts, batch_size=batch).numpy()
    assert ours.dtype == np.float32
    assert np.abs(ours / np.linalg.norm(ours, axis=1, keepdims=True) - expected).max() < 1e-6


def test_neither_it_nor_a_reranker_that_is_not_there_imports_what_takes_longest(tmp_path: Path) -> None:
    encode_and_rerank = """
import asyncio, sys
from adapters.encoders.reranker import CrossEncoderReranker
from adapters.encoders.text_encoder import SentenceTransformerEncoder

async def main():
    encoder, said = SentenceTransformerEncoder(), []
    reranker = CrossEncoderReranker(say=said.append)
    assert (await encoder.encode_queries(["leave"])).shape == (1, 384)
    assert await reranker.rerank("leave", ["thirty days"]) is None
    assert len(said) == 1
    await encoder.close()
    await reranker.close()

asyncio.run(main())
print(sorted({"torch", "sentence_transformers", "sklearn", "transformers"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", encode_and_rerank],
        env={"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.stdout == "['torch']\n", done.stderr
