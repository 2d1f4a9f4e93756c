"""A missing, foreign or damaged index, in the terminal: it is reported and can be filled again."""

import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from bot import doctor
from bot.cli import ask as asking
from bot.cli import documents
from bot.cli import kb as knowledge
from core.model.errors import IndexMismatch, StoreUnavailable
from core.service.kb.commands import KbCommand, KbVerb

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]
Run = Callable[[Coroutine[object, object, int]], Coroutine[object, object, tuple[int, str]]]
QUESTION = "When does the ferry leave?"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command on stores of its own, opened and closed as in a process; its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    for name in ("REDIS_URL", "MILVUS_URI", "LLM_MODEL", "SLACK_BOT_TOKEN", "DISCORD_BOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "400")

    async def ran(work: Coroutine[object, object, int]) -> tuple[int, str]:
        code = await work
        out, err = capfd.readouterr()
        return code, out + err

    return ran


def _ask() -> Coroutine[object, object, int]:
    return asking._ask(QUESTION, None, None, None, as_json=False)


def _repair() -> Coroutine[object, object, int]:
    return knowledge._handle(KbCommand(KbVerb.REPAIR), yes=True, as_json=False)


async def test_a_deleted_index_is_named_refused_and_filled_again(run: Run, tmp_path: Path) -> None:
    Path("ferry.md").write_text("# Ferry\n\nThe ferry leaves at nine from the north pier.")
    assert (await run(documents.ingest_paths([Path("ferry.md")], "default", as_json=False)))[0] == 0
    assert "at nine" in (await run(_ask()))[1]
    for left in (tmp_path / "home").glob("*milvus*"):
        left.unlink()
    with pytest.raises(IndexMismatch, match=r"not the index .* footnote kb repair"):
        await run(_ask())
    code, out = await run(doctor.examine(as_json=False, seconds=120))
    assert code == 1
    assert "1 of 1 documents lack passages, and it is not the index that they are in: " in out
    assert "footnote kb repair fills it" in out
    Path("ferry.md").unlink()
    code, out = await run(_repair())
    assert (code, "1 updated" in out) == (0, True)
    assert "at nine" in (await run(_ask()))[1]
    assert "all there" in (await run(doctor.examine(as_json=False, seconds=120)))[1]


async def test_ingest_fills_another_index_and_says_while_something_is_missing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ferry", "bus"):
        Path(f"{name}.md").write_text(f"# The {name}\n\nThe {name} leaves at nine.")
    assert (await run(documents.ingest_paths([Path("ferry.md"), Path("bus.md")], "default", as_json=False)))[0] == 0
    monkeypatch.setenv("MILVUS_URI", str(tmp_path / "another.db"))
    code, out = await run(documents.ingest_paths([Path("ferry.md")], "default", as_json=False))
    assert (code, "1 updated" in out, "footnote kb repair adds them" in out) == (0, True, True)
    with pytest.raises(IndexMismatch):
        await run(_ask())
    code, out = await run(documents.ingest_paths([Path("bus.md")], "default", as_json=False))
    assert (code, "1 updated" in out, "footnote kb repair" in out) == (0, True, False)
    assert "at nine" in (await run(_ask()))[1]


async def test_an_unreadable_index_file_names_its_remedy_which_works(run: Run, tmp_path: Path) -> None:
    sections = "\n\n".join(f"## Rule {n}\n\nParcel {n} leaves at gate {n * 31}, rain or shine." for n in range(100))
    Path("rules.md").write_text(f"# Rules\n\n{sections}")
    Path("ferry.md").write_text("# Ferry\n\nThe ferry leaves at nine from the north pier.")
    assert (await run(documents.ingest_paths([Path("ferry.md"), Path("rules.md")], "default", as_json=False)))[0] == 0
    file = tmp_path / "home" / "milvus.db"
    whole = file.read_bytes()
    with file.open("r+b") as half:
        half.truncate(len(whole) // 2)
    with pytest.raises(StoreUnavailable, match=r"milvus\.db is damaged\. Move it away. Then footnote kb repair"):
        await run(_ask())
    file.write_bytes(whole[: len(whole) // 2] + b"\xff" * 40_000 + whole[len(whole) // 2 + 40_000 :])
    code, out = await run(doctor.examine(as_json=False, seconds=120))  # Milvus Lite may open it, with some rows missing
    assert (code, " is damaged" in out, "Move it away. Then footnote kb repair" in out) == (1, True, True)
    file.rename(tmp_path / "aside.db")
    assert (await run(_repair()))[0] == 0
    assert "at nine" in (await run(_ask()))[1]


async def test_a_redis_that_came_back_empty_is_refused_and_repair_restores_it(run: Run, tmp_path: Path) -> None:
    Path("ferry.md").write_text("# Ferry\n\nThe ferry leaves at nine from the north pier.")
    assert (await run(documents.ingest_paths([Path("ferry.md")], "default", as_json=False)))[0] == 0
    shutil.rmtree(tmp_path / "home" / "valkey")
    with pytest.raises(StoreUnavailable, match=r"Redis has lost data. Restore Redis's data, or footnote kb repair"):
        await run(_ask())
    with pytest.raises(StoreUnavailable, match=r"Redis has lost data"):  # an ingest would hide the loss
        await run(documents.ingest_paths([Path("ferry.md")], "default", as_json=False))
    code, out = await run(doctor.examine(as_json=False, seconds=120))
    assert (code, "Redis has lost data" in out) == (1, True)
    code, out = await run(_repair())
    assert (code, "1 document restored. Only admins can read default" in out) == (0, True)
    assert "at nine" in (await run(_ask()))[1]
    code, out = await run(doctor.examine(as_json=False, seconds=120))
    assert (code, "footnote kb confirm NAME" in out) == (1, True)
    code, out = await run(knowledge._handle(KbCommand(KbVerb.CONFIRM, "default"), yes=True, as_json=False))
    assert (code, "“default” is open to everyone." in out) == (0, True)
    assert (await run(doctor.examine(as_json=False, seconds=120)))[0] == 0


async def test_without_a_ledger_an_empty_redis_is_a_failure_and_not_an_answer(run: Run, tmp_path: Path) -> None:
    Path("ferry.md").write_text("# Ferry\n\nThe ferry leaves at nine from the north pier.")
    assert (await run(documents.ingest_paths([Path("ferry.md")], "default", as_json=False)))[0] == 0
    for store in ("valkey", "ledger"):
        shutil.rmtree(tmp_path / "home" / store)
    with pytest.raises(
        StoreUnavailable, match=r"Redis has lost data. Restore Redis's data, restore a backup with footnote restore"
    ):
        await run(_ask())
    code, out = await run(doctor.examine(as_json=False, seconds=120))
    assert (code, "of which the catalog knows none" in out) == (1, True)
    assert (await run(documents.ingest_paths([Path("ferry.md")], "default", as_json=False)))[0] == 0
    assert "at nine" in (await run(_ask()))[1]
