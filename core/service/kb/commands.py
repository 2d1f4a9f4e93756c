"""``/kb`` in words that every platform shares: what was asked for, by whom, and what to show for it.

A platform turns its command, its form or its pressed button into a ``KbCommand``, says who the ``Caller`` is (rights
and audience looked up on its server side, now), and renders the ``KbReply``. It lends the three seams below: how it
downloads an attached file, how it reads its own history, and where a job's card is shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from core.model.conversation import Audience, Person, ThreadKey
from core.model.incoming_events import FileReference, Permissions
from core.model.jobs import Job
from core.model.transcripts import Conversation

MOST_FILES = 10  # of one command


EVERYONE = "everyone"  # as a principal of GRANT: the base is open again


PRINCIPALS = (  # whom a base may be for, as the platforms write it; words in capitals stand for their ids
    "slack:channel:TEAM/CHANNEL",
    "slack:group:TEAM/GROUP",
    "slack:user:TEAM/USER",
    "slack:team:TEAM",
    "discord:channel:SERVER/CHANNEL",
    "discord:role:SERVER/ROLE",
    "discord:user:USER",
    "discord:guild:SERVER",
)


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
    STATUS = "status"
    JOBS = "jobs"
    CANCEL = "cancel"
    PROPOSALS = "proposals"
    APPROVE = "approve"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class KbCommand:
    """One subcommand with what was given to it; what a verb has no use for is ignored.

    ``target`` is a link (ingest, schedule), a document by title, path or id (show, remove, restore, refresh), a job's
    id (cancel) or a proposal's (approve, reject). Empty where a whole base is meant.
    """

    verb: KbVerb
    base: str = ""  # a knowledge base's name; where it is needed and empty, the only one or "default"
    target: str = ""
    text: str = ""  # create, describe: the description
    files: tuple[FileReference, ...] = ()  # ingest; ``id`` is what Download is given
    conversation: str = ""  # ingest: the platform's reference to one thread, given to Transcript.conversation
    channel: str = ""  # ingest: the platform's reference to a channel, given to Transcript.conversations
    principals: tuple[str, ...] = ()  # create, grant, revoke: written as PRINCIPALS are, or EVERYONE
    every: str = ""  # schedule: daily, weekly or never
    limit: int = 0  # ingest of a link: follow it to this many pages; of a channel: this many conversations
    page: int = 1  # list, show, jobs, proposals
    confirmed: bool = False  # remove: set by the button of the first reply
    listed: bool = False  # approve, reject: pressed in the list of proposals, of which the rest is shown again


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, from where, and who will read the reply. Everything as looked up now, never as a button said.

    ``address`` is the platform's own, kept with a job so that its card can be shown and edited later.
    """

    person: Person
    permissions: Permissions
    audience: Audience  # of the reply: the person's own where it is private, the channel's where it is not
    thread: ThreadKey
    address: Mapping[str, str] = field(default_factory=dict)
    private: bool = True  # only this person will see the reply: admins are then shown bases they are not granted


@dataclass(frozen=True, slots=True)
class KbOption:
    """A button: what it is called, and the command that it sends."""

    label: str
    command: KbCommand
    once: bool = False  # only the first press counts


@dataclass(frozen=True, slots=True)
class KbChoice:
    """A part of a reply's text, exactly as it stands there, and the buttons below it."""

    text: str
    options: tuple[KbOption, ...] = ()


@dataclass(frozen=True, slots=True)
class KbReply:
    """What to show. ``text`` is Markdown, safe to show to the caller's audience.

    ``confirm`` set: show a button called ``confirm_label`` that sends exactly this command again.
    ``job`` set: work was accepted; show its card here (``JobCard.show`` edits it from now on). ``more`` are further
    jobs of the same command, which ``text`` names.
    ``page`` of ``pages``: offer the neighbouring ones by the same command with another ``page``, or where it is set
    by ``turning``.
    ``choices``: parts of the text that have buttons of their own; ``sections`` cuts the text into them. What comes of
    a press is shown in place of the whole reply.
    """

    text: str
    ok: bool = True
    denied: bool = False
    job: Job | None = None
    confirm: KbCommand | None = None
    confirm_label: str = ""
    page: int = 1
    pages: int = 1
    more: tuple[Job, ...] = ()
    choices: tuple[KbChoice, ...] = ()
    turning: KbCommand | None = None

    def sections(self) -> tuple[KbChoice, ...]:
        """The whole text from its beginning to its end: the choices, and what stands before and between them."""
        found: list[KbChoice] = []
        rest = self.text
        for choice in self.choices:
            before, there, after = rest.partition(choice.text)
            if there:
                found += [KbChoice(before.strip("\n")), choice]
                rest = after
        return tuple(one for one in (*found, KbChoice(rest.strip("\n"))) if one.text)


class KnowledgeCommands(Protocol):
    """What a platform calls. Nothing is raised: every reply can be shown as it is."""

    async def handle(self, command: KbCommand, caller: Caller) -> KbReply:
        """Do it, or say in one line why not. Work that takes longer is accepted as a job, within a second."""

    async def propose(self, conversation: Conversation, caller: Caller, base: str = "") -> KbReply:
        """*Add to knowledge base*: an admin's is ingested, anybody else's waits for an admin."""

    async def correct(
        self, question: str, answer: str, permalink: str | None, caller: Caller, *, trace_id: str = ""
    ) -> KbReply:
        """The right answer to a question that was answered wrongly (in this trace): goes the way of a proposal."""

    async def waiting(self, caller: Caller) -> str:
        """One line that tells an admin what waits for them; empty for everybody else, and where nothing does."""

    async def complete(self, typed: str, caller: Caller) -> tuple[str, ...]:
        """Names of knowledge bases that begin like this, for autocomplete: at most 25, those the caller may see."""

    async def complete_document(self, typed: str, caller: Caller, base: str = "") -> tuple[tuple[str, str], ...]:
        """(title, id) of documents that match what was typed, at most 25, of bases that the caller may see."""
