# ruff: noqa: T201 - a script speaks to its caller
"""Every documented error of Discord's, for every route of a question: ``python -m tests.measure.discord_errors``.

Every JSON error code, and what proxies say instead, is played for one question against the fake Discord, with the real
client in between; printed is what the one who asked was shown. Exits with 1 when any question had no outcome, or more
than one. Needs the shared description of Discord's interface beside the checkout. Takes some minutes.
"""

import asyncio
import sys
import time

import pytest

from tests.e2e.discord_errors import ROUTES, Played, table, theatre
from tests.fakes.discord.error_codes import WHOLE

AT_ONCE = 64


async def _play() -> list[Played]:
    played: list[Played] = []
    for route in ROUTES:
        start = time.monotonic()
        with pytest.MonkeyPatch.context() as patching:
            async with theatre(patching) as stage:
                for first in range(0, len(WHOLE), AT_ONCE):
                    played += await stage.play(route, WHOLE[first : first + AT_ONCE])
        print(f"{route.name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    return played


def main() -> int:
    """Play them all and print the table."""
    played = asyncio.run(_play())
    print(table(played))
    return int(any(not one.once for one in played))


if __name__ == "__main__":
    sys.exit(main())
