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
