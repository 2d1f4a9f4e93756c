"""Files in buckets, servers, repositories and folders: found, brought once, noticed when changed or gone.

Each kind of place is a real one: memory, a folder, an S3 server (moto), an SFTP server (paramiko), a git repository.
"""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.documents.sources.address import public_link, why_not_allowed
from adapters.documents.sources.file_stores import FsspecFileStores
from core.model.errors import FetchRefused
from core.ports.file_stores import StoredFile
from core.ports.web import PageGone
from tests.adapters.documents.sources.places import KINDS, Place, open_place


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    with open_place(request.param, tmp_path, monkeypatch) as opened:
        yield opened


def stores(place: Place) -> FsspecFileStores:
    return FsspecFileStores([place.address], allow_private=place.allow_private)


async def listed(place: Place, limit: int = 100) -> dict[str, StoredFile]:
    return {file.address: file async for file in stores(place).files(place.address, limit=limit)}


async def test_files_are_found_below_an_address_with_their_names(place: Place) -> None:
    for name in ("a.md", "travel/b.md", ".hidden/c.md"):
        place.write(name, b"# Text")
    found = await listed(place)
    assert list(found) == [f"{place.address}/a.md", f"{place.address}/travel/b.md"]
    assert [file.name for file in found.values()] == ["a.md", "b.md"]
    assert list(await listed(place, limit=1)) == [f"{place.address}/a.md"]


async def test_what_has_not_changed_is_not_brought_again(place: Place) -> None:
    place.write("a.md", b"# One")
    address = f"{place.address}/a.md"
    first = await stores(place).read(address)
    assert first is not None
    file, data = first
    assert (data, bool(file.version)) == (b"# One", True)
    assert (await listed(place))[address].version == file.version
    assert await stores(place).read(address, version=file.version) is None
    place.write("a.md", b"# Two")
    second = await stores(place).read(address, version=file.version)
    assert second is not None
    assert second[1] == b"# Two"
    assert second[0].version != file.version


async def test_what_was_removed_is_gone(place: Place) -> None:
    place.write("a.md", b"# One")
    place.write("b.md", b"# Two")
    place.remove("a.md")
    assert list(await listed(place)) == [f"{place.address}/b.md"]
    with pytest.raises(PageGone):
        await stores(place).read(f"{place.address}/a.md")


async def test_one_file_is_an_address_too(place: Place) -> None:
    place.write("travel/a.md", b"# One")
    address = f"{place.address}/travel/a.md"
    found = [file async for file in stores(place).files(address, limit=10)]
    assert [(file.address, file.name) for file in found] == [(address, "a.md")]


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("s3://other/docs", "not among those that may be read"),
        ("file:///etc/passwd", "not among those that may be read"),
        ("file:///srv/docs/../../etc/passwd", "must not lead upwards"),
        ("file:///srv/docs/%2e%2e/secret", "must not lead upwards"),
        ("file:///srv/docs-of-others/a.md", "not among those that may be read"),
        ("sftp://ada:secret@files.example/docs", "password must not stand in an address"),
        ("simplecache::file:///srv/docs/a", "no address"),
        ("file:///srv/docs/a::http://10.0.0.1/", "not written as one"),
        ("https://example.org/docs", "no address of a place"),
        ("docs/a.md", "no address of a place"),
    ],
)
async def test_only_what_the_installation_names_may_be_read(address: str, why: str) -> None:
    allowed = ["s3://handbook", "file:///srv/docs", "sftp://"]
    assert why in (why_not_allowed(address, allowed) or "")
    with pytest.raises(FetchRefused, match=why):
        await FsspecFileStores(allowed).read(address)


def test_a_scheme_or_a_beginning_allows_what_is_below_it() -> None:
    allowed = ["s3://handbook", "sftp://", "github://acme:"]
    for address in ("s3://handbook", "s3://handbook/a/b.md", "sftp://files.example/docs", "S3://handbook/a.md"):
        assert why_not_allowed(address, allowed) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "localhost", "2130706433"])
async def test_a_host_inside_ones_own_network_is_not_asked(host: str) -> None:
    with pytest.raises(FetchRefused):
        await FsspecFileStores(["sftp://"]).read(f"sftp://{host}/docs/a.md")


@pytest.mark.skipif(importlib.util.find_spec("adlfs") is not None, reason="the azure extra is installed")
async def test_a_driver_that_is_not_installed_is_named() -> None:
    with pytest.raises(FetchRefused, match="abfs:// need a package") as refused:
        await FsspecFileStores(["abfs://"]).read("abfs://docs/a.md")
    assert "footnote[azure]" in str(refused.value)


@pytest.mark.parametrize(
    ("address", "remote", "link"),
    [
        ("github://acme:wiki@main/docs/a b.md", "", "https://github.com/acme/wiki/blob/main/docs/a%20b.md"),
        ("git:///srv/wiki@main/a.md", "git@github.com:acme/wiki.git", "https://github.com/acme/wiki/blob/main/a.md"),
        ("git:///srv/wiki@main/a.md", "https://gitlab.com/a/b/c", "https://gitlab.com/a/b/c/-/blob/main/a.md"),
        ("git:///srv/wiki@main/a.md", "git@git.corp:wiki.git", None),
        ("s3://handbook/a.md", "", None),
    ],
)
def test_a_file_has_the_link_that_people_open(address: str, remote: str, link: str | None) -> None:
    assert public_link(address, remote) == link
