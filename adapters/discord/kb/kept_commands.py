"""Where Discord's buttons of ``/kb`` are kept, and how the reply of one is shown, as by the first version."""

from dataclasses import dataclass, field
from enum import StrEnum

from core.model.records import PERSON
from core.service.kb.kept_commands import KeptCommand


class ButtonUse(StrEnum):
    """How a button's command is used."""

    REPEATED = ""
    ONCE = "once"  # one single time
    ASIDE = "aside"  # its result does not take the place of the message that it stands below


@dataclass(frozen=True, kw_only=True)
class DiscordKeptCommand(KeptCommand, place="discord/kb/{id}", subject="command"):
    """The command that a button below a reply of ``/kb`` stands for, or what a form brings files for."""

    person: str = field(default="", metadata=PERSON | {"stored": "by"})
    use: ButtonUse = field(default=ButtonUse.REPEATED, metadata={"stored": "kind"})

    @property
    def acts_once(self) -> bool:
        """Whether one press alone counts."""
        return self.use is ButtonUse.ONCE
