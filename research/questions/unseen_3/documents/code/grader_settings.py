"""Settings of the optical counter over the packing belt at Corran Hatchery ("the eye").

The eye counts spat from pictures and stops the belt when a box has its number. It is NOT the grader at Corran Point;
that one has knobs.

Change values here, run ``make deploy-eye``, wait for two beeps. Last look through: 2026-04-27, Jonas Weller.
"""

from dataclasses import dataclass

CAMERA_FPS = 48
"""Pictures a second. Above 60 the lamp flickers in the picture."""

EXPOSURE_MS = 2.5
"""Longer smears the spat, shorter is too dark. Was 4.0 until the new lamp of January 2026."""

BELT_SPEED_CM_S = 22
"""For T4 and up. For T2 and T3 the belt is slowed down by SLOW_FACTOR."""

SLOW_FACTOR = 0.6

MIN_AREA_PX = {"T2": 14, "T3": 30, "T4": 55, "T6": 120, "T8": 210, "T10": 360}
"""Smaller blobs are grit and are not counted."""

MAX_OVERLAP = 0.35
"""Blobs that cover each other more than this are counted with the touching model, not by contour."""

COUNT_TOLERANCE = 0.015
"""A box may be off by 1.5 %. The price list promises 3 %, so that we sleep well."""

STOP_AHEAD_PIECES = 250
"""The belt runs on for a bit; it is stopped this many pieces before the number."""

IMAGE_KEEP_DAYS = 21
"""Then the pictures are deleted. Complaints have to come sooner (see supply terms)."""

ALARM_AFTER_EMPTY_S = 15
"""Seconds of empty belt until the lamp goes amber."""


@dataclass(frozen=True)
class Lamp:
    """The strip light over the belt."""

    colour_temperature_k: int = 5600
    hours_before_change: int = 12_000
    supplier: str = "Lodestar Marine"


def boxes_for(pieces: int, size: str) -> int:
    """How many boxes an order needs. A large box takes 40,000 T6; other sizes by weight.

    >>> boxes_for(250_000, "T6")
    7
    """
    per_box = {"T2": 600_000, "T3": 240_000, "T4": 120_000, "T6": 40_000, "T8": 17_000, "T10": 9_000}[size]
    return -(-pieces // per_box)


def expected_stops(pieces: int, size: str) -> int:
    """How often the belt will stop for this order: once for each box and once for the remainder check."""
    return boxes_for(pieces, size) + 1


def verdict(area_px: int, size: str) -> str:
    """What the eye says to one blob.

    ``grit`` below the least area, ``double`` above 2.6 times of it, otherwise ``spat``. Doubles are looked at again by
    the touching model. If more than 8 % of a box are doubles the belt is too full: less water on the feed tray.
    """
    least = MIN_AREA_PX[size]
    if area_px < least:
        return "grit"
    return "double" if area_px > 2.6 * least else "spat"


def recalibrate(sample: int, hand_count: int) -> float:
    """The factor for MIN_AREA_PX after a hand count.

    Do it every Monday and after each change of strain, with at least 1,000 pieces. A factor outside 0.9 to 1.1 means a
    dirty lens, not a wrong setting: clean it with lens paper and alcohol, not with a sleeve.
    """
    if sample < 1_000:
        raise ValueError("too few pieces")
    return round(hand_count / sample, 3)
