"""Links into Slack that are given to ``/kb ingest``: the thread, file or canvas that each leads to.

The bot may read more than the person who gives a link; so what they are not known to read is refused, on record.
"""

from dataclasses import dataclass, replace

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.files import Files, SlackFile, file_in
from adapters.slack.api.ids import user_id
from adapters.slack.api.message_links import thread_in
from adapters.slack.kb.transcripts import conversation_reference
from adapters.slack.workspace import SlackWorkspace
from core.model.errors import FetchRefused, PlatformUnavailable
from core.service.kb.commands import Caller, KbCommand

NOT_KNOWN = "I can't tell whether you have permission to read that."


@dataclass(frozen=True, slots=True)
class SlackLinks:
    """Resolves the links of one workspace."""

    workspace: SlackWorkspace

    async def resolve(self, command: KbCommand, place: str, caller: Caller) -> KbCommand:
        """The command with a link into Slack replaced by the thread or file it leads to, and the channel named.

        Raises FetchRefused where we do not know that the caller may read it, PlatformUnavailable.
        """
        if command.channel:
            return replace(command, target=await self.channel_name(command.channel))
        channel, root = thread_in(command.target)
        if channel:
            if channel != place and not await self._is_public(channel):
                raise await self._refuse(channel, caller)
            return replace(command, target="", conversation=conversation_reference(channel, root))
        file_id = file_in(command.target)
        if not file_id:
            return command
        file = await self._readable_file(file_id, place, caller)
        return replace(command, target="", files=(*command.files, file.reference))

    async def _readable_file(self, file_id: str, place: str, caller: Caller) -> SlackFile:
        file = await Files(self.workspace.web).about(file_id)
        if not file.readable_by(user_id(caller.person), place):
            raise await self._refuse(file_id, caller)
        return file

    async def _refuse(self, what: str, caller: Caller) -> FetchRefused:
        """We may read it, but do not know that the caller may: that is on record, and why it is not done."""
        await self.workspace.user_actions.audit.record(caller.person.id, "kb ingest", what, allowed=False)
        return FetchRefused(NOT_KNOWN, remedy="Run the command in the channel where it is shared.")

    async def _is_public(self, channel: str) -> bool:
        """Whether everybody of the workspace may read there."""
        try:
            found = await self.workspace.directory.channel(channel)
        except RequestRefused:
            return False
        return not (found.private or found.direct)

    async def channel_name(self, channel: str) -> str:
        """``#general``; empty where Slack does not say."""
        try:
            name = (await self.workspace.directory.channel(channel)).name
        except (RequestRefused, PlatformUnavailable):
            name = ""
        return f"#{name}" if name else ""
