"""Readers of a base: from a typed or picked word to a principal, and from a principal to its name.

With ``should_escape``, Slack sends ``<#C1|general>``, ``<@U1|ada>`` and ``<!subteam^S1|ops>`` for what a person picks
while typing. https://docs.slack.dev/interactivity/implementing-slash-commands
"""

import re
from collections.abc import Iterable, Sequence

from adapters.slack.api.directory import Directory
from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.ids import PLATFORM, group_principal, user_principal
from core.model.errors import NotFound, PlatformUnavailable
from core.model.principals import EVERYONE, Principal, PrincipalKind, channel_principal
from core.service.kb.results import GrantsChanged, KbResult
from core.service.kb.text_spans import Line, Span, Style

PRIVATE = "a private channel"
SHARED_WITH_PARTNERS = "People from another organization can read it too."
OPEN_TO_PARTNERS = (
    "People of other organizations read it too, in the channels that you share with them. `/footnote settings` in such "
    "a channel limits what I answer from."
)
EVERY_MEMBER = "everybody in this workspace"
_PICKED = re.compile(r"<(?P<kind>#|@|!subteam\^)(?P<id>[A-Z0-9]+)(?:\|[^>]*)?>")
_EVERYBODY = re.compile(r"<!(?:everyone|channel|here)(?:\|[^>]*)?>|@?everyone|@?everybody", re.IGNORECASE)


def principal_of(written: str, team: str) -> str:
    """Return the principal that a word of a command names, or the word itself if it is not a mention."""
    if _EVERYBODY.fullmatch(written):
        return EVERYONE
    if (picked := _PICKED.fullmatch(written)) is None:
        return written
    match picked["kind"]:
        case "#":
            return channel_principal(PLATFORM, team, picked["id"])
        case "@":
            return user_principal(team, picked["id"])
        case _:
            return group_principal(team, picked["id"])


class PrincipalNames:
    """Lookup of principals by name and of names by principal, in one workspace."""

    def __init__(self, directory: Directory) -> None:
        """Use this directory."""
        self._directory = directory

    async def resolve(self, written: Iterable[str], team: str) -> tuple[str, ...]:
        """Return the principals that a command's words name. Raises NotFound for a bare name that matches nothing."""
        return tuple([await self._resolve(principal_of(word, team), team) for word in written])

    async def _resolve(self, word: str, team: str) -> str:
        if not word.startswith(("#", "@")):
            return word
        for group_id, group in (await self._directory.groups()).items():
            if word.startswith("@") and group.handle.casefold() == word[1:].casefold():
                return group_principal(team, group_id)
        raise NotFound(
            f"I don't know who “{word[:80]}” is.",
            remedy="Enter `/kb grant` or `/kb revoke` without a name to open a form.",
        )

    async def name_principals(self, lines: Sequence[Line], *, is_admin: bool) -> list[Line]:
        """Return the lines with principals replaced by names. Only admins see the name of a private channel."""
        return [tuple([await self._name_principal(span, is_admin=is_admin) for span in line]) for line in lines]

    async def partner_notes(self, result: KbResult) -> list[str]:
        """Return notes for a grant whose readers include people of another organization."""
        if not isinstance(result, GrantsChanged):
            return []
        if result.readers.everybody:
            return [OPEN_TO_PARTNERS] if await self._directory.has_shared_channels() else []
        shared = [one for one in result.readers.principals if await self._is_shared(one)]
        return [SHARED_WITH_PARTNERS] if shared else []

    async def _is_shared(self, principal: str) -> bool:
        try:
            found = Principal.parse(principal)
            if found.platform != PLATFORM or found.kind != PrincipalKind.CHANNEL:
                return False
            return (await self._directory.channel(found.id)).shared
        except (ValueError, RequestRefused, PlatformUnavailable):
            return False

    async def _name_principal(self, span: Span, *, is_admin: bool) -> Span:
        us = self._directory.cached_identity
        if span.style is not Style.PRINCIPAL or us is None:
            return span
        try:
            principal = Principal.parse(span.text)
        except ValueError:
            return span
        return Span(await self._name(principal, us.team, is_admin=is_admin) or span.text, Style.PRINCIPAL)

    async def _name(self, principal: Principal, team: str, *, is_admin: bool) -> str:
        """Return the display name; empty if Slack does not say or the principal is not of this workspace."""
        if principal.platform != PLATFORM:
            return ""
        match principal:
            case Principal(kind=PrincipalKind.TEAM, id=found) if found == team:
                return EVERY_MEMBER
            case Principal(kind=PrincipalKind.USER, id=found, space=space) if space == team:
                name = await self._directory.name(found)
                return f"@{name}" if name != found else ""
            case Principal(kind=PrincipalKind.GROUP, id=found, space=space) if space == team:
                group = (await self._directory.groups()).get(found)
                return f"@{group.handle}" if group is not None else ""
            case Principal(kind=PrincipalKind.CHANNEL, id=found, space=space) if space == team:
                return await self._channel_name(found, is_admin=is_admin)
            case _:
                return ""

    async def _channel_name(self, channel: str, *, is_admin: bool) -> str:
        try:
            room = await self._directory.channel(channel)
        except (RequestRefused, PlatformUnavailable):
            return ""
        if room.private and not is_admin:
            return PRIVATE
        return f"#{room.name}" if room.name else ""
