"""What is suggested below an answer, with the packaged model and the sample documents: each of them is answered."""

import pytest

from bot.container import Footnote
from core.model.answer import Outcome
from core.service import follow_ups
from research.measure.follow_ups import ask, is_from, names_document

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

QUESTIONS = (
    "How long do refunds take?",
    "How long is parental leave?",
    "How much is paid for a week on call?",
)


async def test_what_is_suggested_below_an_answer_is_answered(
    footnote: Footnote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_ups, "SECONDS", 60.0)  # a busy machine takes longer to look; this is about what is found
    pressed = []
    for question in QUESTIONS:
        answer = await ask(footnote, question, question)
        assert answer is not None
        assert answer.follow_ups, question
        pressed += [(one, await ask(footnote, one.question, question)) for one in answer.follow_ups]
    assert len({one.question for one, _ in pressed}) == len(pressed)
    for suggested, answer in pressed:
        assert answer is not None
        assert answer.outcome is Outcome.ANSWERED, suggested
        assert is_from(answer, suggested.question) or names_document(answer, suggested.question), suggested
