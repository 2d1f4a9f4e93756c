"""Lookups of our own identity, people, their rights and groups, and channels, cached for a minute.

A revoked right may still work for up to that minute. Names grant nothing, so they are cached longer.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import structlog
from cachetools import LRUCache

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.web_client import WebClient
from core.model.errors import PlatformUnavailable

RIGHTS_SECONDS = 60.0
NAMES_SECONDS = 600.0
_NEVER_SHOWN = {"user_not_found", "user_not_visible"}  # Slack's errors for people whose profile it does not show to us
CHANNELS = "public_channel,private_channel"
MOST_CACHED = 2_000  # of each kind

V = TypeVar("V")
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Identity:
    """Our own identity in this workspace."""

    team: str  # T…
    user: str  # U…: who is mentioned, and who writes our messages
    bot: str  # B…: the ``bot_id`` of our messages
    url: str = ""  # of the workspace


@dataclass(frozen=True, slots=True)
class Member:
    """A person known to Slack. ``is_full`` means a member of this workspace who is not a guest, according to Slack.

    A guest is a member of some channels only. A person from another workspace is not a member here at all. ``email`` is
    the confirmed address of a full member, if the app may read it (``users:read.email``).
    """

    id: str
    name: str
    is_admin: bool = False
    is_full: bool = False
    email: str = ""


@dataclass(frozen=True, slots=True)
class Channel:
    """A conversation. ``shared`` means that people of other workspaces can read it too."""

    id: str
    direct: bool = False
    private: bool = False
    shared: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A user group that can be mentioned as ``@handle``. ``members`` are Slack ids."""

    handle: str
    members: frozenset[str] = frozenset()


class ExpiringCache(Generic[V]):
    """A bounded cache that fetches expired values again. ``peek`` returns a value even after it expired."""

    def __init__(self, seconds: float, most: int = MOST_CACHED) -> None:
        self._seconds = seconds
        self._values: LRUCache[str, tuple[float, V]] = LRUCache(most)

    async def get(self, key: str, fetch: Callable[[], Awaitable[V]]) -> V:
        """Return the cached value; fetch it if it is missing or expired."""
        found = self._values.get(key)
        if found is not None and time.monotonic() - found[0] < self._seconds:
            return found[1]
        value = await fetch()
        self._values[key] = (time.monotonic(), value)
        return value

    def peek(self, key: str) -> V | None:
        """Return the cached value even if it expired, or None if there is none."""
        found = self._values.get(key)
        return found[1] if found else None


class Directory:
    """Cached lookups of people and channels. A failed lookup grants no rights."""

    def __init__(self, web: WebClient) -> None:
        """Look up this workspace. Cache rights for RIGHTS_SECONDS and names for NAMES_SECONDS."""
        self._web = web
        self._identity: Identity | None = None
        self._members: ExpiringCache[Member] = ExpiringCache(RIGHTS_SECONDS)
        self._names: ExpiringCache[str] = ExpiringCache(NAMES_SECONDS)
        self._channels: ExpiringCache[Channel] = ExpiringCache(RIGHTS_SECONDS)
        self._shared: ExpiringCache[bool] = ExpiringCache(NAMES_SECONDS, 1)
        self._groups: ExpiringCache[dict[str, UserGroup]] = ExpiringCache(RIGHTS_SECONDS, 1)

    @property
    def cached_identity(self) -> Identity | None:
        """Our own identity if it was already looked up, or None."""
        return self._identity

    async def identity(self) -> Identity:
        """Return our own identity. Raises RequestRefused if Slack rejected the token, and PlatformUnavailable."""
        if self._identity is None:
            answer = await self._web.call("auth.test")
            self._identity = Identity(
                str(answer["team_id"]),
                str(answer["user_id"]),
                str(answer.get("bot_id", "")),
                str(answer.get("url", "")),
            )
        return self._identity

    async def member(self, user: str) -> Member:
        """Return a member with their rights as of the last minute, or without rights if Slack does not answer."""
        try:
            return await self._lookup(user)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("member_unknown", user=user, reason=str(error))
            return Member(user, user)

    async def _lookup(self, user: str) -> Member:
        return await self._members.get(user, lambda: self._fetch_member(user))

    async def _fetch_member(self, user: str) -> Member:
        try:
            user_info: dict[str, Any] = (await self._web.call("users.info", user=user))["user"]
        except RequestRefused as refusal:
            if refusal.error not in _NEVER_SHOWN:
                raise
            return Member(user, user)
        is_ours = (await self.identity()).team in _teams(user_info)
        profile = user_info.get("profile") or {}
        name = (
            profile.get("display_name")
            or profile.get("real_name")
            or user_info.get("real_name")
            or user_info.get("name")
        )
        is_full = is_ours and not (user_info.get("is_restricted") or user_info.get("is_ultra_restricted"))
        is_confirmed = is_full and bool(user_info.get("is_email_confirmed")) and not user_info.get("deleted")
        return Member(
            user,
            str(name or user),
            is_admin=is_ours and bool(user_info.get("is_admin") or user_info.get("is_owner")),
            is_full=is_full,
            email=str(profile.get("email") or "") if is_confirmed else "",
        )

    async def name(self, user: str) -> str:
        """Return a display name, or the id if there is none. A failed lookup is not cached."""

        async def fetch() -> str:
            return (await self._lookup(user)).name

        try:
            return await self._names.get(user, fetch)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("name_unknown", user=user, reason=str(error))
            return self.cached_name(user) or user

    async def names(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the names of people, user groups and channels by id, without those that Slack does not name.

        Private channels are left out because readers may not know that they exist.
        """
        found: dict[str, str] = {}
        for one in filter(None, ids):
            if one.startswith(("U", "W")):
                found[one] = await self.name(one)
            elif one.startswith("S"):
                group = (await self.groups()).get(one)
                found[one] = group.handle if group is not None else one
            else:
                with suppress(RequestRefused, PlatformUnavailable):
                    channel = await self.channel(one)
                    found[one] = one if channel.private else channel.name
        return {one: name for one, name in found.items() if name and name != one}

    def cached_name(self, user: str) -> str:
        """Return the cached display name, or an empty string."""
        return self._names.peek(user) or ""

    async def channel(self, channel: str) -> Channel:
        """Return a conversation. Raises RequestRefused and PlatformUnavailable, because its readers must be known."""
        return await self._channels.get(channel, lambda: self._fetch_channel(channel))

    async def _fetch_channel(self, channel: str) -> Channel:
        info: dict[str, Any] = (await self._web.call("conversations.info", channel=channel))["channel"]
        return Channel(
            channel,
            direct=bool(info.get("is_im")),
            private=bool(info.get("is_private") or info.get("is_mpim") or info.get("is_im")),
            shared=_is_shared(info),
            name=str(info.get("name") or ""),
        )

    async def has_shared_channels(self) -> bool:
        """Return whether we are in a channel shared with another organization; False if Slack does not say."""

        async def fetch() -> bool:
            listed = self._web.items(
                "users.conversations", "channels", MOST_CACHED, types=CHANNELS, exclude_archived=True
            )
            return any([_is_shared(one) async for one in listed])

        try:
            return await self._shared.get("", fetch)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("channels_not_listed", reason=str(error))
            return False

    async def groups(self) -> dict[str, UserGroup]:
        """Return the user groups by id. Empty if the scope is missing or the workspace is not on a paid plan."""
        try:
            return await self._groups.get("", self._fetch_groups)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("groups_unknown", reason=str(error))
            return {}

    async def _fetch_groups(self) -> dict[str, UserGroup]:
        answer = await self._web.call("usergroups.list", include_users=True)
        return {
            str(one["id"]): UserGroup(
                str(one.get("handle") or one.get("name") or one["id"]), frozenset(one.get("users") or ())
            )
            for one in answer.get("usergroups") or []
            if not one.get("date_delete")
        }

    async def groups_of(self, user: str) -> frozenset[str]:
        """Return the ids of the user groups that someone belongs to."""
        return frozenset(group_id for group_id, group in (await self.groups()).items() if user in group.members)


def _is_shared(info: Mapping[str, Any]) -> bool:
    return bool(info.get("is_ext_shared") or info.get("is_shared"))


def _teams(user_info: Mapping[str, Any]) -> set[str]:
    """Return the workspaces that a person belongs to. An organization may have several.

    https://docs.slack.dev/reference/objects/user-object
    """
    return {str(user_info.get("team_id") or ""), *((user_info.get("enterprise_user") or {}).get("teams") or ())}
