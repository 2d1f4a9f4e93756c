"""Files in any place that fsspec has a driver for: one adapter for buckets, servers, repositories and folders.

Credentials come from where each driver documents them (AWS_*, GOOGLE_APPLICATION_CREDENTIALS, FSSPEC_SFTP_PASSWORD …):
from the environment, never from an address. A host that an address names is held to the same rules as a link's.
"""

import asyncio
import hashlib
import logging
import posixpath
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

from adapters.documents.sources.address import host_of, join_address, public_link, scheme_of, why_not_allowed
from adapters.documents.web.address_policy import is_literal, why_host_refused, why_refused
from core.model.errors import FetchRefused
from core.ports.file_stores import StoredFile
from core.ports.web import PageGone

log = logging.getLogger(__name__)
T = TypeVar("T")

MAX_BYTES = 100 * 1024 * 1024
SECONDS = 120.0
"""For a listing, and for one file."""

PORTS = {"sftp": 22, "ssh": 22, "ftp": 21, "smb": 445}
_S3, _GCS, _AZURE = (f"pip install 'footnote[{extra}]'" for extra in ("s3", "gcs", "azure"))
PACKAGES = {
    "s3": _S3, "s3a": _S3, "gs": _GCS, "gcs": _GCS, "az": _AZURE, "abfs": _AZURE,
    "sftp": "pip install paramiko", "ssh": "pip install paramiko", "github": "pip install requests",
}  # fmt: skip
_KEEP_LISTINGS = frozenset(("s3", "s3a", "gs", "gcs", "az", "abfs", "github"))
"""Their drivers keep what they listed unless they are told not to; the others know no such option."""

_VERSIONS = ("ETag", "etag", "sha", "hex", "md5", "md5Hash", "content_settings_md5", "version_id", "generation")
_TIMES = ("LastModified", "last_modified", "mtime", "updated", "created")
_SKIPPED = frozenset(("node_modules", "__pycache__", "Thumbs.db"))


class FsspecFileStores:
    """Lists and reads what an fsspec address stands for.

    Args:
        allowed: the beginnings of addresses that may be read.
        allow_private: 'host:port' of servers inside one's own network, as for links.
    """

    def __init__(self, allowed: Iterable[str] = (), *, allow_private: frozenset[str] = frozenset()) -> None:
        self._allowed = tuple(allowed)
        self._allow_private = allow_private
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="footnote-sources")

    def why_refused(self, address: str) -> str | None:
        """Why this address may not be read, None when it may."""
        return why_not_allowed(address, self._allowed)

    async def files(self, address: str, *, limit: int) -> AsyncIterator[StoredFile]:
        """The files at and below an address. Raises FetchRefused, ``Gone`` where there is nothing."""
        for file in await self._run_guarded(address, lambda: _list_files(address, limit)):
            yield file

    async def read(self, address: str, *, version: str = "") -> tuple[StoredFile, bytes] | None:
        """A file and its bytes; None when it is still of the version given. Raises FetchRefused, ``Gone``."""
        return await self._run_guarded(address, lambda: _read(address, version))

    async def _run_guarded(self, address: str, work: Callable[[], T]) -> T:
        """Do it in a thread, within its time, at an address that may be read, errors in our own words."""
        if reason := self.why_refused(address):
            raise FetchRefused(reason)
        await self._check_host(address)
        scheme = scheme_of(address)
        try:
            async with asyncio.timeout(SECONDS):
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except FetchRefused:
            raise
        except TimeoutError as error:
            raise FetchRefused(f"{scheme}:// did not answer within {SECONDS:g} seconds.") from error
        except FileNotFoundError as error:
            raise PageGone("There is nothing at this address (any more).") from error
        except ImportError as error:
            how = PACKAGES.get(scheme, "install its fsspec driver")
            raise FetchRefused(f"Addresses with {scheme}:// need a package that is not here.", remedy=how) from error
        except PermissionError as error:
            raise FetchRefused("The server does not let us read this.", remedy=_CREDENTIALS) from error
        except Exception as error:  # every driver has errors of its own; their texts may hold secrets
            log.warning("a source could not be read: %s %s", scheme, type(error).__name__)
            raise FetchRefused(
                f"This place could not be read ({type(error).__name__}).",
                remedy=f"Is the address right? {_CREDENTIALS}",
            ) from error

    async def _check_host(self, address: str) -> None:
        """Hold the host of an address to the rules for links. Raises FetchRefused."""
        scheme, host = scheme_of(address), host_of(address)
        if host is None:
            return
        port = urlsplit(address).port or PORTS.get(scheme, 0)
        if f"{host}:{port}" in self._allow_private:
            return
        if reason := why_host_refused(host):
            raise FetchRefused(reason)
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port or None, type=socket.SOCK_STREAM)
        except OSError as error:
            raise FetchRefused(f"There is no host called {host}.") from error
        for address_of_host in {str(one[4][0]) for one in found} | ({host} if is_literal(host) else set()):
            if reason := why_refused(address_of_host):
                raise FetchRefused(reason)


_CREDENTIALS = "Its credentials are taken from the environment of the server."


def _open(address: str) -> tuple[Any, str]:
    """The file system of an address and the path in it, nothing kept from earlier looks."""
    import fsspec

    if scheme_of(address) == "git":
        from adapters.documents.sources.git_filesystem import GitFileSystem

        fsspec.register_implementation("git", GitFileSystem, clobber=True)
    options = {"use_listings_cache": False} if scheme_of(address) in _KEEP_LISTINGS else {}
    found: tuple[Any, str] = fsspec.core.url_to_fs(address, skip_instance_cache=True, **options)
    return found


def _list_files(address: str, limit: int) -> list[StoredFile]:
    system, root = _open(address)
    try:
        top = system.info(root)
        entries = {root: top} if top["type"] == "file" else system.find(root, detail=True)
        if not entries:
            raise FileNotFoundError(address)
        remote = str(getattr(system, "remote", ""))
        files = []
        for path, info in sorted(entries.items()):
            relative = "" if path == root else str(path)[len(root) :].lstrip("/")
            if info.get("type") == "file" and not info.get("islink") and not _is_hidden(relative):
                files.append(_stored_file(join_address(address, relative), info, remote))
            if len(files) >= limit:
                break
        return files
    finally:
        _close(system)


def _read(address: str, version: str) -> tuple[StoredFile, bytes] | None:
    system, path = _open(address)
    try:
        info = system.info(path)
        file = _stored_file(address, info, str(getattr(system, "remote", "")))
        if version and version == file.version:
            return None
        if (info.get("size") or 0) > MAX_BYTES:
            raise FetchRefused(f"It is larger than {MAX_BYTES // 2**20} MB, more than is read from one file.")
        return file, system.cat_file(path)
    finally:
        _close(system)


def _stored_file(address: str, info: Mapping[str, Any], remote: str) -> StoredFile:
    return StoredFile(address, posixpath.basename(address), version_of(info), public_link(address, remote))


def version_of(info: Mapping[str, Any]) -> str:
    """What changes when the file does: the hash that its place keeps, else its time and size."""
    stated = next((str(info[key]).strip('"') for key in _VERSIONS if info.get(key)), "")
    if not stated:
        time = next((_seconds(info[key]) for key in _TIMES if info.get(key) is not None), "")
        stated = f"{time} {info.get('size')}" if time else ""
    return hashlib.sha256(stated.encode()).hexdigest()[:32] if stated else ""


def _seconds(time: Any) -> str:
    """A time as one text, whether a driver gives it as a date here and as a number there."""
    number = time.timestamp() if isinstance(time, datetime) else time
    return f"{number:.3f}" if isinstance(number, int | float) else str(number)


def _is_hidden(relative: str) -> bool:
    return any(part.startswith(".") or part in _SKIPPED for part in relative.split("/"))


def _close(system: Any) -> None:
    """Let go of a connection, for drivers that hold one (paramiko's)."""
    client = getattr(system, "client", None)
    if client is not None and hasattr(client, "close"):
        client.close()
