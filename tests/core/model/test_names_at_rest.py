"""What earlier versions wrote is read, and what this one writes is read by them: names at rest stay when code's change.

The texts are what those versions wrote, byte for byte.
"""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from core.model.conversation import Audience, Person, ThreadKey
from core.model.inquiry import (
    AnswerPolicy,
    Inquiry,
    Investigate,
    ListSources,
    Phase,
    Profile,
    ReadSection,
    Search,
    SearchKnowledge,
    SearchSource,
)
from core.model.json_codec import from_json, to_json
from core.model.knowledge import KnowledgeBase

ADA = Person("discord:U1", "Ada")
THREAD = ThreadKey("discord", "G", "C", "t")

INQUIRY = (
    '{"id":"t1","question":"How long?","thread":{"platform":"discord","space":"G","channel":"C","thread":"t"},'
    '"asker":{"id":"discord:U1","name":"Ada"},'
    '"audience":{"principals":["discord:guild:G"],"unrestricted":false,"public":false},'
    '"started_at":"2026-01-05T09:00:00Z","phase":"gather",'
    '"conduct":{"profile":"thorough","behaviour":"balanced","checkpoints":[],"sources_first":false,'
    '"languages":["German"],"follow_ups":false},"bases":[{"name":"handbook","description":"","grants":[]}],'
    '"plan":{"question":"How long?","queries":["how long"],"reason":"","sources_first":false,'
    '"resolved_from_thread":false},'
    '"searches":[{"move":{"query":"refunds","knowledge_base":null,"top_k":3},"found":2,"new":1,"note":""},'
    '{"move":{"evidence":4},"found":0,"new":0,"note":""}],"library":{"items":[]},"misses":0,"missing":"the price",'
    '"refining":"","proposals":[{"query":"price","source":"Price list"},{}],"settled":[],"caveats":false,'
    '"attempt":true,"closing":false,"stopped":false,"notices":[],"spent":{"searches":0,"calls":0,"tokens_in":0,'
    '"tokens_out":0,"seconds":0.0,"cost":0.0,"tokens_cached":0}}'
)

KEPT: dict[str, tuple[str, Any]] = {
    "inquiry": (
        INQUIRY,
        Inquiry(
            "t1",
            "How long?",
            THREAD,
            ADA,
            Audience(frozenset({"discord:guild:G"})),
            datetime(2026, 1, 5, 9, tzinfo=UTC),
            phase=Phase.GATHER,
            policy=AnswerPolicy(Profile.THOROUGH, checkpoints=frozenset(), languages=("German",)),
            bases=(KnowledgeBase("handbook"),),
            plan=Investigate("How long?", ("how long",)),
            searches=(Search(SearchKnowledge("refunds", top_k=3), found=2, new=1), Search(ReadSection(4))),
            proposals=(SearchSource("price", "Price list"), ListSources()),
            fast_path=True,
            missing="the price",
        ),
    ),
}


@pytest.mark.parametrize("kind", KEPT)
def test_what_an_earlier_version_wrote_is_read(kind: str) -> None:
    text, value = KEPT[kind]
    assert from_json(type(value), text) == value


@pytest.mark.parametrize("kind", KEPT)
def test_an_earlier_version_reads_what_this_one_writes(kind: str) -> None:
    text, value = KEPT[kind]
    assert json.loads(to_json(value)) == json.loads(text)
