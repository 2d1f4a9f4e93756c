"""Slack's ids as core keeps them: people by qualified id, and the principals that a base can be granted to."""

from core.model.conversation import Person
from core.model.principals import Principal, PrincipalKind

PLATFORM = "slack"  # in thread keys, qualified ids and principals


def person_id(team: str, user: str) -> str:
    """A person's qualified id: ``slack:T1/U1``."""
    return f"{PLATFORM}:{team}/{user}"


def user_id(person: Person) -> str:
    """The Slack id in a person's qualified one: ``U1``."""
    return person.id.rsplit("/", 1)[-1]


def team_principal(team: str) -> str:
    """The principal that stands for every full member of the workspace."""
    return str(Principal(PLATFORM, PrincipalKind.TEAM, team))


def group_principal(team: str, group: str) -> str:
    """The principal that stands for everybody in a user group."""
    return str(Principal(PLATFORM, PrincipalKind.GROUP, group, team))


def user_principal(team: str, user: str) -> str:
    """The principal that stands for one person; not their id, which has no kind in it."""
    return str(Principal(PLATFORM, PrincipalKind.USER, user, team))
