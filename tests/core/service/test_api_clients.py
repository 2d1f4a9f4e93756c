"""API clients: valid and invalid tokens, and the bases that a token can read."""

from dataclasses import dataclass, field

import pytest

from core.model.conversation import Audience, Person
from core.model.errors import Busy, Denied, NotFound
from core.model.knowledge import KnowledgeBase
from core.ports.access import TokenScope
from core.service.api_clients import ApiClient, ApiClients, Unauthenticated
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.stores import InProcessApiTokens, InProcessAudit, InProcessCatalog

ADA = Person("console:operator", "Ada")
BOARD = frozenset({"slack:channel:T/BOARD"})
BOTH = frozenset({TokenScope.ASK, TokenScope.SEARCH})


@dataclass
class House:
    """Three bases, one of them for a channel alone."""

    catalog: InProcessCatalog = field(default_factory=InProcessCatalog)
    tokens: InProcessApiTokens = field(default_factory=InProcessApiTokens)
    audit: InProcessAudit = field(default_factory=InProcessAudit)

    def __post_init__(self) -> None:
        self.clients = ApiClients(self.tokens, self.catalog, self.audit, ManualClock())

    async def reads(self, client: ApiClient) -> set[str]:
        return {base.name for base in await client.visible_bases(self.catalog)}


@pytest.fixture
async def house() -> House:
    house = House()
    for base in (KnowledgeBase("handbook"), KnowledgeBase("api"), KnowledgeBase("board", grants=BOARD)):
        await house.catalog.save_base(base)
    return house


async def test_who_sends_the_secret_is_known(house: House) -> None:
    token, secret = await house.clients.create("the wiki", BOTH, (), ADA)
    client = await house.clients.authenticate(secret)
    assert (client.id, client.name, client.scopes) == (token.id, "the wiki", BOTH)
    assert client.audience == Audience(frozenset({f"api:token:{token.id}"}))


async def test_the_secret_is_kept_nowhere(house: House) -> None:
    token, secret = await house.clients.create("the wiki", BOTH, (), ADA)
    kept = await house.tokens.find(token.id)
    entries = await house.audit.recent()
    assert secret.split("_", 2)[2] not in repr(kept) + repr(entries) + repr(await house.clients.tokens.all())


@pytest.mark.parametrize("wrong", ["", "footnote", "Bearer x", "footnote_AAAA2222_" + "x" * 43, "' OR 1=1"])
async def test_what_is_no_token_of_ours_opens_nothing(house: House, wrong: str) -> None:
    with pytest.raises(Unauthenticated):
        await house.clients.authenticate(wrong)


async def test_another_secret_under_a_known_id_opens_nothing(house: House) -> None:
    _, secret = await house.clients.create("the wiki", BOTH, (), ADA)
    forged = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    with pytest.raises(Unauthenticated):
        await house.clients.authenticate(forged)


async def test_a_token_reads_open_bases_and_no_others(house: House) -> None:
    _, secret = await house.clients.create("the wiki", BOTH, (), ADA)
    assert await house.reads(await house.clients.authenticate(secret)) == {"handbook", "api"}


async def test_a_token_with_bases_reads_those_alone_and_is_granted_what_is_not_open(house: House) -> None:
    token, secret = await house.clients.create("the board’s bot", BOTH, ("board",), ADA)
    assert await house.reads(await house.clients.authenticate(secret)) == {"board"}
    board = {base.name: base.grants for base in await house.catalog.bases()}["board"]
    assert board == BOARD | {token.principal}


async def test_naming_an_open_base_does_not_close_it(house: House) -> None:
    await house.clients.create("the wiki", BOTH, ("handbook",), ADA)
    assert {base.name: base.grants for base in await house.catalog.bases()}["handbook"] == frozenset()


async def test_a_base_that_is_closed_later_is_closed_to_a_token_too(house: House) -> None:
    _, secret = await house.clients.create("the wiki", BOTH, ("handbook", "api"), ADA)
    await house.catalog.save_base(KnowledgeBase("handbook", grants=BOARD))
    assert await house.reads(await house.clients.authenticate(secret)) == {"api"}


async def test_a_revoked_token_opens_nothing_and_its_grants_are_gone(house: House) -> None:
    token, secret = await house.clients.create("the board’s bot", BOTH, ("board",), ADA)
    assert (await house.clients.revoke(token.id.lower(), ADA)).revoked_at is not None
    with pytest.raises(Unauthenticated, match="revoked"):
        await house.clients.authenticate(secret)
    assert {base.name: base.grants for base in await house.catalog.bases()}["board"] == BOARD
    assert [one.revoked_at is not None for one in await house.clients.tokens.all()] == [True]


async def test_making_and_revoking_are_on_record(house: House) -> None:
    token, _ = await house.clients.create("the wiki", BOTH, (), ADA)
    await house.clients.revoke(token.id, ADA)
    assert [(entry.actor, entry.action) for entry in await house.audit.recent()] == [
        (ADA.id, "revoke token"),
        (ADA.id, "create token"),
    ]


async def test_too_many_requests_within_a_minute_are_refused(house: House) -> None:
    _, secret = await house.clients.create("the wiki", BOTH, (), ADA, rate=2)
    for _ in range(2):
        await house.clients.authenticate(secret)
    with pytest.raises(Busy):
        await house.clients.authenticate(secret)


async def test_a_token_does_only_what_it_was_made_for(house: House) -> None:
    _, secret = await house.clients.create("the wiki", {TokenScope.SEARCH}, (), ADA)
    client = await house.clients.authenticate(secret)
    client.check(TokenScope.SEARCH)
    with pytest.raises(Denied):
        client.check(TokenScope.ASK)


@pytest.mark.parametrize(("scopes", "bases"), [(frozenset(), ()), (BOTH, ("attic",))])
async def test_a_token_for_nothing_is_not_made(
    house: House, scopes: frozenset[TokenScope], bases: tuple[str, ...]
) -> None:
    with pytest.raises(NotFound):
        await house.clients.create("the wiki", scopes, bases, ADA)
    assert list(await house.clients.tokens.all()) == []


@pytest.mark.parametrize("name", ["../other", "a/b", "", "x" * 65, "a b"])
async def test_a_conversation_of_another_client_cannot_be_named(house: House, name: str) -> None:
    _, secret = await house.clients.create("the wiki", BOTH, (), ADA)
    client = await house.clients.authenticate(secret)
    with pytest.raises(NotFound):
        client.thread(name)
    if name:
        with pytest.raises(NotFound):
            client.thread("fine", name)


async def test_a_base_of_a_connected_source_is_granted_to_no_token(house: House) -> None:
    await house.catalog.save_base(KnowledgeBase("wiki", grants=BOARD, connection="wiki"))
    with pytest.raises(Denied, match="connected source"):
        await house.clients.create("the wiki’s bot", BOTH, ("wiki",), ADA)
    assert await house.clients.tokens.all() == []
    (wiki,) = [base for base in await house.catalog.bases() if base.name == "wiki"]
    assert wiki.grants == BOARD
