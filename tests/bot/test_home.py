"""The data directory is for its owner alone."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.home import open_to_others, secure_home


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
