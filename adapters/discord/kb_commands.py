"""``/kb`` and *Add to knowledge base*: Discord's form of what the knowledge desk does.

The group is hidden from those who cannot manage the server; who may do what is the desk's to decide, by rights that
are looked up here, now. A reply's further buttons carry the id of the command they stand for, which is kept.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import discord
from discord import app_commands, ui

from adapters.discord import layouts
from adapters.discord.buttons import KbButton, Press
from adapters.discord.knowledge import conversation_of, job_text, reference_of
from adapters.discord.messages import NOBODY
from adapters.discord.options import PlaceOption
from adapters.discord.places import Address, Manner, base_channel_id, key_of, person_of
from adapters.discord.presses import answering, is_admin, tell
from adapters.discord.readers import Readers
from adapters.incoming import FileReference, Permissions
from adapters.knowledge_desk import Caller, KbCommand, KbReply, KbVerb, KnowledgeCommands
from core.conversation import channel_principal
from core.ports import Postings
from core.serial import from_json, to_json

KEPT_UNDER = "discord/kb"
EXPIRED = "That button is too old. Use the command again."
PRINCIPALS = (discord.Role, discord.Member, discord.User)


class KbGroup:
    """The commands, over the knowledge desk."""

    def __init__(self, kb: KnowledgeCommands, readers: Readers, postings: Postings) -> None:
        self._kb = kb
        self._readers = readers
        self._postings = postings

    # --- what is registered

    def group(self) -> app_commands.Group:
        """The group with all its subcommands."""
        group = app_commands.Group(
            name="kb",
            description="For admins: what I know",
            guild_only=True,
            default_permissions=discord.Permissions(manage_guild=True),
        )
        for name, description, callback in self._subcommands():
            command: app_commands.Command[Any, ..., Any] = app_commands.Command(
                name=name, description=description, callback=callback
            )
            for option, complete in (("knowledge", self._complete_base), ("source", self._complete_source)):
                if command.get_parameter(option) is not None:
                    command.autocomplete(option)(complete)
            group.add_command(command)
        return group

    def _subcommands(self) -> list[tuple[str, str, Callable[..., Any]]]:
        verb = KbVerb
        return [
            ("ingest", "Add files, a link with what lies below it, or this conversation", _ingest(self)),
            ("list", "What there is", _listing(self, verb.LIST)),
            ("show", "One source", _about_source(self, verb.SHOW)),
            ("remove", "Take a source out", _about_source(self, verb.REMOVE)),
            ("restore", "Bring a source back that was removed", _about_source(self, verb.RESTORE)),
            ("refresh", "Look whether a source has changed", _about_source(self, verb.REFRESH)),
            ("schedule", "Refresh a link daily, weekly or never", _schedule(self)),
            ("create", "A new knowledge base", _described(self, verb.CREATE)),
            ("describe", "What a knowledge base is about", _described(self, verb.DESCRIBE)),
            ("grant", "Let a channel, a role or a person read it", _granting(self, verb.GRANT)),
            ("revoke", "Do not let a channel, a role or a person read it any more", _granting(self, verb.REVOKE)),
            ("status", "How the knowledge is doing", _listing(self, verb.STATUS)),
            ("jobs", "What is being worked on", _listing(self, verb.JOBS)),
            ("cancel", "End a job", _by_id(self, verb.CANCEL)),
            ("proposals", "What was proposed and waits for an admin", _listing(self, verb.PROPOSALS)),
            ("approve", "Take a proposal up", _by_id(self, verb.APPROVE)),
            ("reject", "Put a proposal aside", _by_id(self, verb.REJECT)),
        ]

    # --- what they do

    async def run(self, press: Press, command: KbCommand) -> None:
        """Do it and show the reply; a job's card is for all to see, everything else for the caller."""
        async with answering(press):
            await press.response.defer(ephemeral=True, thinking=True)
            await self._show(press, await self._kb.handle(command, await self.caller(press)), command)

    async def pressed(self, press: Press, kept: str) -> None:
        """A button below a reply: the command it stands for, run again as whoever presses it."""
        async with answering(press):
            values = await self._postings.read(KEPT_UNDER, kept)
            if "command" not in values:
                await tell(press, EXPIRED)
                return
        await self.run(press, from_json(KbCommand, values["command"]))

    async def add_message(self, press: Press, message: discord.Message) -> None:
        """A message, with the thread that it stands in or that hangs on it."""
        async with answering(press):
            await press.response.defer(ephemeral=True, thinking=True)
            conversation = await conversation_of(press.client, reference_of(message), fallback=message)
            await self._show(press, await self._kb.propose(conversation, await self.caller(press)))

    async def caller(self, press: Press) -> Caller:
        """Who calls, by what Discord says of them now."""
        person = person_of(press.user)
        audience = await self._readers.of_one(person, press.guild_id, press.channel, press.user)
        thread = key_of(press.channel, press.guild_id, press.id)
        address = Address(
            manner=Manner.PRIVATE,
            channel=str(press.channel_id or 0),
            message=str(press.id),
            guild=str(press.guild_id or ""),
            asker=str(press.user.id),
            token=press.token,
        )
        return Caller(person, Permissions(is_admin(press), audience.principals), audience, thread, address.to_mapping())

    async def _show(self, press: Press, reply: KbReply, command: KbCommand | None = None) -> None:
        parts: list[ui.Item[Any]] = [ui.TextDisplay(layouts.shown_text(reply.text))]
        if reply.job is not None:
            parts.append(ui.TextDisplay(job_text(reply.job)))
        if reply.confirm is not None:
            button = await self._button(reply.confirm, reply.confirm_label or "Yes, do it", danger=True)
            parts.append(layouts.row(button))
        if command is not None and reply.pages > 1:
            parts.append(layouts.row(*await self._neighbours(command, reply)))
        sent = await press.followup.send(
            view=layouts.layout(*parts), ephemeral=True, allowed_mentions=NOBODY, wait=True
        )
        if reply.job is not None:
            card = {"message": str(sent.id), "token": press.token, "token_of": str(press.id)}
            await self._postings.keep(KEPT_UNDER, f"job-{reply.job.id}", card)

    async def _neighbours(self, command: KbCommand, reply: KbReply) -> list[KbButton]:
        """Buttons to the pages before and after this one."""
        pages = {"Previous page": reply.page - 1, "Next page": reply.page + 1}
        return [
            await self._button(replace(command, page=page), label)
            for label, page in pages.items()
            if 1 <= page <= reply.pages
        ]

    async def _button(self, command: KbCommand, label: str, *, danger: bool = False) -> KbButton:
        text = to_json(command)
        kept = hashlib.sha256(text.encode()).hexdigest()[:24]
        await self._postings.keep(KEPT_UNDER, kept, {"command": text})
        return KbButton.made(kept, label, danger=danger)

    # --- autocomplete

    async def _complete_base(self, press: Press, typed: str) -> list[app_commands.Choice[str]]:
        names = await self._kb.complete(typed, await self.caller(press))
        return [app_commands.Choice(name=name[:100], value=name[:100]) for name in names[:25]]

    async def _complete_source(self, press: Press, typed: str) -> list[app_commands.Choice[str]]:
        base = str(getattr(press.namespace, "kb", "") or "")
        found = await self._kb.complete_document(typed, await self.caller(press), base)
        return [app_commands.Choice(name=(title or name)[:100], value=name[:100]) for title, name in found[:25]]


def _ingest(kb: KbGroup) -> Callable[..., Any]:
    @app_commands.describe(
        link="A page, a sitemap or a file",
        pages="Follow the link to this many pages",
        file="A file",
        file2="Another file",
        file3="Another file",
        here="This conversation, or the newest of this channel",
        knowledge="Which knowledge base",
    )
    @app_commands.rename(knowledge="kb")
    async def ingest(
        interaction: discord.Interaction,
        link: str = "",
        pages: app_commands.Range[int, 0, 500] = 0,
        file: discord.Attachment | None = None,
        file2: discord.Attachment | None = None,
        file3: discord.Attachment | None = None,
        here: bool = False,
        knowledge: str = "",
    ) -> None:
        attached = [one for one in (file, file2, file3) if one is not None]
        threaded = isinstance(interaction.channel, discord.Thread)
        reference = f"{interaction.guild_id}/{base_channel_id(interaction.channel)}/{interaction.channel_id}"
        command = KbCommand(
            KbVerb.INGEST,
            base=knowledge,
            target=link,
            files=tuple(FileReference(one.url, one.filename, one.size) for one in attached),
            conversation=reference if here and threaded else "",
            channel=str(interaction.channel_id) if here and not threaded else "",
            limit=pages,
        )
        await kb.run(interaction, command)

    return ingest


def _listing(kb: KbGroup, verb: KbVerb) -> Callable[..., Any]:
    async def listing(
        interaction: discord.Interaction, knowledge: str = "", page: app_commands.Range[int, 1, 1000] = 1
    ) -> None:
        await kb.run(interaction, KbCommand(verb, base=knowledge, page=page))

    return app_commands.describe(knowledge="Which knowledge base", page="Which page")(
        app_commands.rename(knowledge="kb")(listing)
    )


def _about_source(kb: KbGroup, verb: KbVerb) -> Callable[..., Any]:
    async def about_source(interaction: discord.Interaction, source: str, knowledge: str = "") -> None:
        await kb.run(interaction, KbCommand(verb, base=knowledge, target=source))

    return app_commands.describe(source="Its title or path", knowledge="Which knowledge base")(
        app_commands.rename(knowledge="kb")(about_source)
    )


def _schedule(kb: KbGroup) -> Callable[..., Any]:
    @app_commands.describe(source="A link or a source", every="How often", knowledge="Which knowledge base")
    @app_commands.choices(every=[app_commands.Choice(name=one, value=one) for one in ("daily", "weekly", "never")])
    @app_commands.rename(knowledge="kb")
    async def schedule(interaction: discord.Interaction, source: str, every: str, knowledge: str = "") -> None:
        await kb.run(interaction, KbCommand(KbVerb.SCHEDULE, base=knowledge, target=source, every=every))

    return schedule


def _described(kb: KbGroup, verb: KbVerb) -> Callable[..., Any]:
    async def described(interaction: discord.Interaction, knowledge: str, description: str = "") -> None:
        await kb.run(interaction, KbCommand(verb, base=knowledge, text=description))

    return app_commands.describe(knowledge="Its name", description="What it is about: I choose by this")(
        app_commands.rename(knowledge="kb")(described)
    )


def _granting(kb: KbGroup, verb: KbVerb) -> Callable[..., Any]:
    async def granting(
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
    )(app_commands.rename(knowledge="kb")(granting))


def _by_id(kb: KbGroup, verb: KbVerb) -> Callable[..., Any]:
    async def by_id(interaction: discord.Interaction, id: str) -> None:  # noqa: A002 - the option's name for people
        await kb.run(interaction, KbCommand(verb, target=id))

    return app_commands.describe(id="Its id")(by_id)
