"""Who may do what: API tokens, sessions on the page, and the audit."""

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
    INGEST = "ingest"  # add, replace and delete documents of its own, in the bases that it names


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token as it is listed: everything but its secret. ``bases`` None: all that its principal may read."""

    id: str
    name: str
    scopes: frozenset[TokenScope]
    bases: frozenset[str] | None
    created_at: datetime
    created_by: str
    rate: int = 60  # requests a minute
    public: bool = False  # words of what is asked with it may be shown to admins, as those of a public channel
    revoked_at: datetime | None = None

    @property
    def principal(self) -> str:
        """What a base may be granted to, so that this token reads it."""
        return str(Principal("api", PrincipalKind.TOKEN, self.id))


@dataclass(frozen=True, slots=True)
class KeptToken:
    """A token with the SHA-256 of its secret, in hexadecimal."""

    token: ApiToken
    digest: str


class ApiTokens(Protocol):
    """Keeps tokens, revoked ones too, until there are too many of those; counts their use."""

    async def keep(self, kept: KeptToken) -> None:
        """Keep it, replacing the one of this id. Raises Busy when there are too many."""

    async def find(self, token_id: str) -> KeptToken | None:
        """Return the one of this id, revoked or not."""

    async def all(self) -> Sequence[ApiToken]:
        """Return all of them, the newest first."""

    async def count_use(self, token_id: str, seconds: int) -> int:
        """Return how often it was used within this many seconds, this time included."""


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
    """Someone who is signed in; every form of theirs repeats ``csrf``.

    ``thread`` is where an admin got a link in a chat: whether they still are one is looked up there.
    """

    person: Person
    method: SignInMethod
    is_admin: bool = False
    csrf: str = ""
    thread: ThreadKey | None = None


class WebSessions(Protocol):
    """Sessions by a secret token that only the browser keeps; what is stored does not give it away."""

    async def begin(self, session: WebSession) -> str:
        """Keep it, and its token. Raises StoreUnavailable."""

    async def read(self, token: str) -> WebSession | None:
        """Return the session of this token; None without one. Reading prolongs every session but those of CHAT."""

    async def end(self, token: str) -> None:
        """Sign out."""

    async def issue_code(self, session: WebSession) -> str:
        """Return a code that signs in as this, once, within CODE_SECONDS."""

    async def take_code(self, code: str) -> WebSession | None:
        """Return what the code means: of many callers exactly one gets it."""

    async def count(self, what: str, seconds: int) -> int:
        """Return how often this was counted within this many seconds, this time included."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Something an admin did, or somebody was denied."""

    at: datetime
    actor: str
    action: str
    target: str
    allowed: bool
    detail: str = ""


class Audit(Protocol):
    """The record of what people with more rights did, or tried without them. Bounded; the oldest go first."""

    async def record(self, actor: str, action: str, target: str, *, allowed: bool, detail: str = "") -> None:
        """Keep it, with the time."""

    async def recent(self, limit: int = 100) -> Sequence[AuditEntry]:
        """Return the newest entries, newest first."""
