"""One home: what the demo brought in answers in the terminal, until there are documents of one's own."""

import io
import json
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from bot.cli import ask as asking
from bot.cli import documents
from bot.container import open_footnote
from bot.sample_company import BASE, NOTICE, sample_settings
from core.ingestion.originals import Material
from tests.live.conftest import settings_for

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]
Run = Callable[[Coroutine[object, object, int]], Coroutine[object, object, tuple[str, str]]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command's work in a home of its own; what it printed, and what it said beside that."""
    monkeypatch.chdir(tmp_path)
    for name in ("REDIS_URL", "MILVUS_URI", "LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "400")

    async def ran(work: Coroutine[object, object, int]) -> tuple[str, str]:
        assert await work == 0
        out, err = capfd.readouterr()
        return out, err

    return ran


async def _demo(home: Path) -> None:
    """What ``footnote demo`` leaves behind, with one document."""
    text = b"# Positions\n\nDriver positions are kept for 90 days."
    async with open_footnote(sample_settings(settings_for(home))) as footnote:
        await footnote.ingestor.ensure_base(BASE)
        await footnote.ingestor.ingest(Material("positions.md", "positions.md", text), BASE)


async def test_what_the_demo_brought_in_is_found_until_there_are_documents_of_ones_own(
    run: Run, tmp_path: Path
) -> None:
    out, err = await run(documents._list(None, as_json=True))
    assert json.loads(out) == []
    assert NOTICE not in err

    await _demo(tmp_path / "home")
    out, err = await run(documents._list(None, as_json=True))
    assert [document["source"] for document in json.loads(out)] == ["positions.md"]
    assert err.count(NOTICE) == 1
    question = "How long are driver positions kept?"
    out, err = await run(asking._ask(question, None, None, None, as_json=True))
    assert "90 days" in json.loads(out[out.index("{\n") :])["answer"]
    assert NOTICE in err

    Path("ferry.md").write_text("# Ferry\n\nThe ferry leaves at nine.")
    await run(documents.ingest_paths([Path("ferry.md")], "default", as_json=True))
    out, err = await run(documents._list(None, as_json=True))
    assert [document["source"] for document in json.loads(out)] == ["ferry.md"]
    assert NOTICE not in err
    out, _ = await run(documents._search(question, 10, None, None, as_json=True))
    assert "90 days" not in out


async def test_the_sample_company_uses_no_server_or_bucket_that_is_configured(tmp_path: Path) -> None:
    more = {"blob_store_url": "s3://ours/footnote", "milvus_token": "t"}
    apart = sample_settings(settings_for(tmp_path, **more).model_copy(update={"milvus_uri": "http://ours:19530"}))
    assert (apart.redis_url, apart.milvus_uri, apart.milvus_token, apart.blob_store_url) == (None, None, None, None)
    assert apart.home == tmp_path / "demo"


async def test_a_piped_conversation_is_answered_line_by_line_without_an_editor(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _demo(tmp_path / "home")
    monkeypatch.setattr("sys.stdin", io.StringIO("How long are driver positions kept?\n\nWhat is a dragon?\n"))
    out, err = await run(asking._chat(None))
    assert "90 days" in out
    assert "not a terminal" not in out + err
    assert out.count("trace") == 2
