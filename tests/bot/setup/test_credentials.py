"""Pasted tokens are recognized by their format, before any request."""

import pytest

from adapters.discord import plugin as discord
from adapters.slack import plugin as slack


@pytest.mark.parametrize(
    "pasted",
    ["xoxb-1-a", "  xoxb-1-a\n", "SLACK_BOT_TOKEN=xoxb-1-a", 'SLACK_BOT_TOKEN="xoxb-1-a"', "'xoxb-1-a'"],
)
def test_a_token_may_be_pasted_with_what_stands_around_it(pasted: str) -> None:
    wanted = slack.bot_token()
    assert wanted.clean(pasted) == "xoxb-1-a"
    assert wanted.find_mistake("xoxb-1-a") == ""


@pytest.mark.parametrize(
    ("pasted", "said"),
    [
        ("xapp-1-A-b", "That is the app token, which comes next. The Bot User OAuth Token begins with xoxb-."),
        ("xoxp-1-a", "That is a user's token."),
        ("8f742231b10e8888abcd99", "This is not valid. The Bot User OAuth Token begins with xoxb-."),
        ("xoxb-1 2", "This is not valid"),
    ],
)
def test_another_token_is_named(pasted: str, said: str) -> None:
    assert slack.bot_token().find_mistake(pasted).startswith(said)


def test_the_bot_token_is_not_taken_for_the_app_token() -> None:
    assert slack.app_token().find_mistake("xoxb-1-a").startswith("That is the bot token.")


@pytest.mark.parametrize("pasted", ["1234567890123456789", "c2VjcmV0", "xoxb-1-a", "a.b"])
def test_an_id_or_a_client_secret_is_no_bot_token_of_discord(pasted: str) -> None:
    assert discord.bot_token().find_mistake(pasted)


def test_a_bot_token_of_discord_may_be_pasted_as_a_header() -> None:
    wanted, token = discord.bot_token(), "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.abc_def-ghi"
    assert wanted.clean(f"Bot {token}") == token
    assert wanted.find_mistake(token) == ""
