"""Knowledge from Slack: ``/kb`` in words, as a form and by buttons, *Add to knowledge base*, and corrections.

Replies are for the caller's eyes alone. Rights and audience are looked up anew for every command, form and press;
what a button or a form stands for is kept by us (``KeptCommands``) and never read out of it. What
``KnowledgeService`` needs of Slack (files, conversations, a job's card) is what ``capabilities`` returns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.files import Files, SlackFile, file_in
from adapters.slack.api.ids import PLATFORM, group_principal, person_id, user_id, user_principal
from adapters.slack.inbound.interactions import Body, Press, SlashCommand, sender_of
from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.kb.command_parser import KB, parse_command
from adapters.slack.kb.job_cards import JobCards
from adapters.slack.kb.kept_commands import SlackKeptCommand
from adapters.slack.kb.principals import PrincipalNames
from adapters.slack.kb.transcripts import Transcripts, conversation_reference, thread_in
from adapters.slack.outbound import blocks, views
from adapters.slack.outbound.payloads import CommandForm, form_in
from adapters.slack.workspace import SlackWorkspace
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import AlreadyDone, FetchRefused, FootnoteError, NotFound, PlatformUnavailable
from core.model.principals import EVERYONE, channel_principal
from core.model.reply_target import ReplyTarget
from core.ports.platform_capabilities import PlatformCapabilities
from core.service.kb.commands import Caller, KbCommand, KbVerb
from core.service.kb.job_wording import job_title
from core.service.kb.kept_commands import KeptCommands
from core.service.kb.knowledge_commands import KnowledgeCommands
from core.service.kb.results import (
    CancelRequested,
    KbAction,
    KbOutcome,
    KbResult,
    KbView,
    Page,
    ProposalDecided,
    ProposalList,
    Refused,
    accepted_jobs,
    succeeded,
)
from core.service.kb.text_layout import Part, lay_out, plain_lines
from core.service.kb.text_spans import Line, line_text, strong
from core.service.kb.web_links import is_link
from core.service.kb.wording import outcome_layout, outcome_lines, proposals_line
from core.service.one_time_actions import PressOutcome

LARGEST = 25 * 2**20  # bytes of one file
FORM_EXPIRED = "This form is too old. Close it, and give the command again."
NOTHING = "Attach a file, give a link, or choose this channel."
NOBODY_PICKED = "Pick a channel, a group or a person."
NO_LINK = "That is no link. One begins with https:// or http://."
NOT_KNOWN = "I do not know that you may read that."
FOR_READERS = f"`{KB} list` shows what I know, `{KB} show NAME` one document. Adding is for admins."
ON_THE_CARD = "Our direct message shows how far it is."
APPROVE = f"`{KB} approve ID --kb NAME` adds one to another knowledge base."
IN_WORDS = "I cannot write to you directly, so `{command} {job}` tells how far it is."

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ShownReply:
    """What to show to the one who asked: the blocks, and the words for where there are none.

    ``outcome`` is what came of a press, without what else is shown below it.
    """

    text: str
    blocks: list[blocks.Block]
    outcome: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class FormResult:
    """What became of a form: errors by field, else what was accepted and has to be told."""

    errors: Mapping[str, str] = field(default_factory=dict)
    results: tuple[KbResult, ...] = ()
    place: ThreadKey | None = None


class SlackKnowledge:
    """``/kb`` for one workspace: what is typed, filled in or pressed becomes commands, their results become blocks."""

    def __init__(self, workspace: SlackWorkspace, kb: KnowledgeCommands) -> None:
        """``kb`` does the commands; rights, names and channels are those of this workspace."""
        self._workspace = workspace
        self._kb = kb
        self._files = Files(workspace.web)
        self._transcripts = Transcripts(workspace.web, workspace.directory)
        self._principal_names = PrincipalNames(workspace)
        self.cards = JobCards(workspace)
        self.kept_commands = KeptCommands(workspace.message_states, workspace.user_actions.audit, SlackKeptCommand)

    def capabilities(self) -> PlatformCapabilities:
        """What jobs that came from Slack need of it: downloads, transcripts and cards."""
        return PlatformCapabilities(download=self.download, transcript=self._transcripts, card=self.cards)

    async def download(self, reference: str) -> tuple[str, bytes]:
        """(name, bytes) of a file by its id, of LARGEST bytes at most.

        Raises FetchRefused, DocumentRejected, PlatformUnavailable.
        """
        return await self._files.fetch(reference, LARGEST)

    # --- in words

    async def command(self, given: SlashCommand) -> ShownReply | None:
        """Do what ``/kb …`` says; what to show, or None when a form opened."""
        caller = await self._caller(given.place, given.user)
        if not given.text:
            return await self._form(given, caller, "") if caller.permissions.is_admin else text_reply(FOR_READERS)
        in_channel = not given.channel.startswith("D")
        command = parse_command(given.text, given.channel if in_channel else "")
        if isinstance(command, str):
            return text_reply("\n".join(filter(None, [command, await self._proposals_waiting(caller)])))
        if command.verb in (KbVerb.GRANT, KbVerb.REVOKE):
            return await self._change_readers(given, command, caller)
        if command.verb is KbVerb.INGEST and caller.permissions.is_admin:
            if not command.target and not command.channel:
                return await self._form(given, caller, command.base)
            try:
                command = await self._resolve(command, given.channel, caller)
            except FootnoteError as error:
                return text_reply(str(error))
        return await self._to_shown(await self._kb.handle(command, caller), caller)

    async def _change_readers(self, given: SlashCommand, command: KbCommand, caller: Caller) -> ShownReply | None:
        """Grant or revoke; where nobody is named, and this is an admin, by a form."""
        if not command.principals and caller.permissions.is_admin:
            return await self._readers_form(given, command, caller)
        try:
            named = await self._principal_names.resolve(command.principals, given.team)
        except FootnoteError as error:
            return text_reply(str(error))
        return await self._to_shown(await self._kb.handle(replace(command, principals=named), caller), caller)

    async def _resolve(self, command: KbCommand, place: str, caller: Caller) -> KbCommand:
        """The command with a link into Slack replaced by the thread or file it leads to, and the channel named.

        Raises FetchRefused where we do not know that the caller may read it, PlatformUnavailable.
        """
        if command.channel:
            return replace(command, target=await self._channel_name(command.channel))
        channel, root = thread_in(command.target)
        if channel:
            if channel != place and not await self._is_public(channel):
                raise await self._not_known(channel, caller)
            return replace(command, target="", conversation=conversation_reference(channel, root))
        file_id = file_in(command.target)
        if not file_id:
            return command
        file = await self._readable(file_id, place, caller)
        return replace(command, target="", files=(*command.files, file.reference))

    async def _readable(self, file_id: str, place: str, caller: Caller) -> SlackFile:
        file = await self._files.about(file_id)
        if not file.readable_by(_user(caller), place):
            raise await self._not_known(file_id, caller)
        return file

    async def _not_known(self, what: str, caller: Caller) -> FetchRefused:
        """We may read it, but do not know that the caller may: that is on record, and why it is not done."""
        await self._workspace.user_actions.audit.record(caller.person.id, "kb ingest", what, allowed=False)
        return FetchRefused(NOT_KNOWN, remedy="Give the command where it is shared.")

    async def _is_public(self, channel: str) -> bool:
        """Whether everybody of the workspace may read there."""
        try:
            room = await self._workspace.directory.channel(channel)
        except RequestRefused:
            return False
        return not (room.private or room.direct)

    async def _channel_name(self, channel: str) -> str:
        try:
            name = (await self._workspace.directory.channel(channel)).name
        except (RequestRefused, PlatformUnavailable):
            name = ""
        return f"#{name}" if name else ""

    # --- as a form

    async def _form(self, given: SlashCommand, caller: Caller, base: str) -> ShownReply | None:
        """Open the form for adding; what to say when Slack does not."""
        names = await self._kb.complete("", caller)
        meant = await self._kb.complete(base, caller) if base else ()
        chosen = next((name for name in meant if name.casefold() == base.casefold()), "")
        offer = await self.kept_commands.keep(SlackKeptCommand(person=caller.person.id, channel=given.channel))
        in_channel = bool(given.channel) and not given.channel.startswith("D")
        note = await self._proposals_waiting(caller)
        view = kb_blocks.form(names, chosen, channel=in_channel, kept=CommandForm(offer), note=note)
        return await self._open(given, view)

    async def _open(self, given: SlashCommand, view: views.View) -> ShownReply | None:
        """Open a form; what to say when Slack does not."""
        try:
            await self._workspace.web.call_once("views.open", trigger_id=given.trigger_id, view=view)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("view_not_opened", reason=str(error))
            why = f" ({error.error})" if isinstance(error, RequestRefused) else ""
            return text_reply(f"Slack did not open the form{why}. Please try again.")
        return None

    async def _readers_form(self, given: SlashCommand, command: KbCommand, caller: Caller) -> ShownReply | None:
        """Open the form for whom a base is for; what to say when Slack does not."""
        names = await self._kb.complete("", caller)
        chosen = next((name for name in names if name.casefold() == command.base.casefold()), "")
        groups = await self._workspace.directory.groups()
        listed = {group: f"@{handle}" for group, (handle, _) in sorted(groups.items(), key=lambda one: one[1][0])}
        form = await self.kept_commands.keep(
            SlackKeptCommand(person=caller.person.id, command=command, channel=given.channel)
        )
        grants = command.verb is KbVerb.GRANT
        view = kb_blocks.readers_form(names, chosen, listed, grants=grants, kept=CommandForm(form))
        return await self._open(given, view)

    async def on_readers_submit(self, body: Body) -> FormResult:
        """Grant or revoke what the form brings, once."""
        (team, user), form = sender_of(body), form_in(CommandForm, body["view"]).form
        kept = await self.kept_commands.read(form, person_id(team, user))
        if kept is None or kept.command is None:
            return FormResult({"channels": FORM_EXPIRED})
        filled = kb_blocks.read_readers(body["view"])
        principals = (
            *([EVERYONE] if filled.everyone else []),
            *(channel_principal(PLATFORM, team, channel) for channel in filled.channels),
            *(group_principal(team, group) for group in filled.groups),
            *(user_principal(team, one) for one in filled.people),
        )
        if not principals:
            return FormResult({"channels": NOBODY_PICKED})
        caller = await self._caller(ThreadKey(PLATFORM, team, kept.channel, ""), user)
        taken = await self.kept_commands.take(kept)
        if taken is not PressOutcome.NOW:
            return FormResult({"channels": FORM_EXPIRED} if taken is PressOutcome.GONE else {})
        command = replace(kept.command, base=filled.base or kept.command.base, principals=principals)
        return await self._accept(form, {"channels": command}, caller)

    async def open_form(self, given: SlashCommand) -> ShownReply | None:
        """The form for adding, from wherever; what to say to who is no admin, or when Slack does not open it."""
        caller = await self._caller(given.place, given.user)
        return await self._form(given, caller, "") if caller.permissions.is_admin else text_reply(FOR_READERS)

    async def base_options(self, body: Body) -> list[dict[str, Any]]:
        """The bases whose names begin with what is typed into the form's menu."""
        (team, user), form = sender_of(body), form_in(CommandForm, body.get("view") or {}).form
        kept = await self.kept_commands.read(form, person_id(team, user))
        if not kept:
            return []
        caller = await self._caller(ThreadKey(PLATFORM, team, kept.channel, ""), user)
        return kb_blocks.options(await self._kb.complete(str(body.get("value") or ""), caller))

    async def on_submit(self, body: Body) -> FormResult:
        """Accept what the form brings, once; from then on it is kept."""
        (team, user), form = sender_of(body), form_in(CommandForm, body["view"]).form
        kept = await self.kept_commands.read(form, person_id(team, user))
        if not kept:
            return FormResult({"link": FORM_EXPIRED})
        place = ThreadKey(PLATFORM, team, kept.channel, "")
        filled = kb_blocks.read_form(body["view"])
        if wrong := _wrong(filled):
            return FormResult({"link": wrong})
        caller = await self._caller(place, user)
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
            result = await self._kb.handle(command, caller)
            if not succeeded(result) and not results:
                await self.kept_commands.reopen(form, caller.person.id)
                return FormResult({name: outcome_text(result)})
            results.append(result)
        await self.kept_commands.mark_done(form, caller.person.id)
        return FormResult(results=tuple(results), place=caller.thread)

    async def _commands(self, filled: kb_blocks.FilledForm, place: str, caller: Caller) -> dict[str, KbCommand]:
        """What the form asks for, by field: each is a job of its own. Raises FetchRefused."""
        made: dict[str, KbCommand] = {}
        ingest = KbCommand(KbVerb.INGEST, filled.base)
        if filled.files:
            made["files"] = replace(ingest, files=filled.files)
        if filled.link:
            linked = replace(ingest, target=filled.link, limit=filled.limit)
            made["link"] = await self._resolve(linked, place, caller) if caller.permissions.is_admin else linked
        if filled.here:
            made["here"] = replace(ingest, target=await self._channel_name(place), channel=place, limit=filled.limit)
        return made

    async def reopen(self, body: Body) -> None:
        """It took too long: the form may be sent once more."""
        if form := form_in(CommandForm, body["view"]).form:
            await self.kept_commands.reopen(form, person_id(*sender_of(body)))

    async def announce(self, result: FormResult, user: str) -> None:
        """Tell what was accepted: a card for each job, and a word where the form was opened."""
        if result.place is not None and result.results:
            await self.tell(result.results, result.place, user)

    async def keep_form(self, person: str) -> str:
        """The id of a form that takes a correction, for this person by qualified id: it counts once."""
        return await self.kept_commands.keep(SlackKeptCommand(person=person))

    # --- by buttons

    async def on_press(self, press: Press) -> ShownReply | None:
        """A button below a reply: the command it stands for, as whoever presses it may. None: nothing to show."""
        try:
            kept = await self.kept_commands.find(press.value, press.person_id)
            async with self.kept_commands.use(kept, once=press.action == kb_blocks.CONFIRM) as command:
                caller = await self._caller(press.place, press.user)
                return await self._to_shown(await self._kb.handle(command, caller), caller)
        except NotFound as error:
            return text_reply(str(error))
        except AlreadyDone:
            return None

    async def proposals(self, team: str, user: str) -> list[blocks.Block]:
        """What waits for this admin, with its buttons, for their Home tab; nothing where nothing waits."""
        caller = await self._caller(ThreadKey(PLATFORM, team, "", ""), user)
        result = await self._kb.handle(KbCommand(KbVerb.PROPOSALS), caller)
        if not isinstance(result, ProposalList) or not result.proposals:
            return []
        head, *rest = lay_out(result).parts
        parts = [replace(head, lines=head.lines[1:]), *rest]  # the tab has a heading of its own
        more = f"More: `{KB} proposals --page 2`" if result.page.next is not None else ""
        return kb_blocks.reply(await self._with_buttons(parts, caller), note=more)

    async def cancel(self, press: Press) -> None:
        """End the job of a card."""
        caller = await self._caller(press.place, press.user)
        result = await self._kb.handle(KbCommand(KbVerb.CANCEL, target=press.value), caller)
        if isinstance(result, CancelRequested):
            await self.cards.show_cancelling(result.job, press.person_id)
        else:
            await self._workspace.messages.post_privately(press.thread, press.user, outcome_text(result))

    # --- proposals and corrections

    async def propose(self, thread: ThreadKey, person: Person) -> ShownReply:
        """Keep a thread, or let it wait for an admin; what to tell. Raises NotFound, Unavailable."""
        user = user_id(person)
        conversation = await self._transcripts.conversation(conversation_reference(thread.channel, thread.thread))
        caller = await self._caller(thread, user)
        return lines_reply(await self._announce([await self._kb.propose(conversation, caller)], caller))

    async def correct(self, thread: ThreadKey, user: str, trace_id: str, answer: str, shown: str) -> KbResult:
        """Propose the right answer to the question of this answer, which stands at ``shown``."""
        caller = await self._caller(thread, user)
        place = {"channel": thread.channel, "message_ts": shown or thread.thread}
        try:
            turn = await self._workspace.user_actions.answers.read(thread, trace_id, caller.audience)
        except FootnoteError as error:
            return Refused.of(error)
        try:
            link = await self._workspace.web.call("chat.getPermalink", **place)
        except RequestRefused:
            link = {}
        permalink = str(link.get("permalink") or "") or None
        return await self._kb.correct(turn.question, answer, permalink, caller, trace_id=trace_id)

    async def tell(self, results: Sequence[KbResult], thread: ThreadKey, user: str) -> None:
        """Show results that nobody waits for: where the person is, or else in the direct message."""
        shown = lines_reply(await self._announce(results, await self._caller(thread, user)))
        if thread.channel and await self._workspace.messages.post_privately(thread, user, shown.text, shown.blocks):
            return
        try:
            direct = replace(thread, channel=await self._workspace.messages.direct_channel(user), thread="")
            await self._workspace.messages.post(direct, shown.text, shown.blocks)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("not_told", reason=str(error))

    # --- within

    async def _caller(self, thread: ThreadKey, user: str) -> Caller:
        """Who calls, with rights looked up now; on the Home tab, by what they may see alone."""
        access = self._workspace.access
        permissions = await access.permissions(thread.space, user)
        person = await access.person(thread.space, user)
        reader = await access.reader(thread, user) if thread.channel else Audience(permissions.principals)
        return Caller(person, permissions, reader, thread, ReplyTarget(channel=thread.channel, asker=user))

    async def _proposals_waiting(self, caller: Caller) -> str:
        return proposals_line(await self._kb.proposals_waiting(caller), KB)

    async def _to_shown(self, result: KbResult, caller: Caller) -> ShownReply:
        """A result with its buttons; of jobs, where their cards are."""
        if isinstance(result, KbOutcome):
            return lines_reply(await self._announce([result], caller))
        outcome = tuple(await self._announce([result.outcome], caller)) if isinstance(result, ProposalDecided) else ()
        view: KbView = result.remaining if isinstance(result, ProposalDecided) else result
        layout = lay_out(view)
        is_admin = caller.permissions.is_admin
        shown = [
            replace(one, lines=tuple(await self._principal_names.named(one.lines, is_admin=is_admin)))
            for one in layout.parts
        ]
        parts = [*([Part(outcome)] if outcome else []), *shown]
        row: list[blocks.Block] = []
        if layout.confirm is not None:
            offer = await self._offer(layout.confirm, caller)
            row.append(blocks.button(layout.confirm.label, kb_blocks.CONFIRM, offer, style="danger"))
        row += await self._neighbours(layout.page, caller)
        note = APPROVE if isinstance(view, ProposalList) and view.proposals else ""
        text = "\n".join(line_text(line) for part in parts for line in part.lines)
        return ShownReply(text, kb_blocks.reply(await self._with_buttons(parts, caller), row, note), outcome)

    async def _neighbours(self, page: Page, caller: Caller) -> list[blocks.Block]:
        """Buttons to the pages before and after this one."""
        neighbours = (
            ("Previous page", kb_blocks.PAGE_BACK, page.previous),
            ("Next page", kb_blocks.PAGE_ON, page.next),
        )
        return [
            blocks.button(label, action, await self._offer(KbAction(label, command), caller))
            for label, action, command in neighbours
            if command is not None
        ]

    async def _with_buttons(
        self, parts: Sequence[Part], caller: Caller
    ) -> list[tuple[Sequence[Line], list[blocks.Block]]]:
        """The parts, each with a button for every action below it."""
        made: list[tuple[Sequence[Line], list[blocks.Block]]] = []
        for number, part in enumerate(parts):
            row = [
                blocks.button(
                    one.label, f"{kb_blocks.CHOICE}_{one.command.verb}_{number}", await self._offer(one, caller)
                )
                for one in part.actions
            ]
            made.append((part.lines, row))
        return made

    async def _offer(self, action: KbAction, caller: Caller) -> str:
        """The id that a button for this action carries."""
        offered = SlackKeptCommand(person=caller.person.id, command=action.command, once=action.once)
        return await self.kept_commands.keep(offered)

    async def _announce(self, results: Sequence[KbResult], caller: Caller) -> list[Line]:
        """What became of commands: what each job does, the rest in words, and where the cards are that it posts."""
        titles: list[Line] = []
        where = ""
        for job in (job for result in results for job in accepted_jobs(result)):
            titles.append((strong(job_title(job)),))
            posted = await self.cards.post(job, caller)
            where = ON_THE_CARD if posted else IN_WORDS.format(command=f"{KB} jobs", job=job.id)
        words = [line for result in results if isinstance(result, KbOutcome) for line in outcome_layout(result)]
        words += plain_lines(filter(None, [where]))
        words = await self._principal_names.named(words, is_admin=caller.permissions.is_admin)
        return [*titles, *dict.fromkeys(words)]  # what holds for all is said once


def text_reply(text: str) -> ShownReply:
    """A reply of some lines of plain text, without buttons."""
    return lines_reply(plain_lines(text.splitlines()))


def lines_reply(lines: Sequence[Line]) -> ShownReply:
    """A reply of these lines, without buttons."""
    return ShownReply("\n".join(map(line_text, lines)), kb_blocks.reply([(lines, ())]), tuple(lines))


def outcome_text(result: KbResult) -> str:
    """What became of a command that has no view, in words."""
    return "\n".join(outcome_lines(result)) if isinstance(result, KbOutcome) else ""


def _wrong(filled: kb_blocks.FilledForm) -> str:
    """Why a form cannot be sent as it is; empty when it can."""
    if filled.empty:
        return NOTHING
    return NO_LINK if filled.link and not is_link(filled.link) else ""


def _user(caller: Caller) -> str:
    return user_id(caller.person)
