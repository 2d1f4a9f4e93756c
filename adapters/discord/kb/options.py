"""The subcommands of ``/kb`` as a table: their Discord options, and the command that they create.

Required options come first. Discord shows them in this order.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import discord
from discord import app_commands

from adapters.discord.api.ids import PLATFORM, guild_principal, role_principal, user_principal
from adapters.discord.inbound.interactions import PlaceOption, context_menu
from adapters.discord.kb.commands import KbGroup
from adapters.discord.outbound.buttons import Interaction
from core.model.principals import channel_principal
from core.ports.job_store import Every
from core.service.kb.commands import MOST_PAGES, KbCommand, KbVerb

MOST_OPTIONS = 8  # per command, so that it stays readable; Discord allows 25

Command = app_commands.Command[Any, ..., Any]


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a subcommand and its field of ``KbCommand``. ``default`` None makes it required."""

    name: str
    field: str
    description: str
    default: str | int | None = ""
    type: Any = str


KNOWLEDGE = Option("knowledge", "base", "Which knowledge base")
PAGE = Option("page", "page", "Which page", 1, app_commands.Range[int, 1, 1000])
PAGES = Option("pages", "limit", "Follow the link to this many pages", 0, app_commands.Range[int, 0, MOST_PAGES])
LIST = (KNOWLEDGE, PAGE)
LINK = (Option("link", "target", "A page, a sitemap or a file", None), PAGES, KNOWLEDGE)
SOURCE = (Option("source", "target", "Its title or path; leave it out for all of a knowledge base"), KNOWLEDGE)
ABOUT = (
    Option("knowledge", "base", "Its name", None),
    Option("description", "text", "What it is about, to choose where to search"),
)
SCHEDULE = (
    Option("source", "target", "A link, or a document from a link", None),
    Option("every", "every", "How often", None),
    PAGES,
    KNOWLEDGE,
)
ID = (Option("id", "target", "Its id", None),)
APPROVE = (
    Option("id", "target", "Which proposal", None),
    Option("knowledge", "base", "Which knowledge base it goes into"),
)


def kb_commands(kb: KbGroup) -> tuple[app_commands.Group, app_commands.ContextMenu]:
    """Return ``/kb`` and *Add to knowledge base*, to register with Discord."""
    return _kb_group(kb), context_menu("Add to knowledge base", kb.add_message)


def _kb_group(kb: KbGroup) -> app_commands.Group:
    """Build the group ``/kb``, with at most ``MOST_OPTIONS`` entries at each level."""
    verb = KbVerb
    group = app_commands.Group(
        name="kb",
        description="For admins: manage knowledge bases",
        guild_only=True,
        default_permissions=discord.Permissions(manage_guild=True),
    )

    def one(name: str, description: str, verb: KbVerb, options: tuple[Option, ...]) -> Command:
        return special(name, description, _callback(kb, verb, options))

    def special(name: str, description: str, callback: Any) -> Command:
        command: Command = app_commands.Command(name=name, description=description, callback=callback)
        for option, complete in kb.completions(name).items():
            if command.get_parameter(option) is not None:
                command.autocomplete(option)(complete)
        return command

    def inner(name: str, description: str, *commands: Command) -> None:
        below = app_commands.Group(name=name, description=description, parent=group)
        for command in commands:
            below.add_command(command)

    inner(
        "add",
        "Add files, a link or this conversation",
        special("files", "Add up to ten files in a form", _with_knowledge(kb.ask_for_files)),
        one("link", "Add a page, a sitemap or a file, and pages below it", verb.INGEST, LINK),
        special("here", "Add this conversation, or those of this channel", _with_knowledge(kb.add_conversation)),
    )
    group.add_command(one("list", "List knowledge bases, or the documents of one", verb.LIST, LIST))
    inner(
        "sources",
        "Show, remove, restore and refresh documents",
        one("show", "Show one document", verb.SHOW, SOURCE),
        one("remove", "Remove a document", verb.REMOVE, SOURCE),
        one("restore", "Restore a removed document", verb.RESTORE, SOURCE),
        one("refresh", "Fetch a document again from its link", verb.REFRESH, SOURCE),
        one("schedule", "Refresh a link daily, weekly, on change or never", verb.SCHEDULE, SCHEDULE),
    )
    grant = "Restrict it to a channel, a role or a person, or open it to everyone"
    inner(
        "bases",
        "Knowledge bases, and who may read them",
        one("create", "Create a knowledge base", verb.CREATE, ABOUT),
        one("describe", "Describe what a knowledge base is about", verb.DESCRIBE, ABOUT),
        special("grant", grant, _with_readers(kb, verb.GRANT)),
        one("confirm", "After a data loss: its readers are right", verb.CONFIRM, LIST),
        special("revoke", "Stop a channel, a role or a person from reading it", _with_readers(kb, verb.REVOKE)),
    )
    inner(
        "jobs",
        "Jobs and their progress",
        one("list", "Jobs and their progress", verb.JOBS, LIST),
        one("cancel", "Cancel a job", verb.CANCEL, ID),
        one("status", "Jobs, failures and schedules", verb.STATUS, LIST),
    )
    inner(
        "proposals",
        "Review proposals",
        one("list", "Proposals that wait for an admin", verb.PROPOSALS, LIST),
        one("approve", "Approve a proposal", verb.APPROVE, APPROVE),
        one("reject", "Reject a proposal", verb.REJECT, ID),
    )
    group.add_command(one("connect", "Connect Confluence, Google Drive and others", verb.CONNECT, ()))
    group.add_command(one("repair", "Restore passages that the index has lost", verb.REPAIR, LIST))
    return group


def _callback(kb: KbGroup, verb: KbVerb, options: tuple[Option, ...]) -> Callable[..., Any]:
    """Return a callback that runs this verb. discord.py reads its options from the signature."""

    async def run(interaction: Interaction, **given: Any) -> None:
        await kb.run(interaction, KbCommand(verb, **{one.field: given[one.name] for one in options}))

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("interaction", kind, annotation=discord.Interaction)]
    for one in options:
        default = inspect.Parameter.empty if one.default is None else one.default
        parameters.append(inspect.Parameter(one.name, kind, default=default, annotation=one.type))
    cast("Any", run).__signature__ = inspect.Signature(parameters)
    if any(one.name == "knowledge" for one in options):
        app_commands.rename(knowledge="kb")(run)
    if any(one.name == "every" for one in options):
        app_commands.choices(every=[app_commands.Choice(name=one.value, value=one.value) for one in Every])(run)
    return app_commands.describe(**{one.name: one.description for one in options})(run)


def _with_knowledge(do: Callable[[Interaction, str], Any]) -> Callable[..., Any]:
    @app_commands.describe(knowledge=KNOWLEDGE.description)
    @app_commands.rename(knowledge="kb")
    async def run(interaction: discord.Interaction, knowledge: str = "") -> None:
        await do(interaction, knowledge)

    return run


def _with_readers(kb: KbGroup, verb: KbVerb) -> Callable[..., Any]:
    @app_commands.describe(
        knowledge=KNOWLEDGE.description,
        channel="Whoever can read this channel",
        role="Whoever has this role",
        person="One person",
        principal="Any other reader, in the form shown in lists, or “everyone”",
    )
    @app_commands.rename(knowledge="kb")
    async def run(
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

    return run
