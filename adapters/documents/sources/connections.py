"""Where a driver may connect, settled before it does: a host is looked up once, and the connection goes where it led.

fsspec's drivers look names up by themselves, and a name can lead elsewhere the second time (DNS rebinding). paramiko
takes a connection that is made already. The other drivers whose addresses name a host take none, so that whoever asks
may not choose it: whoever runs the installation names it.
"""

import asyncio
import logging
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from adapters.documents.sources.address import WITHOUT_HOST, host_of, scheme_of
from adapters.documents.web.address_policy import address_refusal, host_refusal, is_literal
from core.model.errors import ConfigurationError, FetchRefused

log = logging.getLogger(__name__)

PINNED = frozenset(("sftp", "ssh"))
PORTS = {"sftp": 22, "ssh": 22, "ftp": 21, "smb": 445}
CONNECT_SECONDS = 20.0
KNOWN_HOSTS = ("~/.ssh/known_hosts", "/etc/ssh/ssh_known_hosts")

_UNFIT = WITHOUT_HOST | {
    "http", "https", "data", "dir", "zip", "tar", "libarchive", "archive", "reference", "simplecache", "filecache",
    "blockcache", "cached", "asynclocal", "jupyter", "jlab", "async_wrapper", "arrow_hdfs", "hdfs", "dask", "generic",
}  # fmt: skip
"""Drivers that need no naming, and those that lead to other drivers, to this machine or to a caller's host."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


def require_drivers(names: frozenset[str]) -> frozenset[str]:
    """Return these names of drivers. Raises ConfigurationError for one that leads elsewhere."""
    for one in sorted(names):
        if one in _UNFIT or one in PORTS or not re.fullmatch(r"[a-z][a-z0-9+.-]*", one):
            raise ConfigurationError(
                f"SOURCE_DRIVERS cannot name {one[:40]}.",
                remedy="It names drivers of one service each, such as hf or dropbox; no chained and no local ones.",
            )
    return names


async def resolve_with_system(host: str, port: int) -> Sequence[str]:
    """Every address of a name, by the system's resolver. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port or None, type=socket.SOCK_STREAM)
    return sorted({str(one[4][0]) for one in found})


@dataclass(frozen=True, slots=True)
class Peer:
    """The host of an address, and the checked addresses that a connection may go to; none: as the driver finds it."""

    host: str
    port: int
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HostGuard:
    """Holds hosts to the rules for links.

    ``allowed`` are the beginnings of addresses that may be read, ``allow_private`` 'host:port' of servers inside one's
    own network; what is named there is trusted as it stands. ``drivers`` are schemes whose addresses name no host.
    """

    allowed: tuple[str, ...]
    allow_private: frozenset[str]
    resolve: Resolve = resolve_with_system
    drivers: frozenset[str] = frozenset()

    async def check(self, address: str) -> Peer | None:
        """Where a connection to this address may go, None where its scheme names no host. Raises FetchRefused."""
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
    """What a driver is given so that it connects to the peer that was checked, and to nothing else. Raises OSError."""
    if peer is None or scheme not in PINNED:
        return {}
    options: dict[str, Any] = {"host_key_policy": _host_keys(), "channel_timeout": CONNECT_SECONDS}
    if peer.addresses:
        options["sock"] = _connect(peer)
    return options


def _connect(peer: Peer) -> socket.socket:
    """A connection to the first of the checked addresses that answers. Raises OSError."""
    failure: OSError = ConnectionRefusedError(f"{peer.host} has no address")
    for address in peer.addresses:
        try:
            return socket.create_connection((address, peer.port), CONNECT_SECONDS)
        except OSError as error:
            failure = error
    raise failure


def _host_keys() -> Any:
    """Server keys as ``known_hosts`` has them: another one is refused, an unknown one only where the driver is told so.

    That is FSSPEC_SFTP_HOST_KEY_POLICY=reject; the driver's own reading of it knows no file.
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
                    f"The server shows another key than known_hosts has of {hostname}: it may not be who it says.",
                    remedy="If the server was set up anew, replace its line in known_hosts.",
                )
            if strict:
                raise FetchRefused(
                    f"The key of {hostname} is not in known_hosts.", remedy="ssh-keyscan prints a line for it."
                )
            log.warning("the key of an SFTP server is not in known_hosts, and is taken as it is: %s", hostname)

    return KnownHosts()
