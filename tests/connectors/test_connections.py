"""Connections: connecting, scheduled syncs, cards, mapping, hiding stale documents, and removal."""

import asyncio
import stat
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.connectors.registry import connector_names, connector_plugin
from adapters.files.secret_box import KEY_FILE, FernetBox
from core.model.conversation import Audience
from core.model.errors import ConfigurationError, FootnoteError, NotFound, SourceRefused, SourceUnavailable
from core.model.jobs import ItemState, JobCancelled, JobKind, JobState
from core.model.json_codec import to_json
from core.model.principals import mail_principal
from core.service.kb.commands import KbVerb
from core.service.kb.job_cards import job_card
from core.service.kb.results import BaseList, Refused
from core.service.kb.summaries import summarize_job
from core.service.sync import connections as connections_module
from tests.connectors.sync_room import ConnectedRoom, Report
from tests.core.service.kb.knowledge_room import ADMIN, conversation, denied, job_in
from tests.fakes.confluence.contract import SPECIFICATION
from tests.fakes.confluence.server import TOKEN, FakeConfluence

pytestmark = pytest.mark.skipif(not SPECIFICATION.exists(), reason="The description is not shared here.")
ADA, BO = mail_principal("ada@example.org"), mail_principal("bo@example.org")


@pytest.fixture
async def site() -> AsyncIterator[FakeConfluence]:
    async with FakeConfluence() as site:
        for number in range(1, 4):
            site.add_page(str(number), f"Page {number}", f"<p>Alpha number {number}.</p>")
        yield site
        assert not site.violations


@pytest.fixture
async def room(site: FakeConfluence, tmp_path: Path) -> AsyncIterator[ConnectedRoom]:
    room = ConnectedRoom(site, tmp_path)
    async with room.parser:  # type: ignore[attr-defined]
        yield room


async def test_the_scheduler_syncs_a_connection_every_fifteen_minutes(
    room: ConnectedRoom, site: FakeConfluence
) -> None:
    await room.connects()
    assert await room.titles(ADA) == ["Page 1", "Page 2", "Page 3"]
    (job,) = await room.jobs.recent()
    assert (job.kind, job.state, job.counts) == (JobKind.SYNC, JobState.DONE, {ItemState.ADDED: 3})
    calls = len(site.calls)
    await room.scheduler.tick()
    await room.works()
    assert len(site.calls) == calls
    room.clock.advance(timedelta(minutes=16).total_seconds())
    site.change("2", body="<p>Beta.</p>")
    await room.scheduler.tick()
    await room.scheduler.tick()  # another process looks at the same clock
    await room.works()
    assert [one.counts for one in await room.jobs.recent()] == [{ItemState.UPDATED: 1}, {ItemState.ADDED: 3}]


async def test_the_card_counts_and_names_no_title(room: ConnectedRoom, site: FakeConfluence) -> None:
    site.without_body.add("2")
    await room.connects()
    (job,) = await room.jobs.recent()
    card = job_card(summarize_job(job))
    assert card.title == "Syncing “wiki” with Confluence"
    assert "2 added, 1 failed" in card.state
    assert "Page" not in f"{card} {to_json(job)}"
    (overview,) = await room.sources.overview()
    assert [item.reason for item in overview.failing] == ["Confluence sent the page without its text."]


async def test_a_failure_is_kept_with_its_time_and_ends_with_the_next_success(
    room: ConnectedRoom, site: FakeConfluence
) -> None:
    await room.connects()
    site.is_revoked = True
    room.clock.advance(1_000)
    await room.scheduler.tick()
    await room.works()
    failed = (await room.jobs.recent())[0]
    assert failed.state is JobState.FAILED
    assert "rejected the token" in failed.reason
    (overview,) = await room.sources.overview()
    assert overview.state.failed_since == room.clock.now()
    site.is_revoked = False
    room.clock.advance(1_000)
    await room.scheduler.tick()
    await room.works()
    assert (await room.sources.overview())[0].state.failure == ""


async def test_rights_that_were_not_read_again_hide_the_documents(room: ConnectedRoom) -> None:
    await room.connects(hours=24)
    (base,) = await room.catalog.bases()
    assert base.visible_to(Audience(frozenset({ADA})))
    stale = replace(base, rights_until=(room.clock.now() - timedelta(seconds=1)).isoformat())
    assert not stale.visible_to(Audience(frozenset({ADA})))
    assert base.rights_until == (room.clock.now() + timedelta(hours=24)).isoformat()


async def test_an_admin_sees_nothing_of_what_they_may_not_read_at_the_source(room: ConnectedRoom) -> None:
    await room.connects()
    listed = await room.says(KbVerb.LIST)
    assert isinstance(listed, BaseList)
    assert listed.bases == ()
    assert isinstance(await room.says(KbVerb.LIST, base="wiki"), Refused)
    assert isinstance(await room.says(KbVerb.SHOW, target="Page 1"), Refused)


@pytest.mark.parametrize("verb", [KbVerb.GRANT, KbVerb.REVOKE, KbVerb.REMOVE, KbVerb.INGEST, KbVerb.CONFIRM])
async def test_what_a_source_sets_is_not_changed_here(room: ConnectedRoom, verb: KbVerb) -> None:
    await room.connects()
    before = await room.catalog.bases()
    refused = await room.says(verb, base="wiki", principals=("slack:team:T1",), target="https://example.org")
    assert isinstance(refused, Refused)
    assert await room.catalog.bases() == before


async def test_without_its_name_too_what_a_source_sets_is_not_changed_here(
    room: ConnectedRoom, site: FakeConfluence
) -> None:
    site.spaces["ENG"] = [("", "")]
    await room.connects()
    await room.sources.map_group("wiki", "**", ["everyone"], ADMIN)
    await room.scheduler.tick()
    await room.works()
    assert len(await room.titles()) == 3
    assert isinstance(await room.says(KbVerb.GRANT, principals=("slack:team:T1",)), Refused)
    assert denied(await room.says(KbVerb.REMOVE, target="Page 1", confirmed=True))
    told = conversation("Refunds take 14 days.")
    assert denied(await room.kb_service.proposals.propose(told, room.caller(ADMIN), "wiki"))
    assert job_in(await room.kb_service.proposals.propose(told, room.caller(ADMIN))).base == "default"
    await room.works()
    assert [one.knowledge_base for one in await room.catalog.documents(frozenset({"wiki", "default"}))].count(
        "wiki"
    ) == 3


async def test_a_group_that_is_mapped_reads_after_the_next_sync(room: ConnectedRoom, site: FakeConfluence) -> None:
    site.people.update(ada="", bo="")  # they hide their addresses
    await room.connects()
    (overview,) = await room.sources.overview()
    assert (overview.documents, overview.state.unmapped, dict(overview.state.groups)) == (0, 3, {"g-staff": 3})
    await room.sources.map_group("wiki", "g-staff", ["slack:team:T1"], ADMIN)
    await room.scheduler.tick()
    await room.works()
    assert await room.titles("slack:team:T1") == ["Page 1", "Page 2", "Page 3"]
    await room.sources.map_group("wiki", "g-staff", [], ADMIN)
    await room.scheduler.tick()
    await room.works()
    assert await room.titles("slack:team:T1") == []
    recorded = [(one.actor, one.action, one.target, one.detail) for one in await room.audit.recent()]
    assert recorded == [
        (ADMIN.id, "map", "wiki g-staff", "nobody"),
        (ADMIN.id, "map", "wiki g-staff", "slack:team:T1"),
        (ADMIN.id, "connect", "wiki", "confluence"),
    ]


async def test_anyone_is_nobody_until_an_admin_says_otherwise(room: ConnectedRoom, site: FakeConfluence) -> None:
    site.spaces["ENG"] = [("", "")]
    await room.connects()
    assert (await room.sources.overview())[0].state.unmapped == 3
    await room.sources.map_group("wiki", "**", ["everyone"], ADMIN)
    await room.scheduler.tick()
    await room.works()
    assert len(await room.titles()) == 3


async def test_a_removed_connection_leaves_nothing(room: ConnectedRoom) -> None:
    await room.connects()
    assert await room.sources.disconnect("wiki", ADMIN) == 3
    assert await room.catalog.bases() == []
    assert await room.index.count() == 0
    assert not await room.store.items("wiki")
    await room.scheduler.tick()
    await room.works()
    assert await room.catalog.bases() == []


async def test_a_sync_ends_where_its_connection_is_removed_meanwhile(room: ConnectedRoom, site: FakeConfluence) -> None:
    await room.connects()
    site.add_page("4", "Page 4", "<p>Alpha number 4.</p>")
    removed: list[int] = []

    async def guard() -> None:
        if not removed and len(site.calls) > calls + 3:  # it is fetching by now
            removed.append(0)
            removed[0] = await room.sources.disconnect("wiki", ADMIN)

    calls = len(site.calls)
    with pytest.raises(JobCancelled, match="disconnected"):
        await room.sources.sync("wiki", guard=guard, report=Report(), until=float("inf"))
    assert removed == [3]
    assert await room.titles(ADA) == []
    room.clock.advance(1)
    await room.connects()
    assert await room.titles(ADA) == ["Page 1", "Page 2", "Page 3", "Page 4"]


async def test_a_dry_run_keeps_nothing(room: ConnectedRoom, site: FakeConfluence) -> None:
    site.pages["2"].users = ("somebody",)
    plan = await room.sources.preview("wiki", "confluence", room.values, ADMIN)
    assert (plan.documents, plan.new, plan.changed, plan.gone, plan.unreadable) == (3, 3, 0, 0, 1)
    assert await room.store.connections() == []
    assert await room.catalog.bases() == []


async def test_the_check_names_account_count_and_hidden_addresses(room: ConnectedRoom, site: FakeConfluence) -> None:
    site.people["bo"] = ""
    check = await room.sources.check("confluence", room.values)
    assert (check.account, check.documents, check.example) == ("Ada", 3, "Page 1")
    assert "1 of 2 people" in check.warnings[0]
    with pytest.raises(SourceRefused):
        await room.sources.check("confluence", room.values | {"token": "another"})
    with pytest.raises(ConfigurationError, match="API token"):
        await room.sources.check("confluence", room.values | {"token": ""})


async def test_a_token_is_kept_encrypted_and_unusable_with_another_key(room: ConnectedRoom, tmp_path: Path) -> None:
    await room.connects()
    (connection,) = await room.store.connections()
    assert TOKEN not in to_json(connection)
    key = tmp_path / KEY_FILE
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert FernetBox(tmp_path).unseal(connection.secrets["token"]) == TOKEN
    with pytest.raises(ConfigurationError, match="another key"):
        FernetBox(tmp_path, "k" * 32).unseal(connection.secrets["token"])
    with pytest.raises(ConfigurationError, match="fewer than 32"):
        FernetBox(tmp_path, "short").seal("x")


async def test_a_lost_key_is_named_in_the_list_of_connections(room: ConnectedRoom, tmp_path: Path) -> None:
    await room.connects()
    (connection,) = await room.store.connections()
    (tmp_path / "other").mkdir()
    sealed = FernetBox(tmp_path / "other").seal(TOKEN)
    await room.store.save_connection(replace(connection, secrets={"token": sealed}))
    room.clock.advance(1_000)
    await room.scheduler.tick()
    await room.works()
    assert "another key" in (await room.sources.overview())[0].state.failure
    assert len(await room.titles(ADA)) == 3


async def test_a_name_that_is_taken_is_refused(room: ConnectedRoom) -> None:
    await room.says(KbVerb.CREATE, base="wiki")
    with pytest.raises(NotFound, match="already"):
        await room.sources.connect("wiki", "confluence", room.values, ADMIN)


async def test_a_cancelled_sync_is_not_begun_again_at_once(room: ConnectedRoom) -> None:
    await room.sources.connect("wiki", "confluence", room.values, ADMIN)
    await room.scheduler.tick()
    (job,) = await room.jobs.recent()
    await room.jobs.cancel(job.id, ADMIN.id)
    await room.works()
    assert (await room.job(job.id)).state is JobState.CANCELLED


async def test_a_token_goes_to_no_plain_and_no_private_address(room: ConnectedRoom) -> None:
    for url in ("http://example.org", "https://127.0.0.1:1", "https://169.254.169.254", "https://localhost"):
        with pytest.raises(FootnoteError, match=r"only sent over https|is not allowed"):
            await room.sources.check("confluence", room.values | {"url": url})


def test_an_unknown_connector_is_named_with_those_there_are() -> None:
    assert "confluence" in connector_names()
    with pytest.raises(ConfigurationError, match=r"Available: .*confluence"):
        connector_plugin("nowhere")


async def test_what_was_read_at_another_site_is_taken_out(room: ConnectedRoom) -> None:
    await room.connects()
    await room.sources.map_group("wiki", "g-staff", ["slack:team:T1"], ADMIN)
    await room.sources.connect("wiki", "confluence", {**room.values, "spaces": "ENG"}, ADMIN)
    assert len(await room.titles(ADA)) == 3
    await room.sources.connect("wiki", "confluence", {**room.values, "url": "https://other.example"}, ADMIN)
    assert await room.titles(ADA) == []
    assert await room.index.count() == 0
    assert not await room.store.items("wiki")
    assert (await room.sources.find("wiki")).mapping == {"g-staff": frozenset({"slack:team:T1"})}


async def test_a_sync_of_another_site_keeps_nothing_of_it(room: ConnectedRoom, site: FakeConfluence) -> None:
    await room.connects()
    site.add_page("4", "Page 4", "<p>Alpha number 4.</p>")
    calls, moved = len(site.calls), False

    async def guard() -> None:
        nonlocal moved
        if not moved and len(site.calls) > calls + 3:  # it is fetching by now
            moved = True
            await room.sources.connect("wiki", "confluence", {**room.values, "url": "https://other.example"}, ADMIN)

    with pytest.raises(JobCancelled, match="disconnected"):
        await room.sources.sync("wiki", guard=guard, report=Report(), until=float("inf"))
    state = await room.store.state("wiki")
    assert (state.round, dict(state.bases)) == (0, {})
    assert await room.titles(ADA) == []


@dataclass
class OddPlugin:
    """A source whose check never ends, or whose reply is incomplete."""

    hangs: bool
    title: str = "Odd"
    fields: tuple[()] = ()

    @asynccontextmanager
    async def open(self, settings: Mapping[str, str], http: object) -> AsyncIterator["OddPlugin"]:
        yield self

    async def check(self) -> None:
        if self.hangs:
            await asyncio.Event().wait()
        raise KeyError("viewer")


@pytest.mark.parametrize(("hangs", "said"), [(True, "took longer than"), (False, "do not understand")])
async def test_a_check_ends_with_a_reason_whatever_the_source_answers(
    room: ConnectedRoom, monkeypatch: pytest.MonkeyPatch, hangs: bool, said: str
) -> None:
    monkeypatch.setattr(connections_module, "CHECK_SECONDS", 0.2)
    odd = replace(room.sources, plugins=lambda kind: OddPlugin(hangs))  # type: ignore[arg-type,return-value]
    with pytest.raises(SourceUnavailable, match=said):
        await odd.check("odd", {})
