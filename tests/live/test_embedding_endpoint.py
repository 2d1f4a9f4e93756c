"""Another encoder for documents that are there: refused by name, then encoded again by jobs that can be resumed."""

from pathlib import Path

import pytest

from bot import doctor
from bot.cli import documents
from core.model.errors import IndexMismatch
from tests.fakes.embeddings import serve_embeddings
from tests.live.test_lost_index import Run, _ask, _repair, run  # noqa: F401 - a fixture

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]
NAMES = ("ferry", "bus", "tram")


async def test_endpoint_encodes_documents_again_and_goes_on_where_it_was_refused(
    run: Run,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in NAMES:
        Path(f"{name}.md").write_text(f"# The {name}\n\nThe {name} leaves at nine.")
    files = [Path(f"{name}.md") for name in NAMES]
    assert (await run(documents.ingest_paths(files, "default", as_json=False)))[0] == 0
    async with serve_embeddings() as server:
        monkeypatch.setenv("EMBEDDING_BASE_URL", server.address)
        monkeypatch.setenv("EMBEDDING_MODEL", "made-up")
        with pytest.raises(IndexMismatch, match=r"made-up \(endpoint\) \(8\)\. .*footnote kb repair"):
            await run(_ask())
        monkeypatch.setenv("MILVUS_URI", str(tmp_path / "another.db"))
        server.refused = "The bus"
        assert (await run(_repair()))[0] == 1
        server.refused, server.asked[:] = "\0", []
        assert (await run(_repair()))[0] == 0
        again = " ".join(text for texts in server.asked for text in texts)
        assert ("bus" in again, "ferry" in again, "tram" in again) == (True, False, False)
        code, out = await run(_ask())
        assert (code, "at nine" in out) == (0, True)
        out = (await run(doctor.examine(as_json=False, seconds=120)))[1]
        assert "made-up (endpoint), 8 dimensions" in out
        assert "all there" in out
        server.refused = ""
        out = (await run(doctor.examine(as_json=False, seconds=120)))[1]
        assert "not for you" in out
