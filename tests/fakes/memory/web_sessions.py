"""Sessions of the page in memory."""

import secrets
from collections import Counter

from core.ports.access import WebSession, WebSessions


class InProcessWebSessions(WebSessions):
    """Nothing runs out here."""

    def __init__(self) -> None:
        self._sessions: dict[str, WebSession] = {}
        self._codes: dict[str, WebSession] = {}
        self._counts: Counter[str] = Counter()

    async def begin(self, session: WebSession) -> str:
        """Keep it, and its token."""
        token = secrets.token_urlsafe(16)
        self._sessions[token] = session
        return token

    async def read(self, token: str) -> WebSession | None:
        """Whose token this is."""
        return self._sessions.get(token)

    async def end(self, token: str) -> None:
        """Sign out."""
        self._sessions.pop(token, None)

    async def issue_code(self, session: WebSession) -> str:
        """A code that signs in as this, once."""
        code = secrets.token_urlsafe(16)
        self._codes[code] = session
        return code

    async def take_code(self, code: str) -> WebSession | None:
        """What the code stands for, taken."""
        return self._codes.pop(code, None)

    async def count(self, what: str, seconds: int) -> int:
        """How often this was counted."""
        self._counts[what] += 1
        return self._counts[what]
