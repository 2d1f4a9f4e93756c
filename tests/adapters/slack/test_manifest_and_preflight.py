"""Setting it up: the manifest, and what ``doctor`` says of the tokens."""

import json
from collections.abc import AsyncIterator

import pytest

from adapters.slack.manifest import EMAIL_SCOPE, EVENTS, SCOPES, manifest
from adapters.slack.preflight import preflight
from tests.fakes.slack import DEFAULT_SCOPES, FakeSlack, specs_are_here

needs_slack = pytest.mark.skipif(
    not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"
)


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as workspace:
        yield workspace


def test_the_manifest_for_socket_mode_names_no_address() -> None:
    made = json.loads(manifest("socket"))
    assert made["settings"]["socket_mode_enabled"]
    assert "https" not in json.dumps(made)
    assert made["settings"]["event_subscriptions"]["bot_events"] == list(EVENTS)
    assert made["oauth_config"]["scopes"] == {"bot": [*SCOPES, EMAIL_SCOPE], "bot_optional": [EMAIL_SCOPE]}
    assert made["features"]["agent_view"]["agent_description"]
    assert {one["callback_id"] for one in made["features"]["shortcuts"]} == {
        "footnote_answer_this",
        "footnote_add_to_knowledge",
    }


def test_the_manifest_for_http_has_one_address_for_everything() -> None:
    made = json.loads(manifest("http", host="https://bot.example/"))
    address = "https://bot.example/slack/events"
    assert not made["settings"]["socket_mode_enabled"]
    assert made["settings"]["event_subscriptions"]["request_url"] == address
    assert made["settings"]["interactivity"]["request_url"] == address
    assert made["settings"]["interactivity"]["message_menu_options_url"] == address
    assert [one["url"] for one in made["features"]["slash_commands"]] == [address, address]
    assert made["features"]["slash_commands"][0]["url"] == address


def test_every_scope_of_the_manifest_is_one_slack_knows() -> None:
    assert set(SCOPES) <= DEFAULT_SCOPES


@needs_slack
async def test_everything_in_order_is_said(slack: FakeSlack) -> None:
    checks = await preflight(slack.bot_token, slack.app_token, None, slack.api_url)
    assert [check.name for check in checks if not check.ok] == []
    assert slack.violations == []


@needs_slack
async def test_what_is_missing_for_connected_sources_is_said_and_is_no_failure(slack: FakeSlack) -> None:
    for scopes, said in ((set(DEFAULT_SCOPES), True), ({*DEFAULT_SCOPES, EMAIL_SCOPE}, False)):
        slack.scopes = scopes
        checks = {one.name: one for one in await preflight(slack.bot_token, slack.app_token, None, slack.api_url)}
        assert checks["Slack scopes"].ok
        assert ("users:read.email" in checks["Slack scopes"].detail) is said


@needs_slack
async def test_a_wrong_token_is_named_with_its_remedy_and_never_printed(slack: FakeSlack) -> None:
    (check,) = await preflight("xoxb-wrong-token", slack.app_token, None, slack.api_url)
    assert not check.ok
    assert "invalid_auth" in check.detail
    assert "SLACK_BOT_TOKEN" in check.remedy
    assert "xoxb-wrong-token" not in str(check)


@needs_slack
async def test_missing_scopes_are_named_with_what_they_are_for(slack: FakeSlack) -> None:
    slack.scopes = set(DEFAULT_SCOPES) - {"files:read", "usergroups:read", "channels:history"}
    checks = {check.name: check for check in await preflight(slack.bot_token, slack.app_token, None, slack.api_url)}
    assert "files:read (read attached files, and canvases)" in checks["Slack scopes"].detail
    assert "message.channels" in checks["Slack events"].detail
    assert not checks["Slack user groups"].ok
    assert not checks["Slack user groups"].fatal


@needs_slack
async def test_a_wrong_app_token_is_a_failure_of_socket_mode(slack: FakeSlack) -> None:
    checks = {check.name: check for check in await preflight(slack.bot_token, "xapp-wrong", None, slack.api_url)}
    assert not checks["Slack Socket Mode"].ok
    assert "connections:write" in checks["Slack Socket Mode"].remedy


@needs_slack
async def test_neither_road_is_a_failure(slack: FakeSlack) -> None:
    checks = {check.name: check for check in await preflight(slack.bot_token, None, None, slack.api_url)}
    assert not checks["Slack connection"].ok


async def test_a_slack_that_cannot_be_reached_is_named_with_what_to_look_at() -> None:
    (check,) = await preflight("xoxb-token", None, None, "http://127.0.0.1:9/api/")
    assert not check.ok
    assert check.detail == "Slack at 127.0.0.1:9 did not respond to auth.test (ClientConnectorError)."
    assert "DNS" in check.remedy
    assert "SLACK_API_URL" in check.remedy
