"""Who a knowledge base can be for: channels, groups, roles, people and all of them, as types with one way to text.

Grants and audiences hold principals as that text; two are the same where their texts are. What can be granted to on a
platform is in the platform's plugin.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

_ID = re.compile("[A-Z0-9]+")
_NAME = re.compile(r"[\w.@+-]+")
_DIGITS = re.compile("[0-9]+")
_TEXT = re.compile(r"(?P<platform>[a-z]+):(?P<kind>[a-z]+)(?::(?:(?P<space>[^/:]*)/)?(?P<id>[^/:]+))?")


class PrincipalKind(StrEnum):
    """The kinds that several platforms have; a platform may add its own, as text."""

    CHANNEL = "channel"  # everybody who can read there
    GROUP = "group"
    ROLE = "role"
    USER = "user"
    TEAM = "team"  # everybody in a workspace
    TOKEN = "token"  # noqa: S105 - a kind, and no secret
    READERS = "readers"  # everybody who has signed in


@dataclass(frozen=True, slots=True)
class Principal:
    """A holder of grants. ``space`` is the workspace or server of what is not known by its ``id`` alone, else None."""

    platform: str
    kind: str
    id: str = ""
    space: str | None = None

    def __str__(self) -> str:
        name = self.id if self.space is None else f"{self.space}/{self.id}"
        return f"{self.platform}:{self.kind}:{name}" if name else f"{self.platform}:{self.kind}"

    @classmethod
    def parse(cls, text: str) -> "Principal":
        """Return the inverse of ``str``. Raises ValueError for what is no principal."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ValueError(f"{text[:80]!r} is no principal.")
        return cls(found["platform"], found["kind"], found["id"] or "", found["space"])


def channel_principal(platform: str, space: str, channel: str) -> str:
    """Return the principal that means "anyone who can read this channel"."""
    return str(Principal(platform, PrincipalKind.CHANNEL, channel, space))


@dataclass(frozen=True, slots=True)
class PrincipalForm:
    """How principals of a kind are written on a platform, with words for their ids.

    People choose the ids of a ``named`` one; a ``numeric`` one has digits alone.
    """

    platform: str
    kind: str
    id: str = ""
    space: str | None = None
    named: bool = False
    numeric: bool = False

    def __str__(self) -> str:
        return str(Principal(self.platform, self.kind, self.id, self.space))

    def accepts(self, text: str) -> bool:
        """Return whether this is a principal of this form."""
        try:
            given = Principal.parse(text)
        except ValueError:
            return False
        parts = [(given.id, self.id), (given.space or "", self.space or "")]
        sign = _NAME if self.named else _DIGITS if self.numeric else _ID
        sound = all(bool(sign.fullmatch(part)) if word else not part for part, word in parts)
        return (given.platform, given.kind) == (self.platform, self.kind) and sound


EVERYONE = "everyone"  # in place of a principal: the base is open again

PRINCIPAL_FORMS = (  # of Footnote itself; each platform's are in its plugin
    PrincipalForm("api", PrincipalKind.TOKEN, "TOKEN"),
    PrincipalForm("web", PrincipalKind.USER, "NAME", named=True),  # as the proxy in front of the page calls them
    PrincipalForm("web", PrincipalKind.READERS),
    PrincipalForm("mail", PrincipalKind.USER, "ADDRESS", named=True),  # whose e-mail address a platform has confirmed
)


def mail_principal(address: str) -> str:
    """Return the principal of the one who holds this e-mail address; empty for what is no address."""
    form, text = PRINCIPAL_FORMS[-1], str(Principal("mail", PrincipalKind.USER, address.strip().casefold()))
    return text if "@" in address and form.accepts(text) else ""
