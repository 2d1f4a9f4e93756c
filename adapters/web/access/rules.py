"""The configured ways to sign in: by a link from the terminal, by a password, or by a proxy."""

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

READERS = str(Principal("web", PrincipalKind.READERS))  # the principal of everyone who has signed in
_OPERATOR, _USER = "web:operator", "web:user/"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# scrypt with slightly more than RFC 7914's parameters for interactive logins: 32 MB and about a tenth of a second.
_N, _R, _P, _MEMORY = 2**15, 8, 1, 64 * 1024 * 1024
_LONGEST_PASSWORD = 1_000
SHORTEST_PASSWORD = 8  # characters, the minimum of NIST SP 800-63B
_LONGEST_ADDRESS = 60  # an IPv6 address, with a port


@dataclass(frozen=True, slots=True)
class AccessRules:
    """The configured access to the page.

    ``password_hash`` is for admins, ``reader_password_hash`` for readers; both as ``hash_password`` writes them.
    ``identity_header`` is the header in which a proxy at one of the addresses ``proxies`` sends the user's name;
    ``admins`` are the admins among these names. ``address`` is where people reach the page, if not on this machine.
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
                "WEB_IDENTITY_HEADER is set, but WEB_PROXIES is not.",
                remedy="Set WEB_PROXIES to the addresses of the proxies that send the header.",
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
        """Raise Denied unless the Host header names this page, which prevents DNS rebinding."""
        name = host_of(f"//{host}")
        if name not in LOOPBACK and not (self.address and name == urlsplit(self.address).hostname):
            raise Denied(
                ("Footnote does not serve its page at this address."),
                remedy="Set WEB_ADDRESS to the address that people use.",
            )  # DNS rebinding

    @property
    def is_secure(self) -> bool:
        """Whether people reach the page over TLS."""
        return self.address.startswith("https://")

    def identity(self, peer: str, said: str) -> WebSession | None:
        """Return the session of the user that the proxy names; None if the request is not from a proxy."""
        name = said.strip()[:200]
        if not self.identity_header or not name or not _among(peer, self.proxies):
            return None
        person = Person(f"{_USER}{name}", name)
        is_admin = name.casefold() in {one.casefold() for one in self.admins}
        return _session(person, SignInMethod.PROXY, is_admin=is_admin)

    def client_address(self, peer: str, forwarded: str) -> str:
        """Return the client's address: behind our proxies, the last one in X-Forwarded-For that is not a proxy's."""
        passed = [one.strip() for one in forwarded.split(",")] if _among(peer, self.proxies) else []
        before = next((one for one in reversed(passed) if not _among(one, self.proxies)), "")
        return before[:_LONGEST_ADDRESS] or peer

    def of_password(self, given: str) -> WebSession | None:
        """Return the session for a password; None if it is wrong. Takes 0.1 s of CPU, so run it in a thread."""
        if self.password_hash and fits(given, self.password_hash):
            return _session(Person("web:admin", "admin"), SignInMethod.PASSWORD, is_admin=True)
        if self.reader_password_hash and fits(given, self.reader_password_hash):
            # The reader is anonymous, so each session has only its own questions.
            return _session(Person(f"web:reader/{secrets.token_hex(6)}", "reader"), SignInMethod.PASSWORD)
        return None


def host_of(address: str) -> str:
    """Return the host name in an untrusted address; empty if there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:  # "http://[::1"
        return ""


def operator() -> WebSession:
    """Return the session of the operator, who has the terminal's link and owns the data directory."""
    return _session(Person(_OPERATOR, "the operator"), SignInMethod.LINK, is_admin=True)


def audience_of(person: Person) -> Audience:
    """Return a person's audience on the page. It depends only on who they are, so it is never out of date."""
    if person.id == _OPERATOR:
        return Audience(unrestricted=True)
    named = (
        {str(Principal("web", PrincipalKind.USER, person.id.removeprefix(_USER)))}
        if person.id.startswith(_USER)
        else set()
    )
    # A proxy may name people by e-mail address. A password names nobody.
    mail = {mail_principal(person.id.removeprefix(_USER))} - {""} if named else set()
    return Audience(frozenset({READERS, *named, *mail}))


def _session(person: Person, method: SignInMethod, *, is_admin: bool = False) -> WebSession:
    return WebSession(person, method, is_admin=is_admin, csrf=secrets.token_urlsafe(18))


def hash_password(password: str) -> str:
    """Return the hash of a password, for a setting."""
    salt = secrets.token_bytes(16)
    return "$".join(("scrypt", _text(salt), _text(_derive_key(password, salt))))


def fits(password: str, kept: str) -> bool:
    """Return whether ``kept`` is the hash of this password."""
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
