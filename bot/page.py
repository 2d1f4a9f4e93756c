"""The page, put together: its screens, each with what it needs of the open Footnote."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters.documents.page_pictures import SandboxedPagePictures
from adapters.redis.answer_stream import RedisAnswerStream
from adapters.redis.web_sessions import RedisWebSessions
from adapters.web.access.rules import AccessRules
from adapters.web.ask.conversations import Conversations
from adapters.web.ask.live_streams import LiveStreams
from adapters.web.ask.screen import AskScreen
from adapters.web.ask.turns import Turns
from adapters.web.knowledge.screen import KnowledgeScreen
from adapters.web.pages import Pages
from adapters.web.platform import WebPlatform
from adapters.web.source.document_pages import DocumentPages
from adapters.web.source.screen import SourceScreen
from bot.container import Footnote
from bot.demo import SAMPLES
from bot.platforms import reveal, split_names
from bot.settings import Settings
from core.service.kb.queries import KnowledgeQueries


@asynccontextmanager
async def open_page(settings: Settings, footnote: Footnote) -> AsyncIterator[WebPlatform]:
    """The page with all its screens."""
    pages, stream, actions = Pages(), RedisAnswerStream(footnote.redis), footnote.answer_actions()
    knowledge = footnote.knowledge_stack
    conversations = Conversations(footnote.message_states, footnote.clock)
    turns = Turns(footnote.message_states, footnote.checkpoints, actions)
    live = LiveStreams(stream, turns, pages)
    ask = AskScreen(
        pages=pages,
        conversations=conversations,
        turns=turns,
        live=live,
        inbox=footnote.inbox,
        actions=actions,
        kb=knowledge.kb_service,
    )
    async with SandboxedPagePictures() as pictures:
        source = SourceScreen(
            pages=pages,
            conversations=conversations,
            turns=turns,
            actions=actions,
            queries=KnowledgeQueries(footnote.catalog, footnote.index, knowledge.job_queue),
            documents=DocumentPages(footnote.index, knowledge.originals, pictures),
        )
        knowledge_screen = KnowledgeScreen(
            pages=pages,
            kb=knowledge.kb_service,
            audit=footnote.audit,
            clock=footnote.clock,
            samples=sample_files,
        )
        yield WebPlatform(
            rules=access_rules(settings),
            sessions=RedisWebSessions(footnote.redis),
            audit=footnote.audit,
            answer_actions=actions,
            message_states=footnote.message_states,
            stream=stream,
            pages=pages,
            live=live,
            screens=[ask, knowledge_screen, source],
        )


async def sample_files() -> AsyncIterator[tuple[str, str, bytes]]:
    """The documents of the invented company that the demo is about: (source, name, bytes) each."""
    for path in sorted(one for one in (SAMPLES / "documents").rglob("*") if one.is_file()):
        data = await asyncio.to_thread(path.read_bytes)
        yield str(path.relative_to(SAMPLES / "documents")), path.name, data


def access_rules(settings: Settings) -> AccessRules:
    """Who may sign in and how. Raises ConfigurationError where that is not said in full."""
    return AccessRules(
        password_hash=reveal(settings.web_password_hash) or "",
        reader_password_hash=reveal(settings.web_reader_password_hash) or "",
        identity_header=settings.web_identity_header,
        proxies=split_names(settings.web_proxies),
        admins=split_names(settings.web_admins),
        address=settings.web_address,
    )
