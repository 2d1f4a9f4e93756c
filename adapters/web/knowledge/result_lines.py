"""The result of a command, in the words that every client uses."""

from core.service.kb.job_cards import job_state, job_title
from core.service.kb.results import KbOutcome, KbResult, ProposalDecided, accepted_jobs
from core.service.kb.wording import outcome_lines


def result_lines(result: KbResult) -> list[str]:
    """Return the lines of an outcome; none for views, which have their own templates."""
    outcome = result.outcome if isinstance(result, ProposalDecided) else result
    return outcome_lines(outcome) if isinstance(outcome, KbOutcome) else []


def told_with_jobs(result: KbResult) -> str:
    """Return the result and its jobs in one paragraph, for places without job cards."""
    jobs = [f"{job_title(job)}. {job_state(job)}" for job in accepted_jobs(result)]
    return " ".join([*jobs, *result_lines(result)])
