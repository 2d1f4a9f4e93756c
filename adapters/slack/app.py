"""The Bolt app: registration of all listeners, and dispatch of requests over HTTP and Socket Mode.

Every event, action, command, shortcut and view is registered here. Slack redelivers a Socket Mode request that is not
acknowledged, and an HTTP request that is answered with 503.
"""

import re
from dataclasses import dataclass

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from adapters.slack.api.errors import RequestRefused
from adapters.slack.inbound.event_listener import EventListener
from adapters.slack.inbound.interactions import Ack
from adapters.slack.inbound.socket_mode import sdk_logger
from adapters.slack.kb.knowledge import SlackKnowledge
from adapters.slack.listeners.answer_buttons import AnswerButtonListeners
from adapters.slack.listeners.checkpoints import CheckpointListeners
from adapters.slack.listeners.commands import ChannelSettingsForm, CommandListeners
from adapters.slack.listeners.events import EventMiddleware
from adapters.slack.listeners.home_tab import HomeTab
from adapters.slack.listeners.knowledge import KnowledgeListeners
from adapters.slack.listeners.shortcuts import ShortcutListeners
from adapters.slack.listeners.support import BackgroundTasks
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.errors import FootnoteError
from core.service.gaps.digest import GapOverview

_MALFORMED = (TypeError, AttributeError, LookupError, ValueError)  # raised by Bolt while it reads a malformed payload
PATH = "/slack/events"  # of events, interactions and commands in HTTP mode; the manifest names it

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SlackListeners:
    """All listeners of one workspace."""

    workspace: SlackWorkspace
    event_listener: EventListener
    background: BackgroundTasks
    knowledge: SlackKnowledge
    gaps: GapOverview

    def register(self, app: AsyncApp) -> None:
        """Register all listeners. Acknowledge any other action or view, or Slack shows a warning."""
        workspace, events, knowledge = self.workspace, self.event_listener, self.knowledge
        settings_form = ChannelSettingsForm(workspace)
        home_tab = HomeTab(workspace, settings_form, knowledge, self.gaps)
        EventMiddleware(workspace, events, home_tab, self.background).register(app)
        CheckpointListeners(workspace).register(app)
        AnswerButtonListeners(workspace, events, knowledge).register(app)
        CommandListeners(workspace, settings_form).register(app)
        settings_form.register(app)
        ShortcutListeners(workspace, events, knowledge).register(app)
        home_tab.register(app)
        KnowledgeListeners(workspace, knowledge, home_tab).register(app)
        app.action(re.compile(".*"))(_acknowledge)
        app.view(re.compile(".*"))(_acknowledge)


async def _acknowledge(ack: Ack) -> None:
    await ack()


def build_app(listeners: SlackListeners, *, bot_token: str, signing_secret: str | None) -> AsyncApp:
    """Build Bolt's app for one workspace, on a running event loop. A signing secret turns on request verification."""
    workspace = listeners.workspace

    async def authorize() -> AuthorizeResult:  # must be a plain function: Bolt inspects its argument names
        us = await workspace.directory.identity()
        return AuthorizeResult(
            enterprise_id=None, team_id=us.team, bot_token=bot_token, bot_id=us.bot, bot_user_id=us.user
        )

    app = AsyncApp(
        client=workspace.web.client,
        authorize=authorize,
        signing_secret=signing_secret or "none: Socket Mode has no signatures",
        request_verification_enabled=signing_secret is not None,
        ignoring_self_events_enabled=False,
        ssl_check_enabled=False,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
        logger=sdk_logger(),
    )
    listeners.register(app)
    app.error(_refuse)
    return app


async def _refuse(error: Exception, response: BoltResponse | None) -> None:
    """Answer a failed request: 503 if it could not be stored, so that Slack redelivers it, otherwise 400.

    ``response`` is None if the request was already acknowledged.
    """
    kept = not isinstance(error, FootnoteError | RequestRefused)
    log.warning("request_malformed" if kept else "request_not_kept", exc_info=error)
    if response is not None:
        response.status = 400 if kept else 503


async def dispatch_http(app: AsyncApp, request: web.Request) -> web.Response:
    """Answer an HTTP request: 503 if it could not be stored, 400 if Bolt cannot read it."""
    try:
        answer = await app.async_dispatch(await to_bolt_request(request))
    except (FootnoteError, RequestRefused) as error:
        log.warning("request_not_kept", reason=str(error))
        return web.Response(status=503)
    except _MALFORMED:
        log.warning("request_malformed", exc_info=True)
        return web.Response(status=400)
    return await to_aiohttp_response(answer)


async def dispatch_socket_mode(app: AsyncApp, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
    """Handle a Socket Mode request. Do not acknowledge it if it could not be stored or read."""
    try:
        answer = await run_async_bolt_app(app, request)
        if answer.status == 200:
            await send_async_response(client, request, answer, 0.0)
    except (FootnoteError, RequestRefused) as error:
        log.warning("request_not_kept", reason=str(error))
    except ConnectionError as error:
        log.warning("acknowledgement_lost", reason=type(error).__name__)
    except _MALFORMED:
        log.warning("request_malformed", exc_info=True)
