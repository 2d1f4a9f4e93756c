"""Answers with differing sources, written by a model and quoted."""

from collections.abc import Callable

import pytest

from core.model.answer import Outcome
from core.model.conversation import Audience
from core.model.evidence import Evidence
from core.service.disputes import shown
from tests.core.harness import Harness

STAFF = Audience(frozenset({"staff"}))
QUESTION = "How long are logs kept?"


async def known(harness: Harness, *, older: str = "2024-05-02", newer: str = "2026-03-09") -> None:
    await harness.knows("Logs are kept for 30 days.", title="Runbook", dated=older, headings=["Storage"])
    await harness.knows("Logs are kept for 90 days.", title="Retention", dated=newer, headings=["Duration"])


def cite(title: str, said: str) -> Callable[..., str]:
    def compose(_inquiry: object, _thread: object, evidence: tuple[Evidence, ...]) -> str:
        (item,) = [one for one in evidence if one.passage.title == title]
        return f"{said} [{item.id}]"

    return compose


@pytest.mark.parametrize("cited", ["Runbook", "Retention"])
async def test_shows_both_values_with_the_newer_first_whichever_was_cited(cited: str) -> None:
    harness = Harness()
    await known(harness)
    days = {"Runbook": 30, "Retention": 90}[cited]
    harness.script.enqueue("compose", cite(cited, f"They are kept for {days} days."))
    answer = (await harness.asks(QUESTION)).answer
    assert answer.outcome is Outcome.ANSWERED
    first, newer, older, rest = [line for line in answer.text.splitlines() if line]
    assert first == "**Two sources differ.**"
    assert newer.startswith("- The newer one, *Retention* (2026-03-09, Duration, page 1), says: “Logs are kept for 90")
    assert older.startswith("- The older one, *Runbook* (2024-05-02, Storage, page 1), says: “Logs are kept for 30")
    assert rest == f"They are kept for {days} days. [1]"
    assert {one.title for one in answer.citations} == {"Runbook", "Retention"}
    by_title = {one.title: one.n for one in answer.citations}
    assert newer.endswith(f"[{by_title['Retention']}]")
    assert older.endswith(f"[{by_title['Runbook']}]")
    assert answer.dispute is not None
    assert answer.dispute.dated


async def test_does_not_repeat_what_the_dispute_quotes() -> None:
    harness = Harness()
    await known(harness)
    harness.script.enqueue("compose", cite("Runbook", "Logs are kept for 30 days."))
    assert (await harness.asks(QUESTION)).text.count("30 days") == 1


async def test_says_that_undated_sources_differ_and_calls_neither_newer() -> None:
    harness = Harness()
    await known(harness, older="", newer="")
    harness.script.enqueue("compose", cite("Runbook", "Logs are kept for 30 days."))
    answer = (await harness.asks(QUESTION)).answer
    assert "don't say which is newer" in answer.text
    assert "newer one" not in answer.text
    assert answer.dispute is not None
    assert not answer.dispute.dated


async def test_never_shows_a_source_that_the_asker_may_not_read() -> None:
    harness = Harness()
    await known(harness)
    hidden = frozenset({"board"})
    await harness.knows("Logs are kept for 400 days.", title="Secret", base="secret", grants=hidden, dated="2026-05-01")
    harness.script.enqueue("compose", cite("Runbook", "Logs are kept for 30 days."))
    answer = (await harness.asks(QUESTION, audience=STAFF)).answer
    assert answer.dispute is not None
    assert "400" not in answer.text
    assert "Secret" not in {one.title for one in answer.citations}


async def test_the_turn_remembers_both_sources() -> None:
    harness = Harness()
    await known(harness)
    harness.script.enqueue("compose", cite("Runbook", "Logs are kept for 30 days."))
    await harness.asks(QUESTION)
    (turn,) = (await harness.memory.recall(harness.key())).turns
    assert {one.title for one in turn.citations} == {"Runbook", "Retention"}
    assert "Two sources differ" in turn.answer


async def test_an_answer_whose_sources_agree_says_nothing_of_it() -> None:
    harness = Harness()
    await harness.knows("Logs are kept for 90 days.", title="Runbook", dated="2024-05-02")
    await harness.knows("Logs are kept for ninety days.", title="Retention", dated="2026-03-09")
    harness.script.enqueue("compose", cite("Runbook", "Logs are kept for 90 days."))
    answer = (await harness.asks(QUESTION)).answer
    assert answer.dispute is None
    assert answer.text == "Logs are kept for 90 days. [1]"


async def test_an_answer_comes_as_it_was_where_comparing_fails(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("A fault of ours.")

    monkeypatch.setattr(shown, "find_disagreement", fail)
    harness = Harness()
    await known(harness)
    harness.script.enqueue("compose", cite("Runbook", "Logs are kept for 30 days."))
    answer = (await harness.asks(QUESTION)).answer
    assert answer.text == "Logs are kept for 30 days. [1]"
    assert answer.dispute is None
    assert "no_disputes" in caplog.messages
