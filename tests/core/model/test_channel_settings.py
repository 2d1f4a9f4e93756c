"""Channel settings as the store keeps them."""

import warnings

from pydantic import TypeAdapter

from core.model.channel_settings import ChannelSettings, ChosenSettings, channel_settings
from core.model.inquiry import AnswerPolicy, CheckpointKind


def test_chosen_checkpoints_are_kinds_that_are_kept_without_a_warning() -> None:
    chosen = ChosenSettings.from_mapping({"checkpoints": "clarify, sources_first, unheard of"})
    assert chosen.checkpoints == frozenset({CheckpointKind.CLARIFY, CheckpointKind.SOURCES_FIRST})
    policy = channel_settings(ChannelSettings(), chosen).policy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TypeAdapter(AnswerPolicy).dump_json(policy)
