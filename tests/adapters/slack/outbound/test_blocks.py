"""Layouts stay within Slack's limits, whatever is in them."""

from dataclasses import replace
from datetime import UTC, datetime

from slack_sdk.models.blocks import Block

from adapters.slack.outbound import blocks
from core.model.answer import Answer, Citation, Outcome, ResourceUsage
from core.model.conversation import Person, ThreadKey
from core.model.inquiry import Checkpoint, CheckpointKind, Choice
from core.ports.answer_view import Step, StepState

NOW = datetime(2026, 1, 5, tzinfo=UTC)


def source(n: int, *, title: str = "Refund policy", url: str | None = "https://docs.example/r") -> Citation:
    return Citation(
        n, n, f"p{n}", "default", "refunds.md", title, "Refunds › Annual, page 3", "14 days.", 0.9, url, "2026-01-01"
    )


def answer(text: str = "14 days [1].", *sources: Citation) -> Answer:
    return Answer(Outcome.ANSWERED, text, sources or (source(1),))


def valid(layout: list[blocks.Block]) -> bool:
    for block in layout:
        parsed = Block.parse(block)
        assert parsed is not None, block
        parsed.validate_json()
    return len(layout) <= 50


def test_a_source_has_its_number_title_place_date_and_link() -> None:
    assert blocks.source_line(source(2)) == (
        "[2] *<https://docs.example/r|Refund policy>* · Refunds › Annual, page 3 · 2026-01-01 · refunds.md"
    ).removesuffix(" · refunds.md")


def test_a_source_without_a_link_names_its_path() -> None:
    assert blocks.source_line(source(1, url=None)).endswith("· refunds.md")


def test_below_an_answer_a_path_stands_only_where_two_documents_share_a_title() -> None:
    one, other = source(1, url=None), replace(source(2, url=None), document="archive/refunds.md")
    assert ".md" not in str(blocks.sources([one]))
    assert ".md" not in str(blocks.sources([one, source(2, title="Leave", url=None)]))
    told = str(blocks.sources([one, other]))
    assert "· refunds.md" in told
    assert "· archive/refunds.md" in told


def test_a_link_that_an_answer_quotes_is_permitted_and_no_other() -> None:
    quoting = replace(source(1), links=("https://docs.example/form",))
    part = blocks.answer_part("[form](https://docs.example/form)", answer("14 days [1].", quoting))
    assert blocks.links_of(answer("14 days [1].", quoting)) == {"https://docs.example/form", "https://docs.example/r"}
    assert "https://docs.example/form" in str(part)


def test_an_answer_has_quotes_feedback_and_a_person_where_one_can_be_called() -> None:
    foot = blocks.foot(answer(), "t1", handoff=True, private=False)
    assert valid(foot)
    labels = [one["text"]["text"] for block in foot if block["type"] == "actions" for one in block["elements"]]
    assert labels == ["Show quotes", "Why", "Ask a person"]
    assert foot[-1]["type"] == "context_actions"
    assert "trace" not in str(foot[:-1])


def test_a_greeting_asks_nobody_whether_it_helped() -> None:
    assert blocks.foot(Answer(Outcome.ANSWERED, "Hello!"), "t1", handoff=False, private=False) == []


def test_beside_a_link_a_source_says_where_without_lines_of_its_file() -> None:
    linked = replace(source(1), locator="Refunds › Annual, lines 10–19", place="Annual")
    assert blocks.source_line(linked) == "[1] *<https://docs.example/r|Refund policy>* · Annual · 2026-01-01"
    assert "lines 10–19" in blocks.source_line(replace(linked, url=None))


def test_a_notification_has_the_words_alone() -> None:
    told = blocks.fallback("From *Leave*, section **Annual**:\n\n> Everyone has 27 days <of it> [1].\n\n- one [2]")
    assert told == "From Leave, section Annual:\nEveryone has 27 days &lt;of it&gt;.\none"


def test_many_and_long_sources_stay_within_the_limits() -> None:
    many = tuple(source(n, title="<&>" * 200) for n in range(1, 60))
    foot = blocks.foot(answer("x [1]", *many), "t1", handoff=True, private=True)
    assert valid([*blocks.notice_lines([f"{n}" * 5_000 for n in range(9)], answer()), *foot])
    assert all(len(block["text"]["text"]) <= 3_000 for block in foot if block["type"] == "section")
    assert "and 47 more" in str(foot)


def test_a_long_answer_is_split_below_the_limit_of_a_message() -> None:
    parts = blocks.answer_parts(answer("A sentence of this answer & more [1]. " * 900))
    assert len(parts) > 2
    assert all(len(part) <= blocks.PART for part in parts)


def test_a_cards_buttons_carry_ids_alone() -> None:
    choices = (
        Choice("option-1", "How long? " * 20, "how long do refunds take"),
        Choice("other", "Something else", asks_text=True),
    )
    checkpoint = Checkpoint(
        id="c1",
        kind=CheckpointKind.CLARIFY,
        thread=ThreadKey("slack", "T", "C", "1"),
        asker=Person("slack:T/U"),
        question="refunds?",
        message="Which <!here>?",
        choices=choices,
        found=("Refund policy",),
        missing="",
        spent=ResourceUsage(),
        created_at=NOW,
        expires_at=NOW,
    )
    layout = blocks.card(checkpoint, Answer(Outcome.CLARIFIED, "Which?"), (), "t1")
    assert valid(layout)
    buttons = layout[-1]["elements"]
    assert [one["value"] for one in buttons] == ["c1 option-1", "c1 other"]
    assert all(len(one["text"]["text"]) <= 75 for one in buttons)
    assert "<!here>" not in str(layout)
    settled = blocks.settled_card(layout, "Alice chose *Something else*")
    assert not any(block["type"] == "actions" for block in settled)


def test_a_task_is_short_and_safe() -> None:
    made = blocks.task(Step("s", "<!channel> " * 100, StepState.RUNNING, "&" * 500))
    assert made["status"] == "in_progress"
    assert len(made["title"]) <= 256
    assert len(made["output"]) <= 256
    assert "<" not in made["title"]
