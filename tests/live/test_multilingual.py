"""Questions in another language than the documents': read by a dictionary, else refused with a
remedy, and answered once the remedy is taken.

The multilingual model is made here: a few words of three languages, those of like meaning with the same vector.
"""

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import BertPreTokenizer

from bot.container import open_footnote
from core.ingestion.originals import Material
from core.model.answer import Answer, Outcome
from core.model.conversation import Audience, Person, ThreadKey
from core.model.events import AgentCompleted, CheckpointReached
from core.service.question_service import Question
from tests.live.conftest import settings_for

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

MEANINGS = (
    "leave urlaub urlaubstage congé vacances",
    "days tage jours",
    "office büro bureau",
    "people leute gens",
    "bicycles fahrräder vélos",
    "roof dach toit",
    "keys schlüssel clés",
    "wie viele combien",
    "haben ont",
    "die im le les du de des",
)
HANDBOOK = (
    b"# Handbook\n\n## Leave\n\nPeople in the office have 26 days of leave.\n\n"
    b"## Keys\n\nThe keys of the roof lie in the safe.\n\n## Bicycles\n\nBicycles stand behind the house.\n"
)


def made_model(folder: Path) -> Path:
    """A model of sentence-transformers with one vector for each meaning."""
    from sentence_transformers import SentenceTransformer  # here: a collection need not load it
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    words = [(word, number) for number, listed in enumerate(MEANINGS, 1) for word in listed.split()]
    vocabulary = {"[UNK]": 0} | {word: at for at, (word, _) in enumerate(words, 1)}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), BertPreTokenizer()
    directions = np.eye(len(MEANINGS) + 1, 32, dtype=np.float32)
    directions[-1] *= 0.05  # the small words say little
    weights = np.stack([np.zeros(32, np.float32), *(directions[number - 1] for _, number in words)])
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=weights)])
    model.save_pretrained(str(folder))
    return folder


async def answer_to(question: str, home: Path, model: str) -> Answer:
    settings = settings_for(home).model_copy(update={"embedding_model": model} if model else {})
    async with open_footnote(settings) as footnote:
        await footnote.ingestor.ensure_base("team")
        await footnote.ingestor.ingest(Material("handbook.md", "handbook.md", HANDBOOK), "team")
        asked = Question(question, ThreadKey("test", "T", "C", "1"), Person("test:alice"), Audience(unrestricted=True))
        events = [event async for event in footnote.question_service.ask(asked)]
    last = events[-1]
    assert isinstance(last, AgentCompleted | CheckpointReached)
    return last.answer


QUESTION = "Wie viele Urlaubstage haben die Leute im Büro?"


async def test_translates_a_german_question_by_dictionary_and_shows_the_translation(
    tmp_path: Path,
) -> None:
    answer = await answer_to(QUESTION, tmp_path, "")
    assert answer.outcome is Outcome.ANSWERED
    assert "26 days of leave" in answer.text
    assert "Wort für Wort gelesen als: “how many days of leave have the people in the office?”" in answer.text


async def test_where_the_dictionary_lacks_the_words_it_says_so_in_german(tmp_path: Path) -> None:
    answer = await answer_to("Welche Quastenflosser hat die Steuerbordkoje im Bilgenraum?", tmp_path, "")
    assert answer.outcome is Outcome.ABSTAINED
    assert "in einer anderen Sprache" in answer.text
    assert "Das habe ich in euren Dokumenten nicht gefunden." in answer.text


async def test_with_a_multilingual_model_the_same_question_is_answered(tmp_path: Path) -> None:
    answer = await answer_to(QUESTION, tmp_path / "home", str(made_model(tmp_path / "model")))
    assert answer.outcome is Outcome.ANSWERED
    assert "26 days of leave" in answer.text
