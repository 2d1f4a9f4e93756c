"""Files in buckets, servers, repositories and folders: found, brought once, noticed when changed or gone.

Each kind of place is a real one: memory, a folder, an S3 server (moto), an SFTP server (paramiko), a git repository.
"""

import importlib.util
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import pytest

from adapters.documents.sources.address import public_link, why_not_allowed
from adapters.documents.sources.file_stores import FsspecFileStores
from core.model.errors import FetchRefused
from core.ports.file_stores import StoredFile
from core.ports.web import PageGone
from tests.adapters.documents.sources.servers import PASSWORD, s3_server, sftp_server


class Place(Protocol):
    """A place of one kind: its address, and how its files are written and removed."""

    address: str
    allow_private: frozenset[str]

    def write(self, name: str, data: bytes) -> None: ...

    def remove(self, name: str) -> None: ...


class Folder:
    allow_private: frozenset[str] = frozenset()

    def __init__(self, root: Path, address: str = "") -> None:
        self.root = root / "docs"
        self.address = address or f"file://{self.root}"

    def write(self, name: str, data: bytes) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.stat().st_mtime if file.exists() else 0.0
        file.write_bytes(data)
        os.utime(file, (before + 10, before + 10))

    def remove(self, name: str) -> None:
        (self.root / name).unlink()


class Memory:
    allow_private: frozenset[str] = frozenset()
    address = "memory://handbook/docs"

    def write(self, name: str, data: bytes) -> None:
        import fsspec

        fsspec.filesystem("memory").pipe_file(f"/handbook/docs/{name}", data)

    def remove(self, name: str) -> None:
        import fsspec

        fsspec.filesystem("memory").rm_file(f"/handbook/docs/{name}")


class Bucket:
    allow_private: frozenset[str] = frozenset()
    address = "s3://handbook/docs"

    def __init__(self, endpoint: str) -> None:
        import boto3

        self.client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
        self.client.create_bucket(Bucket="handbook")

    def write(self, name: str, data: bytes) -> None:
        self.client.put_object(Bucket="handbook", Key=f"docs/{name}", Body=data)

    def remove(self, name: str) -> None:
        self.client.delete_object(Bucket="handbook", Key=f"docs/{name}")


class Server(Folder):
    def __init__(self, root: Path, port: int) -> None:
        super().__init__(root, f"sftp://127.0.0.1:{port}/docs")
        self.allow_private = frozenset({f"127.0.0.1:{port}"})


class Repository:
    """A branch that is not checked out."""

    allow_private: frozenset[str] = frozenset()

    def __init__(self, root: Path) -> None:
        from dulwich.repo import Repo

        self.repo = Repo.init(str(root))
        self.files: dict[str, bytes] = {}
        self.address = f"git://{root}@team%2Fmain/docs"

    def _commit(self) -> None:
        from dulwich.index import commit_tree
        from dulwich.objects import Blob, Commit

        blobs = []
        for name, data in self.files.items():
            blob = Blob.from_string(data)
            self.repo.object_store.add_object(blob)
            blobs.append((f"docs/{name}".encode(), blob.id, 0o100644))
        commit = Commit()
        commit.tree = commit_tree(self.repo.object_store, blobs)
        commit.author = commit.committer = b"Ada <ada@acme.example>"
        commit.author_time = commit.commit_time = 0
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding, commit.message = b"UTF-8", b"Write it down"
        self.repo.object_store.add_object(commit)
        self.repo.refs[b"refs/heads/team/main"] = commit.id

    def write(self, name: str, data: bytes) -> None:
        self.files[name] = data
        self._commit()

    def remove(self, name: str) -> None:
        del self.files[name]
        self._commit()


KINDS = (
    "memory",
    "file",
    "git",
    pytest.param("s3", marks=pytest.mark.e2e),
    pytest.param("sftp", marks=pytest.mark.e2e),
)


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    match request.param:
        case "memory":
            memory = Memory()
            yield memory
            import fsspec

            with suppress(FileNotFoundError):
                fsspec.filesystem("memory").rm("/handbook", recursive=True)
        case "file":
            yield Folder(tmp_path)
        case "git":
            pytest.importorskip("dulwich")
            yield Repository(tmp_path)
        case "s3":
            pytest.importorskip("s3fs")
            pytest.importorskip("moto")
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
            with s3_server() as endpoint:
                monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
                yield Bucket(endpoint)
        case _:
            pytest.importorskip("paramiko")
            import fsspec

            monkeypatch.setitem(fsspec.config.conf, "sftp", {"username": "ada", "password": PASSWORD})
            with sftp_server(tmp_path) as port:
                yield Server(tmp_path, port)


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
