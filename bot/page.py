"""Assembly of the page's screens with their dependencies, and of all platforms to serve."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from adapters.connectors.registry import connector_names
from adapters.documents.parser import SandboxedPagePictures
from adapters.platform_plugin import ConnectedPlatform, PlatformDeps, reveal, split_names
from adapters.redis.web_stores import RedisAnswerStream, RedisWebSessions
from adapters.web.access.rules import AccessRules
from adapters.web.ask.conversations import AttachedTexts, Conversations
from adapters.web.ask.live_streams import LiveStreams
from adapters.web.ask.screen import AskScreen
from adapters.web.ask.turn_views import TurnViews
from adapters.web.connections_screen import ConnectionsScreen
from adapters.web.gaps_screen import GapScreen
from adapters.web.inspect_screen import InspectScreen
from adapters.web.knowledge_screen import KnowledgeScreen
from adapters.web.pages import Pages
from adapters.web.platform import WebPlatform
from adapters.web.setup_screen import SetupScreen
from adapters.web.source_screen import DocumentPages, SourceScreen
from adapters.web.usage_screen import UsageScreen
from bot.container import Footnote
from bot.demo import SAMPLES
from bot.plugins import installed_platforms
from bot.roles import ProcessRole
from bot.settings import Settings
from bot.setup.guide import InstallationSetup
from core.model.channel_settings import ChannelSettings
from core.model.document_content import FileContent
from core.model.health import Check, Health
from core.model.json_codec import from_json
from core.service.gaps.digest import GapOverview
from core.service.help import ExampleQuestions

DOCTOR_SECONDS = 90.0
_BY_HAND = "Run footnote doctor in a terminal to see more."


@asynccontextmanager
async def open_page(
    settings: Settings, footnote: Footnote, chats: Sequence[ConnectedPlatform] = ()
) -> AsyncIterator[WebPlatform]:
    """Yield the page with all its screens. ``chats`` are the chat platforms next to it."""
    pages, stream, actions = Pages(), RedisAnswerStream(footnote.redis), footnote.user_actions()
    knowledge, guide = footnote.knowledge_stack, InstallationSetup(settings.home)
    conversations = Conversations(footnote.message_states, footnote.clock)
    turns = TurnViews(footnote.message_states, footnote.checkpoints, actions)
    live = LiveStreams(stream, turns, pages)
    ask = AskScreen(
        pages=pages,
        conversations=conversations,
        turns=turns,
        live=live,
        inbox=footnote.inbox,
        actions=actions,
        kb=knowledge.kb_service,
        attached=AttachedTexts(footnote.message_states, footnote.parser.parse_attachment),
        examples=ExampleQuestions(knowledge.kb_service.queries),
    )
    queries = knowledge.kb_service.queries
    async with SandboxedPagePictures() as pictures:
        source = SourceScreen(
            pages=pages,
            conversations=conversations,
            turns=turns,
            actions=actions,
            queries=queries,
            documents=DocumentPages(footnote.index, knowledge.deps.originals, pictures),
        )
        knowledge_screen = KnowledgeScreen(
            pages=pages,
            kb=knowledge.kb_service,
            audit=footnote.audit,
            clock=footnote.clock,
            samples=sample_files,
            local_files=guide.files,
        )
        setup = SetupScreen(pages=pages, guide=guide, kb=knowledge.kb_service, audit=footnote.audit, examine=examine)
        inspect = InspectScreen(
            pages=pages,
            retriever=footnote.retriever,
            queries=queries,
            traces=footnote.trace_store,
            settings_store=footnote.settings_store,
            defaults=ChannelSettings(footnote.policy),
            conversations=conversations,
            turns=turns,
            examine=examine,
        )
        connections = ConnectionsScreen(
            pages=pages, connections=knowledge.connections, queries=queries, kinds=connector_names
        )
        gaps = GapScreen(pages=pages, analysis=footnote.gaps(), drafts=footnote.gap_drafts(), queries=queries)
        usage = UsageScreen(pages=pages, book=footnote.usage_book, days=footnote.days, queries=queries)
        yield WebPlatform(
            rules=access_rules(settings),
            sessions=RedisWebSessions(footnote.redis),
            audit=footnote.audit,
            user_actions=actions,
            message_states=footnote.message_states,
            stream=stream,
            pages=pages,
            live=live,
            screens=[ask, knowledge_screen, gaps, usage, inspect, connections, setup, source],
            chats=chats,
        )


async def sample_files() -> AsyncIterator[FileContent]:
    """Yield the documents of the demo's fictional company."""
    for path in sorted(one for one in (SAMPLES / "documents").rglob("*") if one.is_file()):
        data = await asyncio.to_thread(path.read_bytes)
        yield FileContent(str(path.relative_to(SAMPLES / "documents")), path.name, data)


async def examine() -> Sequence[Check]:
    """Return the report of doctor, run in its own process so that it opens everything as in a terminal."""
    asked = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "doctor", "--json", "--seconds", f"{DOCTOR_SECONDS / 2:.0f}",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(DOCTOR_SECONDS):
            output, _ = await asked.communicate()
        checks: Sequence[Check] = from_json(tuple[Check, ...], output)
    except TimeoutError:
        return [Check("doctor", Health.FAILED, f"It took longer than {DOCTOR_SECONDS:.0f} seconds.", _BY_HAND)]
    except ValueError:
        return [Check("doctor", Health.FAILED, "It returned no report.", _BY_HAND)]
    finally:
        if asked.returncode is None:
            asked.kill()
            await asked.wait()
    return checks


def access_rules(settings: Settings) -> AccessRules:
    """Return who may sign in and how. Raises ConfigurationError if the settings are incomplete."""
    return AccessRules(
        password_hash=reveal(settings.web_password_hash) or "",
        reader_password_hash=reveal(settings.web_reader_password_hash) or "",
        identity_header=settings.web_identity_header,
        proxies=split_names(settings.web_proxies),
        admins=split_names(settings.web_admins),
        address=settings.web_address,
    )


def has_platform(settings: Settings) -> bool:
    """Return whether there is anything to serve: a chat platform, or a page for more than its operator."""
    return settings.has_page or any(plugin.is_configured(settings.of(plugin)) for plugin in installed_platforms())


def open_platforms(
    settings: Settings, footnote: Footnote, role: ProcessRole, process: str, connected: Sequence[ConnectedPlatform]
) -> Iterator[AbstractAsyncContextManager[ConnectedPlatform]]:
    """Yield each configured platform, to be entered. ``process`` is the name under which leases are taken.

    ``connected`` are the platforms entered so far. The page checks permissions there once they are entered.
    """
    if settings.has_page:
        yield open_page(settings, footnote, connected)
    deps = PlatformDeps(
        inbox=footnote.inbox,
        message_states=footnote.message_states,
        user_actions=footnote.user_actions(),
        parse=footnote.parser.parse_attachment,
        kb=footnote.knowledge_stack.kb_service,
        gaps=GapOverview(footnote.gaps(), footnote.catalog, footnote.audit),
        leases=footnote.leases,
        process=process,
        listens=role.listens,
    )
    for plugin in installed_platforms():
        if plugin.is_configured(settings.of(plugin)):
            yield plugin.open(settings.of(plugin), deps)
