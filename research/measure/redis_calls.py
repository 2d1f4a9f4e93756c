# ruff: noqa: T201 - a script speaks to its caller
"""How many commands one mention and each kind of press cost Redis: ``python -m research.measure.redis_calls``.

A whole process on a fake Slack, over an embedded Valkey that says itself (MONITOR) what it was asked. Left out is what
goes on however long an answer takes: waiting for work, looking for a request to cancel, renewing a lease.
"""

import asyncio
import re
import tempfile
from collections import Counter
from pathlib import Path

from redis.asyncio import Redis

from adapters.redis.client import connect
from adapters.redis.embedded_server import EmbeddedValkey
from adapters.redis.inbox import RedisInbox
from adapters.redis.kb_stores import RedisProposalStore
from adapters.redis.memory import RedisCheckpoints, RedisMemory
from adapters.redis.message_state import RedisMessageStateStore
from adapters.redis.question_log import RedisFeedbackStore
from adapters.redis.settings import RedisAudit, RedisChannelSettingsStore
from adapters.redis.usage import RedisTraceStore
from core.agent.agent import Agent
from core.agent.run import AgentDeps
from core.model.channel_settings import ChannelSettings
from core.model.inquiry import PROFILE_LIMITS, AskBack
from core.retrieval.hybrid import Retriever
from core.service.actions.user_actions import UserActions
from core.service.disputes.decisions import DisputeReports
from core.service.question_service import QuestionService
from core.service.visibility import VisibleMemory
from tests.e2e.inprocess import Bot
from tests.e2e.slack_driver import SlackDriver
from tests.fakes.slack import FakeSlack

QUESTION = "how long do refunds take?"
READINGS = ("How long do refunds take?", "Who approves refunds?")
_BESIDE = re.compile(
    r'"(?:XREADGROUP|XAUTOCLAIM|XACK|PING|CLIENT|INFO|SCRIPT|WAITAOF|GETDEL|HELLO)"|:heard\}|"DUE"|due"'
)


class RedisBot(Bot):
    """The tests' process, with everything it keeps in Redis."""

    def __init__(self, driver: SlackDriver, client: Redis) -> None:
        super().__init__(driver)
        harness = self.harness
        harness.memory = memory = VisibleMemory(RedisMemory(client), harness.catalog)  # type: ignore[assignment]
        harness.checkpoints = checkpoints = RedisCheckpoints(client)  # type: ignore[assignment]
        trace_store = RedisTraceStore(client)
        deps = AgentDeps(
            reasoner=self.reasoner,
            retriever=Retriever(harness.index, harness.encoder, None, harness.catalog),
            index=harness.index,
            catalog=harness.catalog,
            clock=harness.clock,
        )
        harness.question_service = QuestionService(
            agent=Agent(deps, PROFILE_LIMITS),
            reasoner=self.reasoner,
            memory=memory,
            checkpoints=checkpoints,
            trace_store=trace_store,
            catalog=harness.catalog,
            clock=harness.clock,
        )
        self.inbox = RedisInbox(client)  # type: ignore[assignment]
        self.message_states = RedisMessageStateStore(client)  # type: ignore[assignment]
        self.user_actions = UserActions.build(
            memory=memory,
            trace_store=trace_store,
            catalog=harness.catalog,
            feedback=RedisFeedbackStore(client),
            settings_store=RedisChannelSettingsStore(client),
            audit=RedisAudit(client),
            inbox=self.inbox,
            message_states=self.message_states,
            checkpoints=checkpoints,
            defaults=ChannelSettings(),
            disputes=DisputeReports(RedisProposalStore(client), harness.clock),
        )


class Counted:
    """What the server was asked since the last look."""

    def __init__(self) -> None:
        self.commands: list[str] = []

    async def listen(self, client: Redis) -> None:
        async with client.monitor() as monitor:
            async for said in monitor.listen():
                if said["client_type"] != "lua":
                    self.commands.append(str(said["command"]))

    async def look(self, what: str) -> None:
        """Say what came, once nothing has come for a while."""
        seen = -1
        while seen != len(self.asked()):
            seen = len(self.asked())
            await asyncio.sleep(1.5)
        kinds = Counter(_kind(command) for command in self.asked())
        print(f"{what:<34}{len(self.asked()):>4}   " + ", ".join(f"{kind} {n}" for kind, n in kinds.most_common()))
        self.commands.clear()

    def asked(self) -> list[str]:
        return [one for one in self.commands if not _BESIDE.search(f'"{one.split(" ", 1)[0]}" {one}')]


def _kind(command: str) -> str:
    """Return a command with the part of its key that says what is kept there."""
    name, _, rest = command.partition(" ")
    key = re.search(r"footnote:(?:\{[^}]*\}:)?([\w@-]+)", rest)
    return f"{name.lower()} {key[1] if key else ''}".strip()


async def measure() -> None:
    with tempfile.TemporaryDirectory(prefix="redis-calls-") as folder:
        server = EmbeddedValkey(Path(folder))
        await server.start()
        client, watching, counted = connect(server.url), Redis.from_url(server.url), Counted()
        listening = asyncio.create_task(counted.listen(watching))
        try:
            async with FakeSlack() as slack:
                await _play(RedisBot(SlackDriver(slack, "socket"), client), counted)
        finally:
            listening.cancel()
            await watching.aclose()
            await client.aclose()
            await server.close()


async def _play(bot: RedisBot, counted: Counted) -> None:
    driver = bot.driver
    await bot.harness.knows("Refunds are paid within 14 days.", title="Refund policy")
    async with bot.running(lanes=2):
        await counted.look("(connecting)")
        first = await driver.says("alice", QUESTION)
        shown = await driver.reply(first, "14 days")
        await counted.look("a mention, in a new thread")
        await driver.reply(await driver.says("alice", QUESTION, thread=first))
        await counted.look("a mention, in a known thread")
        await driver.presses("alice", shown, "Show quotes")
        await counted.look("pressing Show quotes")
        await driver.presses("alice", shown, driver.rating(helpful=True))
        await counted.look("pressing Helpful")
        bot.reasoner.enqueue("decide", AskBack("Which do you mean?", READINGS))
        card = await driver.reply(await driver.says("bob", "refunds?"), "Which do you mean?")
        await counted.look("a mention that ends in a card")
        await driver.presses("carol", card, READINGS[0])
        await counted.look("a stranger's choice, refused")
        await driver.presses("bob", card, READINGS[0])
        await counted.look("a choice, with its answer")


if __name__ == "__main__":
    asyncio.run(measure())
