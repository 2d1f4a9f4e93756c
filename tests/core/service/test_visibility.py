"""A hidden base never appears: not in a search, a suggestion, a digest, a list or an answer.

Each path is tried twice: by a reader of the base, who gets its text, and by someone else, who must not.
"""

import ast
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.ingestion.ingestor import document_id_of
from core.model.answer import Citation, Outcome
from core.model.channel_settings import ChannelSettings, ChosenSettings
from core.model.conversation import Audience, Person, ThreadKey, Turn
from core.model.errors import NotFound
from core.model.evidence import Evidence, Hit
from core.model.incoming_events import Permissions
from core.model.inquiry import AnswerPolicy
from core.model.knowledge import Document, KnowledgeBase, Passage
from core.ports.access import TokenScope
from core.retrieval.hybrid import Retriever
from core.service.api_clients import ApiClient, KnowledgeReader
from core.service.channel_settings import SettingsService
from core.service.gaps.analysis import GapAnalysis
from core.service.gaps.digest import GapDigest
from core.service.kb.commands import Caller
from core.service.kb.queries import KnowledgeQueries
from core.service.visibility import TAKEN_OUT, VisibleBases, VisibleMemory, still_visible
from tests.core.harness import ALICE, BOB, Harness, user_actions
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.stores import (
    InProcessAudit,
    InProcessCatalog,
    InProcessChannelSettingsStore,
    InProcessFeedbackStore,
    InProcessMemory,
)

ROOT = Path(__file__).parents[3]
BOARD = Audience(frozenset({"slack:channel:T/BOARD"}), public=True)
STRANGERS = Audience(frozenset({"slack:channel:T/HALL"}), public=True)
ADMIN = Person("slack:T/UADMIN", "Nia")
QUESTION = "When does the canary sing?"
SECRET = "canary"  # in the name of the base, the title, the headings and each passage of what is the board's
SECTIONS = (
    "The canary sings at dawn, before the board meets, on every Monday of the year.",
    "The canary is fed at noon by whoever took the minutes of the board's last meeting.",
)
HEADINGS = ("When the canary sings", "Feeding the canary")


class Noticeboard:
    """A channel in which a digest is told."""

    proposals_command = "/kb proposals"

    def __init__(self, readers: Audience) -> None:
        self.audience, self.posted = readers, ""

    async def readers(self, channel: ThreadKey) -> Audience:
        return self.audience

    async def has_posted(self, channel: ThreadKey, beginning: str, *, since: datetime) -> bool:
        return False

    async def post(self, channel: ThreadKey, text: str) -> None:
        self.posted += text


@pytest.fixture
async def harness() -> Harness:
    harness = Harness()
    await harness.knows("Refunds are paid within 14 days.", title="Refunds", base="handbook")
    await harness.knows(*SECTIONS, title="Canary minutes", base="canary", grants=BOARD.principals, headings=HEADINGS)
    return harness


def client(audience: Audience, *bases: str) -> ApiClient:
    return ApiClient("P", "a program", audience, frozenset(TokenScope), frozenset(bases) or None)


def reader(harness: Harness) -> KnowledgeReader:
    return KnowledgeReader(
        harness.catalog, harness.index, Retriever(harness.index, harness.encoder, None, harness.catalog)
    )


async def searched(harness: Harness, audience: Audience) -> object:
    return (await reader(harness).search(client(audience), QUESTION)).hits


async def listed_for_a_program(harness: Harness, audience: Audience) -> object:
    program = client(audience)
    return await program.visible_bases(harness.catalog), await reader(harness).documents(program)


async def answered(harness: Harness, audience: Audience) -> object:
    return (await harness.asks("When are refunds paid, and who sings?", audience=audience)).events


async def suggested(harness: Harness, audience: Audience) -> object:
    harness.script.enqueue("compose", _citing_the_first)
    told = await harness.asks("Who sings, and when?", audience=audience, policy=AnswerPolicy(follow_ups=True))
    return told.answer.follow_ups


async def suggestion_of_an_earlier_answer(harness: Harness, audience: Audience) -> object:
    """Press a suggestion below an answer that was made for the board."""
    async with user_actions(harness).answers.ask_follow_up(
        harness.key(), await _asked_by_board(harness), 1, BOB, audience
    ) as follow_up:
        return follow_up


async def quoted_from_an_earlier_answer(harness: Harness, audience: Audience) -> object:
    return (
        await user_actions(harness).answers.quotes(harness.key(), await _asked_by_board(harness), audience)
    ).citations


async def explained(harness: Harness, audience: Audience) -> object:
    return await user_actions(harness).answers.explain(harness.key(), audience, await _asked_by_board(harness))


async def told_in_a_digest(harness: Harness, audience: Audience) -> object:
    """Return a digest with a public question whose nearest document belongs to the board."""
    harness.script.always("compose", "")
    await harness.asks("Where is it said who sings?", audience=BOARD)
    board = Noticeboard(audience)
    analysis = GapAnalysis(harness.questions, InProcessFeedbackStore(harness.state), harness.catalog, harness.clock)
    states = InProcessMessageStateStore(harness.state)
    channel = ThreadKey("test", "T", "C", "")
    assert await GapDigest(analysis, harness.catalog, states, harness.clock, channel, lambda: board).look()
    assert "Where is it said who sings?" in board.posted
    return board.posted


async def offered_in_settings(harness: Harness, audience: Audience) -> object:
    return await _settings(harness).selectable_bases(audience)


async def chosen_in_settings(harness: Harness, audience: Audience) -> object:
    chosen = ChosenSettings(bases=frozenset({"handbook", "canary"}))
    return (await _settings(harness).save("test:T/C", chosen, ADMIN, audience, is_admin=True)).bases


async def listed_by_kb(harness: Harness, audience: Audience) -> object:
    return await _queries(harness).visible(_caller(audience))


async def completed_by_kb(harness: Harness, audience: Audience) -> object:
    return await _queries(harness).complete_document("", _caller(audience))


def _citing_the_first(_inquiry: object, _thread: object, evidence: Sequence[Evidence]) -> str:
    return f"So it is [{evidence[0].id}]."


async def _asked_by_board(harness: Harness) -> str:
    harness.script.enqueue("compose", _citing_the_first)
    told = await harness.asks(QUESTION, audience=BOARD, policy=AnswerPolicy(follow_ups=True))
    assert told.answer.citations
    return told.trace_id


def _settings(harness: Harness) -> SettingsService:
    return SettingsService(InProcessChannelSettingsStore(), harness.catalog, InProcessAudit(), ChannelSettings())


def _queries(harness: Harness) -> KnowledgeQueries:
    return KnowledgeQueries(harness.catalog, harness.index, *[SimpleNamespace()] * 5)


def _caller(audience: Audience, *, is_admin: bool = False, private: bool = False) -> Caller:
    return Caller(ALICE, Permissions(is_admin=is_admin), audience, ThreadKey("test", "T", "C", "t"), private=private)


Way = Callable[[Harness, Audience], Awaitable[object]]
WAYS: tuple[Way, ...] = (
    searched,
    listed_for_a_program,
    answered,
    suggested,
    suggestion_of_an_earlier_answer,
    quoted_from_an_earlier_answer,
    explained,
    told_in_a_digest,
    offered_in_settings,
    chosen_in_settings,
    listed_by_kb,
    completed_by_kb,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_the_words_of_a_base_reach_those_whom_it_is_for(harness: Harness, way: Way) -> None:
    assert SECRET in repr(await way(harness, BOARD)).casefold()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_the_words_of_a_base_reach_no_stranger(harness: Harness, way: Way) -> None:
    try:
        got = repr(await way(harness, STRANGERS))
    except NotFound as refusal:
        got = str(refusal)
    assert SECRET not in got.casefold()


async def test_a_base_that_is_closed_later_is_visible_no_more(harness: Harness) -> None:
    bases = VisibleBases(harness.catalog)
    assert await bases.names(STRANGERS) == {"handbook"}
    await harness.catalog.save_base(KnowledgeBase("handbook", grants=BOARD.principals))
    assert await bases.names(STRANGERS) == frozenset()
    assert await bases.names(BOARD) == {"handbook", "canary"}
    assert await bases.names(Audience(unrestricted=True)) == {"handbook", "canary"}


async def test_narrowing_adds_nothing(harness: Harness) -> None:
    bases = VisibleBases(harness.catalog)
    assert await bases.names(STRANGERS, {"canary"}) == frozenset()
    assert await bases.names(STRANGERS, ()) == frozenset()
    assert await bases.names(BOARD, {"canary", "elsewhere"}) == {"canary"}


async def test_a_name_selects_what_may_be_read_and_a_refusal_names_nothing_else(harness: Harness) -> None:
    bases = VisibleBases(harness.catalog)
    assert await bases.select("canary", BOARD) == {"canary"}
    with pytest.raises(NotFound, match="handbook") as hidden:
        await bases.select("canary", STRANGERS)
    with pytest.raises(NotFound, match="handbook") as unknown:
        await bases.select("falcon", STRANGERS)
    assert str(hidden.value) == str(unknown.value).replace("falcon", "canary")
    with pytest.raises(NotFound):
        await bases.select("canary", BOARD, {"handbook"})


async def test_an_admin_sees_every_base_where_nobody_else_reads_the_reply(harness: Harness) -> None:
    queries = _queries(harness)
    alone = await queries.visible(_caller(STRANGERS, is_admin=True, private=True))
    watched = await queries.visible(_caller(STRANGERS, is_admin=True))
    assert [base.name for base in alone] == ["canary", "handbook"]
    assert [base.name for base in watched] == ["handbook"]


async def _mirror_canary(harness: Harness, rights_until: str = "") -> None:
    """Make the board's base mirror the permissions of a connected source."""
    (canary,) = [base for base in await harness.catalog.bases() if base.name == "canary"]
    await harness.catalog.save_base(replace(canary, connection="wiki", rights_until=rights_until))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_rights_that_were_not_read_again_in_time_let_nobody_read(harness: Harness, way: Way) -> None:
    await _mirror_canary(harness, "2020-01-01T00:00:00+00:00")
    try:
        got = repr(await way(harness, BOARD))
    except NotFound as refusal:
        got = str(refusal)
    assert SECRET not in got.casefold().replace(QUESTION.casefold(), "")  # which the board asked itself


async def test_an_admin_sees_a_mirrored_base_only_where_they_may_read_it(harness: Harness) -> None:
    await _mirror_canary(harness)
    queries = _queries(harness)
    seen = await queries.visible(_caller(STRANGERS, is_admin=True, private=True))
    assert [base.name for base in seen] == ["handbook"]
    granted = await queries.visible(_caller(BOARD, is_admin=True, private=True))
    assert [base.name for base in granted] == ["canary", "handbook"]


async def test_a_refusal_before_others_always_points_to_a_direct_message(harness: Harness) -> None:
    harness.script.always("compose", "")
    way_on, questions = "Ask me in a direct message", ("Who sings, and when?", "What does the moon weigh?")
    for question in questions:
        assert way_on not in (await harness.asks(question, audience=STRANGERS)).text
    await _mirror_canary(harness)
    for question in questions:
        assert way_on in (await harness.asks(question, audience=STRANGERS)).text
        alone = Audience(frozenset({"slack:user:T/U1"}))
        assert way_on not in (await harness.asks(question, audience=alone)).text


def test_whom_a_base_is_for_is_asked_in_one_place() -> None:
    """Beside it: of a removed base where it is restored, and of a restriction that waits for its confirmation."""
    asking = [
        str(path.relative_to(ROOT))
        for package in ("core", "adapters", "bot")
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "visible_to"
    ]
    assert asking == [
        "core/service/kb/bases.py",
        "core/service/kb/removals.py",
        "core/service/visibility.py",
    ]


KEY = ThreadKey("test", "T", "C", "t")
WHEN = datetime(2026, 1, 5, tzinfo=UTC)


def _document(source: str, version: str = "v1") -> Document:
    return Document(document_id_of("handbook", source), "handbook", source, source, version, "text/plain", 1)


def _evidence(number: int, document: Document) -> Evidence:
    passage = Passage(
        f"p{number}", "handbook", document.id, document.version, "s", 0, document.title, f"words of {document.source}"
    )
    return Evidence(number, Hit(passage, 0.9), "query")


def _turn(number: int, *documents: Document) -> Turn:
    cited = tuple(
        Citation(n, number, f"p{n}", "handbook", one.source, one.title, "", f"words of {one.source}", 0.9)
        for n, one in enumerate(documents, 1)
    )
    answer = f"words of {', '.join(one.source for one in documents)}"
    return Turn(
        f"question {number}", answer, Outcome.ANSWERED, Person("test:a"), WHEN, f"t{number}", "rewritten", cited
    )


async def _thread() -> tuple[VisibleMemory, InProcessCatalog, Document, Document]:
    """A thread in which a leaflet and a handbook were cited."""
    catalog, kept = InProcessCatalog(), InProcessMemory()
    leaflet, handbook = _document("leaflet"), _document("handbook")
    for document in (leaflet, handbook):
        await catalog.publish(document)
    await kept.remember(KEY, _turn(1, leaflet), [_evidence(1, leaflet)])
    await kept.remember(KEY, _turn(2, handbook), [_evidence(2, handbook)])
    await kept.remember(KEY, _turn(3), [])
    await kept.summarise(KEY, "They spoke of the words of leaflet.", frozenset({"handbook"}), 1)
    return VisibleMemory(kept, catalog), catalog, leaflet, handbook


async def test_while_all_is_there_the_thread_is_remembered_as_it_was() -> None:
    memory, _, _, _ = await _thread()
    record = await memory.recall(KEY)
    assert [turn.answer for turn in record.turns] == ["words of leaflet", "words of handbook", "words of "]
    assert len(record.library) == 2
    assert record.summary


async def test_of_a_removed_document_neither_answer_evidence_quote_nor_summary_is_left() -> None:
    memory, catalog, leaflet, _ = await _thread()
    await catalog.withdraw(leaflet.id)
    record = await memory.recall(KEY)
    assert "leaflet" not in repr(record)
    assert [turn.answer for turn in record.turns] == [TAKEN_OUT, "words of handbook", "words of "]
    assert [turn.question for turn in record.turns] == ["question 1", "question 2", "question 3"]
    assert [item.id for item in record.library] == [2]
    assert record.total == 3


async def test_of_a_replaced_version_the_answer_stays_but_it_is_evidence_no_more() -> None:
    memory, catalog, leaflet, _ = await _thread()
    await catalog.publish(replace(leaflet, version="v2"))
    record = await memory.recall(KEY)
    assert record.turns[0].answer == "words of leaflet"
    assert [item.id for item in record.library] == [2]
    assert record.summary


async def test_what_is_restored_is_remembered_again() -> None:
    memory, catalog, leaflet, _ = await _thread()
    await catalog.withdraw(leaflet.id)
    await memory.recall(KEY)
    await catalog.publish(leaflet)
    assert (await memory.recall(KEY)).turns[0].answer == "words of leaflet"


async def test_a_parked_inquirys_evidence_is_looked_at_again() -> None:
    memory, catalog, leaflet, _ = await _thread()
    library = (await memory.recall(KEY)).library
    await catalog.withdraw(leaflet.id)
    assert [item.id for item in await still_visible(library, catalog)] == [2]
