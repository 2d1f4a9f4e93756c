"""Places of every kind that keep files, each a real one: memory, folders, S3 (moto), SFTP (paramiko), git, and others.

Google's and Azure's are played by their emulators where those are installed (gcp-storage-emulator, azurite); GitHub by
a server behind a proxy, which speaks what GitHub documents of its API.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.adapters.documents.sources.github import github_proxy
from tests.adapters.documents.sources.servers import PASSWORD, azure_server, gcs_server, s3_server, sftp_server


class Place(Protocol):
    """A place of one kind: its address, and how its files are written and removed."""

    address: str
    allow_private: frozenset[str]

    def write(self, name: str, data: bytes) -> None:
        """Put a file there, or in the place of one."""

    def remove(self, name: str) -> None:
        """Take a file away."""


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


class Objects(Memory):
    """A bucket or a container, written through its own driver."""

    def __init__(self, address: str) -> None:
        self.address = f"{address}/docs"

    def write(self, name: str, data: bytes) -> None:
        self._system().pipe_file(f"{self.address}/{name}", data)

    def remove(self, name: str) -> None:
        self._system().rm_file(f"{self.address}/{name}")

    def _system(self) -> Any:
        import fsspec

        return fsspec.core.url_to_fs(self.address, skip_instance_cache=True)[0]


class OnGitHub(Memory):
    """A branch at GitHub, its name with a slash."""

    address = "github://acme:wiki@team%2Fmain/docs"

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    def write(self, name: str, data: bytes) -> None:
        self.files[f"docs/{name}"] = data

    def remove(self, name: str) -> None:
        del self.files[f"docs/{name}"]


Opening = Callable[[Path, pytest.MonkeyPatch], Iterator[Place]]


def _memory(_folder: Path, _patch: pytest.MonkeyPatch) -> Iterator[Place]:
    import fsspec

    yield Memory()
    with suppress(FileNotFoundError):
        fsspec.filesystem("memory").rm("/handbook", recursive=True)


def _folder(folder: Path, _patch: pytest.MonkeyPatch) -> Iterator[Place]:
    yield Folder(folder)


def _repository(folder: Path, _patch: pytest.MonkeyPatch) -> Iterator[Place]:
    pytest.importorskip("dulwich")
    yield Repository(folder)


def _bucket(_folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Place]:
    pytest.importorskip("s3fs")
    pytest.importorskip("moto")
    patch.setenv("AWS_ACCESS_KEY_ID", "key")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with s3_server() as endpoint:
        patch.setenv("AWS_ENDPOINT_URL", endpoint)
        yield Bucket(endpoint)


def _server(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Place]:
    pytest.importorskip("paramiko")
    import fsspec

    patch.setitem(fsspec.config.conf, "sftp", {"username": "ada", "password": PASSWORD})
    with sftp_server(folder) as port:
        yield Server(folder, port)


def _github(_folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Place]:
    pytest.importorskip("requests")
    files: dict[str, bytes] = {}
    with github_proxy(files, branch="team/main") as (proxy, authority):
        patch.setenv("HTTPS_PROXY", proxy)
        patch.setenv("https_proxy", proxy)
        patch.setenv("REQUESTS_CA_BUNDLE", authority)
        yield OnGitHub(files)


def _google(_folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Place]:
    patch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")  # is asked over gRPC, which no emulator speaks
    pytest.importorskip("gcsfs", reason="the gcs extra is not installed")
    pytest.importorskip("gcp_storage_emulator", reason="gcp-storage-emulator is not installed")
    import fsspec

    with gcs_server("handbook") as endpoint:
        patch.setenv("STORAGE_EMULATOR_HOST", endpoint)
        patch.setitem(fsspec.config.conf, "gs", {"token": "anon"})
        yield Objects("gs://handbook")


def _azure(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Place]:
    pytest.importorskip("adlfs", reason="the azure extra is not installed")
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("azurite is not installed (npm install azurite)")
    import fsspec

    with azure_server(program, folder) as connection:
        patch.setenv("AZURE_STORAGE_CONNECTION_STRING", connection)
        fsspec.filesystem("az", skip_instance_cache=True).mkdir("handbook")
        yield Objects("az://handbook")


OPENINGS: dict[str, Opening] = {
    "memory": _memory, "file": _folder, "git": _repository, "s3": _bucket, "sftp": _server, "github": _github,
    "gs": _google, "az": _azure,
}  # fmt: skip
KINDS = tuple(
    kind if kind in ("memory", "file", "git") else pytest.param(kind, marks=pytest.mark.e2e) for kind in OPENINGS
)


@contextmanager
def open_place(kind: str, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A place of this kind, empty. Skips the test, by name, where what it needs is not installed."""
    yield from OPENINGS[kind](folder, patch)
