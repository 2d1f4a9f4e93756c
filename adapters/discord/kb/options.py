"""What each subcommand of ``/kb`` takes, as Discord's options, and the command it makes of that.

Required options come first, and files last: Discord shows them in this order.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import discord
from discord import app_commands

from adapters.discord.inbound.buttons import Press
from adapters.discord.inbound.options import PlaceOption
from core.model.conversation import channel_principal
from core.service.kb.commands import MOST_FILES, KbCommand, KbVerb


class KbRunner(Protocol):
    """Who does what was commanded."""

    async def run(self, press: Press, command: KbCommand) -> None:
        """Do it and show the reply."""

    async def ingest(
        self, press: Press, base: str, files: Sequence[discord.Attachment], link: str, pages: int, *, here: bool
    ) -> None:
        """Take in files, a link with what lies below it, or this conversation."""


def subcommands(kb: KbRunner) -> list[tuple[str, str, Callable[..., Any]]]:
    """Each subcommand: its name, what it says of itself, and what it takes."""
    verb = KbVerb
    return [
        ("ingest", "Add files, a link with what lies below it, or this conversation", _ingest(kb)),
        ("list", "What there is", _list_command(kb, verb.LIST)),
        ("show", "One source", _about_source(kb, verb.SHOW)),
        ("remove", "Take a source out", _about_source(kb, verb.REMOVE)),
        ("restore", "Bring a source back that was removed", _about_source(kb, verb.RESTORE)),
        ("refresh", "Look whether a source has changed", _about_source(kb, verb.REFRESH)),
        ("schedule", "Refresh a link daily, weekly or never", _schedule(kb)),
        ("repair", "Put back what the index has lost", _list_command(kb, verb.REPAIR)),
        ("create", "A new knowledge base", _describe_command(kb, verb.CREATE)),
        ("describe", "What a knowledge base is about", _describe_command(kb, verb.DESCRIBE)),
        ("grant", "Let a channel, a role or a person read it", _grant_command(kb, verb.GRANT)),
        ("revoke", "Do not let a channel, a role or a person read it any more", _grant_command(kb, verb.REVOKE)),
        ("status", "How the knowledge is doing", _list_command(kb, verb.STATUS)),
        ("jobs", "What is being worked on", _list_command(kb, verb.JOBS)),
        ("cancel", "End a job", _by_id(kb, verb.CANCEL)),
        ("proposals", "What was proposed and waits for an admin", _list_command(kb, verb.PROPOSALS)),
        ("approve", "Take a proposal up", _approve(kb)),
        ("reject", "Put a proposal aside", _by_id(kb, verb.REJECT)),
    ]


def _ingest(kb: KbRunner) -> Callable[..., Any]:
    files = {f"file_{n}": "Another file" for n in range(2, MOST_FILES + 1)}

    @app_commands.describe(
        link="A page, a sitemap or a file",
        pages="Follow the link to this many pages",
        here="This conversation, or what was said in this channel",
        knowledge="Which knowledge base",
        file="A file",
        **files,
    )
    @app_commands.rename(knowledge="kb")
    async def ingest(
        interaction: discord.Interaction,
        link: str = "",
        pages: app_commands.Range[int, 0, 500] = 0,
        here: bool = False,
        knowledge: str = "",
        file: discord.Attachment | None = None,
        file_2: discord.Attachment | None = None,
        file_3: discord.Attachment | None = None,
        file_4: discord.Attachment | None = None,
        file_5: discord.Attachment | None = None,
        file_6: discord.Attachment | None = None,
        file_7: discord.Attachment | None = None,
        file_8: discord.Attachment | None = None,
        file_9: discord.Attachment | None = None,
        file_10: discord.Attachment | None = None,
    ) -> None:
        given = (file, file_2, file_3, file_4, file_5, file_6, file_7, file_8, file_9, file_10)
        attached = [one for one in given if one is not None]
        await kb.ingest(interaction, knowledge, attached, link, pages, here=here)

    return ingest


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
        source="A link or a source",
        every="How often",
        pages="Follow the link to this many pages",
        knowledge="Which knowledge base",
    )
    @app_commands.choices(every=[app_commands.Choice(name=one, value=one) for one in ("daily", "weekly", "never")])
    @app_commands.rename(knowledge="kb")
    async def schedule(
        interaction: discord.Interaction,
        source: str,
        every: str,
        pages: app_commands.Range[int, 0, 500] = 0,
        knowledge: str = "",
    ) -> None:
        command = KbCommand(KbVerb.SCHEDULE, base=knowledge, target=source, every=every, limit=pages)
        await kb.run(interaction, command)

    return schedule


def _describe_command(kb: KbRunner, verb: KbVerb) -> Callable[..., Any]:
    async def run_describe(interaction: discord.Interaction, knowledge: str, description: str = "") -> None:
        await kb.run(interaction, KbCommand(verb, base=knowledge, text=description))

    return app_commands.describe(knowledge="Its name", description="What it is about: I choose by this")(
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
        named += [channel_principal("discord", guild, str(channel))] if channel is not None else []
        if role is not None:
            named.append(f"discord:guild:{guild}" if role.is_default() else f"discord:role:{guild}/{role.id}")
        named += [f"discord:user:{person.id}"] if person is not None else []
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
