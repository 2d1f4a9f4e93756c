"""The collector rests while models load, and works again whatever became of that."""

import gc
from collections.abc import Iterator

import pytest

from bot.garbage_collection import collector_paused


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    assert gc.isenabled()
    yield
    gc.enable()


def test_it_rests_while_models_load_and_works_again_after_a_failure() -> None:
    enabled = []

    def load() -> None:
        with collector_paused():
            enabled.append(gc.isenabled())
            raise OSError("no model")

    with pytest.raises(OSError, match="no model"):
        load()
    assert (enabled, gc.isenabled()) == ([False], True)


def test_two_that_load_at_once_leave_it_working_whichever_ends_first() -> None:
    first, second = collector_paused(), collector_paused()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_who_switched_it_off_finds_it_off() -> None:
    gc.disable()
    with collector_paused():
        pass
    assert not gc.isenabled()
