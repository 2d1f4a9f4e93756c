"""Blocks of Markdown that only their indentation marks come out as what they are, each line with its number."""

import pytest

from adapters.documents.formats.markdown_blocks import with_plain_blocks
from adapters.documents.reader import read


def lines_of(source: str) -> list[str]:
    """The lines as they are read; as many as before, so that each keeps its number."""
    source = source.removesuffix("\n")
    read_lines = "\n".join(with_plain_blocks(source.split("\n"))).split("\n")
    assert len(read_lines) in (source.count("\n") + 1, source.count("\n") + 2)
    return read_lines


def text_of(source: str) -> list[str]:
    return [line for line in lines_of(source) if line.strip()]


def test_indented_code_is_a_listing_whose_fences_take_the_blank_lines_around_it() -> None:
    source = "# Git\n\nThen run:\n\n    git config --global x\n\n      # more\n\nThat is all.\n"
    assert lines_of(source) == [
        *("# Git", "", "Then run:", "```", "git config --global x", "", "  # more", "```", "That is all."),
    ]


def test_indented_code_may_end_the_document_and_keeps_its_html() -> None:
    source = "Write this:\n\n\t<b>bold</b>\n\t<!-- kept -->\n"
    [block] = read("bold.md", source.encode()).blocks
    assert block.text == "Write this:\n```\n<b>bold</b>\n<!-- kept -->\n```"


@pytest.mark.parametrize(
    "source",
    [
        "- An item\n\n    its second paragraph\n\n      and=its third",
        "1. An item\ngoes on lazily\n\n    x = 1 is of it\n\nEnd.",
        "Words:\n\n    - a list that is indented\n    - for no reason\n\nEnd.",
        "## Handling\n\n    A summary of the guidelines can be found in Appendix B.\n\nEnd.",
        "See also:\n\n    [the page](https://example.com)\n\nEnd.",
        "Text:\n\n    Set `x` to *1*.\n\nEnd.",
        "A paragraph\n    that goes on = so\n\nEnd.",
        "Text:\n\n    x = 1\nright below it",
        "[^1]: A note of the foot.\n\n    x = 1\n\nEnd.",
        "Inline:\n\n    > quoted words\n\nEnd.",
    ],
)
def test_what_may_be_no_code_stays_as_it_is(source: str) -> None:
    assert lines_of(source) == source.split("\n")


def test_a_note_is_read_at_the_margin_and_its_first_paragraph_begins_with_its_kind() -> None:
    source = "!!! warning\n\n    Back up first.\n    Then go on.\n\n    - `media`\n\n        x = 1\n\nDone.\n"
    assert lines_of(source)[2:5] == ["Warning: Back up first.", "Then go on.", ""]
    assert text_of(source)[2:] == ["- `media`", "    x = 1", "Done."]


def test_the_title_of_a_note_and_the_kind_over_a_list_keep_their_line() -> None:
    source = '??? tip "Quick start"\n\n    Run it.\n\n!!! note\n    - one\n\n!!! failure "Removed"\n\n    It is gone.\n'
    assert text_of(source) == ["Tip: Quick start", "Run it.", "Note:", "- one", "Removed", "It is gone."]


def test_a_note_within_an_item_stays_within_it() -> None:
    source = "1.  Update it.\n\n    !!! note\n\n        Take care.\n\n    Then start it.\n\n2.  Go on.\n"
    assert text_of(source) == ["1.  Update it.", "    Note: Take care.", "    Then start it.", "2.  Go on."]


def test_a_tab_has_its_label_over_what_it_holds() -> None:
    linux = '=== "Linux"\n\n    ```sh\n    if x; then\n      y\n    ```\n\n'
    source = f'{linux}=== "macOS"\n\n    Run `brew` first:\n\n        brew install x\n'
    assert text_of(source) == [
        *("Linux:", "```sh", "if x; then", "  y", "```"),
        *("macOS: Run `brew` first:", "```", "brew install x", "```"),
    ]


def test_a_comment_within_an_item_is_no_text() -> None:
    [block] = read("a.md", b"- An item\n\n    <!-- gone -->\n\n    and more\n").blocks
    assert block.text == "- An item\n\n\n\n    and more"


def test_a_mark_of_a_note_without_a_body_is_text() -> None:
    assert text_of("!!! note\n\nNot of it.\n") == ["!!! note", "Not of it."]


def test_a_definition_loses_its_mark_and_what_is_indented_below_it_is_of_it() -> None:
    source = (
        "#### `TTL=<n>`\n\n: Sets how long it is kept,\nin days.\n\n    Defaults to 30 days, minimum of 1.\n\n"
        "    - a list\n\n        with code=1\n\n: If unset, it is kept.\n\n    Make a key"
        " with:\n\n        make key\n\n#### Next\n"
    )
    assert text_of(source) == [
        *("#### `TTL=<n>`", "Sets how long it is kept,", "in days.", "Defaults to 30 days, minimum of 1."),
        *("- a list", "    with code=1", "If unset, it is kept.", "Make a key with:", "```", "make key", "```"),
        "#### Next",
    ]


def test_a_term_and_its_definition_are_read_as_one() -> None:
    source = "Apple\n:   A fruit.\n\nPear\n\n:   Also a fruit.\n\nWe say: eat.\n: is no definition of a sentence\n"
    assert text_of(source) == [
        *("Apple:", "A fruit.", "Pear: Also a fruit.", "We say: eat.", ": is no definition of a sentence"),
    ]
