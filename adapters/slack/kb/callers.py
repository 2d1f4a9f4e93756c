"""Who calls ``/kb``, with what they may do and see looked up now, never as a button said."""

from adapters.slack.workspace import SlackWorkspace
from core.model.conversation import Audience, ThreadKey
from core.model.incoming_events import ReplyTarget
from core.service.kb.commands import Caller


async def caller_of(workspace: SlackWorkspace, thread: ThreadKey, user: str) -> Caller:
    """The caller in this place; on the Home tab, which has no channel, with what they may see by themselves."""
    access = workspace.access
    permissions = await access.permissions(thread.space, user)
    person = await access.person(thread.space, user)
    reader = await access.reader(thread, user) if thread.channel else Audience(permissions.principals)
    return Caller(person, permissions, reader, thread, ReplyTarget(channel=thread.channel, asker=user))
