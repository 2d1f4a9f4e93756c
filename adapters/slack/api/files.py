"""Metadata and downloads of Slack files, including canvases, which download as HTML.

Slack has no method to read a canvas. ``files.info`` gives it the file type ``quip`` (``canvas`` also occurs) and the
media type ``application/vnd.slack-docs``. Its private address returns HTML if the bot has ``files:read`` and the canvas
is shared where the bot is.
"""

import html
import re
from dataclasses import dataclass
from typing import Any

from adapters.slack.api.errors import RequestRefused, reason_in_words
from adapters.slack.api.ids import HOST
from adapters.slack.api.web_client import SIGN_IN, WebClient
from core.model.errors import DocumentRejected, FetchRefused
from core.model.incoming_events import FileReference

CANVAS_TYPES = {"quip", "canvas"}
CANVAS_MEDIA = "application/vnd.slack-docs"
NO_SCOPE = "I cannot read files here, because the app lacks the scope files:read."
ADD_SCOPE = "An admin can add it with the app's manifest and reinstall the app."
_LINK = re.compile(HOST + r"/(?:docs/T\w+|files/[UW]\w+)/(?P<id>F[A-Z0-9]+)(?:[/?#]|$)")
_SIGN_IN_PAGE = re.compile(rb"(?is)<title>[^<]{0,200}\bSlack\s*</title>")
_NO_ACCESS = {"access_denied", "not_visible", "file_not_found", "file_deleted", "template_not_visible"}


@dataclass(frozen=True, slots=True)
class SlackFile:
    """Slack's metadata of a file. ``places`` are the conversations where it is shared."""

    id: str
    name: str
    title: str
    size: int
    media_type: str
    url: str
    canvas: bool
    public: bool
    owner: str
    places: frozenset[str]

    @property
    def reference(self) -> FileReference:
        """The reference for a job. A canvas is named by its id, so it stays one document when its title changes."""
        return FileReference(self.id, f"canvas {self.id}.html" if self.canvas else self.name, self.size)

    def readable_by(self, user: str, place: str) -> bool:
        """Return whether this person may read the file: it is public, their own, or shared in this place."""
        return self.public or self.owner == user or place in self.places


def file_in(link: str) -> str:
    """Return the id of the file or canvas that a Slack link points to, or an empty string."""
    found = _LINK.match(link)
    return found["id"] if found else ""


class Files:
    """The files that the bot may read."""

    def __init__(self, web: WebClient) -> None:
        """Use this Web API client and its bot token."""
        self._web = web

    async def about(self, file_id: str) -> SlackFile:
        """Return Slack's metadata of a file. Raises FetchRefused with the reason, and PlatformUnavailable."""
        try:
            found = (await self._web.call("files.info", file=file_id))["file"]
        except RequestRefused as refusal:
            raise _refusal_error(refusal) from None
        return _file(found)

    async def fetch(self, file_id: str, limit: int) -> tuple[str, bytes]:
        """Return (name, bytes) of a file of at most ``limit`` bytes. Raises what ``about`` and ``download`` raise."""
        file = await self.about(file_id)
        if file.size > limit:
            raise DocumentRejected(f"{file.name} is larger than {limit // 2**20} MB.")
        kind, data = await self._web.download(file.url, limit)
        if kind == "text/html" and _is_sign_in_page(file, data):
            raise FetchRefused(SIGN_IN)
        return (file.reference.name, _page(file.title, data)) if file.canvas else (file.name, data)


def _file(found: dict[str, Any]) -> SlackFile:
    media = str(found.get("mimetype") or "")
    canvas = str(found.get("filetype") or "") in CANVAS_TYPES or media == CANVAS_MEDIA
    name = str(found.get("name") or found.get("title") or found["id"])
    url = found.get("url_private_download") or found.get("url_private") or ""
    return SlackFile(
        id=str(found["id"]),
        name=name,
        title=str(found.get("title") or name),
        size=0 if canvas else int(found.get("size") or 0),
        media_type=media,
        url=str(url),
        canvas=canvas,
        public=bool(found.get("is_public")),
        owner=str(found.get("user") or ""),
        places=frozenset(str(one) for kind in ("channels", "groups", "ims") for one in found.get(kind) or ()),
    )


def _is_sign_in_page(file: SlackFile, data: bytes) -> bool:
    """Return whether the data is Slack's sign-in page instead of the file.

    A sign-in page differs from the file in size. If the file itself is HTML, the page must also have Slack's title.
    """
    if file.canvas or file.media_type == "text/html":
        return len(data) != file.size and _SIGN_IN_PAGE.search(data[:20_000]) is not None
    return len(data) != file.size


def _page(title: str, data: bytes) -> bytes:
    """Return a canvas as a full page with a title, because Slack sends only the body."""
    head = f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{html.escape(title)}</title></head><body>'
    return head.encode() + data + b"</body></html>"


def _refusal_error(refusal: RequestRefused) -> FetchRefused:
    if refusal.error == "missing_scope":
        return FetchRefused(NO_SCOPE, remedy=ADD_SCOPE)
    if refusal.error in _NO_ACCESS:
        return FetchRefused(
            "I cannot see that file. It was deleted, or it is not shared with me.",
            remedy="Share it in a channel that I am in, or attach it.",
        )
    return FetchRefused(f"Slack does not give me that file: {reason_in_words(refusal.error)}.")
