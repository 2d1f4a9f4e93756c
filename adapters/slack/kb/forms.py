"""The forms of ``/kb``: adding documents, and granting or revoking readers. Each can be submitted once.

A form carries the id of a kept command, which records its owner and the channel where it was opened.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from adapters.slack.api.ids import PLATFORM, group_principal, person_id, user_principal
from adapters.slack.inbound.interactions import Body, SlashCommand, sender_of
from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.kb.replies import SlackKeptCommand, outcome_text
from adapters.slack.kb.slack_sources import SlackLinks
from adapters.slack.outbound.payloads import CommandForm, FormValues, form_in
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.conversation import ThreadKey
from core.model.errors import FootnoteError
from core.model.knowledge import is_link
from core.model.principals import EVERYONE, channel_principal
from core.service.kb.commands import Caller, KbCommand, KbVerb
from core.service.kb.kept_commands import KeptCommands
from core.service.kb.results import KbResult, is_success
from core.service.kb.service import KnowledgeService
from core.service.kb.text_layout import PROPOSALS
from core.service.kb.wording import proposals_line
from core.service.one_time_use import PressOutcome

FORM_EXPIRED = "This form has expired. Close it and run the command again."
NOTHING = "Attach a file, enter a link, or choose this channel."
NOBODY_PICKED = "Pick a channel, a group or a person."
NO_LINK = "That is not a link. Links begin with https:// or http://."


@dataclass(frozen=True, slots=True)
class FormResult:
    """The outcome of a submitted form: errors by field, or the accepted results and where the form was opened."""

    errors: Mapping[str, str] = field(default_factory=dict)
    results: tuple[KbResult, ...] = ()
    place: ThreadKey | None = None


@dataclass(frozen=True, slots=True)
class KbForms:
    """Opens the forms, and runs what they submit with the sender's current rights."""

    workspace: SlackWorkspace
    kb: KnowledgeService
    links: SlackLinks
    kept_commands: KeptCommands[SlackKeptCommand]

    async def open_add_form(self, given: SlashCommand, caller: Caller, base: str) -> None:
        """Open the form for adding documents. Raises ViewNotOpened."""
        names = await self.kb.queries.complete("", caller)
        meant = await self.kb.queries.complete(base, caller) if base else ()
        chosen = next((name for name in meant if name.casefold() == base.casefold()), "")
        offer = await self.kept_commands.keep(SlackKeptCommand(person=caller.person.id, channel=given.channel))
        in_channel = bool(given.channel) and not given.channel.startswith("D")
        note = proposals_line(await self.kb.proposals_waiting(caller), PROPOSALS)
        view = kb_blocks.form(names, chosen, channel=in_channel, kept_form=CommandForm(offer), note=note)
        await self.workspace.open_view(given.trigger_id, view)

    async def open_readers_form(self, given: SlashCommand, command: KbCommand, caller: Caller) -> None:
        """Open the form that grants or revokes readers of a base. Raises ViewNotOpened."""
        names = await self.kb.queries.complete("", caller)
        chosen = next((name for name in names if name.casefold() == command.base.casefold()), "")
        groups = await self.workspace.directory.groups()
        listed = {
            group_id: f"@{group.handle}" for group_id, group in sorted(groups.items(), key=lambda one: one[1].handle)
        }
        form = await self.kept_commands.keep(
            SlackKeptCommand(person=caller.person.id, command=command, channel=given.channel)
        )
        grants = command.verb is KbVerb.GRANT
        view = kb_blocks.readers_form(names, chosen, listed, grants=grants, kept_form=CommandForm(form))
        await self.workspace.open_view(given.trigger_id, view)

    async def submit_readers_form(self, body: Body) -> FormResult:
        """Grant or revoke the readers in the submitted form, once."""
        (team, user), form = sender_of(body), form_in(CommandForm, body["view"]).form
        kept = await self.kept_commands.read(form, person_id(team, user))
        if kept is None or kept.command is None:
            return FormResult({"channels": FORM_EXPIRED})
        filled = FormValues(body["view"])
        principals = (
            *([EVERYONE] if EVERYONE in filled.options("everyone") else []),
            *(channel_principal(PLATFORM, team, channel) for channel in filled.channels("channels")),
            *(group_principal(team, group) for group in filled.options("groups")),
            *(user_principal(team, one) for one in filled.users("people")),
        )
        if not principals:
            return FormResult({"channels": NOBODY_PICKED})
        caller = await self.workspace.caller(ThreadKey(PLATFORM, team, kept.channel, ""), user)
        taken = await self.kept_commands.take(kept)
        if taken is not PressOutcome.NOW:
            return FormResult({"channels": FORM_EXPIRED} if taken is PressOutcome.GONE else {})
        command = replace(kept.command, base=filled.option("base") or kept.command.base, principals=principals)
        return await self._accept(form, {"channels": command}, caller)

    async def base_options(self, body: Body) -> list[dict[str, Any]]:
        """Return the bases whose names begin with the text typed into the form's menu."""
        (team, user), form = sender_of(body), form_in(CommandForm, body.get("view") or {}).form
        kept = await self.kept_commands.read(form, person_id(team, user))
        if not kept:
            return []
        caller = await self.workspace.caller(ThreadKey(PLATFORM, team, kept.channel, ""), user)
        return kb_blocks.options(await self.kb.queries.complete(str(body.get("value") or ""), caller))

    async def submit_add_form(self, body: Body) -> FormResult:
        """Accept the submitted form once. From then on its jobs are stored durably."""
        (team, user), form = sender_of(body), form_in(CommandForm, body["view"]).form
        kept = await self.kept_commands.read(form, person_id(team, user))
        if not kept:
            return FormResult({"link": FORM_EXPIRED})
        place = ThreadKey(PLATFORM, team, kept.channel, "")
        filled = kb_blocks.read_form(body["view"])
        if not (filled.files or filled.link or filled.here):
            return FormResult({"link": NOTHING})
        if filled.link and not is_link(filled.link):
            return FormResult({"link": NO_LINK})
        caller = await self.workspace.caller(place, user)
        try:
            commands = await self._commands(filled, kept.channel, caller)
        except FootnoteError as error:
            return FormResult({"link": str(error)})
        taken = await self.kept_commands.take(kept)
        if taken is not PressOutcome.NOW:
            return FormResult({"link": FORM_EXPIRED} if taken is PressOutcome.GONE else {})
        return await self._accept(form, commands, caller)

    async def _accept(self, form: str, commands: Mapping[str, KbCommand], caller: Caller) -> FormResult:
        results: list[KbResult] = []
        for name, command in commands.items():
            result = await self.kb.handle(command, caller)
            if not is_success(result) and not results:
                await self.kept_commands.reopen(form, caller.person.id)
                return FormResult({name: outcome_text(result)})
            results.append(result)
        await self.kept_commands.mark_done(form, caller.person.id)
        return FormResult(results=tuple(results), place=caller.thread)

    async def _commands(self, filled: kb_blocks.FilledForm, place: str, caller: Caller) -> dict[str, KbCommand]:
        """Return one command per filled field; each is its own job. Raises FetchRefused."""
        commands: dict[str, KbCommand] = {}
        ingest = KbCommand(KbVerb.INGEST, filled.base)
        if filled.files:
            commands["files"] = replace(ingest, files=filled.files)
        if filled.link:
            linked = replace(ingest, target=filled.link, limit=filled.limit)
            commands["link"] = (
                await self.links.resolve(linked, place, caller) if caller.permissions.is_admin else linked
            )
        if filled.here:
            commands["here"] = replace(
                ingest, target=await self.links.channel_name(place), channel=place, limit=filled.limit
            )
        return commands

    async def reopen(self, body: Body) -> None:
        """Let the form be submitted again, because the first attempt took too long."""
        if form := form_in(CommandForm, body["view"]).form:
            await self.kept_commands.reopen(form, person_id(*sender_of(body)))
