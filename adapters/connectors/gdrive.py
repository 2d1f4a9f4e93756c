"""Google Drive: Docs, Sheets, Slides and files in My Drive and shared drives, with the readers of each file.

A permission change does not change a file. So each round lists all files, up to 100 per call with their permissions.
For files in shared drives the list omits permissions, which are read with one call per file. API:
https://developers.google.com/workspace/drive/api/reference/rest/v3. A service account signs in with a JWT signed by its
key (RFC 7523, https://developers.google.com/identity/protocols/oauth2/service-account).
"""

import json
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adapters.connectors.http import call_for_each, fetched, pages_of
from core.model.errors import ConfigurationError, NotFound, RightMissing, SourceRefused, SourceUnavailable
from core.ports.connector import (
    ANYONE,
    EVERYONE_IN_SITE,
    ChangePage,
    Connector,
    ConnectorPlugin,
    Content,
    FetchFailure,
    Http,
    OpenHttp,
    ReaderSet,
    SettingField,
    SourceCheck,
    SourceItem,
    SourcePerson,
)

LISTED = 100  # files per call; Drive returns no more together with permissions
BATCH = 20
MEMBERS = 200
NOBODY = ReaderSet()
TOKEN_SECONDS = 3_600
DRIVE_SCOPE = "https://www.googleapis.com/auth/drive.readonly"
GROUP_SCOPE = "https://www.googleapis.com/auth/admin.directory.group.member.readonly"
_ALL_DRIVES = {"supportsAllDrives": "true"}
_PERMISSION = "id,type,emailAddress,domain,role,deleted,view,pendingOwner,expirationTime,inheritedPermissionsDisabled"
_FILE = (
    "id,name,mimeType,modifiedTime,headRevisionId,size,webViewLink,trashed,driveId,capabilities/canDownload,"
    f"permissions({_PERMISSION})"
)
_OFFICE = "application/vnd.openxmlformats-officedocument."
_EXPORTS = {  # editor type: (export type, file ending)
    "application/vnd.google-apps.document": (f"{_OFFICE}wordprocessingml.document", ".docx"),
    "application/vnd.google-apps.spreadsheet": (f"{_OFFICE}spreadsheetml.sheet", ".xlsx"),
    "application/vnd.google-apps.presentation": (f"{_OFFICE}presentationml.presentation", ".pptx"),
}
_REFUSED = "Drive does not let this account download it, or it is too large."
_NOT_DOCUMENTS = ("video/", "audio/", "image/", "font/", "application/vnd.google-apps.", "application/zip")


@dataclass(slots=True)
class GoogleDrive(Connector):
    """The files visible to a service account, or to the person it acts for. ``drives`` are ids; empty means all."""

    plugin: "GoogleDrivePlugin"
    open_http: OpenHttp
    stack: AsyncExitStack
    key: Mapping[str, str]
    subject: str = ""
    drives: tuple[str, ...] = ()
    _drive_calls: Http | None = None
    _group_calls: Http | None = None
    _sees_groups: bool = True  # until Google refuses the scope

    async def check(self) -> SourceCheck:
        """Try the key, one file and its readers, and group members."""
        drive = await self._drive()
        me = (await drive.get("/drive/v3/about", {"fields": "user(displayName,emailAddress)"}))["user"]
        page = await self.changes("")
        if not page.items:
            who = self.subject or self.key["client_email"]
            raise NotFound(
                f"{who} cannot see any document.", remedy="Share a folder or a shared drive with this address."
            )
        warnings = []
        hidden = sum(item.readers == (NOBODY,) for item in page.items)
        if hidden:
            warnings.append(
                f"The readers of {hidden} of the first {len(page.items)} files cannot be looked up, so nobody can"
                " read these files here. Give the account the role Editor or Content manager, or let it act for an"
                " administrator."
            )
        if await self._groups() is None:
            warnings.append(
                "The members of groups cannot be looked up, so an admin must map each group. To look them up, let"
                " the account act "
                f"for an administrator with the scope {GROUP_SCOPE}."
            )
        return SourceCheck(
            str(me.get("emailAddress") or me.get("displayName")), None, page.items[0].title, tuple(warnings)
        )

    async def changes(self, cursor: str) -> ChangePage:
        """Return the next page of all files, one shared drive after another."""
        number, _, token = cursor.partition(":")
        at = int(number or 0)
        place = {"corpora": "drive", "driveId": self.drives[at]} if self.drives else {"corpora": "allDrives"}
        params = {
            **_ALL_DRIVES, **place, "includeItemsFromAllDrives": "true", "pageSize": str(LISTED),
            "q": "trashed = false", "fields": f"nextPageToken,incompleteSearch,files({_FILE})",
        }  # fmt: skip
        page = await (await self._drive()).get("/drive/v3/files", {**params, **_token(token)})
        if page.get("incompleteSearch"):  # a listing with gaps would look complete
            raise SourceUnavailable(
                "Drive did not search every shared drive.",
                remedy="Connect it again with the ids of the drives to read.",
            )
        items = await self._items(page.get("files", ()))
        if following := _next_token(page):
            return ChangePage(items, cursor=f"{at}:{following}", more=True, whole=True)
        more = at + 1 < len(self.drives)
        return ChangePage(items, cursor=f"{at + 1}:" if more else "", more=more, whole=True)

    async def lookup(self, ids: Sequence[str]) -> Sequence[SourceItem]:
        """Return those of these files that still exist."""
        drive, found = await self._drive(), []
        for one in ids:
            try:
                file = await drive.get(f"/drive/v3/files/{one}", {**_ALL_DRIVES, "fields": _FILE})
            except NotFound:
                continue
            if not file.get("trashed") and (not self.drives or file.get("driveId") in self.drives):
                found.append(file)
        return await self._items(found)

    async def fetch(self, items: Sequence[SourceItem]) -> AsyncIterator[Content | FetchFailure]:
        """Yield the content of these files. Files of Google's editors are exported as Office files."""
        drive, has_failed = await self._drive(), False
        for item in items:
            path, (exported, ending) = f"/drive/v3/files/{item.id}", _EXPORTS.get(item.reference, ("", ""))
            if exported:
                data = drive.download(f"{path}/export", {"mimeType": exported})
            else:
                data = drive.download(path, {**_ALL_DRIVES, "alt": "media"})
            try:
                found = await fetched(item.id, f"{item.title}{ending}", data, _REFUSED)
            except SourceUnavailable as error:  # may concern one file only: Drive answers so if it cannot export it
                if has_failed or error.after or isinstance(error, SourceRefused):
                    raise
                has_failed, found = True, FetchFailure(item.id, str(error))
            if found is not None:
                yield found

    async def members(self, group: str) -> Sequence[SourcePerson]:
        """Return everyone in a group, including nested groups; nobody if the account may not see that."""
        groups = None if group in {EVERYONE_IN_SITE, ANYONE} or ":" in group else await self._groups()
        if groups is None:
            return ()
        params = {"includeDerivedMembership": "true", "maxResults": str(MEMBERS)}
        try:
            found = await _every(groups, f"/admin/directory/v1/groups/{group}/members", params, "members")
        except RightMissing:
            return ()
        active = [one for one in found if one.get("type") == "USER" and one.get("status", "ACTIVE") == "ACTIVE"]
        return [_person(str(one["email"])) for one in active if one.get("email")]

    async def people(self, ids: Collection[str]) -> Sequence[SourcePerson]:
        """Return these people, whose ids are their account addresses."""
        return [_person(one) for one in sorted(ids) if "@" in one]

    async def _items(self, files: Sequence[Mapping[str, Any]]) -> tuple[SourceItem, ...]:
        """Return the documents among these files, with their readers."""
        documents = [one for one in files if _is_document(one)]
        readers = await call_for_each(self._readers, documents)
        return tuple(_item(one, found) for one, found in zip(documents, readers, strict=True))

    async def _readers(self, file: Mapping[str, Any]) -> ReaderSet:
        """Return the readers of a file; nobody if Drive does not tell this account."""
        if "permissions" in file:
            return _reader_set(file["permissions"])
        params = {**_ALL_DRIVES, "pageSize": "100", "fields": f"nextPageToken,permissions({_PERMISSION})"}
        path = f"/drive/v3/files/{file['id']}/permissions"
        try:
            return _reader_set(await _every(await self._drive(), path, params, "permissions"))
        except (NotFound, RightMissing):
            return NOBODY

    async def _drive(self) -> Http:
        if self._drive_calls is None:
            self._drive_calls = await self._open(self.plugin.api, DRIVE_SCOPE)
        return self._drive_calls

    async def _groups(self) -> Http | None:
        """Return calls to the directory; None without an administrator to act for, or without the scope."""
        if self._group_calls is None and self.subject and self._sees_groups:
            try:
                self._group_calls = await self._open(self.plugin.directory, GROUP_SCOPE)
            except SourceRefused:
                self._sees_groups = False
        return self._group_calls

    async def _open(self, origin: str, scope: str) -> Http:
        """Open calls with a new token. It is valid for an hour, which is longer than a connector stays open."""
        async with self.open_http(self.plugin.tokens, {}) as tokens:
            signed = _signed_claims(self.key, self.subject, scope, f"{self.plugin.tokens}/token")
            fields = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": signed}
            answer = await tokens.post_form("/token", fields)
        token = answer.get("access_token")
        if not token:
            raise SourceUnavailable("Google did not issue a token.")
        return await self.stack.enter_async_context(self.open_http(origin, {"Authorization": f"Bearer {token}"}))


async def _every(calls: Http, path: str, params: Mapping[str, str], name: str) -> list[Mapping[str, Any]]:
    """Return all items of a paginated list."""
    pages = pages_of(lambda token: calls.get(path, {**params, **_token(token)}), _next_token)
    return [one async for page in pages for one in page.get(name, ())]


def _token(token: str) -> Mapping[str, str]:
    return {"pageToken": token} if token else {}


def _next_token(page: Mapping[str, Any]) -> str:
    return str(page.get("nextPageToken") or "")


def _is_document(file: Mapping[str, Any]) -> bool:
    """Return whether a file can be read as text: not a folder, picture, video, form or shortcut."""
    kind = str(file.get("mimeType", ""))
    return kind in _EXPORTS or not kind.startswith(_NOT_DOCUMENTS)


def _item(file: Mapping[str, Any], readers: ReaderSet) -> SourceItem:
    changed = str(file.get("headRevisionId") or file.get("modifiedTime", ""))
    return SourceItem(
        id=str(file["id"]),
        version=f"{changed} {file.get('name', '')}",
        title=str(file.get("name", "")),
        url=str(file.get("webViewLink", "")),
        dated=str(file.get("modifiedTime", ""))[:10],
        readers=(readers,),
        size=int(file.get("size") or 0),
        reference=str(file.get("mimeType", "")),
    )


def _reader_set(permissions: Sequence[Mapping[str, Any]]) -> ReaderSet:
    people: set[str] = set()
    groups: set[str] = set()
    for one in permissions:
        if not _grants_reading(one):
            continue
        match one.get("type"):
            case "user":
                people.add(str(one.get("emailAddress") or one["id"]).casefold())
            case "group":
                groups.add(str(one.get("emailAddress") or one["id"]).casefold())
            case "domain":
                groups.add(f"domain:{one.get('domain', '')}")
            case "anyone":
                groups.add(ANYONE)
            case _:  # a type that Drive added later grants nothing
                pass
    return ReaderSet(frozenset(people), frozenset(groups))


def _grants_reading(permission: Mapping[str, Any]) -> bool:
    """Return whether a permission lets its holder read the whole file now."""
    if permission.get("deleted") or permission.get("view"):
        return False
    if permission.get("inheritedPermissionsDisabled") and permission.get("role") not in {"owner", "organizer"}:
        return False
    until = permission.get("expirationTime")
    try:
        return not until or datetime.fromisoformat(str(until)) > datetime.now(UTC)
    except (ValueError, TypeError):
        return False


def _person(address: str) -> SourcePerson:
    return SourcePerson(address.casefold(), address)


def _signed_claims(key: Mapping[str, str], subject: str, scope: str, audience: str) -> str:
    """Return a JSON Web Token signed with RS256. Raises ConfigurationError for an invalid key."""
    import jwt

    now = int(time.time())
    claims = {"iss": key["client_email"], "scope": scope, "aud": audience, "iat": now, "exp": now + TOKEN_SECONDS}
    claims |= {"sub": subject} if subject else {}
    try:
        return jwt.encode(claims, key["private_key"], "RS256", {"kid": key.get("private_key_id", "")})
    except (jwt.PyJWTError, ValueError, TypeError):
        raise ConfigurationError("The private key of the service account cannot be read.", remedy=KEY_REMEDY) from None


KEY_REMEDY = "Make a JSON key for the service account, and give the whole file on one line."


@dataclass(frozen=True, slots=True)
class GoogleDrivePlugin(ConnectorPlugin):
    """The settings of ``footnote connect gdrive``. The three origins are Google's, except in tests."""

    name: str = "gdrive"
    title: str = "Google Drive"
    fields: tuple[SettingField, ...] = (
        SettingField(
            "key",
            "JSON key of the service account",
            "made in the Google Cloud console; the whole file on one line",
            "GOOGLE_SERVICE_ACCOUNT",
            secret=True,
        ),
        SettingField(
            "subject",
            "Address of an administrator to act for",
            "only with domain-wide delegation; empty to read what is shared with the account",
            "GOOGLE_SUBJECT",
            required=False,
        ),
        SettingField("drives", "Ids of the shared drives", "with commas between them; empty for all", required=False),
    )
    scopes: tuple[str, ...] = (DRIVE_SCOPE, f"{GROUP_SCOPE} (only to read the members of groups)")
    states_readers: bool = True
    batch: int = BATCH
    tokens: str = "https://oauth2.googleapis.com"
    api: str = "https://www.googleapis.com"
    directory: str = "https://admin.googleapis.com"

    @asynccontextmanager
    async def open(self, settings: Mapping[str, str], http: OpenHttp) -> AsyncIterator[Connector]:
        """Yield Drive for the service account of this key. It signs in on the first call."""
        try:
            key = json.loads(settings["key"])
        except ValueError:
            key = None
        if not isinstance(key, dict) or not all(
            isinstance(key.get(one), str) for one in ("client_email", "private_key")
        ):
            raise ConfigurationError("This is not the JSON key of a service account.", remedy=KEY_REMEDY)
        drives = tuple(one.strip() for one in settings.get("drives", "").split(",") if one.strip())
        async with AsyncExitStack() as stack:
            yield GoogleDrive(self, http, stack, key, settings.get("subject", "").strip(), drives)


PLUGIN = GoogleDrivePlugin()
