"""``/kb`` for one workspace: typed commands, buttons, *Add to knowledge base*, and corrections.

Replies are visible to the caller only. Every command, form and press looks up rights and audience again. What a button
or form does is stored on our side (``KeptCommands``), never read from the payload. ``capabilities`` returns what
``KnowledgeService`` needs of Slack: files, conversations and job cards.
"""

from dataclasses import replace

import structlog

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.files import Files
from adapters.slack.api.ids import PLATFORM, user_id
from adapters.slack.inbound.interactions import Press, SlashCommand
from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.kb.command_parser import KB, parse_command
from adapters.slack.kb.forms import FormResult, KbForms
from adapters.slack.kb.job_cards import SlackCards
from adapters.slack.kb.principals import PrincipalNames
from adapters.slack.kb.replies import KbReply, ReplyRenderer, SlackKeptCommand, lines_reply, outcome_text, text_reply
from adapters.slack.kb.slack_sources import SlackLinks, Transcripts, conversation_reference
from adapters.slack.outbound import blocks
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.conversation import Person, ThreadKey
from core.model.errors import AlreadyDone, FootnoteError, NotFound, PlatformUnavailable
from core.ports.platform import PlatformCapabilities
from core.service.delivery.job_cards import JobCards
from core.service.kb.commands import LARGEST_FILE, Caller, KbCommand, KbVerb
from core.service.kb.kept_commands import KeptCommands
from core.service.kb.results import CancelRequested, KbResult, ProposalList, Refused
from core.service.kb.service import KnowledgeService
from core.service.kb.text_layout import PROPOSALS
from core.service.kb.wording import proposals_line

FOR_READERS = f"`{KB} list` lists knowledge bases, `{KB} show NAME` shows a document. Only admins can add documents."

log = structlog.get_logger(__name__)


class SlackKnowledge:
    """Turns typed commands and presses into ``/kb`` commands, and results into replies. ``forms`` handles the forms."""

    def __init__(self, workspace: SlackWorkspace, kb: KnowledgeService) -> None:
        """Run commands with ``kb``, using the rights, names and channels of this workspace."""
        self._workspace = workspace
        self._kb = kb
        self._transcripts = Transcripts(workspace.web, workspace.directory)
        self._principal_names = PrincipalNames(workspace.directory)
        self._links = SlackLinks(workspace)
        self.cards = JobCards(workspace.message_states, PLATFORM, SlackCards(workspace))
        self.kept_commands = KeptCommands(workspace.message_states, workspace.user_actions.audit, SlackKeptCommand)
        self.forms = KbForms(workspace, kb, self._links, self.kept_commands)
        self._replies = ReplyRenderer(self._principal_names, self.kept_commands, self.cards)

    def capabilities(self) -> PlatformCapabilities:
        """Return what jobs from Slack need: downloads, transcripts and cards."""
        return PlatformCapabilities(download=self.download, transcript=self._transcripts, card=self.cards)

    async def download(self, reference: str) -> tuple[str, bytes]:
        """Return (name, bytes) of a file by its id, at most LARGEST_FILE bytes.

        Raises FetchRefused, DocumentRejected, PlatformUnavailable.
        """
        return await Files(self._workspace.web).fetch(reference, LARGEST_FILE)

    # --- typed commands

    async def open_form(self, given: SlashCommand) -> KbReply | None:
        """Open the form for adding documents, or return a reply if the caller is no admin. Raises ViewNotOpened."""
        caller = await self._workspace.caller(given.place, given.user)
        if not caller.permissions.is_admin:
            return text_reply(FOR_READERS)
        await self.forms.open_add_form(given, caller, "")
        return None

    async def command(self, given: SlashCommand) -> KbReply | None:
        """Run a typed ``/kb`` command. Return the reply, or None if a form opened. Raises ViewNotOpened."""
        if not given.text:
            return await self.open_form(given)
        caller = await self._workspace.caller(given.place, given.user)
        in_channel = not given.channel.startswith("D")
        command = parse_command(given.text, given.channel if in_channel else "")
        if isinstance(command, str):
            return text_reply("\n".join(filter(None, [command, await self._proposals_waiting(caller)])))
        if command.verb.takes_principals:
            return await self._change_readers(given, command, caller)
        if command.verb is KbVerb.INGEST and caller.permissions.is_admin:
            if not command.target and not command.channel:
                await self.forms.open_add_form(given, caller, command.base)
                return None
            try:
                command = await self._links.resolve(command, given.channel, caller)
            except FootnoteError as error:
                return text_reply(str(error))
        return await self._replies.render(await self._kb.handle(command, caller), caller)

    async def _change_readers(self, given: SlashCommand, command: KbCommand, caller: Caller) -> KbReply | None:
        """Grant or revoke. Open a form if an admin names nobody."""
        if not command.principals and caller.permissions.is_admin:
            await self.forms.open_readers_form(given, command, caller)
            return None
        try:
            named = await self._principal_names.resolve(command.principals, given.team)
        except FootnoteError as error:
            return text_reply(str(error))
        return await self._replies.render(await self._kb.handle(replace(command, principals=named), caller), caller)

    # --- buttons

    async def press(self, press: Press) -> KbReply | None:
        """Run the command of a pressed button with the presser's rights. Return None if there is nothing to show."""
        try:
            kept = await self.kept_commands.find(press.value, press.person_id)
            async with self.kept_commands.use(kept, once=press.action == kb_blocks.CONFIRM) as command:
                caller = await self._workspace.caller(press.place, press.user)
                return await self._replies.render(await self._kb.handle(command, caller), caller)
        except NotFound as error:
            return text_reply(str(error))
        except AlreadyDone:
            return None

    async def proposals(self, team: str, user: str) -> list[blocks.Block]:
        """Return the proposals that wait for this admin, with buttons, for their Home tab. Empty if there are none."""
        caller = await self._workspace.caller(ThreadKey(PLATFORM, team, "", ""), user)
        result = await self._kb.handle(KbCommand(KbVerb.PROPOSALS), caller)
        if not isinstance(result, ProposalList) or not result.proposals:
            return []
        return await self._replies.render_proposals(result, caller)

    async def cancel(self, press: Press) -> None:
        """Cancel the job of a card."""
        caller = await self._workspace.caller(press.place, press.user)
        result = await self._kb.handle(KbCommand(KbVerb.CANCEL, target=press.value), caller)
        if isinstance(result, CancelRequested):
            await self.cards.show_cancelling(result.job, press.person_id)
        else:
            await self._workspace.messages.post_privately(press.thread, press.user, outcome_text(result))

    # --- proposals and corrections

    async def propose(self, thread: ThreadKey, person: Person) -> KbReply:
        """Add a thread, or propose it to an admin. Return the reply. Raises NotFound and Unavailable."""
        user = user_id(person)
        conversation = await self._transcripts.conversation(conversation_reference(thread.channel, thread.thread))
        caller = await self._workspace.caller(thread, user)
        return lines_reply(
            await self._replies.render_outcomes([await self._kb.proposals.propose(conversation, caller)], caller)
        )

    async def correct(self, thread: ThreadKey, user: str, trace_id: str, answer: str, shown: str) -> KbResult:
        """Propose the correct answer to this answer's question. ``shown`` is the message that shows the answer."""
        caller = await self._workspace.caller(thread, user)
        try:
            turn = await self._workspace.user_actions.answers.read(thread, trace_id, caller.audience)
        except FootnoteError as error:
            return Refused.of(error)
        permalink = await self._workspace.web.permalink(thread.channel, shown or thread.thread)
        bases = turn.source_bases
        return await self._kb.proposals.correct(
            turn.question, answer, permalink, caller, trace_id=trace_id, bases=bases
        )

    async def announce(self, result: FormResult, user: str) -> None:
        """Show what was accepted, privately where the form was opened, or else in the person's direct message."""
        results, thread = result.results, result.place
        if thread is None or not results:
            return
        caller = await self._workspace.caller(thread, user)
        if len(results) == 1:
            shown = await self._replies.render(results[0], caller)
        else:
            shown = lines_reply(await self._replies.render_outcomes(results, caller))
        if thread.channel and await self._workspace.messages.post_privately(thread, user, shown.text, shown.blocks):
            return
        try:
            direct = replace(thread, channel=await self._workspace.messages.direct_channel(user), thread="")
            await self._workspace.messages.post(direct, shown.text, shown.blocks)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("results_not_posted", reason=str(error))

    # --- helpers

    async def _proposals_waiting(self, caller: Caller) -> str:
        return proposals_line(await self._kb.proposals_waiting(caller), PROPOSALS)
