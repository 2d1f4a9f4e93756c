"""Gives bookings their pitches: the allocator of Guyline.

It runs each night at 4:45, after the reports, for the arrivals of the next ten days. A booking that starts today is
never moved. A named pitch is never moved by the program, only by a person.

How it decides
--------------
Every pitch that fits gets points; the one with most points wins, and with a tie the one with the lower number.

    no dry night before or after       +40
    same pitch as last year            +25
    near the washroom, if asked for    +15
    in the quiet field, if asked for   +15
    neighbours who booked together     +30
    grass rested for seven nights      +10
    bootlace pitch and awning          -50
    within 20 m of the playground,
      no children in the party         -12

History: written by Dov Lindqvist in 2022, rules as data since 3.1 (Teo Marrable put the tests in order in 2026).
Questions to the channel #allocator.
"""

from dataclasses import dataclass
from datetime import date, timedelta

LOOK_AHEAD_DAYS = 10
REST_AFTER_NIGHTS = 28
REST_NIGHTS = 7
MOST_MOVES_PER_BOOKING = 2
GIVE_UP_AFTER_SECONDS = 240


class NoPitchFits(Exception):
    """No pitch is free for all nights.

    The booking is put on the list "to be placed by hand", which reception sees from 6:00. It is not cancelled.
    """


@dataclass(frozen=True)
class Pitch:
    """One pitch.

    ``length_m`` and ``width_m`` are between the pegs. ``amps`` is 0 for a pitch without electricity. ``resting_until``
    is the first night on which the pitch may be given out again.
    """

    number: int
    row: str
    kind: str
    length_m: float
    width_m: float
    amps: int = 0
    resting_until: date | None = None

    @property
    def is_bootlace(self) -> bool:
        """Whether the pitch is more than twice as long as it is wide."""
        return self.length_m > 2 * self.width_m


@dataclass(frozen=True)
class Stay:
    """What a booking wants: ``first`` night, number of ``nights``, length of the vehicle and wishes."""

    code: str
    first: date
    nights: int
    vehicle_m: float = 0.0
    wishes: tuple[str, ...] = ()
    named: int | None = None

    @property
    def departure(self) -> date:
        """The day on which the party leaves."""
        return self.first + timedelta(days=self.nights)


def fits(pitch: Pitch, stay: Stay) -> bool:
    """Whether a stay can be on a pitch at all.

    A vehicle needs one metre more than its own length. At most three wishes are looked at; further ones are ignored.
    """
    if pitch.resting_until and stay.first < pitch.resting_until:
        return False
    return stay.vehicle_m + 1.0 <= pitch.length_m


def needs_rest(nights_in_a_row: int) -> bool:
    """Whether the grass must rest: after 28 nights in a row. Hard pitches never do."""
    return nights_in_a_row >= REST_AFTER_NIGHTS


def points(pitch: Pitch, stay: Stay, *, dry_nights: int) -> int:
    """The points of a pitch for a stay, without the rules about neighbours, which need the whole plan.

    Each dry night costs 8 points on top of the lost bonus. A party with a dog loses 20 points next to the lake, because
    of the ducks.
    """
    found = 40 if dry_nights == 0 else -8 * dry_nights
    if pitch.is_bootlace and "awning" in stay.wishes:
        found -= 50
    return found
