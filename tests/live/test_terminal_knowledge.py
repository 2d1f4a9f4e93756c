"""``footnote kb …`` on the embedded stores: one walk through a base's life. How each reads is told elsewhere."""

import json
import zipfile
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapters.terminal.operator import operator
from bot.cli import documents
from bot.cli import kb as knowledge
from bot.container import Footnote
from core.ingestion.originals import Material
from core.model.errors import FootnoteError
from core.ports.index import Scope
from core.ports.job_store import Every
from core.service.kb.commands import KbCommand, KbVerb

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]
Run = Callable[[Coroutine[object, object, int]], Coroutine[object, object, tuple[int, str]]]


@pytest.fixture
def run(footnote: Footnote, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command's work on what is open already; its exit code, and what it printed."""

    @asynccontextmanager
    async def opened(*_: object, **__: object) -> AsyncIterator[Footnote]:
        yield footnote

    monkeypatch.setattr("bot.container.open_footnote", opened)
    monkeypatch.setattr("bot.stores.open_catalog", opened)
    monkeypatch.setenv("COLUMNS", "200")

    async def ran(work: Coroutine[object, object, int]) -> tuple[int, str]:
        try:
            code, failure = await work, ""
        except FootnoteError as error:  # which the door of all commands prints
            code, failure = 1, str(error)
        out, err = capfd.readouterr()
        return code, out + err + failure

    return ran


def _kb(verb: KbVerb, *, yes: bool = True, **given: object) -> Coroutine[object, object, int]:
    return knowledge._handle(KbCommand(verb, "voyage", **given), yes, as_json=False)  # type: ignore[arg-type]


async def test_a_base_is_filled_looked_at_emptied_and_filled_again(
    run: Run, footnote: Footnote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("ferry.md").write_text("# Ferry\n\nThe ferry leaves at nine.")
    Path("folder/train.txt").write_text("The train leaves at ten.")
    with zipfile.ZipFile("more.zip", "w") as packed:
        packed.writestr("bus.md", "# Bus\n\nThe bus leaves at eleven.")
        packed.writestr("tram.md", "# Tram\n\nThe tram leaves at noon.")
    link = "http://169.254.169.254/latest/meta-data"
    code, out = await run(knowledge._ingest(["ferry.md", "folder", "more.zip", link], "voyage", 0, as_json=False))
    assert code == 1
    assert "3 added" in out
    assert f"{link}: This host is not allowed" in out
    code, out = await run(_kb(KbVerb.LIST))
    assert (code, out.count("•")) == (0, 3)
    code, out = await run(_kb(KbVerb.SHOW, target="more.zip"))
    assert "bus.md" in out
    assert "tram.md" in out
    code, out = await run(_kb(KbVerb.REMOVE, target="ferry"))
    assert (code, "Removed “" in out) == (0, True)
    assert "Ferry" not in out.partition("now finds:")[2]
    assert "in “voyage”." in (await run(_kb(KbVerb.RESTORE, target="ferry")))[1]
    assert (await run(_kb(KbVerb.REFRESH)))[0] == 1
    code, out = await run(_kb(KbVerb.REMOVE, yes=False))
    assert (code, "Confirm with --yes." in out) == (1, True)
    assert await footnote.index.count(Scope(frozenset({"voyage"}))) == 4
    code, out = await run(_kb(KbVerb.REMOVE))
    assert (code, "3 removed" in out) == (0, True)
    assert await footnote.index.count(Scope(frozenset({"voyage"}))) == 0
    code, out = await run(knowledge._audit(2, as_json=False))
    assert ["kb remove" in out.splitlines()[0], "kb refresh" in out.splitlines()[1]] == [True, True]


async def test_the_short_commands_bring_in_find_and_take_out(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kiosk.md").write_text("# Kiosk\n\nThe kiosk sells maps until six.")
    code, out = await run(documents.ingest_paths([Path("kiosk.md")], "harbour", as_json=False))
    assert code == 0
    assert "kiosk.md" in (await run(documents._list("harbour", as_json=False)))[1]
    assert "maps until six" in (await run(documents._search("maps", 5, "harbour", None, as_json=False)))[1]
    assert "maps until six" in (await run(documents._show("kiosk", "harbour", as_json=False)))[1]
    code, out = await run(documents._remove("kiosk", "harbour", yes=False, as_json=False))
    assert (code, "Confirm with --yes." in out) == (1, True)
    assert "Removed “" in (await run(documents._remove("kiosk", "harbour", yes=True, as_json=False)))[1]


async def test_a_source_taken_out_at_the_terminal_is_audited_and_fetched_no_more(run: Run, footnote: Footnote) -> None:
    link = "https://pier.example/hours"
    await footnote.ingestor.ensure_base("pier")
    await footnote.ingestor.ingest(Material(link, "hours.md", b"# Pier\n\nThe pier opens at five."), "pier")
    schedules = footnote.knowledge_stack.kb_service.schedules
    await schedules.save(link, Every.DAILY, 0, "pier", operator())
    code, out = await run(documents._remove(link, "pier", yes=True, as_json=True))
    assert (code, json.loads(out)) == (0, {"removed": link, "title": "Pier", "passages_left": 0})
    assert not [one for one in await schedules.schedule_store.schedules() if one.base == "pier"]
    newest, *_ = await footnote.audit.recent(1)
    assert (newest.action, newest.target.partition("/")[0], newest.allowed) == ("kb remove", "pier", True)


async def test_a_file_that_is_gone_from_its_folder_is_named_at_the_next_ingest(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quay").mkdir()
    for name in ("crane", "winch"):
        Path("quay", f"{name}.md").write_text(f"# {name.title()}\n\nThe {name} is oiled on Fridays.")
    code, out = await run(documents.ingest_paths([Path("quay")], "dock"))
    assert (code, "No longer in this folder" in out) == (0, False)
    Path("quay", "winch.md").unlink()
    code, out = await run(documents.ingest_paths([Path("quay")], "DOCK"))
    assert code == 0
    assert "No longer in this folder, but still indexed: 1 document." in out
    assert "quay/winch.md" in out
    assert "quay/crane.md" not in out
