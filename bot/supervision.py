"""A platform that is kept running: whatever ends its connection, it is begun again, and the others never notice."""

import asyncio

import structlog

from adapters.platform_plugin import ConnectedPlatform
from core.model.errors import ConfigurationError, FootnoteError
from core.service.leases import pause

RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)  # the last one again and again

log = structlog.get_logger(__name__)


class SupervisedPlatform:
    """One connected platform, with the reason why it is away while it is."""

    def __init__(self, platform: ConnectedPlatform, *, alone: bool) -> None:
        """``alone``: there is nothing else to serve, so that credentials which were never let in end the process."""
        self._platform = platform
        self._alone = alone
        self._away = ""

    @property
    def name(self) -> str:
        """The platform's name."""
        return self._platform.name

    def readiness_problem(self) -> str:
        """Why people cannot reach it right now; empty when they can."""
        return self._away or self._platform.readiness_problem()

    async def run(self, stop: asyncio.Event) -> None:
        """Run it until ``stop`` is set. Raises ConfigurationError where it is alone, and is not let in at all."""
        failures = 0
        while not stop.is_set():
            started = asyncio.get_running_loop().time()
            try:
                await self._platform.run(stop)
            except ConfigurationError as error:
                if self._alone:
                    raise
                self._record_failure(error)
            except Exception as error:  # noqa: BLE001 - no error of one platform ends the service
                self._record_failure(error)
            else:
                return
            lasted = asyncio.get_running_loop().time() - started
            failures = 0 if lasted > RETRY_SECONDS[-1] else failures
            await pause(stop, RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])
            failures += 1
            self._away = ""

    def _record_failure(self, error: Exception) -> None:
        ours = isinstance(error, FootnoteError)
        self._away = str(error) if ours else "it failed; the log says why"
        log.error("platform_failed", platform=self.name, reason=str(error), exc_info=None if ours else error)
