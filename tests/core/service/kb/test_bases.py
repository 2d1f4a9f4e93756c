"""Whom a base is for: granted, revoked, and slips that would close it to everybody."""

import pytest

from adapters.discord.api.ids import guild_principal, role_principal, user_principal
from core.model.conversation import Audience, ThreadKey
from core.model.grants import NOBODY
from core.model.knowledge import KnowledgeBase
from core.model.principals import EVERYONE
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.results import is_success
from core.service.kb.text_layout import lay_out
from tests.core.service.kb.knowledge_room import CHANNEL, MEMBER, Room, denied, words


@pytest.fixture
def room() -> Room:
    return Room()


async def test_revoking_the_last_grant_closes_a_base_and_never_opens_it(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="board", principals=(CHANNEL,))
    reply = await room.says(KbVerb.REVOKE, base="board", principals=(CHANNEL,))
    assert "for nobody" in words(reply)
    base = await room.trash.base("board")
    assert base is not None
    assert base.grants == {NOBODY}
    assert not base.visible_to(Audience(frozenset({CHANNEL})))
    await room.says(KbVerb.GRANT, base="board", principals=(EVERYONE,))
    opened = await room.trash.base("board")
    assert opened is not None
    assert opened.visible_to(Audience())


@pytest.mark.parametrize(
    "slip",
    ["nonsense", "slack:chanel:T1/C1", "slack:channel:C1", "slak:channel:T1/C1", "slack:T1/U1", "#sales", NOBODY, ""],
)
async def test_a_slip_in_a_grant_is_refused_and_closes_nothing(room: Room, slip: str) -> None:
    await room.says(KbVerb.CREATE, base="handbook")
    for verb, base in ((KbVerb.GRANT, "handbook"), (KbVerb.CREATE, "board")):
        reply = await room.says(verb, base=base, principals=("slack:group:T1/S1", slip))
        assert not is_success(reply)
        assert f"“{slip}” is nobody" in words(reply)
        assert "everyone" in words(reply)
        assert "slack:channel:TEAM/CHANNEL" in words(reply)
        assert "\n" not in words(reply)
    assert [(base.name, base.grants) for base in await room.catalog.bases()] == [("handbook", frozenset())]


@pytest.mark.parametrize(
    "principal",
    [
        ThreadKey("slack", "T0AB", "C9XY", "1.2").place, "slack:group:T0AB/S1", "slack:user:T0AB/U1", "slack:team:T0AB",
        ThreadKey("discord", "17", "18", "19").place, role_principal(17, 20), user_principal(21), guild_principal(17),
    ],
)  # fmt: skip
async def test_everybody_whom_a_platform_names_can_be_granted(room: Room, principal: str) -> None:
    await room.says(KbVerb.CREATE, base="board")
    reply = await room.says(KbVerb.GRANT, base="board", principals=(principal,))
    assert words(reply) == f"“board” is for {principal}."


async def test_a_grant_that_would_not_be_accepted_any_more_can_be_revoked(room: Room) -> None:
    await room.catalog.save_base(KnowledgeBase("board", grants=frozenset({"nonsense", CHANNEL})))
    reply = await room.says(KbVerb.REVOKE, base="board", principals=("nonsense",))
    assert words(reply) == f"“board” is for {CHANNEL}."


async def test_a_closed_base_opens_by_confirming_its_readers_and_by_no_other_change(room: Room) -> None:
    await room.catalog.save_base(KnowledgeBase("board", grants=frozenset({CHANNEL}), closed=True))
    await room.says(KbVerb.GRANT, base="board", principals=(EVERYONE,))
    await room.says(KbVerb.GRANT, base="board", principals=(CHANNEL,))
    await room.says(KbVerb.DESCRIBE, base="board", text="What the board decides.")
    assert f"closed to all but admins, until one of them confirms that it is for {CHANNEL}" in words(
        await room.says(KbVerb.LIST)
    )
    assert denied(await room.says(KbVerb.CONFIRM, MEMBER, base="board"))
    assert "Closed: board." in words(await room.says(KbVerb.CONFIRM))
    closed = await room.trash.base("board")
    assert closed is not None
    assert not closed.visible_to(Audience(frozenset({CHANNEL})))
    assert f"“board” is for {CHANNEL}." in words(await room.says(KbVerb.CONFIRM, base="board"))
    opened = await room.trash.base("board")
    assert opened is not None
    assert opened.visible_to(Audience(frozenset({CHANNEL})))


async def test_an_admins_list_offers_to_confirm_the_readers_of_closed_bases_alone(room: Room) -> None:
    await room.catalog.save_base(KnowledgeBase("board", closed=True))
    await room.catalog.save_base(KnowledgeBase("handbook"))
    found = lay_out(await room.says(KbVerb.LIST))  # type: ignore[arg-type]
    offered = [action.command for part in found.parts for action in part.actions]
    assert offered == [KbCommand(KbVerb.CONFIRM, "board")]
