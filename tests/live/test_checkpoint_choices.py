"""Every choice of every checkpoint that the samples and the demo bring does what it says.

Prints a table of them (``pytest -rP``): the question, the choice, what was answered, and whether that is right.
"""

import json
import re
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from adapters.terminal.operator import OPERATOR, terminal_thread
from bot.container import Footnote
from bot.demo import SAMPLES
from core.model.answer import Answer, Outcome
from core.model.conversation import Audience
from core.model.errors import NotFound
from core.model.events import AgentCompleted, AgentEvent, CheckpointReached, FinalEvent, RetrievalStarted
from core.model.inquiry import AnswerPolicy, Checkpoint, CheckpointKind, Choice, ChoiceId
from core.model.text import content_words
from core.service.question_service import Question
from core.service.typed_choice import match_typed_choice
from tests.sample_home import BASE

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

ANYONE = Audience(unrestricted=True)
NOT_FOUND = "I couldn't find this for “"
FOLLOW_UPS = Path(__file__).parents[2] / "research/labelled/conversations.jsonl"
TYPED = "session"  # into the text field of a choice that asks for words


def scripts() -> list[tuple[str, ...]]:
    """The conversations of the samples and the demo, each as what its asker says."""
    found: list[tuple[str, ...]] = []
    for path, earlier in ((SAMPLES / "eval" / "queries.jsonl", "thread"), (FOLLOW_UPS, "turns")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            turns = case["metadata"][earlier]
            asked = [turn if isinstance(turn, str) else turn["question"] for turn in turns]
            found.append((*asked, case["text"]))
    demo = json.loads((SAMPLES / "demo.json").read_text(encoding="utf-8"))
    return list(dict.fromkeys([*found, tuple(line["say"] for line in demo)]))


@dataclass(frozen=True)
class Ended:
    """How a run ended, and what it searched for."""

    last: FinalEvent
    queries: tuple[str, ...]

    @property
    def answer(self) -> Answer:
        assert isinstance(self.last, AgentCompleted | CheckpointReached), self.last
        return self.last.answer


async def ended(events: AsyncIterator[AgentEvent]) -> Ended:
    told = [event async for event in events]
    assert isinstance(told[-1], FinalEvent)
    return Ended(told[-1], tuple(event.query for event in told if isinstance(event, RetrievalStarted)))


async def asked(footnote: Footnote, turns: Sequence[str]) -> Ended:
    """The end of the last of these questions, or of the first that a checkpoint interrupts, in a thread of its own."""
    thread, last = terminal_thread(uuid4().hex), None
    for turn in turns:
        question = Question(turn, thread, OPERATOR, ANYONE, AnswerPolicy(), frozenset({BASE}))
        last = await ended(footnote.question_service.ask(question))
        if isinstance(last.last, CheckpointReached):
            break
    assert last is not None
    return last


async def pressed(footnote: Footnote, turns: Sequence[str], number: int) -> tuple[Checkpoint, Choice, Ended]:
    """What follows from the choice of this number, from 0, of the checkpoint in this conversation."""
    card = (await asked(footnote, turns)).last
    assert isinstance(card, CheckpointReached)
    choice = card.checkpoint.choices[number]
    text = TYPED if choice.asks_text else ""
    events = footnote.question_service.choose(card.checkpoint.id, choice, OPERATOR, text=text, audience=ANYONE)
    return card.checkpoint, choice, await ended(events)


def own_words(choice: Choice, checkpoint: Checkpoint) -> set[str]:
    """The words that tell this reading from the others; of a text field, what was typed."""
    if choice.asks_text:
        return set(content_words(TYPED))
    readings = {one.id: set(content_words(re.sub(r"\([^()]*\)", "", one.value))) for one in checkpoint.choices}
    return readings[choice.id] - set().union(*(words for key, words in readings.items() if key != choice.id))


def mistake_of_reading(choice: Choice, checkpoint: Checkpoint, after: Ended) -> str:
    """What is wrong about the answer to a reading; empty where all it quotes speaks of it, or it says there is none."""
    answer, own = after.answer, own_words(choice, checkpoint)
    if isinstance(after.last, CheckpointReached):
        return "another card"
    if answer.outcome is not Outcome.ANSWERED:
        return "" if answer.text.startswith(NOT_FOUND) else "does not say for which reading there is nothing"
    for source in answer.citations:
        if not own & set(content_words(f"{source.title} {source.locator} {source.quote}")):
            return f"quotes something else: {source.quote[:60]}"
    return "" if own and answer.citations else "no source"


def mistake_of(choice: Choice, checkpoint: Checkpoint, after: Ended) -> str:
    """What is wrong about what follows from a choice; empty where it does what its button says."""
    if checkpoint.kind is CheckpointKind.CLARIFY:
        return mistake_of_reading(choice, checkpoint, after)
    answer = after.answer
    right = {
        ChoiceId.CAVEATS: answer.text.startswith("This may not answer your question.") and bool(answer.citations),
        ChoiceId.STOP: answer.text == "OK, I'll leave it there." and not after.queries,
        ChoiceId.ANSWER: answer.outcome is Outcome.ANSWERED and not after.queries,
        ChoiceId.KEEP: bool(after.queries),
        ChoiceId.NARROW: bool(after.queries) and after.queries[0] == TYPED,
        ChoiceId.SHOW: bool(answer.citations),
    }.get(choice.id, choice.value in after.queries)  # type: ignore[call-overload]
    return "" if right else f"{answer.outcome}: {answer.text[:80]}"


ORDINALS = (  # English, German, French and Spanish
    ("first", "1st", "erste", "première", "primera"),
    ("second", "2nd", "zweite", "deuxième", "segunda"),
    ("third", "3rd", "dritte", "troisième", "tercera"),
    ("fourth", "4th", "vierte", "quatrième", "cuarta"),
    ("fifth", "5th", "fünfte", "cinquième", "quinta"),
)
LAST = ("last", "last", "letzte", "dernière", "última")
IN_WORDS = {  # of the choices that every card of their kind has
    ChoiceId.CAVEATS: ("answer anyway", "with caveats please", "yes, with caveats", "trotzdem", "quand même"),
    ChoiceId.STOP: ("never mind", "forget it", "no thanks", "stop", "vergiss es", "laisse tomber", "olvídalo"),
    ChoiceId.KEEP: ("keep searching", "go on please", "yes please", "weiter", "continue", "sigue"),
    ChoiceId.ANSWER: ("answer now", "just answer", "antworte", "réponds", "responde"),
    ChoiceId.SHOW: ("show me the sources", "sources please", "Quellen bitte", "les sources", "las fuentes"),
}


def said_in_words(choice: Choice, checkpoint: Checkpoint) -> list[str]:
    """Plain words by which people choose this: by its place among the others, and by what its button says."""
    at = checkpoint.choices.index(choice)
    places = (ORDINALS[at], LAST) if at == len(checkpoint.choices) - 1 else (ORDINALS[at],)
    said = []
    for english, short, german, french, spanish in places:
        said += [f"the {english} one", f"{english.capitalize()} option, please.", f"I mean the {short} one"]
        said += [
            f"die {german}, bitte",
            f"ich meine {german}s",
            f"la {french} s'il te plaît",
            f"la {spanish}, por favor",
        ]
    said += IN_WORDS.get(choice.id, ())  # type: ignore[call-overload]
    if choice.asks_text or choice.value:  # a term or a reading: by its words, without marks or where they are from
        bare = re.sub(r"[“”…?]|\s*\([^()]*\)?", "", choice.label)
        said += [bare, bare.upper(), f"{bare}, please", f"I meant {bare}", f"the {bare} one", f"{bare} bitte"]
    if checkpoint.kind is CheckpointKind.CLARIFY and not choice.asks_text:
        own = next(
            word for word in re.findall(r"\w+", choice.label) if {*content_words(word)} <= own_words(choice, checkpoint)
        )
        said += [
            f"the {own} one",
            f"{own} please",
            f"I mean {own}",
            f"die mit {own}",
            f"celui avec {own}",
            f"el de {own}",
        ]
    return said


def mistyped(choice: Choice, checkpoint: Checkpoint) -> str:
    """Which typed forms of a choice are not understood as it; empty where all are.

    A choice that asks for words of one's own cannot be made without them, and says so.
    """
    number = str(checkpoint.choices.index(choice) + 1)
    wrong = []
    for form in (choice.id, choice.label, number, *said_in_words(choice, checkpoint)):
        try:
            understood = match_typed_choice(form, checkpoint)
        except NotFound as error:
            right = choice.asks_text and "own words" in str(error)
        else:
            right = understood == choice
        wrong += [] if right else [form]
    return f"not understood: {wrong}" if wrong else ""


async def test_every_choice_of_every_sample_does_what_it_says(footnote: Footnote) -> None:
    rows: list[tuple[str, str, str, str]] = []
    for turns in scripts():
        card = (await asked(footnote, turns)).last
        if not isinstance(card, CheckpointReached):
            continue
        for number in range(len(card.checkpoint.choices)):
            checkpoint, choice, after = await pressed(footnote, turns, number)
            wrong = mistake_of(choice, checkpoint, after) or mistyped(choice, checkpoint)
            rows.append((card.checkpoint.question, choice.label, " ".join(after.answer.text.split())[:110], wrong))
    sys.stdout.writelines(
        f"{question} | {label} | {said} | {wrong or 'right'}\n" for question, label, said, wrong in rows
    )
    readings = [row for row in rows if "timeout" in row[0] and row[1] != "Something else"]
    assert len(readings) >= 12
    assert [row for row in rows if row[3]] == []
