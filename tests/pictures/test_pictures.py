"""The pictures in the documents: every kind that the product sends can be shown, and every picture is small."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import discord
import pytest

from tests.pictures import discord_html, slack_html
from tests.pictures.markup import markdown, mrkdwn
from tests.pictures.messages import Shown
from tests.pictures.page import discord_page, slack_page
from tests.pictures.unknown import UnknownKindError

ROOT = Path(__file__).parents[2]
LARGEST = 150_000  # bytes
NO_BLOCKS = {  # of Slack's payloads: events, views, and what a stream is made of
    "app_mention", "blocks", "home", "markdown_text", "message", "modal", "task_update", "text",
}  # fmt: skip
NO_COMPONENTS = {"DynamicItem", "Item", "LayoutView", "Modal", "View"}  # bases of ours, and what holds components
OF_CLASS = {"Select": "select", "StringSelect": "select"}  # else as the class is called
PICTURES = sorted([*(ROOT / "docs").glob("slack-*.png"), *(ROOT / "docs").glob("discord-*.png")])


def _modules(folder: str) -> Iterator[ast.Module]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        yield ast.parse(path.read_text(encoding="utf-8"))


def _types_sent_to_slack() -> set[str]:
    """Every ``"type": "…"`` that stands in a dictionary of the product."""
    found: set[str] = set()
    for module in _modules("adapters/slack"):
        for node in ast.walk(module):
            if isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                found |= {
                    str(value.value)
                    for key, value in pairs
                    if isinstance(key, ast.Constant) and key.value == "type" and isinstance(value, ast.Constant)
                }
    return found - NO_BLOCKS


def _components_sent_to_discord() -> set[int]:
    """Every kind of component that the product makes, by the number that Discord knows it by."""
    names = {
        node.attr
        for module in _modules("adapters/discord")
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ui"
    }
    snake = {OF_CLASS.get(name) or re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in names - NO_COMPONENTS}
    return {int(discord.ComponentType[name].value) for name in snake}


@pytest.mark.parametrize("kind", sorted(_types_sent_to_slack()))
def test_the_pictures_know_every_kind_that_is_sent_to_slack(kind: str) -> None:
    assert kind in {*slack_html.BLOCKS, *slack_html.ELEMENTS, *slack_html.TEXTS}


@pytest.mark.parametrize("kind", sorted(_components_sent_to_discord()))
def test_the_pictures_know_every_kind_that_is_sent_to_discord(kind: int) -> None:
    assert kind in discord_html.COMPONENTS


def test_what_is_not_known_is_refused_rather_than_left_out() -> None:
    with pytest.raises(UnknownKindError, match="carousel"):
        slack_html.blocks([{"type": "carousel"}])
    with pytest.raises(UnknownKindError, match="wheel"):
        slack_html.blocks([{"type": "actions", "elements": [{"type": "wheel"}]}])
    with pytest.raises(UnknownKindError, match="99"):
        discord_html.components([{"type": 17, "components": [{"type": 99}]}])


def test_marks_are_shown_and_text_stays_text() -> None:
    assert markdown("**a** *b* `c*d*` <script> \\*e\\*") == (
        "<div><b>a</b> <i>b</i> <code>c*d*</code> &lt;script&gt; *e*</div>"
    )
    assert markdown("> quoted\n-# small") == '<blockquote>quoted</blockquote><div class="small">small</div>'
    assert markdown("[the guide](<https://a.example/x>)") == '<div><span class="link">the guide</span></div>'
    assert mrkdwn("*a* &lt;b&gt; <https://a.example|guide>") == (
        '<div><b>a</b> &lt;b&gt; <span class="link">guide</span></div>'
    )


def test_the_words_of_a_message_are_on_its_page() -> None:
    answer = Shown("answer", ({"type": "section", "text": {"type": "mrkdwn", "text": "90 days [1]"}},), asked="@F How?")
    assert "90 days [1]" in slack_page(answer)
    assert "How?" in slack_page(answer)
    card = Shown("card", ({"type": 10, "content": "90 days"},), alone=True)
    assert "90 days" in discord_page(card)
    assert "Only you can see this" in discord_page(card)


def test_there_are_pictures_of_both_platforms() -> None:
    harnesses = {"answer", "checkpoint", "abstention", "job", "settings"}
    names = {path.stem for path in PICTURES}
    assert names == {f"{platform}-{one}" for platform in ("slack", "discord") for one in harnesses} | {"slack-home"}


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_every_picture_is_small_and_shown_where_it_belongs(path: Path) -> None:
    assert path.stat().st_size < LARGEST
    page = ROOT / "docs" / f"{path.stem.partition('-')[0]}.md"
    assert f"]({path.name})" in page.read_text(encoding="utf-8")
