"""What has become of a command, in the words that every client uses."""

from core.service.kb.job_cards import job_state, job_title
from core.service.kb.results import KbOutcome, KbResult, ProposalDecided, accepted_jobs
from core.service.kb.wording import outcome_lines


def result_lines(result: KbResult) -> list[str]:
    """Return the lines of an outcome; none for what is looked at, which has a template of its own."""
    outcome = result.outcome if isinstance(result, ProposalDecided) else result
    return outcome_lines(outcome) if isinstance(outcome, KbOutcome) else []


def told_with_jobs(result: KbResult) -> str:
    """All of it in one paragraph, for where no job's card can stand."""
    jobs = [f"{job_title(job)}. {job_state(job)}" for job in accepted_jobs(result)]
    return " ".join([*jobs, *result_lines(result)])
