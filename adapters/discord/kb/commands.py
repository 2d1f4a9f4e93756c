"""``/kb`` and *Add to knowledge base*: Discord's interface to ``KnowledgeService``.

The group is hidden from people who cannot manage the server. The service decides who may do what, by rights that this
module looks up for each call. Buttons of a reply carry the id of their stored command.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import discord
from discord import app_commands, ui

from adapters.discord.api.ids import base_channel_id, key_of, person_of
from adapters.discord.inbound.interactions import (
    LOOK_UP_SECONDS,
    acknowledge,
    acknowledge_press,
    is_admin,
    private_target,
    report_errors,
    respond,
    show,
    tell,
)
from adapters.discord.kb.job_cards import card
from adapters.discord.kb.transcripts import conversation_of, reference_of
from adapters.discord.outbound import layouts
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.buttons import Button, Interaction, kb_button
from adapters.discord.outbound.forms import files_form
from adapters.discord.outbound.sanitizer import Text, choice
from adapters.discord.outbound.text import clip, markdown_lines
from core.model.conversation import Turn
from core.model.errors import DocumentRejected
from core.model.incoming_events import FileReference, Permissions
from core.model.records import PERSON
from core.service.delivery.job_cards import JobCards
from core.service.kb.commands import LARGEST_FILE, Caller, KbCommand, KbVerb
from core.service.kb.job_cards import job_state, job_title
from core.service.kb.kept_commands import KeptCommand, KeptCommands
from core.service.kb.results import (
    CancelRequested,
    JobList,
    KbOutcome,
    KbResult,
    ProposalDecided,
    ProposalList,
    accepted_jobs,
)
from core.service.kb.service import KnowledgeService
from core.service.kb.summaries import JobSummary, OfferedCommand
from core.service.kb.text_layout import Part, lay_out
from core.service.kb.text_spans import Line, strong
from core.service.kb.wording import outcome_layout


class ButtonUse(StrEnum):
    """How the command of a button can be used."""

    REPEATED = ""
    ONCE = "once"  # a single time
    ASIDE = "aside"  # its result does not replace the message with the button


@dataclass(frozen=True, kw_only=True)
class DiscordKeptCommand(KeptCommand, place="discord/kb/{id}", subject="command"):
    """The command of a button below a reply of ``/kb``, or of a form that uploads files."""

    person: str = field(default="", metadata=PERSON | {"stored": "by"})
    use: ButtonUse = field(default=ButtonUse.REPEATED, metadata={"stored": "kind"})

    @property
    def acts_once(self) -> bool:
        """Return whether only the first press counts."""
        return self.use is ButtonUse.ONCE


ELSEWHERE = "-# `/kb proposals approve` adds a proposal to another knowledge base."
PROPOSALS = "/kb proposals list"
PAGES_COMPLETED = 5
LONGEST_CHOICE = 620  # characters of a part with buttons: five of them and the text around them fit in one message


Complete = Callable[[Interaction, str], Coroutine[Any, Any, list[app_commands.Choice[str]]]]


class KbGroup:
    """``/kb`` and *Add to knowledge base*."""

    def __init__(self, kb: KnowledgeService, app: DiscordApplication, cards: JobCards) -> None:
        self._kb = kb
        self._app = app
        self._cards = cards
        self._kept_commands = KeptCommands(app.message_states, app.user_actions.audit, DiscordKeptCommand)

    def completions(self, name: str) -> dict[str, Complete]:
        """Return the completion function of each option of a subcommand. Removed documents are not completed."""
        found: dict[str, Complete] = {"knowledge": self._complete_base}
        found["id"] = self._complete_job if name == "cancel" else self._complete_proposal
        return found if name == "restore" else found | {"source": self._complete_source}

    # --- commands

    async def run(self, interaction: Interaction, command: KbCommand) -> None:
        """Run the command and show the reply to the caller only."""
        async with report_errors(interaction):
            await acknowledge(interaction, alone=True)
            caller = await self.caller(interaction)
            await self._show(interaction, await self._kb.handle(command, caller), caller)

    async def ask_for_files(self, interaction: Interaction, base: str) -> None:
        """Open the form for file uploads. It carries only an id; its command is stored."""
        async with report_errors(interaction):
            kept = await self._keep(interaction, KbCommand(KbVerb.INGEST, base=base), ButtonUse.REPEATED)
            await respond(interaction.response.send_modal(files_form(kept)))

    async def add_files(self, interaction: Interaction, kept: str, files: Sequence[FileReference]) -> None:
        """Add the files of a submitted form."""
        action = await self._find(interaction, kept)
        large = [one.name for one in files if one.size > LARGEST_FILE]
        if large:
            raise DocumentRejected(f"{large[0]} is larger than {LARGEST_FILE // 2**20} MB. Add it in parts.")
        async with self._kept_commands.use(action) as command:
            await self.run(interaction, replace(command, files=tuple(files)))

    async def add_conversation(self, interaction: Interaction, base: str) -> None:
        """Add this thread, or the conversations of this channel."""
        threaded = isinstance(interaction.channel, discord.Thread)
        reference = f"{interaction.guild_id}/{base_channel_id(interaction.channel)}/{interaction.channel_id}"
        command = KbCommand(
            KbVerb.INGEST,
            base=base,
            conversation=reference if threaded else "",
            channel="" if threaded else str(interaction.channel_id),
        )
        await self.run(interaction, command)

    async def on_press(self, interaction: Interaction, kept: str) -> None:
        """Run a button's command for the person it was offered to, with their current rights."""
        async with report_errors(interaction):
            action = await self._find(interaction, kept)
            await acknowledge_press(interaction)
            async with self._kept_commands.use(action) as command:
                caller = await self.caller(interaction)
                result = await self._kb.handle(command, caller)
            if action.use is not ButtonUse.ASIDE:
                return await self._show(interaction, result, caller, in_place=True)
            await self._cards.renew_token(command.target, caller.person.id, interaction.token, str(interaction.id))
            await tell(interaction, markdown_lines(_result_lines(result)), mentions=True)
            if isinstance(result, CancelRequested):
                await self._cards.show_cancelling(result.job, caller.person.id)
        return None

    async def _find(self, interaction: Interaction, kept: str) -> DiscordKeptCommand:
        """Return the command of a button or form, in time to acknowledge the press. Raises NotFound."""
        async with asyncio.timeout(LOOK_UP_SECONDS):
            return await self._kept_commands.find(kept, person_of(interaction.user).id)

    async def add_message(self, interaction: Interaction, message: discord.Message) -> None:
        """Propose a message, with the thread that it is in or that it started."""
        async with report_errors(interaction):
            await acknowledge(interaction, alone=True)
            conversation = await conversation_of(interaction.client, reference_of(message), fallback=message)
            caller = await self.caller(interaction)
            await self._show(interaction, await self._kb.proposals.propose(conversation, caller), caller)

    async def correct(self, interaction: Interaction, turn: Turn, answer: str, link: str | None) -> None:
        """Propose the right answer to a question. The interaction must be acknowledged already."""
        caller = await self.caller(interaction)
        result = await self._kb.proposals.correct(
            turn.question, answer, link, caller, trace_id=turn.trace_id, bases=turn.source_bases
        )
        await self._show(interaction, result, caller)

    async def caller(self, interaction: Interaction) -> Caller:
        """Return the caller with their current rights in Discord."""
        audience = await self._app.channel_access.audience_of_interaction(interaction)
        rights = Permissions(is_admin(interaction), audience.principals)
        thread = key_of(interaction.channel, interaction.guild_id, interaction.id)
        return Caller(person_of(interaction.user), rights, audience, thread, private_target(interaction))

    # --- replies

    async def _show(
        self, interaction: Interaction, result: KbResult, caller: Caller, *, in_place: bool = False
    ) -> None:
        """Show the result as a new message, or replace the message with the pressed button."""
        jobs = accepted_jobs(result)
        if isinstance(result, KbOutcome) and jobs:
            return await self._show_jobs(interaction, jobs, outcome_layout(result), caller, in_place=in_place)
        view = result.remaining if isinstance(result, ProposalDecided) else result
        layout = None if isinstance(view, KbOutcome) else lay_out(view, PROPOSALS)
        parts = await self._items(interaction, [Part(lines)] if (lines := _result_lines(result)) else [])
        parts += await self._items(interaction, layout.parts if layout is not None else ())
        if isinstance(view, ProposalList) and view.proposals:
            parts.append(ui.TextDisplay(ELSEWHERE))
        buttons: list[Button] = []
        if layout is not None and layout.confirm is not None:
            buttons.append(await self._action(interaction, layout.confirm, danger=True))
        if layout is not None:
            buttons += [await self._action(interaction, one) for one in layout.page.buttons]
        shown = layouts.layout(*parts, *([layouts.row(*buttons)] if buttons else []))
        await show(interaction, shown, in_place=in_place)
        if jobs:
            await self._show_jobs(interaction, jobs, (), caller, in_place=False)
        return None

    async def _items(self, interaction: Interaction, parts: Sequence[Part]) -> list[ui.Item[Any]]:
        """Return each part as a text, with a row of buttons below it if it has actions."""
        items: list[ui.Item[Any]] = []
        for part in parts:
            text = markdown_lines(part.lines)
            items.append(Text(clip(text, LONGEST_CHOICE) if part.actions else text, mentions=True))
            if part.actions:
                items.append(layouts.row(*[await self._action(interaction, one) for one in part.actions]))
        return items

    async def _action(self, interaction: Interaction, action: OfferedCommand, *, danger: bool = False) -> Button:
        """Return a button for an action, whose command is stored."""
        use = ButtonUse.ONCE if action.once else ButtonUse.REPEATED
        return kb_button(await self._keep(interaction, action.command, use), action.label, danger=danger)

    async def _show_jobs(
        self,
        interaction: Interaction,
        jobs: Sequence[JobSummary],
        words: Sequence[Line],
        caller: Caller,
        *,
        in_place: bool,
    ) -> None:
        """Show a card for each new job, which is edited from now on. Other lines go with the first card."""
        for number, job in enumerate(jobs):
            beside = () if number else words
            cancel = await self._keep(interaction, KbCommand(KbVerb.CANCEL, target=job.id), ButtonUse.ASIDE)
            message = await show(interaction, card(job, beside, cancel), in_place=in_place and not number)
            await self._cards.take_message(job, caller, str(message), words=beside, cancel=cancel)

    async def _keep(self, interaction: Interaction, command: KbCommand, use: ButtonUse) -> str:
        """Store a command for the person it is offered to. Return the id for the button or form."""
        offered = DiscordKeptCommand(person=person_of(interaction.user).id, command=command, use=use)
        return await self._kept_commands.keep(offered)

    # --- autocomplete

    async def _complete_base(self, interaction: Interaction, typed: str) -> list[app_commands.Choice[str]]:
        names = await self._kb.queries.complete(typed, await self.caller(interaction))
        return [choice(name, name) for name in names[:25]]

    async def _complete_source(self, interaction: Interaction, typed: str) -> list[app_commands.Choice[str]]:
        base = str(getattr(interaction.namespace, "kb", "") or "")
        found = await self._kb.queries.complete_document(typed, await self.caller(interaction), base)
        return [choice(title or name, name) for title, name in found[:25]]

    async def _complete_proposal(self, interaction: Interaction, typed: str) -> list[app_commands.Choice[str]]:
        return await self._autocomplete_ids(interaction, typed, KbVerb.PROPOSALS)

    async def _complete_job(self, interaction: Interaction, typed: str) -> list[app_commands.Choice[str]]:
        return await self._autocomplete_ids(interaction, typed, KbVerb.JOBS)

    async def _autocomplete_ids(
        self, interaction: Interaction, typed: str, verb: KbVerb
    ) -> list[app_commands.Choice[str]]:
        """Complete ids from a list, so that nobody has to copy one. Only admins see the list."""
        if not is_admin(interaction):
            return []
        caller, found = await self.caller(interaction), dict[str, str]()
        command: KbCommand | None = KbCommand(verb)
        for _ in range(PAGES_COMPLETED):
            if command is None:
                break
            result = await self._kb.handle(command, caller)
            found |= _names_by_id(result)
            command = result.page.next if isinstance(result, JobList | ProposalList) else None
        return [
            choice(clip(what, 100), number)
            for number, what in found.items()
            if typed.strip().casefold() in f"{number} {what}".casefold()
        ][:25]


def _names_by_id(result: KbResult) -> dict[str, str]:
    """Return the names of a list's entries by id: proposals, and unfinished jobs."""
    match result:
        case JobList(jobs=jobs):
            return {job.id: f"{job_title(job)}: {job_state(job)}" for job in jobs if not job.over}
        case ProposalList(proposals=proposals):
            return {one.id: f"{one.title}, by {one.by}" for one in proposals}
        case _:
            return {}


def _result_lines(result: KbResult) -> tuple[Line, ...]:
    """Return a command's outcome. For jobs, which have their own cards, return only their titles."""
    outcome = result.outcome if isinstance(result, ProposalDecided) else result
    if not isinstance(outcome, KbOutcome):
        return ()
    titles = [(strong(job_title(job)),) for job in accepted_jobs(outcome)]
    return (*titles, *outcome_layout(outcome))
