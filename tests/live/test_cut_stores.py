"""Truncated stores: each loss is detected before the first answer, and repaired or reported with a remedy."""

import asyncio
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.redis.memory import RedisMemory
from bot.cli import kb as knowledge
from bot.container import open_footnote
from bot.stores import Stores, open_catalog
from core.ingestion.originals import original_name
from core.model.conversation import Audience
from core.model.errors import FootnoteError, StoreUnavailable
from core.service.kb.commands import KbCommand, KbVerb
from core.service.visibility import VisibleBases
from tests.cut_home import (
    ADA,
    ADAS,
    AOF,
    BOARD,
    BOBS,
    EVERYBODY,
    INDEX,
    History,
    make_history,
    settings_of,
    truncate,
)
from tests.sample_home import copy_sample_home

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]
PARTS = ("1 %", "10 %", "50 %", "90 %", "99 %")
STEPS = ("before the grant", "before the removal", "before the forgetting", "before the revocation")


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> History:
    home = tmp_path_factory.mktemp("history") / "home"
    copy_sample_home(tmp_path_factory, worker_id, home)
    return asyncio.run(make_history(home))


@pytest.fixture
def home(history: History, tmp_path: Path) -> Path:
    return history.copy(tmp_path / "home")


async def _holds(opened: Stores, history: History) -> None:
    """Everything is there again, nothing that was removed or forgotten is, and only admins can read."""
    bases = await opened.catalog.bases()
    documents = await opened.catalog.documents(frozenset(base.name for base in bases))
    assert {(one.id, one.version) for one in documents} == history.documents
    assert {base.name: base.grants for base in bases} == history.grants
    assert await VisibleBases(opened.catalog).names(EVERYBODY) == frozenset()
    assert await VisibleBases(opened.catalog).names(Audience(unrestricted=True)) == frozenset(history.grants)
    memory = RedisMemory(opened.redis)
    assert [(await memory.recall(thread)).turns for thread in (ADAS, BOBS)] == [(), ()]
    assert await memory.questions_of(ADA.id, 10) == []


@pytest.mark.parametrize("cut", [*PARTS, "last record", *STEPS])
async def test_what_a_cut_memory_file_lost_is_made_again_and_closed_to_all_but_admins(
    home: Path, history: History, cut: str
) -> None:
    truncate(home / AOF, history.at(cut))
    async with open_catalog(settings_of(home)) as opened:
        await opened.catalog.bases()
        (notice,) = opened.lost_changes.take_notices()
        assert re.match(r"Redis lost its last \d+ changes?\b.*: footnote kb confirm NAME\.", notice)
        assert bool(opened.startup_notices) is (cut not in STEPS)  # a file that ends between two records looks whole
        await _holds(opened, history)
    async with open_catalog(settings_of(home)) as again:
        await _holds(again, history)
        assert again.lost_changes.take_notices() == ()


async def test_an_empty_redis_is_refused_until_repair_restores_it_and_closes_all(home: Path, history: History) -> None:
    truncate(home / AOF, 0)
    async with open_catalog(settings_of(home)) as opened:
        with pytest.raises(StoreUnavailable, match=r"Redis has lost data\. .* or footnote kb repair restores"):
            await opened.catalog.bases()
        await opened.lost_changes.restore()
        await _holds(opened, history)


async def test_bases_stay_closed_after_a_second_loss_until_their_readers_are_confirmed(
    home: Path, history: History
) -> None:
    truncate(home / AOF, history.at("before the grant"))
    async with open_catalog(settings_of(home)) as opened:
        await opened.catalog.bases()
    truncate(home / AOF, history.at("50 %"))
    async with open_catalog(settings_of(home)) as opened:
        await _holds(opened, history)
        board = next(base for base in await opened.catalog.bases() if base.name == BOARD)
        await opened.catalog.save_base(replace(board, closed=False))
    async with open_catalog(settings_of(home)) as opened:
        assert await VisibleBases(opened.catalog).names(EVERYBODY) == {BOARD}
        assert opened.lost_changes.take_notices() == ()


async def test_a_recovery_that_was_killed_begins_again_and_is_not_taken_for_done(home: Path, history: History) -> None:
    truncate(home / AOF, history.at("before the removal"))
    async with open_catalog(settings_of(home)) as opened:
        ledger = opened.ledger
        await ledger.begin_recovery(await opened.kept.changes())
        await opened.kept.count_change(at_least=await ledger.number() + 1)  # as if it had died just then
    async with open_catalog(settings_of(home)) as opened:
        await _holds(opened, history)


@pytest.mark.parametrize("cut", ["0 %", *PARTS, "last bytes"])
async def test_a_cut_index_file_is_noticed_before_the_first_answer_with_a_remedy(home: Path, cut: str) -> None:
    size = (home / INDEX).stat().st_size
    truncate(home / INDEX, size - 3 if cut == "last bytes" else size * int(cut.split(maxsplit=1)[0]) // 100)
    said = ""
    try:
        async with open_footnote(settings_of(home), models=False, wait=False) as footnote:
            await footnote.opened
            said = " ".join(footnote.take_notices())
    except FootnoteError as error:
        said = str(error)
    assert "footnote kb repair" in said
    assert ("not the index" if cut == "0 %" else "is damaged. Move it away") in said


@pytest.mark.parametrize("cut", ["0 %", "50 %", "99 %", "gone"])
async def test_a_cut_original_is_named_before_the_first_answer_by_doctor_and_by_repair(
    home: Path, history: History, cut: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_footnote(settings_of(home), models=False, wait=False) as footnote:
        await footnote.opened
        assert footnote.take_notices() == ()
        document = next(one for one in await footnote.catalog.documents(frozenset({"samples"})))
        blob = home / "originals" / hashlib.sha256(original_name(document).encode()).hexdigest()[:40]
        if cut == "gone":
            blob.unlink()
        else:
            truncate(blob, blob.stat().st_size * int(cut.split(maxsplit=1)[0]) // 100)
    async with open_footnote(settings_of(home), models=False, wait=False) as footnote:
        await footnote.opened
        (notice,) = footnote.take_notices()
        assert f"{document.source} (its original is lost)" in notice
        assert "footnote kb repair" in notice
    monkeypatch.setenv("FOOTNOTE_HOME", str(home))
    assert await knowledge._handle(KbCommand(KbVerb.REPAIR), yes=True, as_json=False) == 1
    said = " ".join(capsys.readouterr())
    assert "The originals of 1 document are not stored. Add them again, or remove them:" in said
    assert document.source in said
