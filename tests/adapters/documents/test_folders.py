"""The files below a path, and their names."""

import os
from pathlib import Path

import pytest

from adapters.documents.folders import files_in, find_refused_files


def made(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def sources(*paths: Path) -> list[str]:
    return [source for _, source in files_in(paths)]


def test_a_folders_files_are_named_from_the_folder_on_in_order(tmp_path: Path) -> None:
    docs = made(tmp_path / "docs", "b.md", "a/z.md", "a/c/d.md")
    assert sources(docs) == ["docs/a/c/d.md", "docs/a/z.md", "docs/b.md"]


def test_what_is_hidden_is_left_out_unless_it_is_named(tmp_path: Path) -> None:
    docs = made(tmp_path / "docs", ".git/config", "node_modules/x.js", ".env", "kept.md")
    assert sources(docs) == ["docs/kept.md"]
    assert sources(docs / ".env", docs / ".git") == [".env", ".git/config"]


def test_a_file_that_is_named_twice_comes_once(tmp_path: Path) -> None:
    docs = made(tmp_path / "docs", "a.md")
    assert len(files_in([docs / "a.md", docs])) == 1


def test_two_files_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    made(tmp_path, "billing/README.md", "search/README.md", "other.md")
    found = sources(tmp_path / "billing/README.md", tmp_path / "search/README.md", tmp_path / "other.md")
    assert found == ["billing/README.md", "search/README.md", "other.md"]


def test_two_folders_of_one_name_are_told_apart_where_they_would_collide(tmp_path: Path) -> None:
    made(tmp_path, "one/docs/same.md", "two/docs/same.md", "two/docs/own.md")
    assert sources(tmp_path / "one/docs", tmp_path / "two/docs") == [
        "one/docs/same.md",
        "docs/own.md",
        "two/docs/same.md",
    ]


def test_a_name_that_is_no_utf_8_becomes_text(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    try:
        Path(os.fsdecode(odd)).write_text("coffee")
    except OSError:
        pytest.skip("this file system takes UTF-8 alone")
    ((path, source),) = files_in([tmp_path])
    assert source.endswith("caf\\xe9.txt")
    assert source.encode()
    assert path.read_text() == "coffee"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into everything")
def test_a_folder_that_may_not_be_looked_into_is_listed_so_that_it_is_reported(tmp_path: Path) -> None:
    docs = made(tmp_path / "docs", "closed/a.md", "open.md")
    (docs / "closed").chmod(0)
    try:
        assert sources(docs) == ["docs/closed", "docs/open.md"]
    finally:
        (docs / "closed").chmod(0o700)


def test_pipes_dead_links_and_folders_without_files_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dead").symlink_to(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert files_in([tmp_path, tmp_path / "pipe"]) == []


def test_what_is_no_file_of_the_folder_is_refused_by_name(tmp_path: Path) -> None:
    docs = made(tmp_path / "docs", "a.md", "inside/b.md")
    made(tmp_path, "secret/passwords.md")
    (docs / "out.md").symlink_to(tmp_path / "secret" / "passwords.md")
    (docs / "folder").symlink_to(tmp_path / "secret")
    (docs / "dead.md").symlink_to(tmp_path / "nowhere" / "x")
    (docs / "own.md").symlink_to(docs / "inside" / "b.md")
    os.mkfifo(docs / "pipe")
    assert sources(docs) == ["docs/a.md", "docs/inside/b.md", "docs/own.md"]
    assert {one.source: one.reason for one in find_refused_files([docs])} == {
        "docs/dead.md": "It is a symbolic link to a place outside the folder.",
        "docs/folder": "It is a symbolic link to a place outside the folder.",
        "docs/out.md": "It is a symbolic link to a place outside the folder.",
        "docs/pipe": "It is a pipe, not a file.",
    }


def test_a_device_that_is_named_is_refused_by_name() -> None:
    assert [one.reason for one in find_refused_files([Path("/dev/null")])] == ["It is a device, not a file."]
