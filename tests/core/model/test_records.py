"""Owners and keys of records, and reading older records."""

import json
from dataclasses import dataclass, field

import pytest

from adapters.discord.outbound.answer_records import AnsweredTrace, DiscordQuestionState, LatestConversation
from adapters.slack.outbound.answer_records import SlackQuestionState, VisibleAnswer
from core.model.conversation import ThreadKey
from core.model.incoming_events import ReplyTarget
from core.model.record_codec import changed_fields, entries_from_fields, from_fields, records_at, to_fields
from core.model.records import PERSON, THREAD, Address, AnswerStage, CheckpointState, Record, layout_of
from core.service.one_time_use import OneTimeUse
from tests.contracts.records import product_types, sample

ANA = "slack:T1/U1"
THREAD_KEY = ThreadKey("slack", "T1", "C1", "17.1")


def test_every_type_of_record_says_whose_it_is() -> None:
    kinds = product_types()
    assert len(kinds) > 15
    for kind in kinds:
        layout = layout_of(kind)
        assert layout.people or layout.threads or kind.of_installation, kind


def test_a_type_that_says_nowhere_whose_it_is_cannot_be_defined() -> None:
    with pytest.raises(TypeError, match="has no owner"):

        class Stray(Record, place="stray", subject="{name}"):
            name: str
            words: str = ""


def test_a_type_that_redefines_its_owner_has_to_mark_it_again() -> None:
    with pytest.raises(TypeError, match="has no owner"):

        class Forgetful(OneTimeUse, place="forgetful/{person}", subject="all"):
            person: str


def test_what_belongs_to_the_installation_can_hold_no_words() -> None:
    with pytest.raises(TypeError, match="numbers"):

        class Wordy(Record, place="wordy", subject="{name}", installation=True):
            name: str
            words: str = ""


def test_every_record_reads_as_it_was_kept_and_is_found_again_by_its_address() -> None:
    for kind in product_types():
        record = sample(kind, ANA, THREAD_KEY)
        kept = to_fields(record)
        read = from_fields(record, kept)
        assert read is not None
        assert to_fields(read) == kept
        unstored = any(one.metadata.get("unstored") for one in type(record).__dataclass_fields__.values())
        assert unstored or read == record
        found = records_at(record.address.place, record.address.subject, kept)
        assert any(type(one) is kind and to_fields(one) == kept for one in found)


def test_the_address_of_a_record_is_where_the_first_version_kept_it() -> None:
    assert VisibleAnswer(thread=THREAD_KEY, ts="18.2").address == Address("slack/T1/C1/17.1", "shown:18.2")
    latest = LatestConversation(place="discord:channel:G/C", reader="anybody")
    assert latest.address == Address("discord/last/discord:channel:G/C", "where", "anybody")


def test_what_the_first_version_kept_of_an_answer_still_reads() -> None:
    kept = {"state": "offered", "ts": "18.2", "cards": "18.0 18.1", "part-1": "18.3", "part-2": "18.4"}
    kept |= {"direct": "D1", "direct_ts": "", "edited_late": "yes", "outcome": "parked", "@person": ANA}
    blank = SlackQuestionState(thread=THREAD_KEY, message="17.5")
    assert from_fields(blank, kept) == SlackQuestionState(
        thread=THREAD_KEY,
        message="17.5",
        asker=ANA,
        stage=AnswerStage.OFFERED,
        first="18.2",
        cards=("18.0", "18.1"),
        parts=("18.3", "18.4"),
        channel="D1",
        edited_late=True,
        outcome="parked",
    )
    on_discord = from_fields(DiscordQuestionState(thread=THREAD_KEY, message="1"), {"message": "9", "part-1": "10"})
    assert on_discord is not None
    assert (on_discord.first, on_discord.parts) == ("9", ("10",))


def test_what_the_first_version_kept_of_a_card_still_leads_back_to_its_question() -> None:
    asked = {"id": "17.5", "thread": {"platform": "slack", "space": "T1", "channel": "C1", "thread": "17.1"}}
    asked |= {"text": "How long?", "asker": {"id": ANA, "name": "Ana"}}
    asked |= {"address": {"channel": "C1", "ts": "17.5", "root": "17.1", "user": "U1"}}
    blank = CheckpointState(thread=THREAD_KEY, checkpoint="c1")
    kept = from_fields(blank, {"question": json.dumps(asked), "card": "Which?", "@person": ANA})
    assert kept is not None
    assert kept.question is not None
    assert kept.question.reply_target == ReplyTarget(channel="C1", message="17.5", asker="U1")


def test_where_a_question_was_asked_that_is_answered_elsewhere_still_reads() -> None:
    kept = AnsweredTrace(trace="ab", thread=THREAD_KEY, subject="7", asker=ANA, asked_at="5/7")
    assert "5/7" in to_fields(kept).values()
    assert from_fields(AnsweredTrace(trace="ab"), to_fields(kept)) == kept


def test_what_the_first_version_kept_of_who_asked_where_still_reads() -> None:
    kept = {ANA: str(THREAD_KEY), "anybody": str(THREAD_KEY)}
    found = entries_from_fields(LatestConversation(place="discord:channel:G/C", reader=""), kept)
    assert [(one.reader, one.thread) for one in found] == [(ANA, THREAD_KEY), ("anybody", THREAD_KEY)]


def test_only_what_changed_is_written_and_what_was_emptied() -> None:
    was = SlackQuestionState(thread=THREAD_KEY, message="1", asker=ANA, first="2", parts=("3", "4"))
    now = SlackQuestionState(thread=THREAD_KEY, message="1", asker=ANA, first="2", parts=("3",), channel="D1")
    assert changed_fields(now, was) == {"part-2": "", "direct": "D1", "@person": ANA}


def test_a_record_that_reads_as_nothing_known_is_nobodys() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Counted(Record, place="counted/{person}", subject="count"):
        person: str = field(metadata=PERSON)
        thread: ThreadKey | None = field(default=None, metadata=THREAD)
        count: int = 0

    assert records_at(f"counted/{ANA}", "count", {"count": "many"}) == []
    assert records_at(f"counted/{ANA}", "count", {"count": "3"}) == [Counted(person=ANA, count=3)]
