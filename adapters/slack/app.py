"""Slack, connected: Bolt in Socket Mode or over HTTP, with every event kept durably before it is acknowledged.

Bolt acknowledges an event before its listeners run, so events are taken in by a middleware ahead of that; when the
inbox is away, Slack is told nothing (Socket Mode) or 503 (HTTP), and delivers again.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from adapters.slack.api.directory import Directory
from adapters.slack.api.web_client import Refusal, Web, fatal
from adapters.slack.api.workspace import SlackWorkspace
from adapters.slack.inbound.button_handlers import ButtonHandlers
from adapters.slack.inbound.button_press import Press, who_sent
from adapters.slack.inbound.commands import COMMAND, Commands, SlashCommand
from adapters.slack.inbound.event_listener import PLATFORM, EventListener
from adapters.slack.inbound.home_buttons import HomeButtons
from adapters.slack.inbound.look_back import LookBack
from adapters.slack.inbound.socket_mode import RETRY_SECONDS, SocketModeConnection, quiet_logger
from adapters.slack.inbound.thread_order import ThreadOrder, thread_of
from adapters.slack.kb.command_parser import KB
from adapters.slack.kb.handlers import ShownReply, SlackKnowledge, outcome_text, text_reply
from adapters.slack.kb.listeners import KEEP_SECONDS, TRY_AGAIN, WENT_WRONG, KbListeners
from adapters.slack.outbound import blocks, home_view, views
from adapters.slack.outbound.agent_sessions import Sessions
from adapters.slack.outbound.announcements import SlackAnnouncements
from adapters.slack.outbound.home import Home
from adapters.slack.outbound.payloads import ChoiceValue, ReasonForm, form_in
from adapters.slack.outbound.sanitizer import acknowledge
from adapters.slack.platform import Parse, SlackThreads
from core.model.conversation import ThreadKey
from core.model.errors import ConfigurationError, FootnoteError, PlatformUnavailable, Unavailable
from core.ports.checkpoints import Checkpoints
from core.ports.inbox import Inbox
from core.ports.message_state import MessageStateStore
from core.ports.platform_capabilities import PlatformCapabilities
from core.service.actions.user_actions import UserActions
from core.service.gaps.overview import GapOverview
from core.service.heard_places import HeardPlaces
from core.service.kb.knowledge_commands import KnowledgeCommands
from core.service.kb.results import succeeded
from core.service.kb.text_layout import plain_lines
from core.service.leases import pause
from core.service.pending_card_updates import look_after

PATH = "/slack/events"
MOST_ASIDE = 200  # things done beside the acknowledgement: a Home tab, a word to one person
ANSWER_THIS, ADD_TO_KNOWLEDGE = "footnote_answer_this", "footnote_add_to_knowledge"

Body = dict[str, Any]
Ack = Callable[..., Awaitable[Any]]
CANNOT_LISTEN = "Slack needs SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP) beside SLACK_BOT_TOKEN."
log = structlog.get_logger(__name__)


def _check_listening(listens: bool, app_token: str | None, signing_secret: str | None) -> None:
    if listens and not app_token and not signing_secret:
        raise ConfigurationError(CANNOT_LISTEN, remedy="footnote manifest slack says where they come from.")


class SlackPlatform(SlackThreads):
    """One workspace, connected. An async context manager: it closes its connections on leaving."""

    def __init__(
        self,
        *,
        bot_token: str,
        app_token: str | None,
        signing_secret: str | None,
        inbox: Inbox,
        message_states: MessageStateStore,
        checkpoints: Checkpoints,
        user_actions: UserActions,
        parse: Parse,
        api_url: str | None = None,
        admin_users: Iterable[str] = (),
        allowed_bots: Iterable[str] = (),
        kb: KnowledgeCommands | None = None,
        gaps: GapOverview | None = None,
        listens: bool = True,
    ) -> None:
        """Socket Mode with an app token, else HTTP with a signing secret. Raises ConfigurationError without either.

        One that does not listen answers what another process heard: it calls Slack, and Slack never calls it.
        """
        _check_listening(listens, app_token, signing_secret)
        connection = Web(bot_token, api_url)
        directory = Directory(connection)
        workspace = SlackWorkspace(
            web=connection,
            directory=directory,
            sessions=Sessions(connection),
            user_actions=user_actions,
            inbox=inbox,
            message_states=message_states,
            checkpoints=checkpoints,
            admin_users=frozenset(admin_users),
        )
        super().__init__(workspace, parse)
        self._app_token = app_token
        self._listens = listens
        self._signing_secret = signing_secret
        self._bot_token = bot_token
        places = HeardPlaces(message_states, PLATFORM)
        self._event_listener = EventListener(
            directory=directory,
            inbox=inbox,
            message_states=message_states,
            places=places,
            stop=workspace.stop,
            settings=workspace.settings,
            allowed_bots=frozenset(allowed_bots),
        )
        self._look_back = LookBack(connection, self._event_listener, places)
        self._knowledge = SlackKnowledge(workspace, kb) if kb is not None else None
        self._button_handlers = ButtonHandlers(workspace, self._event_listener, self._knowledge)
        self._commands = Commands(workspace)
        self._home = Home(workspace, self._knowledge, has_gaps=gaps is not None)
        self._home_buttons = HomeButtons(workspace, self._home, self._commands, self._knowledge, gaps)
        hears = app_token if listens else None
        self._socket = SocketModeConnection(connection, hears, self._in_socket_mode) if hears else None
        self._bolt: AsyncApp | None = None
        self._aside: set[asyncio.Task[None]] = set()
        self._order = ThreadOrder()

    # --- living

    async def __aenter__(self) -> Self:
        self._bolt = self._build_bolt_app()
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in tuple(self._aside):
            task.cancel()
        await asyncio.gather(*self._aside, return_exceptions=True)
        if self._knowledge is not None:
            await self._knowledge.cards.close()
        await self.workspace.web.close()

    async def run(self, stop: asyncio.Event) -> None:
        """Be connected until ``stop`` is set. Raises ConfigurationError when a token is none, or not of its kind."""
        if await self._identify(stop):
            self._do_aside(self._ask_whether_refused(stop))
            if self._listens:
                us = await self.workspace.directory.identity()
                self._do_aside(self._look_back.keep_up(self._connections, us.team, stop))
            if self._knowledge is not None:
                self._do_aside(look_after(self._knowledge.cards.finish, stop))
            if self._socket is not None:
                await self._socket.run(stop)
        await stop.wait()

    async def _identify(self, stop: asyncio.Event) -> bool:
        """Whether we know who we are; Slack is asked until it tells, or until we stop."""
        for attempt in range(1_000_000):
            try:
                us = await self.workspace.directory.identity()
            except Refusal as refusal:
                if (wrong := fatal(refusal)) is not None:
                    raise wrong from None
                log.warning("slack_refuses", reason=refusal.error)
            except PlatformUnavailable as error:
                log.warning("slack_away", reason=str(error))
            else:
                log.info("slack_known", team=us.team, bot=us.user, mode=self._mode())
                return True
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS[min(attempt, len(RETRY_SECONDS) - 1)]):
                    await stop.wait()
            if stop.is_set():
                break
        return False

    def _mode(self) -> str:
        if not self._listens:
            return "calls alone"
        return "socket" if self._socket else "http"

    def _connections(self) -> int:
        """How often Slack began to tell us of events; 0 while it tells us nothing."""
        return 1 if self._socket is None else self._socket.connections

    async def _ask_whether_refused(self, stop: asyncio.Event) -> None:
        """While our token is refused, ask now and again whether it is taken: nobody else may call for hours."""
        while not stop.is_set():
            await pause(stop, RETRY_SECONDS[-1])
            if self.workspace.web.refused_us and not stop.is_set():
                with suppress(Refusal, PlatformUnavailable):
                    await self.workspace.web.eagerly("auth.test")

    def waiting_for(self) -> str:
        """Why it is not ready yet; empty when it is."""
        if refused := self.workspace.web.refused_us:
            return f"Slack refuses the token ({refused}); footnote doctor says what to do"
        if self.workspace.directory.known is None:
            return "Slack has not answered yet"
        return "Socket Mode is not connected" if self._socket is not None and not self._socket.connected else ""

    def routes(self) -> list[web.RouteDef]:
        """What Slack calls in HTTP mode: events, interactions and commands at one address."""
        return [web.post(PATH, self._over_http)] if self._listens and self._socket is None else []

    def capabilities(self) -> PlatformCapabilities:
        """What it lends to whoever works on the knowledge."""
        lent = self._knowledge.capabilities() if self._knowledge is not None else PlatformCapabilities()
        return replace(lent, announcements=SlackAnnouncements(self.workspace))

    # --- the two roads

    async def _over_http(self, request: web.Request) -> web.Response:
        if self._bolt is None:
            return web.Response(status=503)
        try:
            answer = await self._bolt.async_dispatch(await to_bolt_request(request))
        except (FootnoteError, Refusal) as error:
            log.warning("not_taken", reason=str(error))
            return web.Response(status=503)
        return await to_aiohttp_response(answer)

    async def _in_socket_mode(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        if self._bolt is None:
            return
        try:
            answer = await run_async_bolt_app(self._bolt, request)
            if answer.status == 200:  # anything else is not acknowledged: Slack delivers it again
                await send_async_response(client, request, answer, 0.0)
        except (FootnoteError, Refusal) as error:
            log.warning("not_taken", reason=str(error))
        except ConnectionError as error:
            log.warning("acknowledgement_lost", reason=type(error).__name__)

    def _build_bolt_app(self) -> AsyncApp:
        async def authorize() -> AuthorizeResult:  # a plain function: Bolt looks at the names of its arguments
            us = await self.workspace.directory.identity()
            return AuthorizeResult(
                enterprise_id=None, team_id=us.team, bot_token=self._bot_token, bot_id=us.bot, bot_user_id=us.user
            )

        app = AsyncApp(
            client=self.workspace.web.client,
            authorize=authorize,
            signing_secret=self._signing_secret or "none: Socket Mode has no signatures",
            request_verification_enabled=self._socket is None,
            ignoring_self_events_enabled=False,
            ssl_check_enabled=False,
            attaching_function_token_enabled=False,
            attaching_conversation_kwargs_enabled=False,
            logger=quiet_logger(),
        )
        app.middleware(self._take_event)
        app.action(re.compile(f"^{blocks.CHOOSE}_"))(self._choose)
        pressed: dict[str, Callable[[Press], Awaitable[None]]] = {
            blocks.QUOTES: self._button_handlers.quotes,
            blocks.WHY: self._button_handlers.why,
            blocks.FEEDBACK: self._button_handlers.feedback,
            blocks.HANDOFF: self._button_handlers.hand_over,
            blocks.STOP: self._button_handlers.stop,
        }
        for action, work in pressed.items():
            app.action(action)(self._button_listener(work))
        app.action(re.compile(f"^{blocks.FOLLOW_UP}_"))(self._button_listener(self._button_handlers.ask_follow_up))
        app.action(blocks.SHARE)(self._share)
        app.view(views.NARROW)(self._narrow)
        app.view(views.REASON)(self._reason)
        app.view(views.SETTINGS)(self._save_settings)
        on_home: dict[str, Callable[[Press], Awaitable[None]]] = {
            home_view.ADD: self._home_buttons.add_knowledge,
            home_view.SETTINGS: self._home_buttons.choose_channel,
            home_view.GAPS: self._home_buttons.show_gaps,
            home_view.TELL_DAILY: self._home_buttons.tell_daily,
        }
        for action, work in on_home.items():
            app.action(action)(self._home_listener(work))
        app.view(home_view.CHOOSE_CHANNEL)(self._chosen_channel)
        app.command(COMMAND)(self._command_listener(self._commands.answer))
        if self._knowledge is not None:
            KbListeners(self._knowledge, self._home).register(app)
        else:
            app.command(KB)(self._command_listener(_no_knowledge))
        app.shortcut(ANSWER_THIS)(self._shortcut(self._button_handlers.answer_this))
        app.shortcut(ADD_TO_KNOWLEDGE)(self._shortcut(self._button_handlers.add_to_knowledge))
        app.action(re.compile(".*"))(_acknowledge)
        app.view(re.compile(".*"))(_acknowledge)
        return app

    # --- events

    async def _take_event(self, body: Body, next: Callable[[], Awaitable[None]]) -> BoltResponse | None:  # noqa: A002 - Bolt's name
        """Events end here, kept or refused; everything else goes on to its listener."""
        if body.get("type") != "event_callback":
            await next()
            return None
        event, team = body["event"], str(body["team_id"])
        if event.get("type") == "app_home_opened":
            self._do_aside(self._open_home(event, team))
            return BoltResponse(status=200, body="")
        try:
            async with asyncio.timeout(KEEP_SECONDS), self._order.turn(thread_of(event)):
                turned = await self._event_listener.take(event, team)
        except (FootnoteError, Refusal, TimeoutError) as error:
            log.warning("event_not_kept", event_id=body.get("event_id"), reason=str(error) or "timeout")
            return BoltResponse(status=503, body="")
        if turned.told and turned.message is not None:
            message = turned.message
            self._do_aside(self._tell(message.thread, message.reply_target.asker, turned.told))
        return BoltResponse(status=200, body="")

    async def _open_home(self, event: Body, team: str) -> None:
        if event.get("tab") == "messages":
            await self._home.suggest(team, str(event["channel"]), str(event["user"]))
        else:
            await self._home.publish(team, str(event["user"]))

    async def _tell(self, thread: ThreadKey, user: str, text: str) -> None:
        await self.workspace.whisper(thread, user, text)

    def _do_aside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that nobody waits for; bounded, owned, and its failure logged."""
        if len(self._aside) >= MOST_ASIDE:
            work.close()
            log.warning("too_much_aside")
            return
        task = asyncio.create_task(_run_logged(work))
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    # --- presses, commands, views

    def _button_listener(self, work: Callable[[Press], Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def listener(ack: Ack, body: Body) -> None:
            await ack()
            press = Press.of(body)
            await self._honestly(work(press), press.thread, press.user)

        return listener

    async def _choose(self, ack: Ack, body: Body, respond: Ack) -> None:
        """A choice is kept before it is acknowledged, then the card says what was chosen."""
        press = Press.of(body)
        kept = await self._honestly(self._button_handlers.choose(press), press.thread, press.user)
        await ack()
        if not kept:
            return
        checkpoint = ChoiceValue.decode(press.value).checkpoint
        shown = list(press.shown)
        if press.ephemeral:
            layout = await self._button_handlers.settle_card(press.thread, checkpoint, press.user, shown)
            await self.workspace.web.answer(respond, text="Chosen.", blocks=layout, replace_original=True)
        else:
            await self._button_handlers.settle(press.thread, checkpoint, press.user, press.message_ts, shown)

    async def _narrow(self, ack: Ack, body: Body) -> None:
        try:
            kept = await self._button_handlers.narrow(body)
        except Unavailable:
            await acknowledge(ack, errors={"narrow": TRY_AGAIN})
            return
        except FootnoteError as error:
            await acknowledge(ack, errors={"narrow": str(error)})
            return
        await ack()
        if kept is not None and kept[1]:
            choice, card = kept
            await self._button_handlers.settle(choice.thread, choice.checkpoint, choice.reply_target.asker, card, [])

    async def _reason(self, ack: Ack, body: Body) -> None:
        """What was wrong, and what would be right, is kept before the form closes."""
        try:
            async with asyncio.timeout(KEEP_SECONDS):
                result = await self._button_handlers.reason(body)
        except (Unavailable, TimeoutError) as error:
            log.warning("form_not_kept", reason=str(error) or "timeout")
            await acknowledge(ack, errors={"reason": TRY_AGAIN})
            return
        if result is not None and not succeeded(result):
            await acknowledge(ack, errors={"answer": outcome_text(result)})
            return
        await ack()
        if result is not None and self._knowledge is not None:
            (team, user), kept = who_sent(body), form_in(ReasonForm, body["view"])
            await self._knowledge.tell([result], ThreadKey(PLATFORM, team, kept.channel, kept.root), user)

    async def _save_settings(self, ack: Ack, body: Body) -> None:
        try:
            await self._commands.save_settings(body)
        except FootnoteError as error:
            await acknowledge(ack, errors={"profile": str(error)})
            return
        await ack()

    def _home_listener(self, work: Callable[[Press], Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def listener(ack: Ack, body: Body) -> None:
            await ack()
            press = Press.of(body)
            try:
                await work(press)
            except FootnoteError as error:
                await self._home.publish(press.thread.space, press.user, plain_lines([str(error)]))

        return listener

    async def _chosen_channel(self, ack: Ack, body: Body) -> None:
        try:
            async with asyncio.timeout(KEEP_SECONDS):
                view = await self._home_buttons.channel_settings(body)
        except (FootnoteError, TimeoutError) as error:
            await acknowledge(ack, errors={"channel": str(error) or TRY_AGAIN})
            return
        await acknowledge(ack, view=view)

    async def _share(self, ack: Ack, body: Body, respond: Ack) -> None:
        await ack()
        press = Press.of(body)
        if await self._honestly(self._button_handlers.share(press), press.thread, press.user):
            await self.workspace.web.answer(respond, delete_original=True)

    def _command_listener(
        self, answer: Callable[[SlashCommand], Awaitable[str | None]]
    ) -> Callable[..., Awaitable[None]]:
        async def listener(ack: Ack, body: Body, respond: Ack) -> None:
            await ack()
            try:
                told = await answer(SlashCommand.of(body))
            except FootnoteError as error:
                told = str(error)
            except Exception:
                log.exception("command_failed")
                told = WENT_WRONG
            if told:
                await self.workspace.web.answer(respond, text=told, response_type="ephemeral")

        return listener

    def _shortcut(self, work: Callable[[Body], Awaitable[str | ShownReply]]) -> Callable[..., Awaitable[None]]:
        async def listener(ack: Ack, body: Body, respond: Ack) -> None:
            await ack()
            try:
                result = await work(body)
            except FootnoteError as error:
                result = str(error)
            shown = text_reply(result) if isinstance(result, str) else result
            if shown.text:
                text = blocks.fallback(shown.text)
                await self.workspace.web.answer(
                    respond, text=text, blocks=shown.blocks, response_type="ephemeral", replace_original=False
                )

        return listener

    async def _honestly(self, work: Awaitable[Any], thread: ThreadKey, user: str) -> Any:
        """Do it; when it fails, say so to the one who pressed. None then."""
        try:
            return await work
        except Unavailable as error:
            log.warning("press_failed", reason=str(error))
            await self.workspace.whisper(thread, user, TRY_AGAIN)
        except FootnoteError as error:
            await self.workspace.whisper(thread, user, str(error))
        except Exception:
            log.exception("press_failed")
            await self.workspace.whisper(thread, user, WENT_WRONG)
        return None


async def _acknowledge(ack: Ack) -> None:
    """What is not ours to handle is at least taken note of."""
    await ack()


async def _run_logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("aside_failed")


__all__ = ["PATH", "PLATFORM", "SlackPlatform"]


async def _no_knowledge(_given: SlashCommand) -> str:
    return "The knowledge is not looked after from here."
