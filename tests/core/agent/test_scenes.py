"""The agent as dialogue, with a scripted reasoner."""

from collections.abc import Callable, Sequence

import pytest

from core.answer import Claim, ClaimVerdict, Outcome, Support
from core.conversation import Audience
from core.errors import Denied, ModelUnavailable, NotFound
from core.events import (
    AgentFailed,
    AnswerReset,
    GenerationStarted,
    HallucinationChecked,
    QueryRefined,
    RetrievalCompleted,
    RetrievalStarted,
    RoutingDecided,
)
from core.evidence import Evidence
from core.inquiry import (
    AskBack,
    CheckpointKind,
    Conduct,
    Insufficient,
    Investigate,
    ListSources,
    Profile,
    ReadSection,
    Reply,
    SearchKnowledge,
    SearchSource,
)
from core.ports import Restarted
from tests.core.scene import BOB, Scene, Told, told, within

REFUNDS = "Refunds are paid within 14 days."
LEAVE = "Everyone has 27 days of annual leave."


def citing(draft: str) -> Callable[..., str]:
    """Compose this draft, with ``[R]`` for the evidence that holds the refund period."""

    def compose(_inquiry: object, _thread: object, evidence: Sequence[Evidence]) -> str:
        return draft.replace("[R]", "".join(f"[{item.id}]" for item in evidence if item.passage.text == REFUNDS))

    return compose


@pytest.fixture
async def scene() -> Scene:
    scene = Scene()
    await scene.knows(REFUNDS, "Refunds above 2,000 euros are approved by Finance.", title="Refund policy")
    await scene.knows(LEAVE, title="Leave")
    return scene


class TestUnderstanding:
    async def test_a_greeting_is_one_call_and_no_search(self, scene: Scene) -> None:
        scene.script.enqueue("understand", Reply("Hello!", "greeting"))
        answer = await scene.asks("hi")
        assert (answer.outcome, answer.text) == (Outcome.ANSWERED, "Hello!")
        assert answer.all(RetrievalStarted) == []
        assert [call.step for call in scene.script.calls] == ["understand"]

    async def test_unrelated_needs_are_searched_for_together(self, scene: Scene) -> None:
        scene.script.enqueue("understand", Investigate("Refunds, and leave?", ("refund days", "annual leave")))
        answer = await scene.asks("How long do refunds take, and how much leave is there?")
        assert [event.query for event in answer.all(RetrievalStarted)] == ["refund days", "annual leave"]
        assert {source.title for source in answer.answer.citations} == {"Refund policy", "Leave"}

    async def test_more_than_three_queries_are_cut_to_three(self, scene: Scene) -> None:
        scene.script.enqueue("understand", Investigate("q", ("a1", "b2", "c3", "d4", "a1")))
        answer = await scene.asks("everything?")
        (routing,) = answer.all(RoutingDecided)
        assert routing.queries == ("a1", "b2", "c3")

    async def test_a_question_back_without_readings_ends_the_turn(self, scene: Scene) -> None:
        scene.script.enqueue("understand", AskBack("Which one do you mean?"))
        assert (await scene.asks("what about it?")).outcome is Outcome.CLARIFIED

    async def test_the_thread_is_given_to_the_reasoner(self, scene: Scene) -> None:
        await scene.asks("How long do refunds take?")
        await scene.asks("And who approves them?")
        _, thread = scene.script.called("understand")[1].given
        assert [turn.question for turn in thread.turns] == ["How long do refunds take?"]
        assert thread.turns[0].citations


class TestGathering:
    async def test_the_same_query_is_never_run_twice(self, scene: Scene) -> None:
        scene.script.enqueue(
            "decide", Insufficient("more", (SearchKnowledge("REFUND  days"), SearchKnowledge("finance")))
        )
        scene.script.enqueue("understand", Investigate("q", ("refund days",)))
        answer = await scene.asks("How long do refunds take?")
        assert [event.query for event in answer.all(RetrievalStarted)] == ["refund days", "finance"]

    async def test_what_was_graded_is_not_graded_again(self, scene: Scene) -> None:
        scene.script.enqueue("decide", Insufficient("more", (SearchKnowledge("finance approves"),)))
        await scene.asks("refunds")
        graded = [item.id for call in scene.script.called("grade") for item in call.given[1]]
        assert len(graded) == len(set(graded))

    async def test_an_unknown_base_comes_back_as_an_error_to_act_on(self, scene: Scene) -> None:
        scene.script.enqueue("decide", Insufficient("x", (SearchKnowledge("leave", knowledge_base="hr"),)))
        answer = await scene.asks("refunds")
        notes = [event.note for event in answer.all(RetrievalCompleted)]
        assert "There is no knowledge base called 'hr'. There are: default." in notes

    async def test_a_source_is_searched_by_its_title(self, scene: Scene) -> None:
        scene.script.enqueue("understand", Investigate("q", ("days",)))
        scene.script.enqueue(
            "decide", Insufficient("x", (SearchSource("annual days", "leave"), SearchSource("x", "nope")))
        )
        answer = await scene.asks("days?")
        by_source, unknown = answer.all(RetrievalCompleted)[1:]
        assert by_source.sources == ("Leave",)
        assert "There is no source called 'nope'" in unknown.note

    async def test_sources_can_be_listed_and_a_section_read(self, scene: Scene) -> None:
        scene.script.enqueue("decide", Insufficient("x", (ListSources(), ReadSection(1), ReadSection(99))))
        answer = await scene.asks("refunds")
        listing, section, nothing = answer.all(RetrievalCompleted)[1:]
        assert "Leave; Refund policy" in listing.note or "Refund policy; Leave" in listing.note
        assert "now among the evidence" in section.note
        assert "no evidence [99]" in nothing.note

    async def test_the_searches_of_a_profile_are_a_hard_cap(self, scene: Scene) -> None:
        for n in range(20):
            scene.script.enqueue("decide", Insufficient("more", (SearchKnowledge(f"refunds {n}"),)))
        answer = await scene.asks("refunds", conduct=Conduct(checkpoints=frozenset(), profile=Profile.QUICK))
        assert answer.answer.spent.searches <= 3
        assert answer.outcome is Outcome.ANSWERED

    async def test_searches_that_bring_nothing_new_end_the_searching(self, scene: Scene) -> None:
        for n in range(20):
            scene.script.enqueue("decide", Insufficient("more", (SearchKnowledge(f"refunds {n}"),)))
        answer = await scene.asks("refunds leave", conduct=Conduct(checkpoints=frozenset(), profile=Profile.THOROUGH))
        assert answer.answer.spent.searches == 3

    async def test_a_convincing_first_search_needs_no_gates(self) -> None:
        scene = Scene(confident=0.0)
        await scene.knows(REFUNDS)
        await scene.asks("How long until refunds are paid?")
        assert [call.step for call in scene.script.calls] == ["understand", "compose"]


class TestDeciding:
    async def test_what_is_missing_becomes_the_next_query(self, scene: Scene) -> None:
        scene.script.enqueue("decide", Insufficient("who approves", (SearchKnowledge("finance approves"),)))
        answer = await scene.asks("refunds")
        (refined,) = answer.all(QueryRefined)
        assert (refined.refined, refined.reason) == ("finance approves", "who approves")

    async def test_nothing_at_all_is_said_plainly(self) -> None:
        answer = await Scene().asks("How long do refunds take?")
        assert answer.outcome is Outcome.ABSTAINED
        assert answer.text.startswith("The documents don't say. I searched for “How long do refunds take?”.")

    async def test_what_is_not_relevant_is_not_offered_as_an_answer(self, scene: Scene) -> None:
        scene.script.always("grade", 1)
        scene.script.always("decide", Insufficient("anything"))
        answer = await scene.asks("What is the weather on Mars?")
        assert answer.outcome is Outcome.ABSTAINED
        assert answer.answer.citations == ()
        assert {source.title for source in answer.answer.nearest} == {"Refund policy", "Leave"}

    async def test_a_draft_that_cites_nothing_known_is_not_an_answer(self, scene: Scene) -> None:
        scene.script.enqueue("compose", "Refunds take a year [77].")
        assert (await scene.asks("refunds")).outcome is Outcome.ABSTAINED


class TestCheckpoints:
    async def long_search(self, scene: Scene, **conduct: object) -> Told:
        scene.script.enqueue("understand", Investigate("q", ("refunds", "leave", "finance")))
        scene.script.enqueue("decide", Insufficient("the price", (SearchKnowledge("price"),)))
        return await scene.asks("refunds and prices?", conduct=Conduct(**conduct))  # type: ignore[arg-type]

    async def test_after_three_searches_a_person_chooses(self, scene: Scene) -> None:
        parked = await self.long_search(scene)
        assert parked.outcome is Outcome.PARKED
        checkpoint = parked.checkpoint
        assert checkpoint.kind is CheckpointKind.LONG_SEARCH
        assert [choice.label for choice in checkpoint.choices] == ["Keep searching", "Answer now", "Narrow it"]
        assert "the price" in checkpoint.message
        assert checkpoint.spent.searches == 3

    async def test_keeping_on_makes_the_search_that_was_next(self, scene: Scene) -> None:
        parked = await self.long_search(scene)
        answer = await scene.presses(parked.checkpoint, "Keep searching")
        assert [event.query for event in answer.all(RetrievalStarted)] == ["price"]
        assert answer.outcome is Outcome.ANSWERED
        assert answer.answer.spent.searches == 4

    async def test_answering_now_searches_no_more(self, scene: Scene) -> None:
        parked = await self.long_search(scene)
        answer = await scene.presses(parked.checkpoint, "answer")
        assert answer.all(RetrievalStarted) == []
        assert answer.outcome is Outcome.ANSWERED

    async def test_narrowing_searches_for_what_was_typed(self, scene: Scene) -> None:
        parked = await self.long_search(scene)
        answer = await scene.presses(parked.checkpoint, "narrow", text="only Finance")
        assert answer.all(RetrievalStarted)[0].query == "only Finance"

    async def test_a_checkpoint_that_is_switched_off_asks_nobody(self, scene: Scene) -> None:
        answer = await self.long_search(scene, checkpoints=frozenset())
        assert answer.outcome is Outcome.ANSWERED

    async def test_a_second_press_does_nothing(self, scene: Scene) -> None:
        parked = await self.long_search(scene)
        await scene.presses(parked.checkpoint, "answer")
        with pytest.raises(NotFound):
            await scene.presses(parked.checkpoint, "answer")

    async def test_a_stranger_cannot_choose(self, scene: Scene) -> None:
        parked = await self.long_search(scene)
        with pytest.raises(Denied):
            await scene.presses(parked.checkpoint, "answer", by=BOB)

    async def test_when_nobody_chooses_it_answers_with_what_it_has(self, scene: Scene) -> None:
        parked = await self.long_search(scene)
        scene.clock.advance(31 * 60)
        assert list(await scene.checkpoints.due(scene.clock.now())) == [parked.checkpoint.id]
        answer = await told(scene.assistant.expire(parked.checkpoint.id))
        assert answer.outcome is Outcome.ANSWERED
        assert list(await scene.checkpoints.due(scene.clock.now())) == []

    async def nothing_relevant(self, scene: Scene) -> Told:
        scene.script.always("grade", 3)
        scene.script.always("decide", Insufficient("a price list"))
        return await scene.asks("What does it cost?")

    async def test_weak_evidence_is_offered_with_terms_to_try(self, scene: Scene) -> None:
        parked = await self.nothing_relevant(scene)
        checkpoint = parked.checkpoint
        assert checkpoint.kind is CheckpointKind.NOTHING_RELEVANT
        labels = [choice.label for choice in checkpoint.choices]
        assert len([label for label in labels if label.startswith("Try “")]) == 2
        assert labels[-2:] == ["Answer with caveats", "Stop"]

    async def test_caveats_answer_from_weak_evidence_and_say_so(self, scene: Scene) -> None:
        parked = await self.nothing_relevant(scene)
        answer = await scene.presses(parked.checkpoint, "caveats")
        assert answer.outcome is Outcome.ANSWERED
        inquiry, *_ = scene.script.called("compose")[0].given
        assert inquiry.caveats

    async def test_stopping_is_an_end_too(self, scene: Scene) -> None:
        parked = await self.nothing_relevant(scene)
        answer = await scene.presses(parked.checkpoint, "stop")
        assert answer.outcome is Outcome.ABSTAINED

    async def test_sources_come_first_where_the_person_wants_them(self, scene: Scene) -> None:
        scene.script.enqueue("understand", Investigate("refunds", ("refunds",), sources_first=True))
        parked = await scene.asks("show me the sources on refunds first")
        assert parked.checkpoint.kind is CheckpointKind.SOURCES_FIRST
        shown = await scene.presses(parked.checkpoint, "Show sources")
        assert [source.n for source in shown.answer.citations] == [1, 2, 3]
        answer = await scene.presses(shown.checkpoint, "Answer")
        assert answer.outcome is Outcome.ANSWERED

    async def clarified(self, scene: Scene) -> Told:
        options = ("How long do refunds take?", "How many days of leave are there?")
        scene.script.enqueue("decide", AskBack("Which days do you mean?", options))
        return await scene.asks("how many days?")

    async def test_readings_are_choices(self, scene: Scene) -> None:
        parked = await self.clarified(scene)
        assert parked.outcome is Outcome.CLARIFIED
        assert len(parked.checkpoint.choices) == 3
        answer = await scene.presses(parked.checkpoint, "2")
        assert answer.all(RetrievalStarted)[0].query == "How many days of leave are there?"

    async def test_a_typed_answer_is_understood_and_said(self, scene: Scene) -> None:
        await self.clarified(scene)
        answer = await scene.asks("leave")
        assert "I take that as your answer" in answer.noticed
        assert answer.outcome is Outcome.ANSWERED

    async def test_a_new_question_sets_the_old_aside_and_says_so(self, scene: Scene) -> None:
        parked = await self.clarified(scene)
        answer = await scene.asks("Who approves refunds above 2,000 euros?")
        assert "I take that as a new question" in answer.noticed
        with pytest.raises(NotFound):
            await scene.presses(parked.checkpoint, "1")

    async def test_another_person_in_the_thread_does_not_answer_for_the_asker(self, scene: Scene) -> None:
        parked = await self.clarified(scene)
        await scene.asks("leave", by=BOB)
        assert (await scene.presses(parked.checkpoint, "1")).outcome is Outcome.ANSWERED


class TestComposing:
    async def test_markers_of_unknown_evidence_are_dropped(self, scene: Scene) -> None:
        scene.script.enqueue("compose", f"{REFUNDS.removesuffix('.')} [1][44].")
        answer = await scene.asks("refunds")
        assert "[44]" not in answer.text
        assert len(answer.answer.citations) == 1

    async def test_a_model_that_goes_away_is_replaced_and_nothing_is_doubled(self, scene: Scene) -> None:
        scene.script.enqueue("compose", ["Refunds take ", Restarted("the model went away"), REFUNDS, " [1]"])
        answer = await scene.asks("refunds")
        assert len(answer.all(AnswerReset)) == 1
        assert answer.streamed == answer.text == f"{REFUNDS} [1]"

    async def test_evidence_keeps_its_id_in_later_turns(self, scene: Scene) -> None:
        first = await scene.asks("refunds paid within days")
        scene.script.enqueue("understand", Reply(f"In short: two weeks [{first.answer.citations[0].evidence}]."))
        second = await scene.asks("shorter please")
        assert second.answer.citations[0].passage == first.answer.citations[0].passage
        assert second.text == "In short: two weeks [1]."


class TestVerifying:
    async def test_a_verbatim_draft_costs_no_check(self, scene: Scene) -> None:
        scene.script.enqueue("compose", citing(f"{REFUNDS} [R]"))
        answer = await scene.asks("refunds")
        assert scene.script.called("check") == []
        assert answer.answer.verdict is not None
        assert answer.answer.verdict.grounding == 1.0

    async def test_an_unsupported_sentence_is_searched_for_once_and_then_struck(self, scene: Scene) -> None:
        scene.script.enqueue("compose", citing(f"{REFUNDS} [R] The moon is made of green cheese [R]."))
        scene.script.always("check", Support.UNSUPPORTED)
        answer = await scene.asks("refunds")
        assert answer.text == f"{REFUNDS} [1]"
        assert [event.query for event in answer.all(RetrievalStarted)][1:] == ["The moon is made of green cheese."]
        (checked,) = answer.all(HallucinationChecked)
        assert not checked.is_grounded

    async def test_a_contradicted_sentence_is_corrected(self, scene: Scene) -> None:
        def correct(_inquiry: object, claims: tuple[Claim, ...]) -> list[ClaimVerdict]:
            return [ClaimVerdict(claim, Support.CONTRADICTED, correction=REFUNDS) for claim in claims]

        scene.script.enqueue("compose", citing("Refunds are paid within 90 days [R]."))
        scene.script.enqueue("check", correct)
        assert (await scene.asks("refunds")).text == f"{REFUNDS} [1]"

    async def test_when_nothing_holds_it_abstains(self, scene: Scene) -> None:
        scene.script.enqueue("compose", "The moon is made of green cheese [1].")
        scene.script.always("check", Support.UNSUPPORTED)
        answer = await scene.asks("refunds")
        assert answer.outcome is Outcome.ABSTAINED
        assert "did not hold" in answer.text

    async def test_the_quick_profile_checks_nothing(self, scene: Scene) -> None:
        scene.script.enqueue("compose", "Refunds take about a fortnight or so [1].")
        answer = await scene.asks("refunds", conduct=Conduct(profile=Profile.QUICK))
        assert answer.all(HallucinationChecked) == []
        assert answer.answer.verdict is None

    async def test_the_thorough_profile_looks_for_what_is_left_open_once(self, scene: Scene) -> None:
        scene.script.always("critique", "who approves refunds")
        answer = await scene.asks("refunds", conduct=Conduct(profile=Profile.THOROUGH))
        assert len(scene.script.called("critique")) == 1
        assert len(answer.all(GenerationStarted)) == 2
        assert answer.outcome is Outcome.ANSWERED


class TestAudience:
    async def test_what_a_channel_may_not_see_is_not_found_there(self, scene: Scene) -> None:
        await scene.knows("The canary is called Tweety.", base="secret", grants=frozenset({"test:channel:T/secret"}))
        scene.script.always(
            "decide", Insufficient("x", (SearchKnowledge("canary", knowledge_base="secret"), ListSources()))
        )
        outside = await scene.asks("What is the canary called?")
        assert "Tweety" not in repr(outside.events)
        inside = await scene.asks(
            "What is the canary called?", thread="u", audience=Audience(frozenset({"test:channel:T/secret"}))
        )
        assert "Tweety" in inside.text

    async def test_what_was_said_in_a_thread_is_checked_again_when_a_grant_is_gone(self, scene: Scene) -> None:
        grants = frozenset({"test:channel:T/C"})
        await scene.knows("The canary is called Tweety.", base="secret", grants=grants)
        await scene.asks("What is the canary called?", audience=Audience(grants))
        await scene.asks("And again?", audience=Audience())
        _, thread = scene.script.called("understand")[-1].given
        assert "Tweety" not in repr(thread)
        inquiry, _ = scene.script.called("understand")[-1].given
        assert "Tweety" not in repr(inquiry.library)


class TestWhenThingsFail:
    async def test_a_model_that_is_away_is_one_honest_line_with_a_trace(self, scene: Scene) -> None:
        scene.script.enqueue("understand", ModelUnavailable("The model does not answer.", remedy="Try again soon."))
        answer = await scene.asks("refunds")
        (failed,) = answer.all(AgentFailed)
        assert failed.message == "The model does not answer. Try again soon."
        assert failed.trace_id

    async def test_when_the_tokens_are_used_it_answers_with_what_it_has(self) -> None:
        scene = Scene(limits=within(tokens=1_000))
        scene.script._tokens = (400, 0)
        await scene.knows(REFUNDS)
        answer = await scene.asks("refunds")
        assert answer.answer.spent.tokens <= 1_000

    async def test_every_step_is_in_the_trace(self, scene: Scene) -> None:
        answer = await scene.asks("refunds")
        trace = [traced.event.kind for traced in await scene.journal.trace(answer.trace_id)]
        assert trace[0] == "AGENT_STARTED"
        assert trace[-1] == "AGENT_COMPLETED"
        assert "ANSWER_DELTA" not in trace

    async def test_a_long_thread_is_summarised_after_the_answer(self, scene: Scene) -> None:
        for n in range(10):
            await scene.asks(f"question {n} about refunds")
            await scene.assistant.reflect(scene.key())
        record = await scene.memory.recall(scene.key())
        assert record.summarised == 2
        assert "question 0" in record.summary
