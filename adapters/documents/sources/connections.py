"""Access rules for file stores: which addresses may be read, and where a driver may connect.

The operator lists what may be read (`SOURCE_ADDRESSES`): whole schemes ('s3://') or one place ('file:///srv/handbook').
Users cannot add addresses beyond that. A host is resolved once, and the connection goes to the resolved address.
fsspec's drivers resolve names themselves, and the second lookup may return another address (DNS rebinding). paramiko
accepts an open connection. Other drivers with a host do not, so SOURCE_ADDRESSES must name their host.
"""

import logging
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from adapters.documents.web.address_policy import (
    Resolve,
    address_refusal,
    host_refusal,
    is_literal,
    resolve_with_system,
)
from core.model.errors import ConfigurationError, FetchRefused

WITHOUT_HOST = frozenset(
    ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "github", "git", "file", "local", "memory")
)
"""Schemes whose addresses begin with a bucket, a repository or a path; users cannot choose the host."""

_AT_A_BRANCH = frozenset(("github", "git"))
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_GITHUB = re.compile(r"github://([\w.-]+):([\w.-]+)@([^/]+)/?(.*)")


def scheme_of(address: str) -> str:
    """Return the scheme in lower case, or '' if there is none."""
    match = _SCHEME.match(address)
    return match[1].lower() if match else ""


def host_of(address: str) -> str | None:
    """Return the host of an address, or None for schemes without a host."""
    return None if scheme_of(address) in WITHOUT_HOST else urlsplit(address).hostname


def why_not_allowed(address: str, allowed: Iterable[str]) -> str | None:
    """Return why an address may not be read, or None if it may. ``allowed`` holds the permitted address prefixes."""
    scheme = scheme_of(address)
    if not scheme or scheme in ("http", "https"):
        return "That is not the address of a file store."
    if "::" in address or re.search(r"[\x00-\x1f\x7f\\]", address):
        return "That address is malformed."
    if re.search(r"://[^/@]*:[^/@]*@", address) and scheme != "github":
        return "Leave the password out of the address and set it in the server's environment."
    if ".." in unquote(address).split("/"):
        return "An address must not contain “..”."
    beginnings = [one for one in allowed if one]
    if any(_is_below(address, beginning) for beginning in beginnings):
        return None
    known = ", ".join(sorted(beginnings)) or "none"
    return f"This address is not allowed here ({known}). SOURCE_ADDRESSES lists the allowed ones."


def _is_below(address: str, beginning: str) -> bool:
    scheme = scheme_of(address)
    lowered = f"{scheme}{address[len(scheme) :]}"
    ends = "/:@" if scheme in _AT_A_BRANCH else "/"  # elsewhere a user name precedes the @ and a host follows
    if not lowered.startswith(beginning):
        return False
    return beginning[-1] in ends or lowered[len(beginning) :][:1] in ("", *ends)


def join_address(address: str, relative: str) -> str:
    """Return the address of a path below another address."""
    return f"{address.rstrip('/')}/{relative}" if relative else address


def public_link(address: str, remote: str = "") -> str | None:
    """Return a web link to a file on GitHub or GitLab, from its address or its repository's remote, or None."""
    if match := _GITHUB.fullmatch(address):
        organisation, repository, ref, path = match.groups()
        return f"https://github.com/{organisation}/{repository}/blob/{quote(ref)}/{quote(path)}"
    match = re.fullmatch(r"(?:https://|git@|ssh://git@)([\w.-]+)[/:]([\w./-]+?)(?:\.git)?/?", remote)
    if match is None or match[1] not in ("github.com", "gitlab.com"):
        return None
    ref, _, path = address.partition("@")[2].partition("/")
    between = "blob" if match[1] == "github.com" else "-/blob"
    return f"https://{match[1]}/{match[2]}/{between}/{quote(unquote(ref))}/{quote(path)}"


log = logging.getLogger(__name__)

PINNED = frozenset(("sftp", "ssh"))
PORTS = {"sftp": 22, "ssh": 22, "ftp": 21, "smb": 445}
CONNECT_SECONDS = 20.0
KNOWN_HOSTS = ("~/.ssh/known_hosts", "/etc/ssh/ssh_known_hosts")

_UNFIT = WITHOUT_HOST | {
    "http", "https", "data", "dir", "zip", "tar", "libarchive", "archive", "reference", "simplecache", "filecache",
    "blockcache", "cached", "asynclocal", "jupyter", "jlab", "async_wrapper", "arrow_hdfs", "hdfs", "dask", "generic",
}  # fmt: skip
"""Drivers that SOURCE_DRIVERS must not name: built in, chained, local, or with a host from the address."""


def require_drivers(names: frozenset[str]) -> frozenset[str]:
    """Return these driver names. Raises ConfigurationError for a driver that is chained, local or built in."""
    for one in sorted(names):
        if one in _UNFIT or one in PORTS or not re.fullmatch(r"[a-z][a-z0-9+.-]*", one):
            raise ConfigurationError(
                f"SOURCE_DRIVERS cannot name {one[:40]}.",
                remedy=(
                    "Use drivers of a single remote service, such as hf or dropbox. Chained and local drivers are"
                    " not allowed."
                ),
            )
    return names


@dataclass(frozen=True, slots=True)
class Peer:
    """The host of an address and the checked addresses to connect to; if empty, the driver resolves the host."""

    host: str
    port: int
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HostGuard:
    """Checker that applies the rules for links to the hosts of file stores.

    ``allowed`` holds permitted address prefixes, ``allow_private`` 'host:port' of servers inside the internal network,
    which are trusted without a check. ``drivers`` are schemes whose addresses contain no host.
    """

    allowed: tuple[str, ...]
    allow_private: frozenset[str]
    resolve: Resolve = resolve_with_system
    drivers: frozenset[str] = frozenset()

    async def check(self, address: str) -> Peer | None:
        """Return where to connect for this address, or None if its scheme has no host. Raises FetchRefused."""
        scheme, host = scheme_of(address), host_of(address)
        if host is None or scheme in self.drivers:
            return None
        port = urlsplit(address).port or PORTS.get(scheme, 0)
        if f"{host}:{port}" in self.allow_private:
            return Peer(host, port)
        if scheme not in PINNED and host not in _hosts(self.allowed):
            raise FetchRefused(
                f"The host of a {scheme}:// address is read only where SOURCE_ADDRESSES names it: {scheme}://{host}."
            )
        return Peer(host, port, await self._addresses(host, port))

    async def _addresses(self, host: str, port: int) -> tuple[str, ...]:
        if reason := host_refusal(host):
            raise FetchRefused(reason)
        try:
            found = {host} if is_literal(host) else set(await self.resolve(host, port))
        except OSError as error:
            raise FetchRefused(f"There is no host called {host}.") from error
        for address in found:
            if reason := address_refusal(address):
                raise FetchRefused(reason)
        return tuple(sorted(found))


def _hosts(allowed: Iterable[str]) -> set[str]:
    return {host for one in allowed if (host := host_of(one))}


def connection_options(scheme: str, peer: Peer | None) -> dict[str, Any]:
    """Return options that make a driver connect only to the checked peer. Raises OSError."""
    if peer is None or scheme not in PINNED:
        return {}
    options: dict[str, Any] = {"host_key_policy": _host_keys(), "channel_timeout": CONNECT_SECONDS}
    if peer.addresses:
        options["sock"] = _connect(peer)
    return options


def _connect(peer: Peer) -> socket.socket:
    """Connect to the first checked address that answers. Raises OSError."""
    failure: OSError = ConnectionRefusedError(f"{peer.host} has no address")
    for address in peer.addresses:
        try:
            return socket.create_connection((address, peer.port), CONNECT_SECONDS)
        except OSError as error:
            failure = error
    raise failure


def _host_keys() -> Any:
    """Return a host key policy based on ``known_hosts``: refuse changed keys, and unknown keys only in strict mode.

    Strict mode is FSSPEC_SFTP_HOST_KEY_POLICY=reject. The driver's own strict mode does not read ``known_hosts``.
    """
    from pathlib import Path

    import fsspec
    import paramiko

    strict = fsspec.config.conf.get("sftp", {}).get("host_key_policy") == "reject"
    known = paramiko.HostKeys()
    for name in KNOWN_HOSTS:
        path = Path(name).expanduser()
        if path.is_file():
            known.load(str(path))

    class KnownHosts(paramiko.MissingHostKeyPolicy):  # type: ignore[misc]  # no types are published
        def missing_host_key(self, client: Any, hostname: str, key: Any) -> None:
            if known.check(hostname, key):
                return
            if known.lookup(hostname) is not None:
                raise FetchRefused(
                    f"The server's key differs from the one in known_hosts for {hostname}. It may be a different"
                    " server.",
                    remedy="If the server was reinstalled, replace its line in known_hosts.",
                )
            if strict:
                raise FetchRefused(
                    f"The key of {hostname} is not in known_hosts.", remedy="ssh-keyscan prints a line for it."
                )
            log.warning("the key of an SFTP server is not in known_hosts, and is taken as it is: %s", hostname)

    return KnownHosts()
