"""What a person reads when a listener fails."""

import pytest

from adapters.slack.listeners.support import TRY_AGAIN, report_errors
from core.model.errors import WENT_WRONG, Denied, StoreUnavailable


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (StoreUnavailable("Redis at localhost:6379 is away."), TRY_AGAIN),
        (Denied("Only admins can do that.", remedy="Ask one of them."), "Only admins can do that. Ask one of them."),
        (TimeoutError(), TRY_AGAIN),
        (KeyError("channel"), WENT_WRONG),
    ],
)
async def test_a_failure_is_one_line_for_the_person_and_ends_there(failure: Exception, words: str) -> None:
    read: list[str] = []

    async def report(text: str) -> None:
        read.append(text)

    async def fail() -> None:
        raise failure

    async with report_errors(report):
        await fail()
    assert read == [words]


async def test_a_report_that_cannot_be_made_ends_there_too() -> None:
    async def report(text: str) -> None:
        raise ConnectionResetError(text)

    async with report_errors(report):
        raise KeyError("channel")


async def test_where_nothing_fails_nothing_is_said() -> None:
    async def report(text: str) -> None:
        raise AssertionError(text)

    done = False
    async with report_errors(report):
        done = True
    assert done
