"""What can become of a call that is no success, and how the SDK's errors are read as that.

Slack's words for it: https://docs.slack.dev/reference/methods/chat.postMessage/#errors lists those of one method; the
ones that any method may give stand in every such list.
"""

from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError

from core.model.errors import ConfigurationError
from core.ports.chat import NoAnswer

# Slack does not take the token, whatever is asked for.
_TOKEN_REFUSED = {
    "invalid_auth", "not_allowed_token_type", "not_authed", "account_inactive", "token_revoked", "token_expired",
    "app_uninstalled", "team_access_not_granted", "org_login_required", "invalid_token", "bad_token",
}  # fmt: skip
# Of these, trying again is of no use: it is no token of ours, or not of this kind.
_CONFIGURATION_WRONG = {"invalid_auth", "not_authed", "not_allowed_token_type", "missing_scope", "no_permission"}
_RATE_LIMITED = {"ratelimited", "rate_limited"}
# Slack's own trouble: "some aspect of the operation may have succeeded before the error was raised".
_SERVER_ERRORS = {
    "internal_error", "fatal_error", "request_timeout", "service_unavailable", "team_added_to_org",
    "external_channel_migrating",
}  # fmt: skip


# What people read of a refusal, by how Slack's word for it begins.
_IN_WORDS = {
    "not_in_channel": "I am not in that channel",
    "channel_not_found": "I cannot see that channel",
    "is_archived": "that channel is archived",
    "is_inactive": "that channel is closed",
    "user_not_in_channel": "you are not in that channel",
    "restricted_action": "an admin has restricted who may post there",
    "thread_locked": "that thread is locked",
    "message_not_found": "that message was deleted",
    "thread_not_found": "that thread was deleted",
    "missing_scope": "a permission is missing, which `footnote doctor` names",
    "not_authorized": "I have no permission for that",
    "ratelimited": "Slack asks me to wait",
    "expired_trigger_id": "it took me too long",
    "token_revoked": "my token was revoked",
    "account_inactive": "my account there is inactive",
}


class RequestRefused(Exception):
    """Slack answered ``ok: false``, with ``error`` for why; ``retry_after`` is in seconds, 0 when not rate limited."""

    def __init__(self, method: str, error: str, retry_after: float = 0.0) -> None:
        super().__init__(f"{method}: {error}")
        self.method = method
        self.error = error
        self.retry_after = retry_after


class OutcomeUnknown(NoAnswer):
    """No answer came: what was asked may or may not have happened."""


class SlackServerError(OutcomeUnknown):
    """Slack answered, but with an error of its own: what was asked may or may not have happened."""


def translate_api_error(method: str, error: SlackApiError) -> RequestRefused | SlackServerError:
    """Return the refusal with Slack's word for it; a server error without a word counts as no answer."""
    response = error.response
    status = int(getattr(response, "status_code", None) or getattr(response, "status", None) or 200)
    word = error_word(error)
    if status == 429 or word in _RATE_LIMITED:
        headers = {str(name).lower(): value for name, value in (getattr(response, "headers", None) or {}).items()}
        return RequestRefused(method, "ratelimited", float(headers.get("retry-after", 1) or 1))
    if status >= 500 or not word or word in _SERVER_ERRORS:
        return SlackServerError(f"Slack answered {method} with {word or status}.")
    return RequestRefused(method, word)


def translate_connection_error(method: str, url: str, error: Exception) -> OutcomeUnknown:
    """Return that no answer came from ``url``; where nothing could be reached, with what to check."""
    reached = not isinstance(error, aiohttp.ClientConnectorError)
    remedy = None if reached else "Check the network and its name service, and SLACK_API_URL if it is set."
    host = urlsplit(url).netloc.rpartition("@")[2]
    return OutcomeUnknown(f"Slack at {host} did not answer {method} ({type(error).__name__}).", remedy=remedy)


def reason_in_words(error: str) -> str:
    """Return Slack's error word as the end of a sentence for people, without its full stop."""
    known = next((words for beginning, words in _IN_WORDS.items() if error.startswith(beginning)), "")
    return known or "Slack refuses it, and my log says why"


def error_word(error: SlackApiError) -> str:
    """Return the ``error`` of Slack's answer; empty where it has none."""
    data = getattr(error.response, "data", None)
    return str(data.get("error", "")) if isinstance(data, dict) else ""


def is_token_refused(refusal: RequestRefused) -> bool:
    """Return whether Slack does not take our token at all, whatever we ask for."""
    return refusal.error in _TOKEN_REFUSED


def configuration_error(refusal: RequestRefused) -> ConfigurationError | None:
    """Return what to say when trying again is of no use: it is no token of ours, or not of this kind.

    None for one that was revoked or whose account is inactive: it may be taken again later.
    """
    if refusal.error not in _CONFIGURATION_WRONG:
        return None
    remedy = "Check SLACK_BOT_TOKEN and SLACK_APP_TOKEN; footnote doctor shows what is missing."
    return ConfigurationError(f"Slack refuses the token ({refusal.error}).", remedy=remedy)
