"""Google Drive, its token endpoint and its directory on one real socket, with bad days on demand.

Paths and parameters are those of Google's discovery documents (drive v3, directory_v1); every other one is a violation.
The signature of a service account's token is verified with its public key.
"""

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import Any, Self

from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from docx import Document

ACCOUNT, ADMIN = "footnote@project.iam.gserviceaccount.com", "admin@example.org"
STAFF = "staff@example.org"
DOCUMENT = "application/vnd.google-apps.document"
EVERYWHERE = {"alt", "fields", "key", "prettyPrint", "quotaUser"}  # parameters of every method
PARAMETERS = {
    r"/drive/v3/about": set[str](),
    r"/drive/v3/files": {
        "corpora", "driveId", "includeItemsFromAllDrives", "orderBy", "pageSize", "pageToken", "q", "spaces",
        "supportsAllDrives",
    },
    r"/drive/v3/files/[^/]+": {"acknowledgeAbuse", "supportsAllDrives"},
    r"/drive/v3/files/[^/]+/export": {"mimeType"},
    r"/drive/v3/files/[^/]+/permissions": {"pageSize", "pageToken", "supportsAllDrives", "useDomainAdminAccess"},
    r"/admin/directory/v1/groups/[^/]+/members": {"includeDerivedMembership", "maxResults", "pageToken", "roles"},
}  # fmt: skip


@cache
def private_key() -> RSAPrivateKey:
    """Return the key of the service account."""
    return generate_private_key(65_537, 2_048)


def key_file() -> str:
    """Return the JSON that the Google Cloud console would have given."""
    pem = private_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return json.dumps({"type": "service_account", "client_email": ACCOUNT, "private_key_id": "k1", "private_key": pem})


def user(name: str, **more: Any) -> dict[str, Any]:
    """Return a permission of one person."""
    return {"id": f"p-{name}", "type": "user", "role": "reader", "emailAddress": f"{name}@example.org", **more}


def group(address: str = STAFF, **more: Any) -> dict[str, Any]:
    """Return a permission of a group."""
    return {"id": f"p-{address}", "type": "group", "role": "reader", "emailAddress": address, **more}


@dataclass
class File:
    """A file; ``edited`` counts minutes. One in a shared ``drive`` is listed without its permissions."""

    id: str
    name: str
    text: str
    edited: int
    permissions: list[dict[str, Any]] | None
    kind: str = DOCUMENT
    drive: str = ""
    is_trashed: bool = False


@dataclass
class FakeDrive:
    """See the module. ``faults`` are answered to the next calls, one each: a status and headers, or None for a pass."""

    page_size: int = 3
    files: dict[str, File] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=lambda: {STAFF: ["ada", "bo"]})
    faults: list[tuple[int, dict[str, str]] | None] = field(default_factory=list)
    refusal: str = ""  # the reason in the body of the next 403 of a fault
    is_revoked: bool = False
    is_incomplete: bool = False
    allows_groups: bool = True
    duplicates: bool = False
    too_large: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)  # Drive answers 500 for their content
    expired_tokens: bool = False  # of pages
    before_answer: Callable[[int], None] | None = None
    calls: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    minute: int = 0
    _listings: int = 0

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/token", self._token)
        app.router.add_get("/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def add_file(self, file_id: str, name: str, text: str, **more: Any) -> File:
        """Add a file that the group of all staff may read, unless it says otherwise."""
        self.minute += 1
        made = File(file_id, name, text, self.minute, more.pop("permissions", [group()]), **more)
        self.files[file_id] = made
        return made

    async def _token(self, request: web.Request) -> web.Response:
        """Exchange a signed token, as RFC 7523 says: a form with an assertion."""
        self.calls.append(request.path)
        given = await request.post()
        claims = _verified(str(given.get("assertion", "")))
        if (
            request.content_type != "application/x-www-form-urlencoded"
            or given.get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer"
            or claims is None
            or claims["aud"] != f"{self.url}/token"
            or not 0 < claims["exp"] - claims["iat"] <= 3_600
            or claims["iss"] != ACCOUNT
        ):
            return web.json_response({"error": "invalid_grant"}, status=400)
        if "directory" in claims["scope"] and (not self.allows_groups or claims.get("sub") != ADMIN):
            return web.json_response({"error": "unauthorized_client"}, status=401)
        return web.json_response({"access_token": claims["scope"], "token_type": "Bearer", "expires_in": 3_599})

    async def _answer(self, request: web.Request) -> web.Response:
        path = request.path
        self.calls.append(path)
        fault = self.faults.pop(0) if self.faults else None
        if "pageToken" in request.query and self.expired_tokens:
            fault = (400, {})
        if fault is not None:
            return _error(fault[0], self.refusal, fault[1])
        scope = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.is_revoked or ("directory" if path.startswith("/admin") else "drive.readonly") not in scope:
            return _error(401, "authError")
        self._check(path, set(request.query))
        if path == "/drive/v3/about":
            return web.json_response({"user": {"displayName": "Footnote", "emailAddress": ACCOUNT}})
        if path == "/drive/v3/files":
            return web.json_response(self._list(request.query))
        if path.startswith("/admin"):
            people = self.members.get(path.split("/")[5], [])
            found = [{"type": "USER", "status": "ACTIVE", "email": f"{one}@example.org"} for one in people]
            return web.json_response({"kind": "admin#directory#members", "members": found})
        return self._file(path, request.query)

    def _file(self, path: str, query: Any) -> web.Response:
        _, _, _, _, file_id, *rest = path.split("/")
        file = self.files.get(file_id)
        if file is None:
            return _error(404, "notFound")
        if rest == ["permissions"]:
            if file.permissions is None:
                return _error(403, "insufficientFilePermissions")
            return web.json_response({"permissions": file.permissions})
        if rest == ["export"] or query.get("alt") == "media":
            if (rest == ["export"]) is not (file.kind == DOCUMENT):
                self.violations.append(f"{file.kind} is not read by {path}")
            if file.id in self.broken | self.too_large:
                return _error(500 if file.id in self.broken else 403, "exportSizeLimitExceeded")
            return web.Response(body=_word(file.text) if rest else file.text.encode())
        return web.json_response(_object(file))

    def _list(self, query: Any) -> dict[str, Any]:
        self._listings += 1
        if self.before_answer is not None:
            self.before_answer(self._listings)
        there = [one for one in self.files.values() if not one.is_trashed]
        if query["corpora"] == "drive":
            there = [one for one in there if one.drive == query["driveId"]]
        start, size = int(query.get("pageToken") or 0), min(int(query.get("pageSize", 100)), self.page_size)
        first = max(0, start - 1) if self.duplicates else start
        page: dict[str, Any] = {
            "incompleteSearch": self.is_incomplete,
            "files": [_object(one) for one in there[first : start + size]],
        }
        return page | ({"nextPageToken": str(start + size)} if start + size < len(there) else {})

    def _check(self, path: str, given: set[str]) -> None:
        known = next((names for one, names in PARAMETERS.items() if re.fullmatch(one, path)), None)
        if known is None:
            self.violations.append(f"there is no {path}")
        elif unknown := given - known - EVERYWHERE:
            self.violations.append(f"{path} knows no {', '.join(sorted(unknown))}")


def _object(file: File) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": file.id, "name": file.name, "mimeType": file.kind, "trashed": file.is_trashed,
        "modifiedTime": f"2026-01-05T{file.edited // 60:02}:{file.edited % 60:02}:00.000Z",
        "webViewLink": f"https://docs.google.com/document/d/{file.id}/edit",
    }  # fmt: skip
    if file.drive:
        return found | {"driveId": file.drive}
    return found | ({} if file.permissions is None else {"permissions": file.permissions})


def _error(status: int, reason: str, headers: dict[str, str] | None = None) -> web.Response:
    body = {"error": {"code": status, "errors": [{"domain": "global", "reason": reason}]}}
    return web.json_response(body, status=status, headers=headers)


def _word(text: str) -> bytes:
    document, written = Document(), BytesIO()
    document.add_paragraph(text)
    document.save(written)
    return written.getvalue()


def _verified(assertion: str) -> dict[str, Any] | None:
    """Return the claims of a token that our key has signed."""
    try:
        header, claims, signature = (urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in assertion.split("."))
        signed = assertion.rpartition(".")[0].encode()
        private_key().public_key().verify(signature, signed, PKCS1v15(), SHA256())
    except (ValueError, InvalidSignature):
        return None
    found: dict[str, Any] = json.loads(claims)
    return found if json.loads(header)["alg"] == "RS256" else None
