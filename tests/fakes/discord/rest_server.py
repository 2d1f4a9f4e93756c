"""REST: the application and its commands, users, and the server with its channels, roles and members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.fakes.discord.calls import Answer, Call, endpoint
from tests.fakes.discord.gateway import application_flags
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.refusal import Refusal, unknown
from tests.fakes.discord.rest_messages import channel_of

if TYPE_CHECKING:
    from tests.fakes.discord.server import FakeDiscord
    from tests.fakes.discord.world import Member

Json = dict[str, Any]


@endpoint("GET", "/gateway")
async def gateway(discord: FakeDiscord, _: Call) -> Answer:
    return 200, {"url": discord.gateway_url}


@endpoint("GET", "/gateway/bot")
async def gateway_bot(discord: FakeDiscord, _: Call) -> Answer:
    starts = {"total": 1000, "remaining": discord.gateway.starts_left, "reset_after": 86_400_000, "max_concurrency": 1}
    return 200, {"url": discord.gateway_url, "shards": 1, "session_start_limit": starts}


@endpoint("GET", "/users/@me")
async def me(discord: FakeDiscord, _: Call) -> Answer:
    return 200, discord.world.bot.user() | {"verified": True, "mfa_enabled": False, "locale": "en-US", "email": None}


@endpoint("GET", "/oauth2/applications/@me", "/applications/@me")
async def application(discord: FakeDiscord, _: Call) -> Answer:
    world = discord.world
    return 200, {
        "id": str(world.application_id),
        "name": world.bot.name,
        "description": "",
        "icon": None,
        "bot_public": True,
        "bot_require_code_grant": False,
        "owner": world.owner.user(),
        "team": None,
        "verify_key": "0" * 64,
        "flags": application_flags(discord.gateway.disallowed),
        "bot": world.bot.user(),
        "approximate_guild_count": 1,
        "interactions_endpoint_url": None,
        "redirect_uris": [],
        "integration_types_config": {"0": {}},
    }


@endpoint("GET", "/users/@me/guilds")
async def my_guilds(discord: FakeDiscord, _: Call) -> Answer:
    world = discord.world
    allowed = str(int(world.permissions(world.bot)))
    guild = {"id": str(world.guild_id), "name": world.guild_name, "icon": None, "owner": False}
    return 200, [guild | {"permissions": allowed, "features": []}]


@endpoint("GET", "/users/{user_id}")
async def user(discord: FakeDiscord, call: Call) -> Answer:
    return 200, _member(discord, call, "User", 10013).user()


def _member(discord: FakeDiscord, call: Call, what: str = "Member", code: int = 10007) -> Member:
    member = discord.world.members.get(call.snowflake("user_id"))
    if member is None:
        raise unknown(what, code)
    return member


def _in_guild(discord: FakeDiscord, call: Call) -> None:
    if call.snowflake("guild_id") != discord.world.guild_id:
        raise unknown("Guild", 10004)


@endpoint("GET", "/guilds/{guild_id}")
async def guild(discord: FakeDiscord, call: Call) -> Answer:
    _in_guild(discord, call)
    return 200, discord.world.guild_payload()


@endpoint("GET", "/guilds/{guild_id}/channels")
async def guild_channels(discord: FakeDiscord, call: Call) -> Answer:
    _in_guild(discord, call)
    return 200, [channel.payload() for channel in discord.world.guild_channels()]


@endpoint("GET", "/guilds/{guild_id}/roles")
async def guild_roles(discord: FakeDiscord, call: Call) -> Answer:
    _in_guild(discord, call)
    return 200, [role.payload() for role in discord.world.roles.values()]


@endpoint("GET", "/guilds/{guild_id}/members")
async def guild_members(discord: FakeDiscord, call: Call) -> Answer:
    _in_guild(discord, call)
    after, limit = int(call.query.get("after", 0)), int(call.query.get("limit", 1))
    found = [member for member in discord.world.members.values() if member.id > after]
    return 200, [member.payload() for member in found[:limit]]


@endpoint("GET", "/guilds/{guild_id}/members/search")
async def search_members(discord: FakeDiscord, call: Call) -> Answer:
    _in_guild(discord, call)
    wanted, limit = call.query["query"].lower(), int(call.query.get("limit", 1))
    found = [member for member in discord.world.members.values() if member.name.lower().startswith(wanted)]
    return 200, [member.payload() for member in found[:limit]]


@endpoint("GET", "/guilds/{guild_id}/members/{user_id}")
async def guild_member(discord: FakeDiscord, call: Call) -> Answer:
    _in_guild(discord, call)
    return 200, _member(discord, call).payload()


@endpoint("GET", "/guilds/{guild_id}/threads/active")
async def active_threads(discord: FakeDiscord, call: Call) -> Answer:
    _in_guild(discord, call)
    world = discord.world
    threads = [t for t in world.threads() if world.may(world.bot, Permission.VIEW_CHANNEL, t)]
    return 200, {"threads": [thread.payload() for thread in threads], "members": []}


@endpoint("GET", "/channels/{channel_id}/threads/archived/public")
async def archived_threads(discord: FakeDiscord, call: Call) -> Answer:
    parent = channel_of(discord, call, Permission.READ_MESSAGE_HISTORY)
    threads = [c for c in discord.world.channels.values() if c.parent is parent and c.archived and not c.deleted]
    return 200, {"threads": [thread.payload() for thread in threads], "members": [], "has_more": False}


GLOBAL = "/applications/{application_id}/commands"
GUILD = "/applications/{application_id}/guilds/{guild_id}/commands"


def _scope(discord: FakeDiscord, call: Call) -> int | None:
    if call.snowflake("application_id") != discord.world.application_id:
        raise Refusal(403, 20012, "You are not authorized to perform this action on this application")
    if "guild_id" not in call.params:
        return None
    _in_guild(discord, call)
    return call.snowflake("guild_id")


@endpoint("GET", GLOBAL, GUILD)
async def list_commands(discord: FakeDiscord, call: Call) -> Answer:
    return 200, discord.commands.listed(_scope(discord, call))


@endpoint("PUT", GLOBAL, GUILD)
async def overwrite_commands(discord: FakeDiscord, call: Call) -> Answer:
    return 200, discord.commands.overwrite(_scope(discord, call), call.body or [])


@endpoint("POST", GLOBAL, GUILD)
async def create_command(discord: FakeDiscord, call: Call) -> Answer:
    return 201, discord.commands.upsert(_scope(discord, call), call.body)


@endpoint("GET", f"{GLOBAL}/{{command_id}}", f"{GUILD}/{{command_id}}")
async def get_command(discord: FakeDiscord, call: Call) -> Answer:
    return 200, discord.commands.get(_scope(discord, call), call.snowflake("command_id"))


@endpoint("PATCH", f"{GLOBAL}/{{command_id}}", f"{GUILD}/{{command_id}}")
async def edit_command(discord: FakeDiscord, call: Call) -> Answer:
    scope = _scope(discord, call)
    return 200, discord.commands.change(scope, call.snowflake("command_id"), call.body)


@endpoint("DELETE", f"{GLOBAL}/{{command_id}}", f"{GUILD}/{{command_id}}")
async def delete_command(discord: FakeDiscord, call: Call) -> Answer:
    discord.commands.remove(_scope(discord, call), call.snowflake("command_id"))
    return 204, None
