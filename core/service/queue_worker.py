"""Works off the inbox: a bounded number of lanes, each handing one leased delivery at a time to the message handler."""

import asyncio
import logging

from core.model.clock import Clock
from core.model.errors import FootnoteError
from core.model.incoming_events import Expiry
from core.model.records import CheckpointState
from core.ports.inbox import Inbox, Lease
from core.service.incoming import delivery
from core.service.leases import pause, work_off
from core.service.message_handler import MessageHandler

EXPIRY_SECONDS = 5.0

log = logging.getLogger(__name__)


class Worker:
    """A bounded number of lanes over one inbox. Several processes may each run one."""

    def __init__(
        self, *, name: str, inbox: Inbox, message_handler: MessageHandler, clock: Clock, lanes: int = 8
    ) -> None:
        """Work under this name, on this many deliveries at once."""
        self._name = name
        self._inbox = inbox
        self._message_handler = message_handler
        self._clock = clock
        self._lanes = lanes

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set, then finish what is under way. Cancelled, it hands back what is not finished."""
        async with asyncio.TaskGroup() as group:
            for lane in range(self._lanes):
                group.create_task(work_off(self._inbox, self._handle, f"{self._name}-{lane}", stop))
            group.create_task(self._expire(stop))

    async def _handle(self, lease: Lease) -> None:
        with self._message_handler.metrics.track_work():
            await self._message_handler.handle(lease)

    async def _expire(self, stop: asyncio.Event) -> None:
        """Put checkpoints whose time is over into the inbox, so that exactly one worker answers each."""
        while not stop.is_set():
            await pause(stop, EXPIRY_SECONDS)
            try:
                await self._put_expired()
            except FootnoteError as error:
                log.warning("expiry_failed", extra={"reason": str(error)})
            except Exception:
                log.exception("expiry_failed")

    async def _put_expired(self) -> None:
        for checkpoint_id in await self._message_handler.checkpoints.due(self._clock.now()):
            parked = await self._message_handler.checkpoints.read(checkpoint_id)
            if parked is None or parked.checkpoint.thread.platform not in self._message_handler.platforms:
                continue
            card = CheckpointState(thread=parked.checkpoint.thread, checkpoint=checkpoint_id)
            kept = await self._message_handler.message_states.read(card)
            if kept is not None and kept.question is not None:
                await self._inbox.put(delivery(f"expiry:{checkpoint_id}", Expiry(checkpoint_id, kept.question)))
