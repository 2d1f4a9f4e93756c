"""Hard facts as values: numbers, money, dates, times, durations, codes and names, compared after normalisation."""

from core.values.faults import Fault, exchanged_values, value_faults, values_in
from core.values.polarity import polarity_conflict
from core.values.units import Kind, Value

__all__ = ["Fault", "Kind", "Value", "exchanged_values", "polarity_conflict", "value_faults", "values_in"]
