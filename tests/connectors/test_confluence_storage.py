"""Confluence's storage format as the HTML reader sees it."""

import pytest

from adapters.connectors.confluence_storage import to_html
from adapters.documents.formats import html

CODE = (
    '<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">sh</ac:parameter>'
    "<ac:plain-text-body><![CDATA[rm -rf <dir> && ls]]></ac:plain-text-body></ac:structured-macro>"
)
PANEL = (
    '<ac:structured-macro ac:name="info"><ac:parameter ac:name="title">Mind</ac:parameter>'
    "<ac:rich-text-body><p>Ask Ada first.</p></ac:rich-text-body></ac:structured-macro>"
)
TASKS = (
    "<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status>"
    "<ac:task-body>Order keys</ac:task-body></ac:task><ac:task><ac:task-status>incomplete</ac:task-status>"
    "<ac:task-body>Print badge</ac:task-body></ac:task></ac:task-list>"
)
LINK = (
    '<p>See <ac:link><ri:page ri:content-title="Refund policy" /></ac:link> and <ac:link><ri:attachment '
    'ri:filename="a.pdf" /><ac:plain-text-link-body><![CDATA[the form]]></ac:plain-text-link-body></ac:link>.</p>'
)
TABLE = "<table><tbody><tr><th>Plan</th><th>Days</th></tr><tr><td>Basic</td><td>14</td></tr></tbody></table>"


@pytest.mark.parametrize(
    ("storage", "there"),
    [
        (CODE, ["rm -rf <dir> && ls"]),
        (PANEL, ["Mind", "Ask Ada first."]),
        (TASKS, ["[x] Order keys", "[ ] Print badge"]),
        (LINK, ["See Refund policy and the form."]),
        (TABLE, ["Plan", "Basic", "14"]),
        ('<p>Due <time datetime="2026-03-01" /></p>', ["Due 2026-03-01"]),
        ("<ac:layout><ac:layout-cell><p>In a cell</p></ac:layout-cell></ac:layout>", ["In a cell"]),
        (('<p>State <ac:structured-macro ac:name="status"><ac:parameter ac:name="title">DONE</ac:parameter>'
         '<ac:parameter ac:name="colour">Green</ac:parameter></ac:structured-macro></p>'), ["State DONE"]),
    ],
)  # fmt: skip
def test_words_are_kept_in_their_place(storage: str, there: list[str]) -> None:
    (block,) = html.read("page.html", to_html("Title", f"<p>Before.</p>{storage}<p>After.</p>")).blocks
    text = " ".join(block.text.replace("\\", "").split())
    for words in ("Before.", *there, "After."):
        assert words in text
    assert "Green" not in text
    assert "sh" not in text.split()


def test_what_is_filled_only_when_shown_is_left_out() -> None:
    toc = '<ac:structured-macro ac:name="toc"><ac:parameter ac:name="maxLevel">3</ac:parameter></ac:structured-macro>'
    (block,) = html.read("page.html", to_html("Title", f"{toc}<p>Text.</p>")).blocks
    assert block.text.strip() == "Text."


def test_a_title_cannot_end_its_element() -> None:
    assert b"<script>" not in to_html("</title><script>", "<p>Text.</p>")
