"""The output for Discord's developer portal."""

import base64
from urllib.parse import parse_qs, urlsplit

import discord

from adapters.discord.preflight import invite, manifest

TOKEN = base64.b64encode(b"123456789012345678").decode().rstrip("=") + ".abc.secret-part"


def test_the_invite_link_requests_only_the_permissions_needed() -> None:
    query = parse_qs(urlsplit(invite("123456789012345678")).query)
    asked = discord.Permissions(int(query["permissions"][0]))
    assert query["scope"] == ["bot applications.commands"]
    assert asked.value == 309237713920
    assert not any((asked.administrator, asked.mention_everyone, asked.manage_guild, asked.manage_messages))


def test_the_token_gives_the_applications_id_and_is_not_shown() -> None:
    shown = manifest(TOKEN)
    assert "client_id=123456789012345678" in shown
    assert "secret-part" not in shown
    assert "Message Content Intent" in shown


def test_without_a_token_it_says_where_the_id_is() -> None:
    assert "client_id=APPLICATION_ID" in manifest()
    assert "General Information" in manifest("nonsense")
