"""The data directory is private to its owner and identifies the installation."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.home import find_installation, installation_id, keep_installation, open_to_others, secure_home


@pytest.fixture(autouse=True)
def mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_an_existing_home_is_tightened(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "originals").mkdir(parents=True)
    (home / "milvus.db").write_text("every passage")
    (home / "originals" / "a.pdf").write_text("a document")
    assert mode(home / "milvus.db") == 0o644
    assert secure_home(home) == 4
    assert {mode(path) for path in (home, home / "originals")} == {0o700}
    assert {mode(path) for path in (home / "milvus.db", home / "originals" / "a.pdf")} == {0o600}
    assert open_to_others(home) == []


def test_what_is_made_from_then_on_is_for_the_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    secure_home(home)
    (home / "milvus.db").write_text("every passage")
    assert mode(home) == 0o700
    assert mode(home / "milvus.db") == 0o600


def test_what_others_may_read_is_found(tmp_path: Path) -> None:
    secure_home(tmp_path)
    (tmp_path / "a").write_text("a")
    (tmp_path / "a").chmod(0o604)
    assert open_to_others(tmp_path) == [tmp_path / "a"]


def test_a_home_stays_the_same_installation_and_no_other_is_it(tmp_path: Path) -> None:
    homes = [tmp_path / name for name in ("one", "other")]
    for home in homes:
        secure_home(home)
        assert find_installation(home) == ""
    first, other = map(installation_id, homes)
    assert first == installation_id(homes[0]) == find_installation(homes[0]) != other


def test_a_restored_home_goes_on_as_the_installation_that_was_backed_up(tmp_path: Path) -> None:
    secure_home(tmp_path)
    installation_id(tmp_path)
    keep_installation(tmp_path, "the one before")
    assert installation_id(tmp_path) == "the one before"
    assert [one.name for one in tmp_path.iterdir()] == ["installation"]
