"""Adapter for files in any store with an fsspec driver: buckets, servers, repositories and folders.

Credentials come from the environment, as each driver documents (AWS_*, GOOGLE_APPLICATION_CREDENTIALS,
FSSPEC_SFTP_PASSWORD …), never from an address. The host of an address must pass the same rules as the host of a link.
"""

import asyncio
import hashlib
import logging
import posixpath
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

from adapters.documents.sources.connections import (
    PINNED,
    HostGuard,
    Peer,
    connection_options,
    join_address,
    public_link,
    scheme_of,
    why_not_allowed,
)
from adapters.documents.web.address_policy import Resolve, resolve_with_system
from core.model.errors import FetchRefused
from core.ports.sources import PageGone, StoredFile

log = logging.getLogger(__name__)
T = TypeVar("T")

MAX_BYTES = 100 * 1024 * 1024
SECONDS = 120.0
"""Timeout of a listing, and of reading one file."""

_S3, _GCS, _AZURE = (f"pip install 'footnote[{extra}]'" for extra in ("s3", "gcs", "azure"))
PACKAGES = {
    "s3": _S3, "s3a": _S3, "gs": _GCS, "gcs": _GCS, "az": _AZURE, "abfs": _AZURE,
    "sftp": "pip install paramiko", "ssh": "pip install paramiko", "github": "pip install requests",
}  # fmt: skip
_KEEP_LISTINGS = frozenset(("s3", "s3a", "gs", "gcs", "az", "abfs"))
"""Schemes whose drivers cache listings for all callers unless disabled; the other drivers have no such option."""

_READ_AS_URLS = frozenset(("sftp", "ssh", "github"))
"""Schemes whose drivers cut the path at "#" and "?", which occur in file names."""

_URL_SIGNS = re.compile(r"[#?]")
_VERSIONS = ("ETag", "etag", "sha", "hex", "md5", "md5Hash", "content_settings_md5", "version_id", "generation")
_TIMES = ("LastModified", "last_modified", "mtime", "updated", "created")
_SKIPPED = frozenset(("node_modules", "__pycache__", "Thumbs.db"))


class FsspecFileStores:
    """Reader of fsspec addresses: lists files and returns their bytes.

    Args:
        allowed: prefixes of addresses that may be read.
        allow_private: 'host:port' of servers inside the internal network, as for links.
        resolve: resolves a host name and port to addresses.
        drivers: additional schemes whose addresses contain no host.
    """

    def __init__(
        self,
        allowed: Iterable[str] = (),
        *,
        allow_private: frozenset[str] = frozenset(),
        resolve: Resolve = resolve_with_system,
        drivers: frozenset[str] = frozenset(),
    ) -> None:
        self._allowed = tuple(allowed)
        self._hosts = HostGuard(self._allowed, allow_private, resolve, drivers)
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="footnote-sources")

    def refusal(self, address: str) -> str | None:
        """Return why this address may not be read, or None if it may."""
        return why_not_allowed(address, self._allowed)

    async def files(self, address: str, *, limit: int) -> AsyncIterator[StoredFile]:
        """Yield the files at and below an address. Raises FetchRefused, ``PageGone`` if there are none."""
        for file in await self._run_guarded(address, lambda peer: _list_files(address, peer, limit)):
            yield file

    async def read(self, address: str, *, version: str = "") -> tuple[StoredFile, bytes] | None:
        """Return a file and its bytes; None if it still has the given version. Raises FetchRefused, ``PageGone``."""
        return await self._run_guarded(address, lambda peer: _read(address, peer, version))

    async def _run_guarded(self, address: str, work: Callable[[Peer | None], T]) -> T:
        """Check the address, run ``work`` in a thread with a timeout, and translate errors to FetchRefused."""
        if reason := self.refusal(address):
            raise FetchRefused(reason)
        scheme = scheme_of(address)
        try:
            async with asyncio.timeout(SECONDS):
                peer = await self._hosts.check(address)
                return await asyncio.get_running_loop().run_in_executor(self._threads, work, peer)
        except FetchRefused:
            raise
        except TimeoutError as error:
            raise FetchRefused(f"{scheme}:// did not respond within {SECONDS:g} seconds.") from error
        except FileNotFoundError as error:
            raise PageGone("There is nothing at this address.") from error
        except ImportError as error:
            how = PACKAGES.get(scheme, "install its fsspec driver")
            raise FetchRefused(
                f"Addresses with {scheme}:// need a package that is not installed.", remedy=how
            ) from error
        except PermissionError as error:
            raise FetchRefused(
                "The server does not give Footnote permission to read this.", remedy=_CREDENTIALS
            ) from error
        except Exception as error:  # drivers raise many kinds of errors, and their texts may contain secrets
            log.warning("a source could not be read: %s %s", scheme, type(error).__name__)
            _raise_for_status(error)
            raise FetchRefused(
                f"This place could not be read ({type(error).__name__}).",
                remedy=f"Is the address right? {_CREDENTIALS}",
            ) from error


_CREDENTIALS = "Set its credentials in the environment of the server."


def _raise_for_status(error: Exception) -> None:
    """Raise FetchRefused for HTTP 401, 403 or 429 if the error has a response (requests)."""
    response = getattr(error, "response", None)
    status, headers = getattr(response, "status_code", 0), getattr(response, "headers", {})
    if status == 429 or (status == 403 and headers.get("x-ratelimit-remaining") == "0"):
        raise FetchRefused(
            "Its rate limit is reached. The next sync continues from here.",
            remedy=(
                "Set FSSPEC_GITHUB_USERNAME and FSSPEC_GITHUB_TOKEN to raise GitHub's limit from 60 to 5,000 calls"
                " an hour."
            ),
        ) from error
    if status in (401, 403):
        raise FetchRefused("The server does not give Footnote permission to read this.", remedy=_CREDENTIALS) from error


def _open(address: str, peer: Peer | None) -> tuple[Any, str]:
    """Return the file system of an address and the path in it, without cached instances."""
    import fsspec

    if scheme_of(address) == "git":
        from adapters.documents.sources.git_filesystem import GitFileSystem

        fsspec.register_implementation("git", GitFileSystem, clobber=True)
    options = connection_options(scheme_of(address), peer)
    if scheme_of(address) in _KEEP_LISTINGS:
        options["use_listings_cache"] = False
    sign = _URL_SIGNS.search(address) if scheme_of(address) in _READ_AS_URLS else None
    whole, rest = (address[: sign.start()], address[sign.start() :]) if sign else (address, "")
    system, path = fsspec.core.url_to_fs(whole, skip_instance_cache=True, **options)
    if scheme_of(address) in PINNED:  # without a timeout, paramiko blocks its thread forever on a silent server
        system.ftp.get_channel().settimeout(SECONDS)
    return system, f"{path}{rest}"


def _list_files(address: str, peer: Peer | None, limit: int) -> list[StoredFile]:
    system, root = _open(address, peer)
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


def _read(address: str, peer: Peer | None, version: str) -> tuple[StoredFile, bytes] | None:
    system, path = _open(address, peer)
    try:
        info = system.info(path)
        file = _stored_file(address, info, str(getattr(system, "remote", "")))
        if version and version == file.version:
            return None
        if (info.get("size") or 0) > MAX_BYTES:
            raise FetchRefused(f"It is larger than {MAX_BYTES // 2**20} MB, which is too much for one file.")
        in_url = scheme_of(address) == "github"  # the driver puts the path into a URL unescaped
        return file, system.cat_file(quote(path) if in_url else path)
    finally:
        _close(system)


def _stored_file(address: str, info: Mapping[str, Any], remote: str) -> StoredFile:
    return StoredFile(address, posixpath.basename(address), version_of(info), public_link(address, remote))


def version_of(info: Mapping[str, Any]) -> str:
    """Return a string that changes with the file: the store's hash, or its time and size."""
    stated = next((str(info[key]).strip('"') for key in _VERSIONS if info.get(key)), "")
    if not stated:
        time = next((_seconds(info[key]) for key in _TIMES if info.get(key) is not None), "")
        stated = f"{time} {info.get('size')}" if time else ""
    return hashlib.sha256(stated.encode()).hexdigest()[:32] if stated else ""


def _seconds(time: Any) -> str:
    """Return a time as text, the same for dates and numbers."""
    number = time.timestamp() if isinstance(time, datetime) else time
    return f"{number:.3f}" if isinstance(number, int | float) else str(number)


def _is_hidden(relative: str) -> bool:
    return any(part.startswith(".") or part in _SKIPPED for part in relative.split("/"))


def _close(system: Any) -> None:
    """Close the connection of drivers that hold one (paramiko)."""
    client = getattr(system, "client", None)
    if client is not None and hasattr(client, "close"):
        client.close()
