"""Footnote on a Redis Cluster, behind Sentinels and over TLS: asked, governed, forgotten; and a primary that dies."""

import asyncio
import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis
from rich.console import Console

from adapters.redis.client import bounded_call, connect
from adapters.redis.inbox import RedisInbox
from adapters.terminal.ingest_view import ingest_files
from adapters.terminal.operator import OPERATOR, operator
from bot.container import open_footnote
from bot.doctor import checks_of
from bot.settings import Settings
from core.model.conversation import Audience, ThreadKey
from core.model.errors import StoreUnavailable
from core.model.health import Health
from core.ports.inbox import Delivery, Inbox, Lease
from core.service.kb.commands import KbCommand, KbVerb
from core.service.leases import work_off
from core.service.question_service import Question
from tests.core.service.kb.knowledge_room import words
from tests.topologies.conftest import Shapes
from tests.topologies.servers import PATIENCE, Cluster, Watched, redis_cluster, sentinel_trio, server_binary, wait_for

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
FERRY = "# Ferry\n\nThe ferry leaves at nine from the north pier."


def settings(home: Path, url: str) -> Settings:
    return Settings(_env_file=None, footnote_home=home, redis_url=url, milvus_uri=None, llm_model=None)  # type: ignore[call-arg,arg-type]


async def test_a_question_is_answered_remembered_and_forgotten(redis: Redis, redis_url: str, tmp_path: Path) -> None:
    (tmp_path / "ferry.md").write_text(FERRY)
    key = ThreadKey("console", "", "terminal", "trip")
    async with open_footnote(settings(tmp_path / "home", redis_url)) as footnote:
        quiet = Console(file=io.StringIO())
        await ingest_files(
            quiet, footnote.knowledge_stack.ingest_client(), [(tmp_path / "ferry.md", "ferry.md")], "pier"
        )
        asked = Question(
            "When does the ferry leave?", key, OPERATOR, Audience(unrestricted=True), footnote.policy, None
        )
        async for _ in footnote.question_service.ask(asked):
            pass
        (turn,) = (await footnote.memory.recall(key)).turns
        assert "nine" in turn.answer
        assert await footnote.trace_store.trace(turn.trace_id)
        kb_service = footnote.knowledge_stack.kb_service
        removed = await kb_service.handle(KbCommand(KbVerb.REMOVE, "pier", "ferry", confirmed=True), operator())
        assert "now finds: nothing" in words(removed)
        assert "Restored" in words(await kb_service.handle(KbCommand(KbVerb.RESTORE, "pier", "ferry"), operator()))
        assert (await footnote.audit.recent(1))[0].action == "kb restore"
        assert await footnote.memory.forget_person(OPERATOR.id) == 1
        assert (await footnote.memory.recall(key)).turns == ()


async def test_doctor_tries_what_is_needed_on_the_real_servers(redis: Redis, redis_url: str, tmp_path: Path) -> None:
    found = {check.name: check async for check in checks_of(settings(tmp_path, redis_url), seconds=120)}
    assert "stores" not in found, found["stores"].detail
    assert found["Redis"].health is Health.OK
    assert ("a Cluster of 3 primaries" in found["Redis"].detail) == redis_url.startswith("redis+cluster")
    keys = [key async for key in redis.scan_iter(match="*probe*")]
    assert keys == []


async def test_an_address_that_leaves_out_that_it_is_a_cluster_is_told_so(shapes: Shapes) -> None:
    one = shapes.url("cluster").removeprefix("redis+cluster://").partition(",")[0]
    client = connect(f"redis://{one}")

    async def writes() -> None:
        for number in range(64):
            async with bounded_call():
                await client.set(f"k{number}", "v")

    with pytest.raises(StoreUnavailable, match=r"is a Cluster.* redis\+cluster://"):
        await writes()
    await client.aclose()


async def test_a_certificate_of_an_unknown_authority_is_named_as_such(shapes: Shapes) -> None:
    client = connect(shapes.url("tls").partition("?")[0])

    async def pings() -> None:
        async with bounded_call():
            await client.ping()

    with pytest.raises(StoreUnavailable, match=r"certificate is not trusted: .*rediss://…\?ssl_ca_certs=") as raised:
        await pings()
    assert "log" not in str(raised.value)  # the password has that word
    await client.aclose()


# --- a primary dies -------------------------------------------------------------------------------------------------

THREADS, EACH, LANES = 30, 3, 4


@contextmanager
def started(shape: str) -> Iterator[Cluster | Watched]:
    """Servers of this test alone, of which one is about to die."""
    binary = server_binary()
    if binary is None:
        pytest.skip("There is no Redis or Valkey server here.")
    start = redis_cluster if shape == "cluster" else sentinel_trio
    with start(binary, patience=3.0) as servers:
        yield servers


async def put_all(inbox: Inbox) -> None:
    """As a platform delivers: what is not acknowledged is delivered again."""
    for number in range(EACH):
        for thread in range(THREADS):
            delivery = Delivery(f"{thread}.{number}", "paper", f"paper/T/C/{thread}", f"person {thread}", str(number))
            while True:
                with suppress(StoreUnavailable):
                    await inbox.put(delivery)
                    break
                await asyncio.sleep(0.2)


@pytest.mark.parametrize("shape", ["cluster", "sentinel"])
async def test_what_was_accepted_is_worked_on_in_order_though_a_primary_dies(shape: str) -> None:
    with started(shape) as servers:
        primary = servers.servers[0] if isinstance(servers, Cluster) else servers.primary
        client = connect(servers.url)
        inbox = RedisInbox(client, lease=timedelta(seconds=5), look_again=timedelta(seconds=1), most_waiting_each=100)
        await put_all(inbox)
        wait_for(lambda: int(primary.client.execute_command("WAIT", 1, 1000)) >= 1, "the replica has it all")
        done: dict[str, list[str]] = {}
        stop = asyncio.Event()

        async def handle(lease: Lease) -> None:
            await asyncio.sleep(0.02)
            done.setdefault(lease.delivery.thread, []).append(lease.delivery.body)
            if sum(map(len, done.values())) == THREADS:
                await asyncio.to_thread(primary.kill)

        lanes = [asyncio.create_task(work_off(inbox, handle, f"lane-{n}", stop)) for n in range(LANES)]
        async with asyncio.timeout(4 * PATIENCE):
            while len(done) < THREADS or any("2" not in bodies for bodies in done.values()):
                await asyncio.sleep(0.1)
        stop.set()
        await asyncio.gather(*lanes)
        await client.aclose()
    for bodies in done.values():
        assert list(dict.fromkeys(bodies)) == ["0", "1", "2"]  # in order; nothing is lost
    again = sum(map(len, done.values())) - THREADS * EACH
    assert 0 <= again <= 2 * LANES  # at least once: what was done as it died may be done once more
