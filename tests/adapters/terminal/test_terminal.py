"""What the terminal shows: beside a pipe one line for one thing, on a narrow screen nothing cut in pieces."""

import io
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from adapters.terminal.answer_view import print_trace
from adapters.terminal.chat import Chat
from adapters.terminal.ingest_view import report_missing
from adapters.terminal.operator import OPERATOR
from adapters.terminal.passage_view import print_documents, print_hits
from core.model.answer import ResourceUsage
from core.model.conversation import ThreadKey
from core.model.events import AgentFailed, TracedEvent
from core.model.evidence import Hit
from core.model.inquiry import AnswerPolicy, Checkpoint, CheckpointKind, Choice
from core.model.knowledge import Document, Passage

LONG = "handbook/with/a/very/long/path/that/no/terminal/of/eighty/columns/could/show/on/one/line/of/its/own/travel.md"
TRAVEL = Document("d1", "default", LONG, "Travel and expenses", "9b49d01a091fca55", "text/markdown", 1, "2026-01-02")
SHORT = replace(TRAVEL, id="d2", source="docs/a.md", title="A", passages=1_200)


def screen(*, width: int = 80, terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)


def shown(console: Console) -> list[str]:
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_behind_a_pipe_a_document_is_one_line_however_long_its_path() -> None:
    console = screen()
    print_documents(console, [TRAVEL, SHORT])
    header, first, second = shown(console)
    assert header.split() == ["Base", "Title", "Source", "Passages", "Dated", "Version"]
    assert first.split() == ["default", "Travel", "and", "expenses", LONG, "1", "2026-01-02", "9b49d01a"]
    assert second.index("docs/a.md") == first.index(LONG)


def test_on_a_narrow_terminal_a_document_has_lines_of_its_own() -> None:
    console = screen(width=60, terminal=True)
    print_documents(console, [SHORT])
    assert shown(console) == ["A", "  docs/a.md", "  default · 1,200 passages · 2026-01-02 · 9b49d01a"]


def test_behind_a_pipe_a_hits_scores_and_place_are_one_line() -> None:
    console = screen()
    passage = Passage("p1", "default", "d1", "v1", "s", 0, "A title of many words " * 6, "One sentence.")
    print_hits(console, [Hit(passage, 0.5, dense=0.4, bm25=2.0)])
    assert shown(console)[0].startswith(" 1  0.500  dense 0.400  bm25 2.000  A title of many words")
    assert shown(console)[1] == "    One sentence."


class Kept:
    """A trace store that holds one trace."""

    async def trace(self, trace_id: str) -> list[TracedEvent]:
        failed = AgentFailed("something long that goes on and on " * 5, "internal")
        return [TracedEvent(100.0, failed), TracedEvent(101.5, failed)] if trace_id == "t1" else []


@pytest.mark.parametrize(("terminal", "lines"), [(False, 3), (True, 11)])
async def test_an_event_of_a_trace_is_one_line_behind_a_pipe_and_a_block_on_a_terminal(
    terminal: bool, lines: int
) -> None:
    console = screen(terminal=terminal)
    trace_store: Any = Kept()
    await print_trace(console, trace_store, "t1")
    found = shown(console)
    assert len(found) == lines
    assert any(line.startswith("  1.500 s  AGENT_FAILED") for line in found)
    if terminal:  # what is left of a line begins under its text, not under its time
        assert found[2].startswith(" " * 39)


async def test_a_trace_on_a_narrow_terminal_is_no_table() -> None:
    console = screen(width=40, terminal=True)
    trace_store: Any = Kept()
    await print_trace(console, trace_store, "t1")
    found = shown(console)
    assert found[1:3] == ["0.000 s  AGENT_FAILED", "  something long that goes on and on"]
    assert "1.500 s  AGENT_FAILED" in found


async def test_a_number_that_is_no_choice_is_said_and_the_checkpoint_stays_open() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    key = ThreadKey("console", "", "terminal", "t")
    choices = (Choice("a", "This"), Choice("b", "That"))
    checkpoint = Checkpoint(
        "c1", CheckpointKind.CLARIFY, key, OPERATOR, "q", "Which?", choices, (), "", ResourceUsage(), now, now
    )
    console = screen()
    nobody: Any = None  # is asked, so that asking would fail
    chat = Chat(console, nobody, nobody, nobody, AnswerPolicy(), _open=checkpoint)
    assert await chat.say("7")
    assert await chat.say("0")
    assert shown(console) == [f"There is no choice {n}. Enter 1 to 2." for n in (7, 0)]
    assert chat.open_checkpoint is checkpoint


async def test_a_number_where_nothing_is_to_be_chosen_is_no_question() -> None:
    console = screen()
    nobody: Any = None
    chat = Chat(console, nobody, nobody, nobody, AnswerPolicy())
    assert await chat.say("2")
    assert shown(console) == ["There is no choice to make right now. Ask a question."]


async def test_a_line_of_more_than_4000_characters_is_refused_without_repeating_it() -> None:
    console = screen()
    nobody: Any = None
    assert await Chat(console, nobody, nobody, nobody, AnswerPolicy()).say("QUJD" * 1_001)
    assert "at most 4,000" in " ".join(shown(console))
    assert "QUJD" not in " ".join(shown(console))


async def test_a_new_conversation_says_how_the_earlier_one_can_be_forgotten() -> None:
    console = screen()
    nobody: Any = None
    chat = Chat(console, nobody, nobody, nobody, AnswerPolicy())
    earlier = chat.thread
    assert await chat.say("/new")
    assert f"footnote forget --thread {earlier} forgets it" in " ".join(shown(console))
    assert chat.thread != earlier


def test_what_is_no_longer_in_its_folder_is_named_up_to_a_bound() -> None:
    console = screen()
    report_missing(console, [])
    assert shown(console) == []
    report_missing(console, [f"docs/{n:02}.md" for n in range(12)])
    lines = shown(console)
    assert lines[0] == "No longer in this folder, but still indexed: 12 documents."
    assert lines[1].strip() == "? docs/00.md"
    assert "… and 2 more" in " ".join(lines)
    assert "Remove one with footnote sources remove SOURCE." in " ".join(lines)
