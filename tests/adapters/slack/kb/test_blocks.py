"""What ``/kb`` shows: safe, short, and complete."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.outbound.payloads import CommandForm
from adapters.slack.outbound.text import mrkdwn
from core.model.conversation import Person
from core.model.jobs import ItemKind, ItemState, Job, JobItem, JobKind, JobState
from core.service.kb.job_cards import JobCard, job_card
from core.service.kb.summaries import summarize_job
from core.service.kb.text_spans import link as address
from core.service.kb.text_spans import plain, strong
from tests.fakes.slack import block_rules

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
JOB = Job("abc", JobKind.INGEST, "handbook", Person("slack:T/U", "Ada"), NOW, subject="2 documents")


def test_a_hostile_title_calls_nobody_and_is_no_link() -> None:
    title = "<!channel> [x](https://evil.example)"
    (row,) = kb_blocks.paragraphs([(plain("• "), strong(title), plain(" https://evil.example @here"))])
    assert row["text"]["text"] == "• *&lt;!channel&gt; [x](https://evil.example)* https://evil.example @\u2060here"
    assert row["text"]["verbatim"]


def test_the_way_back_to_a_message_is_a_link() -> None:
    link = "https://acme.slack.com/archives/C0123/p1700000000000000?thread_ts=1.2&cid=C0123"
    assert mrkdwn((plain("by Bob: "), address(link))) == f"by Bob: <{link.replace('&', '&amp;')}>"


@pytest.mark.parametrize("hostile", ["https://evil.example/archives/C0123/p1700000000000000", "x|<!channel>"])
def test_no_other_address_is_a_link(hostile: str) -> None:
    shown = mrkdwn((address(hostile), plain(f" {hostile}")))
    assert "<" not in shown


def test_a_long_reply_is_cut_between_lines_and_fits() -> None:
    lines = [(plain("• "), strong(f"Document {number}"), plain(f" {'word ' * 40}")) for number in range(200)]
    rows = kb_blocks.reply([(lines, ())])
    assert block_rules.faults_of_blocks(rows, "message") == []
    assert all(row["text"]["text"].startswith("• *Document") for row in rows[:-1])
    assert rows[-1]["elements"][0]["text"] == kb_blocks.CUT
    assert block_rules.characters_of(rows) < block_rules.MESSAGE_CHARACTERS


def test_a_card_with_many_failures_fits() -> None:
    failed = tuple(
        JobItem(ItemKind.FILE, f"{number} {'name' * 60}", "F", state=ItemState.FAILED, reason="why " * 70)
        for number in range(20)
    )
    rows = kb_blocks.card(job_card_of(replace(JOB, items=failed, state=JobState.DONE)))
    assert block_rules.faults_of_blocks(rows, "message") == []
    assert block_rules.characters_of(rows) < block_rules.MESSAGE_CHARACTERS


def test_a_card_has_a_way_to_end_its_job_until_it_is_over() -> None:
    assert [row["type"] for row in kb_blocks.card(job_card_of(JOB))] == ["section", "context", "actions"]
    for ended in (replace(JOB, state=JobState.DONE), replace(JOB, cancelled_by="slack:T/U")):
        assert [row["type"] for row in kb_blocks.card(job_card_of(ended))] == ["section", "context"]


def job_card_of(job: Job) -> JobCard:
    return job_card(summarize_job(job))


@pytest.mark.parametrize("bases", [[], ["one"], [f"base {number}" for number in range(25)]])
@pytest.mark.parametrize("channel", [True, False])
def test_the_form_is_one_slack_takes(bases: list[str], channel: bool) -> None:
    form = kb_blocks.form(bases, bases[0] if bases else "", channel=channel, kept_form=CommandForm("f" * 32))
    assert block_rules.faults_of_view(form, "modal") == []
    assert ("here" in [row["block_id"] for row in form["blocks"]]) is channel


def test_what_a_client_sends_is_bounded() -> None:
    files = [{"id": f"F{number}", "name": "a"} for number in range(30)]
    values = {"files": {"files": {"files": files}}, "limit": {"limit": {"value": "99999"}}, "link": {"link": {}}}
    filled = kb_blocks.read_form({"state": {"values": values}})
    assert (len(filled.files), filled.limit, filled.link) == (10, 500, "")
    assert kb_blocks.read_form({"state": {"values": {"limit": {"limit": {"value": "-1"}}}}}) == kb_blocks.FilledForm()
