"""Visibility of answers: by place, the asker's wish, and the channel's settings."""

import ast
from pathlib import Path

import pytest

from core.model.channel_settings import ChannelSettings, ReplyStyle
from core.model.conversation import Person, ThreadKey
from core.model.incoming_events import IncomingMessage
from core.service.channel_settings import AnswerVisibility, answer_visibility, visibility_of

PUBLIC = [ChannelSettings(reply_style=style) for style in (ReplyStyle.THREAD, ReplyStyle.CHANNEL)]
PRIVATE = ChannelSettings(reply_style=ReplyStyle.PRIVATE)


@pytest.mark.parametrize("settings", PUBLIC)
def test_where_nothing_else_was_said_whoever_reads_there_sees_it(settings: ChannelSettings) -> None:
    assert answer_visibility(settings, direct=False) is AnswerVisibility.PLACE


@pytest.mark.parametrize("settings", [PRIVATE, None])
def test_only_the_asker_sees_an_answer_if_the_channel_is_private_or_unknown(
    settings: ChannelSettings | None,
) -> None:
    assert answer_visibility(settings, direct=False) is AnswerVisibility.ASKER


@pytest.mark.parametrize("settings", [*PUBLIC, PRIVATE, None])
def test_what_the_asker_wants_comes_before_what_the_place_has(settings: ChannelSettings | None) -> None:
    assert answer_visibility(settings, direct=False, private=True) is AnswerVisibility.ASKER
    assert answer_visibility(settings, direct=False, private=False) is AnswerVisibility.PLACE


@pytest.mark.parametrize("settings", [*PUBLIC, PRIVATE, None])
@pytest.mark.parametrize("private", [True, False, None])
def test_where_nobody_else_reads_there_is_nobody_to_share_it_with(
    settings: ChannelSettings | None, private: bool | None
) -> None:
    visibility = answer_visibility(settings, direct=True, private=private)
    assert visibility is AnswerVisibility.DIRECT
    assert visibility.for_asker_alone


@pytest.mark.parametrize(("private", "alone"), [(True, True), (False, False)])
def test_a_question_that_came_in_as_private_stays_so_whatever_its_place_has_now(private: bool, alone: bool) -> None:
    message = IncomingMessage("1", ThreadKey("slack", "T", "C", "1"), "Why?", Person("u"), private=private)
    assert visibility_of(message, PUBLIC[0]).for_asker_alone is alone
    assert visibility_of(message, PRIVATE).for_asker_alone


def test_nobody_is_answered_unasked_where_answers_are_private() -> None:
    assert ChannelSettings(auto_answer=0.8).answers_unasked
    assert not ChannelSettings(auto_answer=0.8, reply_style=ReplyStyle.PRIVATE).answers_unasked


def test_no_other_place_compares_a_reply_style_to_private() -> None:
    root = Path(__file__).parents[3]
    paths = [path for package in ("core", "adapters", "bot") for path in (root / package).rglob("*.py")]
    compared = {
        str(path.relative_to(root))
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare)
        and any(ast.unparse(one) == "ReplyStyle.PRIVATE" for one in (node.left, *node.comparators))
    }
    assert compared == {"core/model/channel_settings.py"}
