"""What the audit says of a command: who gave it, what it was about, whether it was allowed, and what came of it."""

import logging
from dataclasses import dataclass

from core.model.errors import FootnoteError
from core.model.knowledge import redact_link
from core.ports.access import Audit
from core.service.kb.commands import Caller, KbCommand
from core.service.kb.results import KbOutcome, KbResult, ProposalDecided, accepted_jobs
from core.service.kb.wording import outcome_lines

MOST_DETAIL = 160  # characters of a result
_MOST_TEXT = 80  # characters of a description

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CommandAudit:
    """Records what admins did and who was refused what."""

    audit: Audit

    async def record(self, caller: Caller, verb: str, about: str, *, allowed: bool = True, detail: str = "") -> None:
        """Keep it; when the audit cannot be reached the log has it: nothing goes unrecorded."""
        try:
            await self.audit.record(caller.person.id, f"kb {verb}", about, allowed=allowed, detail=detail)
        except FootnoteError:
            log.warning(
                "audit_away",
                extra={"actor": caller.person.id, "action": f"kb {verb}", "target": about, "allowed": allowed},
            )


def describe_command(command: KbCommand) -> str:
    """Return what a command is about, in one line: its base and all that was given, without secrets of links."""
    given = [redact_link(command.target), command.text[:_MOST_TEXT], command.every, *command.principals]
    given += [file.name for file in command.files]
    given += ["a conversation"] if command.conversation else []
    given += ["a channel's history"] if command.channel else []
    return "/".join(filter(None, (command.base, ", ".join(filter(None, given)))))


def describe_result(result: KbResult) -> str:
    """Return what came of a command, in one line: the id of its job, or what was said first."""
    if jobs := accepted_jobs(result):
        return f"job {jobs[0].id}"
    outcome = result.outcome if isinstance(result, ProposalDecided) else result
    lines = outcome_lines(outcome) if isinstance(outcome, KbOutcome) else []
    return lines[0][:MOST_DETAIL] if lines else ""
