"""A hidden base is asked for from the wrong place, by every path there is: nothing of it may come out.

The bulk runs on the in-process stores, where a thousand tries take seconds; a sample of the same paths runs on the
embedded ones. What counts as coming out is everything: events, replies, and whatever the reasoner is shown.
"""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace

import pytest
import pytest_asyncio

from bot.container import Footnote
from core.agent.agent import Agent
from core.agent.run import AgentDeps
from core.ingestion.ingestor import Ingestor
from core.ingestion.originals import Material
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.document_content import Conversation, TranscriptMessage
from core.model.errors import FootnoteError
from core.model.events import CheckpointReached
from core.model.incoming_events import FileReference, Permissions
from core.model.inquiry import (
    PROFILE_LIMITS,
    Inquiry,
    Insufficient,
    Investigate,
    ListSources,
    Plan,
    ReadSection,
    SearchAction,
    SearchKnowledge,
    SearchSource,
)
from core.model.jobs import Site
from core.model.knowledge import KnowledgeBase
from core.ports.catalog import Catalog
from core.ports.index import Index
from core.ports.memory import Memory
from core.retrieval.hybrid import Retriever
from core.service.actions.user_actions import UserActions
from core.service.disputes.decisions import DisputeReports
from core.service.kb.commands import Caller, KbCommand, KbVerb
from core.service.kb.results import accepted_jobs, is_success
from core.service.kb.service import KnowledgeService
from core.service.question_service import Question, QuestionService
from core.service.visibility import VisibleMemory
from tests.core.service.kb.knowledge_room import Room, words
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.scripted_reasoner import ScriptedReasoner
from tests.fakes.memory.stores import (
    InProcessChannelSettingsStore,
    InProcessCheckpoints,
    InProcessFeedbackStore,
    InProcessMemory,
    InProcessState,
    InProcessTraceStore,
)

BOARD = Audience(frozenset({"paper:channel:T/BOARD"}))
PUBLIC = Audience(frozenset({"paper:channel:T/PUBLIC"}))
ASKER = Person("paper:mallory", "Mallory")
VAULT = "vault"
TRIES = 1_000


@dataclass
class Installation:
    """What an attacker can reach, and what the reasoner was shown."""

    question_service: QuestionService
    user_actions: UserActions
    kb_service: KnowledgeService
    ingestor: Ingestor
    catalog: Catalog
    index: Index
    memory: Memory
    reasoner: ScriptedReasoner
    out: list[str] = field(default_factory=list)
    threads: int = 0

    async def hides(self, canary: str) -> None:
        """Put a canary into the vault, which is for the board alone, and something harmless beside it."""
        await self.catalog.save_base(KnowledgeBase(VAULT, f"papers of {canary}", BOARD.principals))
        await self.catalog.save_base(KnowledgeBase("open", "for everybody"))
        text = f"# Merger {canary}\n\nThe merger closes on the day {canary} at noon.\n\n## Price\n\nIt costs {canary}."
        await self.ingestor.ingest(Material("merger.md", "merger.md", text.encode()), VAULT)
        await self.ingestor.ingest(Material("menu.md", "menu.md", b"# Menu\n\nSoup on the day of the merger."), "open")

    def key(self) -> ThreadKey:
        """A new thread."""
        self.threads += 1
        return ThreadKey("paper", "T", "PUBLIC", f"t{self.threads}")

    async def asks(self, text: str, key: ThreadKey, audience: Audience, *, heard: bool = True) -> list[object]:
        """A question; what comes of it counts where ``heard``."""
        self.reasoner.calls.clear()
        question = Question(text, key, ASKER, audience)
        events: list[object] = [event async for event in self.question_service.ask(question)]
        if heard:
            self.out.append(repr((events, self.reasoner.calls)))
        return events

    async def tries(self, attempt: Awaitable[object]) -> None:
        """What comes of it counts, a refusal too."""
        try:
            self.out.append(repr(await attempt))
        except FootnoteError as error:
            self.out.append(str(error))


Path = Callable[[Installation, random.Random], Awaitable[None]]
QUESTIONS = ("When does the merger close?", "What does the merger cost?", "merger noon price", "Tell me about Merger")


async def _search(at: Installation, dice: random.Random) -> None:
    await at.asks(dice.choice(QUESTIONS), at.key(), PUBLIC)


async def _search_actions(at: Installation, dice: random.Random) -> None:
    """The model does what a clever question makes it do: name the hidden base, its source, a section, a listing."""
    actions: list[SearchAction] = [
        SearchKnowledge("merger close", VAULT),
        SearchKnowledge("merger close", VAULT.upper()),
        SearchSource("merger", "merger.md"),
        SearchSource("price", "Merger"),
        ListSources(),
        ReadSection(1),
    ]
    at.reasoner.enqueue("decide", Insufficient("more", tuple(dice.sample(actions, 3))))
    await at.asks(dice.choice(QUESTIONS), at.key(), PUBLIC)


async def _moved_thread(at: Installation, dice: random.Random) -> None:
    """A thread of the board is moved, shared or pulled into a public channel."""
    key = at.key()
    for _ in range(dice.randint(1, 3)):
        await at.asks(dice.choice(QUESTIONS), key, BOARD, heard=False)
    at.reasoner.enqueue("decide", Insufficient("more", (ReadSection(1), ReadSection(2))))
    await at.asks(dice.choice(("What did you say?", *QUESTIONS)), key, PUBLIC)


async def _summary(at: Installation, dice: random.Random) -> None:
    """So many turns that the first are only in the summary, and the summary is of hidden words."""
    key = at.key()
    at.reasoner.always("summarise", lambda _summary, turns: " ".join(turn.answer for turn in turns))
    for _ in range(10):
        await at.asks(dice.choice(QUESTIONS), key, BOARD, heard=False)
        await at.question_service.reflect(key, BOARD)
    await at.asks("What did we speak of?", key, PUBLIC)
    at.reasoner.calls.clear()
    await at.question_service.reflect(key, PUBLIC)


async def _revoked(at: Installation, dice: random.Random) -> None:
    """A base that was open when the thread began is not any more."""
    base = next(base for base in await at.catalog.bases() if base.name == VAULT)
    await at.catalog.save_base(replace(base, grants=frozenset()))
    key = at.key()
    await at.asks(dice.choice(QUESTIONS), key, PUBLIC, heard=False)
    await at.catalog.save_base(base)
    await at.asks(dice.choice(QUESTIONS), key, PUBLIC)


async def _parked(at: Installation, dice: random.Random) -> None:
    """A checkpoint that was reached among the board is pressed in public, after the thread was moved."""
    key = at.key()
    at.reasoner.enqueue("understand", _sources_first)
    events = await at.asks(dice.choice(QUESTIONS), key, BOARD, heard=False)
    last = events[-1]
    assert isinstance(last, CheckpointReached)
    choice = dice.choice(last.checkpoint.choices)
    at.reasoner.calls.clear()
    told = [event async for event in at.question_service.choose(last.checkpoint.id, choice, ASKER, audience=PUBLIC)]
    at.out.append(repr((told, at.reasoner.calls)))


def _sources_first(inquiry: Inquiry, _thread: object) -> Plan:
    return Investigate(inquiry.question, (inquiry.question,), sources_first=True)


async def _afterwards(at: Installation, dice: random.Random) -> None:
    """Quotes, reasons and the turn itself, of an answer that the board was given."""
    key = at.key()
    await at.asks(dice.choice(QUESTIONS), key, BOARD, heard=False)
    trace = await at.question_service.last_trace(key)
    await at.tries(at.user_actions.answers.quotes(key, trace, PUBLIC))
    await at.tries(at.user_actions.answers.explain(key, PUBLIC))
    await at.tries(at.user_actions.answers.read(key, trace, PUBLIC))


async def _kb(at: Installation, dice: random.Random) -> None:
    """Every subcommand that names the hidden base or its document, by a member and by an admin in public."""
    for is_admin in (False, True):
        caller = Caller(ASKER, Permissions(is_admin=is_admin), PUBLIC, at.key(), private=False)
        verbs = [verb for verb in KbVerb if verb not in {KbVerb.CREATE, KbVerb.SCHEDULE}]
        verb = dice.choice(verbs)
        for base, target in ((VAULT, ""), (VAULT, "merger.md"), ("", "Merger"), ("", "")):
            await at.tries(at.kb_service.handle(KbCommand(verb, base, target), caller))
        await at.tries(at.kb_service.queries.complete(VAULT[: dice.randint(0, 5)], caller))
        await at.tries(at.kb_service.queries.complete_document("mer", caller, VAULT))


async def _removed(at: Installation, dice: random.Random) -> None:
    """The document is taken out; whoever could read it cannot any more, not even in the thread that cited it."""
    key = at.key()
    await at.asks(dice.choice(QUESTIONS), key, BOARD, heard=False)
    documents = await at.catalog.documents(frozenset({VAULT}))
    await at.ingestor.remove(documents[0].id)
    at.reasoner.enqueue("decide", Insufficient("more", (ReadSection(1), SearchSource("merger", "merger.md"))))
    base = next(base for base in await at.catalog.bases() if base.name == VAULT)
    await at.catalog.save_base(replace(base, description="papers"))
    await at.asks("What did you say about the merger?", key, BOARD)


def _insider(at: Installation) -> Caller:
    """An admin among the board, alone with the reply."""
    return Caller(Person("paper:chair", "Chair"), Permissions(is_admin=True), BOARD, at.key())


def _outsiders(at: Installation) -> tuple[Caller, Caller]:
    """A member and an admin, in public."""
    return (
        Caller(ASKER, Permissions(is_admin=False), PUBLIC, at.key(), private=False),
        Caller(Person("paper:ops", "Ops"), Permissions(is_admin=True), PUBLIC, at.key(), private=False),
    )


async def _asked_for(at: Installation, verbs: tuple[KbVerb, ...], *targets: str) -> None:
    """Every one of these commands, with and without the base, by both outsiders."""
    for caller in _outsiders(at):
        for verb in verbs:
            for base, target in [(base, target) for base in ("", VAULT) for target in ("", *targets)]:
                await at.tries(
                    at.kb_service.handle(KbCommand(verb, base, target, every="daily", confirmed=True), caller)
                )
        await at.tries(at.kb_service.queries.complete("", caller))
        for base in ("", VAULT):
            await at.tries(at.kb_service.queries.complete_document("", caller, base))


async def _hidden_words(at: Installation) -> str:
    """What only the board knows: the canary, as the document in the vault has it."""
    document = (await at.catalog.documents(frozenset({VAULT})))[0]
    return document.title.partition(" ")[2]


async def _job_cards(at: Installation, dice: random.Random) -> None:
    """A job of the board, with the canary in its files' names, its card and its failures."""
    chair, canary = _insider(at), await _hidden_words(at)
    files = (FileReference(canary, f"{canary}.md"),)
    accepted = await at.kb_service.handle(KbCommand(KbVerb.INGEST, VAULT, files=files), chair)
    (begun,) = accepted_jobs(accepted)
    job = await at.kb_service.queries.jobs.read(begun.id)
    assert job is not None
    item = replace(job.items[0], reason=f"{canary} is no text.")
    await at.kb_service.queries.jobs.record(job.with_item(item), [item])
    looks = (KbVerb.STATUS, KbVerb.JOBS, KbVerb.SHOW, KbVerb.LIST, KbVerb.CANCEL)
    await _asked_for(at, looks, begun.id)
    shown = await at.kb_service.handle(KbCommand(KbVerb.JOBS, target=begun.id), chair)
    assert canary in words(shown)
    await at.kb_service.handle(KbCommand(KbVerb.CANCEL, target=begun.id), chair)


async def _proposals(at: Installation, dice: random.Random) -> None:
    """A thread of the board, and a correction there, wait for an admin; somebody looks from elsewhere."""
    canary = await _hidden_words(at)
    member = replace(_insider(at), permissions=Permissions(is_admin=False))
    said = (TranscriptMessage("Chair", at.kb_service.queries.clock.now(), f"It is {canary}."),)
    await at.kb_service.proposals.propose(Conversation(f"T/BOARD/{canary}", f"Merger {canary}?", said), member, VAULT)
    await at.kb_service.proposals.correct(f"When is {canary}?", f"On {canary}.", None, member)
    ids = [one.id for one in await at.kb_service.proposals.proposal_store.proposals()]
    assert len(ids) >= 2
    decisions = (KbVerb.PROPOSALS, KbVerb.STATUS, KbVerb.APPROVE, KbVerb.REJECT)
    await _asked_for(at, decisions, *ids)
    outsider = _outsiders(at)[0]
    await at.tries(at.kb_service.proposals.propose(Conversation("T/PUBLIC/1", "Lunch?", said[:0]), outsider, VAULT))
    await at.tries(at.kb_service.proposals.correct("When is lunch?", "At noon.", None, outsider))
    for one in await at.kb_service.proposals.proposal_store.proposals():
        await at.kb_service.handle(KbCommand(KbVerb.REJECT, target=one.id), _insider(at))


async def _kept_current(at: Installation, dice: random.Random) -> None:
    """A site and a schedule of the vault, whose links say what nobody else may know."""
    canary = await _hidden_words(at)
    link = f"https://board.example/{canary}/"
    await at.kb_service.removals.site_store.save_site(Site(VAULT, link, 5, {link: 0}))
    guesses = ("https://board.example/", "board", "Merger", "merger.md")
    await _asked_for(at, (KbVerb.REFRESH, KbVerb.SHOW, KbVerb.STATUS), *guesses)
    await at.kb_service.removals.site_store.save_site(Site(VAULT, link))


async def _put_away(at: Installation, dice: random.Random) -> None:
    """The document is removed while its base is open, and the base is closed since: what can be restored is hidden."""
    base = next(base for base in await at.catalog.bases() if base.name == VAULT)
    await at.catalog.save_base(replace(base, grants=frozenset()))
    chair = _insider(at)
    assert is_success(await at.kb_service.handle(KbCommand(KbVerb.REMOVE, VAULT, "merger.md", confirmed=True), chair))
    await at.catalog.save_base(base)
    await _asked_for(at, (KbVerb.RESTORE, KbVerb.REMOVE), "Merger", "merger.md")
    assert is_success(await at.kb_service.handle(KbCommand(KbVerb.RESTORE, VAULT, "merger.md"), chair))


PATHS: tuple[Path, ...] = (
    _search, _search_actions, _moved_thread, _summary, _revoked, _parked, _afterwards, _kb, _removed,
    _job_cards, _proposals, _kept_current, _put_away,
)  # fmt: skip


def _in_process() -> Installation:
    room = Room()
    state, reasoner = InProcessState(), ScriptedReasoner()
    memory = VisibleMemory(InProcessMemory(state), room.catalog)
    trace_store, checkpoints = InProcessTraceStore(state), InProcessCheckpoints(state)
    retriever = Retriever(room.index, room.encoder, None, room.catalog)
    deps = AgentDeps(reasoner=reasoner, retriever=retriever, index=room.index, catalog=room.catalog, clock=room.clock)
    question_service = QuestionService(
        agent=Agent(deps, PROFILE_LIMITS),
        reasoner=reasoner,
        memory=memory,
        checkpoints=checkpoints,
        trace_store=trace_store,
        catalog=room.catalog,
        clock=room.clock,
    )
    user_actions = UserActions.build(
        memory=memory,
        trace_store=trace_store,
        catalog=room.catalog,
        feedback=InProcessFeedbackStore(state),
        settings_store=InProcessChannelSettingsStore(),
        audit=room.audit,
        inbox=room.inbox,
        message_states=InProcessMessageStateStore(state),
        checkpoints=checkpoints,
        defaults=ChannelSettings(),
        disputes=DisputeReports(room.proposal_store, room.clock),
    )
    return Installation(
        question_service, user_actions, room.kb_service, room.ingestor, room.catalog, room.index, memory, reasoner
    )


async def test_in_a_thousand_tries_no_canary_leaves_the_vault() -> None:
    dice = random.Random(20260105)
    leaked: list[str] = []
    for number in range(TRIES):
        canary = f"canary{dice.getrandbits(48):012x}"
        at = _in_process()
        await at.hides(canary)
        path = PATHS[number % len(PATHS)]
        await path(at, dice)
        assert at.out, path.__name__
        leaked += [f"{path.__name__}: {canary}" for text in at.out if canary in text]
    assert not leaked


@pytest.mark.parametrize("path", [_search, _moved_thread, _afterwards], ids=lambda path: path.__name__)
async def test_the_board_itself_hears_the_canary_so_the_tries_above_can_fail(path: Path) -> None:
    at = _in_process()
    await at.hides("canary123")
    base = next(base for base in await at.catalog.bases() if base.name == VAULT)
    await at.catalog.save_base(replace(base, grants=frozenset()))
    await path(at, random.Random(1))
    assert any("canary123" in text for text in at.out)


@pytest_asyncio.fixture(loop_scope="session")
async def stored(footnote: Footnote) -> AsyncIterator[Installation]:
    """The same paths over the embedded stores and the packaged encoder."""
    reasoner = ScriptedReasoner()
    deps = AgentDeps(
        reasoner=reasoner,
        retriever=footnote.retriever,
        index=footnote.index,
        catalog=footnote.catalog,
        clock=footnote.clock,
    )
    question_service = QuestionService(
        agent=Agent(deps, PROFILE_LIMITS),
        reasoner=reasoner,
        memory=footnote.memory,
        checkpoints=footnote.checkpoints,
        trace_store=footnote.trace_store,
        catalog=footnote.catalog,
        clock=footnote.clock,
    )
    yield Installation(
        question_service,
        footnote.user_actions(),
        footnote.knowledge_stack.kb_service,
        footnote.ingestor,
        footnote.catalog,
        footnote.index,
        footnote.memory,
        reasoner,
    )
    for name in (VAULT, "open"):
        for document in await footnote.catalog.documents(frozenset({name})):
            await footnote.ingestor.remove(document.id)
        await footnote.catalog.remove_base(name)


@pytest.mark.live
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
async def test_no_canary_leaves_the_vault_of_the_embedded_stores(stored: Installation, path: Path) -> None:
    dice = random.Random(path.__name__)
    for number in range(3):
        canary = f"canary{dice.getrandbits(48):012x}"
        await stored.hides(canary)
        stored.out.clear()
        stored.threads = number * 100 + sum(map(ord, path.__name__)) * 1_000
        await path(stored, dice)
        assert stored.out
        assert not [text for text in stored.out if canary in text]
