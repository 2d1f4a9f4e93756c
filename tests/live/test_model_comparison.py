"""``python -m research.evaluation --model``: the configured endpoint beside quotes alone."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.reasoners.openai.verifier_trust import control_claims
from bot.settings import Settings
from core.model.errors import ConfigurationError
from research.evaluation.answer_scoring import AnswerVerdict
from research.evaluation.dataset_loader import read
from research.evaluation.model_comparison import compare_model, lines_of
from tests.fakes.model.endpoint import ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel

QUESTIONS = Path(__file__).parents[2] / "research" / "questions" / "tune"
pytestmark = pytest.mark.live


async def test_a_model_is_shown_beside_quotes_alone(few_samples: Path) -> None:
    async with ScriptedEndpoint() as endpoint:
        endpoint.answers_with(ObedientModel())
        settings = Settings(llm_base_url=endpoint.base_url, llm_api_key=SecretStr("k"), llm_model="scripted")
        (found,) = [one async for one in compare_model(settings, [read(few_samples / "eval", 6)])]
        _, quotes, model = found
        assert quotes.spent.calls == 0
        answering = [one for one in endpoint.requests if control_claims()[0].claim not in one.user]
        assert model.spent.calls == len(answering) > 6
        assert quotes.verdicts.total() == model.verdicts.total() == 6
        assert any("quotes alone" in line and "scripted" in line for line in lines_of("samples", (quotes, model)))


async def test_a_question_set_is_judged_by_its_facts_in_its_threads() -> None:
    async with ScriptedEndpoint() as endpoint:
        endpoint.answers_with(ObedientModel())
        settings = Settings(llm_base_url=endpoint.base_url, llm_api_key=SecretStr("k"), llm_model="scripted")
        tune = read(QUESTIONS, 4)
        assert tune.questions is not None
        (found,) = [one async for one in compare_model(settings, [tune])]
    name, quotes, model = found
    assert name == "tune"
    assert quotes.verdicts.total() == model.verdicts.total() == len(tune.questions.questions)
    assert quotes.verdicts[AnswerVerdict.RIGHT]
    assert any(line.startswith("half") for line in lines_of(name, (quotes, model)))


async def test_without_a_model_that_is_said(few_samples: Path) -> None:
    with pytest.raises(ConfigurationError, match="No model"):
        _ = [one async for one in compare_model(Settings(), [read(few_samples / "eval", 1)])]
