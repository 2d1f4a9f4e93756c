"""The start of serving: after everything is open, or if opening fails."""

import asyncio
import gc
from collections.abc import Iterator
from dataclasses import replace

import pytest

from bot.container import Footnote
from bot.roles import ProcessRole
from bot.server import _ServedPlatform
from core.model.errors import ModelUnavailable

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    """Before as well: a command that another test ran in this process may have frozen what is loaded."""
    gc.unfreeze()
    yield
    gc.unfreeze()


def served(footnote: Footnote, role: ProcessRole = ProcessRole.ALL) -> _ServedPlatform:
    settings = footnote.settings.model_copy(update={"http_host": "127.0.0.1", "http_port": 0})
    return _ServedPlatform(settings, footnote, role, f"warming-{role}", [])


@pytest.mark.parametrize("role", [ProcessRole.ALL, ProcessRole.PLATFORM])
async def test_what_is_loaded_when_serving_begins_is_no_longer_walked(footnote: Footnote, role: ProcessRole) -> None:
    stop = asyncio.Event()
    serving = asyncio.create_task(served(footnote, role).run(stop))
    async with asyncio.timeout(200):
        while gc.get_freeze_count() < 100_000 and not serving.done():
            await asyncio.sleep(0.05)
        assert not serving.done()
        stop.set()
        await serving
    assert gc.isenabled()


async def test_models_that_cannot_be_loaded_end_it_with_their_reason(footnote: Footnote) -> None:
    async def fail() -> None:
        raise ModelUnavailable("The model in /nowhere cannot be loaded.")

    broken = replace(footnote, opened=asyncio.create_task(fail()))
    with pytest.RaisesGroup(pytest.RaisesExc(ModelUnavailable, match="/nowhere")):
        await asyncio.wait_for(served(broken).run(asyncio.Event()), 200)
