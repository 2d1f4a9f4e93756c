"""The tools as another agent calls them: by the official client, over an assistant in this process."""

from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the mcp package is not installed")

from mcp import Client

from adapters.mcp.server import OurTokens, build_server, caller_over_http
from adapters.mcp.tools import KnowledgeTools
from core.model.answer import Support
from core.model.conversation import Person
from core.model.errors import ModelUnavailable
from core.model.inquiry import AnswerPolicy, AskBack, Insufficient
from core.ports.access import TokenScope
from core.retrieval.hybrid import Retriever
from core.service.api_clients import ApiClient, ApiClients, KnowledgeReader, local_owner
from tests.core.harness import Harness
from tests.fakes.memory.stores import InProcessApiTokens, InProcessAudit
from tests.hostile_markdown import hostile_answers
from tests.markdown_reader import active_in

REFUNDS = "Refunds are paid within 14 days."
QUESTION = "How long do refunds take?"
CANARY = "The canary sings at dawn."
BOARD = frozenset({"slack:channel:T/BOARD"})
BOTH = frozenset({TokenScope.ASK, TokenScope.SEARCH})
OWNER = Person("console:operator", "you")


@dataclass
class Desk:
    """A test with an open base and the board's, and the tools; with ``over_http`` each request brings its token."""

    harness: Harness = field(default_factory=Harness)
    over_http: bool = False

    def __post_init__(self) -> None:
        harness = self.harness
        self.clients = ApiClients(InProcessApiTokens(), harness.catalog, InProcessAudit(), harness.clock)
        self.secret = ""
        self.owner: ApiClient | None = None
        retriever = Retriever(harness.index, harness.encoder, None, harness.catalog)
        reader = KnowledgeReader(harness.catalog, harness.index, retriever)
        caller = caller_over_http(self.clients) if self.over_http else self._caller
        tools = KnowledgeTools(caller, reader, harness.question_service, AnswerPolicy())
        self.server = build_server(tools, "0.0.0", OurTokens(self.clients) if self.over_http else None)

    async def _caller(self) -> ApiClient:
        return self.owner or await self.clients.authenticate(self.secret)

    async def admit(self, *bases: str, scopes: frozenset[TokenScope] = BOTH, rate: int = 6_000) -> str:
        """From now on it is a new token that calls; its id."""
        token, self.secret = await self.clients.create("an agent", scopes, bases, OWNER, rate=rate)
        return token.id

    async def call(self, tool: str, **given: Any) -> Any:
        """What the tool gives, as data; what it says where it fails."""
        async with Client(self.server) as client:
            result = await client.call_tool(tool, given)
        if result.is_error:
            return " ".join(block.text for block in result.content)
        return result.structured_content


@pytest.fixture
async def desk() -> Desk:
    desk = Desk()
    await desk.harness.knows(REFUNDS, "They are paid by the finance team.", title="Refund policy")
    await desk.harness.knows(CANARY, title="Board minutes", base="board", grants=BOARD)
    await desk.admit()
    return desk


async def test_five_tools_are_listed_with_what_they_are_for(desk: Desk) -> None:
    async with Client(desk.server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"search_knowledge_base", "search_by_source", "list_sources", "read_section", "ask"}
    assert all(tool.description and tool.output_schema for tool in tools.values())
    assert [name for name, tool in tools.items() if tool.annotations and not tool.annotations.read_only_hint] == ["ask"]


async def test_an_answer_comes_with_its_sources(desk: Desk) -> None:
    answer = await desk.call("ask", question=QUESTION)
    assert answer["outcome"] == "answered"
    assert f"{REFUNDS} [1]" in answer["answer"]
    first = answer["sources"][0]
    assert (first["n"], first["title"], first["quote"]) == (1, "Refund policy", REFUNDS)


async def test_an_answer_has_no_sentence_that_failed_its_check(desk: Desk) -> None:
    desk.harness.script.always("compose", f"{REFUNDS} [1] Refunds are paid in cash at the desk [1].")
    desk.harness.script.always("check", Support.UNSUPPORTED)
    answer = await desk.call("ask", question=QUESTION)
    assert answer["answer"] == f"{REFUNDS} [1]"
    assert "cash" not in str(answer)


async def test_no_hostile_text_that_a_model_copies_is_active_in_an_answer(desk: Desk) -> None:
    await desk.harness.knows(*hostile_answers(), title="Hostile")
    for text in hostile_answers():
        desk.harness.script.always("compose", f"{text}\n\n{REFUNDS} [1]")
        answer = await desk.call("ask", question=QUESTION)
        assert active_in(answer["answer"]) == [], text


async def test_a_conversation_goes_on(desk: Desk) -> None:
    first = await desk.call("ask", question=QUESTION)
    await desk.call("ask", question="and who pays them?", conversation=first["conversation"])
    _, thread = desk.harness.script.calls_of("understand")[-1].given
    assert [turn.question for turn in thread.turns] == [QUESTION]


async def test_a_question_back_is_answered_by_one_of_its_choices(desk: Desk) -> None:
    desk.harness.script.enqueue("understand", AskBack("Which refunds?", ("Refunds of plans", "Refunds of seats")))
    asked = await desk.call("ask", question="refunds?")
    assert asked["outcome"] == "clarified"
    assert "Refunds of plans" in asked["choices"]
    answer = await desk.call("ask", question="Refunds of plans", conversation=asked["conversation"])
    assert answer["outcome"] == "answered"


async def test_what_the_documents_do_not_say_is_said(desk: Desk) -> None:
    desk.harness.script.always("grade", 1)
    desk.harness.script.always("decide", Insufficient("parking"))
    answer = await desk.call("ask", question="Where may I park?")
    assert (answer["outcome"], answer["sources"]) == ("abstained", [])


async def test_a_search_leads_to_the_whole_section(desk: Desk) -> None:
    found = (await desk.call("search_knowledge_base", query="refunds paid days"))["passages"]
    first = next(one for one in found if one["text"] == REFUNDS)
    section = await desk.call("read_section", document=first["document"], section=first["section"])
    assert (section["title"], section["text"], section["cut"]) == ("Refund policy", REFUNDS, False)


async def test_a_search_stays_within_a_source(desk: Desk) -> None:
    await desk.harness.knows("Refunds of travel take longer.", title="Travel")
    found = (await desk.call("search_by_source", query="refunds", source="Travel"))["passages"]
    assert {one["title"] for one in found} == {"Travel"}


async def test_sources_are_listed_and_found_by_name(desk: Desk) -> None:
    listed = await desk.call("list_sources")
    assert [base["name"] for base in listed["knowledge_bases"]] == ["default"]
    assert [document["title"] for document in listed["documents"]] == ["Refund policy"]
    assert (await desk.call("list_sources", name="attic"))["documents"] == []


# --- whose audience it is


async def everything(desk: Desk) -> str:
    """What comes out by every path to what only the board may read."""
    calls = [
        await desk.call("ask", question="When does the canary sing?"),
        await desk.call("search_knowledge_base", query="canary dawn"),
        await desk.call("search_knowledge_base", query="canary dawn", knowledge_base="board"),
        await desk.call("search_by_source", query="canary", source="Board minutes"),
        await desk.call("list_sources"),
        await desk.call("list_sources", knowledge_base="board"),
        await desk.call("list_sources", name="Board"),
        await desk.call("read_section", document="d2", section="d2s1"),
    ]
    return repr(calls)


async def test_what_only_the_board_may_read_comes_out_by_no_tool(desk: Desk) -> None:
    told = await everything(desk)
    assert "dawn" not in told.replace("canary dawn", "")
    assert "Board minutes" not in told.replace("no source called “Board minutes”", "")


async def test_a_token_for_the_board_reads_it_and_nothing_else(desk: Desk) -> None:
    await desk.admit("board")
    assert "sings at dawn" in await everything(desk)
    assert REFUNDS not in await everything(desk)


async def test_the_owner_at_the_terminal_reads_everything(desk: Desk) -> None:
    desk.owner = local_owner()
    told = await everything(desk)
    assert "sings at dawn" in told


async def test_a_grant_that_is_taken_back_counts_at_the_next_call(desk: Desk) -> None:
    token = await desk.admit("board")
    await desk.clients.revoke(token, OWNER)
    assert "This token was revoked" in await desk.call("search_knowledge_base", query="canary")


@pytest.mark.parametrize(
    ("scope", "tool", "given"),
    [
        (TokenScope.SEARCH, "ask", {"question": QUESTION}),
        (TokenScope.ASK, "search_knowledge_base", {"query": "refunds"}),
        (TokenScope.ASK, "search_by_source", {"query": "refunds", "source": "Refund policy"}),
        (TokenScope.ASK, "list_sources", {}),
        (TokenScope.ASK, "read_section", {"document": "d1", "section": "d1s1"}),
    ],
)
async def test_a_token_calls_only_what_it_was_made_for(
    desk: Desk, scope: TokenScope, tool: str, given: dict[str, str]
) -> None:
    await desk.admit(scopes=frozenset({scope}))
    assert "This token may not" in await desk.call(tool, **given)


async def test_too_many_calls_are_refused(desk: Desk) -> None:
    await desk.admit(rate=1)
    await desk.call("list_sources")
    assert "Wait a moment" in await desk.call("list_sources")


async def test_conversations_of_one_name_are_apart_for_two_tokens(desk: Desk) -> None:
    await desk.call("ask", question=QUESTION, conversation="c")
    await desk.admit()
    await desk.call("ask", question="and who pays them?", conversation="c")
    _, thread = desk.harness.script.calls_of("understand")[-1].given
    assert thread.turns == ()


# --- what goes wrong


async def test_a_model_that_is_away_is_one_line(desk: Desk) -> None:
    desk.harness.script.always("understand", ModelUnavailable("The model is away."))
    assert await desk.call("ask", question=QUESTION) == "Error executing tool ask: The model is away."


async def test_what_nobody_foresaw_says_nothing_of_itself(desk: Desk) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("s3cret-value")

    desk.harness.index.search = broken  # type: ignore[method-assign, assignment]
    assert "s3cret" not in str(await desk.call("search_knowledge_base", query="refunds"))


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("ask", {"question": ""}),
        ("ask", {"question": QUESTION, "conversation": "../other"}),
        ("search_knowledge_base", {"query": "x", "limit": 10_000}),
        ("read_section", {"document": "nowhere", "section": "none"}),
        ("list_sources", {"knowledge_base": "attic"}),
    ],
)
async def test_what_cannot_be_meant_is_refused(desk: Desk, tool: str, given: dict[str, Any]) -> None:
    assert isinstance(await desk.call(tool, **given), str)
