"""Checks of the Slack side for ``doctor``: tokens, scopes, Socket Mode, the agent surface; each with its remedy.

What an app has subscribed to (events, commands, shortcuts) can be read with a configuration token only, so those are
compared by hand: the remedy names the manifest.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from adapters.slack.api.errors import RequestRefused, error_word
from adapters.slack.api.web_client import WebClient
from adapters.slack.manifest import EVENTS, SCOPES
from core.model.errors import PlatformUnavailable

MANIFEST = "Paste what footnote manifest slack prints under App Manifest at api.slack.com/apps, and reinstall the app."


@dataclass(frozen=True, slots=True)
class SlackCheck:
    """One thing that was looked at. ``fatal`` False: it works without, but less well."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    fatal: bool = True


async def preflight(
    bot_token: str, app_token: str | None, signing_secret: str | None, api_url: str | None = None
) -> list[SlackCheck]:
    """Every check, in the order in which they depend on each other. Prints no token."""
    web = WebClient(bot_token, api_url)
    try:
        return [check async for check in _checks(web, app_token, signing_secret)]
    finally:
        await web.close()


async def check_bot_token(token: str, api_url: str | None = None) -> list[SlackCheck]:
    """Whether Slack lets this bot token in, and then which scopes it lacks."""
    web = WebClient(token, api_url)
    try:
        check, granted = await _bot_token(web)
        return [check] if granted is None else [check, _scopes(granted)]
    finally:
        await web.close()


async def check_app_token(token: str, api_url: str | None = None) -> SlackCheck:
    """Whether a connection of Socket Mode is offered for this app token."""
    web = WebClient(token, api_url)
    try:
        return await _socket_mode(web, token)
    finally:
        await web.close()


async def _checks(web: WebClient, app_token: str | None, signing_secret: str | None) -> AsyncIterator[SlackCheck]:
    token, granted = await _bot_token(web)
    yield token
    if granted is None:
        return
    yield _scopes(granted)
    yield await _connection(web, app_token, signing_secret)
    yield _subscriptions(granted)
    yield await _groups(web, granted)


async def _bot_token(web: WebClient) -> tuple[SlackCheck, frozenset[str] | None]:
    """Whether the token is let in, and the scopes that it holds; None where it is not."""
    try:
        us = await web.call_once("auth.test")
        granted = await web.granted_scopes()
    except RequestRefused as refusal:
        remedy = "Set SLACK_BOT_TOKEN to the Bot User OAuth Token (xoxb-…) under OAuth & Permissions."
        return SlackCheck("Slack bot token", False, f"refused: {refusal.error}", remedy), None
    except PlatformUnavailable as error:
        remedy = error.remedy or "Check the network, or SLACK_API_URL."
        return SlackCheck("Slack", False, error.args[0], remedy), None
    return SlackCheck("Slack bot token", True, f"{us.get('user')} in {us.get('team')}"), granted


def _scopes(granted: frozenset[str]) -> SlackCheck:
    missing = sorted(set(SCOPES) - granted)
    if not missing:
        return SlackCheck("Slack scopes", True, f"all {len(SCOPES)} granted")
    needed = "; ".join(f"{scope} ({SCOPES[scope]})" for scope in missing)
    fatal = bool({"chat:write", "app_mentions:read"} & set(missing))
    return SlackCheck("Slack scopes", False, f"missing: {needed}", MANIFEST, fatal=fatal)


async def _connection(web: WebClient, app_token: str | None, signing_secret: str | None) -> SlackCheck:
    """Socket Mode where there is an app token, else HTTP."""
    if app_token:
        return await _socket_mode(web, app_token)
    if signing_secret:
        detail = "SLACK_SIGNING_SECRET is set; Slack must reach this host"
        return SlackCheck("Slack HTTP mode", True, detail)
    remedy = "Set SLACK_APP_TOKEN (xapp-…, scope connections:write) for Socket Mode, or SLACK_SIGNING_SECRET for HTTP."
    return SlackCheck("Slack connection", False, "neither an app token nor a signing secret is set", remedy)


async def _socket_mode(web: WebClient, app_token: str) -> SlackCheck:
    remedy = "Switch Socket Mode on, and create an app-level token with connections:write under Basic Information."
    try:
        await web.client.apps_connections_open(app_token=app_token)
    except SlackApiError as error:
        return SlackCheck("Slack Socket Mode", False, f"refused: {error_word(error) or 'no answer'}", remedy)
    except OSError:
        return SlackCheck("Slack Socket Mode", False, "Slack could not be reached", "Check the network.")
    return SlackCheck("Slack Socket Mode", True, "a connection was offered")


def _subscriptions(granted: frozenset[str]) -> SlackCheck:
    """Events need scopes: what the scopes rule out cannot be subscribed to."""
    needs = {"app_mention": "app_mentions:read", "message.channels": "channels:history", "message.im": "im:history"}
    needs |= {"message.groups": "groups:history", "message.mpim": "mpim:history"}
    silent = sorted(event for event, scope in needs.items() if scope not in granted)
    if "commands" not in granted:
        silent.append("/footnote, /kb and the shortcuts")
    if silent:
        return SlackCheck("Slack events", False, f"cannot arrive: {', '.join(silent)}", MANIFEST, fatal=False)
    detail = f"scopes allow all; the manifest subscribes to {', '.join(EVENTS)}"
    return SlackCheck("Slack events", True, detail)


async def _groups(web: WebClient, granted: frozenset[str]) -> SlackCheck:
    if "usergroups:read" not in granted:
        detail = "user groups are unknown: grants to groups and “Ask a person” do not work"
        return SlackCheck("Slack user groups", False, detail, MANIFEST, fatal=False)
    try:
        found = (await web.call_once("usergroups.list")).get("usergroups") or []
    except (RequestRefused, PlatformUnavailable) as error:
        return SlackCheck("Slack user groups", False, str(error), "They need a paid workspace.", fatal=False)
    return SlackCheck("Slack user groups", True, f"{len(found)} readable")
