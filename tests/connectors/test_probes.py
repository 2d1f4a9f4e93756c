"""Permission probes over three sources, on every path: answers, follow-ups, /v1, MCP, /kb, gaps, drafts and digests.

Each source has a document for ada, one for bo, one for the group that is mapped to a channel and to a program, and one
for nobody here. A probe looks for one hidden document in the output of one path.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

pytest.importorskip("mcp", reason="the mcp package is not installed")

from mcp import Client

from adapters.connectors.confluence import PLUGIN as CONFLUENCE
from adapters.connectors.gdrive import GoogleDrivePlugin
from adapters.connectors.github import GitHubPlugin
from adapters.mcp.server import build_server
from adapters.mcp.tools import KnowledgeTools
from core.model.conversation import Audience, Person, ThreadKey
from core.model.incoming_events import Permissions
from core.model.inquiry import AnswerPolicy
from core.model.json_codec import to_json
from core.model.principals import mail_principal
from core.ports.memory import Feedback
from core.retrieval.hybrid import Retriever
from core.service.api_clients import ApiClient, KnowledgeReader
from core.service.gaps.analysis import GapAnalysis, Reader
from core.service.gaps.digest import digest_text
from core.service.gaps.drafts import GapDrafts
from core.service.kb.commands import Caller, KbCommand, KbVerb
from core.service.visibility import VisibleBases
from tests.adapters.web.api.office import Office, Program
from tests.connectors.sync_room import SyncRoom
from tests.connectors.test_rights import PlainParser
from tests.fakes.confluence.contract import SPECIFICATION
from tests.fakes.confluence.server import EMAIL, TOKEN, FakeConfluence
from tests.fakes.gdrive.server import ADMIN, FakeDrive, group, key_file, user
from tests.fakes.github.server import TOKEN as GITHUB_TOKEN
from tests.fakes.github.server import FakeGitHub, Item

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="The description is not shared here."),
]
SOURCES, READERS = ("wiki", "drive", "tracker"), ("ada", "bo", "group", "nobody")
CHANNEL = "slack:channel:T1/C1"  # holds the group of every source
AUDIENCES: Mapping[str, tuple[Audience, frozenset[str]]] = {  # who, and the readers that they are at the sources
    "ada": (Audience(frozenset({mail_principal("ada@example.org"), "slack:user:T1/ADA"})), frozenset({"ada"})),
    "bo": (Audience(frozenset({mail_principal("bo@example.org")})), frozenset({"bo"})),
    "a member of the channel": (Audience(frozenset({CHANNEL, "slack:user:T1/CY"})), frozenset({"group"})),
    "the channel with mixed members": (Audience(frozenset({CHANNEL})), frozenset({"group"})),
    "a guest": (Audience(frozenset({"slack:user:T1/GUEST"})), frozenset()),
    "a partner called ada@example.org": (Audience(frozenset({"slack:user:T2/ADA", "slack:team:T2"})), frozenset()),
}


def canary(source: str, reader: str) -> str:
    return f"zanzibar{source}{reader}"


def text_of(source: str, reader: str) -> str:
    return f"The {source} code word of {reader} is {canary(source, reader)}."


def question_about(source: str, reader: str) -> str:
    return f"What is the {source} code word of {reader}?"


@dataclass
class Sources:
    """Three sources that are synced into one installation, with its page of programs and its agents' tools."""

    office: Office = field(default_factory=Office)
    probes: Counter[str] = field(default_factory=Counter)
    controls: Counter[str] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)

    async def open(self, stack: AsyncExitStack) -> None:
        self.wiki = await stack.enter_async_context(FakeConfluence())
        self.drive = await stack.enter_async_context(FakeDrive())
        self.tracker = await stack.enter_async_context(FakeGitHub())
        self.token, self.mapped = await self.office.admitted()
        self.unmapped = await self.office.program()
        self._fill()
        here = self.drive.url
        drive = GoogleDrivePlugin(tokens=here, api=here, directory=here)
        self.rooms = [
            self._room("wiki", CONFLUENCE, {"url": self.wiki.url, "email": EMAIL, "token": TOKEN}, self.wiki.port),
            self._room("drive", drive, {"key": key_file(), "subject": ADMIN}, self.drive.port),
            self._room(
                "tracker",
                GitHubPlugin(origin=self.tracker.url),
                {"token": GITHUB_TOKEN, "repositories": " ".join(f"acme/{one}" for one in READERS)},
                self.tracker.port,
            ),
        ]
        await self.sync()
        await stack.enter_async_context(self.office.open())

    def _fill(self) -> None:
        self.wiki.groups.update({"g-shared": ["gil"], "g-staff": ["ada", "bo", "gil", "nil"]})
        self.wiki.people.update({"gil": "gil@example.org", "nil": ""})
        self.wiki.spaces["ENG"] = [("group", "g-staff"), ("group", "g-shared")]
        self.drive.members["shared@example.org"] = []
        self.tracker.collaborators.clear()
        for number, reader in enumerate(READERS):
            who = () if reader == "group" else ("nil" if reader == "nobody" else reader,)
            groups = ("g-shared",) if reader == "group" else ()
            body = f"<p>{text_of('wiki', reader)}</p>"
            self.wiki.add_page(str(number), f"Note {canary('wiki', reader)}", body, users=who, groups=groups)
            permission = group("shared@example.org") if reader == "group" else user(reader)
            denied = user(reader, deleted=True) if reader == "nobody" else permission
            name, said = f"{canary('drive', reader)}.md", text_of("drive", reader)
            self.drive.add_file(str(number), name, said, kind="text/markdown", permissions=[denied])
            self.tracker.collaborators[f"acme/{reader}"] = [reader]
            title, repository = f"Issue {canary('tracker', reader)}", f"acme/{reader}"
            self.tracker.items[reader] = Item(reader, title, text_of("tracker", reader), repository=repository)

    def _room(self, name: str, plugin: object, settings: Mapping[str, str], port: int) -> SyncRoom:
        room = SyncRoom(plugin, settings, PlainParser(), port)  # type: ignore[arg-type]  # any of three plugins
        harness = self.office.harness
        room.catalog, room.index = harness.catalog, harness.index
        held = frozenset({CHANNEL, self.token.principal})
        mapping = dict.fromkeys(("g-shared", "shared@example.org", "repository:acme/group"), held)
        room.connection = replace(room.connection, name=name, kind=name, mapping=mapping)
        return room

    async def sync(self) -> None:
        for room in self.rooms:
            await room.sync()

    def probe(self, way: str, who: str, out: str, allowed: frozenset[str], expects: str = "") -> None:
        """Look for each document that these readers may not read, and record the leaks."""
        for source in SOURCES:
            for reader in READERS:
                if reader in allowed:
                    continue
                self.probes[way] += 1
                if canary(source, reader) in out.casefold():
                    self.leaks.append(f"{who} by {way}: {canary(source, reader)}")
        if expects:
            self.controls[way] += 1
            assert expects in out.casefold(), f"{who} by {way} finds nothing of {expects}: {out[:500]}"


@pytest.fixture
async def sources() -> AsyncIterator[Sources]:
    async with AsyncExitStack() as stack:
        sources = Sources()
        await sources.open(stack)
        yield sources
        assert sources.leaks == []
        for fake in (sources.wiki, sources.drive, sources.tracker):
            assert not fake.violations


async def test_answers_follow_ups_and_refusals_to_people(sources: Sources) -> None:
    harness = sources.office.harness
    for who, (audience, allowed) in AUDIENCES.items():
        for source in SOURCES:
            for reader in READERS:
                expects = canary(source, reader) if reader in allowed else ""
                thread = f"{who} {source} {reader}"
                told = await harness.asks(question_about(source, reader), thread=thread, audience=audience)
                sources.probe("answer", who, repr(told.events), allowed, expects)
                told = await harness.asks("And what was it called exactly?", thread=thread, audience=audience)
                sources.probe("follow-up", who, repr(told.events), allowed)
    assert sources.probes.total() >= 400


async def test_a_right_that_is_withdrawn_in_the_middle_of_a_conversation(sources: Sources) -> None:
    harness = sources.office.harness
    audience, allowed = AUDIENCES["ada"]
    for source in SOURCES:
        told = await harness.asks(question_about(source, "ada"), thread=source, audience=audience)
        sources.probe("before", "ada", repr(told.events), allowed, canary(source, "ada"))
    sources.wiki.pages["0"].users = ("bo",)
    sources.drive.files["0"].permissions = [user("bo")]
    sources.tracker.collaborators["acme/ada"] = ["bo"]
    await sources.sync()
    for source in SOURCES:
        for later in ("And what was it called exactly?", question_about(source, "ada"), "Say that again."):
            told = await harness.asks(later, thread=source, audience=audience)
            sources.probe("after", "ada", repr(told.events), frozenset())
        told = await harness.asks(question_about(source, "ada"), audience=AUDIENCES["bo"][0], thread=f"bo {source}")
        sources.probe("after", "bo", repr(told.events), frozenset({"ada", "bo"}), canary(source, "ada"))


async def test_programs_and_agents(sources: Sources) -> None:
    office = sources.office
    for who, program, allowed in (
        ("a mapped program", sources.mapped, frozenset({"group"})),
        ("an unmapped program", sources.unmapped, frozenset[str]()),
    ):
        agent = _agent(office, program)
        for source in SOURCES:
            for reader in READERS:
                expects = canary(source, reader) if reader in allowed else ""
                question = question_about(source, reader)
                asked = await program.post("/v1/ask", question=question)
                sources.probe("/v1/ask", who, json.dumps(asked.body), allowed, expects)
                found = await program.post("/v1/search", query=question)
                sources.probe("/v1/search", who, json.dumps(found.body), allowed, expects)
                said = [{"role": "user", "content": question}]
                chat = await program.post("/v1/chat/completions", model="footnote", messages=said)
                sources.probe("/v1/chat", who, json.dumps(chat.body), allowed, expects)
                streamed = [event.data async for event in program.stream("/v1/ask", question=question)]
                sources.probe("/v1/ask, streamed", who, json.dumps(streamed), allowed, expects)
                for base in (source, f"{source} 2", f"{source} 3"):
                    named = await program.post("/v1/search", query=question, knowledge_base=base)
                    sources.probe("/v1/search in a base", who, json.dumps(named.body), allowed)
                async with Client(agent) as client:
                    for tool, given in (
                        ("ask", {"question": question}),
                        ("search_knowledge_base", {"query": question}),
                        ("search_by_source", {"query": question, "source": "zanzibar"}),
                        ("list_sources", {}),
                        ("list_sources", {"name": canary(source, reader)[:-1]}),
                    ):
                        result = await client.call_tool(tool, given)
                        out = json.dumps(result.structured_content) + str(result.content)
                        sources.probe(f"MCP {tool}", who, out, allowed, expects)
    assert sources.probes.total() >= 400


def _agent(office: Office, program: Program) -> object:
    async def caller() -> ApiClient:
        return await office.clients.authenticate(program.secret)

    harness = office.harness
    reader = KnowledgeReader(
        harness.catalog, harness.index, Retriever(harness.index, harness.encoder, None, harness.catalog)
    )
    return build_server(KnowledgeTools(caller, reader, harness.question_service, AnswerPolicy()), "0.0.0", None)


async def test_kb_gaps_drafts_and_digests(sources: Sources) -> None:
    harness, room = sources.office.harness, sources.office.room
    feedback = sources.office.feedback
    for who in ("ada", "bo", "a member of the channel"):
        for source in SOURCES:
            thread, reader = f"{who} {source}", "group" if who.startswith("a ") else who
            spoken = replace(AUDIENCES[who][0], public=True)  # so that the words of the question are in the report
            told = await harness.asks(question_about(source, reader), thread=thread, audience=spoken)
            assert canary(source, reader) in told.text
            person, key = Person(f"test:{who}", who), str(harness.key(thread))
            await feedback.keep(Feedback(told.trace_id, person, helpful=False, thread=key))
    analysis = GapAnalysis(harness.questions, feedback, harness.catalog, harness.clock)
    drafts = GapDrafts(feedback, room.proposal_store, room.audit, harness.clock)
    for who, (audience, allowed) in AUDIENCES.items():
        bases = await VisibleBases(harness.catalog).names(audience)
        report = await analysis.report(timedelta(days=7), Reader(bases))
        sources.probe("gaps", who, to_json(report), allowed)
        sources.probe("digest", who, digest_text(report), allowed)
        assert report.gaps
        seen = sum(canary(source, reader) in to_json(report) for source in SOURCES for reader in allowed)
        assert seen or not allowed, "whoever may read a document sees that it did not help"
        for gap in report.gaps:
            draft = await drafts.begin(gap, bases)
            sources.probe("draft", who, repr(draft), allowed)
        for is_admin in (False, True):
            caller = Caller(Person("paper:x", "X"), Permissions(is_admin), audience, ThreadKey("paper", "T", "C", "t"))
            for command in _commands():
                result = to_json(await room.kb_service.handle(command, caller))
                sources.probe(f"/kb {command.verb}", who, result, allowed)
    assert sources.probes.total() >= 400


def _commands() -> list[KbCommand]:
    looks = [KbCommand(KbVerb.LIST), KbCommand(KbVerb.STATUS), KbCommand(KbVerb.JOBS), KbCommand(KbVerb.RESTORE)]
    bases = [f"{source}{number}" for source in SOURCES for number in ("", " 2", " 3")]
    looks += [
        KbCommand(verb, base) for verb in (KbVerb.LIST, KbVerb.SHOW, KbVerb.REMOVE, KbVerb.GRANT) for base in bases
    ]
    found = [KbCommand(KbVerb.SHOW, target=f"zanzibar{source}") for source in SOURCES]
    return [*looks, *found, *(replace(one, verb=KbVerb.REMOVE) for one in found)]
