"""Principals: the channels, groups, roles and people that may be granted a knowledge base, with one text form.

Grants and audiences store principals as this text; two principals are equal if their texts are. A platform's plugin
defines its kinds of principals.
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

    CHANNEL = "channel"  # everyone who can read the channel
    GROUP = "group"
    ROLE = "role"
    USER = "user"
    TEAM = "team"  # everyone in a workspace
    TOKEN = "token"  # noqa: S105 - a kind, not a secret
    READERS = "readers"  # everyone who has signed in


@dataclass(frozen=True, slots=True)
class Principal:
    """A holder of grants. ``space`` is the workspace or server if ``id`` alone is not unique, otherwise None."""

    platform: str
    kind: str
    id: str = ""
    space: str | None = None

    def __str__(self) -> str:
        name = self.id if self.space is None else f"{self.space}/{self.id}"
        return f"{self.platform}:{self.kind}:{name}" if name else f"{self.platform}:{self.kind}"

    @classmethod
    def parse(cls, text: str) -> "Principal":
        """Return the principal that a text names. Raises ValueError for other text."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ValueError(f"{text[:80]!r} is not a valid reader.")
        return cls(found["platform"], found["kind"], found["id"] or "", found["space"])


def channel_principal(platform: str, space: str, channel: str) -> str:
    """Return the principal that means "anyone who can read this channel"."""
    return str(Principal(platform, PrincipalKind.CHANNEL, channel, space))


@dataclass(frozen=True, slots=True)
class PrincipalForm:
    """The text form of a kind of principal on a platform, with placeholders for ids.

    ``named``: people choose the ids. ``numeric``: ids are digits.
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


EVERYONE = "everyone"  # in place of a principal: opens the base to everyone

PRINCIPAL_FORMS = (  # Footnote's own; each platform's are in its plugin
    PrincipalForm("api", PrincipalKind.TOKEN, "TOKEN"),
    PrincipalForm("web", PrincipalKind.USER, "NAME", named=True),  # the user name that the reverse proxy sends
    PrincipalForm("web", PrincipalKind.READERS),
    PrincipalForm("mail", PrincipalKind.USER, "ADDRESS", named=True),  # an e-mail address that a platform has confirmed
)


def mail_principal(address: str) -> str:
    """Return the principal of the person with this e-mail address; empty if it is not an address."""
    form, text = PRINCIPAL_FORMS[-1], str(Principal("mail", PrincipalKind.USER, address.strip().casefold()))
    return text if "@" in address and form.accepts(text) else ""
