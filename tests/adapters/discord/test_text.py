"""Answers in Discord's Markdown: no ping, no hidden link, nothing cut in half."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.outbound import text
from adapters.discord.outbound.text import markdown_lines
from core.model.answer import Citation
from core.service.kb.text_spans import plain, strong

SOURCE = Citation(
    1, 1, "p1", "default", "refunds.md", "Refund policy", "page 2", "…", 0.9, "https://docs.example/r", "2026"
)
PLAIN = Citation(2, 2, "p2", "default", "notes.md", "Notes", "", "…", 0.9)
LIVE = re.compile(r"@everyone|@here|<@[!&]?\d+>|<#\d+>")


@pytest.mark.parametrize("hostile", ["@everyone", "@HERE", "<@123>", "<@!123>", "<@&123>", "<#123>", "</ask:123>"])
def test_no_mention_survives(hostile: str) -> None:
    for shown in (text.markdown(f"Ask {hostile} now"), text.escape(hostile), text.thread_name(f"why {hostile}?")):
        assert hostile not in shown
        assert not LIVE.search(shown)


@pytest.mark.parametrize(
    ("principal", "shown"),
    [
        ("discord:role:1/2", "<@&2>"),
        ("discord:channel:1/3", "<#3>"),
        ("discord:user:4", "<@4>"),
        ("discord:guild:1", "everybody in this server"),
        ("slack:user:T1/U5", "slack:user:T1/U5"),
        ("discord:user:4 @everyone", "discord:user:4 @\u200beveryone"),
    ],
)
def test_principals_are_shown_by_the_names_that_people_know(principal: str, shown: str) -> None:
    assert text.principal_name(principal) == shown


def test_what_only_reads_like_a_principal_names_nobody() -> None:
    lines = [(plain("a title: discord:user:4 "), strong("discord:role:1/2"))]
    assert markdown_lines(lines) == "a title: discord:user:4 **discord:role:1/2**"


@given(st.text(alphabet="@<>&!#everyonh 123`[](){}\n|-", max_size=300))
def test_no_text_whatsoever_becomes_a_mention(written: str) -> None:
    for piece in text.answer_parts(written, (SOURCE,)):
        assert not LIVE.search(piece)
        assert len(piece) <= text.MESSAGE_LIMIT


def test_a_link_shows_where_it_leads_and_unfolds_nothing() -> None:
    shown = text.markdown("See [the form](https://docs.example/form) or ![a chart](https://docs.example/c.png).")
    assert shown == "See the form (<https://docs.example/form>) or a chart."


def test_a_marker_is_a_link_to_its_source_but_not_in_code() -> None:
    shown = text.link_citations("It takes 14 days [1][2]. `list[1]`", (SOURCE, PLAIN))
    assert shown == "It takes 14 days [[1]](<https://docs.example/r>)[2]. `list[1]`"


def test_an_address_that_could_break_out_of_its_link_is_none() -> None:
    for url in (
        "javascript:alert(1)",
        "https://a.example/)[x](https://evil.example",
        "https://a b.example",
        "https://[",
    ):
        assert text.link(url) == ""


def test_a_wide_table_becomes_a_list_since_wrapped_lines_of_code_are_none() -> None:
    header = ["Plan", "Price per month, paid monthly (EUR)", "Price per month, paid yearly (EUR)", "Depots"]
    rows = [["**Depot**", "189", "164", "1"], ["Fleet", "640", "", "up to 8 [1]"]]
    table = "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * 4, *rows))
    assert text.markdown(f"{table}\n\nThat is all.") == (
        "- **Depot** · Price per month, paid monthly (EUR): 189 · Price per month, paid yearly (EUR): 164 · Depots: 1\n"
        "- **Fleet** · Price per month, paid monthly (EUR): 640 · Depots: up to 8 [1]\n\nThat is all."
    )


def test_in_a_table_of_code_no_signs_of_markup_are_seen() -> None:
    shown = text.markdown("| Service | Owner |\n|---|---|\n| `dispatch` | **Team Harbour** [1] |")
    assert shown == "```\nService   Owner\n────────  ────────────────\ndispatch  Team Harbour [1]\n```"


def test_a_table_becomes_code_since_discord_has_none() -> None:
    shown = text.markdown("| Plan | Days |\n|---|---|\n| Annual | 30 |\n\nThat is all.")
    assert shown == "```\nPlan    Days\n──────  ────\nAnnual  30\n```\n\nThat is all."


def test_deep_headings_become_bold() -> None:
    assert text.markdown("## Two\n#### Four") == "## Two\n**Four**"


def test_pieces_keep_fences_and_citations_whole() -> None:
    code = "\n".join(f"    line_{n} = {n}  # {'x' * 40}" for n in range(120))
    pieces = text.answer_parts(f"Here [1].\n\n```python\n{code}\n```\n\nAnd so it ends [1].", (SOURCE,))
    assert len(pieces) > 2
    assert all(len(piece) <= 2_000 and piece.count("```") % 2 == 0 for piece in pieces)
    assert sum(piece.count("[[1]](<https://docs.example/r>)") for piece in pieces) == 2
    assert all("".join(pieces).count(f"line_{n} = ") == 1 for n in range(120))


def test_a_source_names_title_place_and_date_and_links_by_its_title() -> None:
    first, second = text.source_lines((SOURCE, PLAIN)).split("\n")
    assert first == "-# [1] [Refund policy](<https://docs.example/r>) · page 2 · 2026"
    assert second == "-# [2] Notes"


def test_many_sources_are_listed_as_far_as_there_is_room() -> None:
    many = [Citation(n, n, "p", "b", "d", "Title " * 20, "", "", 1.0) for n in range(1, 60)]
    shown = text.source_lines(many)
    assert len(shown) <= text.SOURCES_LIMIT
    assert "more: *Show quotes* has them all" in shown


def test_a_title_cannot_format_or_link() -> None:
    assert text.escape("*bold* [x](y) @everyone\n# next") == "\\*bold\\* \\[x\\]\\(y\\) @\u200beveryone \\# next"
