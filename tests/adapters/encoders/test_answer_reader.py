"""The packaged model distinguishes answers from sentences on the same topic."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.encoders.answer_reader import WEIGHTS, LowRankAnswerReader
from adapters.encoders.model_files import ModelFiles, find_model
from adapters.encoders.text_encoder import computes_in_bfloat16
from core.model.errors import ModelUnavailable

pytestmark = pytest.mark.live

ROW = "Depots: Depot: Leith; Stops per day: 140; Manager: Ines Okafor"


@pytest.fixture
async def reader() -> AsyncIterator[LowRankAnswerReader]:
    made = LowRankAnswerReader()
    yield made
    await made.close()


@pytest.mark.parametrize(
    ("question", "answers", "same_matter"),
    [
        (
            "who runs the depot in Leith?",
            ROW,
            "Depots: Depot: Leith; Stops per day: 140; Opened: 2019",
        ),
        (
            "how long may I return a pump?",
            "Returns: A pump may be sent back within 45 days.",
            "Returns: A pump is tested for a whole night before it is sent out.",
        ),
    ],
)
async def test_what_answers_has_better_odds_than_what_speaks_of_the_same(
    reader: LowRankAnswerReader, question: str, answers: str, same_matter: str
) -> None:
    good, bad = await reader.read(question, [answers, same_matter])
    assert good > bad + 0.5


async def test_its_odds_are_those_of_transformers_with_the_same_changes(reader: LowRankAnswerReader) -> None:
    import torch
    from safetensors.torch import load_file
    from torch.nn.functional import linear
    from transformers import AutoModel, AutoTokenizer

    from adapters.encoders.text_encoder import use_one_core

    use_one_core()  # as in test_mean_pooling.py
    location = find_model("").location
    encoder = AutoModel.from_pretrained(location, add_pooling_layer=False).eval()
    changes = {name: tensor.float() for name, tensor in load_file(WEIGHTS).items()}
    texts = [ROW, "Nobody runs it.", "Stops " * 200, ""]
    tokens = AutoTokenizer.from_pretrained(location)(
        ["who runs the depot in Leith?"] * 4, texts, truncation=True, max_length=112, padding=True, return_tensors="pt"
    )
    with torch.no_grad():
        for name, tensor in changes.items():
            if name.endswith(".down"):
                layer = name.removesuffix(".down")
                encoder.get_submodule(layer).weight += changes[f"{layer}.up"] @ tensor
            elif not name.startswith("head.") and not name.endswith(".up"):
                encoder.get_parameter(name).copy_(tensor)
        first = encoder(**tokens).last_hidden_state[:, 0]
        inner = torch.tanh(linear(first, changes["head.dense.weight"], changes["head.dense.bias"]))
        expected = linear(inner, changes["head.out.weight"], changes["head.out.bias"]).squeeze(-1).tolist()
    within = 0.1 if computes_in_bfloat16() else 1e-4
    assert list(await reader.read("who runs the depot in Leith?", texts)) == pytest.approx(expected, abs=within)


async def test_odds_keep_their_places_and_do_not_depend_on_what_is_read_beside_them(
    reader: LowRankAnswerReader,
) -> None:
    texts = [f"Rule {number}: nobody works on day {number}." for number in range(11)]
    together = await reader.read("when does nobody work?", texts)
    alone = LowRankAnswerReader()
    assert list(await alone.read("when does nobody work?", texts[9:10])) == pytest.approx([together[9]], abs=0.1)
    await alone.close()
    assert await reader.read("when does nobody work?", texts[::-1]) == list(together)[::-1]
    assert await reader.read("when does nobody work?", []) == []


async def test_a_model_that_is_not_whole_is_said_once_and_not_tried_again(tmp_path: Path) -> None:
    said: list[str] = []
    made = LowRankAnswerReader(ModelFiles("broken", tmp_path), say=said.append)
    for question in ("who?", "when?"):
        with pytest.raises(ModelUnavailable, match="cannot be loaded"):
            await made.read(question, ["Ines."])
    assert len(said) == 1
    assert "Everything else works" in said[0]
    await made.close()
