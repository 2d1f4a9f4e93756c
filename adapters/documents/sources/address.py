"""Addresses of places that keep files, which of them are allowed, and the links that people can open instead.

Somebody who runs the installation names what may be read (`SOURCE_ADDRESSES`): whole schemes ('s3://') or one place
('file:///srv/handbook'). Whoever asks for a source in a conversation cannot go beyond that.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote, unquote, urlsplit

WITHOUT_HOST = frozenset(
    ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "github", "git", "file", "local", "memory")
)
"""Their addresses begin with a bucket, a repository or a path: the host behind them is not of a user's choice."""

_AT_A_BRANCH = frozenset(("github", "git"))
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_GITHUB = re.compile(r"github://([\w.-]+):([\w.-]+)@([^/]+)/?(.*)")


def scheme_of(address: str) -> str:
    """The scheme in lower case, '' for what has none."""
    match = _SCHEME.match(address)
    return match[1].lower() if match else ""


def host_of(address: str) -> str | None:
    """The host that an address names, for schemes that name one."""
    return None if scheme_of(address) in WITHOUT_HOST else urlsplit(address).hostname


def why_not_allowed(address: str, allowed: Iterable[str]) -> str | None:
    """Why an address may not be read, None when it may. ``allowed`` are the beginnings of those that may."""
    scheme = scheme_of(address)
    if not scheme or scheme in ("http", "https"):
        return "That is no address of a place that keeps files."
    if "::" in address or re.search(r"[\x00-\x1f\x7f\\]", address):
        return "That address is not written as one."
    if re.search(r"://[^/@]*:[^/@]*@", address) and scheme != "github":
        return "A password must not stand in an address; it belongs in the environment of the server."
    if ".." in unquote(address).split("/"):
        return "An address must not lead upwards."
    beginnings = [one for one in allowed if one]
    if any(_is_below(address, beginning) for beginning in beginnings):
        return None
    known = ", ".join(sorted(beginnings)) or "none"
    return f"This place is not among those that may be read here ({known}); SOURCE_ADDRESSES names them."


def _is_below(address: str, beginning: str) -> bool:
    scheme = scheme_of(address)
    lowered = f"{scheme}{address[len(scheme) :]}"
    ends = "/:@" if scheme in _AT_A_BRANCH else "/"  # elsewhere what stands before an @ is a name, and behind it a host
    if not lowered.startswith(beginning):
        return False
    return beginning[-1] in ends or lowered[len(beginning) :][:1] in ("", *ends)


def join_address(address: str, relative: str) -> str:
    """The address of something below another."""
    return f"{address.rstrip('/')}/{relative}" if relative else address


def public_link(address: str, remote: str = "") -> str | None:
    """Where a person can look at a file: at GitHub or GitLab, by its address or its repository's remote."""
    if match := _GITHUB.fullmatch(address):
        organisation, repository, ref, path = match.groups()
        return f"https://github.com/{organisation}/{repository}/blob/{quote(ref)}/{quote(path)}"
    match = re.fullmatch(r"(?:https://|git@|ssh://git@)([\w.-]+)[/:]([\w./-]+?)(?:\.git)?/?", remote)
    if match is None or match[1] not in ("github.com", "gitlab.com"):
        return None
    ref, _, path = address.partition("@")[2].partition("/")
    between = "blob" if match[1] == "github.com" else "-/blob"
    return f"https://{match[1]}/{match[2]}/{between}/{quote(unquote(ref))}/{quote(path)}"
