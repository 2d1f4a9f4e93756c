"""Reads a probe of a cold box over the serial port.

A probe answers within 250 ms; after three silent tries it counts as missing (display code E1).
Readings are medians of five samples, so that a knock on the box does no harm.
"""

BAUD = 19_200  # fixed in the probe, cannot be changed
SAMPLES = 5
CALIBRATION_DAYS = 365  # a probe older than that is marked "due" in Frostgate


class ProbeMissing(Exception):
    """No answer after three tries."""


def read(port: str, *, unit: str = "C") -> float:
    """The temperature in degrees; ``unit`` is "C" or "F". Raises ProbeMissing.

    Values below -40 or above 85 are taken for a broken cable and raise ValueError.
    """


def calibrate(port: str, reference: float) -> float:
    """Compare with a reference thermometer and keep the difference; returns it.

    A difference of more than 1.5 degrees is refused: such a probe is thrown away.
    """
