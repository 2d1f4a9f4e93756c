"""GitHub for the tests: its hosts behind a proxy of this machine, with what GitHub documents of trees and contents.

A program reaches it as it reaches GitHub from a company's network: HTTPS_PROXY names the proxy, REQUESTS_CA_BUNDLE the
authority that vouches for the hosts' names. Nothing of the driver is exchanged.
"""

import base64
import hashlib
import json
import ssl
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

GITHUB_HOSTS = ("api.github.com", "raw.githubusercontent.com")
CONTENTS_LIMIT = 1024 * 1024  # larger files have no content in the answer, only a link

Answer = tuple[int, dict[str, Any]]
NOT_FOUND: Answer = (
    404,
    {"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"},
)


class Repository:
    """A branch's files by path, as the API shows them."""

    def __init__(self, files: dict[str, bytes], branch: str) -> None:
        self.files, self.branch = files, branch
        self.left: int | None = None  # requests that may still be made; None: any number
        self.authorization: str | None = None  # what a request must say of itself to be shown anything
        self.asked: list[str] = []

    def answer(self, target: str, authorization: str | None) -> Answer:
        """What the API answers to a GET of this path and query."""
        url = urlsplit(target)
        self.asked.append(target)
        if self.authorization not in (None, authorization):
            return NOT_FOUND
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                return 403, {"message": "API rate limit exceeded for 203.0.113.7.", "status": "403"}
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        if parts[:1] != ["repos"] or parts[1:3] != ["acme", "wiki"]:
            return NOT_FOUND
        if parts[3:5] == ["git", "trees"] and len(parts) == 6:
            return self._tree(parts[5])
        if parts[3:4] == ["contents"] and parse_qs(url.query).get("ref") == [self.branch]:
            return self._contents("/".join(parts[4:]))
        return (200, {"default_branch": self.branch}) if len(parts) == 3 else NOT_FOUND

    def _folders(self) -> dict[str, str]:
        """The hash of every folder's tree by its path; the hash changes with what is below."""
        paths = {""} | {folder for name in self.files for folder in _parents(name)}
        return {
            path: _sha(path.encode() + b"".join(n.encode() + d for n, d in self.files.items() if _is_below(n, path)))
            for path in paths
        }

    def _tree(self, sha: str) -> Answer:
        folders = self._folders()
        at = "" if sha == self.branch else next((path for path, one in folders.items() if one == sha), None)
        if at is None:
            return NOT_FOUND
        entries: dict[str, dict[str, Any]] = {}
        for name, data in sorted(self.files.items()):
            if _is_below(name, at):
                head, _, more = name.removeprefix(f"{at}/" if at else "").partition("/")
                entries[head] = (
                    {"path": head, "mode": "040000", "type": "tree", "sha": folders[f"{at}/{head}".lstrip("/")]}
                    if more
                    else {"path": head, "mode": "100644", "type": "blob", "size": len(data), "sha": _sha(data)}
                )
        return 200, {"sha": folders[at], "tree": list(entries.values()), "truncated": False}

    def _contents(self, path: str) -> Answer:
        data = self.files.get(path)
        if data is None:
            return NOT_FOUND
        small = len(data) <= CONTENTS_LIMIT
        return 200, {
            "type": "file",
            "encoding": "base64" if small else "none",
            "content": base64.encodebytes(data).decode() if small else "",
            "size": len(data),
            "sha": _sha(data),
            "download_url": f"https://raw.githubusercontent.com/acme/wiki/{self.branch}/{path}",
        }


def _parents(name: str) -> list[str]:
    parts = name.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]


def _is_below(name: str, folder: str) -> bool:
    return not folder or name.startswith(f"{folder}/")


def _sha(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@contextmanager
def github_proxy(files: dict[str, bytes], *, branch: str) -> Iterator[tuple[str, str]]:
    """The proxy's address, and the file with the authority's certificate."""
    with github(Repository(files, branch)) as reached:
        yield reached


@contextmanager
def github(repository: Repository) -> Iterator[tuple[str, str]]:
    """The same for a repository at hand."""
    with tempfile.TemporaryDirectory() as folder:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*_certificates(Path(folder)))
        server = ThreadingHTTPServer(("127.0.0.1", 0), _proxy_handler(repository, context))
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", str(Path(folder, "authority.pem"))
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _proxy_handler(repository: Repository, context: ssl.SSLContext) -> type[BaseHTTPRequestHandler]:
    class Host(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body = repository.answer(self.path, self.headers["Authorization"])
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            if status == 403:
                self.send_header("x-ratelimit-remaining", "0")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is its parent's
            """Keep quiet."""

    class Proxy(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            if self.path.rpartition(":")[0] not in GITHUB_HOSTS:
                self.send_error(403)
                return
            self.send_response(200)
            self.end_headers()
            with context.wrap_socket(self.connection, server_side=True) as secured:
                Host(secured, self.client_address, self.server)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is its parent's
            """Keep quiet."""

    return Proxy


def _certificates(folder: Path) -> tuple[str, str]:
    """Files with the hosts' certificate and key; the authority's certificate lies beside them."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    now = datetime.now(UTC)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("Test authority", "github")]

    def certificate(of: int) -> "x509.Certificate":
        built = (
            x509.CertificateBuilder()
            .subject_name(names[of])
            .issuer_name(names[0])
            .public_key(keys[of].public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=of == 0, path_length=None), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(keys[0].public_key()), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(keys[of].public_key()), critical=False)
        )
        if of:
            hosts = x509.SubjectAlternativeName([x509.DNSName(host) for host in GITHUB_HOSTS])
            built = built.add_extension(hosts, critical=False)
        return built.sign(keys[0], hashes.SHA256())

    pem = serialization.Encoding.PEM
    (folder / "authority.pem").write_bytes(certificate(0).public_bytes(pem))
    (folder / "host.pem").write_bytes(certificate(1).public_bytes(pem))
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "host.key").write_bytes(keys[1].private_bytes(pem, *plain))
    return str(folder / "host.pem"), str(folder / "host.key")
