"""Slack checks for ``doctor``: tokens, scopes, Socket Mode, events and user groups, each with a remedy.

Only a configuration token can read the app's subscriptions (events, commands, shortcuts). People compare these by hand,
so the remedy names the manifest.
"""

from collections.abc import AsyncIterator

from slack_sdk.errors import SlackApiError

from adapters.slack.api.errors import RequestRefused, error_word
from adapters.slack.api.web_client import WebClient
from adapters.slack.manifest import EMAIL_SCOPE, EVENTS, SCOPES
from core.model.errors import PlatformUnavailable
from core.model.health import PlatformCheck

MANIFEST = (
    "Run footnote manifest slack, paste its output at api.slack.com/apps under App Manifest, and reinstall the app."
)


async def preflight(
    bot_token: str, app_token: str | None, signing_secret: str | None, api_url: str | None = None
) -> list[PlatformCheck]:
    """Run every check in order of dependency. Tokens are never printed."""
    web = WebClient(bot_token, api_url)
    try:
        return [check async for check in _checks(web, app_token, signing_secret)]
    finally:
        await web.close()


async def check_bot_token(token: str, api_url: str | None = None) -> list[PlatformCheck]:
    """Check whether Slack accepts this bot token and, if so, which scopes are missing."""
    web = WebClient(token, api_url)
    try:
        check, granted = await _bot_token(web)
        return [check] if granted is None else [check, _scopes(granted)]
    finally:
        await web.close()


async def check_app_token(token: str, api_url: str | None = None) -> PlatformCheck:
    """Check whether Slack offers a Socket Mode connection for this app token."""
    web = WebClient(token, api_url)
    try:
        return await _socket_mode(web, token)
    finally:
        await web.close()


async def _checks(web: WebClient, app_token: str | None, signing_secret: str | None) -> AsyncIterator[PlatformCheck]:
    token, granted = await _bot_token(web)
    yield token
    if granted is None:
        return
    yield _scopes(granted)
    yield await _connection(web, app_token, signing_secret)
    yield _subscriptions(granted)
    yield await _groups(web, granted)


async def _bot_token(web: WebClient) -> tuple[PlatformCheck, frozenset[str] | None]:
    """Return the check of the token, and its scopes or None if it was refused."""
    try:
        us = await web.call_once("auth.test")
    except RequestRefused as refusal:
        remedy = "Set SLACK_BOT_TOKEN to the Bot User OAuth Token (xoxb-…) under OAuth & Permissions."
        return PlatformCheck("Slack bot token", False, f"refused: {refusal.error}", remedy), None
    except PlatformUnavailable as error:
        remedy = error.remedy or "Check the network, or SLACK_API_URL."
        return PlatformCheck("Slack", False, error.args[0], remedy), None
    return PlatformCheck("Slack bot token", True, f"{us.get('user')} in {us.get('team')}"), web.granted


def _scopes(granted: frozenset[str]) -> PlatformCheck:
    missing = sorted(set(SCOPES) - granted)
    if not missing:
        lacks = (
            "" if EMAIL_SCOPE in granted else f"; without {EMAIL_SCOPE} nobody reads connected sources by their address"
        )
        return PlatformCheck("Slack scopes", True, f"all {len(SCOPES)} granted{lacks}")
    needed = "; ".join(f"{scope} ({SCOPES[scope]})" for scope in missing)
    fatal = bool({"chat:write", "app_mentions:read"} & set(missing))
    return PlatformCheck("Slack scopes", False, f"missing: {needed}", MANIFEST, fatal=fatal)


async def _connection(web: WebClient, app_token: str | None, signing_secret: str | None) -> PlatformCheck:
    """Check Socket Mode if there is an app token, otherwise HTTP."""
    if app_token:
        return await _socket_mode(web, app_token)
    if signing_secret:
        detail = "SLACK_SIGNING_SECRET is set; Slack must reach this host"
        return PlatformCheck("Slack HTTP mode", True, detail)
    remedy = "Set SLACK_APP_TOKEN (xapp-…, scope connections:write) for Socket Mode, or SLACK_SIGNING_SECRET for HTTP."
    return PlatformCheck("Slack connection", False, "neither an app token nor a signing secret is set", remedy)


async def _socket_mode(web: WebClient, app_token: str) -> PlatformCheck:
    remedy = "Switch Socket Mode on, and create an app-level token with connections:write under Basic Information."
    try:
        await web.client.apps_connections_open(app_token=app_token)
    except SlackApiError as error:
        return PlatformCheck("Slack Socket Mode", False, f"refused: {error_word(error) or 'no answer'}", remedy)
    except OSError:
        return PlatformCheck("Slack Socket Mode", False, "Slack could not be reached", "Check the network.")
    return PlatformCheck("Slack Socket Mode", True, "a connection was offered")


def _subscriptions(granted: frozenset[str]) -> PlatformCheck:
    """Check the scopes that events need. Slack does not send an event whose scope is missing."""
    needs = {"app_mention": "app_mentions:read", "message.channels": "channels:history", "message.im": "im:history"}
    needs |= {"message.groups": "groups:history", "message.mpim": "mpim:history"}
    silent = sorted(event for event, scope in needs.items() if scope not in granted)
    if "commands" not in granted:
        silent.append("/footnote, /kb and the shortcuts")
    if silent:
        return PlatformCheck("Slack events", False, f"cannot arrive: {', '.join(silent)}", MANIFEST, fatal=False)
    detail = f"scopes allow all; the manifest subscribes to {', '.join(EVENTS)}"
    return PlatformCheck("Slack events", True, detail)


async def _groups(web: WebClient, granted: frozenset[str]) -> PlatformCheck:
    if "usergroups:read" not in granted:
        detail = "user groups are unknown: grants to groups and “Ask a person” do not work"
        return PlatformCheck("Slack user groups", False, detail, MANIFEST, fatal=False)
    try:
        found = (await web.call_once("usergroups.list")).get("usergroups") or []
    except (RequestRefused, PlatformUnavailable) as error:
        return PlatformCheck(
            "Slack user groups", False, str(error), "These features need a paid workspace.", fatal=False
        )
    return PlatformCheck("Slack user groups", True, f"{len(found)} readable")
