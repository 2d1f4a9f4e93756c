"""What programs use, put together: /v1, and what tokens open."""

from collections.abc import Callable
from importlib.metadata import version

from adapters.observability.prometheus import PrometheusMetrics
from adapters.redis.api_tokens import RedisApiTokens
from adapters.web.api.endpoints import Api
from bot.container import Footnote
from core.service.api_clients import ApiClients
from core.service.knowledge_reader import KnowledgeReader


def api_clients(footnote: Footnote) -> ApiClients:
    """Who holds a token."""
    return ApiClients(RedisApiTokens(footnote.redis), footnote.catalog, footnote.audit, footnote.clock)


def knowledge_reader(footnote: Footnote) -> KnowledgeReader:
    """What can be read without asking."""
    return KnowledgeReader(footnote.catalog, footnote.index, footnote.retriever)


def open_api(footnote: Footnote, warming: Callable[[], bool]) -> Api:
    """The endpoints; ``warming`` says whether index and models are still being opened."""
    return Api(
        clients=api_clients(footnote),
        questions=footnote.question_service,
        checkpoints=footnote.checkpoints,
        actions=footnote.answer_actions(),
        reader=knowledge_reader(footnote),
        policy=footnote.conduct,
        version=version("footnote"),
        metrics=PrometheusMetrics(),
        warming=warming,
    )
