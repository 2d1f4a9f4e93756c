"""Everything that the extractive reasoner replies without a search, the agent lets out without a search."""

import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.answer import Outcome
from tests.core.harness import Harness
from tests.fakes.memory.encoder import HashingEncoder

SMALL_TALK = [
    "hi",
    "hello Footnote!",
    "good morning team",
    "hi there, how are you?",
    "thanks, that helped a lot",
    "goodbye",
    "ok, makes sense",
    "what can you do for me?",
    "how do I use this bot?",
    "who are you?",
    "are you a robot?",
    "what model do you use?",
    "tell me a joke",
    "danke!",
]
ABOUT_THE_THREAD = [
    "what did I just ask?",
    "summarise our conversation so far",
    "what have we discussed so far?",
    "explain that in simpler words",
    "I don't understand that",
    "can you repeat your last answer?",
    "where did you get that from?",
    "what are your sources?",
    "how do you know that?",
]


@pytest.fixture
async def harness() -> Harness:
    harness = Harness(ExtractiveReasoner(HashingEncoder()))
    await harness.knows("Refunds are paid within 14 days.", "Refunds above 2,000 euros are approved by Finance.")
    return harness


@pytest.mark.parametrize("message", SMALL_TALK)
async def test_small_talk_is_not_searched_for(harness: Harness, message: str) -> None:
    told = await harness.asks(message)
    assert told.outcome is Outcome.ANSWERED
    assert told.answer.spent.searches == 0


@pytest.mark.parametrize("message", ABOUT_THE_THREAD)
async def test_talk_about_the_thread_is_not_searched_for(harness: Harness, message: str) -> None:
    await harness.asks("How many days until refunds are paid?")
    await harness.asks("Who approves refunds above 2,000 euros?")
    told = await harness.asks(message)
    assert told.outcome is Outcome.ANSWERED
    assert told.answer.spent.searches == 0
