"""Access control: API tokens, sessions on the web page, and the audit log."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from core.model.conversation import Person, ThreadKey
from core.model.principals import Principal, PrincipalKind


class TokenScope(StrEnum):
    """What a token may do."""

    ASK = "ask"  # ask, choose at a checkpoint, rate an answer
    SEARCH = "search"  # search, list documents, read sections
    INGEST = "ingest"  # add, replace and delete its own documents, in the bases that it names


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token without its secret, as listings show it. ``bases`` None: all that its principal may read."""

    id: str
    name: str
    scopes: frozenset[TokenScope]
    bases: frozenset[str] | None
    created_at: datetime
    created_by: str
    rate: int = 60  # requests a minute
    public: bool = False  # admins may see the text of its questions, as in a public channel
    revoked_at: datetime | None = None

    @property
    def principal(self) -> str:
        """The principal to grant a base to, so that this token may read it."""
        return str(Principal("api", PrincipalKind.TOKEN, self.id))


@dataclass(frozen=True, slots=True)
class KeptToken:
    """A token with the SHA-256 of its secret, in hexadecimal."""

    token: ApiToken
    digest: str


class ApiTokens(Protocol):
    """Store of tokens, including a limited number of revoked ones. Counts their use."""

    async def keep(self, kept: KeptToken) -> None:
        """Save a token, replacing the one with this id. Raises Busy if there are too many."""

    async def find(self, token_id: str) -> KeptToken | None:
        """Return the token with this id, revoked or not."""

    async def all(self) -> Sequence[ApiToken]:
        """Return all of them, the newest first."""

    async def count_use(self, token_id: str, seconds: int) -> int:
        """Count one use. Return the number of uses within this many seconds, including this one."""


CODE_SECONDS = 15 * 60
CHAT_SECONDS = 60 * 60


class SignInMethod(StrEnum):
    """Ways to sign in."""

    LINK = "link"  # from this machine's terminal
    PASSWORD = "password"  # noqa: S105 - the name of a sign-in method
    PROXY = "proxy"  # the reverse proxy names the user in every request
    CHAT = "chat"  # by a link sent to an admin in a chat; opens only the connections, for an hour


@dataclass(frozen=True, slots=True)
class WebSession:
    """A signed-in person. Every form of theirs must repeat ``csrf``.

    ``thread`` is where an admin got the link in a chat. It is used to check whether they are still an admin.
    """

    person: Person
    method: SignInMethod
    is_admin: bool = False
    csrf: str = ""
    thread: ThreadKey | None = None


class WebSessions(Protocol):
    """Store of sessions by a secret token that only the browser keeps. The stored data does not reveal the token."""

    async def begin(self, session: WebSession) -> str:
        """Save a session and return its token. Raises StoreUnavailable."""

    async def read(self, token: str) -> WebSession | None:
        """Return the session of this token; None without one. Reading extends every session except those of CHAT."""

    async def end(self, token: str) -> None:
        """Sign out."""

    async def issue_code(self, session: WebSession) -> str:
        """Return a code that signs in to this session once, within CODE_SECONDS."""

    async def take_code(self, code: str) -> WebSession | None:
        """Return the session of a code. Of many callers exactly one gets it."""

    async def count(self, what: str, seconds: int) -> int:
        """Count one event. Return the number within this many seconds, including this one."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An admin's action, or an attempt that was denied."""

    at: datetime
    actor: str
    action: str
    target: str
    allowed: bool
    detail: str = ""


class Audit(Protocol):
    """The audit log of privileged actions and denied attempts. Bounded; the oldest entries are dropped first."""

    async def record(self, actor: str, action: str, target: str, *, allowed: bool, detail: str = "") -> None:
        """Add an entry with the current time."""

    async def recent(self, limit: int = 100) -> Sequence[AuditEntry]:
        """Return the newest entries, newest first."""
