"""Roast profiles of Ledger.

A profile is a list of points, one every 15 seconds. Temperatures are in degrees Celsius.
"""

MAX_DROP = 226
"""Above this temperature the drum is emptied at once."""

CHARGE_KESTREL = 205
"""Temperature at which the beans go into Kestrel."""

CHARGE_WREN = 188
"""Temperature at which the beans go into Wren."""


def smooth(points, window=5):
    """The points with their mean over a window of 5 points. Raises ValueError for an even window."""


def export(profile, path):
    """Write a profile as CSV with semicolons. An existing file is kept and a number is added to the name."""
