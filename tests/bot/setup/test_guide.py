"""The shared part of the setup in terminal and page: saved settings, and folders of this machine."""

from pathlib import Path

import pytest

from bot.settings import Settings
from bot.setup.guide import InstallationSetup
from bot.setup.saved_settings import MOST, files_on_disk
from core.model.document_content import FileContent, LocalFile, NamedFile
from core.model.errors import DocumentRejected, NotFound


@pytest.fixture
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallationSetup:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path / "home"))
    return InstallationSetup(tmp_path / "home")


async def test_nothing_is_set_at_first_and_nobody_is_asked(guide: InstallationSetup) -> None:
    assert guide.configured_platforms() == frozenset()
    for place in guide.platforms():
        for step in guide.steps(place):
            state = await guide.look(place, step)
            assert (state.done, state.checks, state.origin) == (False, (), "")


async def test_what_is_no_token_is_not_tried_and_a_setting_of_no_step_is_not_written(
    guide: InstallationSetup, tmp_path: Path
) -> None:
    outcome = await guide.take_token("SLACK_BOT_TOKEN", "xapp-1-A-b")
    assert (outcome.kept, outcome.mistake.startswith("That is the app token")) == (False, True)
    for setting in ("LLM_API_KEY", "FOOTNOTE_HOME", "", "SLACK_BOT_TOKEN=x"):
        with pytest.raises(NotFound):
            await guide.take_token(setting, "xoxb-1-a")
    assert not (tmp_path / "home" / ".env").exists()


async def test_what_is_set_elsewhere_is_said_to_win(guide: InstallationSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-of-the-environment")
    outcome = await guide.take_token("SLACK_BOT_TOKEN", "xoxb-1-a")
    assert outcome.mistake.startswith("SLACK_BOT_TOKEN is set in the environment, which overrides")
    assert guide.configured_platforms() == {"slack"}


async def test_a_folder_is_read_by_the_terminals_names_and_what_cannot_be_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "handbook"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "ferry.md").write_bytes(b"# Ferry")
    (folder / "out.md").symlink_to(tmp_path / "elsewhere.md")
    found = files_on_disk(f" '{folder}' ")
    ferry = folder / "deep" / "ferry.md"
    assert found.files == [LocalFile(ferry, folder)]
    assert [one async for one in found.read([NamedFile(ferry, "deep/ferry.md", "x")])] == [
        FileContent("deep/ferry.md", "ferry.md", b"# Ferry", "x")
    ]
    assert [line.partition(" is left out")[0] for line in found.refused_files] == ["handbook/out.md"]


async def test_a_file_that_goes_before_it_is_read_is_said_to(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_bytes(b"# A")
    found = files_on_disk(str(tmp_path))
    (tmp_path / "a.md").unlink()
    named = [NamedFile(file.path, file.path.name) for file in found.files]
    assert [file.name async for file in found.read(named)] == ["b.md"]
    assert "a.md is left out: it cannot be read: No such file or directory." in found.refused_files[0]


def test_nothing_and_too_much_are_said(tmp_path: Path) -> None:
    for named in ("", str(tmp_path / "nowhere"), str(tmp_path)):
        with pytest.raises(NotFound):
            files_on_disk(named)
    for number in range(MOST + 1):
        (tmp_path / f"{number}.md").touch()
    with pytest.raises(DocumentRejected, match="footnote ingest reads any number"):
        files_on_disk(str(tmp_path))
