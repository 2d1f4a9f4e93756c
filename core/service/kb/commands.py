"""``/kb`` as every platform asks for it: what is to be done, and who asks.

A platform turns its command, its form or its pressed button into a ``KbCommand``, says who the ``Caller`` is (rights
and audience looked up on its server side, now), gives both to ``KnowledgeService`` and renders the ``KbResult``.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from core.model.conversation import Audience, Person, ThreadKey
from core.model.incoming_events import IN_THREAD, FileReference, Permissions, ReplyTarget

MOST_FILES = 10  # of one command
MOST_PAGES = 500  # below one link
LARGEST_FILE = 25 * 2**20  # bytes of one file that is handed over in a client


class KbVerb(StrEnum):
    """The subcommands."""

    INGEST = "ingest"
    LIST = "list"
    SHOW = "show"
    REMOVE = "remove"
    RESTORE = "restore"
    REFRESH = "refresh"
    SCHEDULE = "schedule"
    REPAIR = "repair"
    CREATE = "create"
    DESCRIBE = "describe"
    GRANT = "grant"
    REVOKE = "revoke"
    CONFIRM = "confirm"
    STATUS = "status"
    JOBS = "jobs"
    CANCEL = "cancel"
    PROPOSALS = "proposals"
    APPROVE = "approve"
    REJECT = "reject"
    CONNECT = "connect"

    @property
    def takes_text(self) -> bool:
        """Whether what is given with it, after the base's name, is a description."""
        return self in {KbVerb.CREATE, KbVerb.DESCRIBE}

    @property
    def takes_principals(self) -> bool:
        """Whether what is given with it, after the base's name, is a list of readers."""
        return self in {KbVerb.GRANT, KbVerb.REVOKE}


@dataclass(frozen=True, slots=True)
class KbCommand:
    """One subcommand with what was given to it; what a verb has no use for is ignored.

    ``target`` is a link (ingest, schedule), a document by title, path or id (show, remove, restore, refresh), a job's
    id (cancel) or a proposal's (approve, reject); between two sources that differ, with the ruling behind the id.
    Empty where a whole base is meant.
    """

    verb: KbVerb
    base: str = ""  # a knowledge base's name; where it is needed and empty, the only one or "default"
    target: str = ""
    text: str = ""  # create, describe: the description
    files: tuple[FileReference, ...] = ()  # ingest; ``id`` is what Download is given
    conversation: str = ""  # ingest: the platform's reference to one thread, given to Transcript.conversation
    channel: str = ""  # ingest: the platform's reference to a channel, given to Transcript.conversations
    principals: tuple[str, ...] = ()  # create, grant, revoke: each a Principal as text, or EVERYONE
    every: str = ""  # schedule: daily, weekly, on-change or never
    limit: int = 0  # ingest of a link: follow it to this many pages; of a channel: this many conversations
    page: int = 1  # list, show, jobs, proposals
    confirmed: bool = False  # remove: set by the button of the first reply
    listed: bool = False  # approve, reject: pressed in the list of proposals, of which the rest is shown again


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, from where, and who will read the reply. Everything as looked up now, never as a button said.

    ``reply_target`` is kept with a job so that its card can be shown and edited later.
    """

    person: Person
    permissions: Permissions
    audience: Audience  # of the reply: the person's own where it is private, the channel's where it is not
    thread: ThreadKey
    reply_target: ReplyTarget = IN_THREAD
    private: bool = True  # only this person will see the reply: admins are then shown bases they are not granted

    @property
    def sees_all(self) -> bool:
        """Whether every base may be named in the reply: an admin's eyes alone may see them all."""
        return self.permissions.is_admin and self.private

    @property
    def readers(self) -> Audience:
        """Who will read the reply, as far as bases go."""
        return replace(self.audience, administers=True) if self.sees_all else self.audience
