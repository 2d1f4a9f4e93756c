"""Slack's ids as core keeps them, and links to messages.

People have qualified ids, and a base can be granted to principals. The link to a message is
``https://TEAM.slack.com/archives/C1/p1700000000000100?thread_ts=1700000000.000100``.
"""

import re

from core.model.conversation import Person, ThreadKey
from core.model.principals import Principal, PrincipalKind

PLATFORM = "slack"  # in thread keys, qualified ids and principals


def person_id(team: str, user: str) -> str:
    """Return a person's qualified id: ``slack:T1/U1``."""
    return f"{PLATFORM}:{team}/{user}"


def user_id(person: Person) -> str:
    """Return the Slack id in a person's qualified one: ``U1``."""
    return person.id.rsplit("/", 1)[-1]


def team_principal(team: str) -> str:
    """Return the principal that stands for every full member of the workspace."""
    return str(Principal(PLATFORM, PrincipalKind.TEAM, team))


def group_principal(team: str, group: str) -> str:
    """Return the principal that stands for everybody in a user group."""
    return str(Principal(PLATFORM, PrincipalKind.GROUP, group, team))


def user_principal(team: str, user: str) -> str:
    """Return the principal that stands for one person; not their id, which has no kind in it."""
    return str(Principal(PLATFORM, PrincipalKind.USER, user, team))


HOST = r"https://[\w-]+(?:\.enterprise)?\.slack(?:-gov)?\.com"
_PATH = r"/archives/(?P<channel>[CDG][A-Z0-9]+)/p(?P<s>\d{10})(?P<us>\d{6})"
_THREAD = r"(?:\?(?:[^\s>]*?)thread_ts=(?P<root>[\d.]+))?"
_LINK = re.compile(HOST + _PATH + _THREAD)
_LINK_ON_ANY_HOST = re.compile(_PATH + _THREAD)


def thread_in(link: str) -> tuple[str, str]:
    """Return (channel, root) of the thread that a link to a message leads to; empty when it leads elsewhere."""
    return _thread(_LINK.match(link))


def thread_named_in(text: str) -> tuple[str, str]:
    """Return (channel, root) of the first link to a message in a text, whatever its host; empty when there is none."""
    return _thread(_LINK_ON_ANY_HOST.search(text))


def _thread(found: re.Match[str] | None) -> tuple[str, str]:
    return (found["channel"], found["root"] or f"{found['s']}.{found['us']}") if found else ("", "")


def thread_url(workspace_url: str, thread: ThreadKey) -> str:
    """Return the link to a thread's first message; ``workspace_url`` is what ``auth.test`` says."""
    return f"{workspace_url.rstrip('/')}/archives/{thread.channel}/p{thread.thread.replace('.', '')}"
