"""People's answers: asking for consent, the buttons, and confirmation over time."""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from core.ingestion.originals import Material
from core.model.answer import Outcome
from core.model.conversation import Person, ThreadKey, Turn
from core.model.document_content import Conversation, TranscriptMessage
from core.model.errors import AlreadyDone, Denied, NotFound, PlatformUnavailable
from core.model.incoming_events import IncomingMessage, ReplyTarget
from core.model.jobs import Job, JobItem
from core.model.person_answers import (
    AnswerState,
    Confirmation,
    LastCall,
    Offer,
    OfferAction,
    PersonAnswer,
    answer_markdown,
    answer_source,
    is_answer,
)
from core.service.kb.commands import KbVerb
from core.service.kb.item_sources import ItemSources
from core.service.kb.results import Refused
from core.service.person_answers import QUIET_SECONDS, OfferPress, PersonAnswers
from tests.core.service.kb.knowledge_room import ADMIN, GRACE, Room
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.stores import InProcessMemory, InProcessState

THREAD = ThreadKey("paper", "T", "C", "1.5")
SOURCE = "paper/T/C/1.5"
ALICE, BOB = Person("paper:alice", "Alice"), Person("paper:bob", "Bob")
QUESTION = "How many jobs a day does the build server take?"
ANSWER = "The build server takes 40 jobs a day."
TRACE = "0123456789abcdef"


@dataclass
class RecordedOffers:
    """What was asked, and what fails."""

    asked: list[Offer] = field(default_factory=list)
    away: bool = False
    refused: bool = False

    async def ask(self, offer: Offer) -> None:
        if self.away:
            raise PlatformUnavailable("Paper is out.")
        if self.refused:
            raise Denied("They have left the channel.")
        self.asked.append(offer)


class CalledRoom(Room):
    """An installation with a thread in which Alice pressed *Ask a person*."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock(datetime(2026, 1, 5, 9, tzinfo=UTC))
        self.inbox = InProcessInbox(clock=self.clock)
        self.assemble()
        self.state = InProcessState()
        self.states = self.message_states = InProcessMessageStateStore(self.state)
        self.thread_memory = self.memory = InProcessMemory(self.state)
        self.offers = RecordedOffers()
        self.lent["paper"] = replace(self.platform.capabilities(), offers=self.offers)
        self.wire()

    @property
    def answers(self) -> PersonAnswers:
        assert self.person_answers is not None
        return self.person_answers

    async def is_called(self) -> None:
        turn = Turn(QUESTION, "I couldn't find this.", Outcome.ABSTAINED, ALICE, self.clock.now(), TRACE)
        await self.thread_memory.remember(THREAD, turn, [])
        await self.states.save(PersonAnswer(id=TRACE, thread=THREAD, asker=ALICE.id, caller=ALICE.id))
        await self.states.save(LastCall(thread=THREAD, asker=ALICE.id, trace=TRACE))
        await self.says(KbVerb.CREATE, base="handbook")

    def writes(self, *said: tuple[str, str, str]) -> None:
        """The thread as the platform has it: (id, author, text)."""
        at = datetime(2026, 1, 5, 9, tzinfo=UTC)
        messages = tuple(TranscriptMessage(author, at, text, name) for name, author, text in said)
        self.platform.conversations_[str(THREAD)] = Conversation(SOURCE, QUESTION, messages, "https://paper.example/1")

    async def hears(self, by: Person, text: str, name: str = "1.6", **more: Any) -> None:
        target = ReplyTarget(channel="C")
        await self.answers.hear(IncomingMessage(name, THREAD, text, by, target, **more))

    async def is_answered(self) -> Offer:
        self.writes(("1.6", "Bob", ANSWER))
        await self.hears(BOB, ANSWER)
        await self.hears(ALICE, "thanks, that works", "1.7")
        return self.offers.asked[-1]

    async def presses(self, action: OfferAction, by: Person = BOB, *, public: bool = True) -> str:
        name = self.offers.asked[-1].id if self.offers.asked else TRACE
        press = OfferPress(action, name, self.caller(by), frozenset({"handbook"}), public)
        return await self.answers.press(press)

    async def is_kept(self) -> None:
        await self.is_answered()
        await self.presses(OfferAction.KEEP)
        (proposal,) = await self.proposal_store.proposals()
        await self.says(KbVerb.APPROVE, target=proposal.id)
        await self.works()

    async def texts(self) -> str:
        return "\n".join(await self.finds_text(QUESTION, "handbook"))

    async def headings(self) -> set[str]:
        found = await self.retriever.search(QUESTION, self.scope("handbook"))
        return {hit.passage.heading[-1] for hit in found.hits}

    async def days_pass(self, days: int) -> None:
        self.clock.advance(days * 86_400)
        await self.scheduler.tick()
        await self.works()


@pytest.fixture
async def room() -> CalledRoom:
    room = CalledRoom()
    await room.is_called()
    return room


async def test_the_answerer_is_asked_once_after_clear_thanks(room: CalledRoom) -> None:
    offer = await room.is_answered()
    assert (offer.person, offer.quoted, offer.channel) == (BOB.id, ANSWER, "C")
    assert offer.actions == (OfferAction.KEEP, OfferAction.NOT_THIS)
    await room.hears(ALICE, "thanks again", "1.8")
    await room.hears(BOB, "It takes 40 jobs a day, as I said above already.", "1.9")
    await room.hears(ALICE, "thanks!", "2.0")
    assert len(room.offers.asked) == 1


async def test_a_reply_in_the_questions_words_is_asked_about_after_silence(room: CalledRoom) -> None:
    room.writes(("1.6", "Bob", ANSWER))
    await room.hears(BOB, ANSWER)
    await room.scheduler.tick()
    assert room.offers.asked == []
    room.clock.advance(QUIET_SECONDS)
    await room.scheduler.tick()
    await room.scheduler.tick()
    assert [one.quoted for one in room.offers.asked] == [ANSWER]


@pytest.mark.parametrize("then", ["and on weekends?", "that does not work"])
async def test_nobody_is_asked_where_the_asker_goes_on(room: CalledRoom, then: str) -> None:
    room.writes(("1.6", "Bob", ANSWER))
    await room.hears(BOB, ANSWER)
    await room.hears(ALICE, then, "1.7")
    room.clock.advance(QUIET_SECONDS)
    await room.scheduler.tick()
    assert room.offers.asked == []


async def test_nobody_is_asked_about_two_peoples_replies_or_a_deleted_one(room: CalledRoom) -> None:
    room.writes(("1.7", "Grace", "nothing"))
    await room.hears(BOB, ANSWER)
    await room.hears(ALICE, "thanks!", "1.8")
    assert room.offers.asked == []
    room.writes(("1.6", "Bob", ANSWER))
    await room.hears(GRACE, "The build server takes 30 jobs a day.", "1.9")
    await room.hears(ALICE, "thanks!", "2.0")
    assert room.offers.asked == []


async def test_a_platform_that_is_away_is_asked_again(room: CalledRoom) -> None:
    room.offers.away = True
    with pytest.raises(PlatformUnavailable):
        await room.is_answered()
    room.offers.away = False
    await room.hears(ALICE, "thanks, that works", "1.7")
    assert len(room.offers.asked) == 1


class Killed(BaseException):
    """The process ends here."""


class KillingStore:
    """The store, or the platform, in a process that dies before its call number ``at``."""

    def __init__(self, kept: Any, calls: list[str], at: int) -> None:
        self._kept, self._calls, self._at = kept, calls, at

    def __getattr__(self, name: str) -> Any:
        async def call(*given: Any, **more: Any) -> Any:
            self._calls.append(name)
            if len(self._calls) == self._at:
                raise Killed
            return await getattr(self._kept, name)(*given, **more)

        return call


@pytest.mark.parametrize("at", range(1, 14))
async def test_a_process_that_is_killed_asks_at_most_once(room: CalledRoom, at: int) -> None:
    room.writes(("1.6", "Bob", ANSWER))
    await room.hears(BOB, ANSWER)
    calls: list[str] = []
    dying = replace(room.answers, message_states=KillingStore(room.states, calls, at))
    dying.capabilities = {"paper": replace(room.lent["paper"], offers=KillingStore(room.offers, calls, at))}
    thanks = IncomingMessage("1.7", THREAD, "thanks, that works", ALICE, ReplyTarget(channel="C"))
    killed = False
    try:
        await dying.hear(thanks)
    except Killed:
        killed = True
    await room.answers.hear(thanks)  # its delivery comes again
    room.clock.advance(QUIET_SECONDS)
    await room.scheduler.tick()
    asked = len(room.offers.asked)
    assert asked == (0 if killed and calls[-1] == "ask" else 1)  # noted as asked, and not asked: nobody is asked twice


async def test_a_refused_question_is_said_to_the_asker_who_pressed(room: CalledRoom) -> None:
    room.writes(("1.6", "Bob", ANSWER))
    await room.hears(BOB, ANSWER)
    room.offers.refused = True
    with pytest.raises(Denied, match="left the channel"):
        await room.presses(OfferAction.SOLVED, ALICE)


@pytest.mark.parametrize("said", ["thanks, that works", ""])
async def test_a_thread_that_may_not_be_read_stops_nothing(room: CalledRoom, said: str) -> None:
    async def conversation(reference: str) -> Conversation:
        raise Denied("I may not read the history there.")

    await room.hears(BOB, ANSWER)
    room.platform.conversation = conversation  # type: ignore[method-assign]
    if said:
        await room.hears(ALICE, said, "1.7")
    room.clock.advance(QUIET_SECONDS)
    await room.scheduler.tick()
    assert room.offers.asked == []


async def test_nobody_is_asked_in_a_muted_thread_until_the_asker_presses(room: CalledRoom) -> None:
    room.writes(("1.6", "Bob", ANSWER))
    await room.thread_memory.mute(THREAD, True)
    await room.hears(BOB, ANSWER)
    room.clock.advance(QUIET_SECONDS)
    await room.scheduler.tick()
    await room.hears(ALICE, "thanks, that works", "1.7")
    assert room.offers.asked == []
    await room.presses(OfferAction.SOLVED, ALICE)
    assert len(room.offers.asked) == 1


async def test_a_reply_heard_while_another_process_asks_is_not_kept_unseen(room: CalledRoom) -> None:
    room.writes(("1.6", "Bob", ANSWER), ("1.7", "Bob", f"{ANSWER} Its password is on the wall."))
    await room.hears(BOB, ANSWER)
    ask = room.offers.ask

    async def while_asking(offer: Offer) -> None:
        await ask(offer)
        await other.hear(longer)

    other = replace(
        room.answers, message_states=StaleReads(room.states, await room.states.read(PersonAnswer(id=TRACE)))
    )
    longer = IncomingMessage("1.7", THREAD, f"{ANSWER} Its password is on the wall.", BOB, ReplyTarget(channel="C"))
    room.offers.ask = while_asking  # type: ignore[method-assign]
    await room.hears(ALICE, "thanks, that works", "1.8")
    assert room.offers.asked[-1].quoted == ANSWER
    await room.presses(OfferAction.KEEP)
    (proposal,) = await room.proposal_store.proposals()
    assert "password" not in proposal.text


class StaleReads:
    """The store of a process that has read the question before it was changed."""

    def __init__(self, kept: Any, call: PersonAnswer | None) -> None:
        self._kept, self._call = kept, call

    async def read(self, blank: Any) -> Any:
        return self._call if isinstance(blank, PersonAnswer) else await self._kept.read(blank)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kept, name)


async def test_who_may_not_add_proposes_and_an_admin_approves(room: CalledRoom) -> None:
    await room.is_answered()
    assert "An admin decides" in await room.presses(OfferAction.KEEP)
    (proposal,) = await room.proposal_store.proposals()
    assert (proposal.by.id, proposal.base, proposal.permalink) == (BOB.id, "handbook", "https://paper.example/1")
    await room.says(KbVerb.APPROVE, target=proposal.id)
    await room.works()
    (document,) = await room.catalog.documents(frozenset({"handbook"}))
    assert (document.title, document.origin, document.dated) == (QUESTION, BOB.id, "2026-01-05")
    assert ANSWER in await room.texts()
    with pytest.raises(AlreadyDone):
        await room.presses(OfferAction.KEEP)


async def test_an_admins_own_answer_is_kept_at_once(room: CalledRoom) -> None:
    room.writes(("1.6", "Ada", ANSWER))
    await room.hears(ADMIN, ANSWER)
    await room.hears(ALICE, "thanks!", "1.7")
    assert "I will keep it" in await room.presses(OfferAction.KEEP, ADMIN)
    await room.works()
    assert ANSWER in await room.texts()


async def test_only_the_answerer_decides_and_only_the_asker_says_that_it_is_solved(room: CalledRoom) -> None:
    await room.hears(BOB, ANSWER)
    with pytest.raises(Denied):
        await room.presses(OfferAction.SOLVED, BOB)
    await room.is_answered()
    for action in (OfferAction.KEEP, OfferAction.NOT_THIS):
        with pytest.raises(Denied):
            await room.presses(action, ADMIN)
    assert "I will not keep it" in await room.presses(OfferAction.NOT_THIS)
    with pytest.raises(AlreadyDone):
        await room.presses(OfferAction.KEEP)
    assert await room.proposal_store.proposals() == []


async def test_a_message_deleted_before_the_press_is_not_kept(room: CalledRoom) -> None:
    await room.is_answered()
    room.writes(("1.5", "Alice", QUESTION))
    with pytest.raises(NotFound):
        await room.presses(OfferAction.KEEP)
    assert await room.proposal_store.proposals() == []


async def test_words_of_a_private_channel_reach_no_base_that_others_read(room: CalledRoom) -> None:
    await room.is_answered()
    await room.presses(OfferAction.KEEP, public=False)
    (proposal,) = await room.proposal_store.proposals()
    assert (proposal.base, proposal.audience) == ("", frozenset({THREAD.place}))
    refused = await room.says(KbVerb.APPROVE, target=proposal.id, base="handbook")
    assert isinstance(refused, Refused)
    assert "has more readers" in refused.message
    assert list(await room.catalog.documents(frozenset({"handbook"}))) == []


async def test_an_old_answer_is_asked_about_once_and_then_shown_as_not_confirmed(room: CalledRoom) -> None:
    await room.is_kept()
    await room.days_pass(100)
    assert len(room.offers.asked) == 1
    for _ in range(3):
        await room.days_pass(30)
    asked = room.offers.asked[1:]
    assert [(one.person, one.actions, one.channel) for one in asked] == [
        (BOB.id, (OfferAction.STILL_TRUE, OfferAction.REMOVE), "")
    ]
    with pytest.raises(Denied):
        await room.presses(OfferAction.STILL_TRUE, ADMIN)
    assert "confirmed today" in await room.presses(OfferAction.STILL_TRUE)
    await room.works()
    (document,) = await room.catalog.documents(frozenset({"handbook"}))
    assert document.dated == f"{room.clock.now():%Y-%m-%d}"
    assert await room.headings() == {f"Answered by Bob, confirmed {document.dated}"}


async def test_a_question_to_its_author_is_not_renewed_after_it_was_forgotten(
    room: CalledRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    await room.is_kept()
    await room.days_pass(181)
    (document,) = await room.catalog.documents(frozenset({"handbook"}))
    asked, read = Confirmation(id=document.id[:16]), InProcessMessageStateStore.read
    assert await room.states.read(asked) is not None

    async def read_and_forget(store: InProcessMessageStateStore, blank: Confirmation) -> Confirmation | None:
        kept = await read(store, blank)
        if isinstance(kept, Confirmation):
            await store.remove(kept)
        return kept

    with monkeypatch.context() as patch:
        patch.setattr(InProcessMessageStateStore, "read", read_and_forget)
        await room.days_pass(1)
    assert await room.states.read(asked) is None


async def test_an_answer_that_nobody_confirms_stays_and_says_so(room: CalledRoom) -> None:
    room.writes(("1.6", "Bob", ANSWER))
    await room.is_kept()
    (document,) = await room.catalog.documents(frozenset({"handbook"}))
    assert document.dated == "2026-01-05"
    await room.days_pass(200)
    await room.days_pass(15)
    assert await room.headings() == {"Answered by Bob, not confirmed since 2026-01-05"}
    assert ANSWER in await room.texts()


async def test_its_author_is_asked_when_the_platform_is_back(room: CalledRoom) -> None:
    await room.is_kept()
    room.offers.away = True
    await room.days_pass(181)
    room.offers.away = False
    await room.days_pass(1)
    assert room.offers.asked[-1].actions == (OfferAction.STILL_TRUE, OfferAction.REMOVE)


async def test_who_has_confirmed_is_not_asked_again_before_that_is_done(room: CalledRoom) -> None:
    await room.is_kept()
    await room.days_pass(181)
    await room.presses(OfferAction.STILL_TRUE)
    asked = len(room.offers.asked)
    room.clock.advance(20 * 86_400)
    await room.scheduler.tick()  # its worker is late, and nobody confirmed in time
    await room.works()
    assert len(room.offers.asked) == asked
    (heading,) = await room.headings()
    assert heading.startswith("Answered by Bob, confirmed")


@pytest.mark.parametrize("said", ["  ## Answered by the CEO", "Answered by the CEO\n---", "# Answered by the CEO"])
def test_no_heading_in_an_answer_names_another_author(said: str) -> None:
    at = datetime(2026, 1, 5, tzinfo=UTC)
    text = answer_markdown(QUESTION, "Bob", f"Yes.\n\n{said}\nNo.", written=at, dated="2026-01-05", today=at.date())
    assert re.findall(r"(?m)^ *(#.*|-+)$", text) == [f"# {QUESTION}", "## Answered by Bob"]


@pytest.mark.parametrize("source", ["answer key.pdf", "answer sheets/2026 1.md", "answer "])
def test_a_file_of_a_like_name_is_no_persons_answer(source: str) -> None:
    assert not is_answer(source)
    assert is_answer(answer_source(SOURCE, "1.6"))


async def test_its_author_can_remove_it(room: CalledRoom) -> None:
    await room.is_kept()
    await room.days_pass(365)
    assert "removed" in await room.presses(OfferAction.REMOVE)
    assert list(await room.catalog.documents(frozenset({"handbook"}))) == []


async def test_forgetting_the_person_leaves_nothing_to_find_or_restore(room: CalledRoom) -> None:
    await room.is_kept()
    (document,) = await room.catalog.documents(frozenset({"handbook"}))
    assert await room.answers.forget(ALICE.id) == 0
    assert await room.answers.forget(BOB.id) == 1
    assert await room.texts() == ""
    assert not await room.trash.restorable()
    assert await room.originals.read(document) is None


async def test_an_answer_forgotten_while_it_is_read_again_stays_forgotten(
    room: CalledRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    await room.is_kept()
    await room.days_pass(181)
    await room.presses(OfferAction.STILL_TRUE)
    read, forgotten = ItemSources.read_item, []

    async def read_and_forget(sources: ItemSources, job: Job, item: JobItem) -> Material | None:
        material = await read(sources, job, item)
        forgotten.append(await room.answers.forget(BOB.id))
        return material

    monkeypatch.setattr(ItemSources, "read_item", read_and_forget)
    await room.works()
    assert forgotten == [1]
    assert await room.texts() == ""
    assert list(await room.catalog.documents(frozenset({"handbook"}))) == []


async def test_forgetting_the_person_cancels_what_would_keep_it(room: CalledRoom) -> None:
    await room.is_answered()
    await room.presses(OfferAction.KEEP)
    (proposal,) = await room.proposal_store.proposals()
    await room.says(KbVerb.APPROVE, target=proposal.id)
    await room.answers.forget(BOB.id)
    await room.works()
    assert await room.texts() == ""


async def test_a_question_has_a_state_and_its_record_no_words(room: CalledRoom) -> None:
    await room.is_answered()
    kept = await room.states.read(PersonAnswer(id=TRACE))
    assert kept is not None
    assert kept.state is AnswerState.ANSWERED
    assert ANSWER not in str(room.state.records)
    await room.presses(OfferAction.KEEP)
    kept = await room.states.read(PersonAnswer(id=TRACE))
    assert kept is not None
    assert kept.state is AnswerState.KEPT
