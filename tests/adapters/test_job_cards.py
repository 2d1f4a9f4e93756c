"""One job's card in every client: the same words, and *Cancel* in all of them or in none."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape

import pytest

from adapters.discord.kb import job_cards as on_discord
from adapters.discord.outbound.layouts import layout_text
from adapters.slack.kb import blocks as on_slack
from adapters.slack.outbound.blocks import plain_text
from adapters.terminal.job_progress import job_text
from adapters.web.pages import Pages
from adapters.web.routing import Visitor
from core.model.conversation import Audience, Person
from core.model.jobs import ItemKind, ItemState, Job, JobItem, JobKind, JobState
from core.service.kb.job_cards import job_card
from core.service.kb.summaries import summarize_job

ADA = Person("paper:ada", "Ada")
FAILED = JobItem(ItemKind.FILE, "a.pdf", "F1", state=ItemState.FAILED, reason="It is locked.")
JOB = Job("abc", JobKind.INGEST, "handbook", ADA, datetime(2026, 1, 5, 9, tzinfo=UTC), subject="two documents")
KEPT = "0123456789abcdef01234567"


def slack(job: Job) -> str:
    return plain_text(on_slack.card(job_card(summarize_job(job))))


def discord(job: Job) -> str:
    return layout_text(on_discord.card(summarize_job(job), cancel=KEPT))


def page(job: Job) -> str:
    visitor = Visitor(ADA, Audience(unrestricted=True), is_admin=True, csrf="c")
    return unescape(Pages().fragment("_job_card.html", job=summarize_job(job), visitor=visitor))


@pytest.mark.parametrize("client", [slack, discord, page, job_text])
def test_every_client_says_what_the_job_does_how_far_it_is_and_what_failed(client: Callable[[Job], str]) -> None:
    card = job_card(summarize_job(replace(JOB, state=JobState.FAILED, reason="No room.", items=(FAILED,))))
    shown = client(replace(JOB, state=JobState.FAILED, reason="No room.", items=(FAILED,)))
    for words in (card.title, card.state, *card.remarks):
        assert words in shown.replace("\\", "")


@pytest.mark.parametrize(
    ("job", "offered"),
    [
        (JOB, True),
        (replace(JOB, state=JobState.RUNNING), True),
        (replace(JOB, state=JobState.RUNNING, cancelled_by=ADA.id), False),
        (replace(JOB, state=JobState.DONE), False),
    ],
)
def test_cancel_is_offered_by_every_client_or_by_none(job: Job, offered: bool) -> None:
    rows = on_slack.card(job_card(summarize_job(job)))
    on_page = 'value="cancel"' in page(job)
    by_discord = [
        one.custom_id
        for one in on_discord.card(summarize_job(job), cancel=KEPT).walk_children()
        if hasattr(one, "custom_id")
    ]
    assert [any(row["type"] == "actions" for row in rows), on_page, bool(by_discord)] == [offered] * 3
