"""What RST's directives hold is read as the text it is, what they do not show is not, and lines keep their numbers."""

import pytest

from adapters.documents.formats import rst
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
    assert text_of(source) == ["# Access", "Sign in."]


def test_a_tab_has_its_label_over_its_body_and_the_titles_in_it_are_no_sections() -> None:
    source = (
        ".. tab:: Web/Desktop\n  :parse-titles:\n\n  Desktop app\n  -----------\n\n  1. Open it.\n\n     a. Wait.\n\n"
        "  What then?\n  ----------\n\n  It starts.\n\n.. tab:: Mobile\n\n  Tap it:\n\n  .. code-block:: sh\n\n"
        "    tap\n\n  .. note::\n\n    Only *once*.\n\n    - Or twice.\n\nDone.\n"
    )
    assert text_of(source) == [
        *("Web/Desktop: Desktop app:", "1. Open it.", "   a. Wait.", "What then?", "It starts."),
        *("Mobile: Tap it:", "```sh", "tap", "```", "Note: Only once.", "- Or twice.", "Done."),
    ]


def test_a_note_says_its_kind_on_its_first_paragraph_or_over_its_list() -> None:
    source = "1. Go.\n\n   .. tip::\n     Be quick.\n\n   .. note::\n\n     * One\n\n.. seealso:: The map.\n"
    assert text_of(source) == ["1. Go.", "   Tip: Be quick.", "   Note:", "   - One", "See also: The map."]


def test_what_a_literal_block_or_a_listing_shows_is_not_read_as_a_directive() -> None:
    source = "Write::\n\n  .. toctree::\n\n     a\n\n.. code-block:: rst\n\n  .. note::\n\n     x |y|\n\nEnd.\n"
    assert text_of(source) == [
        *("Write:", "```", ".. toctree::", "   a", "```", "```rst", ".. note::", "   x |y|", "```", "End."),
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


@pytest.mark.parametrize(
    "written",
    [
        "=====  =====\nA      B\n=====  =====\nKeep this text\nx      y\n=====  =====",
        "+-----+-----+\n| Keep this text | B |\n+-----+-----+",
        ".. list-table::\n\n   * - A\n     - B\n   * - Keep this text",
        ".. csv-table:: T\n   :delim: semicolon\n\n   Keep this text;two",
        ".. topic::\n\n   Keep this text",
        *(
            f".. {name}::\n   :unknown-option: 2\n\n   Keep this text"
            for name in ("note", "code", "math", "parsed-literal", "container")
        ),
        ".. figure:: x.png\n   :unknown-option: 2\n\n   Keep this text",
        ".. image:: x.png\n   :alt: Keep this text\n   :unknown-option: 2",
    ],
)
def test_what_docutils_reports_as_an_error_is_kept_as_text(written: str) -> None:
    text = "\n".join(text_of(f"First.\n\n{written}\n\nSee `nowhere`_.\n"))
    assert "Keep this text" in text
    assert "unknown-option" not in text
    assert text.endswith("See nowhere."), "no message of docutils"


def test_tables_of_too_many_ruled_lines_are_refused_with_their_number() -> None:
    with pytest.raises(DocumentRejected, match=r"over 1,000 ruled lines"):
        read("table.rst", b"+--+\n|a |\n" * 1_001)


UNKNOWN = """
Guide
=====

.. price-box:: Small plan
   :currency: EUR

   Nine euros a month, see :plan:`the plans <plans>`.

.. py:function:: connect(host)

   Opens a line to *host*.

.. versionchanged:: 2.4
   Waits ten seconds.

.. glossary::

   SLA
      What is promised.
"""


@pytest.mark.parametrize(
    "held",
    [
        "Small plan",
        "Nine euros a month, see `the plans`.",
        "connect(host)",
        "Opens a line to host.",
        "Changed in version 2.4: Waits ten seconds.",
        "**SLA**",
        ": What is promised.",
    ],
)
def test_unknown_directives_and_roles_keep_their_text(held: str) -> None:
    assert held in text_of(UNKNOWN)
    assert "currency" not in "\n".join(text_of(UNKNOWN))


@pytest.mark.parametrize(
    "hostile",
    [
        ".. include:: /etc/passwd",
        ".. include:: /etc/passwd\n   :literal:",
        ".. literalinclude:: /etc/passwd",
        ".. csv-table:: Users\n   :file: /etc/passwd",
        ".. csv-table:: Users\n   :url: file:///etc/passwd",
        ".. raw:: html\n   :file: /etc/passwd",
        ".. raw:: html\n   :url: file:///etc/passwd",
        ".. figure:: /etc/passwd",
        ".. image:: file:///etc/passwd",
        ".. math::\n   \\input{/etc/passwd}",
    ],
)
def test_documents_cannot_name_files_to_be_read(hostile: str) -> None:
    text = "\n".join(text_of(f"Before.\n\n{hostile}\n\nAfter.\n"))
    assert text.startswith("Before.")
    assert text.endswith("After.")
    assert "root:" not in text


def test_raw_markup_is_no_text_however_it_is_written() -> None:
    source = (
        "Before.\n\n.. raw:: html\n\n   <script>alert(1)</script><p>Shown by scripts</p>\n\n"
        ".. role:: html(raw)\n   :format: html\n\nSome :html:`<script src=x>` words.\n\n"
        ".. raw:: latex\n\n   \\write18{ls}\n\nAfter.\n"
    )
    text = "\n".join(text_of(source))
    assert text.startswith("Before.")
    assert text.endswith("After.")
    assert not any(dropped in text for dropped in ("script", "alert", "write18"))


def test_files_that_a_document_includes_are_named_as_not_read() -> None:
    assert read("a.rst", b"Text.\n\n.. include:: other.rst\n").notes == (
        "other files that this one includes are not read",
    )
    assert read("a.rst", b"Text about include.\n").notes == ()


def test_substitutions_that_multiply_stay_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rst._SETTINGS, "line_length_limit", 1_000)  # time grows with it: the real one takes 20 s
    levels = "".join(f".. |s{i}| replace:: |s{i - 1}| |s{i - 1}| |s{i - 1}| |s{i - 1}|\n" for i in range(1, 30))
    source = f".. |s0| replace:: ha ha ha\n{levels}\n|s29|\n\nEnd.\n"
    assert len("\n".join(text_of(source))) < 10_000


def test_a_list_keeps_the_letters_that_its_items_are_called_by() -> None:
    assert text_of("a. One.\nb. Two.\n\n   i. Deep.\n   ii. Deeper.\n") == [
        *("a. One.", "b. Two.", "   i. Deep.", "   ii. Deeper."),
    ]


def test_tables_of_every_kind_are_pipe_tables() -> None:
    source = (
        "=====  ====\nCity   Rate\n=====  ====\nOslo   190\n=====  ====\n\n"
        "+------+------+\n| Name | Fee  |\n+======+======+\n| Late | 12   |\n+------+------+\n\n"
        ".. list-table:: Codes\n   :header-rows: 1\n\n   * - Code\n     - Meaning\n   * - E1\n     - Open\n\n"
        '.. csv-table:: Tyres\n   :header: "Axle", "Bar"\n\n   "Front", "4.1"\n'
    )
    text = text_of(source)
    assert [row for row in ("| Oslo | 190 |", "| Late | 12 |", "| E1 | Open |", "| Front | 4.1 |") if row in text] == [
        *("| Oslo | 190 |", "| Late | 12 |", "| E1 | Open |", "| Front | 4.1 |"),
    ]
    assert {"Codes", "Tyres"} <= set(text)


def test_lines_of_a_table_name_the_line_that_their_row_was_written_on() -> None:
    source = "Fees\n====\n\nText.\n\n=====  ====\nCity   Rate\n=====  ====\nOslo   190\nRome   140\n=====  ====\n"
    [block] = read("fees.rst", source.encode()).blocks
    lines = block.text.split("\n")
    assert block.source_line(lines.index("| Rome | 140 |")) == 10
