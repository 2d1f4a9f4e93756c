"""Commands of ``/kb`` and their callers, the same for every platform.

A platform turns its command, form or pressed button into a ``KbCommand``. It builds the ``Caller``, with rights and
audience looked up now on the server. It passes both to ``KnowledgeService`` and renders the ``KbResult``.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from core.model.conversation import Audience, Person, ThreadKey
from core.model.incoming_events import IN_THREAD, FileReference, Permissions, ReplyTarget

MOST_FILES = 10  # of one command
MOST_PAGES = 500  # below one link
LARGEST_FILE = 25 * 2**20  # bytes of one file sent in a client


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
        """Return whether the argument after the base's name is a description."""
        return self in {KbVerb.CREATE, KbVerb.DESCRIBE}

    @property
    def takes_principals(self) -> bool:
        """Return whether the argument after the base's name is a list of readers."""
        return self in {KbVerb.GRANT, KbVerb.REVOKE}


@dataclass(frozen=True, slots=True)
class KbCommand:
    """One subcommand with its arguments. A verb ignores arguments that it does not use.

    ``target`` is a link (ingest, schedule), a document by title, path or id (show, remove, restore, refresh), a job's
    id (cancel) or a proposal's id (approve, reject). For two sources that differ, the ruling follows that id. Empty
    means a whole base.
    """

    verb: KbVerb
    base: str = ""  # a knowledge base's name; if needed and empty, the only one or "default"
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
    listed: bool = False  # approve, reject: pressed in the list of proposals, which is shown again


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller, where they are, and who will read the reply; all looked up now, never taken from a button.

    ``reply_target`` is stored with a job so that its card can be shown and edited later.
    """

    person: Person
    permissions: Permissions
    audience: Audience  # of the reply: the person's own where it is private, the channel's where it is not
    thread: ThreadKey
    reply_target: ReplyTarget = IN_THREAD
    private: bool = True  # only this person sees the reply, so admins also see bases not granted to them

    @property
    def sees_all(self) -> bool:
        """Whether the reply may name every base: only an admin reads it."""
        return self.permissions.is_admin and self.private

    @property
    def readers(self) -> Audience:
        """The audience of the reply, to decide which bases it may name."""
        return replace(self.audience, administers=True) if self.sees_all else self.audience
