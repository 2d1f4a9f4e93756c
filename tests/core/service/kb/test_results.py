"""Results as data: no hidden content, and wording for each one."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from core.model.errors import Busy, Denied
from core.model.incoming_events import FileReference, ReplyTarget
from core.model.json_codec import to_json
from core.model.knowledge import redact_link
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.results import KbOutcome, KbView, RefusalReason, Refused
from core.service.kb.text_spans import age, count, duration
from tests.core.service.kb.knowledge_room import ADMIN, MEMBER, Room, conversation, words

SECRET = "s3cret"
LINK = f"https://ada:{SECRET}@docs.example/guide/?token={SECRET}"
LOOKS = (
    KbCommand(KbVerb.LIST),
    KbCommand(KbVerb.LIST, "handbook"),
    KbCommand(KbVerb.SHOW, "handbook"),
    KbCommand(KbVerb.SHOW, target="Guide"),
    KbCommand(KbVerb.STATUS),
    KbCommand(KbVerb.JOBS),
    KbCommand(KbVerb.PROPOSALS),
    KbCommand(KbVerb.REFRESH, "handbook"),
    KbCommand(KbVerb.REPAIR),
    KbCommand(KbVerb.SCHEDULE, "handbook", LINK, every="never"),
    KbCommand(KbVerb.REMOVE, target="Guide"),
    KbCommand(KbVerb.RESTORE),
)


@pytest.fixture
async def room() -> Room:
    """A base filled from a link that holds a secret, with jobs under way, a failure, a removal and a proposal."""
    room = Room()
    await room.says(KbVerb.CREATE, base="handbook")
    room.site.pages[LINK] = "# Guide\n\nThe guide."
    caller = replace(room.caller(ADMIN), reply_target=ReplyTarget(token=SECRET, channel="C"))
    for command in (
        KbCommand(KbVerb.SCHEDULE, "handbook", LINK, every="daily"),
        KbCommand(KbVerb.INGEST, "handbook", f"https://docs.example/gone?token={SECRET}"),
        KbCommand(KbVerb.INGEST, "handbook", files=(FileReference("away", "away.md"),)),
    ):
        await room.kb_service.handle(command, caller)
    await room.works()
    await room.adds(old_md="# Old\n\nWords.")
    await room.says(KbVerb.REMOVE, target="Old", confirmed=True)
    await room.kb_service.handle(KbCommand(KbVerb.INGEST, "handbook", f"{LINK}&again", limit=5), caller)
    await room.kb_service.proposals.propose(conversation("Five days."), room.caller(MEMBER))
    return room


@pytest.mark.parametrize("command", LOOKS, ids=lambda command: f"{command.verb} {command.base}{command.target[:5]}")
async def test_no_result_holds_a_secret_of_a_link_or_of_a_jobs_address(room: Room, command: KbCommand) -> None:
    result = await room.kb_service.handle(command, room.caller(ADMIN))
    assert not isinstance(result, Refused), words(result)
    # what a button sends is kept by whoever shows it, never shown: the person gave it
    shown = re.sub(r'"command":\{[^{}]*\}', "", to_json(result))
    assert SECRET not in shown
    assert SECRET not in words(result)


async def test_who_is_no_admin_is_told_neither_who_added_a_document_nor_whom_a_base_is_for(room: Room) -> None:
    for command in LOOKS[:4]:
        result = to_json(await room.kb_service.handle(command, room.caller(MEMBER)))
        assert "Ada" not in result
    assert '"readers":null' in to_json(await room.says(KbVerb.LIST, MEMBER))


def test_each_kind_of_result_has_a_name_of_its_own() -> None:
    kinds = [one.__dataclass_fields__["kind"].default for one in (*get_args(KbView), *get_args(KbOutcome))]
    assert len(set(kinds)) == len(kinds) == 27


def test_a_refusal_tells_why_and_what_to_do_about_it() -> None:
    assert Refused.of(Denied("Only admins can do that.", remedy="Ask one of them.")) == Refused(
        RefusalReason.DENIED, "Only admins can do that.", "Ask one of them."
    )
    assert words(Refused.of(Busy("Too many jobs wait."))) == "Too many jobs wait."


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("https://docs.example/a", "https://docs.example/a"),
        ("https://ada:pw@docs.example/a?x=1#y", "https://docs.example/a?…"),
        ("https://[broken/a?x=1", "https://[broken/a"),
        ("handbook/a?.md", "handbook/a?.md"),
        ("s3://bucket/a?x", "s3://bucket/a?x"),
    ],
)
def test_a_link_is_shown_without_what_may_be_secret(link: str, shown: str) -> None:
    assert redact_link(link) == shown


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-1, "0 seconds"), (1, "1 second"), (59, "59 seconds"), (61, "1 minute"), (7_200, "2 hours"), (86_400, "1 day")],
)
def test_a_duration_is_told_in_its_largest_unit(seconds: int, said: str) -> None:
    assert duration(timedelta(seconds=seconds)) == said
    now = datetime(2026, 1, 5, tzinfo=UTC)
    assert age(now - timedelta(seconds=seconds), now) == f"{said} ago"


def test_numbers_are_grouped_and_one_is_singular() -> None:
    assert (count(1, "document"), count(0, "document"), count(1_200, "passage")) == (
        "1 document", "0 documents", "1,200 passages",
    )  # fmt: skip
