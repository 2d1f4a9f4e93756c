"""``/kb connect``: a link to the page where an admin connects sources. A chat carries no secret of a source."""

import secrets
from dataclasses import dataclass

from core.model.errors import NotFound
from core.ports.access import CODE_SECONDS, SignInMethod, WebSession, WebSessions
from core.service.kb.commands import Caller, KbCommand
from core.service.kb.results import ConnectLink

ELSEWHERE = "footnote connect in a terminal does the same."


@dataclass(frozen=True, slots=True)
class ConnectLinks:
    """Links to the page at ``address``; without an address there is no page that an admin could reach."""

    sessions: WebSessions | None
    address: str

    async def issue(self, command: KbCommand, caller: Caller) -> ConnectLink:
        """Return a link that signs the caller in, once, for the connections alone.

        Raises NotFound where there is no page, or where others would read the link; StoreUnavailable.
        """
        if self.sessions is None or not self.address:
            raise NotFound("The page has no address that people can reach.", remedy=f"Set WEB_ADDRESS. {ELSEWHERE}")
        if not caller.private:
            raise NotFound("Others would read the link here.", remedy="Ask me in a direct message.")
        session = WebSession(caller.person, SignInMethod.CHAT, is_admin=True, csrf=secrets.token_urlsafe(18))
        code = await self.sessions.issue_code(session)
        return ConnectLink(f"{self.address.rstrip('/')}/sign-in/{code}", CODE_SECONDS // 60)
