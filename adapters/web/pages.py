"""Pages from templates, escaped by default, with security headers that block external content."""

import hashlib
import secrets
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from adapters.web.markdown import words_of
from adapters.web.routing import MenuEntry, Visitor
from core.model.message_text import LONGEST_QUESTION
from core.model.plain_text import remove_controls
from core.service.kb.job_cards import job_card, job_title
from core.service.kb.text_spans import age, count
from core.service.kb.wording import confirmation_question, readers_phrase

HERE = Path(__file__).parent
STATIC = HERE / "static"
STATIC_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_A_YEAR = "public, max-age=31536000, immutable"

# Only our own scripts, styles and addresses, and no framing by other sites. ``same-origin``, because with
# ``no-referrer`` browsers send forms with the origin "null".
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Pages:
    """Renderer of templates. The navigation shows each visitor only what they may use."""

    def __init__(self) -> None:
        self._menu: tuple[MenuEntry, ...] = ()
        self._environment = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_without_disguise,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(
            static=static_path,
            form_key=lambda: secrets.token_hex(8),
            longest_question=LONGEST_QUESTION,
            age=age,
            count=count,
            job_card=job_card,
            job_title=job_title,
            readers_phrase=readers_phrase,
            sentence=lambda text: f"{text[:1].upper()}{text[1:]}.",
            confirmation_question=confirmation_question,
            words_of=words_of,
        )

    def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Set the navigation of every page."""
        self._menu = tuple(entries)

    def html(
        self, request: web.Request, visitor: Visitor | None, template: str, *, status: int = 200, **context: Any
    ) -> web.Response:
        """Return a whole page for this visitor."""
        menu = [entry for entry in self._menu if visitor is not None and visitor.may(entry.right)]
        text = self.fragment(template, visitor=visitor, menu=menu, path=request.path, **context)
        return web.Response(text=text, content_type="text/html", status=status, headers={"Cache-Control": "no-store"})

    def part(self, template: str, **context: Any) -> web.Response:
        """Return part of a page, for a request by our script."""
        text = self.fragment(template, **context)
        return web.Response(text=text, content_type="text/html", headers={"Cache-Control": "no-store"})

    def fragment(self, template: str, **context: Any) -> str:
        """Return the template as text."""
        return self._environment.get_template(template).render(**context)


def _without_disguise(value: object) -> object:
    """Return a template's value without characters that hide or reorder others. HTML was cleaned before."""
    return remove_controls(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def static_path(name: str) -> str:
    """Return the address of a static file, with a digest of its content, so that it may be cached forever."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{digest}/{name}"


async def static_file(request: web.Request) -> web.StreamResponse:
    """Serve a static file by its exact name; other names are not found."""
    name = request.match_info["name"]
    there = _static_files()
    if name not in there:
        raise web.HTTPNotFound
    kind, data = there[name]
    return web.Response(body=data, content_type=kind, charset="utf-8", headers={"Cache-Control": _A_YEAR})


@cache
def _static_files() -> dict[str, tuple[str, bytes]]:
    return {
        file.name: (STATIC_TYPES[file.suffix], file.read_bytes())
        for file in STATIC.iterdir()
        if file.suffix in STATIC_TYPES
    }


def wants_part(request: web.Request) -> bool:
    """Return whether our script requests part of a page."""
    return request.headers.get("HX-Request") == "true"
