"""Audit entries of commands: who ran it, its target, whether it was allowed, and its result."""

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
    """Records what admins did and which requests were refused."""

    audit: Audit

    async def record(self, caller: Caller, verb: str, about: str, *, allowed: bool = True, detail: str = "") -> None:
        """Record a command in the audit. If the audit is unavailable, the log has it, so nothing is lost."""
        try:
            await self.audit.record(caller.person.id, f"kb {verb}", about, allowed=allowed, detail=detail)
        except FootnoteError:
            log.warning(
                "audit_away",
                extra={"actor": caller.person.id, "action": f"kb {verb}", "target": about, "allowed": allowed},
            )


def describe_command(command: KbCommand) -> str:
    """Return a command's target in one line: its base and arguments, without secrets of links."""
    given = [redact_link(command.target), command.text[:_MOST_TEXT], command.every, *command.principals]
    given += [file.name for file in command.files]
    given += ["a conversation"] if command.conversation else []
    given += ["a channel's history"] if command.channel else []
    return "/".join(filter(None, (command.base, ", ".join(filter(None, given)))))


def describe_result(result: KbResult) -> str:
    """Return a command's result in one line: its job's id, or the first line of its outcome."""
    if jobs := accepted_jobs(result):
        return f"job {jobs[0].id}"
    outcome = result.outcome if isinstance(result, ProposalDecided) else result
    lines = outcome_lines(outcome) if isinstance(outcome, KbOutcome) else []
    return lines[0][:MOST_DETAIL] if lines else ""
