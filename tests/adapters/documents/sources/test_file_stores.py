"""Files in buckets, servers, repositories and folders: found, brought once, noticed when changed or gone.

Each kind of place is a real one: memory, a folder, an S3 server (moto), an SFTP server (paramiko), a git repository.
"""

import asyncio
import base64
import importlib.util
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import pytest

from adapters.documents.sources.connections import (
    HostGuard,
    Peer,
    connection_options,
    public_link,
    require_drivers,
    why_not_allowed,
)
from adapters.documents.sources.file_stores import FsspecFileStores
from core.model.errors import ConfigurationError, FetchRefused
from core.ports.sources import PageGone, StoredFile
from tests.adapters.documents.sources.github import Repository, github
from tests.adapters.documents.sources.places import KINDS, Place, open_place
from tests.adapters.documents.sources.servers import PASSWORD, sftp_server


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


@pytest.mark.parametrize(
    "name", ["Travel costs.md", "Über uns/C & A.md", "100% sure.md", "a+b=c.md", "No. #1.md", "Why?.md"]
)
async def test_a_file_is_read_whatever_people_call_it(place: Place, name: str) -> None:
    place.write(name, b"# One")
    place.write("b.md", b"# Two")
    address = f"{place.address}/{name}"
    assert set(await listed(place)) == {address, f"{place.address}/b.md"}
    found = await stores(place).read(address)
    assert found is not None
    assert (found[0].name, found[1]) == (name.rpartition("/")[2], b"# One")


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
        ("s3://other/docs", "is not allowed here"),
        ("file:///etc/passwd", "is not allowed here"),
        ("file:///srv/docs/../../etc/passwd", "must not contain"),
        ("file:///srv/docs/%2e%2e/secret", "must not contain"),
        ("file:///srv/docs-of-others/a.md", "is not allowed here"),
        ("sftp://ada:secret@files.example/docs", "Leave the password out"),
        ("simplecache::file:///srv/docs/a", "not the address of a file store"),
        ("file:///srv/docs/a::http://10.0.0.1/", "malformed"),
        ("https://example.org/docs", "not the address of a file store"),
        ("docs/a.md", "not the address of a file store"),
    ],
)
async def test_only_what_the_installation_names_may_be_read(address: str, why: str) -> None:
    allowed = ["s3://handbook", "file:///srv/docs", "sftp://"]
    assert why in (why_not_allowed(address, allowed) or "")
    with pytest.raises(FetchRefused, match=why):
        await FsspecFileStores(allowed).read(address)


def test_a_scheme_or_a_beginning_allows_what_is_below_it() -> None:
    allowed = ["s3://handbook", "sftp://", "github://acme:", "github://else:wiki", "git:///srv/wiki@", "ftp://files"]
    for address in (
        "s3://handbook", "s3://handbook/a/b.md", "sftp://files.example/docs", "S3://handbook/a.md",
        "github://acme:wiki@main/docs", "github://else:wiki@v2/docs", "git:///srv/wiki@main/docs", "ftp://files/a",
    ):  # fmt: skip
        assert why_not_allowed(address, allowed) is None, address
    for address in (
        "github://acme2:wiki@main", "github://else:wiki2@main", "git:///srv/wiki2@main", "ftp://files@evil.example/a",
        "ftp://files.evil.example/a", "ftp://files:21@evil.example/a",
    ):  # fmt: skip
        assert why_not_allowed(address, allowed) is not None, address


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


async def test_a_name_that_leads_inside_the_second_time_is_not_looked_up_a_second_time() -> None:
    """DNS rebinding: what was checked is what is connected to."""
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) > 1 else ["8.8.4.4", "8.8.8.8"]

    guard = HostGuard(("sftp://",), frozenset(), resolve)
    peer = await guard.check("sftp://rebinding.example:2222/docs/a.md")
    assert peer == Peer("rebinding.example", 2222, ("8.8.4.4", "8.8.8.8"))
    assert asked == ["rebinding.example"]
    with pytest.raises(FetchRefused, match="loopback"):
        await guard.check("sftp://rebinding.example:2222/docs/a.md")


@pytest.mark.e2e
async def test_the_connection_that_was_checked_is_the_one_that_is_read_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can look files.example up: that it is read from shows that the driver does not."""
    pytest.importorskip("paramiko")
    import fsspec

    monkeypatch.setitem(fsspec.config.conf, "sftp", {"username": "ada", "password": PASSWORD})
    (tmp_path / "a.md").write_text("# One")
    with sftp_server(tmp_path) as port:
        options = connection_options("sftp", Peer("files.example", port, ("127.0.0.1",)))
        system, path = fsspec.core.url_to_fs(f"sftp://files.example:{port}/a.md", skip_instance_cache=True, **options)
        assert system.cat_file(path) == b"# One"
        system.client.close()


@pytest.mark.e2e
async def test_servers_that_fall_silent_keep_no_other_place_from_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("paramiko")
    import fsspec

    monkeypatch.setitem(fsspec.config.conf, "sftp", {"username": "ada", "password": PASSWORD})
    monkeypatch.setattr("adapters.documents.sources.file_stores.SECONDS", 2.0)
    (tmp_path / "a.md").write_text("# One")
    answers = threading.Event()
    with sftp_server(tmp_path, answers=answers) as port:
        place = f"sftp://127.0.0.1:{port}"
        allowed = [place, f"file://{tmp_path}"]
        ours = FsspecFileStores(allowed, allow_private=frozenset({f"127.0.0.1:{port}"}))
        silent = await asyncio.gather(*(ours.read(f"{place}/a.md") for _ in range(8)), return_exceptions=True)
        assert {str(one) for one in silent} == {"sftp:// did not respond within 2 seconds."}
        read = None
        async with asyncio.timeout(60):
            while read is None:
                with suppress(FetchRefused):  # while the threads still wait
                    read = await ours.read(f"file://{tmp_path}/a.md")
        answers.set()
    assert read[1] == b"# One"


@pytest.mark.parametrize("kind", ["ftp", "smb", "webhdfs"])
async def test_a_driver_that_resolves_hosts_itself_reads_only_configured_hosts(kind: str) -> None:
    with pytest.raises(FetchRefused, match="only where SOURCE_ADDRESSES names it"):
        await FsspecFileStores([f"{kind}://"]).read(f"{kind}://files.example/docs/a.md")
    with pytest.raises(FetchRefused, match="private"):
        await FsspecFileStores([f"{kind}://10.1.2.3"]).read(f"{kind}://10.1.2.3/docs/a.md")


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("known", "policy", "why"),
    [
        ("this", "auto_add", None),
        ("another", "auto_add", "key differs"),
        ("none", "auto_add", None),
        ("this", "reject", None),
        ("none", "reject", "not in known_hosts"),
    ],
)
async def test_a_servers_key_is_held_against_known_hosts(
    known: str, policy: str, why: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paramiko = pytest.importorskip("paramiko")
    import fsspec

    conf = {"username": "ada", "password": PASSWORD, "host_key_policy": policy}
    monkeypatch.setitem(fsspec.config.conf, "sftp", conf)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# One")
    key = paramiko.ECDSAKey.generate()
    with sftp_server(tmp_path, key) as port:
        shown = {"this": key, "another": paramiko.ECDSAKey.generate()}.get(known)
        if shown is not None:
            (tmp_path / ".ssh").mkdir()
            line = f"[127.0.0.1]:{port} {shown.get_name()} {shown.get_base64()}\n"
            (tmp_path / ".ssh" / "known_hosts").write_text(line)
        stores = FsspecFileStores(["sftp://"], allow_private=frozenset({f"127.0.0.1:{port}"}))
        if why is None:
            assert await stores.read(f"sftp://127.0.0.1:{port}/docs/a.md") is not None
        else:
            with pytest.raises(FetchRefused, match=why):
                await stores.read(f"sftp://127.0.0.1:{port}/docs/a.md")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    """GitHub with one repository."""
    pytest.importorskip("requests")
    repository = Repository({}, "main")
    with github(repository) as (proxy, authority):
        for name, value in (("HTTPS_PROXY", proxy), ("https_proxy", proxy), ("REQUESTS_CA_BUNDLE", authority)):
            monkeypatch.setenv(name, value)
        yield repository


@pytest.mark.e2e
async def test_files_at_github_are_read_with_the_link_that_people_open(hub: Repository) -> None:
    hub.files.update({"README.md": b"# No", "docs/a b.md": b"# One", "docs/travel/ü.md": b"# Zwei"})
    stores = FsspecFileStores(["github://acme:"])
    found = [file async for file in stores.files("github://acme:wiki@main/docs", limit=10)]
    assert [(file.name, file.url) for file in found] == [
        ("a b.md", "https://github.com/acme/wiki/blob/main/docs/a%20b.md"),
        ("ü.md", "https://github.com/acme/wiki/blob/main/docs/travel/%C3%BC.md"),
    ]
    assert len(hub.asked) == 3, "one request for each folder"
    for file, text in zip(found, ["# One", "# Zwei"], strict=True):
        read = await stores.read(file.address)
        assert read is not None
        assert (read[0].version, read[1].decode()) == (file.version, text)


@pytest.mark.e2e
async def test_a_used_up_limit_of_requests_is_said_with_what_raises_it(hub: Repository) -> None:
    hub.files["docs/a.md"] = b"# One"
    hub.left = 0
    with pytest.raises(FetchRefused, match="rate limit is reached") as refused:
        await FsspecFileStores(["github://"]).read("github://acme:wiki@main/docs/a.md")
    assert "FSSPEC_GITHUB_TOKEN" in str(refused.value)


@pytest.mark.e2e
async def test_what_is_not_at_github_is_gone(hub: Repository) -> None:
    hub.files["docs/a.md"] = b"# One"
    for address in ("github://acme:wiki@main/docs/b.md", "github://acme:other@main/docs", "github://acme:wiki@v9/docs"):
        with pytest.raises(PageGone):
            await FsspecFileStores(["github://"]).read(address)


@pytest.mark.e2e
async def test_a_token_for_github_comes_from_the_environment(hub: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    hub.files["docs/a.md"] = b"# One"
    hub.authorization = "Basic " + base64.b64encode(b"ada:ghp_secret").decode()
    address = "github://acme:wiki@main/docs/a.md"
    with pytest.raises(PageGone):  # as GitHub says of private repositories
        await FsspecFileStores(["github://"]).read(address)
    conf: dict[str, dict[str, str]] = {}
    fsspec.config.set_conf_env(conf, {"FSSPEC_GITHUB_USERNAME": "ada", "FSSPEC_GITHUB_TOKEN": "ghp_secret"})
    monkeypatch.setitem(fsspec.config.conf, "github", conf["github"])
    assert await FsspecFileStores(["github://"]).read(address) is not None


async def test_a_driver_that_a_setting_names_reads_addresses_without_a_host() -> None:
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    class Team(MemoryFileSystem):  # type: ignore[misc]  # no types are published
        protocol = "team"
        store: ClassVar[dict[str, object]] = {}
        pseudo_dirs: ClassVar[list[str]] = [""]

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return f"/{path.removeprefix('team://').strip('/')}"

    fsspec.register_implementation("team", Team, clobber=True)
    Team(skip_instance_cache=True).pipe("/notes/a.md", b"# Text")
    unnamed = FsspecFileStores(["team://"])
    with pytest.raises(FetchRefused, match="SOURCE_ADDRESSES names it"):
        await unnamed.read("team://notes/a.md")
    named = FsspecFileStores(["team://"], drivers=require_drivers(frozenset({"team"})))
    found = await named.read("team://notes/a.md")
    assert found is not None
    assert found[1] == b"# Text"
    assert [file.name async for file in named.files("team://notes", limit=5)] == ["a.md"]


@pytest.mark.parametrize(
    "name", ["file", "local", "simplecache", "zip", "reference", "http", "dir", "sftp", "a::b", ""]
)
def test_drivers_that_lead_elsewhere_cannot_be_named(name: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot name"):
        require_drivers(frozenset({name}))
