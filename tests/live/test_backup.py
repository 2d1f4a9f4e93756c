"""A backup taken while others write, brought back into an empty home: the same answers, and the talk goes on."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from bot.cli import ask as asking
from bot.cli import backup as keeping
from bot.cli import documents
from bot.container import Footnote, open_footnote
from core.ingestion.originals import Material
from core.model.conversation import ThreadKey
from core.model.errors import ConfigurationError, NotFound
from core.ports.inbox import Delivery
from core.ports.index import Scope
from tests.live.conftest import settings_for

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]
Run = Callable[[Coroutine[object, object, int]], Coroutine[object, object, tuple[int, str]]]
TEXT = {
    "ferry.md": "# Ferry\n\nThe ferry leaves at 9:00 from the north pier.\n\n## Fares\n\nA crossing costs four pounds.",
    "bus.md": "# Bus\n\nThe bus to the hill leaves at ten past every hour.",
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    for name in ("REDIS_URL", "MILVUS_URI", "LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path / "home"))

    async def ran(work: Coroutine[object, object, int]) -> tuple[int, str]:
        code = await work
        return code, capfd.readouterr().out

    return ran


async def _answer(run: Run, question: str, thread: str) -> tuple[str, list[object]]:
    code, out = await run(asking._ask(question, None, thread, None, as_json=True))
    assert code == 0
    told = json.loads(out[out.index("{\n") :])
    return told["answer"], [(one["n"], one["passage"], one["quote"], one["locator"]) for one in told["citations"]]


async def _rewrite(footnote: Footnote, stop: asyncio.Event) -> int:
    """Somebody goes on writing: a new version of one document after the other."""
    edition = 0
    await footnote.ingestor.ensure_base("busy")
    while not stop.is_set():
        edition += 1
        sections = "\n\n".join(f"## Rule {n}\n\nIn edition {edition} parcel {n} leaves at gate {n}." for n in range(30))
        await footnote.ingestor.ingest(Material("rules.md", "rules.md", f"# Rules\n\n{sections}".encode()), "busy")
    return edition


async def test_a_backup_made_while_serving_answers_the_same_in_an_empty_home(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in TEXT.items():
        Path(name).write_text(text)
    await run(documents.ingest_paths([Path(name) for name in TEXT], "default", as_json=True))
    before = await _answer(run, "When does the ferry leave?", "trip")
    assert "9:00" in before[0]
    stop = asyncio.Event()
    async with open_footnote(settings_for(tmp_path / "home")) as serving:
        await serving.inbox.put(Delivery("d1", "slack", "slack/T/C/1", "slack:T/U", "{}"))
        writing = asyncio.create_task(_rewrite(serving, stop))
        while not (await serving.catalog.documents(frozenset({"busy"}))):
            await asyncio.sleep(0.05)
        code, out = await run(keeping._backup(tmp_path / "backup"))
        stop.set()
        assert (code, await writing > 0) == (0, True)
        assert "Backed up 3 documents" in out

    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path / "another"))
    code, out = await run(keeping._restore(tmp_path / "backup"))
    assert (code, "Restored 3 documents" in out) == (0, True)
    assert await _answer(run, "When does the ferry leave?", "another trip") == before
    assert "four pounds" in (await _answer(run, "What does a crossing of the ferry cost?", "trip"))[0]
    async with open_footnote(settings_for(tmp_path / "another")) as restored:
        assert (await restored.knowledge_stack.deps.consistency.report()).incomplete == ()
        (rules,) = await restored.catalog.documents(frozenset({"busy"}))
        passages = await restored.index.passages(rules.id, rules.version, Scope(frozenset({"busy"})))
        editions = [passage.text.partition("edition ")[2].split()[0] for passage in passages]
        assert (len(editions), len(set(editions))) == (rules.passages, 1)
        assert (await restored.memory.recall(ThreadKey("console", "", "terminal", "trip"))).total == 2
        assert await restored.inbox.count_waiting() == 0  # what waited then was answered since, or asked again
        assert (await restored.audit.recent(1))[0].action == "kb ingest"
    with pytest.raises(ConfigurationError, match="already data here"):
        await run(keeping._restore(tmp_path / "backup"))


async def test_a_backup_that_was_cut_short_or_damaged_is_refused(run: Run, tmp_path: Path) -> None:
    Path("ferry.md").write_text(TEXT["ferry.md"])
    await run(documents.ingest_paths([Path("ferry.md")], "default", as_json=True))
    folder = tmp_path / "backup"
    await run(keeping._backup(folder))
    with pytest.raises(ConfigurationError, match="is not empty"):
        await run(keeping._backup(folder))
    manifest = (folder / "backup.json").read_text()
    (folder / "backup.json").unlink()
    with pytest.raises(NotFound, match="is not a finished backup"):
        await run(keeping._restore(folder))
    (folder / "backup.json").write_text(manifest)
    damaged = (folder / "passages.jsonl.gz").read_bytes()
    (folder / "passages.jsonl.gz").write_bytes(damaged[:-9])
    with pytest.raises(ConfigurationError, match=r"damaged: passages\.jsonl\.gz"):
        await run(keeping._restore(folder))


async def test_a_backup_in_the_data_directory_itself_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "way in").symlink_to(tmp_path / "home")
    for folder in ("home/backup", "home", "way in/backup"):
        with pytest.raises(ConfigurationError, match="would be lost with it"):
            await run(keeping._backup(Path(folder)))
