"""The ``.env`` that the setup fills: private to its owner, with other lines unchanged."""

import stat
from pathlib import Path

import pytest

from adapters.slack.plugin import PLUGIN
from bot.settings import Settings, load_settings
from bot.setup.saved_settings import SavedSettings
from core.model.errors import ConfigurationError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_what_is_saved_applies_and_only_its_owner_reads_it(home: Path) -> None:
    SavedSettings(home).save("SLACK_BOT_TOKEN", "xoxb-1-a")
    token = load_settings().of(PLUGIN).bot_token
    assert token is not None
    assert token.get_secret_value() == "xoxb-1-a"
    assert stat.S_IMODE((home / ".env").stat().st_mode) == 0o600


def test_other_lines_stay_and_a_file_that_others_could_read_is_closed_to_them(home: Path) -> None:
    home.mkdir()
    (home / ".env").write_text("# ours\nLLM_MODEL=small\nSLACK_BOT_TOKEN=old\n")
    (home / ".env").chmod(0o644)
    SavedSettings(home).save("SLACK_BOT_TOKEN", "xoxb-1-a")
    assert (home / ".env").read_text() == "# ours\nLLM_MODEL=small\nSLACK_BOT_TOKEN=xoxb-1-a\n"
    assert stat.S_IMODE((home / ".env").stat().st_mode) == 0o600


def test_what_wins_over_our_file_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = SavedSettings(home)
    saved.save("HTTP_PORT", "1")
    assert (saved.value("HTTP_PORT"), saved.origin("HTTP_PORT")) == ("1", str(home / ".env"))
    assert saved.can_save("HTTP_PORT")
    Path(".env").write_text("HTTP_PORT=2\n")
    assert (saved.value("HTTP_PORT"), saved.origin("HTTP_PORT")) == ("2", str(Path(".env").absolute()))
    monkeypatch.setenv("HTTP_PORT", "3")
    assert (saved.value("HTTP_PORT"), saved.origin("HTTP_PORT")) == ("3", "the environment")
    assert not saved.can_save("HTTP_PORT")


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file, no folder")
    with pytest.raises(ConfigurationError, match=r"cannot be written.*Set FOOTNOTE_HOME"):
        SavedSettings(tmp_path / "home").save("HTTP_PORT", "1")
