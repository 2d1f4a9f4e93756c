"""References in Markdown are links where they are used, and the lines that say their addresses are no text."""

from adapters.documents.reader import read


def text_of(source: str) -> str:
    [block] = read("page.md", source.encode()).blocks
    return block.text


def test_references_of_all_forms_become_links_and_their_definitions_are_blank() -> None:
    source = (
        "Read [the\nnotes][Release notes], [archive it][], or [`tool`].\n\n"
        "[release  notes]: /manuals/release-notes.html\n"
        '[archive it]: <https://a.example> "A title"\n[`tool`]: https://t.example/(x)\n\nEnd.\n'
    )
    assert text_of(source).split("\n") == [
        "Read [the",
        "notes](/manuals/release-notes.html), [archive it](https://a.example), or [`tool`](https://t.example/%28x%29).",
        *("", "", "", "", "", "End."),
    ]


def test_what_no_line_defines_and_what_stands_in_code_stays_as_it_is() -> None:
    source = (
        "A [thing][unknown], `[a][b]`, [a](x.md), \\[a], - [ ] and [Ann]: yes.\n\n"
        "```\n[a][b]\n[c]: https://example.com\n```\n\n[b]: https://example.com/b\n[a]: https://example.com/a\n"
    )
    assert text_of(source).split("\n") == [
        "A [thing][unknown], `[a][b]`, [a](x.md), \\[a], - [ ] and [Ann]: yes.",
        *("", "```", "[a][b]", "[c]: https://example.com", "```"),
    ]


def test_notes_at_the_foot_and_what_people_say_are_no_addresses() -> None:
    source = "It is so [^1] [Ann].\n\n[^1]: Only https://example.com knows.\n[Ann]: hello\n[x]: https://example.com\n"
    assert text_of(source) == "It is so [^1] [Ann].\n\n[^1]: Only https://example.com knows.\n[Ann]: hello"
