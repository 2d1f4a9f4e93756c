"""What a platform can do for the knowledge base: files, conversations as documents, job cards."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from core.model.conversation import Audience, ThreadKey
from core.model.jobs import Job
from core.model.transcripts import Conversation


class Download(Protocol):
    """How a platform brings the bytes of a file that was attached."""

    async def __call__(self, reference: str) -> tuple[str, bytes]:
        """(name, bytes). Raises DocumentRejected or FetchRefused with the reason, PlatformUnavailable."""


class Transcript(Protocol):
    """How a platform reads what was said. Names instead of codes, without our own messages' buttons."""

    async def conversation(self, reference: str) -> Conversation:
        """One thread. Raises NotFound when it is not there (any more), PlatformUnavailable."""

    def reference_of(self, thread: ThreadKey) -> str:
        """The reference to a thread in which we were asked."""

    def conversations(self, channel: str, limit: int) -> AsyncIterator[Conversation]:
        """The newest conversations of a channel, at most ``limit``. Raises as ``conversation``."""


class JobCardView(Protocol):
    """Where a job's progress is visible."""

    async def show(self, job: Job) -> None:
        """Show this state in place of the last: called at a bounded rate, always once when the job is over.

        May be called in another process than the one that accepted the job, and after a restart. What it raises is
        logged and forgotten: a card that is gone does not stop the work.
        """


class Announcements(Protocol):
    """How a platform says something in a channel that nobody asked for there."""

    @property
    def proposals_command(self) -> str:
        """The command that lists proposals there."""

    async def readers(self, channel: ThreadKey) -> Audience:
        """Who reads there. Raises Denied where people of other workspaces do, NotFound, PlatformUnavailable."""

    async def has_posted(self, channel: ThreadKey, beginning: str, *, since: datetime) -> bool:
        """Whether one of our newest messages there, not older than this, begins so; false where none can be read.

        Raises PlatformUnavailable.
        """

    async def post(self, channel: ThreadKey, text: str) -> None:
        """Say it, for everyone there, with no ping and no link. Raises Denied, NotFound, PlatformUnavailable."""


@dataclass(frozen=True, slots=True)
class PlatformCapabilities:
    """What others can use of one platform; ``None`` where it has no such thing."""

    download: Download | None = None
    transcript: Transcript | None = None
    card: JobCardView | None = None
    announcements: Announcements | None = None


@runtime_checkable
class OffersKnowledge(Protocol):
    """A platform from which knowledge can be brought in; whoever runs jobs asks for its capabilities once."""

    def capabilities(self) -> PlatformCapabilities:
        """What this platform can do for knowledge commands and jobs."""
