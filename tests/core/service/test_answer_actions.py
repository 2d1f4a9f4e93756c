"""What people do beside asking, over the ports."""

import pytest

from adapters.testing.inbox import InProcessInbox
from adapters.testing.message_state import InProcessMessageStateStore
from adapters.testing.stores import InProcessAudit, InProcessChannelSettingsStore, InProcessFeedbackStore
from core.model.channel_settings import ChannelSettings, ChosenSettings, ReplyStyle
from core.model.conversation import Audience, Person
from core.model.errors import Denied, NotFound
from core.model.inquiry import Behaviour, CheckpointKind, Profile
from core.service.answer_actions import AnswerActions
from tests.core.scene import ALICE, BOB, Scene

OPEN = Audience(frozenset({"everyone"}))


class Counter:
    """Answer actions over one scene."""

    def __init__(self) -> None:
        self.scene = Scene()
        self.feedback = InProcessFeedbackStore(self.scene.state)
        self.audit = InProcessAudit()
        self.preferences = InProcessChannelSettingsStore()
        self.answer_actions = AnswerActions(
            memory=self.scene.memory,
            trace_store=self.scene.trace_store,
            catalog=self.scene.catalog,
            feedback=self.feedback,
            preferences=self.preferences,
            audit=self.audit,
            inbox=InProcessInbox(self.scene.state),
            message_states=InProcessMessageStateStore(self.scene.state),
            checkpoints=self.scene.checkpoints,
            defaults=ChannelSettings(),
        )


@pytest.fixture
async def counter() -> Counter:
    counter = Counter()
    await counter.scene.knows("Refunds are paid within 14 days.", title="Refund policy", grants=frozenset({"everyone"}))
    return counter


async def asked(counter: Counter, asker: Person = ALICE) -> str:
    told = await counter.scene.asks("How long do refunds take?", by=asker, audience=OPEN)
    return told.trace_id


async def test_why_is_told_to_those_who_may_read_the_answer(counter: Counter) -> None:
    await asked(counter)
    thread = next(iter(counter.scene.state.threads))
    key = counter.scene.key("t")
    assert str(key) == thread
    assert "I searched" in await counter.answer_actions.why(key, OPEN)
    with pytest.raises(NotFound):
        await counter.answer_actions.why(key, Audience(frozenset({"stranger"})))


async def test_quotes_are_withheld_from_who_may_not_read_their_base(counter: Counter) -> None:
    trace = await asked(counter)
    shown = await counter.answer_actions.quotes(counter.scene.key("t"), trace, OPEN)
    assert [source.quote for source in shown.citations] == ["Refunds are paid within 14 days."]
    hidden = await counter.answer_actions.quotes(counter.scene.key("t"), trace, Audience(frozenset({"stranger"})))
    assert hidden.citations == ()
    assert hidden.withheld == 1


async def test_a_forged_trace_finds_nothing(counter: Counter) -> None:
    await asked(counter)
    with pytest.raises(NotFound):
        await counter.answer_actions.quotes(counter.scene.key("t"), "0123456789abcdef", OPEN)
    with pytest.raises(NotFound):
        await counter.answer_actions.rate(counter.scene.key("t"), "0123456789abcdef", ALICE, helpful=True)


async def test_only_who_asked_everything_or_an_admin_makes_it_forget_a_thread(counter: Counter) -> None:
    await asked(counter)
    with pytest.raises(Denied):
        await counter.answer_actions.forget_thread(counter.scene.key("t"), BOB, is_admin=False)
    assert "forgotten" in await counter.answer_actions.forget_thread(counter.scene.key("t"), BOB, is_admin=True)
    assert [(entry.actor, entry.allowed) for entry in await counter.audit.recent()] == [(BOB.id, True), (BOB.id, False)]


async def test_settings_of_who_is_no_admin_are_refused_and_on_record(counter: Counter) -> None:
    settings, chosen = counter.answer_actions.place_settings, ChosenSettings(profile=Profile.QUICK, sources_first=True)
    with pytest.raises(Denied):
        await settings.save("p", chosen, ALICE, OPEN, is_admin=False)
    assert (await settings.applying("p")).conduct.profile is Profile.BALANCED
    assert not (await counter.audit.recent())[0].allowed
    with pytest.raises(Denied):
        await settings.require_admin(ALICE, "p", is_admin=False)
    assert [entry.allowed for entry in await counter.audit.recent()] == [False, False]


async def test_settings_come_back_as_they_were_chosen_within_bounds(counter: Counter) -> None:
    await counter.scene.knows("Secret.", base="secret", grants=frozenset({"board"}))
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
    applies = await counter.answer_actions.place_settings.save("p", chosen, ALICE, OPEN, is_admin=True)
    assert applies == await counter.answer_actions.place_settings.applying("p")
    assert applies.bases == frozenset({"default"})
    assert applies.conduct.checkpoints == frozenset({CheckpointKind.CLARIFY})
    assert applies.conduct.sources_first
    assert applies.conduct.languages == ("German", "x" * 40)
    assert applies.reply_style is ReplyStyle.PRIVATE
    assert applies.handoff == "S0HELP"


async def test_what_is_chosen_for_a_channel_stands_over_what_is_chosen_for_its_category(counter: Counter) -> None:
    settings = counter.answer_actions.place_settings
    await settings.store.write("category", ChosenSettings(profile=Profile.QUICK, handoff="S0"))
    await settings.store.write("channel", ChosenSettings(profile=Profile.THOROUGH))
    applies = await settings.applying("category", "channel")
    assert (applies.conduct.profile, applies.handoff) == (Profile.THOROUGH, "S0")


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
    await counter.scene.knows("Secret.", base="secret", grants=frozenset({"board"}))
    assert [(one.base.name, one.documents) for one in await counter.answer_actions.knowledge_bases(OPEN)] == [
        ("default", 1)
    ]
