"""What RST's directives hold is read as the text it is, what they do not show is not, and lines keep their numbers."""

import pytest

from adapters.documents.formats.rst_bodies import with_plain_bodies
from adapters.documents.reader import read
from core.model.errors import DocumentRejected


def text_of(source: str) -> list[str]:
    [block] = read("page.rst", source.encode()).blocks
    return [line for line in block.text.split("\n") if line.strip()]


def test_bodies_of_what_only_steers_a_site_are_no_text() -> None:
    source = (
        "Access\n======\n\n.. toctree::\n  :maxdepth: 1\n\n  Install it </install>\n  Log out </log-out>\n\n"
        ".. include:: /badges.rst\n  :start-after: :nosearch:\n\n.. meta::\n   :description: x\n\n"
        ".. A remark: nobody sees it.\n   Nor this.\n\nSign in.\n\n.. |plus| image:: plus.png\n  :alt: +\n"
    )
    assert with_plain_bodies(source.split("\n"))[18] == source.split("\n")[18] == "Sign in."
    assert text_of(source) == ["# Access", "Sign in."]


def test_a_tab_has_its_label_over_its_body_and_the_titles_in_it_are_no_sections() -> None:
    source = (
        ".. tab:: Web/Desktop\n  :parse-titles:\n\n  Desktop app\n  -----------\n\n  1. Open it.\n\n     a. Wait.\n\n"
        "  What then?\n  ----------\n\n  It starts.\n\n.. tab:: Mobile\n\n  Tap it:\n\n  .. code-block:: sh\n\n"
        "    tap\n\n  .. note::\n\n    Only *once*.\n\n    - Or twice.\n\nDone.\n"
    )
    assert text_of(source) == [
        *("Web/Desktop: Desktop app:", "1. Open it.", "   a. Wait.", "What then?", "It starts."),
        *("Mobile: Tap it:", "```sh", "  tap", "```", "Note: Only *once*.", "- Or twice.", "Done."),
    ]


def test_a_note_says_its_kind_on_its_first_paragraph_or_over_its_list() -> None:
    source = "1. Go.\n\n   .. tip::\n     Be quick.\n\n   .. note::\n\n     * One\n\n.. seealso:: The map.\n"
    assert text_of(source) == ["1. Go.", "   Tip: Be quick.", "   Note:", "   * One", "See also: The map."]


def test_what_a_literal_block_or_a_listing_shows_is_not_read_as_a_directive() -> None:
    source = "Write::\n\n  .. toctree::\n\n     a\n\n.. code-block:: rst\n\n  .. note::\n\n     x |y|\n\nEnd.\n"
    assert text_of(source) == [
        *("Write:", "```", "  .. toctree::", "     a", "```", "```rst", "  .. note::", "     x |y|", "```", "End."),
    ]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("Select **More** |more-icon| icon.", "Select **More** icon."),
        ("Open the options menu |more-icon|.", "Open the options menu."),
        ("Select the |favorite-icon| next to it.", "Select the favorite next to it."),
        ("- |plus| adds one, ``a |b| c`` none.", "- plus adds one, `a |b| c` none."),
        ("Use |version| of it.\n\n.. |version| replace:: 4.2", "Use 4.2 of it."),
        ("Press :kbd:`Ctrl` :kbd:`Shift` :kbd:`Y`, or :kbd:`Q`.", "Press `Ctrl+Shift+Y`, or `Q`."),
    ],
)
def test_what_is_put_in_by_name_is_said_where_it_has_to_be(written: str, told: str) -> None:
    assert text_of(f"{written}\n") == [told]


def test_tables_of_too_many_ruled_lines_are_refused_with_their_number() -> None:
    with pytest.raises(DocumentRejected, match=r"over 1,000 ruled lines"):
        read("table.rst", b"+--+\n|a |\n" * 1_001)
