"""The whole product reads sentences together with the question, by the reader that comes with it."""

import threading

import pytest

from bot.container import Footnote
from core.model.answer import Outcome
from research.measure.follow_ups import ask

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]


async def test_a_question_for_the_documents_has_its_sentences_read(footnote: Footnote) -> None:
    question = "how long do refunds take?"
    answer = await ask(footnote, question, question)
    assert answer is not None
    assert answer.outcome is Outcome.ANSWERED
    assert any(thread.name.startswith("read-answers") for thread in threading.enumerate())
