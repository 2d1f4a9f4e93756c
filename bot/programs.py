"""Assembly of what API clients use: /v1, MCP and tokens."""

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import TYPE_CHECKING

from adapters.redis.web_stores import RedisApiTokens
from bot.container import Footnote
from bot.settings import Settings
from core.model.errors import ConfigurationError
from core.service.api_clients import ApiClient, ApiClients, Unauthenticated, local_owner
from core.service.kb.program_documents import ProgramDocuments

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from adapters.mcp.server import OurTokens
    from adapters.web.api.endpoints import Api


def api_clients(footnote: Footnote) -> ApiClients:
    """Return the registry of API clients, for ``/v1`` and MCP."""
    catalog = footnote.catalog
    return ApiClients(RedisApiTokens(footnote.redis), catalog, footnote.audit, footnote.clock, catalog.record_end)


def open_api(footnote: Footnote, warming: Callable[[], bool]) -> "Api":
    """Return the endpoints. ``warming`` returns whether index and models are still opening."""
    from adapters.observability.prometheus import PrometheusMetrics
    from adapters.web.api.asking import Asking
    from adapters.web.api.endpoints import Api

    return Api(
        clients=api_clients(footnote),
        questions=footnote.question_service,
        checkpoints=footnote.checkpoints,
        actions=footnote.user_actions(),
        reader=footnote.knowledge_reader(),
        documents=program_documents(footnote),
        policy=footnote.policy,
        version=version("footnote"),
        asking=Asking(footnote.question_service, PrometheusMetrics(), warming),
    )


def program_documents(footnote: Footnote) -> ProgramDocuments:
    """Return the service for API clients' documents."""
    deps, service = footnote.knowledge_stack.deps, footnote.knowledge_stack.kb_service
    return ProgramDocuments(
        deps.catalog, deps.trash, service.job_commands.job_queue, deps.jobs, deps.blobs, service.audit
    )


async def local_mcp(settings: Settings, footnote: Footnote) -> "MCPServer":
    """Return the tools for the owner of this process, or for the configured token.

    Raises ConfigurationError if the token is not valid.
    """
    if settings.mcp_token is None:
        owner = local_owner()

        async def caller() -> ApiClient:
            return owner

        return _mcp(footnote, caller)
    clients, secret = api_clients(footnote), settings.mcp_token.get_secret_value()
    try:
        await clients.identify(secret)
    except Unauthenticated:
        raise ConfigurationError(
            "MCP_TOKEN is not a valid token.",
            remedy=("footnote token create makes a token; unset it to read as the owner."),
        ) from None
    return _mcp(footnote, lambda: clients.authenticate(secret))


def remote_mcp(footnote: Footnote) -> "MCPServer":
    """Return the tools for clients with a token."""
    from adapters.mcp.server import OurTokens, caller_over_http

    clients = api_clients(footnote)
    return _mcp(footnote, caller_over_http(clients), OurTokens(clients))


def _mcp(
    footnote: Footnote, caller: Callable[[], Awaitable[ApiClient]], verifier: "OurTokens | None" = None
) -> "MCPServer":
    from adapters.mcp.server import build_server
    from adapters.mcp.tools import KnowledgeTools

    tools = KnowledgeTools(caller, footnote.knowledge_reader(), footnote.question_service, footnote.policy)
    return build_server(tools, version("footnote"), verifier)
