"""Results of ``footnote kb …`` at the terminal: plain lines, and JSON straight from the results."""

import json
from typing import Any

from core.model.jobs import Job
from core.model.json_codec import to_json
from core.model.plain_text import remove_controls
from core.service.kb.job_cards import job_card
from core.service.kb.results import KbOutcome, KbResult, ProposalDecided
from core.service.kb.summaries import summarize_job
from core.service.kb.text_layout import lay_out
from core.service.kb.text_spans import line_text
from core.service.kb.wording import outcome_lines

PROPOSALS = "footnote kb proposals"  # the command that lists proposals here


def result_text(result: KbResult) -> str:
    """A result in plain lines, beside the cards of its jobs, which are shown as they go."""
    if isinstance(result, ProposalDecided):
        return "\n".join([result_text(result.outcome), result_text(result.remaining)]).strip()
    if isinstance(result, KbOutcome):
        lines = outcome_lines(result)
    else:
        lines = [line_text(line) for part in lay_out(result, PROPOSALS).parts for line in part.lines]
    return "\n".join(remove_controls(line) for line in lines if line.strip())


def result_json(result: KbResult) -> Any:
    """A result as data; ``kind`` tells which it is."""
    return json.loads(to_json(result))


def job_text(job: Job) -> str:
    """A job as it stands, in plain lines."""
    card = job_card(summarize_job(job))
    return "\n".join(map(remove_controls, [*map(line_text, card.lines), card.footer]))
