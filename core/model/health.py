"""What a look at the installation found, thing by thing."""

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    """How a check came out."""

    OK = "ok"
    NOTE = "note"  # works, but a person should know
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    health: Health
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class PlatformCheck:
    """One thing that a platform's preflight looked at. Not ``fatal``: it works without, but less well."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    fatal: bool = True
    link: str = ""  # where the remedy begins

    def as_check(self) -> Check:
        """Return it as a check of the doctor."""
        health = Health.OK if self.ok else Health.FAILED if self.fatal else Health.NOTE
        return Check(self.name, health, self.detail, self.remedy)
