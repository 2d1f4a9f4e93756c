"""Slack's ids in the form that core uses, and links to messages.

People have qualified ids. A knowledge base can be granted to principals. The link to a message is
``https://TEAM.slack.com/archives/C1/p1700000000000100?thread_ts=1700000000.000100``.
"""

import re

from core.model.conversation import Person, ThreadKey
from core.model.incoming_events import IncomingMessage
from core.model.principals import Principal, PrincipalKind

PLATFORM = "slack"  # in thread keys, qualified ids and principals


def person_id(team: str, user: str) -> str:
    """Return a person's qualified id: ``slack:T1/U1``."""
    return f"{PLATFORM}:{team}/{user}"


def user_id(person: Person) -> str:
    """Return the Slack id of a person, ``U1``, without its qualification."""
    return person.id.rsplit("/", 1)[-1]


def question_ts(message: IncomingMessage) -> str:
    """Return the ``ts`` of the message with the question. For a suggested question, it is the answer above it."""
    return message.reply_target.message or message.id


def team_principal(team: str) -> str:
    """Return the principal for every full member of the workspace."""
    return str(Principal(PLATFORM, PrincipalKind.TEAM, team))


def group_principal(team: str, group: str) -> str:
    """Return the principal for every member of a user group."""
    return str(Principal(PLATFORM, PrincipalKind.GROUP, group, team))


def user_principal(team: str, user: str) -> str:
    """Return the principal for one person. It differs from their id, which does not name a kind."""
    return str(Principal(PLATFORM, PrincipalKind.USER, user, team))


HOST = r"https://[\w-]+(?:\.enterprise)?\.slack(?:-gov)?\.com"
_PATH = r"/archives/(?P<channel>[CDG][A-Z0-9]+)/p(?P<s>\d{10})(?P<us>\d{6})"
_THREAD = r"(?:\?(?:[^\s>]*?)thread_ts=(?P<root>[\d.]+))?"
_LINK = re.compile(HOST + _PATH + _THREAD)
_LINK_ON_ANY_HOST = re.compile(_PATH + _THREAD)


def thread_in(link: str) -> tuple[str, str]:
    """Return (channel, root) of the thread that a message link points to, or two empty strings."""
    return _thread(_LINK.match(link))


def thread_named_in(text: str) -> tuple[str, str]:
    """Return (channel, root) of the first message link in a text, on any host, or two empty strings."""
    return _thread(_LINK_ON_ANY_HOST.search(text))


def _thread(found: re.Match[str] | None) -> tuple[str, str]:
    return (found["channel"], found["root"] or f"{found['s']}.{found['us']}") if found else ("", "")


def thread_url(workspace_url: str, thread: ThreadKey) -> str:
    """Return the link to a thread's first message. ``workspace_url`` comes from ``auth.test``."""
    return f"{workspace_url.rstrip('/')}/archives/{thread.channel}/p{thread.thread.replace('.', '')}"
