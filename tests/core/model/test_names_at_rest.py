"""Stored names stay compatible with earlier versions in both directions, even if the code's names change.

The texts are what those versions wrote, byte for byte.
"""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.discord.outbound.answer_records import DiscordQuestionState
from core.model.conversation import Audience, Person, ThreadKey
from core.model.incoming_events import Expiry, IncomingChoice, IncomingMessage, ReplyMode, ReplyTarget
from core.model.inquiry import (
    AnswerPolicy,
    Inquiry,
    Investigate,
    ListSources,
    Phase,
    ReadSection,
    Search,
    SearchKnowledge,
    SearchSource,
)
from core.model.jobs import Job, JobKind
from core.model.json_codec import from_json, to_json
from core.model.knowledge import KnowledgeBase
from core.model.profile import Profile
from core.model.record_codec import from_fields, to_fields

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

TARGET = (
    '{"manner":"response","channel":"11","message":"22","guild":"33","asker":"44","token":"tok","response":"","about":"",'
    '"edited":"5.5","file":""}'
)

MESSAGE = (
    '{"id":"m1","thread":{"platform":"discord","space":"G","channel":"C","thread":"t"},"text":"How long?",'
    f'"asker":{{"id":"discord:U1","name":"Ada"}},"address":{TARGET},"mentions_us":true,"direct":false,'
    '"mentions_others":false,"private":false,"edited":false,"files":[],"bases":[],"in_channel":false,'
    '"opens_post":false,"suggested":false}'
)

CHOICE = (
    '{"checkpoint":"cp","choice":"keep","person":{"id":"discord:U1","name":"Ada"},'
    f'"thread":{{"platform":"discord","space":"G","channel":"C","thread":"t"}},"address":{TARGET},"text":"","subject":""}}'
)

JOB = (
    '{"id":"j1","kind":"ingest","base":"handbook","by":{"id":"discord:U1","name":"Ada"},'
    '"created_at":"2026-01-05T09:00:00Z","platform":"discord","thread":"","address":'
    f'{TARGET},"subject":"","reference":"","limit":0,"listed":true,"state":"queued","items":[],'
    '"progress":{"stage":"","source":"","done":0,"total":0},"reason":"","ended_at":null,"cancelled_by":"",'
    '"attempts":0,"turn":0}'
)

ANSWERED_AT = ReplyTarget(ReplyMode.RESPONSE, "11", "22", "33", "44", token="tok", edited="5.5")
ASKED = IncomingMessage("m1", THREAD, "How long?", ADA, ANSWERED_AT, mentions_us=True)
AT = datetime(2026, 1, 5, 9, tzinfo=UTC)

KEPT: dict[str, tuple[str, Any]] = {
    "message": (MESSAGE, ASKED),
    "choice": (CHOICE, IncomingChoice("cp", "keep", ADA, THREAD, ANSWERED_AT)),
    "expiry": (f'{{"checkpoint":"cp","question":{MESSAGE}}}', Expiry("cp", ASKED)),
    "job": (JOB, Job("j1", JobKind.INGEST, "handbook", ADA, AT, "discord", reply_target=ANSWERED_AT)),
    "inquiry": (
        INQUIRY,
        Inquiry(
            "t1",
            "How long?",
            THREAD,
            ADA,
            Audience(frozenset({"discord:guild:G"})),
            AT,
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
    """An older version finds its fields unchanged and ignores newer ones."""
    text, value = KEPT[kind]
    assert known_part(json.loads(to_json(value)), json.loads(text)) == json.loads(text)


def known_part(written: Any, known: Any) -> Any:
    """``written`` without the fields that ``known`` has not."""
    if isinstance(written, dict) and isinstance(known, dict):
        return {name: known_part(written[name], known[name]) for name in known if name in written}
    if isinstance(written, list) and isinstance(known, list) and len(written) == len(known):
        return [known_part(one, other) for one, other in zip(written, known, strict=True)]
    return written


def test_a_field_that_came_later_is_passed_over() -> None:
    text = '{"question":"How long?","queries":["how long"],"from_next_year":[1]}'
    assert from_json(Investigate, text) == Investigate("How long?", ("how long",))


def test_a_record_of_an_answer_keeps_its_fields_names() -> None:
    state = DiscordQuestionState(thread=THREAD, message="22", mode="reply", first="23")
    kept = to_fields(state)
    assert (kept["manner"], kept["message"]) == ("reply", "23")
    assert from_fields(DiscordQuestionState(thread=THREAD, message="22"), kept) == state
