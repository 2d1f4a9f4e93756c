"""Links to messages: ``https://TEAM.slack.com/archives/C1/p1700000000000100?thread_ts=1700000000.000100``."""

import re

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.web_client import WebClient
from core.model.conversation import ThreadKey

HOST = r"https://[\w-]+(?:\.enterprise)?\.slack(?:-gov)?\.com"
_PATH = r"/archives/(?P<channel>[CDG][A-Z0-9]+)/p(?P<s>\d{10})(?P<us>\d{6})"
_THREAD = r"(?:\?(?:[^\s>]*?)thread_ts=(?P<root>[\d.]+))?"
_LINK = re.compile(HOST + _PATH + _THREAD)
_LINK_ON_ANY_HOST = re.compile(_PATH + _THREAD)


def thread_in(link: str) -> tuple[str, str]:
    """(channel, root) of the thread that a link to a message leads to; empty when it leads elsewhere."""
    return _thread(_LINK.match(link))


def thread_named_in(text: str) -> tuple[str, str]:
    """(channel, root) of the first link to a message in a text, whatever its host; empty when there is none."""
    return _thread(_LINK_ON_ANY_HOST.search(text))


def _thread(found: re.Match[str] | None) -> tuple[str, str]:
    return (found["channel"], found["root"] or f"{found['s']}.{found['us']}") if found else ("", "")


def thread_url(workspace_url: str, thread: ThreadKey) -> str:
    """The link to a thread's first message; ``workspace_url`` is what ``auth.test`` says."""
    return f"{workspace_url.rstrip('/')}/archives/{thread.channel}/p{thread.thread.replace('.', '')}"


async def fetch_permalink(web: WebClient, channel: str, ts: str) -> str | None:
    """Slack's own link to a message; None where it has none: it was deleted. Raises PlatformUnavailable."""
    try:
        answer = await web.call("chat.getPermalink", channel=channel, message_ts=ts)
    except RequestRefused:
        return None
    return str(answer.get("permalink") or "") or None
