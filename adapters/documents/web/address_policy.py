"""Policy for the addresses that a fetch may connect to: only public unicast.

On Python 3.11 `ipaddress.is_global` allows multicast, NAT64 and a cloud's metadata address, and `is_private` misses
carrier-grade NAT. The special blocks are therefore listed here, from the IANA special-purpose address registries (RFC
6890 and its updates).
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable
from typing import TypeAlias

Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]

_V4_REFUSED = tuple(
    (ipaddress.IPv4Network(block), why)
    for block, why in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier-grade NAT"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a cloud's host service"),
        ("169.254.0.0/16", "link-local, where clouds keep their metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.31.196.0/24", "AS112"),
        ("192.52.193.0/24", "multicast tunnelling"),
        ("192.88.99.0/24", "6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("192.175.48.0/24", "AS112"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved or broadcast"),
    )
)
_V6_GLOBAL = ipaddress.IPv6Network("2000::/3")
_V6_REFUSED = tuple(
    (ipaddress.IPv6Network(block), why)
    for block, why in (
        ("::ffff:0:0/96", "an IPv4 address in disguise"),
        ("::ffff:0:0:0/96", "an IPv4 address in disguise"),
        ("64:ff9b::/96", "an IPv4 address in disguise (NAT64)"),
        ("64:ff9b:1::/48", "an IPv4 address in disguise (NAT64)"),
        ("2001::/32", "an IPv4 address in disguise (Teredo)"),
        ("2001::/23", "protocol assignments"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "an IPv4 address in disguise (6to4)"),
        ("2620:4f:8000::/48", "AS112"),
        ("3fff::/20", "documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
        ("::1/128", "loopback"),
    )
)
_LOCAL_NAMES = ("localhost", "localdomain", "local", "internal", "intranet", "lan", "home.arpa", "onion")
_NUMERIC_LABEL = re.compile(r"0[xX][0-9a-fA-F]*|\d+")


def address_refusal(address: str) -> str | None:
    """Return why connecting to this IP address is refused, or None if it is public unicast.

    Anything that is not a plain address (a scope id, a name) is refused too.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "not an address"
    if isinstance(parsed, ipaddress.IPv4Address):
        return next((why for block, why in _V4_REFUSED if parsed in block), None)
    return _why_v6_refused(parsed)


def _why_v6_refused(address: ipaddress.IPv6Address) -> str | None:
    if address.scope_id is not None:
        return "link-local"
    if why := next((why for block, why in _V6_REFUSED if address in block), None):
        return why
    if address not in _V6_GLOBAL:
        return "not public"
    if int(address) >> 32 & 0xFFFFFFFF in (0x00005EFE, 0x02005EFE):
        return "an IPv4 address in disguise (ISATAP)"
    return None


def host_refusal(host: str) -> str | None:
    """Return why a host is refused before DNS lookup (local names, unusual address notations), or None."""
    name = host.rstrip(".").lower()
    if not name:
        return "no host"
    if is_literal(name):
        return address_refusal(name)
    if ends_in_number(name):
        return "an address written in an unusual way"
    if any(name == local or name.endswith(f".{local}") for local in _LOCAL_NAMES):
        return "a name of this machine or network"
    return None


def is_literal(host: str) -> bool:
    """Return whether the host is an IP address in its usual form."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def ends_in_number(host: str) -> bool:
    """Return whether a resolver may read the host as an IPv4 address: 127.1, 2130706433, 0x7f000001, 0177.0.0.1.

    The rule of the WHATWG URL standard: the last label is a number.
    """
    last = host.rstrip(".").rpartition(".")[2]
    if _NUMERIC_LABEL.fullmatch(last):
        return True
    try:
        socket.inet_aton(host)
    except (OSError, UnicodeError):
        return False
    return True


async def resolve_with_system(host: str, port: int) -> list[str]:
    """Return every address of a name from the system's resolver."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port or None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))
