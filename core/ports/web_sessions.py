"""Who is signed in at the page, over restarts and in every process; links that sign in once; counts against abuse."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from core.model.conversation import Person

CODE_SECONDS = 15 * 60
CHAT_SECONDS = 60 * 60


class SignInMethod(StrEnum):
    """How somebody signed in."""

    LINK = "link"  # from this machine's terminal
    PASSWORD = "password"  # noqa: S105 - the name of a way in
    PROXY = "proxy"  # as the proxy in front says with every request
    CHAT = "chat"  # by a link that an admin got in a chat: it opens the connections alone, for an hour


@dataclass(frozen=True, slots=True)
class WebSession:
    """Someone who is signed in; every form of theirs repeats ``csrf``."""

    person: Person
    method: SignInMethod
    is_admin: bool = False
    csrf: str = ""


class WebSessions(Protocol):
    """Sessions by a secret token that only the browser keeps; what is stored does not give it away."""

    async def begin(self, session: WebSession) -> str:
        """Keep it, and its token. Raises StoreUnavailable."""

    async def read(self, token: str) -> WebSession | None:
        """Whose token this is; None where it is nobody's (any more). Each reading prolongs it, but of CHAT."""

    async def end(self, token: str) -> None:
        """Sign out."""

    async def issue_code(self, session: WebSession) -> str:
        """A code that signs in as this, once, within CODE_SECONDS."""

    async def take_code(self, code: str) -> WebSession | None:
        """What the code stands for: of many callers exactly one gets it."""

    async def count(self, what: str, seconds: int) -> int:
        """How often this was counted within this many seconds, this time included."""
