# ruff: noqa: T201 - a script speaks to its caller
"""Every documented error of Discord's, for every route of a question: ``python -m research.measure.discord_errors``.

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


async def _play() -> list[Played]:
    played: list[Played] = []
    for route in ROUTES:
        start = time.monotonic()
        with pytest.MonkeyPatch.context() as patching:
            async with theatre(patching) as stage:
                of_route = await stage.play(route, WHOLE)
        print(table(of_route), f"({time.monotonic() - start:.0f} s)\n", flush=True)
        played += of_route
    return played


def main() -> int:
    """Play them all and print the table, a route at a time."""
    played = asyncio.run(_play())
    print(f"Together {len(played)}, {sum(one.once for one in played)} with exactly one outcome.")
    return int(any(not one.once for one in played))


if __name__ == "__main__":
    sys.exit(main())
