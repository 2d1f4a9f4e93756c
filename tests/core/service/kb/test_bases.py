"""Readers of a base: granting, revoking, restricting, and mistakes that would close it to everyone."""

from dataclasses import replace

import pytest

from adapters.discord.api.ids import guild_principal, role_principal, user_principal
from core.model.conversation import Audience, ThreadKey
from core.model.incoming_events import Permissions
from core.model.knowledge import NOBODY, KnowledgeBase
from core.model.principals import EVERYONE
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.results import ReadersPreview, is_success
from core.service.kb.text_layout import lay_out
from tests.core.service.kb.knowledge_room import ADMIN, CHANNEL, MEMBER, Room, denied, words


@pytest.fixture
def room() -> Room:
    return Room()


async def test_revoking_the_last_grant_closes_a_base_and_never_opens_it(room: Room) -> None:
    await room.says(KbVerb.CREATE, base="board", principals=(CHANNEL,))
    reply = await room.says(KbVerb.REVOKE, base="board", principals=(CHANNEL,))
    assert "restricted to nobody" in words(reply)
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
        assert f"“{slip}” is not a valid reader" in words(reply)
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
    assert words(reply) == f"“board” is restricted to {principal}."


async def test_a_grant_that_would_not_be_accepted_any_more_can_be_revoked(room: Room) -> None:
    await room.catalog.save_base(KnowledgeBase("board", grants=frozenset({"nonsense", CHANNEL})))
    reply = await room.says(KbVerb.REVOKE, base="board", principals=("nonsense",))
    assert words(reply) == f"“board” is restricted to {CHANNEL}."


# --- restricting a base that everyone can read ----------------------------------------------------------------------


async def test_restricting_an_open_base_asks_first_and_names_who_loses_access(room: Room) -> None:
    await room.adds("handbook", refunds_md="# Refunds\n\nThirty days.")
    asked = await room.says(KbVerb.GRANT, base="Handbook", principals=(CHANNEL,))
    assert isinstance(asked, ReadersPreview)
    assert f"Restrict “handbook” to {CHANNEL}? Everyone can read its 1 document now; all other people" in words(asked)
    assert await _readers(room, "handbook") == frozenset()
    assert "kb grant" not in [entry.action for entry in await room.audit.recent()]
    reply = await room.kb_service.handle(asked.confirm.command, room.caller(ADMIN))
    assert words(reply) == f"“handbook” is restricted to {CHANNEL}."
    assert await _readers(room, "handbook") == {CHANNEL}


async def test_adding_readers_says_what_they_can_read_and_opening_to_everyone_asks(room: Room) -> None:
    await room.adds("handbook", refunds_md="# Refunds\n\nThirty days.")
    await room.says(KbVerb.GRANT, base="handbook", principals=(CHANNEL,), confirmed=True)
    reply = await room.says(KbVerb.GRANT, base="handbook", principals=("slack:user:T/U2",))
    assert words(reply).endswith("They can now read all of it: 1 document.")
    assert await _readers(room, "handbook") == {CHANNEL, "slack:user:T/U2"}
    asked = await room.says(KbVerb.GRANT, base="handbook", principals=(EVERYONE,))
    assert isinstance(asked, ReadersPreview)
    assert "Open “handbook” to everyone? Everyone can then read all of it: 1 document." in words(asked)
    assert await _readers(room, "handbook")
    await room.kb_service.handle(asked.confirm.command, room.caller(ADMIN))
    assert await _readers(room, "handbook") == frozenset()


async def test_taking_the_last_reader_away_asks_first(room: Room) -> None:
    await room.adds("handbook", refunds_md="# Refunds\n\nThirty days.")
    both = (CHANNEL, "slack:user:T/U2")
    await room.says(KbVerb.GRANT, base="handbook", principals=both, confirmed=True)
    await room.says(KbVerb.REVOKE, base="handbook", principals=(both[0],))
    asked = await room.says(KbVerb.REVOKE, base="handbook", principals=(both[1],))
    assert isinstance(asked, ReadersPreview)
    assert "Take the last reader from “handbook”? Then nobody can read its 1 document." in words(asked)
    assert await _readers(room, "handbook") == {both[1]}
    assert is_success(await room.kb_service.handle(asked.confirm.command, room.caller(ADMIN)))
    base = await room.trash.base("handbook")
    assert base is not None
    assert not base.visible_to(Audience(frozenset(both)))


async def test_an_admin_who_restricts_a_base_to_others_is_warned_and_still_manages_it(room: Room) -> None:
    await room.adds("handbook", refunds_md="# Refunds\n\nThirty days.")
    rights = Permissions(is_admin=True, principals=frozenset({"slack:user:T/U1", "slack:team:T"}))
    admin = replace(room.caller(ADMIN), permissions=rights, audience=Audience(rights.principals))
    grant = KbCommand(KbVerb.GRANT, "handbook", principals=("slack:user:T/U2",))
    asked = await room.kb_service.handle(grant, admin)
    assert isinstance(asked, ReadersPreview)
    assert "You lose it too" in words(asked)
    await room.kb_service.handle(asked.confirm.command, admin)
    assert await _readers(room, "handbook") == {"slack:user:T/U2"}
    opened = replace(grant, principals=(EVERYONE,), confirmed=True)
    assert is_success(await room.kb_service.handle(opened, admin))
    assert asked.with_me is not None
    await room.kb_service.handle(asked.with_me.command, admin)
    assert await _readers(room, "handbook") == {"slack:user:T/U1", "slack:user:T/U2"}


async def test_who_stays_among_the_readers_is_not_warned_of_losing_access(room: Room) -> None:
    await room.adds("handbook", refunds_md="# Refunds\n\nThirty days.")
    rights = Permissions(is_admin=True, principals=frozenset({"slack:user:T/U1", "slack:team:T"}))
    admin = replace(room.caller(ADMIN), permissions=rights, audience=Audience(rights.principals))
    asked = await room.kb_service.handle(KbCommand(KbVerb.GRANT, "handbook", principals=("slack:team:T",)), admin)
    assert isinstance(asked, ReadersPreview)
    assert (asked.caller_loses, asked.with_me) == (False, None)


async def _readers(room: Room, name: str) -> frozenset[str]:
    base = await room.trash.base(name)
    assert base is not None
    return base.grants


async def test_a_closed_base_opens_by_confirming_its_readers_and_by_no_other_change(room: Room) -> None:
    await room.catalog.save_base(KnowledgeBase("board", grants=frozenset({CHANNEL}), closed=True))
    await room.says(KbVerb.GRANT, base="board", principals=(EVERYONE,))
    await room.says(KbVerb.GRANT, base="board", principals=(CHANNEL,), confirmed=True)
    await room.says(KbVerb.DESCRIBE, base="board", text="What the board decides.")
    assert f"closed to everyone except admins, until an admin confirms that it is restricted to {CHANNEL}" in words(
        await room.says(KbVerb.LIST)
    )
    assert denied(await room.says(KbVerb.CONFIRM, MEMBER, base="board"))
    assert "Closed: board." in words(await room.says(KbVerb.CONFIRM))
    closed = await room.trash.base("board")
    assert closed is not None
    assert not closed.visible_to(Audience(frozenset({CHANNEL})))
    assert f"“board” is restricted to {CHANNEL}." in words(await room.says(KbVerb.CONFIRM, base="board"))
    opened = await room.trash.base("board")
    assert opened is not None
    assert opened.visible_to(Audience(frozenset({CHANNEL})))


async def test_an_admins_list_offers_to_confirm_the_readers_of_closed_bases_alone(room: Room) -> None:
    await room.catalog.save_base(KnowledgeBase("board", closed=True))
    await room.catalog.save_base(KnowledgeBase("handbook"))
    found = lay_out(await room.says(KbVerb.LIST))  # type: ignore[arg-type]
    offered = [action.command for part in found.parts for action in part.actions]
    assert offered == [KbCommand(KbVerb.CONFIRM, "board")]
