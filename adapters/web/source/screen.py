"""Reading sources: the cited passage in its document beside the answer, and documents on their own."""

from dataclasses import dataclass
from typing import Any

from aiohttp import web

from adapters.web.ask.conversations import Conversations
from adapters.web.ask.turn_views import TurnViews
from adapters.web.pages import Pages, wants_part
from adapters.web.rendering.markdown import render_quote
from adapters.web.routing import MenuEntry, Route, Visitor
from adapters.web.source.document_pages import DocumentPages, DocumentView
from core.ingestion.ingestor import document_id_of
from core.model.answer import Citation
from core.model.errors import NotFound
from core.model.knowledge import Document
from core.service.actions.user_actions import UserActions
from core.service.kb.queries import KnowledgeQueries

GONE = "This document was not found."
_A_DAY = "private, max-age=86400, immutable"  # a version's page never changes


@dataclass(frozen=True, slots=True)
class SourceScreen:
    """What stands behind a citation."""

    pages: Pages
    conversations: Conversations
    turns: TurnViews
    actions: UserActions
    queries: KnowledgeQueries
    documents: DocumentPages
    menu: tuple[MenuEntry, ...] = ()

    def routes(self) -> tuple[Route, ...]:
        """The routes of reading a document."""
        return (
            Route("GET", "/ask/{name}/{question}/source/{n}", self._source),
            Route("GET", "/documents/{document}", self._document),
            Route("GET", "/documents/{document}/{version}/page/{page}.png", self._picture),
        )

    async def _source(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        name, question = request.match_info["name"], request.match_info["question"]
        message = await self.conversations.question(visitor, name, question)
        if message is None:
            raise NotFound("This question was not found.")
        citation = await self._citation(request, visitor, await self.turns.trace_of(message))
        document = await self._visible(visitor, document_id_of(citation.knowledge_base, citation.document))
        view = await self.documents.open_at_citation(document, citation.passage, citation.quote, _page(request))
        path = f"/ask/{name}/{question}/source/{citation.n}"
        back = f"/ask/{name}#q-{question}"
        return self._render_page(request, visitor, view, path=path, citation=citation, back=back)

    async def _citation(self, request: web.Request, visitor: Visitor, trace_id: str) -> Citation:
        """The citation of this number: of the sources, or of what came nearest where there are none."""
        wanted = request.match_info["n"]
        message_thread = visitor.thread(request.match_info["name"])
        quotes = await self.actions.answers.quotes(message_thread, trace_id, visitor.audience)
        found = quotes.citations or await self.turns.nearest(message_thread, request.match_info["question"])
        visible = await self.actions.bases.names(visitor.audience)
        for citation in found:
            if str(citation.n) == wanted and citation.knowledge_base in visible:
                return citation
        raise NotFound("That answer has no such source, or you may not read it any more.")

    async def _document(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        document = await self._visible(visitor, request.match_info["document"])
        view = await self.documents.at(document, _number(request, "from") or 0, _page(request))
        path = f"/documents/{document.id}"
        return self._render_page(request, visitor, view, path=path, citation=None, back="/knowledge")

    async def _picture(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        document = await self._visible(visitor, request.match_info["document"])
        if document.version != request.match_info["version"] or not request.match_info["page"].isdecimal():
            raise NotFound(GONE)
        png = await self.documents.picture(document, int(request.match_info["page"]))
        return web.Response(body=png, content_type="image/png", headers={"Cache-Control": _A_DAY})

    async def _visible(self, visitor: Visitor, document_id: str) -> Document:
        """The document, if this visitor may see its base now. Raises NotFound in the same words where it is hidden."""
        document = await self.queries.document_of_id(document_id, visitor.caller())
        if document is None:
            raise NotFound(GONE)
        return document

    def _render_page(
        self,
        request: web.Request,
        visitor: Visitor,
        view: DocumentView,
        *,
        path: str,
        citation: Citation | None,
        back: str,
    ) -> web.StreamResponse:
        url = view.document.url or ""
        marked = bool(view.page.picture.marks) if view.page else any("<mark" in part.html for part in view.text.parts)
        context: dict[str, Any] = {
            "view": view,
            "citation": citation,
            "quote": render_quote(citation.quote) if citation is not None else "",
            "marked": marked,
            "source_path": path,
            "link": url if url.startswith(("http://", "https://")) else "",
            "back": back,
        }
        if wants_part(request):
            return self.pages.part("_source.html", panel=True, **context)
        return self.pages.html(request, visitor, "source.html", panel=False, **context)


def _page(request: web.Request) -> int | None:
    return _number(request, "page")


def _number(request: web.Request, name: str) -> int | None:
    given = request.query.get(name, "")
    return int(given) if given.isdecimal() and len(given) < 7 else None
