"""Sources of settings, and errors for wrong ones."""

import re
from contextlib import aclosing
from pathlib import Path

import pytest

from bot.digests import digest_channel
from bot.doctor import checks_of
from bot.settings import Settings, env_files, load_settings
from core.model.conversation import ThreadKey
from core.model.errors import ConfigurationError
from core.model.health import Health


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, a data directory beside it, and nothing in the environment."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("FOOTNOTE_HOME", str(home))
    return here


def test_a_file_in_the_data_directory_is_read(here: Path) -> None:
    (here.parent / "home" / ".env").write_text("HTTP_PORT=9001\n")
    assert load_settings().http_port == 9001


def test_settings_prefer_environment_then_working_directory_then_data_directory(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here.parent / "home" / ".env").write_text("HTTP_PORT=9001\nWORKERS=1\nLOG_LEVEL=error\n")
    (here / ".env").write_text("HTTP_PORT=9002\nWORKERS=2\nLOG_LEVEL=\n")
    monkeypatch.setenv("HTTP_PORT", "9003")
    settings = load_settings()
    assert (settings.http_port, settings.workers, settings.log_level) == (9003, 2, "error")


def test_the_data_directory_may_be_named_in_the_working_directory(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FOOTNOTE_HOME")
    other = here.parent / "other"
    other.mkdir()
    (here / ".env").write_text(f"FOOTNOTE_HOME={other}\n")
    (other / ".env").write_text("HTTP_PORT=9004\nFOOTNOTE_HOME=/elsewhere\n")
    settings = load_settings()
    assert (settings.home, settings.http_port) == (other, 9004)
    assert env_files() == [other / ".env", here / ".env"]


def test_files_in_the_folder_of_credentials_are_settings_of_last_resort(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = here.parent / "credentials"
    folder.mkdir()
    (folder / "redis_url").write_text("redis://:pass@redis:6379/0\n")
    (folder / "slack_bot_token").write_text("xoxb-in-a-file\n")
    (folder / "workers").write_text("3")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(folder))
    (here / ".env").write_text("WORKERS=2\nREDIS_URL=\n")
    settings = load_settings()
    assert settings.redis_url is not None
    assert settings.redis_url.get_secret_value() == "redis://:pass@redis:6379/0"
    assert settings.workers == 2
    assert {"xoxb-in-a-file", "redis://:pass@redis:6379/0"} <= set(settings.secrets())


def test_a_working_directory_that_is_the_data_directory_has_one_file(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_HOME", str(here))
    assert env_files() == [here / ".env"]


@pytest.mark.parametrize(
    ("mode", "settings", "health"),
    [
        (0o644, "LLM_API_KEY=s3cret", Health.NOTE),
        (0o600, "LLM_API_KEY=s3cret", Health.OK),
        (0o644, "HTTP_PORT=9001", Health.OK),
        (0o666, "HTTP_PORT=9001", Health.FAILED),
    ],
)
async def test_a_file_that_others_may_read_secrets_in_or_write_is_noted(
    here: Path, mode: int, settings: str, health: Health
) -> None:
    file = here / ".env"
    file.write_text(f"LLM_MODEL=m\n{settings}\n")
    file.chmod(mode)
    async with aclosing(checks_of(load_settings())) as checks:
        check = await anext(one async for one in checks if one.name == "settings")
    assert check.health is health
    assert check.remedy == (f"chmod 600 {file}" if health is not Health.OK else "")
    assert "s3cret" not in check.detail


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("HTTP_PORT", "xoxb-secret", "HTTP_PORT must be a whole number."),
        ("HTTP_PORT", "99999", "HTTP_PORT must be at most 65535."),
        ("WORKERS", "0", "WORKERS must be at least 1."),
        ("LLM_TIMEOUT", "0", "LLM_TIMEOUT must be more than 0."),
        ("LLM_TEMPERATURE", "warm", "LLM_TEMPERATURE must be a number."),
        ("PROFILE", "slow", "PROFILE must be quick, balanced or thorough."),
        ("LOG_LEVEL", "loud", "LOG_LEVEL must be debug, info, warning or error."),
    ],
)
def test_a_wrong_setting_is_named_in_plain_words_and_its_value_never_shown(
    name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as raised:
        load_settings()
    assert str(raised.value).startswith(said)
    assert not re.search(r"Input|parse|\bvalue\b", str(raised.value))
    assert value not in str(raised.value) or value == "0"


def test_a_choice_may_be_written_in_capitals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_LEVEL", "WARNING")
    monkeypatch.setenv("PROFILE", "Quick")
    assert (load_settings().log_level, load_settings().profile) == ("warning", "quick")


def test_several_wrong_settings_are_each_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PORT", "a")
    monkeypatch.setenv("WORKERS", "b")
    with pytest.raises(ConfigurationError, match=r"HTTP_PORT must .* WORKERS must"):
        load_settings()


def test_a_file_that_is_not_text_is_said_to_be_none(here: Path) -> None:
    (here / ".env").write_bytes(b"LLM_MODEL=\xff\xfe\n")
    with pytest.raises(ConfigurationError, match=r"not UTF-8 text"):
        load_settings()


@pytest.mark.parametrize(
    "wrong", ["general", "slack:channel:T1", "slack:user:T1/U1", "discord:channel:x/y", "slack:channel:T1/C1/x"]
)
def test_a_digest_goes_to_a_channel_or_the_start_says_why_not(wrong: str) -> None:
    with pytest.raises(ConfigurationError, match="GAPS_DIGEST is not a channel"):
        digest_channel(wrong)


def test_a_digest_is_off_unless_a_channel_is_named() -> None:
    assert digest_channel("") is None
    assert digest_channel("slack:channel:T1/C1") == ThreadKey("slack", "T1", "C1", "")
    assert digest_channel("discord:channel:1/2") == ThreadKey("discord", "1", "2", "")
