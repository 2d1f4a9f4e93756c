"""An upgrade from a data directory of commit 2c3b9505, and the way back: the backup that the upgrade makes first."""

import asyncio
import json
import tarfile
from pathlib import Path

import pytest

from adapters.backup.folder import MANIFEST
from adapters.redis.keys import SCHEMA as SCHEMA_KEY
from adapters.redis.schema import SCHEMA
from bot.container import Footnote, open_footnote
from core.model.conversation import Audience, ThreadKey
from core.model.errors import ConfigurationError
from core.model.events import AgentCompleted
from core.ports.index import Scope
from core.service.question_service import Question
from tests.cut_home import ADA
from tests.live.conftest import settings_for

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]
# Made by that commit: three documents in the base "places", a thread of three turns, settings of its channel, and a
# base with a grant. Its keys have no time to live, so that it does not age.
OLD_HOME = Path(__file__).with_name("homes") / "2c3b9505.tar.xz"
THREAD, CHANNEL = ThreadKey("slack", "T1", "C1", "1"), "slack:channel:T1/C1"


@pytest.fixture
def old_home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    with tarfile.open(OLD_HOME) as packed:
        packed.extractall(home, filter="data")
    return home


async def _look(footnote: Footnote) -> dict[str, object]:
    """What people would notice: counts, an answer, the conversation, settings, grants."""
    asked = Question(
        "When does the museum open?",
        ThreadKey("console", "", "terminal", "look"),
        ADA,
        Audience(unrestricted=True),
        footnote.policy,
        frozenset({"places"}),
    )
    events = [event async for event in footnote.question_service.ask(asked)]
    assert isinstance(events[-1], AgentCompleted)
    return {
        "documents": len(await footnote.catalog.documents(frozenset({"places"}))),
        "passages": await footnote.index.count(Scope(frozenset({"places"}))),
        "answer": events[-1].answer.text,
        "turns": [turn.answer for turn in (await footnote.memory.recall(THREAD)).turns],
        "profile": str((await footnote.settings_store.read(CHANNEL)).profile),
        "grants": {base.name: sorted(base.grants) for base in await footnote.catalog.bases()},
    }


async def test_upgrade_keeps_everything_and_its_backup_restores_it(old_home: Path, tmp_path: Path) -> None:
    async with open_footnote(settings_for(old_home)) as footnote:
        assert await footnote.redis.get(SCHEMA_KEY) == str(SCHEMA)
        (notice,) = footnote.take_notices()
        upgraded = await _look(footnote)
    assert (upgraded["documents"], upgraded["passages"], upgraded["profile"]) == (3, 3, "quick")
    assert "10:30" in str(upgraded["answer"])
    assert len(upgraded["turns"]) == 3  # type: ignore[arg-type]
    assert upgraded["grants"] == {"board": [CHANNEL], "places": []}

    (backup,) = (old_home / "backups").iterdir()
    assert str(backup) in notice
    manifest = json.loads((backup / MANIFEST).read_text())
    # That commit refuses a newer schema, and a field of the manifest that it does not know.
    assert (manifest["schema"], manifest["documents"], "installation" in manifest) == (2, 3, False)

    async with open_footnote(settings_for(tmp_path / "again")) as restored:
        await restored.backup.restore(backup, lambda *_: None)
        assert await _look(restored) == upgraded
    async with open_footnote(settings_for(old_home), models=False) as footnote:
        assert footnote.take_notices() == ()
    assert list((old_home / "backups").iterdir()) == [backup]


async def test_two_processes_upgrade_one_home_with_one_backup(old_home: Path) -> None:
    async def start() -> None:
        async with open_footnote(settings_for(old_home), models=False):
            pass

    await asyncio.gather(start(), start())
    assert len(list((old_home / "backups").iterdir())) == 1


async def test_data_stays_the_old_versions_where_no_backup_can_be_made(old_home: Path, tmp_path: Path) -> None:
    (old_home / "backups").write_text("not a folder")
    with pytest.raises(ConfigurationError, match=r"could not be backed up before the upgrade.*footnote backup"):
        async with open_footnote(settings_for(old_home), models=False):
            pass
    async with open_footnote(settings_for(old_home), models=False, upgrade=False) as footnote:
        assert await footnote.redis.get(SCHEMA_KEY) != str(SCHEMA)
        await footnote.backup.make(tmp_path / "elsewhere", lambda *_: None)  # as the command does
    async with open_footnote(settings_for(old_home), models=False) as footnote:
        assert await footnote.redis.get(SCHEMA_KEY) == str(SCHEMA)
