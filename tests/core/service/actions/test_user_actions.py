"""Actions of people apart from asking."""

from dataclasses import replace

import pytest

from core.model.channel_settings import ChannelSettings, ChosenSettings, ReplyStyle
from core.model.conversation import Audience, Person
from core.model.errors import AlreadyDone, Denied, NotFound
from core.model.inquiry import CheckpointKind
from core.model.profile import Behaviour, Profile
from core.model.records import QuestionState
from core.ports.message_state import CancelReason
from core.service.actions.user_actions import UserActions
from core.service.actions.wording import (
    STAYS,
    ActionOutcome,
    PersonForgotten,
    ThreadForgotten,
    ThreadMuted,
    explanation_text,
    outcome_text,
)
from core.service.disputes.decisions import DisputeReports
from tests.core.harness import ALICE, BOB, Harness
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.proposal_store import InProcessProposalStore
from tests.fakes.memory.stores import InProcessAudit, InProcessChannelSettingsStore, InProcessFeedbackStore

OPEN = Audience(frozenset({"everyone"}))


class Counter:
    """Actions on the answers of one test."""

    def __init__(self) -> None:
        self.harness = Harness()
        self.feedback = InProcessFeedbackStore(self.harness.state)
        self.audit = InProcessAudit()
        self.settings_store = InProcessChannelSettingsStore()
        self.proposal_store = InProcessProposalStore(self.harness.state)
        self.user_actions = UserActions.build(
            memory=self.harness.memory,
            trace_store=self.harness.trace_store,
            catalog=self.harness.catalog,
            feedback=self.feedback,
            settings_store=self.settings_store,
            audit=self.audit,
            inbox=InProcessInbox(self.harness.state),
            message_states=InProcessMessageStateStore(self.harness.state),
            checkpoints=self.harness.checkpoints,
            defaults=ChannelSettings(),
            disputes=DisputeReports(self.proposal_store, self.harness.clock),
        )


@pytest.fixture
async def counter() -> Counter:
    counter = Counter()
    await counter.harness.knows(
        "Refunds are paid within 14 days.", title="Refund policy", grants=frozenset({"everyone"})
    )
    return counter


async def asked(counter: Counter, asker: Person = ALICE) -> str:
    told = await counter.harness.asks("How long do refunds take?", by=asker, audience=OPEN)
    return told.trace_id


async def test_why_is_told_to_those_who_may_read_the_answer(counter: Counter) -> None:
    await asked(counter)
    thread = next(iter(counter.harness.state.threads))
    key = counter.harness.key("t")
    assert str(key) == thread
    told = await counter.user_actions.answers.explain(key, OPEN)
    assert any(step.startswith("I searched “") for step in told.steps)
    assert explanation_text(told).splitlines()[0] == "“How long do refunds take?”"
    assert explanation_text(told).splitlines()[-1] == f"• Trace {told.trace_id}."
    with pytest.raises(NotFound):
        await counter.user_actions.answers.explain(key, Audience(frozenset({"stranger"})))


async def test_quotes_are_withheld_from_who_may_not_read_their_base(counter: Counter) -> None:
    trace = await asked(counter)
    shown = await counter.user_actions.answers.quotes(counter.harness.key("t"), trace, OPEN)
    assert [source.quote for source in shown.citations] == ["Refunds are paid within 14 days."]
    hidden = await counter.user_actions.answers.quotes(
        counter.harness.key("t"), trace, Audience(frozenset({"stranger"}))
    )
    assert hidden.citations == ()
    assert hidden.withheld == 1


async def test_a_forged_trace_finds_nothing(counter: Counter) -> None:
    await asked(counter)
    with pytest.raises(NotFound):
        await counter.user_actions.answers.quotes(counter.harness.key("t"), "0123456789abcdef", OPEN)
    with pytest.raises(NotFound):
        await counter.user_actions.answers.rate(counter.harness.key("t"), "0123456789abcdef", ALICE, helpful=True)


async def test_only_who_asked_everything_or_an_admin_makes_it_forget_a_thread(counter: Counter) -> None:
    await asked(counter)
    with pytest.raises(Denied):
        await counter.user_actions.memory.forget_thread(counter.harness.key("t"), BOB, is_admin=False)
    outcome = await counter.user_actions.memory.forget_thread(counter.harness.key("t"), BOB, is_admin=True)
    assert (outcome, "deleted" in outcome_text(outcome)) == (ThreadForgotten(was_kept=True), True)
    assert [(entry.actor, entry.allowed) for entry in await counter.audit.recent()] == [(BOB.id, True), (BOB.id, False)]


async def test_settings_of_who_is_no_admin_are_refused_and_on_record(counter: Counter) -> None:
    settings, chosen = counter.user_actions.settings, ChosenSettings(profile=Profile.QUICK, sources_first=True)
    with pytest.raises(Denied):
        await settings.save("p", chosen, ALICE, OPEN, is_admin=False)
    assert (await settings.effective_settings("p")).policy.profile is Profile.BALANCED
    assert not (await counter.audit.recent())[0].allowed
    with pytest.raises(Denied):
        await settings.require_admin(ALICE, "p", is_admin=False)
    assert [entry.allowed for entry in await counter.audit.recent()] == [False, False]


async def test_settings_come_back_as_they_were_chosen_within_bounds(counter: Counter) -> None:
    await counter.harness.knows("Secret.", base="secret", grants=frozenset({"board"}))
    chosen = ChosenSettings(
        bases=frozenset({"default", "secret", "not there"}),
        profile=Profile.QUICK,
        behaviour=Behaviour.CONSERVATIVE,
        checkpoints=frozenset({CheckpointKind.CLARIFY}),
        sources_first=True,
        reply_style=ReplyStyle.PRIVATE,
        languages=("German ", "", "x" * 99),
        handoff=" S0HELP ",
    )
    applies = await counter.user_actions.settings.save("p", chosen, ALICE, OPEN, is_admin=True)
    assert applies == await counter.user_actions.settings.effective_settings("p")
    assert applies.bases == frozenset({"default"})
    assert applies.policy.checkpoints == frozenset({CheckpointKind.CLARIFY})
    assert applies.policy.sources_first
    assert applies.policy.languages == ("German", "x" * 40)
    assert applies.reply_style is ReplyStyle.PRIVATE
    assert applies.handoff == "S0HELP"


async def test_what_is_chosen_for_a_channel_stands_over_what_is_chosen_for_its_category(counter: Counter) -> None:
    settings = counter.user_actions.settings
    await settings.store.write("category", ChosenSettings(profile=Profile.QUICK, handoff="S0"))
    await settings.store.write("channel", ChosenSettings(profile=Profile.THOROUGH))
    applies = await settings.effective_settings("category", "channel")
    assert (applies.policy.profile, applies.handoff) == (Profile.THOROUGH, "S0")


def test_what_the_first_version_kept_of_settings_still_reads() -> None:
    kept = {
        "profile": "quick",
        "bases": "*",
        "checkpoints": "clarify,nonsense",
        "languages": "de, fr",
        "behaviour": "?",
    }
    assert ChosenSettings.from_mapping(kept) == ChosenSettings(
        profile=Profile.QUICK, checkpoints=frozenset({CheckpointKind.CLARIFY}), languages=("de", "fr")
    )


async def test_a_shelf_counts_only_what_its_reader_may_see(counter: Counter) -> None:
    await counter.harness.knows("Secret.", base="secret", grants=frozenset({"board"}))
    assert [(one.base.name, one.documents) for one in await counter.user_actions.overview.knowledge_bases(OPEN)] == [
        ("default", 1)
    ]


async def nobody_is_admin() -> bool:
    return False


async def everybody_is_admin() -> bool:
    return True


async def nobody_asks() -> bool:
    raise AssertionError("who may anyway is not looked up")


async def test_who_asked_or_an_admin_stops_a_question_while_it_is_worked_on(counter: Counter) -> None:
    key, stores = counter.harness.key("t"), counter.user_actions.questions.message_states
    question = QuestionState(thread=key, message="m1", asker=ALICE.id, settled_by="earlier")
    with pytest.raises(NotFound):
        await counter.user_actions.questions.stop(question, ALICE, nobody_asks)
    await stores.save(question)
    with pytest.raises(Denied):
        await counter.user_actions.questions.stop(question, BOB, nobody_is_admin)
    assert await stores.take_cancel(str(key), "m1") is None
    for person, is_admin in ((ALICE, nobody_asks), (BOB, everybody_is_admin)):
        await counter.user_actions.questions.stop(question, person, is_admin)
        assert await stores.take_cancel(str(key), "m1") is CancelReason.STOPPED
    await stores.save(replace(question, outcome="answered"))
    with pytest.raises(NotFound):
        await counter.user_actions.questions.stop(question, ALICE, nobody_asks)
    assert [(entry.action, entry.allowed) for entry in await counter.audit.recent()] == [("stop", False)]


async def test_an_answer_is_handed_over_once_unless_the_call_fails(counter: Counter) -> None:
    key, trace = counter.harness.key("t"), await asked(counter)
    with pytest.raises(ConnectionError):
        async with counter.user_actions.answers.hand_over(key, trace, BOB, OPEN):
            raise ConnectionError
    async with counter.user_actions.answers.hand_over(key, trace, BOB, OPEN) as turn:
        assert turn.trace_id == trace
        with pytest.raises(AlreadyDone):
            async with counter.user_actions.answers.hand_over(key, trace, ALICE, OPEN):
                pass
    with pytest.raises(AlreadyDone):
        async with counter.user_actions.answers.hand_over(key, trace, ALICE, OPEN):
            pass
    with pytest.raises(NotFound):
        async with counter.user_actions.answers.hand_over(key, trace, ALICE, Audience(frozenset({"stranger"}))):
            pass


async def test_only_who_asked_shares_an_answer_and_only_with_who_may_read_it(counter: Counter) -> None:
    key, trace = counter.harness.key("t"), await asked(counter)

    async def open_channel() -> Audience:
        return OPEN

    async def closed_channel() -> Audience:
        return Audience(frozenset({"stranger"}))

    with pytest.raises(Denied):
        async with counter.user_actions.answers.share(key, trace, BOB, open_channel):
            pass
    with pytest.raises(NotFound):
        async with counter.user_actions.answers.share(key, trace, ALICE, closed_channel):
            pass
    async with counter.user_actions.answers.share(key, trace, ALICE, open_channel) as turn:
        assert turn.answer
    with pytest.raises(AlreadyDone):
        async with counter.user_actions.answers.share(key, trace, ALICE, open_channel):
            pass
    assert [(entry.action, entry.actor) for entry in await counter.audit.recent()] == [("share", BOB.id)]


async def test_people_are_counted_by_their_last_word_and_not_presses(counter: Counter) -> None:
    trace, thread, act = await asked(counter), counter.harness.key("t"), counter.user_actions
    for person, helpful in ((ALICE, False), (ALICE, False), (BOB, True), (ALICE, True), (ALICE, True)):
        await act.answers.rate(thread, trace, person, helpful=helpful)
    counts = await counter.harness.trace_store.counts()
    assert (counts.helpful, counts.unhelpful) == (2, 0)
    await act.answers.rate(thread, trace, BOB, helpful=False)
    counts = await counter.harness.trace_store.counts()
    assert (counts.helpful, counts.unhelpful) == (1, 1)


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (
            ThreadMuted(muted=True),
            "I now stay silent in this thread. To bring me back, write `unmute` there or mention me.",
        ),
        (ThreadMuted(muted=False), "I answer in this thread again."),
        (ThreadForgotten(was_kept=False), "I have nothing stored about this thread."),
        (
            PersonForgotten(1),
            f"I have deleted everything you asked me (1 question) and my answers. {STAYS}",
        ),
        (
            PersonForgotten(7),
            f"I have deleted everything you asked me (7 questions) and my answers. {STAYS}",
        ),
    ],
)
def test_an_outcome_reads_the_same_in_every_client(outcome: ActionOutcome, text: str) -> None:
    assert outcome_text(outcome) == text


async def test_what_is_done_to_memory_is_told_as_data(counter: Counter) -> None:
    memory, thread = counter.user_actions.memory, counter.harness.key("t")
    await asked(counter)
    assert await memory.mute(thread, muted=True) == ThreadMuted(muted=True)
    assert await memory.forget_thread(counter.harness.key("elsewhere"), ALICE, is_admin=False) == ThreadForgotten(
        was_kept=False
    )
    assert await memory.forget_person(ALICE) == PersonForgotten(1)
    assert await memory.forget_person(ALICE) == PersonForgotten(0)
