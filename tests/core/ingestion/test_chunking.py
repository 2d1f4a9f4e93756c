"""From parsed documents to sections and passages."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ingestion.chunking import PASSAGE_TOKENS, passages_of, same_passage_in
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText
from core.model.knowledge import Document, Passage


async def count_tokens(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


async def cut(*blocks: Block, title: str = "Handbook", version: str = "v1") -> tuple[Passage, ...]:
    document = Document("doc", "default", "handbook.md", title, version, "text/markdown", 0)
    return await passages_of(ParsedDocument(title, blocks, "text/markdown"), document, count_tokens, 256)


PARAGRAPH = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen. " * 2


async def test_each_passage_carries_its_path_of_headings() -> None:
    passages = await cut(Block(f"# Handbook\n\n## Leave\n\n### Sick leave\n\n{PARAGRAPH}\n\n## Pay\n\n{PARAGRAPH}"))
    assert [passage.heading for passage in passages] == [("Leave", "Sick leave"), ("Pay",)]


async def test_a_heading_that_repeats_the_title_is_not_said_twice() -> None:
    (passage,) = await cut(Block(f"# Handbook\n\n{PARAGRAPH}"))
    assert passage.searchable.startswith("Handbook\nOne two")


async def test_a_passage_never_crosses_a_page() -> None:
    passages = await cut(Block("Short text.", page=1), Block("More text.", page=2))
    assert [passage.locator.page for passage in passages] == [1, 2]


async def test_a_heading_goes_on_over_the_page() -> None:
    passages = await cut(Block(f"## Leave\n\n{PARAGRAPH}", page=1), Block(PARAGRAPH, page=2))
    assert [passage.heading for passage in passages] == [("Leave",), ("Leave",)]
    assert passages[0].section == passages[1].section


async def test_a_sheet_does_not_stand_under_the_sheet_before_it() -> None:
    passages = await cut(Block(f"## Prices\n\n{PARAGRAPH}", label="A"), Block(PARAGRAPH, label="B"))
    assert [passage.heading for passage in passages] == [("Prices",), ()]


async def test_lines_are_those_of_the_source() -> None:
    passages = await cut(Block(f"# Handbook\n\n{PARAGRAPH}\n\n## Pay\n\n{PARAGRAPH}\n{PARAGRAPH}", first_line=10))
    assert [str(passage.locator) for passage in passages] == ["line 12", "lines 16–17"]


async def test_tiny_siblings_are_merged_and_keep_their_headings_as_lines() -> None:
    (passage,) = await cut(Block("## Paying\n\n### How?\n\nBy card.\n\n### When?\n\nAt once."))
    assert passage.heading == ("Paying",)
    assert passage.text == "How?\nBy card.\n\nWhen?\nAt once."


async def test_a_split_table_repeats_its_header() -> None:
    rows = "\n".join(f"| plan {n} | {' '.join(['word'] * 20)} |" for n in range(20))
    passages = await cut(Block(f"| Plan | Words |\n| --- | --- |\n{rows}"))
    assert len(passages) > 1
    assert all(passage.text.startswith("| Plan | Words |\n| --- | --- |\n| plan") for passage in passages)
    assert "".join(passage.text for passage in passages).count("| plan 7 |") == 1


async def test_a_row_of_prose_with_no_other_cell_is_kept() -> None:
    [*_, last] = await cut(Block(f"| Kind | Junior |\n| --- | --- |\n| Scope | {'word ' * 120}|\n| **Skill** | |"))
    assert last.text.endswith("|\n| **Skill** | |")


async def test_a_row_of_prose_is_cut_by_its_cells_each_beside_the_name_of_its_row() -> None:
    rows = f"| Scope | Small work. {'word ' * 60}| Large work. {'word ' * 60}|\n| Pay | | Much. |"
    passages = await cut(Block(f"| Kind | Junior | Senior |\n| --- | --- | --- |\n{rows}", first_line=1))
    tables = [table for passage in passages for table in passage.text.split("\n\n")]
    assert [table.partition(" word")[0] for table in tables] == [
        "| Kind | Junior |\n| --- | --- |\n| Scope | Small work.",
        "| Kind | Senior |\n| --- | --- |\n| Scope | Large work.",
    ]
    assert tables[-1].endswith("|\n| Pay | Much. |")
    assert passages[0].locator.first_line == 3


@pytest.mark.parametrize(
    "led_to",
    [
        "\n\n" + "\n".join(f"- library {n} {'word ' * 20}" for n in range(20)),
        "\n" + "\n".join(f"- library {n} {'word ' * 20}" for n in range(20)),
        "\n\n" + "\n\n".join(f"- library {n} {'word ' * 20}" for n in range(20)),
        "\n\n| Name |\n| --- |\n" + "\n".join(f"| library {n} {'word ' * 20} |" for n in range(20)),
    ],
    ids=["a list", "a list without a gap", "a list with gaps", "a table"],
)
async def test_what_is_led_to_and_split_repeats_the_words_that_lead_to_it(led_to: str) -> None:
    passages = await cut(Block(f"{PARAGRAPH}\n\nAnyone may help. Unofficial libraries:{led_to}\n\nAll are free."))
    listed = [passage.text for passage in passages if "library" in passage.text]
    assert len(listed) > 2
    assert "Anyone may help. Unofficial libraries:" in listed[0]
    assert all(text.startswith("Unofficial libraries:\n\n") for text in listed[1:])
    assert "".join(listed).count("library 7 ") == 1


async def test_a_listing_in_a_passage_of_its_own_repeats_the_words_that_lead_to_it() -> None:
    listing = "\n".join(f"line {n} of it" for n in range(40))
    *_, passage = await cut(Block(f"{PARAGRAPH * 2}\n\nThen run this:\n\n```sh\n{listing}\n```"))
    assert passage.text.startswith("Then run this:\n\n```sh\nline 0")


@pytest.mark.parametrize("before", ["All of them are free.", "word " * 60 + "these:"], ids=["no colon", "too long"])
async def test_other_words_before_a_list_are_not_repeated(before: str) -> None:
    items = "\n".join(f"- library {n} {'word ' * 20}" for n in range(20))
    passages = await cut(Block(f"{before}\n\n{items}"))
    assert all(passage.text.startswith("- library") for passage in passages[1:])


async def test_lines_that_an_editor_wrapped_are_one_sentence_again() -> None:
    (passage,) = await cut(
        Block("The connection timeout is ten seconds, and a client that is slower than that will be\ndropped.")
    )
    assert passage.text.endswith("will be dropped.")


async def test_a_line_that_ends_early_before_a_long_link_was_wrapped_all_the_same() -> None:
    (passage,) = await cut(
        Block("The boat was given by\n[the Harbour Trust of the islands](https://trust.example/gifts/boat).")
    )
    assert "given by [the Harbour" in passage.text


async def test_an_item_within_a_wrapped_item_keeps_its_line() -> None:
    (passage,) = await cut(
        Block(
            "- Sign the agreement by which you come back to work for at\n  least twelve weeks.\n"
            "  - It holds however much of the leave you take.\n- Send it in."
        )
    )
    assert passage.text.splitlines() == [
        "- Sign the agreement by which you come back to work for at least twelve weeks.",
        "  - It holds however much of the leave you take.",
        "- Send it in.",
    ]


async def test_a_block_quotes_words_are_kept_without_its_marks() -> None:
    (passage,) = await cut(
        Block("> This policy was superseded on the first of February, and is kept here for\n> the record only.")
    )
    assert passage.text == (
        "This policy was superseded on the first of February, and is kept here for the record only."
    )


async def test_code_keeps_its_lines_and_its_headings_are_none() -> None:
    (passage,) = await cut(Block("```sh\n# not a heading\nrun --now\n```"))
    assert passage.text == "```sh\n# not a heading\nrun --now\n```"


async def test_a_document_without_text_is_rejected() -> None:
    with pytest.raises(DocumentRejected):
        await cut(Block("   \n\n"))


async def test_ids_are_unique_and_stay_the_same() -> None:
    block = Block(f"## A\n\n{PARAGRAPH}\n\n## A\n\n{PARAGRAPH}")
    first, second = await cut(block), await cut(block)
    assert [passage.id for passage in first] == [passage.id for passage in second]
    assert len({passage.id for passage in first}) == len(first)


async def test_unchanged_text_is_recognised_in_the_version_before() -> None:
    before = await cut(Block(f"## A\n\n{PARAGRAPH}\n\n## B\n\n{PARAGRAPH}"), version="v1")
    after = await cut(Block(f"## A\n\n{PARAGRAPH}\n\n## B\n\nSomething else entirely. {PARAGRAPH}"), version="v2")
    twins = same_passage_in("v1", after)
    assert [twins[passage.id] in {old.id for old in before} for passage in after] == [True, False]


@given(st.text(alphabet="ab .\n#|-`*1é", max_size=600))
@settings(max_examples=80, deadline=None)
def test_no_word_is_lost_and_no_passage_too_long(text: str) -> None:
    import asyncio

    async def harness() -> None:
        try:
            passages = await cut(Block(text), title="\x00")
        except DocumentRejected:
            return
        kept = "".join("".join((*passage.heading, passage.text)) for passage in passages)
        assert text.count("é") <= kept.count("é")
        assert all(len(passage.text.split()) <= PASSAGE_TOKENS * 2 for passage in passages)

    asyncio.run(harness())


async def test_a_heading_with_nothing_below_it_is_said_as_text() -> None:
    """A slide with a title alone, a page of one line in large type."""
    passages = await cut(
        Block("# Handbook\n\n## Closed on 24 December\n\n## Pay\n\nMonthly."), Block("# Thank you", page=2)
    )
    said = [(passage.heading, line) for passage in passages for line in passage.text.split("\n") if line]
    assert [line for _, line in said] == ["Closed on 24 December", "Pay", "Monthly.", "Thank you"]
    assert passages[-1].locator.page == 2


async def test_a_document_of_headings_alone_says_what_they_say() -> None:
    (passage,) = await cut(Block("# Closed on 24 December\n\n## Open again on 2 January", page=1))
    assert (passage.heading, passage.text) == (("Closed on 24 December",), "Open again on 2 January")


@pytest.mark.parametrize("text", ["", "\n\n"])
async def test_a_document_that_says_nothing_has_no_text(text: str) -> None:
    with pytest.raises(NoText):
        await cut(Block(text))
