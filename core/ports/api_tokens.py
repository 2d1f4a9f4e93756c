"""Who may use the API and MCP: tokens with what they may do and which bases they may read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

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
        """The one of this id, revoked or not."""

    async def all(self) -> Sequence[ApiToken]:
        """All of them, the newest first."""

    async def count_use(self, token_id: str, seconds: int) -> int:
        """How often it was used within this many seconds, this time included."""
