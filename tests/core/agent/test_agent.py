"""The agent as dialogue. Every test is played twice: by the scripted reasoner, and by a model behind a real socket."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest
import pytest_asyncio

from adapters.reasoners.openai.reasoner import OpenAIReasoner
from core.model.answer import Claim, ClaimVerdict, Outcome, Support
from core.model.budget import Prices
from core.model.conversation import Audience
from core.model.errors import BudgetExhausted, Denied, ModelUnavailable, NotFound
from core.model.events import (
    AgentCompleted,
    AgentFailed,
    AnswerDelta,
    AnswerReset,
    CheckpointReached,
    GenerationStarted,
    HallucinationChecked,
    QueryRefined,
    RetrievalCompleted,
    RetrievalStarted,
    RoutingDecided,
)
from core.model.evidence import Evidence, Grade
from core.model.inquiry import (
    ALL_CHECKPOINTS,
    AnswerPolicy,
    AskBack,
    CheckpointKind,
    Inquiry,
    Insufficient,
    Investigate,
    ListSources,
    Overview,
    ReadSection,
    Reply,
    SearchKnowledge,
    SearchSource,
    Sufficient,
)
from core.model.knowledge import KnowledgeBase
from core.model.profile import Behaviour, Profile
from core.ports.index import DenseAndBm25Hits
from core.ports.reasoner import DraftDeclined, DraftRestarted, GradesWithDecision
from core.service.question_service import Question
from tests.adapters.reasoners.harness import Believed
from tests.core.casts import IN_PROCESS, OVER_HTTP, ModelOverHttp
from tests.core.harness import ALICE, BOB, Harness, Told, within
from tests.fakes.memory.scripted_reasoner import ScriptedReasoner, Step
from tests.fakes.model.endpoint import ScriptedEndpoint

REFUNDS = "Refunds are paid within 14 days."
LEAVE = "Everyone has 27 days of annual leave."
SILENT = AnswerPolicy(behaviour=Behaviour.CONSERVATIVE, checkpoints=frozenset())
CAREFUL = AnswerPolicy(behaviour=Behaviour.CONSERVATIVE)  # a grade of 5 may answer, and is no evidence

# What the casts have in common when the model is away: this is what a server that wants another key becomes.
AWAY = ModelUnavailable("The model endpoint at 127.0.0.1 does not accept our key (401).", remedy="Check LLM_API_KEY.")

Stage = Callable[..., Harness]
pytestmark = pytest.mark.asyncio(loop_scope="module")


def citing(draft: str) -> Callable[..., str]:
    """Compose this draft, with ``[R]`` for the evidence that holds the refund period."""

    def compose(_inquiry: object, _thread: object, evidence: Sequence[Evidence]) -> str:
        return draft.replace("[R]", "".join(f"[{item.id}]" for item in evidence if item.passage.text == REFUNDS))

    return compose


def only(words: str, score: int) -> Callable[[Inquiry, Sequence[Evidence]], list[Grade]]:
    """Give this score to passages with these words, and 1 to the others."""
    return lambda _, evidence: [Grade(score if words in item.passage.text else 1) for item in evidence]


def by_source(words: str) -> Callable[[Inquiry, Sequence[Claim]], list[ClaimVerdict]]:
    """Support what cites a passage with these words, and nothing else."""

    def check(inquiry: Inquiry, claims: Sequence[Claim]) -> list[ClaimVerdict]:
        texts = [[item.passage.text for n in claim.evidence if (item := inquiry.library.get(n))] for claim in claims]
        held = [Support.SUPPORTED if words in " ".join(text) else Support.UNSUPPORTED for text in texts]
        return [ClaimVerdict(claim, support) for claim, support in zip(claims, held, strict=True)]

    return check


def one_by_one(*supports: Support) -> Callable[[Inquiry, Sequence[Claim]], list[ClaimVerdict]]:
    """Judge the claims in order."""
    return lambda _, claims: [ClaimVerdict(claim, one) for claim, one in zip(claims, supports, strict=True)]


def quoting(words: str) -> Callable[[Inquiry, Sequence[Claim]], list[ClaimVerdict]]:
    """Call every claim supported by these words."""
    return lambda _, claims: [ClaimVerdict(claim, Support.SUPPORTED, words=words) for claim in claims]


def citing_text(text: str) -> Callable[..., list[str]]:
    """Repair what failed by this text, with ``[R]`` for the evidence that holds the refund period."""

    def repair(inquiry: Inquiry, _draft: str, failed: Sequence[ClaimVerdict]) -> list[str]:
        mark = "".join(f"[{item.id}]" for item in inquiry.library if item.passage.text == REFUNDS)
        return [text.replace("[R]", mark)] * len(failed)

    return repair


# Tests that only the scripted reasoner can play, and why a model over HTTP cannot.
IN_PROCESS_ONLY = {
    "test_what_there_is_to_read_is_a_list_of_titles_and_of_several_bases_a_line_each": "a model has no such plan",
    "test_a_model_that_goes_away_is_replaced_and_nothing_is_doubled": "a model cannot say that another one takes over",
    "test_on_a_cap_of_tokens_it_composes_from_what_it_has": "a prompt is as long as it is",
    "test_on_a_cap_of_money_it_composes_from_what_it_has": "a prompt is as long as it is",
    "test_what_a_grader_decided_holds_until_the_next_search": "a model says no more than that it has enough",
    "test_on_a_cap_while_grading_the_retrievals_own_scores_stand_in": "a cap refuses before anything is sent",
    "test_when_there_is_no_time_to_check_the_answer_does_not_call_itself_grounded": "a cap refuses before it is sent",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test is played by both casts, unless it is one of those that only one can play."""
    if "stage" in metafunc.fixturenames:
        alone = metafunc.definition.originalname in IN_PROCESS_ONLY
        metafunc.parametrize("cast", [IN_PROCESS] if alone else [IN_PROCESS, OVER_HTTP])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[tuple[ScriptedEndpoint, OpenAIReasoner]]:
    """One server and one client for all tests of this module."""
    async with ScriptedEndpoint() as endpoint:
        reasoner = OpenAIReasoner(
            endpoint.base_url, "key", "scripted", timeout_seconds=5.0, backoff_seconds=0.001, records=Believed()
        )
        yield endpoint, reasoner
        await reasoner.close()


@pytest.fixture
def stage(cast: str, model: tuple[ScriptedEndpoint, OpenAIReasoner]) -> Stage:
    """Builds tests for the cast of this test."""

    def built(**installation: Any) -> Harness:
        script = ScriptedReasoner()
        reasoner = ModelOverHttp(script, *model) if cast == OVER_HTTP else script
        return Harness(reasoner, script=script, **installation)

    return built


@pytest_asyncio.fixture(loop_scope="module")
async def harness(stage: Stage) -> Harness:
    harness = stage()
    await harness.knows(REFUNDS, "Refunds above 2,000 euros are approved by Finance.", title="Refund policy")
    await harness.knows(LEAVE, title="Leave")
    return harness


async def test_every_test_that_is_left_to_one_cast_exists() -> None:
    suites = [suite for name, suite in globals().items() if name.startswith("Test")]
    assert all(any(hasattr(suite, name) for suite in suites) for name in IN_PROCESS_ONLY)


class TestUnderstanding:
    async def test_a_greeting_is_one_call_and_no_search(self, harness: Harness) -> None:
        harness.script.enqueue("understand", Reply("Hello!", "greeting"))
        answer = await harness.asks("hi")
        assert (answer.outcome, answer.text) == (Outcome.ANSWERED, "Hello!")
        assert answer.all(RetrievalStarted) == []
        assert [call.step for call in harness.script.calls] == ["understand"]

    async def test_a_fact_slipped_into_a_reply_is_searched_for_instead(self, harness: Harness) -> None:
        harness.script.enqueue("understand", Reply("The limit is 500.", "I happen to know"))
        harness.script.enqueue("compose", citing(f"{REFUNDS} [R]"))
        answer = await harness.asks("What is the limit for refunds?")
        assert [event.query for event in answer.all(RetrievalStarted)] == ["What is the limit for refunds?"]
        assert answer.all(RoutingDecided)[0].needs_retrieval
        assert "500" not in answer.text
        assert "500" not in answer.streamed
        assert [source.title for source in answer.answer.citations] == ["Refund policy"]

    async def test_a_fact_about_what_was_said_before_may_be_repeated_but_not_changed(self, harness: Harness) -> None:
        await harness.asks("How many days until refunds are paid?")
        harness.script.enqueue("understand", Reply("Within 14 days."), Reply("Within 90 days."))
        repeated = await harness.asks("say that again, shorter")
        assert (repeated.text, repeated.all(RetrievalStarted)) == ("Within 14 days.", [])
        changed = await harness.asks("say that again, shorter")
        assert len(changed.all(RetrievalStarted)) == 1

    async def test_unrelated_needs_are_searched_for_together(self, harness: Harness) -> None:
        harness.script.enqueue("understand", Investigate("Refunds, and leave?", ("refund days", "annual leave")))
        answer = await harness.asks("How long do refunds take, and how much leave is there?")
        assert [event.query for event in answer.all(RetrievalStarted)] == ["refund days", "annual leave"]
        assert {source.title for source in answer.answer.citations} == {"Refund policy", "Leave"}

    async def test_more_than_three_queries_are_cut_to_three(self, harness: Harness) -> None:
        harness.script.enqueue("understand", Investigate("q", ("a1", "b2", "c3", "d4", "a1")))
        answer = await harness.asks("everything?")
        (routing,) = answer.all(RoutingDecided)
        assert routing.queries == ("a1", "b2", "c3")

    async def test_a_plan_without_queries_searches_for_its_question(self, harness: Harness) -> None:
        harness.script.enqueue("understand", Investigate("How long do refunds take?", (" ", "")))
        answer = await harness.asks("how long?")
        assert answer.all(RoutingDecided)[0].queries == ("How long do refunds take?",)

    async def test_a_question_back_without_readings_ends_the_turn(self, harness: Harness) -> None:
        harness.script.enqueue("understand", AskBack("Which one do you mean?"))
        assert (await harness.asks("what about it?")).outcome is Outcome.CLARIFIED

    async def test_what_there_is_to_read_is_a_list_of_titles_and_of_several_bases_a_line_each(
        self, harness: Harness
    ) -> None:
        harness.script.always("understand", Overview(None))
        told = await harness.asks("What documents do you know?")
        assert told.text.splitlines()[:4] == [
            "I can read 2 documents here, in the knowledge base **default** (about default):",
            "",
            "- *Leave*",
            "- *Refund policy*",
        ]
        for n in range(30):
            await harness.knows("Something.", title=f"Note {n:02}", base="notes")
        told = await harness.asks("And now?")
        assert "32 documents here, in 2 knowledge bases:" in told.text
        assert "**default** (about default): *Leave*, *Refund policy*." in told.text
        assert "*Note 19*, and 10 more." in told.text
        harness.script.always("understand", Overview("notes"))
        told = await harness.asks("What is in notes?")
        assert "- *Note 24*\n- … and 5 more\n" in told.text

    async def test_readings_are_listed_where_choices_are_switched_off(self, harness: Harness) -> None:
        harness.script.enqueue("understand", AskBack("Which days?", ("Of refunds?", "Of leave?")))
        answer = await harness.asks("days?", policy=AnswerPolicy(checkpoints=frozenset()))
        assert answer.outcome is Outcome.CLARIFIED
        assert answer.text == "Which days?\n- Of refunds?\n- Of leave?"
        assert answer.all(CheckpointReached) == []

    async def test_the_thread_is_given_to_the_reasoner(self, harness: Harness) -> None:
        await harness.asks("How long do refunds take?")
        await harness.asks("And who approves them?")
        _, thread = harness.script.calls_of("understand")[1].given
        assert [turn.question for turn in thread.turns] == ["How long do refunds take?"]
        assert thread.turns[0].citations


class TestGathering:
    async def test_the_same_query_is_never_run_twice(self, harness: Harness) -> None:
        harness.script.enqueue(
            "decide", Insufficient("more", (SearchKnowledge("REFUND  days"), SearchKnowledge("finance")))
        )
        harness.script.enqueue("understand", Investigate("q", ("refund days",)))
        answer = await harness.asks("How long do refunds take?")
        assert [event.query for event in answer.all(RetrievalStarted)] == ["refund days", "finance"]

    async def test_what_was_graded_is_not_graded_again(self, harness: Harness) -> None:
        harness.script.enqueue("decide", Insufficient("more", (SearchKnowledge("finance approves"),)))
        await harness.asks("refunds")
        graded = [item.id for call in harness.script.calls_of("grade") for item in call.given[1]]
        assert len(graded) == len(set(graded))

    async def test_an_unknown_base_comes_back_as_an_error_to_act_on(self, harness: Harness) -> None:
        harness.script.enqueue("decide", Insufficient("x", (SearchKnowledge("leave", knowledge_base="hr"),)))
        answer = await harness.asks("refunds")
        notes = [event.note for event in answer.all(RetrievalCompleted)]
        assert "There is no knowledge base called 'hr'. There are: default." in notes

    async def test_a_source_is_searched_by_its_title(self, harness: Harness) -> None:
        harness.script.enqueue("understand", Investigate("q", ("days",)))
        harness.script.enqueue(
            "decide", Insufficient("x", (SearchSource("annual days", "leave"), SearchSource("x", "nope")))
        )
        answer = await harness.asks("days?")
        by_source, unknown = answer.all(RetrievalCompleted)[1:]
        assert by_source.sources == ("Leave",)
        assert unknown.note == "There is no source called 'nope'."  # to a person; the model is told which there are
        inquiry = harness.script.calls_of("compose")[0].given[0]
        assert "Leave" in inquiry.searches[-1].note

    async def test_sources_can_be_listed_and_a_section_read(self, harness: Harness) -> None:
        harness.script.enqueue("decide", Insufficient("x", (ListSources(), ReadSection(1), ReadSection(99))))
        answer = await harness.asks("refunds")
        listing, section, nothing = answer.all(RetrievalCompleted)[1:]
        assert "Leave; Refund policy" in listing.note or "Refund policy; Leave" in listing.note
        assert "now among the evidence" in section.note
        assert "no evidence [99]" in nothing.note

    async def test_the_searches_of_a_profile_are_a_hard_cap(self, harness: Harness) -> None:
        for n in range(20):
            harness.script.enqueue("decide", Insufficient("more", (SearchKnowledge(f"refunds {n}"),)))
        answer = await harness.asks("refunds", policy=AnswerPolicy(checkpoints=frozenset(), profile=Profile.QUICK))
        assert answer.answer.spent.searches == 3
        assert answer.outcome is Outcome.ANSWERED

    async def test_no_search_brings_more_than_twenty_passages(self, stage: Stage) -> None:
        harness = stage()
        await harness.knows(*(f"Refund number {n}." for n in range(30)))
        harness.script.enqueue("decide", Insufficient("x", (SearchKnowledge("refund number", top_k=500),)))
        few, many = (await harness.asks("refund")).all(RetrievalCompleted)
        assert (few.total_docs, many.total_docs) == (8, 20)
        _, _, evidence = harness.script.calls_of("compose")[0].given
        assert len(evidence) == 10, "and no answer is written from more than ten"

    async def test_reading_a_section_brings_that_section_only(self, stage: Stage) -> None:
        harness = stage()
        await harness.knows(*(f"Refund number {n}." for n in range(30)))
        harness.script.enqueue("decide", Insufficient("x", (ReadSection(1),)))
        _, read = (await harness.asks("refund")).all(RetrievalCompleted)
        assert (read.total_docs, read.new) == (1, 0)

    async def test_a_search_that_does_not_come_back_leaves_time_to_say_so(self, stage: Stage) -> None:
        async def stuck(*_: object) -> DenseAndBm25Hits:
            await asyncio.Event().wait()
            raise AssertionError

        harness = stage(limits=within(seconds=4.2))
        await harness.knows(REFUNDS)
        harness.index.search = stuck  # type: ignore[method-assign, assignment]
        answer = await harness.asks("refunds")
        assert answer.outcome is Outcome.ABSTAINED
        assert answer.answer.notices == ("The 4.2 seconds of this profile are used up.",)

    async def test_what_cannot_be_afforded_is_not_tried(self, stage: Stage) -> None:
        harness = stage()
        await harness.knows(*(f"Refund number {n}." for n in range(30)))
        further = [SearchKnowledge(f"refund number {n}", top_k=n) for n in (12, 16, 20)]
        harness.script.enqueue("decide", *(Insufficient("more", (action,)) for action in further))
        answer = await harness.asks("refund", policy=AnswerPolicy(checkpoints=frozenset(), profile=Profile.QUICK))
        assert all(event.new for event in answer.all(RetrievalCompleted)), "or it would have ended for that"
        assert [call.step for call in harness.script.calls] == ["understand", *["grade", "decide"] * 3, "compose"]

    async def test_of_more_searches_than_are_left_the_first_are_made(self, harness: Harness) -> None:
        harness.script.enqueue("understand", Investigate("q", ("refunds", "leave")))
        harness.script.enqueue("decide", Insufficient("more", tuple(SearchKnowledge(f"finance {n}") for n in range(4))))
        answer = await harness.asks("all?", policy=AnswerPolicy(checkpoints=frozenset(), profile=Profile.QUICK))
        assert [event.query for event in answer.all(RetrievalStarted)] == ["refunds", "leave", "finance 0"]
        assert answer.outcome is Outcome.ANSWERED

    async def test_searches_that_bring_nothing_new_end_the_searching(self, harness: Harness) -> None:
        for n in range(20):
            harness.script.enqueue("decide", Insufficient("more", (SearchKnowledge(f"refunds {n}"),)))
        answer = await harness.asks(
            "refunds leave", policy=AnswerPolicy(checkpoints=frozenset(), profile=Profile.THOROUGH)
        )
        assert answer.answer.spent.searches == 3


class TestTheShortWay:
    """A simple question: one need, and a first search that found something."""

    QUESTION = "How many days until refunds are paid?"
    PARAPHRASE = "You get your money back within a fortnight [R]."

    @pytest_asyncio.fixture(loop_scope="module")
    async def harness(self, stage: Stage) -> Harness:
        harness = stage(confident=0.3)
        await harness.knows(REFUNDS, "Refunds above 2,000 euros are approved by Finance.", title="Refund policy")
        await harness.knows(LEAVE, title="Leave")
        return harness

    def steps(self, harness: Harness) -> list[str]:
        return [call.step for call in harness.script.calls]

    async def test_a_simple_question_costs_three_calls_also_in_the_models_own_words(self, harness: Harness) -> None:
        harness.script.enqueue("compose", citing(self.PARAPHRASE))
        answer = await harness.asks(self.QUESTION)
        assert answer.text == "You get your money back within a fortnight [1]."
        assert self.steps(harness) == ["understand", "compose", "check"]
        assert answer.answer.spent.calls == 3
        assert answer.answer.verdict is not None

    async def test_it_costs_three_also_where_two_sections_are_about_equally_good(self, stage: Stage) -> None:
        harness = stage(confident=0.3)
        await harness.knows("The timeout of the planner is 90 seconds.", "The timeout of the webhook is 30 seconds.")
        harness.script.enqueue(
            "compose", "The planner waits for a minute and a half, the webhook for half of one [1][2]."
        )
        answer = await harness.asks("What is the timeout?")
        best, runner_up = (item.hit.score for item in harness.script.calls_of("compose")[0].given[2])
        assert runner_up > 0.75 * best, "or this test shows nothing"
        assert self.steps(harness) == ["understand", "compose", "check"]
        assert (answer.outcome, answer.answer.spent.calls) == (Outcome.ANSWERED, 3)

    async def test_an_answer_in_the_documents_words_costs_two(self, harness: Harness) -> None:
        await harness.asks(self.QUESTION)
        assert self.steps(harness) == ["understand", "compose"]

    async def test_the_writer_sees_what_was_found_best_first(self, harness: Harness) -> None:
        await harness.asks(self.QUESTION)
        _, _, evidence = harness.script.calls_of("compose")[0].given
        assert [item.passage.text for item in evidence][:2] == [REFUNDS, LEAVE]

    async def test_what_is_missing_is_searched_for_and_then_judged(self, harness: Harness) -> None:
        harness.script.enqueue("compose", [DraftDeclined("who approves refunds")])
        answer = await harness.asks(self.QUESTION)
        assert [event.query for event in answer.all(RetrievalStarted)] == [self.QUESTION, "who approves refunds"]
        assert answer.all(QueryRefined)[0].refined == "who approves refunds"
        inquiry, *_ = harness.script.calls_of("compose")[1].given
        assert (inquiry.fast_path, inquiry.missing) == (False, ""), "it was found to suffice"
        assert self.steps(harness) == ["understand", "compose", "grade", "decide", "compose"]
        assert answer.outcome is Outcome.ANSWERED

    async def test_a_draft_that_was_begun_and_withheld_is_taken_back(self, harness: Harness) -> None:
        harness.script.enqueue(
            "compose", ["Refunds are a fine thing, ", "and so on.\n", DraftDeclined("refund period")]
        )
        harness.script.enqueue("compose", citing(f"{REFUNDS} [R]"))
        answer = await harness.asks(self.QUESTION)
        assert answer.streamed == answer.text == f"{REFUNDS} [1]"

    async def asked_back(self, harness: Harness, **policy: object) -> Told:
        options = ("How many days until refunds are paid?", "How many days of annual leave are there?")
        withheld = DraftDeclined(unclear=AskBack("Which days do you mean?", options))
        harness.script.enqueue("compose", ["There are ", "several.\n", withheld])
        return await harness.asks("days", policy=AnswerPolicy(**policy))  # type: ignore[arg-type]

    async def test_a_writer_that_finds_several_readings_has_the_person_choose(self, harness: Harness) -> None:
        parked = await self.asked_back(harness)
        assert (parked.outcome, parked.text, parked.streamed) == (Outcome.CLARIFIED, "Which days do you mean?", "")
        assert parked.checkpoint.kind is CheckpointKind.CLARIFY
        assert [choice.label for choice in parked.checkpoint.choices] == [
            "How many days until refunds are paid?",
            "How many days of annual leave are there?",
            "Something else",
        ]
        assert {name.partition(" (")[0] for name in parked.checkpoint.found} == {"Refund policy", "Leave"}
        assert parked.answer.spent.calls == 2

    async def test_the_reading_that_was_chosen_is_a_simple_question_again(self, harness: Harness) -> None:
        parked = await self.asked_back(harness)
        harness.script.enqueue("compose", citing(self.PARAPHRASE))
        answer = await harness.presses(parked.checkpoint, "1")
        assert [event.query for event in answer.all(RetrievalStarted)] == [self.QUESTION]
        assert self.steps(harness)[2:] == ["compose", "check"]
        assert answer.text == "You get your money back within a fortnight [1]."

    async def test_a_person_is_asked_once_which_reading_is_meant(self, harness: Harness) -> None:
        parked = await self.asked_back(harness)
        harness.script.enqueue("compose", [DraftDeclined(unclear=AskBack("Which then?", ("This?", "That?")))])
        answer = await harness.presses(parked.checkpoint, "1")
        assert self.steps(harness)[2:] == ["compose", "grade", "decide", "compose"]
        assert answer.outcome is Outcome.ANSWERED

    async def test_where_nobody_may_be_asked_several_readings_are_judged(self, harness: Harness) -> None:
        answer = await self.asked_back(harness, checkpoints=frozenset())
        assert self.steps(harness) == ["understand", "compose", "grade", "decide", "compose"]
        assert answer.outcome is Outcome.ANSWERED

    async def test_an_older_and_a_newer_version_are_both_before_the_writer_with_their_dates(self, stage: Stage) -> None:
        harness = stage(confident=0.3)
        await harness.knows("Refunds are paid within 30 days.", title="Policy 2024", dated="2024-03-01")
        await harness.knows(REFUNDS, title="Policy 2026", dated="2026-01-01")

        def both(_inquiry: object, _thread: object, evidence: Sequence[Evidence]) -> str:
            ids = {item.passage.dated: item.id for item in evidence}
            return f"Within a fortnight [{ids['2026-01-01']}]. It was 30 days before [{ids['2024-03-01']}]."

        harness.script.enqueue("compose", both)
        answer = await harness.asks(self.QUESTION)
        assert [source.title for source in answer.answer.citations] == ["Policy 2026", "Policy 2024"]
        assert answer.answer.spent.calls == 3

    async def test_when_nobody_knows_what_is_missing_what_there_is_is_judged(self, harness: Harness) -> None:
        harness.script.enqueue("compose", [DraftDeclined()])
        harness.script.enqueue("decide", AskBack("Which days?", ("Of leave?", "Of refunds?")))
        asked = await harness.asks(self.QUESTION)
        assert self.steps(harness) == ["understand", "compose", "grade", "decide"]
        assert asked.outcome is Outcome.CLARIFIED

    async def test_what_is_missing_is_not_searched_for_twice(self, harness: Harness) -> None:
        harness.script.enqueue("compose", [DraftDeclined(self.QUESTION.upper())])
        answer = await harness.asks(self.QUESTION)
        assert len(answer.all(RetrievalStarted)) == 1
        assert self.steps(harness)[2:] == ["grade", "decide", "compose"]

    async def test_a_draft_without_a_source_is_thrown_away_and_the_evidence_judged(self, harness: Harness) -> None:
        harness.script.enqueue("compose", "I believe that it is soon.", citing(f"{REFUNDS} [R]"))
        answer = await harness.asks(self.QUESTION)
        assert self.steps(harness) == ["understand", "compose", "grade", "decide", "compose"]
        assert answer.streamed == answer.text == f"{REFUNDS} [1]"

    async def test_a_draft_that_does_not_hold_is_thrown_away_and_the_evidence_judged(self, harness: Harness) -> None:
        harness.script.enqueue("compose", "The moon is made of green cheese [1].", citing(f"{REFUNDS} [R]"))
        harness.script.always("check", Support.UNSUPPORTED)
        answer = await harness.asks(self.QUESTION)
        assert self.steps(harness)[-3:] == ["grade", "decide", "compose"]
        assert answer.text == f"{REFUNDS} [1]"

    async def test_stopped_before_anything_was_found_it_is_over(self, harness: Harness) -> None:
        question = Question(self.QUESTION, harness.key(), ALICE, Audience())
        async with aclosing(harness.question_service.ask(question)) as events:
            async for event in events:
                if isinstance(event, RoutingDecided):
                    break
        stopped = await harness.question_service.stop(question.trace_id)
        assert isinstance(stopped, AgentCompleted)
        assert stopped.answer.outcome is Outcome.REFUSED

    async def test_one_that_is_stopped_can_still_be_answered_from_what_was_found(self, harness: Harness) -> None:
        harness.script.enqueue("compose", ["Refunds are paid ", "some day."], citing(f"{REFUNDS} [R]"))
        question = Question(self.QUESTION, harness.key(), ALICE, Audience())
        async with aclosing(harness.question_service.ask(question)) as events:
            async for event in events:
                if isinstance(event, AnswerDelta):
                    break
        stopped = await harness.question_service.stop(question.trace_id)
        assert isinstance(stopped, CheckpointReached)
        assert "*Refund policy*" in stopped.checkpoint.message
        answer = await harness.presses(stopped.checkpoint, "Answer from that")
        assert answer.text == f"{REFUNDS} [1]"

    async def test_it_is_tried_once_only(self, harness: Harness) -> None:
        harness.script.always("compose", "I believe that it is soon.")
        answer = await harness.asks(self.QUESTION)
        assert len(harness.script.calls_of("compose")) == 2
        assert answer.outcome is Outcome.ABSTAINED

    @pytest.mark.parametrize(
        ("question", "policy", "plan"),
        [
            ("What does it cost?", AnswerPolicy(), None),  # nothing is good
            (QUESTION, AnswerPolicy(profile=Profile.THOROUGH), None),
            (QUESTION, AnswerPolicy(checkpoints=ALL_CHECKPOINTS, sources_first=True), None),
            (QUESTION, AnswerPolicy(), Investigate(QUESTION, (QUESTION,), sources_first=True)),
            (QUESTION, AnswerPolicy(), Investigate(QUESTION, ("refunds paid", "annual leave"))),
        ],
    )
    async def test_what_is_not_simple_is_judged_first(
        self, harness: Harness, question: str, policy: AnswerPolicy, plan: Investigate | None
    ) -> None:
        harness.script.enqueue("understand", *([plan] if plan else []))
        await harness.asks(question, policy=policy)
        assert self.steps(harness)[:2] == ["understand", "grade"]

    async def test_sources_that_were_shown_are_not_tried_out_again(self, harness: Harness) -> None:
        policy = AnswerPolicy(checkpoints=ALL_CHECKPOINTS, sources_first=True)
        parked = await harness.asks(self.QUESTION, policy=policy)
        await harness.presses(parked.checkpoint, "Answer")
        assert self.steps(harness) == ["understand", "grade", "compose"]


class TestDeciding:
    async def test_a_grader_that_has_enough_is_not_asked_to_decide(self, harness: Harness) -> None:
        harness.script.enqueue("grade", Sufficient())
        harness.script.enqueue("compose", citing("You get your money back within a fortnight [R]."))
        answer = await harness.asks("refunds")
        assert [call.step for call in harness.script.calls] == ["understand", "grade", "compose", "check"]
        assert (answer.outcome, answer.answer.spent.calls) == (Outcome.ANSWERED, 4)

    async def test_a_grader_is_not_believed_to_have_enough_where_nothing_counts(self, harness: Harness) -> None:
        def enough_of_nothing(_inquiry: object, evidence: Sequence[Evidence]) -> GradesWithDecision:
            return GradesWithDecision(tuple(Grade(1) for _ in evidence), Sufficient())

        harness.script.enqueue("grade", enough_of_nothing)
        harness.script.enqueue("decide", Insufficient("who approves", (SearchKnowledge("finance approves"),)))
        answer = await harness.asks("refunds")
        assert [call.step for call in harness.script.calls][:3] == ["understand", "grade", "decide"]
        assert [event.query for event in answer.all(RetrievalStarted)] == ["refunds", "finance approves"]

    async def test_what_a_grader_decided_holds_until_the_next_search(self, harness: Harness) -> None:
        harness.script.enqueue("grade", Insufficient("more", (SearchKnowledge("refunds again"),)))
        await harness.asks("refunds")
        assert [call.step for call in harness.script.calls] == ["understand", "grade", "decide", "compose"]

    async def test_sources_come_first_also_where_the_grader_has_enough(self, harness: Harness) -> None:
        harness.script.enqueue("grade", Sufficient())
        policy = AnswerPolicy(checkpoints=ALL_CHECKPOINTS, sources_first=True)
        assert (await harness.asks("refunds", policy=policy)).checkpoint.kind is CheckpointKind.SOURCES_FIRST

    async def test_what_is_missing_becomes_the_next_query(self, harness: Harness) -> None:
        harness.script.enqueue("decide", Insufficient("who approves", (SearchKnowledge("finance approves"),)))
        answer = await harness.asks("refunds")
        (refined,) = answer.all(QueryRefined)
        assert (refined.refined, refined.reason) == ("finance approves", "who approves")

    async def test_where_there_is_nothing_to_read_that_is_said_instead_of_searching(self, stage: Stage) -> None:
        answer = await stage(remedy="Ask Grace for some.").asks("How long do refunds take?")
        assert answer.outcome is Outcome.ABSTAINED
        assert answer.text == "There are no documents yet that I can use here. Ask Grace for some."
        assert answer.all(RetrievalStarted) == []

    async def test_bases_that_are_closed_after_a_loss_are_not_called_empty(self, stage: Stage) -> None:
        harness = stage()
        await harness.catalog.save_base(KnowledgeBase("default", closed=True))
        answer = await harness.asks("How long do refunds take?")
        assert answer.outcome is Outcome.ABSTAINED
        assert "an admin must first confirm who can read them" in answer.text

    async def test_nothing_near_is_said_plainly(self, stage: Stage) -> None:
        harness = stage()
        await harness.catalog.save_base(KnowledgeBase("default", "nothing in it yet", frozenset()))
        answer = await harness.asks("How long do refunds take?")
        assert answer.outcome is Outcome.ABSTAINED
        assert answer.text == "I couldn't find this in your documents."

    async def test_what_is_not_relevant_is_not_offered_as_an_answer(self, harness: Harness) -> None:
        harness.script.always("grade", 1)
        harness.script.always("decide", Insufficient("anything"))
        answer = await harness.asks("What is the weather on Mars?")
        assert answer.outcome is Outcome.ABSTAINED
        assert answer.answer.citations == ()
        assert {source.title for source in answer.answer.nearest} == {"Refund policy", "Leave"}
        assert answer.text.startswith("I couldn't find this in your documents. The closest I found is ")
        assert "“" not in answer.text

    async def test_quotes_what_may_answer_without_asking_how_to_go_on(self, harness: Harness) -> None:
        harness.script.always("grade", only("2,000", 5))
        harness.script.always("decide", Insufficient("anything"))
        answer = await harness.asks("Who approves refunds above 2,000 euros?", policy=CAREFUL)
        assert answer.outcome is Outcome.ABSTAINED
        assert answer.text == "This may answer it: “Refunds above 2,000 euros are approved by Finance.” [1]"
        assert [source.title for source in answer.answer.citations] == ["Refund policy"]

    async def test_offers_what_may_answer_in_the_askers_language(self, harness: Harness) -> None:
        harness.script.always("grade", only("2,000", 5))
        harness.script.always("decide", Insufficient("anything"))
        answer = await harness.asks("Wer genehmigt Erstattungen über 2.000 Euro?", policy=CAREFUL)
        assert answer.text.startswith("Das könnte die Antwort sein: „")

    async def test_quotes_nothing_where_several_documents_may_answer(self, harness: Harness) -> None:
        harness.script.always("grade", 5)
        harness.script.always("decide", Insufficient("anything"))
        answer = await harness.asks("Who approves refunds above 2,000 euros?", policy=SILENT)
        assert answer.text.startswith("I couldn't find this in your documents. The closest I found is ")

    async def test_quotes_nothing_that_hardly_answers(self, harness: Harness) -> None:
        harness.script.always("grade", 2)
        harness.script.always("decide", Insufficient("anything"))
        answer = await harness.asks("Who approves refunds above 2,000 euros?")
        assert answer.text.startswith("I couldn't find this in your documents. The closest I found is Refund policy")
        assert answer.answer.citations == ()

    async def test_the_nearest_sentence_shows_the_words_of_its_links(self, harness: Harness) -> None:
        await harness.knows("Parking fines: see the [rules of the road](../road.md) of 2026.", title="Cars")
        harness.script.always("grade", only("Parking", 5))
        harness.script.always("decide", Insufficient("anything"))
        answer = await harness.asks("Who pays parking fines by the rules of the road?", policy=CAREFUL)
        assert "“Parking fines: see the rules of the road" in answer.text
        assert "](" not in answer.text

    async def test_a_card_for_nothing_relevant_names_its_source_and_quotes_nothing(self, harness: Harness) -> None:
        harness.script.always("grade", 3)
        harness.script.always("decide", Insufficient("anything"))
        card = await harness.asks("Who approves refunds above 2,000 euros?")
        assert card.checkpoint.kind is CheckpointKind.NOTHING_RELEVANT
        assert "close: *Refund policy*" in card.checkpoint.message
        assert "“" not in card.checkpoint.message
        assert card.answer.citations == ()

    async def test_a_card_for_nothing_relevant_is_in_the_askers_language(self, harness: Harness) -> None:
        harness.script.always("grade", 3)
        harness.script.always("decide", Insufficient("anything"))
        card = await harness.asks("Wer genehmigt eine Erstattung über 2.000 Euro und wann?")
        assert card.checkpoint.kind is CheckpointKind.NOTHING_RELEVANT
        assert card.checkpoint.message.startswith("Ich habe nichts gefunden, was das beantwortet.")
        assert card.checkpoint.message.endswith("Was möchtest du tun?")

    async def test_a_draft_that_cites_nothing_known_is_not_an_answer(self, harness: Harness) -> None:
        harness.script.enqueue("compose", "Refunds take a year [77].")
        assert (await harness.asks("refunds")).outcome is Outcome.ABSTAINED


class TestCheckpoints:
    async def long_search(self, harness: Harness, **policy: object) -> Told:
        harness.script.enqueue("understand", Investigate("q", ("refunds", "leave", "finance")))
        harness.script.enqueue("decide", Insufficient("the price", (SearchKnowledge("price"),)))
        return await harness.asks("refunds and prices?", policy=AnswerPolicy(**policy))  # type: ignore[arg-type]

    async def test_after_three_searches_a_person_chooses(self, harness: Harness) -> None:
        parked = await self.long_search(harness)
        assert parked.outcome is Outcome.PARKED
        checkpoint = parked.checkpoint
        assert checkpoint.kind is CheckpointKind.LONG_SEARCH
        assert [choice.label for choice in checkpoint.choices] == ["Keep searching", "Answer now", "Narrow it"]
        assert "the price" in checkpoint.message
        assert checkpoint.spent.searches == 3

    async def test_after_three_searches_without_a_trace_nobody_is_asked_for_more_of_the_same(
        self, harness: Harness
    ) -> None:
        harness.script.always("grade", 1)
        answer = await self.long_search(harness)
        assert answer.outcome is Outcome.ABSTAINED
        assert answer.answer.spent.searches == 3

    async def test_keeping_on_makes_the_search_that_was_next(self, harness: Harness) -> None:
        parked = await self.long_search(harness)
        answer = await harness.presses(parked.checkpoint, "Keep searching")
        assert [event.query for event in answer.all(RetrievalStarted)] == ["price"]
        assert answer.outcome is Outcome.ANSWERED
        assert answer.answer.spent.searches == 4

    async def test_who_keeps_on_is_not_asked_again(self, harness: Harness) -> None:
        parked = await self.long_search(harness)
        harness.script.enqueue("decide", Insufficient("the price", (SearchKnowledge("euros"),)))
        answer = await harness.presses(parked.checkpoint, "keep")
        assert [event.query for event in answer.all(RetrievalStarted)] == ["price", "euros"]
        assert answer.outcome is Outcome.ANSWERED

    async def test_answering_now_searches_no_more(self, harness: Harness) -> None:
        parked = await self.long_search(harness)
        answer = await harness.presses(parked.checkpoint, "answer")
        assert answer.all(RetrievalStarted) == []
        assert answer.outcome is Outcome.ANSWERED

    async def test_narrowing_searches_for_what_was_typed(self, harness: Harness) -> None:
        parked = await self.long_search(harness)
        answer = await harness.presses(parked.checkpoint, "narrow", text="only Finance")
        assert answer.all(RetrievalStarted)[0].query == "only Finance"

    async def test_a_checkpoint_that_is_switched_off_asks_nobody(self, harness: Harness) -> None:
        answer = await self.long_search(harness, checkpoints=frozenset())
        assert answer.outcome is Outcome.ANSWERED

    async def test_a_second_press_does_nothing(self, harness: Harness) -> None:
        parked = await self.long_search(harness)
        await harness.presses(parked.checkpoint, "answer")
        with pytest.raises(NotFound):
            await harness.presses(parked.checkpoint, "answer")

    async def test_a_stranger_cannot_choose(self, harness: Harness) -> None:
        parked = await self.long_search(harness)
        with pytest.raises(Denied):
            await harness.presses(parked.checkpoint, "answer", by=BOB)

    async def nothing_relevant(self, harness: Harness) -> Told:
        harness.script.always("grade", 3)
        harness.script.always("decide", Insufficient("a price list"))
        return await harness.asks("What does it cost?")

    async def test_weak_evidence_is_offered_with_terms_to_try(self, harness: Harness) -> None:
        parked = await self.nothing_relevant(harness)
        checkpoint = parked.checkpoint
        assert checkpoint.kind is CheckpointKind.NOTHING_RELEVANT
        labels = [choice.label for choice in checkpoint.choices]
        assert len([label for label in labels if label.startswith("Try “")]) == 2
        assert labels[-2:] == ["Answer with caveats", "Never mind"]

    async def test_terms_that_were_tried_are_not_proposed_again(self, harness: Harness) -> None:
        harness.script.always("grade", 3).always("decide", Insufficient("x"))
        parked = await harness.asks("section 1")
        tries = [choice.label for choice in parked.checkpoint.choices if choice.label.startswith("Try “")]
        assert tries
        assert all(label.startswith("Try “Section 2 (") for label in tries)

    async def test_what_is_hardly_near_is_not_proposed(self, harness: Harness) -> None:
        def one_is_near(_inquiry: object, evidence: Sequence[Evidence]) -> Sequence[Grade]:
            return [Grade(3 if item.id == evidence[0].id else 1) for item in evidence]

        harness.script.enqueue("grade", one_is_near).always("decide", Insufficient("x"))
        parked = await harness.asks("What does it cost?")
        tries = [choice.label for choice in parked.checkpoint.choices if choice.label.startswith("Try “")]
        assert len(tries) == 1

    async def test_who_has_seen_the_sources_may_want_no_answer(self, harness: Harness) -> None:
        harness.script.enqueue("understand", Investigate("refunds", ("refunds",), sources_first=True))
        parked = await harness.asks("show me the sources on refunds first")
        shown = await harness.presses(parked.checkpoint, "show")
        stopped = await harness.presses(shown.checkpoint, "stop")
        assert stopped.outcome is Outcome.ABSTAINED
        assert stopped.text == "OK, I'll leave it there."
        assert harness.script.calls_of("compose") == []

    async def test_caveats_answer_from_weak_evidence_and_say_so(self, harness: Harness) -> None:
        parked = await self.nothing_relevant(harness)
        answer = await harness.presses(parked.checkpoint, "caveats")
        assert answer.outcome is Outcome.ANSWERED
        inquiry, *_ = harness.script.calls_of("compose")[0].given
        assert inquiry.caveats

    async def test_stopping_is_an_end_too(self, harness: Harness) -> None:
        parked = await self.nothing_relevant(harness)
        answer = await harness.presses(parked.checkpoint, "Never mind")
        assert answer.outcome is Outcome.ABSTAINED
        assert answer.text == "OK, I'll leave it there."
        assert answer.answer.nearest == ()

    async def test_trying_a_term_searches_for_it(self, harness: Harness) -> None:
        parked = await self.nothing_relevant(harness)
        proposed = parked.checkpoint.choices[0]
        answer = await harness.presses(parked.checkpoint, proposed.label)
        assert [event.query for event in answer.all(RetrievalStarted)] == [proposed.value]

    async def test_sources_come_first_where_the_person_wants_them(self, harness: Harness) -> None:
        harness.script.enqueue("understand", Investigate("refunds", ("refunds",), sources_first=True))
        parked = await harness.asks("show me the sources on refunds first")
        assert parked.checkpoint.kind is CheckpointKind.SOURCES_FIRST
        shown = await harness.presses(parked.checkpoint, "Show sources")
        assert [source.n for source in shown.answer.citations] == [1, 2, 3]
        assert "The search also found" not in shown.text, "there is nothing that was not looked at"
        answer = await harness.presses(shown.checkpoint, "Answer")
        assert answer.outcome is Outcome.ANSWERED

    async def test_sources_name_what_else_the_search_found(self, harness: Harness) -> None:
        for n in range(1, 13):
            await harness.knows(f"Refunds of shop {n} are paid within {n} days.", title=f"Shop {n}")
        harness.script.enqueue("understand", Investigate("refunds", ("refunds",), sources_first=True))
        parked = await harness.asks("show me the sources on refunds first")
        shown = await harness.presses(parked.checkpoint, "Show sources")
        told = {source.title for source in shown.answer.citations}
        named = set(re.findall(r"\*([^*]+)\*", shown.text))
        assert len(named) == 4, shown.text
        assert not named & told
        assert "more. Do you want an answer from them?" in shown.text

    async def clarified(self, harness: Harness) -> Told:
        options = ("How long do refunds take?", "How many days of leave are there?")
        harness.script.enqueue("decide", AskBack("Which days do you mean?", options))
        return await harness.asks("how many days?")

    async def test_readings_are_choices(self, harness: Harness) -> None:
        parked = await self.clarified(harness)
        assert parked.outcome is Outcome.CLARIFIED
        assert len(parked.checkpoint.choices) == 3
        answer = await harness.presses(parked.checkpoint, "2")
        assert answer.all(RetrievalStarted)[0].query == "How many days of leave are there?"

    async def test_says_for_which_reading_nothing_was_found(self, harness: Harness) -> None:
        parked = await self.clarified(harness)
        harness.script.always("grade", 3).always("decide", Insufficient("anything"))
        answer = await harness.presses(parked.checkpoint, "2")
        assert answer.outcome is Outcome.ABSTAINED
        assert answer.text.startswith("I couldn't find this for “How many days of leave are there?”.")

    @pytest.mark.parametrize(
        ("typed", "question"),
        [("of leave", "how many days? of leave"), ("How long is a shift?", "How long is a shift?")],
    )
    async def test_something_else_asks_what_was_typed(self, harness: Harness, typed: str, question: str) -> None:
        parked = await self.clarified(harness)
        answer = await harness.presses(parked.checkpoint, "Something else", text=typed)
        assert answer.all(RetrievalStarted)[0].query == question

    async def test_a_question_back_carries_no_link_and_no_number(self, harness: Harness) -> None:
        options = ("The [one](https://evil.example/?q=1)? [1]", "That at https://evil.example/ too?", "[2]")
        harness.script.enqueue("decide", AskBack("Which, see https://evil.example/, do you mean [1]?", options))
        parked = await harness.asks("how many days?")
        assert "evil.example" not in repr(parked.events)
        assert [choice.value for choice in parked.checkpoint.choices] == ["The one?", ""]

    STATES = "The permit costs 900 euros since May; pay at evil-login.example/pay. Which days do you mean?"
    READINGS = ("How many days of leave are there?", "Pay 900 euros now", "Days as evil-login.example/pay has them")

    @pytest.mark.parametrize("step", ["understand", "decide", "compose"])
    async def test_a_question_back_states_nothing(self, stage: Stage, step: Step) -> None:
        harness = stage(confident=0.3 if step == "compose" else 2.0)
        await harness.knows("Everybody has 28 days of annual leave.", title="Leave")
        await harness.knows("Refunds are paid within 14 days.", title="Refund policy")
        ask = AskBack(self.STATES, self.READINGS)
        harness.script.enqueue(step, [DraftDeclined(unclear=ask)] if step == "compose" else ask)
        parked = await harness.asks("how many days?")
        assert (parked.outcome, parked.text) == (Outcome.CLARIFIED, "Which days do you mean?")
        assert [choice.value for choice in parked.checkpoint.choices] == ["How many days of leave are there?", ""]

    async def test_a_question_back_that_only_states_becomes_a_plain_one(self, harness: Harness) -> None:
        harness.script.enqueue("decide", AskBack("The permit costs 900 euros.", self.READINGS))
        assert (await harness.asks("how many days?")).text == "Which of these do you mean?"
        harness.script.enqueue("understand", AskBack("Is the launch at evil-login.example revoked?"))
        assert (await harness.asks("Wie viele Tage sind es?", thread="u")).text == "Was genau meinst du?"

    async def test_offers_readings_in_other_languages_by_their_words_and_not_their_capitals(self, stage: Stage) -> None:
        harness = stage()
        await harness.knows("Die Frist im Arbeitsvertrag beträgt vier Wochen.", title="Arbeitsvertrag")
        readings = ("Wie lange ist die Frist für Angestellte?", "Zahlen Sie 900 Euro?", "合同的期限？")
        harness.script.enqueue("decide", AskBack("Meinst du die Frist im Arbeitsvertrag?", readings))
        parked = await harness.asks("Wie lang ist die Frist?")
        assert parked.text == "Meinst du die Frist im Arbeitsvertrag?"
        assert [choice.value for choice in parked.checkpoint.choices] == [readings[0], readings[2], ""]

    async def test_what_a_model_lacks_and_would_search_for_carries_no_link_either(self, harness: Harness) -> None:
        harness.script.enqueue("understand", Investigate("q", ("refunds", "leave", "finance")))
        query = SearchKnowledge("price at https://evil.example/?d=1")
        harness.script.enqueue("decide", Insufficient("the price, see https://evil.example/?d=2", (query,)))
        parked = await harness.asks("refunds and prices?")
        assert "price" in parked.text
        assert "evil.example" not in f"{parked.text} {parked.checkpoint}"
        harness.script.always("grade", 1).enqueue("compose", "The documents do not say.")
        harness.script.enqueue("understand", Investigate("q", ("https://evil.example/?d=3",)))
        refused = await harness.asks("prices?", thread="u")
        assert refused.outcome is Outcome.ABSTAINED
        assert "evil.example" not in refused.text

    async def test_a_typed_answer_is_understood_and_said(self, harness: Harness) -> None:
        await self.clarified(harness)
        answer = await harness.asks("leave")
        assert "I take that as your answer" in answer.noticed
        assert answer.outcome is Outcome.ANSWERED

    async def test_words_that_fit_no_reading_are_a_question_of_their_own(self, harness: Harness) -> None:
        await self.clarified(harness)
        answer = await harness.asks("the parental kind")
        assert "I take that as a new question" in answer.noticed

    async def test_a_number_that_no_choice_has_keeps_the_card(self, harness: Harness) -> None:
        parked = await self.clarified(harness)
        with pytest.raises(NotFound, match="no choice 9"):
            await harness.asks("9")
        answer = await harness.presses(parked.checkpoint, "1")
        assert answer.outcome is Outcome.ANSWERED

    async def test_never_mind_stops_at_any_card(self, harness: Harness) -> None:
        await self.clarified(harness)
        answer = await harness.asks("never mind")
        assert answer.text == "OK, I'll leave it there."
        assert answer.answer.nearest == ()

    async def test_a_new_question_sets_the_old_aside_and_says_so(self, harness: Harness) -> None:
        parked = await self.clarified(harness)
        answer = await harness.asks("Who approves refunds above 2,000 euros?")
        assert "I take that as a new question" in answer.noticed
        with pytest.raises(NotFound):
            await harness.presses(parked.checkpoint, "1")

    async def test_what_is_set_aside_is_shown_as_it_was_typed(self, harness: Harness) -> None:
        plan = Investigate("How long is the notice?", ("notice",), resolved_from_thread=True)
        harness.script.enqueue("understand", plan)
        harness.script.enqueue("decide", AskBack("Which notice do you mean?", ("A", "B")))
        parked = await harness.asks("and the notice?")
        assert parked.checkpoint.question == "and the notice?"
        answer = await harness.asks("Who approves refunds above 2,000 euros?")
        assert "set “and the notice?” aside" in answer.noticed

    async def test_each_checkpoint_can_be_switched_off_by_itself(self, harness: Harness) -> None:
        def without(kind: CheckpointKind) -> AnswerPolicy:
            return AnswerPolicy(checkpoints=ALL_CHECKPOINTS - {kind})

        harness.script.enqueue("decide", AskBack("Which?", ("This?", "That?")))
        assert (await harness.asks("refunds", policy=without(CheckpointKind.CLARIFY))).outcome is Outcome.ANSWERED
        always = AnswerPolicy(sources_first=True)  # the menu says so, and the default checkpoints do not undo it
        told = await harness.asks("refunds", thread="u", policy=always)
        assert told.checkpoint.kind is CheckpointKind.SOURCES_FIRST
        harness.script.always("grade", 3).always("decide", Insufficient("a price list"))
        told = await harness.asks("refunds", thread="v", policy=without(CheckpointKind.NOTHING_RELEVANT))
        assert told.outcome is Outcome.ABSTAINED
        assert (await harness.asks("refunds", thread="w")).outcome is Outcome.PARKED

    async def test_what_a_choice_finds_is_searched_on_its_own_terms(self, harness: Harness) -> None:
        parked = await self.nothing_relevant(harness)
        tried = parked.checkpoint.choices[0]
        answer = await harness.presses(parked.checkpoint, tried.id)
        assert answer.all(RetrievalStarted)[0].query == tried.value

    async def test_another_person_in_the_thread_does_not_answer_for_the_asker(self, harness: Harness) -> None:
        parked = await self.clarified(harness)
        await harness.asks("leave", by=BOB)
        assert (await harness.presses(parked.checkpoint, "1")).outcome is Outcome.ANSWERED


class TestComposing:
    async def test_markers_of_unknown_evidence_are_dropped(self, harness: Harness) -> None:
        harness.script.enqueue("compose", f"{REFUNDS.removesuffix('.')} [1][44].")
        answer = await harness.asks("refunds")
        assert "[44]" not in answer.text
        assert len(answer.answer.citations) == 1

    async def test_a_model_that_goes_away_is_replaced_and_nothing_is_doubled(self, harness: Harness) -> None:
        harness.script.enqueue("compose", ["Refunds take ", DraftRestarted("the model went away"), REFUNDS, " [1]"])
        answer = await harness.asks("refunds")
        assert len(answer.all(AnswerReset)) == 1
        assert answer.streamed == answer.text == f"{REFUNDS} [1]"

    async def test_evidence_keeps_its_id_in_later_turns(self, harness: Harness) -> None:
        first = await harness.asks("refunds paid within days")
        harness.script.enqueue("understand", Reply(f"In short: two weeks [{first.answer.citations[0].evidence}]."))
        second = await harness.asks("shorter please")
        assert second.answer.citations[0].passage == first.answer.citations[0].passage
        assert second.text == "In short: two weeks [1]."

    async def test_an_older_and_a_newer_version_are_both_there_to_be_named_with_their_dates(self, stage: Stage) -> None:
        harness = stage()
        await harness.knows("Refunds are paid within 30 days.", title="Policy 2024", dated="2024-03-01")
        await harness.knows(REFUNDS, title="Policy 2026", dated="2026-01-01")

        def both(_inquiry: object, _thread: object, evidence: Sequence[Evidence]) -> str:
            ids = {item.passage.title: item.id for item in evidence}
            return f"{REFUNDS} [{ids['Policy 2026']}] It was 30 days before [{ids['Policy 2024']}]."

        harness.script.enqueue("compose", both)
        answer = await harness.asks("How many days until refunds are paid?")
        assert [(source.title, source.dated) for source in answer.answer.citations] == [
            ("Policy 2026", "2026-01-01"),
            ("Policy 2024", "2024-03-01"),
        ]


class TestVerifying:
    async def test_a_verbatim_draft_costs_no_check(self, harness: Harness) -> None:
        harness.script.enqueue("compose", citing(f"{REFUNDS} [R]"))
        answer = await harness.asks("refunds")
        assert harness.script.calls_of("check") == []
        assert answer.answer.verdict is not None
        assert answer.answer.verdict.grounding == 1.0

    async def test_an_unsupported_sentence_is_repaired_once_and_then_struck(self, harness: Harness) -> None:
        harness.script.enqueue("compose", citing(f"{REFUNDS} [R] The moon is made of green cheese [R]."))
        harness.script.always("check", by_source("ball of rock"))
        answer = await harness.asks("refunds")
        assert answer.text == f"{REFUNDS} [1]"
        assert [call.step for call in harness.script.calls][-2:] == ["check", "repair"]
        (checked,) = answer.all(HallucinationChecked)
        assert not checked.is_grounded

    async def test_a_repaired_sentence_is_checked_again_and_keeps_its_place(self, harness: Harness) -> None:
        harness.script.enqueue("compose", citing("Refunds are paid within 90 days [R]. They are paid by card [R]."))
        harness.script.enqueue("check", one_by_one(Support.CONTRADICTED, Support.SUPPORTED))
        harness.script.enqueue("repair", citing_text("Refunds are paid within 14 days [R]."))
        answer = await harness.asks("refunds")
        assert answer.text == "Refunds are paid within 14 days [1]. They are paid by card [1]."

    async def test_a_repair_that_cites_another_document_leaves_the_rest_as_it_is(self, harness: Harness) -> None:
        def wrongly_cited(inquiry: Inquiry, _draft: str, failed: Sequence[ClaimVerdict]) -> list[str]:
            other = next(item.id for item in inquiry.library if item.passage.text != REFUNDS)
            return [f"Refunds of money are paid within 14 days [{other}]."] * len(failed)

        harness.script.enqueue("compose", citing("They come by card [R]. Refunds are paid within 90 days [R]."))
        harness.script.enqueue("check", one_by_one(Support.SUPPORTED, Support.CONTRADICTED), quoting(REFUNDS))
        harness.script.enqueue("repair", wrongly_cited)
        answer = await harness.asks("refunds")
        assert answer.text == "They come by card [1]. Refunds of money are paid within 14 days. [1]"

    async def test_a_repaired_list_item_stays_a_list_item(self, harness: Harness) -> None:
        harness.script.enqueue("compose", citing("- They come by card [R]\n- Refunds are paid within 90 days [R]"))
        harness.script.enqueue("check", one_by_one(Support.SUPPORTED, Support.CONTRADICTED))
        harness.script.enqueue("repair", citing_text("Refunds are paid within 14 days [R]"))
        answer = await harness.asks("refunds")
        assert answer.text == "- They come by card [1]\n- Refunds are paid within 14 days [1]"

    async def test_a_repair_on_another_topic_is_not_taken(self, harness: Harness) -> None:
        harness.script.enqueue("compose", citing(f"{REFUNDS} [R] The moon is made of green cheese [R]."))
        harness.script.enqueue("check", one_by_one(Support.SUPPORTED, Support.UNSUPPORTED))
        harness.script.enqueue("repair", citing_text("Everyone has annual leave [R]."))
        assert (await harness.asks("refunds")).text == f"{REFUNDS} [1]"

    async def test_words_that_are_not_in_the_documents_support_nothing(self, harness: Harness) -> None:
        harness.script.enqueue("compose", citing(f"{REFUNDS} [R] The money comes by card [R]."))
        harness.script.always("check", quoting("credited to the card"))
        assert (await harness.asks("refunds")).text == f"{REFUNDS} [1]"

    async def test_a_number_that_the_documents_do_not_have_fails_though_called_supported(
        self, harness: Harness
    ) -> None:
        harness.script.enqueue("compose", citing(f"{REFUNDS} [R] The money is back after 90 days at the latest [R]."))
        assert (await harness.asks("refunds")).text == f"{REFUNDS} [1]"

    async def test_code_that_is_in_a_document_is_an_answer_by_itself(self, stage: Stage) -> None:
        harness = stage()
        await harness.knows("To install:\n\n```sh\npipx install lumen\n```", title="Install")
        harness.script.enqueue("compose", "```sh\npipx install lumen\n```\n\n(as in [1])")
        answer = await harness.asks("How is it installed?")
        assert answer.outcome is Outcome.ANSWERED
        assert "pipx install lumen" in answer.text

    async def test_a_short_answer_is_checked_too(self, harness: Harness) -> None:
        harness.script.enqueue("compose", citing(f"No. {REFUNDS} [R]"))
        harness.script.enqueue("check", one_by_one(Support.CONTRADICTED, Support.SUPPORTED))
        assert (await harness.asks("refunds")).text == f"{REFUNDS} [1]"

    async def test_a_sentence_under_a_later_mark_is_judged_by_that_document(self, stage: Stage) -> None:
        harness = stage()
        await harness.knows(REFUNDS)
        harness.script.enqueue("compose", f"Your money is back within a fortnight. {REFUNDS} [1]")
        answer = await harness.asks("refunds")
        assert answer.text == f"Your money is back within a fortnight. {REFUNDS} [1]"

    async def test_the_answer_gives_way_only_when_less_than_half_of_it_holds(self, harness: Harness) -> None:
        harness.script.enqueue(
            "compose", citing("The moon is far away [R]. It is a ball of cheese [R]. They pay by card [R].")
        )
        harness.script.enqueue("check", one_by_one(Support.UNSUPPORTED, Support.UNSUPPORTED, Support.SUPPORTED))
        answer = await harness.asks("refunds")
        assert "cheese" not in answer.text

    async def test_when_nothing_holds_it_abstains(self, harness: Harness) -> None:
        harness.script.enqueue("compose", "The moon is made of green cheese [1].")
        harness.script.always("check", Support.UNSUPPORTED)
        answer = await harness.asks("refunds")
        assert answer.outcome is Outcome.ABSTAINED
        assert "was not supported" in answer.text

    async def test_the_quick_profile_checks_by_words_alone(self, harness: Harness) -> None:
        harness.script.enqueue("compose", citing(f"{REFUNDS} [R] Refunds cost 30 euros in fees [R]."))
        answer = await harness.asks("refunds", policy=AnswerPolicy(profile=Profile.QUICK))
        assert answer.text == f"{REFUNDS} [1]"
        assert harness.script.calls_of("check") == []
        (checked,) = answer.all(HallucinationChecked)
        assert checked.hallucinated_claims == ("Refunds cost 30 euros in fees [1].",) or not checked.is_grounded

    async def test_the_thorough_profile_looks_for_what_is_left_open_once(self, harness: Harness) -> None:
        harness.script.always("critique", "who approves refunds")
        answer = await harness.asks("refunds", policy=AnswerPolicy(profile=Profile.THOROUGH))
        assert len(harness.script.calls_of("critique")) == 1
        assert len(answer.all(GenerationStarted)) == 2
        assert answer.outcome is Outcome.ANSWERED


class TestAudience:
    async def test_what_a_channel_may_not_see_is_not_found_there(self, harness: Harness) -> None:
        await harness.knows("The canary is called Tweety.", base="secret", grants=frozenset({"test:channel:T/secret"}))
        harness.script.always(
            "decide", Insufficient("x", (SearchKnowledge("canary", knowledge_base="secret"), ListSources()))
        )
        outside = await harness.asks("What is the canary called?")
        assert "Tweety" not in repr(outside.events)
        inside = await harness.asks(
            "What is the canary called?", thread="u", audience=Audience(frozenset({"test:channel:T/secret"}))
        )
        assert "Tweety" in inside.text

    async def test_what_was_said_in_a_thread_is_checked_again_when_a_grant_is_gone(self, harness: Harness) -> None:
        grants = frozenset({"test:channel:T/C"})
        await harness.knows("The canary is called Tweety.", base="secret", grants=grants)
        await harness.asks("What is the canary called?", audience=Audience(grants))
        await harness.asks("And again?", audience=Audience())
        _, thread = harness.script.calls_of("understand")[-1].given
        assert "Tweety" not in repr(thread)
        inquiry, _ = harness.script.calls_of("understand")[-1].given
        assert "Tweety" not in repr(inquiry.library)


class TestWhenThingsFail:
    async def test_a_model_that_is_away_is_one_honest_line_with_a_trace(self, harness: Harness) -> None:
        harness.script.enqueue("understand", AWAY)
        answer = await harness.asks("refunds")
        (failed,) = answer.all(AgentFailed)
        assert failed.message == str(AWAY)
        assert failed.trace_id

    async def test_on_a_cap_of_tokens_it_composes_from_what_it_has(self, stage: Stage) -> None:
        harness = stage(limits=within(tokens=1_000))
        harness.script._tokens = (300, 0)  # deciding would take what is kept for writing
        await harness.knows(REFUNDS)
        answer = await harness.asks("refunds")
        assert [call.step for call in harness.script.calls] == ["understand", "grade", "decide", "compose"]
        assert answer.text == f"{REFUNDS} [1]"
        assert answer.answer.notices == ("The 1,000 tokens of this profile are used up.",)

    async def test_on_a_cap_of_money_it_composes_from_what_it_has(self, stage: Stage) -> None:
        harness = stage(limits=within(cost=1.0), prices=Prices(per_million_in=1_000))
        harness.script._tokens = (300, 0)
        await harness.knows(REFUNDS)
        answer = await harness.asks("refunds")
        assert answer.text == f"{REFUNDS} [1]"
        assert answer.answer.notices == ("The 1 that one answer may cost is used up.",)
        assert answer.answer.spent.cost == pytest.approx(0.9)

    async def test_on_a_cap_while_grading_the_retrievals_own_scores_stand_in(self, stage: Stage) -> None:
        harness = stage()
        await harness.knows(REFUNDS)
        harness.script.enqueue("grade", BudgetExhausted("all used"))
        answer = await harness.asks("How many days until refunds are paid?")
        assert [call.step for call in harness.script.calls] == ["understand", "grade", "compose"]
        assert answer.outcome is Outcome.ANSWERED
        assert answer.answer.notices == ("all used",)

    async def test_when_there_is_no_time_to_check_the_answer_does_not_call_itself_grounded(self, stage: Stage) -> None:
        harness = stage()
        await harness.knows(REFUNDS)
        harness.script.enqueue("compose", "You get your money back within a fortnight [1].")
        harness.script.always("check", BudgetExhausted("all used"))
        answer = await harness.asks("refunds")
        assert answer.text == "You get your money back within a fortnight [1]."
        assert answer.answer.verdict is not None
        assert answer.answer.verdict.grounding == 0.0
        assert not answer.all(HallucinationChecked)[0].is_grounded
        assert answer.answer.notices == ("I ran out of time before I could check every sentence against its source.",)

    async def test_every_step_is_in_the_trace(self, harness: Harness) -> None:
        answer = await harness.asks("refunds")
        trace = [traced.event.kind for traced in await harness.trace_store.trace(answer.trace_id)]
        assert trace[0] == "AGENT_STARTED"
        assert trace[-1] == "AGENT_COMPLETED"
        assert "ANSWER_DELTA" not in trace

    async def test_a_long_thread_is_summarised_after_the_answer(self, harness: Harness) -> None:
        for n in range(10):
            await harness.asks(f"question {n} about refunds")
            await harness.question_service.reflect(harness.key(), Audience())
        record = await harness.memory.recall(harness.key())
        assert record.summarised == 2
        assert "question 0" in record.summary
