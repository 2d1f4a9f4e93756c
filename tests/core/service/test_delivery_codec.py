"""Queued deliveries of an older version can be read."""

import json
from collections.abc import Mapping

import pytest

from core.model.conversation import Person, ThreadKey
from core.model.incoming_events import (
    IN_THREAD,
    Deletion,
    Expiry,
    Incoming,
    IncomingChoice,
    IncomingMessage,
    ReplyMode,
    ReplyTarget,
)
from core.model.jobs import Job
from core.model.json_codec import from_json, to_json
from core.ports.inbox import Delivery
from core.service.incoming import decode_delivery, delivery

PERSON = {"id": "slack:T1/U1", "name": "Ana"}
THREAD = {"platform": "slack", "space": "T1", "channel": "C1", "thread": "17.1"}
FROM_SLACK = {"channel": "C1", "ts": "17.5", "root": "17.1", "user": "U1"}
FROM_DISCORD = {"manner": "private", "channel": "5", "message": "7", "guild": "1", "asker": "9", "token": "t"}
MESSAGE = {"id": "17.5:18.2", "thread": THREAD, "text": "How long?", "asker": PERSON, "mentions_us": True}
IN_SLACK = ReplyTarget(channel="C1", message="17.5", asker="U1")
IN_DISCORD = ReplyTarget(ReplyMode.PRIVATE, "5", "7", "1", "9", "t")


def kept(kind: str, body: Mapping[str, object]) -> Delivery:
    """Return a delivery as the first version queued it."""
    return Delivery("d1", "slack", "slack/T1/C1/17.1", "slack:T1/U1", json.dumps(body), kind)


@pytest.mark.parametrize(
    ("address", "target"), [(FROM_SLACK, IN_SLACK), (FROM_DISCORD, IN_DISCORD), ({}, IN_THREAD), (None, IN_THREAD)]
)
def test_a_question_that_an_earlier_version_put_in_line_knows_where_it_is_answered(
    address: dict[str, str] | None, target: ReplyTarget
) -> None:
    body = MESSAGE if address is None else MESSAGE | {"address": address}
    question = IncomingMessage(
        "17.5:18.2",
        ThreadKey("slack", "T1", "C1", "17.1"),
        "How long?",
        Person("slack:T1/U1", "Ana"),
        target,
        mentions_us=True,
    )
    assert decode_delivery(kept("message", body)) == question
    assert decode_delivery(kept("expiry", {"checkpoint": "c1", "question": body})) == Expiry("c1", question)
    assert decode_delivery(kept("deletion", {"question": body})) == Deletion(question)
    assert decode_delivery(delivery("d2", question)) == question


def test_a_choice_that_an_earlier_version_put_in_line_knows_who_made_it() -> None:
    body = {"checkpoint": "c1", "choice": "1", "person": PERSON, "thread": THREAD, "address": {"user": "U1"}}
    made: Incoming | Deletion = decode_delivery(kept("choice", body))
    assert isinstance(made, IncomingChoice)
    assert made.reply_target == ReplyTarget(asker="U1")


@pytest.mark.parametrize(
    ("address", "target"),
    [({"user": "U1", "channel": "C1"}, ReplyTarget(channel="C1", asker="U1")), (FROM_DISCORD, IN_DISCORD)],
)
def test_a_job_that_an_earlier_version_accepted_knows_where_its_card_is(
    address: dict[str, str], target: ReplyTarget
) -> None:
    text = json.dumps({
        "id": "abc", "kind": "ingest", "base": "handbook", "by": PERSON, "created_at": "2026-01-05T09:00:00Z",
        "platform": "slack", "thread": "slack/T1/C1/", "address": address, "subject": "2 documents",
    })  # fmt: skip
    job: Job = from_json(Job, text)
    assert job.reply_target == target
    assert from_json(Job, to_json(job)) == job
