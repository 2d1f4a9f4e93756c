"""Who may sign in and how, as configured: by a link from the terminal, by a password, or as a proxy says."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from core.model.conversation import Audience, Person
from core.model.errors import ConfigurationError, Denied
from core.model.principals import Principal, PrincipalKind, mail_principal
from core.ports.access import SignInMethod, WebSession

READERS = str(Principal("web", PrincipalKind.READERS))  # the principal of everybody who has signed in
_OPERATOR, _USER = "web:operator", "web:user/"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# scrypt as RFC 7914 parametrises it for interactive logins, a little more: 32 MB and about a tenth of a second.
_N, _R, _P, _MEMORY = 2**15, 8, 1, 64 * 1024 * 1024
_LONGEST_PASSWORD = 1_000
SHORTEST_PASSWORD = 8  # characters, as NIST SP 800-63B requires at least
_LONGEST_ADDRESS = 60  # an IPv6 address, with a port


@dataclass(frozen=True, slots=True)
class AccessRules:
    """What opens the page.

    ``password_hash`` is an admin's, ``reader_password_hash`` a reader's; both as ``hash_password`` writes them.
    ``identity_header`` names the header in which a proxy at one of the addresses ``proxies`` says who somebody is;
    ``admins`` are the admins among those names. ``address`` is where people reach the page, if not on this machine.
    """

    password_hash: str = ""
    reader_password_hash: str = ""
    identity_header: str = ""
    proxies: Collection[str] = ()
    admins: Collection[str] = ()
    address: str = ""

    def __post_init__(self) -> None:
        if self.identity_header and not self.proxies:
            raise ConfigurationError(
                "WEB_IDENTITY_HEADER is set, but not which proxies may send it.",
                remedy="Set WEB_PROXIES to its addresses.",
            )
        for given in (self.password_hash, self.reader_password_hash):
            if given and not _parts(given):
                raise ConfigurationError(
                    "WEB_PASSWORD_HASH or WEB_READER_PASSWORD_HASH is not a password hash.",
                    remedy="footnote web --hash makes one.",
                )

    @property
    def takes_password(self) -> bool:
        """Whether there is a password to sign in with."""
        return bool(self.password_hash or self.reader_password_hash)

    def check_host(self, host: str) -> None:
        """Raise Denied unless a request's Host names this page: a foreign name that leads here is a trap."""
        name = host_of(f"//{host}")
        if name not in LOOPBACK and not (self.address and name == urlsplit(self.address).hostname):
            raise Denied("This page does not serve this address.", remedy="Set WEB_ADDRESS to it.")  # DNS rebinding

    @property
    def is_secure(self) -> bool:
        """Whether people reach the page over TLS."""
        return self.address.startswith("https://")

    def identity(self, peer: str, said: str) -> WebSession | None:
        """Whom the proxy names; None where it is not the proxy who says so."""
        name = said.strip()[:200]
        if not self.identity_header or not name or not _among(peer, self.proxies):
            return None
        person = Person(f"{_USER}{name}", name)
        is_admin = name.casefold() in {one.casefold() for one in self.admins}
        return _session(person, SignInMethod.PROXY, is_admin=is_admin)

    def client_address(self, peer: str, forwarded: str) -> str:
        """Where a request began: for a proxy of ours the last address in X-Forwarded-For that is none of them."""
        passed = [one.strip() for one in forwarded.split(",")] if _among(peer, self.proxies) else []
        before = next((one for one in reversed(passed) if not _among(one, self.proxies)), "")
        return before[:_LONGEST_ADDRESS] or peer

    def of_password(self, given: str) -> WebSession | None:
        """Whom the password lets in. Takes a tenth of a second of a core: for a thread."""
        if self.password_hash and fits(given, self.password_hash):
            return _session(Person("web:admin", "admin"), SignInMethod.PASSWORD, is_admin=True)
        if self.reader_password_hash and fits(given, self.reader_password_hash):
            # Nobody knows which of the readers it is: each session is alone with its questions.
            return _session(Person(f"web:reader/{secrets.token_hex(6)}", "reader"), SignInMethod.PASSWORD)
        return None


def host_of(address: str) -> str:
    """Return the name in an address that anybody may have written; empty where there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:  # "http://[::1"
        return ""


def operator() -> WebSession:
    """Who holds the link from the terminal: they own the data directory anyway."""
    return _session(Person(_OPERATOR, "the operator"), SignInMethod.LINK, is_admin=True)


def audience_of(person: Person) -> Audience:
    """Who somebody at the page is to grants. It follows from who they are alone, so that it is never out of date."""
    if person.id == _OPERATOR:
        return Audience(unrestricted=True)
    named = (
        {str(Principal("web", PrincipalKind.USER, person.id.removeprefix(_USER)))}
        if person.id.startswith(_USER)
        else set()
    )
    # A proxy that signs people in by their e-mail addresses names them so; a password names nobody.
    mail = {mail_principal(person.id.removeprefix(_USER))} - {""} if named else set()
    return Audience(frozenset({READERS, *named, *mail}))


def _session(person: Person, method: SignInMethod, *, is_admin: bool = False) -> WebSession:
    return WebSession(person, method, is_admin=is_admin, csrf=secrets.token_urlsafe(18))


def hash_password(password: str) -> str:
    """Return the password as a setting may hold it."""
    salt = secrets.token_bytes(16)
    return "$".join(("scrypt", _text(salt), _text(_derive_key(password, salt))))


def fits(password: str, kept: str) -> bool:
    """Whether this is the password of which ``kept`` is the hash."""
    parts = _parts(kept)
    if not parts or len(password) > _LONGEST_PASSWORD:
        return False
    salt, digest = parts
    return hmac.compare_digest(_derive_key(password, salt), digest)


def _parts(kept: str) -> tuple[bytes, bytes] | None:
    try:
        name, salt, digest = kept.split("$")
        return (base64.urlsafe_b64decode(salt), base64.urlsafe_b64decode(digest)) if name == "scrypt" else None
    except ValueError:
        return None


def _derive_key(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=_N, r=_R, p=_P, maxmem=_MEMORY, dklen=32)


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode()


def _among(peer: str, proxies: Collection[str]) -> bool:
    try:
        return ip_address(peer) in {ip_address(one) for one in proxies}
    except ValueError:
        return False
