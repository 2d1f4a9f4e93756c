"""Where Slack's buttons and forms of ``/kb`` are kept: under the person they were made for, as by the first version."""

from dataclasses import dataclass, field

from core.model.records import PERSON
from core.service.kb.kept_commands import KeptCommand


@dataclass(frozen=True, kw_only=True)
class SlackKeptCommand(KeptCommand, place="slack/kb/{person}", subject="{id}"):
    """A button below a reply, with its command, or a form, with the channel that it was opened in."""

    person: str = field(metadata=PERSON)
    once: bool = False  # the button acts once; others may be pressed again and again
    channel: str = ""

    @property
    def acts_once(self) -> bool:
        """Whether one press alone counts."""
        return self.once
