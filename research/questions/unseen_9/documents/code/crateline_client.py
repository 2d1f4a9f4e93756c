"""A small client for Crateline, version 2.

Install it with ``pip install crateline-client``; needs Python 3.11 or newer. The current release is 1.8.

    from crateline_client import Crateline

    crateline = Crateline("client-id", "client-secret", sandbox=True)
    quote = crateline.quote("NE46 1XL", "LA9 6NZ", rooms=3, date="2026-09-01")
    move = crateline.book(quote.quote_id)

The client fetches a token by itself and a new one 90 seconds before the old one runs out. It is not safe to share
one instance between threads: make one per thread.
"""

import time
from dataclasses import dataclass

DEFAULT_TIMEOUT_S = 12.0
MOST_ATTEMPTS = 4
FIRST_PAUSE_S = 0.5
CUBIC_FEET_PER_CUBIC_METRE = 35.3


class CratelineError(Exception):
    """Something that Crateline refused. ``code`` is the error code, ``status`` the HTTP status."""


class NoCapacity(CratelineError):
    """No crew is free on that day. ``next_free`` is the next date that has one."""


class QuoteExpired(CratelineError):
    """The quote is too old. It is never renewed silently, since the price may have changed."""


@dataclass(frozen=True)
class Quote:
    """A price for a move. ``price_pence`` is in pence; ``pounds`` is for showing to people only."""

    quote_id: str
    price_pence: int
    expires_at: str

    @property
    def pounds(self) -> str:
        """The price with two decimals, such as ``980.00``. Do not calculate with it."""
        return f"{self.price_pence / 100:.2f}"


class Crateline:
    """Talks to Crateline.

    ``sandbox`` talks to the sandbox, where nothing is planned. ``timeout_s`` counts for one attempt, not for all of
    them together. The environment variable ``CRATELINE_PROXY`` names a proxy, if there has to be one.
    """

    def __init__(self, client_id: str, client_secret: str, sandbox: bool = False, timeout_s: float = DEFAULT_TIMEOUT_S):
        self.client_id = client_id
        self.client_secret = client_secret
        self.sandbox = sandbox
        self.timeout_s = timeout_s

    def quote(self, origin: str, to: str, date: str, rooms: int | None = None, volume_m3: float | None = None) -> Quote:
        """Ask for a price. Give ``rooms`` or ``volume_m3``; with both, the volume counts.

        Raises ValueError before anything is sent when neither is given, or when the volume is above 250, which is
        almost always cubic feet by mistake.
        """

    def book(self, quote_id: str) -> str:
        """Book the quote and return the id of the move. Sends an idempotency key made from the quote's id."""

    def reschedule(self, move_id: str, date: str) -> None:
        """Change the date. Does nothing when the date is the same, without asking the server."""

    def cancel(self, move_id: str, dry_run: bool = True) -> int:
        """The fee for cancelling, in pence. Only with ``dry_run=False`` is the move really cancelled."""

    def moves(self, state: str = "confirmed"):
        """Every move in a state, page by page, as a generator. Fetches pages of 100."""

    def _send(self, method: str, path: str, body: dict | None = None) -> dict:
        """One request. Repeats on 429 and on 502 to 504, at most four attempts, the pause doubling from half a second.

        A 409 is never repeated. Honours ``Retry-After`` up to 60 seconds; if it is longer, it raises at once.
        """
        time.sleep(0)
        return {}


def to_cubic_metres(cubic_feet: float) -> float:
    """Cubic feet to cubic metres, rounded to one decimal. For people who come from version 1."""
    return round(cubic_feet / CUBIC_FEET_PER_CUBIC_METRE, 1)
