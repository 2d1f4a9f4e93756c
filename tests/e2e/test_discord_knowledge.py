"""``/kb`` and *Add to knowledge base* in Discord, over a knowledge service that writes down what it is asked."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from adapters.discord.preflight import preflight
from core.model.document_content import Conversation
from core.service.kb.commands import Caller, KbCommand, KbVerb
from core.service.kb.results import BaseDescribed, BaseList, KbResult, ProposalSent, RemovalPreview
from core.service.kb.summaries import OfferedCommand, Page
from tests.e2e.discord_office import Office
from tests.fakes.discord import SPECIFICATION, Choice, FakeDiscord

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]


class WrittenDown:
    """Says yes to everything, but wants a removal confirmed."""

    def __init__(self) -> None:
        self.commands: list[tuple[KbCommand, Caller]] = []
        self.proposed: list[tuple[Conversation, Caller]] = []
        self.queries = self.proposals = self

    async def handle(self, command: KbCommand, caller: Caller) -> KbResult:
        self.commands.append((command, caller))
        if command.verb is KbVerb.REMOVE and not command.confirmed:
            confirm = OfferedCommand("Remove", replace(command, confirmed=True), once=True)
            return RemovalPreview("handbook", confirm, "Refund policy")
        if command.verb is KbVerb.LIST:
            number = command.page
            page = Page(number, 3, replace(command, page=number - 1), replace(command, page=number + 1))
            return BaseList((), replace(page, previous=None) if number == 1 else page)
        return BaseDescribed("handbook", f"Done: {command.verb}")

    async def propose(self, conversation: Conversation, caller: Caller, base: str = "") -> KbResult:
        self.proposed.append((conversation, caller))
        return ProposalSent("a1b2c3d4")

    async def correct(
        self,
        question: str,
        answer: str,
        permalink: str | None,
        caller: Caller,
        *,
        trace_id: str = "",
        bases: Sequence[str] = (),
    ) -> KbResult:
        return ProposalSent("a1b2c3d4")

    async def proposals_waiting(self, caller: Caller) -> int:
        return 0

    async def complete(self, typed: str, caller: Caller) -> tuple[str, ...]:
        return tuple(name for name in ("handbook", "policies") if name.startswith(typed))

    async def complete_document(self, typed: str, caller: Caller, base: str = "") -> tuple[tuple[str, str], ...]:
        return ((f"Refund policy of {base}", "doc1"),)


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        yield server
        assert server.violations == []


@pytest.fixture
async def kb(discord: FakeDiscord) -> AsyncIterator[WrittenDown]:
    kb: Any = WrittenDown()  # instead of the service
    async with Office(discord, kb=kb).open():
        yield kb


async def test_a_removal_is_confirmed_by_a_button(discord: FakeDiscord, kb: WrittenDown) -> None:
    ada = discord.person("ada", admin=True)
    asked = await discord.reply_to(await ada.slash("kb sources remove", source="Refund policy"))
    assert asked.buttons() == ["Remove"]
    await ada.clicks(asked, "Remove")
    await discord.until(lambda: "Done: remove" in asked.text, what="the outcome in the question's place")
    assert asked.buttons() == []
    assert [command.confirmed for command, _ in kb.commands] == [False, True]
    assert all(caller.permissions.is_admin for _, caller in kb.commands)


async def test_a_long_list_is_turned_page_by_page(discord: FakeDiscord, kb: WrittenDown) -> None:
    ada = discord.person("ada", admin=True)
    first = await discord.reply_to(await ada.slash("kb list"))
    assert first.buttons() == ["Next page"]
    await ada.clicks(first, "Next page")
    await discord.until(lambda: "Page 2 of 3." in first.text, what="the second page in place of the first")
    assert first.buttons() == ["Previous page", "Next page"]


async def test_who_is_no_admin_is_not_offered_kb_and_is_no_admin_to_the_desk(
    discord: FakeDiscord, kb: WrittenDown
) -> None:
    alice = discord.person("alice")
    with pytest.raises(PermissionError):
        await alice.slash("kb list")
    discord.commands_shown_to_all = True
    await alice.slash("kb list")
    await discord.until(lambda: kb.commands, what="the command")
    assert not kb.commands[0][1].permissions.is_admin


async def test_bases_and_sources_are_completed(discord: FakeDiscord, kb: WrittenDown) -> None:
    ada = discord.person("ada", admin=True)
    assert await ada.autocompletes("kb sources show", option="kb", typed="hand", source="x") == [
        Choice("handbook", "handbook")
    ]
    found = await ada.autocompletes("kb sources show", option="source", typed="Ref", kb="handbook")
    assert found == [Choice("Refund policy of handbook", "doc1")]


async def test_a_grant_names_a_channel_and_a_role_as_principals(discord: FakeDiscord, kb: WrittenDown) -> None:
    ada, role, channel = discord.person("ada", admin=True), discord.role("board"), discord.channel("general")
    await ada.slash("kb bases grant", {"kb": "handbook", "channel": channel, "role": role})
    await discord.until(lambda: kb.commands, what="the command")
    guild = discord.guild_id
    assert kb.commands[0][0].principals == (f"discord:channel:{guild}/{channel.id}", f"discord:role:{guild}/{role.id}")


async def test_a_message_is_proposed_with_the_thread_that_hangs_on_it(discord: FakeDiscord, kb: WrittenDown) -> None:
    bob, alice = discord.person("bob"), discord.person("alice")
    question = await bob.says("How do we reset the router?")
    await alice.starts_thread(question, "Router")
    await alice.says("Hold the button for ten seconds.", thread=question)
    pressed = await alice.context_menu("Add to knowledge base", question)
    assert "Your proposal waits for an admin" in (await discord.reply_to(pressed)).text
    ((conversation, caller),) = kb.proposed
    assert conversation.title == "Router"
    assert [(one.author, one.text) for one in conversation.messages] == [
        ("Bob", "How do we reset the router?"),
        ("Alice", "Hold the button for ten seconds."),
    ]
    assert conversation.permalink is not None
    assert not caller.permissions.is_admin


async def test_the_preflight_names_what_is_missing_with_its_remedy(discord: FakeDiscord) -> None:
    async def checks() -> dict[str, tuple[bool, str]]:
        found = await preflight(discord.token, api_url=discord.api_url, gateway_url=discord.gateway_url)
        return {check.name: (check.ok, check.detail + " " + check.remedy) for check in found}

    assert all(ok for ok, _ in (await checks()).values())
    discord.disallow_intent("message_content")
    await discord.take_permission("create_public_threads", discord.channel("general"))
    told = await checks()
    assert not told["Discord intents"][0]
    assert "Message Content Intent" in told["Discord intents"][1]
    assert "#general (Create Public Threads)" in told["Discord, Acme"][1]
    discord.token = "MTIzNDU2Nzg5.fake.another-token"
    assert discord.identifies == 0


async def test_the_preflight_of_a_wrong_token_says_where_to_get_one(discord: FakeDiscord) -> None:
    (check,) = await preflight("MTIz.wrong.token", api_url=discord.api_url, gateway_url=discord.gateway_url)
    assert not check.ok
    assert "Reset Token" in check.remedy
    assert "wrong" not in check.detail
