"""The stream of ready tokens: "this thread may have something to do", told to whichever worker asks next.

A token is a hint. It carries no work and confers no right; the lease does that. What makes losing work impossible is
one rule that every caller keeps: **a token is acknowledged only after its thread's queue was seen empty, or after a
new token for the thread was added.** A delivery is queued before its token is added, so while it is queued some token
of its thread is unacknowledged: read by somebody, or in the stream to be read. Tokens that a worker read and did not
acknowledge (it died, or another held the thread) are looked at again, by anybody, once they have been idle a while.
Since nobody owns a token, all processes read as one consumer of the group.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from adapters.redis.pipelines import Command, in_order, lua

_GROUP = "workers"
_CONSUMER = "worker"
BATCH = 64  # tokens that one process holds at most, to choose fairly among

# KEYS stream; ARGV group token…
_ACKNOWLEDGE = """
for i = 2, #ARGV do
  redis.call('XACK', KEYS[1], ARGV[1], ARGV[i])
  redis.call('XDEL', KEYS[1], ARGV[i])
end
return 1
"""


class ReadyThread(NamedTuple):
    """A thread that may have something to do, with the tokens that said so."""

    thread: str
    tokens: tuple[str, ...]


class FairQueue:
    """Tokens in hand, given out in turn by person: who has many threads waiting does not keep others waiting."""

    def __init__(self) -> None:
        self._people: OrderedDict[str, OrderedDict[str, list[str]]] = OrderedDict()

    def __len__(self) -> int:
        return sum(len(threads) for threads in self._people.values())

    def add(self, token: str, thread: str, person: str) -> None:
        """Keep a token; several of one thread stand together."""
        tokens = self._people.setdefault(person, OrderedDict()).setdefault(thread, [])
        if token not in tokens:
            tokens.append(token)

    def next(self) -> ReadyThread | None:
        """Return the oldest thread of the person whose turn it is; that person goes to the end of the line."""
        if not self._people:
            return None
        person, threads = self._people.popitem(last=False)
        thread, tokens = threads.popitem(last=False)
        if threads:
            self._people[person] = threads
        return ReadyThread(thread, tuple(tokens))


class ReadyTokens:
    """The stream itself. Raises redis exceptions: its caller reaches Redis."""

    def __init__(self, client: Redis, *, stream: str, idle_ms: int) -> None:
        self._client = client
        self._stream = stream
        self._idle_ms = idle_ms
        self._cursor = "0-0"
        self._grouped = False

    async def add(self, thread: str, person: str) -> None:
        """Say that a thread may have something to do."""
        await in_order(self._client, self.add_command(thread, person))

    async def acknowledge(self, tokens: Sequence[str]) -> None:
        """Remove tokens, under the rule above."""
        await in_order(self._client, *self.acknowledge_command(tokens))

    def add_command(self, thread: str, person: str) -> Command:
        """Return what ``add`` has carried out."""
        return ("XADD", self._stream, "*", "thread", thread, "person", person)

    def acknowledge_command(self, tokens: Sequence[str]) -> Sequence[Command]:
        """Return what ``acknowledge`` has carried out."""
        return [lua(_ACKNOWLEDGE, [self._stream], _GROUP, *tokens)] if tokens else []

    async def read(self, into: FairQueue, *, block_ms: int | None = None) -> None:
        """Take new tokens as they come, waiting up to ``block_ms`` for the first."""
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
            self._grouped = False  # the server came back without its data: begin anew
            return
        for _, entries in found or ():
            _keep(entries, into)

    async def reclaim(self, into: FairQueue) -> None:
        """Look again at tokens that were read a while ago and are not acknowledged, a batch at a time."""
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
        """How many tokens there are."""
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
