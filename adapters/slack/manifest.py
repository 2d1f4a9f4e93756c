"""The app manifest: all of the app's settings in Slack, ready to paste at api.slack.com/apps.

The scopes and events, with their reasons, are defined only here. ``preflight`` checks the app against the same lists.
"""

import json
from typing import Any, Literal
from urllib.parse import quote

from adapters.slack.app import PATH
from adapters.slack.kb.command_parser import KB, USAGE_HINT
from adapters.slack.listeners.commands import COMMAND, FootnoteVerb
from adapters.slack.listeners.home_tab import PROMPTS
from adapters.slack.listeners.shortcuts import ADD_TO_KNOWLEDGE, ANSWER_THIS

Mode = Literal["socket", "http"]

SCOPES = {
    "app_mentions:read": "hear mentions",
    "assistant:write": "be an agent: prompts, status, title",
    "channels:history": "follow-ups, context and history in public channels",
    "channels:read": "know what kind of channel it is in, and which channels it is in",
    "chat:write": "answer",
    "commands": f"{COMMAND}, {KB} and the message shortcuts",
    "files:read": "read attached files, and canvases",
    "groups:history": "follow-ups, context and history in private channels",
    "groups:read": "know what kind of channel it is in",
    "im:history": "direct messages",
    "im:read": "know that it is a direct message",
    "im:write": "show how far a job is in a direct message",
    "mpim:history": "group messages",
    "mpim:read": "know that it is a group message",
    "usergroups:read": "what groups may read, and whom “Ask a person” calls",
    "users:read": "names and admin rights",
}
EMAIL_SCOPE = "users:read.email"  # optional: the person who installs the app may leave it out
EVENTS = (
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "channel_id_changed",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
)
NAME = "Footnote"
NEW_APP = "https://api.slack.com/apps?new_app=1&manifest_json="
PLACEHOLDER = "https://YOUR-HOST.example"


def manifest(mode: Mode = "socket", *, host: str = PLACEHOLDER) -> str:
    """Return the manifest as JSON. In HTTP mode, ``host`` is the address where Slack reaches the bot."""
    return json.dumps(_manifest(mode, host.rstrip("/") + PATH), indent=2, ensure_ascii=False)


def creation_link() -> str:
    """Return the link to Slack's form for a new app, filled in with the Socket Mode manifest.

    Documented at https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests.
    """
    compact = json.dumps(_manifest("socket", ""), separators=(",", ":"), ensure_ascii=False)
    return f"{NEW_APP}{quote(compact, safe='')}"


def _manifest(mode: Mode, url: str) -> dict[str, Any]:
    at, menus = ({}, {}) if mode == "socket" else ({"request_url": url}, {"message_menu_options_url": url})
    command: dict[str, Any] = {
        "command": COMMAND,
        "description": "Why, mute, forget, settings, help",
        "usage_hint": " | ".join(FootnoteVerb),
        "should_escape": False,
    }
    knowledge = {
        "command": KB,
        "description": "Look after the knowledge; alone, add to it",
        "usage_hint": USAGE_HINT,
        "should_escape": True,  # mentioned channels, groups and people arrive with their ids
    }
    about = "Answers questions from your team's own documents, with citations you can check."
    return {
        "display_information": {"name": NAME, "description": about, "background_color": "#1f3a5f"},
        "features": {
            "agent_view": {
                "agent_description": about,
                "suggested_prompts": [{"title": title, "message": message} for title, message in PROMPTS],
            },
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": NAME, "always_online": True},
            "shortcuts": [
                _shortcut("Answer this", ANSWER_THIS, "Answer this message from the documents"),
                _shortcut("Add to knowledge base", ADD_TO_KNOWLEDGE, "Propose this message for the knowledge"),
            ],
            "slash_commands": [given if mode == "socket" else given | {"url": url} for given in (command, knowledge)],
        },
        "oauth_config": {"scopes": {"bot": [*SCOPES, EMAIL_SCOPE], "bot_optional": [EMAIL_SCOPE]}},
        "settings": {
            "event_subscriptions": at | {"bot_events": list(EVENTS)},
            "interactivity": {"is_enabled": True} | at | menus,
            "org_deploy_enabled": False,
            "socket_mode_enabled": mode == "socket",
            "token_rotation_enabled": False,
        },
    }


def _shortcut(name: str, callback: str, description: str) -> dict[str, str]:
    return {"name": name, "type": "message", "callback_id": callback, "description": description}
