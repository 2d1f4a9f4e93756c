"""Errors of Slack's Web API, and how the SDK's exceptions map to them.

https://docs.slack.dev/reference/methods/chat.postMessage/#errors lists the error codes of one method. Each such list
includes the codes that any method may return.
"""

from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError

from core.model.errors import ConfigurationError
from core.ports.chat import NoAnswer

# Slack rejects the token for every method.
_TOKEN_REFUSED = {
    "invalid_auth", "not_allowed_token_type", "not_authed", "account_inactive", "token_revoked", "token_expired",
    "app_uninstalled", "team_access_not_granted", "org_login_required", "invalid_token", "bad_token",
}  # fmt: skip
# Retrying does not help: the token is wrong or of the wrong kind.
_CONFIGURATION_WRONG = {"invalid_auth", "not_authed", "not_allowed_token_type", "missing_scope", "no_permission"}
_RATE_LIMITED = {"ratelimited", "rate_limited"}
# Slack's own errors: "some aspect of the operation may have succeeded before the error was raised".
_SERVER_ERRORS = {
    "internal_error", "fatal_error", "request_timeout", "service_unavailable", "team_added_to_org",
    "external_channel_migrating",
}  # fmt: skip


# Text for people by the prefix of Slack's error code.
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
    """Slack answered ``ok: false``. ``error`` is its code. ``retry_after`` is in seconds, or 0 without a rate limit."""

    def __init__(self, method: str, error: str, retry_after: float = 0.0) -> None:
        super().__init__(f"{method}: {error}")
        self.method = method
        self.error = error
        self.retry_after = retry_after


class OutcomeUnknown(NoAnswer):
    """No answer came, so the call may or may not have taken effect."""


class SlackServerError(OutcomeUnknown):
    """Slack answered with a server error, so the call may or may not have taken effect."""


def translate_api_error(method: str, error: SlackApiError) -> RequestRefused | SlackServerError:
    """Return a refusal with Slack's error code. A server error, or one without a code, counts as no answer."""
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
    """Return that ``url`` did not answer. If no connection was possible, the remedy says what to check."""
    reached = not isinstance(error, aiohttp.ClientConnectorError)
    remedy = None if reached else "Check the network, DNS, and SLACK_API_URL if it is set."
    host = urlsplit(url).netloc.rpartition("@")[2]
    return OutcomeUnknown(f"Slack at {host} did not respond to {method} ({type(error).__name__}).", remedy=remedy)


def reason_in_words(error: str) -> str:
    """Return Slack's error code as the end of a sentence for people, without the full stop."""
    known = next((words for beginning, words in _IN_WORDS.items() if error.startswith(beginning)), "")
    return known or "Slack refuses it, and my log says why"


def error_word(error: SlackApiError) -> str:
    """Return the ``error`` of Slack's answer, or an empty string."""
    data = getattr(error.response, "data", None)
    return str(data.get("error", "")) if isinstance(data, dict) else ""


def is_token_refused(refusal: RequestRefused) -> bool:
    """Return whether Slack rejects our token for every method."""
    return refusal.error in _TOKEN_REFUSED


def configuration_error(refusal: RequestRefused) -> ConfigurationError | None:
    """Return the error to show if retrying cannot help: the token is wrong or of the wrong kind.

    Return None for a revoked token or an inactive account, because Slack may accept it again later.
    """
    if refusal.error not in _CONFIGURATION_WRONG:
        return None
    remedy = "Check SLACK_BOT_TOKEN and SLACK_APP_TOKEN; footnote doctor shows what is missing."
    return ConfigurationError(f"Slack rejected the token ({refusal.error}).", remedy=remedy)
