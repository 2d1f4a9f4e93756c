"""The gateway connection: login, staying connected, and reconnecting after any failure.

No failure of Discord or the network ends this. ``readiness_problem`` gives the current problem, and each reason is
logged once. A refused token or intent is retried too, but rarely: only a person can fix it, and waiting questions are
kept until then.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

import discord
import structlog

from adapters.discord.api.errors import RESET_REMEDY, TokenRefused
from adapters.discord.inbound.gateway import NO_CONTENT_REMEDY, FootnoteClient, log_in, reads_content
from core.model.errors import ConfigurationError, PlatformUnavailable
from core.service.leases import LeaderLease

RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)  # before the next login
REFUSED_SECONDS = 60.0  # the same, after Discord refused our token or intents
LONGEST_AWAY = 90.0  # seconds; the library's own backoff grows to a quarter of an hour
LOOK_SECONDS = 5.0  # between two checks of how long the connection has been lost
STAND_BY_SECONDS = 1.0  # a free lease arrives within this time; otherwise we work without the gateway
CLOSE_SECONDS = 10.0
BAD_TOKEN = 4004  # the gateway's close code
NOT_YET = "it is not connected yet"
AWAY = "the connection to Discord's gateway is lost; it is tried again"

log = structlog.get_logger(__name__)

MakeClient = Callable[[bool], FootnoteClient]


class GatewayConnection:
    """One gateway session after another. ``make_client`` returns a new client, with or without the content intent.

    ``lease`` is the right to hold the gateway connection. A process without it still logs in: it can use Discord's API,
    but receives no events.
    """

    def __init__(self, make_client: MakeClient, token: str, lease: LeaderLease) -> None:
        self._make_client = make_client
        self._token = token
        self._lease = lease
        self._content = True
        self._problem = NOT_YET
        self._away_since: float | None = None
        self._failures = 0  # since the last session
        self._sessions = 0
        self._holding = False
        self._ready = asyncio.Event()
        self.client: FootnoteClient | None = None

    def readiness_problem(self) -> str:
        """Return why we cannot answer anybody now, or an empty string if we can."""
        if self.client is not None and self.client.responses.token_refused:
            return str(TokenRefused())
        return self._problem

    async def wait_until_ready(self, seconds: float) -> None:
        """Wait for the connection. Raises PlatformUnavailable with the reason after ``seconds``."""
        try:
            async with asyncio.timeout(seconds):
                await self._ready.wait()
        except TimeoutError:
            raise PlatformUnavailable(f"Discord: {self._problem or NOT_YET}.") from None

    # --- gateway events

    def session(self) -> int:
        """Return the number of this session, from 1, or 0 while disconnected."""
        return self._sessions if self._away_since is None else 0

    def holds_gateway(self) -> bool:
        """Return whether we hold the gateway connection, so that its server data is current."""
        return self._holding

    def mark_established(self) -> None:
        """Record a new session. Discord can be called now."""
        self._away_since = None
        self._sessions += 1
        self._failures = 0
        self._ready.set()

    def mark_serving(self) -> None:
        """Record that everything people need is ready."""
        self._problem = ""

    def mark_resumed(self) -> None:
        """Record that the session resumed and missed nothing."""
        self._away_since = None
        if self._problem == AWAY:
            self._problem = ""

    def mark_disconnected(self) -> None:
        """Record that the connection is lost; the library reconnects."""
        if self._away_since is None:
            self._away_since = time.monotonic()
        self._problem = self._problem or AWAY

    # --- staying connected

    async def hold(self) -> None:
        """Stay connected until cancelled."""
        while True:
            try:
                await self._run_client()
            except PlatformUnavailable as error:
                await self._report(error, self._pause())
            except ConfigurationError as error:
                await self._report(error, REFUSED_SECONDS)

    def _pause(self) -> float:
        """Return the seconds until the next attempt, which grow with failures since the last session."""
        self._failures += 1
        return RETRY_SECONDS[min(self._failures, len(RETRY_SECONDS)) - 1]

    async def _report(self, error: PlatformUnavailable | ConfigurationError, pause: float) -> None:
        self._ready.clear()
        if self._problem != str(error):
            log.error("discord_away", reason=str(error))
        self._problem = str(error)
        await asyncio.sleep(pause)

    async def _run_client(self) -> None:
        """Log in and stay connected with one client. Raises PlatformUnavailable, and ConfigurationError if refused.

        If cancelled, it leaves the client open, so that answers in progress can still be shown.
        """
        client = self._make_client(self._content)
        try:
            await self._log_in_and_stay(client)
        except asyncio.CancelledError:
            if self.client is not client:
                await client.close()
            raise
        except BaseException:
            await client.close()
            raise
        await client.close()

    async def _log_in_and_stay(self, client: FootnoteClient) -> None:
        try:
            await log_in(client, self._token)
            if self._content and not reads_content(client):
                return self._give_up_content()
            self.client = client
            await self._stay_connected(client)
        except discord.PrivilegedIntentsRequired:
            if not self._content:
                raise ConfigurationError("Discord rejected the bot's intents.", remedy=NO_CONTENT_REMEDY) from None
            self._give_up_content()
        except discord.ConnectionClosed as error:
            if error.code == BAD_TOKEN:
                raise ConfigurationError("Discord rejected DISCORD_BOT_TOKEN.", remedy=RESET_REMEDY) from None
            remedy = "footnote doctor shows what is missing."
            raise ConfigurationError(f"Discord closed the connection ({error.code}).", remedy=remedy) from None
        return None

    def _give_up_content(self) -> None:
        """Log which intent to switch on, and continue without it: mentions, direct messages and commands still work."""
        log.error("discord_intent_missing", intent="message_content", remedy=NO_CONTENT_REMEDY)
        self._content = False

    async def _stay_connected(self, client: FootnoteClient) -> None:
        """Keep a logged-in client connected. Restart when the library gives up or waits too long."""
        while True:
            await self._wait_for_lease()
            holding = asyncio.create_task(self._lease.renew_until_lost())
            connecting = asyncio.create_task(client.connect(reconnect=True))
            try:
                await self._watch(connecting, holding)
            finally:
                await self._disconnect(client, connecting, holding)
            if client.is_closed():
                return
            self.mark_disconnected()
            await asyncio.sleep(self._pause())

    async def _wait_for_lease(self) -> None:
        """Wait for the gateway lease. Until then we receive no events, but API calls work."""
        if not self._holding:
            waiting = asyncio.create_task(self._lease.wait_until_leader())
            try:
                await asyncio.wait({waiting}, timeout=STAND_BY_SECONDS)
                if not waiting.done():
                    log.info("discord_standing_by")
                    self._problem = ""
                    self._ready.set()
                await waiting
            finally:
                waiting.cancel()
            self._ready.clear()
            self._problem = NOT_YET
            self._holding = True

    async def _disconnect(
        self, client: FootnoteClient, connecting: "asyncio.Task[None]", holding: "asyncio.Task[None]"
    ) -> None:
        """End the connection. After losing the lease, also close the socket, which the library would leave open."""
        if holding.done():
            self._holding = False
            await _close_socket(client)
        for task in (connecting, holding):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task

    async def hang_up(self, holding: "asyncio.Task[None]") -> None:
        """Stop receiving events. ``holding`` runs ``hold``. Answers in progress can still be shown until ``close``."""
        self._problem = "it is closing"
        holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)
        if self.client is not None:
            await _close_socket(self.client)
        await self._lease.release()

    async def close(self) -> None:
        """Close the client. Nothing can be shown afterwards."""
        if self.client is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self.client.close()

    async def _watch(self, connecting: "asyncio.Task[None]", holding: "asyncio.Task[None]") -> None:
        """Wait until the library gives up, the connection is lost for too long, or the lease is lost.

        Raises ConnectionClosed and PrivilegedIntentsRequired. Any other error counts as a failed connection, because
        the library itself raises some when its first connection fails.
        """
        both, first = {connecting, holding}, asyncio.FIRST_COMPLETED
        while not (await asyncio.wait(both, timeout=LOOK_SECONDS, return_when=first))[0]:
            if self._away_since is not None and time.monotonic() - self._away_since > LONGEST_AWAY:
                self._away_since = time.monotonic()
                return
        if not connecting.done():
            return
        try:
            connecting.result()
        except (discord.ConnectionClosed, discord.PrivilegedIntentsRequired):
            raise
        except Exception as error:  # noqa: BLE001 - retry whatever the error was
            log.warning("discord_connection_failed", reason=type(error).__name__)


async def _close_socket(client: FootnoteClient) -> None:
    if client.ws is not None:  # None until the first connection, despite the declared type
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await client.ws.close(code=1000)
