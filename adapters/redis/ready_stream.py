"""Stream of ready tokens, which announce to any worker that a thread may have work.

A token is a hint. It carries no work and grants no right; the lease does that. One rule ensures that no work is lost:
**a token is acknowledged only after its thread's queue was seen empty, or after a new token for the thread was added.**
A delivery is queued before its token is added. So while it is queued, some token of its thread is unacknowledged: in
the stream, or read by a worker. If a worker read tokens and did not acknowledge them (it died, or another worker held
the thread), any worker checks them again after an idle time. Nobody owns a token, so all processes read as one consumer
of the group.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from adapters.redis.pipelines import Command, in_order, lua

_GROUP = "workers"
_CONSUMER = "worker"
BATCH = 64  # maximum number of tokens per process to choose fairly among

# KEYS stream; ARGV group token…
_ACKNOWLEDGE = """
for i = 2, #ARGV do
  redis.call('XACK', KEYS[1], ARGV[1], ARGV[i])
  redis.call('XDEL', KEYS[1], ARGV[i])
end
return 1
"""


class ReadyThread(NamedTuple):
    """A thread that may have work, with its tokens."""

    thread: str
    tokens: tuple[str, ...]


class FairQueue:
    """Queue of tokens, handed out in turns by person, so that many threads of one person do not delay others."""

    def __init__(self) -> None:
        self._people: OrderedDict[str, OrderedDict[str, list[str]]] = OrderedDict()

    def __len__(self) -> int:
        return sum(len(threads) for threads in self._people.values())

    def add(self, token: str, thread: str, person: str) -> None:
        """Add a token, grouped with others of its thread."""
        tokens = self._people.setdefault(person, OrderedDict()).setdefault(thread, [])
        if token not in tokens:
            tokens.append(token)

    def next(self) -> ReadyThread | None:
        """Return the oldest thread of the next person, who then goes to the end of the queue."""
        if not self._people:
            return None
        person, threads = self._people.popitem(last=False)
        thread, tokens = threads.popitem(last=False)
        if threads:
            self._people[person] = threads
        return ReadyThread(thread, tuple(tokens))


class ReadyTokens:
    """The stream of tokens. Raises redis exceptions, which its caller translates."""

    def __init__(self, client: Redis, *, stream: str, idle_ms: int) -> None:
        self._client = client
        self._stream = stream
        self._idle_ms = idle_ms
        self._cursor = "0-0"
        self._grouped = False

    async def add(self, thread: str, person: str) -> None:
        """Add a token for a thread that may have work."""
        await in_order(self._client, self.add_command(thread, person))

    async def acknowledge(self, tokens: Sequence[str]) -> None:
        """Acknowledge and delete tokens, under the rule above."""
        await in_order(self._client, *self.acknowledge_command(tokens))

    def add_command(self, thread: str, person: str) -> Command:
        """Return the command of ``add``."""
        return ("XADD", self._stream, "*", "thread", thread, "person", person)

    def acknowledge_command(self, tokens: Sequence[str]) -> Sequence[Command]:
        """Return the commands of ``acknowledge``."""
        return [lua(_ACKNOWLEDGE, [self._stream], _GROUP, *tokens)] if tokens else []

    async def read(self, into: FairQueue, *, block_ms: int | None = None) -> None:
        """Read new tokens, waiting up to ``block_ms`` for the first."""
        room = BATCH - len(into)
        if room <= 0:
            return
        try:
            await self._ensure_group()
            found: Any = await self._client.xreadgroup(
                _GROUP, _CONSUMER, {self._stream: ">"}, count=room, block=block_ms
            )
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
            self._grouped = False  # the server restarted without its data: create the group again
            return
        for _, entries in found or ():
            _keep(entries, into)

    async def reclaim(self, into: FairQueue) -> None:
        """Read tokens again that were read some time ago and not acknowledged, a batch at a time."""
        await self._ensure_group()
        try:
            found: Any = await self._client.xautoclaim(
                self._stream, _GROUP, _CONSUMER, self._idle_ms, start_id=self._cursor, count=BATCH
            )
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
            self._grouped = False
            return
        self._cursor = str(found[0])
        _keep(found[1], into)

    async def count(self) -> int:
        """Return the number of tokens."""
        return int(await self._client.xlen(self._stream))

    async def _ensure_group(self) -> None:
        if self._grouped:
            return
        try:
            await self._client.xgroup_create(self._stream, _GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise
        self._grouped = True


def _keep(entries: Sequence[Any], into: FairQueue) -> None:
    for token, fields in entries:
        if fields:
            into.add(str(token), fields["thread"], fields["person"])
