"""What each subcommand of ``/kb`` takes, as Discord's options, and the command it makes of that.

Required options come first: Discord shows them in this order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import discord
from discord import app_commands

from adapters.discord.api.ids import PLATFORM, guild_principal, role_principal, user_principal
from adapters.discord.inbound.interactions import PlaceOption
from adapters.discord.outbound.buttons import Interaction
from core.model.principals import channel_principal
from core.ports.schedule_store import Every
from core.service.kb.commands import MOST_PAGES, KbCommand, KbVerb

MOST_OPTIONS = 8  # of a command: what a person can take in at a glance; Discord would allow 25


class KbRunner(Protocol):
    """Who does what was commanded."""

    async def run(self, interaction: Interaction, command: KbCommand) -> None:
        """Do it and show the reply."""

    async def ask_for_files(self, interaction: Interaction, base: str) -> None:
        """Open the form that takes files."""

    async def add_conversation(self, interaction: Interaction, base: str) -> None:
        """Take in the conversation that the command was given in."""


@dataclass(frozen=True, slots=True)
class Subcommand:
    """One subcommand: its name, what it says of itself, and what it takes."""

    name: str
    description: str
    callback: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class SubcommandGroup:
    """Subcommands that are about the same kind of thing; Discord shows them under its name."""

    name: str
    description: str
    subcommands: tuple[Subcommand, ...]


def subcommands(kb: KbRunner) -> tuple[Subcommand | SubcommandGroup, ...]:
    """All that ``/kb`` can do, at most ``MOST_OPTIONS`` to choose from at any point."""
    verb, one, group = KbVerb, Subcommand, SubcommandGroup
    add = (
        one("files", "Add up to ten files in a form", _add_files(kb)),
        one("link", "Add a page, a sitemap or a file, and pages below it", _add_link(kb)),
        one("here", "Add this conversation, or those of this channel", _add_here(kb)),
    )
    sources = (
        one("show", "Show one document", _about_source(kb, verb.SHOW)),
        one("remove", "Remove a document", _about_source(kb, verb.REMOVE)),
        one("restore", "Restore a removed document", _about_source(kb, verb.RESTORE)),
        one("refresh", "Fetch a document again from its link", _about_source(kb, verb.REFRESH)),
        one("schedule", "Refresh a link daily, weekly, on change or never", _schedule(kb)),
    )
    bases = (
        one("create", "Create a knowledge base", _describe_command(kb, verb.CREATE)),
        one("describe", "Describe what a knowledge base is about", _describe_command(kb, verb.DESCRIBE)),
        one(
            "grant",
            "Restrict it to a channel, a role or a person, or open it to everyone",
            _grant_command(kb, verb.GRANT),
        ),
        one("confirm", "After a data loss: its readers are right", _list_command(kb, verb.CONFIRM)),
        one("revoke", "Stop a channel, a role or a person from reading it", _grant_command(kb, verb.REVOKE)),
    )
    jobs = (
        one("list", "Jobs and their progress", _list_command(kb, verb.JOBS)),
        one("cancel", "Cancel a job", _by_id(kb, verb.CANCEL)),
    )
    proposals = (
        one("list", "Proposals that wait for an admin", _list_command(kb, verb.PROPOSALS)),
        one("approve", "Approve a proposal", _approve(kb)),
        one("reject", "Reject a proposal", _by_id(kb, verb.REJECT)),
    )
    return (
        group("add", "Add files, a link or this conversation", add),
        one("list", "List knowledge bases, or the documents of one", _list_command(kb, verb.LIST)),
        group("sources", "Show, remove, restore and refresh documents", sources),
        group("bases", "Knowledge bases, and who may read them", bases),
        group("jobs", "Jobs and their progress", jobs),
        group("proposals", "Review proposals", proposals),
        one("status", "Jobs, failures and schedules", _list_command(kb, verb.STATUS)),
        one("repair", "Restore passages that the index has lost", _list_command(kb, verb.REPAIR)),
    )


def _add_files(kb: KbRunner) -> Callable[..., Any]:
    @app_commands.describe(knowledge="Which knowledge base")
    @app_commands.rename(knowledge="kb")
    async def add_files(interaction: discord.Interaction, knowledge: str = "") -> None:
        await kb.ask_for_files(interaction, knowledge)

    return add_files


def _add_link(kb: KbRunner) -> Callable[..., Any]:
    @app_commands.describe(
        link="A page, a sitemap or a file",
        pages="Follow the link to this many pages",
        knowledge="Which knowledge base",
    )
    @app_commands.rename(knowledge="kb")
    async def add_link(
        interaction: discord.Interaction,
        link: str,
        pages: app_commands.Range[int, 0, MOST_PAGES] = 0,
        knowledge: str = "",
    ) -> None:
        await kb.run(interaction, KbCommand(KbVerb.INGEST, base=knowledge, target=link, limit=pages))

    return add_link


def _add_here(kb: KbRunner) -> Callable[..., Any]:
    @app_commands.describe(knowledge="Which knowledge base")
    @app_commands.rename(knowledge="kb")
    async def add_here(interaction: discord.Interaction, knowledge: str = "") -> None:
        await kb.add_conversation(interaction, knowledge)

    return add_here


def _list_command(kb: KbRunner, verb: KbVerb) -> Callable[..., Any]:
    async def run_list(
        interaction: discord.Interaction, knowledge: str = "", page: app_commands.Range[int, 1, 1000] = 1
    ) -> None:
        await kb.run(interaction, KbCommand(verb, base=knowledge, page=page))

    return app_commands.describe(knowledge="Which knowledge base", page="Which page")(
        app_commands.rename(knowledge="kb")(run_list)
    )


def _about_source(kb: KbRunner, verb: KbVerb) -> Callable[..., Any]:
    async def about_source(interaction: discord.Interaction, source: str = "", knowledge: str = "") -> None:
        await kb.run(interaction, KbCommand(verb, base=knowledge, target=source))

    return app_commands.describe(
        source="Its title or path; leave it out for all of a knowledge base", knowledge="Which knowledge base"
    )(app_commands.rename(knowledge="kb")(about_source))


def _schedule(kb: KbRunner) -> Callable[..., Any]:
    @app_commands.describe(
        source="A link, or a document from a link",
        every="How often",
        pages="Follow the link to this many pages",
        knowledge="Which knowledge base",
    )
    @app_commands.choices(every=[app_commands.Choice(name=one.value, value=one.value) for one in Every])
    @app_commands.rename(knowledge="kb")
    async def schedule(
        interaction: discord.Interaction,
        source: str,
        every: str,
        pages: app_commands.Range[int, 0, MOST_PAGES] = 0,
        knowledge: str = "",
    ) -> None:
        command = KbCommand(KbVerb.SCHEDULE, base=knowledge, target=source, every=every, limit=pages)
        await kb.run(interaction, command)

    return schedule


def _describe_command(kb: KbRunner, verb: KbVerb) -> Callable[..., Any]:
    async def run_describe(interaction: discord.Interaction, knowledge: str, description: str = "") -> None:
        await kb.run(interaction, KbCommand(verb, base=knowledge, text=description))

    return app_commands.describe(knowledge="Its name", description="What it is about, to choose where to search")(
        app_commands.rename(knowledge="kb")(run_describe)
    )


def _grant_command(kb: KbRunner, verb: KbVerb) -> Callable[..., Any]:
    async def run_grant(
        interaction: discord.Interaction,
        knowledge: str,
        channel: app_commands.Transform[int, PlaceOption] | None = None,
        role: discord.Role | None = None,
        person: discord.User | None = None,
        principal: str = "",
    ) -> None:
        guild = str(interaction.guild_id)
        named = [principal.strip()] if principal.strip() else []
        named += [channel_principal(PLATFORM, guild, str(channel))] if channel is not None else []
        if role is not None:
            named.append(guild_principal(guild) if role.is_default() else role_principal(guild, role.id))
        named += [user_principal(person.id)] if person is not None else []
        await kb.run(interaction, KbCommand(verb, base=knowledge, principals=tuple(named)))

    return app_commands.describe(
        knowledge="Which knowledge base",
        channel="Whoever can read this channel",
        role="Whoever has this role",
        person="One person",
        principal="Any other, as I write them, or “everyone”",
    )(app_commands.rename(knowledge="kb")(run_grant))


def _approve(kb: KbRunner) -> Callable[..., Any]:
    @app_commands.describe(id="Which proposal", knowledge="Which knowledge base it goes into")
    @app_commands.rename(knowledge="kb")
    async def approve(interaction: discord.Interaction, id: str, knowledge: str = "") -> None:  # noqa: A002 - as below
        await kb.run(interaction, KbCommand(KbVerb.APPROVE, base=knowledge, target=id))

    return approve


def _by_id(kb: KbRunner, verb: KbVerb) -> Callable[..., Any]:
    async def by_id(interaction: discord.Interaction, id: str) -> None:  # noqa: A002 - the option's name for people
        await kb.run(interaction, KbCommand(verb, target=id))

    return app_commands.describe(id="Its id")(by_id)
