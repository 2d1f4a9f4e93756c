"""Checks whether one step of arithmetic leads from values of the evidence to a value of a claim.

With many numbers, one step can lead to almost any value. So the units of two operands must fit, and the operands must
belong together: both are in the words that the claim rests on, or both are named by the claim or the question, or both
are in one sentence or row of the documents.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import product

from core.values.units import Kind, Value, YearMonthDay

MEASURED = frozenset({Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.DURATION, Kind.QUANTITY})
DAY = 86_400
LONGEST = {"month": 1_200, "second": 36_525 * DAY}  # a hundred years; adding a longer duration gives no date
MOST_STEPS = 5  # most values that a claim combines into one result
ROUGHLY = Fraction(1, 10)  # how far "about" may be from the value


@dataclass(frozen=True, slots=True)
class Operands:
    """Values that arithmetic may use: pairs to combine, groups to add up, single values, and row counts."""

    pairs: Sequence[tuple[Value, Value]] = ()
    sums: Sequence[Sequence[Value]] = ()
    singles: Sequence[Value] = ()
    counts: frozenset[int] = frozenset()


def same(claimed: Value, known: Value) -> bool:
    """Return whether two values are the same fact. A value without a unit matches any unit."""
    if claimed.kind is Kind.DATE or (claimed.dates and known.kind is Kind.DATE):
        return any(covers(one, other) for one in claimed.dates for other in known.dates)
    if Kind.TIME in {claimed.kind, known.kind}:
        return _same_time(claimed, known)
    if claimed.kind in MEASURED and known.kind in MEASURED:
        if claimed.unit == known.unit:
            return bool(set(claimed.amounts) & set(known.amounts))
        if {claimed.unit, known.unit} == {"month", "second"}:
            return _same_span(claimed, known)
        bare = known if claimed.unit else claimed  # "30" of "30 or 45 days", or of a cell under "days"
        return not bare.unit and not bare.counts and bool(set(claimed.numbers) & set(known.numbers))
    return claimed.kind is known.kind and claimed.key == known.key


def _with_year(made: YearMonthDay, claimed: YearMonthDay) -> YearMonthDay:
    """Return a date written without a year, with the claimed year filled in."""
    year, month, day = made
    return (claimed[0] if year is None else year), month, day


def _same_span(one: Value, other: Value) -> bool:
    """Return whether a number of months equals a number of days, with a year of 365 days and a month of 30."""
    months, seconds = (one, other) if one.unit == "month" else (other, one)
    span, days = months.amounts[0], seconds.amounts[0] / DAY
    return days in {span * 365 / 12, span * 30}


def covers(claimed: YearMonthDay, known: YearMonthDay) -> bool:
    """Return whether every part that the claimed date states (year, month, day) equals the known date's."""
    return all(mine is None or mine == theirs for mine, theirs in zip(claimed, known, strict=True))


def _same_time(one: Value, other: Value) -> bool:
    if one.kind is other.kind:  # "from 5:45 to 7:15 p.m."
        return abs(one.numbers[0] - other.numbers[0]) in {0, 720}
    clock, measure = (one, other) if one.kind is Kind.TIME else (other, one)
    minutes = clock.numbers[0]
    if measure.unit == "second":  # "16 h" is a time or a duration
        return "h" in clock.text.casefold() and measure.amounts[0] == 60 * minutes
    hours = {minutes / 60, (minutes - 720) / 60}
    return (
        measure.kind is Kind.NUMBER and not measure.counts and minutes % 60 == 0 and bool(hours & set(measure.numbers))
    )


def rounds_to(claimed: Value, known: Value) -> bool:
    """Return whether a claimed value is a known one, rounded to the digits written, or roughly after "about"."""
    if claimed.kind not in MEASURED or known.kind not in MEASURED or (claimed.unit != known.unit):
        return False
    return any(_close(claimed, claimed.amounts[0], amount) for amount in known.amounts)


def _close(claimed: Value, target: Fraction, amount: Fraction) -> bool:
    if target == amount:
        return True
    step = claimed.step
    if claimed.about:
        while target and target % (step * 10) == 0:
            step *= 10
        return abs(target - amount) <= min(step / 2, abs(target) * ROUGHLY)
    written = claimed.step.denominator > 1 or claimed.step > claimed.factor  # "12.5", "3 million"
    return (
        written
        and abs(target - amount) <= step / 2
        and target.denominator < amount.denominator * 10**6
        and (amount / step).denominator > 1
    )


def follows(claimed: Value, operands: Operands) -> bool:
    """Return whether one step leads to the claimed value."""
    if claimed.kind is Kind.DATE:
        return any(covers(mine, _with_year(made, mine)) for mine in claimed.dates for made in _made_dates(operands))
    if claimed.kind is Kind.WEEKDAY:
        return any(str(made.weekday()) == claimed.key for value in operands.singles for made in _days(value))
    if claimed.kind is Kind.TIME:
        span = _as_span(claimed)
        summed = any(total in span.amounts for total, _ in _totals(span, operands)) if span is not claimed else False
        return summed or any(claimed.numbers[0] == made for made in _made_times(operands))
    if claimed.kind not in MEASURED:
        return False
    if not claimed.unit and any(number in operands.counts for number in claimed.numbers):
        return True
    return any(
        _fits(claimed, amount, exact=exact)
        for amount, exact in (*_totals(claimed, operands), *_made_amounts(claimed, operands))
    )


def _fits(claimed: Value, made: Fraction, *, exact: bool) -> bool:
    if made in claimed.amounts:
        return True
    target = claimed.amounts[0]
    rounded = not exact and target != 0 and abs(target - made) <= claimed.step / 2
    return rounded or (claimed.about and _close(claimed, target, made))


def _totals(claimed: Value, operands: Operands) -> Iterator[tuple[Fraction, bool]]:
    for group in operands.sums:
        spans = map(_as_span, group) if claimed.unit == "second" else group
        found = [value for value in spans if value.kind in MEASURED]
        counted = [value for value in found if value.counts and not claimed.unit]
        alike = [value.amounts[0] for value in found if value.unit == claimed.unit]
        bare = [value.amounts[0] * claimed.factor for value in found if not (value.unit or value.counts or value.dates)]
        for amounts in (alike, bare if claimed.unit else [value.amounts[0] for value in counted]):
            if len(amounts) > 2:
                yield sum(amounts, Fraction(0)), True
        if claimed.kind is Kind.PERCENT and len(alike) > 1:
            yield 100 - sum(alike, Fraction(0)), True


def _as_span(value: Value) -> Value:
    """Return a time such as "12 h 30" as a duration, since it may mean either; other values unchanged."""
    if value.kind is not Kind.TIME or "h" not in value.text.casefold():
        return value
    seconds = value.numbers[0] * 60
    return replace(value, kind=Kind.DURATION, numbers=(seconds,), unit="second", factor=Fraction(1))


def named_steps(claimed: Value, others: Sequence[Value]) -> bool:
    """Return whether the claim shows its own calculation: "12 months at €210 plus €150".

    Combines the other values of the claim in their order, products before sums. The caller checks each of them
    separately.
    """
    if claimed.kind not in MEASURED or not 2 < len(others) <= MOST_STEPS:
        return False
    amounts = [one.numbers[0] for one in others]
    for signs in product("*+-", repeat=len(amounts) - 1):
        terms = [amounts[0]]
        for sign, amount in zip(signs, amounts[1:], strict=True):
            if sign == "*":
                terms[-1] *= amount
            else:
                terms.append(amount if sign == "+" else -amount)
        if sum(terms) in claimed.numbers:
            return True
    return False


def _made_amounts(claimed: Value, operands: Operands) -> Iterator[tuple[Fraction, bool]]:
    """Yield (amount, whether it is exact) for each result that the operands give in the claimed value's unit."""
    hundred = Fraction(100)
    if claimed.kind is Kind.PERCENT:
        for value in operands.singles:
            if value.kind is Kind.PERCENT:
                yield hundred - value.amounts[0], True
        for group in operands.sums:
            yield from _shares(group)
    for one, other in operands.pairs:
        if one.kind in MEASURED and other.kind in MEASURED:
            yield from _with_bare(claimed, one, other)
            yield from _with_bare(claimed, other, one)
            yield from _combined(claimed, one, other)
            yield from _combined(claimed, other, one)
        elif claimed.unit == "second":
            yield from _spans(one, other)
        elif claimed.unit == "month" and one.dates and other.dates:
            yield from _months_between(one, other)


def _with_bare(claimed: Value, one: Value, other: Value) -> Iterator[tuple[Fraction, bool]]:
    """Yield the sum and difference of two values when one omits its unit: "€412,000, 280,000 of it paid"."""
    if (
        not claimed.unit
        or one.unit not in {"", claimed.unit}
        or other.unit
        or any(v.counts or v.dates for v in (one, other))
    ):
        return
    for first, second in product(one.amounts if one.unit else _times(one, claimed), _times(other, claimed)):
        yield first + second, True
        yield abs(first - second), True


def _shares(group: Sequence[Value]) -> Iterator[tuple[Fraction, bool]]:
    """Yield the share that each value has of the whole column or list."""
    alike = [value.amounts[0] for value in group if value.kind in MEASURED and value.unit == group[0].unit]
    if len(alike) > 2 and (total := sum(alike, Fraction(0))):
        yield from ((100 * amount / total, False) for amount in alike)


def _times(bare: Value, claimed: Value) -> list[Fraction]:
    return [amount * claimed.factor for amount in bare.amounts]


def _combined(claimed: Value, one: Value, other: Value) -> Iterator[tuple[Fraction, bool]]:
    for a, b in product(one.amounts, other.amounts):
        yield from _joined(claimed, one, other, a, b)


def _of_one_unit(claimed: Value, one: Value, a: Fraction, b: Fraction) -> Iterator[tuple[Fraction, bool]]:
    if one.unit == claimed.unit:
        yield a + b, True
        yield abs(a - b), True
    if claimed.kind is Kind.PERCENT and b:
        yield 100 * a / b, False
        yield 100 * abs(a - b) / b, False
    if not claimed.unit and b:
        yield a / b, False


def _joined(claimed: Value, one: Value, other: Value, a: Fraction, b: Fraction) -> Iterator[tuple[Fraction, bool]]:
    if one.unit == other.unit:
        yield from _of_one_unit(claimed, one, a, b)
    by_measure = other.kind is Kind.QUANTITY and one.kind is Kind.MONEY  # a price per kilometre
    if one.unit == claimed.unit and (other.kind is Kind.NUMBER or by_measure):
        times = other.numbers[0] if by_measure else b
        yield a * times, True
        if times:
            yield a / times, False
    if one.unit == claimed.unit and other.kind is Kind.PERCENT and one.kind is not Kind.PERCENT:
        yield a * b / 100, False
        yield a * (100 - b) / 100, False
        yield a * (100 + b) / 100, False
    if claimed.unit and one.unit == claimed.unit and other.kind is Kind.DURATION and one.kind is not Kind.DURATION:
        for times in {other.numbers[0], b if other.unit == "month" else other.numbers[0]} - {Fraction(0), Fraction(1)}:
            yield a * times, True  # a price per month, for so many months
            yield a / times, False


# --- dates and times ------------------------------------------------------------------------------------------------


def _days(value: Value) -> Iterator[date]:
    for year, month, day in value.dates:
        if year and month and day:
            yield date(year, month, day)


def _spans(one: Value, other: Value) -> Iterator[tuple[Fraction, bool]]:
    """Yield the seconds between two dates or times."""
    for first in _filled(one, other):
        for second in _filled(other, one):
            days = abs((first - second).days)
            yield Fraction(days * DAY), True
            yield Fraction((days + 1) * DAY), True  # both days counted
    if one.kind is other.kind is Kind.TIME:
        apart = other.numbers[0] - one.numbers[0]
        yield abs(apart) * 60, True
        yield apart % 1440 * 60, True  # over midnight


def _filled(value: Value, beside: Value) -> Iterator[date]:
    """Yield the days of a value; take a missing year from ``beside``."""
    for year, month, day in value.dates:
        years = [year] if year else [other[0] for other in beside.dates if other[0]] or [2001]
        for known in years:
            if month and day and known and not (month == 2 and day == 29):
                yield date(known, month, day)


def _months_between(one: Value, other: Value) -> Iterator[tuple[Fraction, bool]]:
    for year, month, day in one.dates:
        for year_2, month_2, day_2 in other.dates:
            if year and year_2 and (month is None) == (month_2 is None) and (day is None or day == day_2):
                yield Fraction(abs(12 * (year - year_2) + (month or 0) - (month_2 or 0))), True


def _made_dates(operands: Operands) -> Iterator[YearMonthDay]:
    for one, other in operands.pairs:
        for dated, span in ((one, other), (other, one)):
            if span.kind is Kind.DURATION and dated.dates and span.amounts[0] <= LONGEST[span.unit]:
                for reading in dated.dates:
                    yield from _moved(reading, span)


def _moved(reading: YearMonthDay, span: Value) -> Iterator[YearMonthDay]:
    """Yield a date moved later and earlier by a duration, and the day before it (a period may end a day earlier)."""
    year, month, day = reading
    for sign in (1, -1):
        if span.unit == "month" and span.amounts[0].denominator == 1:
            months = sign * int(span.amounts[0])
            if month is None:
                if year and months % 12 == 0:
                    yield year + months // 12, None, None
                continue
            at = 12 * (year or 2001) + month - 1 + months
            made = at // 12, at % 12 + 1
            yield (made[0] if year else None), made[1], day
            if year and day:
                first = date(made[0], made[1], 1)
                begin = first + timedelta(days=day - 1) if day <= 28 else first + timedelta(days=27)
                before = begin - timedelta(days=sign)
                yield before.year, before.month, before.day
        elif span.unit == "second" and month and day and span.amounts[0] % DAY == 0:
            moved = date(year or 2001, month, min(day, 28) if month == 2 and not year else day)
            moved += timedelta(days=sign * int(span.amounts[0] / DAY))
            yield (moved.year if year else None), moved.month, moved.day


def _made_times(operands: Operands) -> Iterator[Fraction]:
    for one, other in operands.pairs:
        for clock, span in ((one, other), (other, one)):
            if clock.kind is Kind.TIME and span.unit == "second":
                for sign in (1, -1):
                    yield (clock.numbers[0] + sign * span.amounts[0] / 60) % 1440
