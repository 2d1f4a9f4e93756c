"""Kinds of Markdown lines, compared with the parser of the page and of Slack messages."""

import pytest
from markdown_it import MarkdownIt

from core.model.markdown_lines import HEADING, fenced_runs, is_table_rule, with_fences, without_emphasis, without_marks

PARSER = MarkdownIt("commonmark").enable("table")
FENCED = [
    "a\n```\nb\n```\nc",
    "```python\na\n~~~\nb\n```\nc",
    "````\n```\na\n```\n````\nb",
    "~~~ text\na\n~~~~\nb",
    "```\na\n``` b\nc\n```\nd",
    "a\n```\nb",
    "```\na\n```\n```\nb\n```",
]


@pytest.mark.parametrize("text", FENCED)
def test_fenced_blocks_are_those_of_the_parser(text: str) -> None:
    lines = text.split("\n")
    fenced = {n for one in PARSER.parse(text) if one.type == "fence" and one.map for n in range(*one.map)}
    assert [bool(block) for _, block in with_fences(lines)] == [n in fenced for n in range(len(lines))]


def test_two_blocks_that_touch_are_two_runs() -> None:
    assert list(fenced_runs(FENCED[-1].split("\n"))) == [(True, ["```", "a", "```"]), (True, ["```", "b", "```"])]


@pytest.mark.parametrize("rule", ["|---|---|", "| - | :-: |", "---|---", ":--|--:", "|--|--", "|-|-|  "])
def test_a_table_rule_is_one_for_the_parser_too(rule: str) -> None:
    assert is_table_rule(rule)
    assert any(one.type == "table_open" for one in PARSER.parse(f"| a | b |\n{rule}\n| 1 | 2 |"))


@pytest.mark.parametrize(
    "line", ["---", "| a | b |", "|--a|--|", "||", "", "- | -x", f"{' ' * 50_000}|{'-' * 50_000}x"]
)
def test_what_is_none_is_no_table_rule(line: str) -> None:
    assert not is_table_rule(line)


@pytest.mark.parametrize(("line", "level", "text"), [("# A", 1, "A"), ("### A b ###", 3, "A b"), ("  ## A", 2, "A")])
def test_a_heading_has_its_level_and_its_text(line: str, level: int, text: str) -> None:
    match = HEADING.match(line)
    assert match is not None
    assert (len(match["level"]), match["text"]) == (level, text)


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("**Very** _soft_ limits", "Very soft limits"),
        ("`PING_BODY_LIMIT` and MAX_SIZE", "PING_BODY_LIMIT and MAX_SIZE"),
        ("__init__ \\* rest", "init \\* rest"),
    ],
)
def test_underlines_within_a_word_are_no_emphasis(heading: str, text: str) -> None:
    assert without_emphasis(heading) == text


@pytest.mark.parametrize(
    ("passage", "words"),
    [
        (
            "## Refunds ##\n\nWithin **14 days**, see [terms](https://a.example/(b)).",
            "Refunds\n\nWithin 14 days, see terms.",
        ),
        ("- one\n* two\n3. three\n> quoted", "one\ntwo\nthree\nquoted"),
        ("| Plan | Fee |\n|---|---|\n| Pro | `9` |\n| | 12 |", "Plan · Fee\nPro · 9\n12"),
        ("Run\n```sh\n# not **a** heading\n- x\n```\nin `MAX_SIZE`", "Run\n# not **a** heading\n- x\nin MAX_SIZE"),
        ("a\n\n\n\nb", "a\n\nb"),
    ],
)
def test_a_passage_is_shown_without_the_marks_of_markdown(passage: str, words: str) -> None:
    assert without_marks(passage) == words
