"""Which column of a table a question asks for: by its name, or by what such a question is about."""

from collections.abc import Sequence

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.answer.tables.rows import FEWEST, Row
from adapters.reasoners.extractive.evidence.cell_values import column_values, kind_of
from adapters.reasoners.extractive.question.aggregation import Aggregation, Threshold
from core.model.text import content_words

_WHICH_TIME = frozenset(content_words("last next first previous"))  # "last year" does not ask for "Last act ends"

_LASTING = frozenset({"duration", "time"})
_QUANTITY = frozenset(content_words("count quantity qty pieces pcs stock"))
_SIZE = frozenset(content_words("size capacity area volume seats beds places pitches rooms"))


def column_of(asked: Aggregation, wanted: frozenset[str], rows: Sequence[Row], kept: Sequence[Row]) -> int | None:
    """The column of numbers that is asked for: by its name, else by what such a question is about."""
    best: tuple[float, int] | None = None
    key = frozenset(content_words(rows[0].names[0]))  # "which stage has the most" does not ask for "Stage width"
    by_date = "date" in asked.column  # or by the time in a column that is named: "which lorry leaves earliest"
    picked = frozenset(content_words(asked.picked)[:1])
    compared = [at for at in range(1, len(rows[0].names)) if _figures(kept, at) >= min(FEWEST, len(kept))]
    hinted = {at for at in compared if any(_hints(hint, rows[0].names[at], kept[0].cells, at) for hint in asked.column)}
    for at in compared:
        stems = frozenset(content_words(rows[0].names[at])) - (frozenset() if asked.column else key) - _WHICH_TIME
        if by_date and hinted:  # "the oldest vehicle" does not ask for a column "Vehicle"
            stems -= picked
        said = len(stems & wanted) / len(stems) + len(stems & wanted) if stems else 0.0
        fits = at in hinted
        score = said + weights.COLUMN_NAMED * fits
        if (
            score > 0
            and (fits or ((not hinted or by_date) and (not asked.column or stems <= wanted)))
            and (best is None or score > best[0])
        ):
            best = score, at
    return best[1] if best else None


def column_between(asked: Aggregation, wanted: frozenset[str], rows: Sequence[Row], pair: Sequence[Row]) -> int | None:
    """The column in which two rows are compared: as for a whole table, else the only one of the kind that is meant.

    What lasts longer has more in the only column of durations, what is bigger in the only one that holds a size.
    """
    named = column_of(asked, wanted, rows, pair)
    if named is not None:
        return named
    compared = [at for at in range(1, len(rows[0].names)) if _figures(pair, at) == len(pair)]
    if asked.column >= _LASTING:
        meant = [at for at in compared if all(kind_of(row.cell(at)) == "time" for row in pair)]
    else:
        meant = [at for at in compared if not asked.column and _SIZE & set(content_words(rows[0].names[at]))]
    return meant[0] if len(meant) == 1 else None


def is_only_of_its_kind(limit: Threshold, rows: Sequence[Row], column: int) -> bool:
    """Whether a column is the only one with such figures as the limit: the only one with pounds."""
    kind = kind_of(limit.figure)
    alike = [at for at in range(1, len(rows[0].names)) if kind in {kind_of(row.cell(at)) for row in rows}]
    return bool(kind) and alike == [column]


def numeric_columns(rows: Sequence[Row]) -> set[str]:
    """The stems of the names of columns that hold numbers: these are read off, not counted."""
    columns = [at for at in range(1, len(rows[0].names)) if _figures(rows, at) > len(rows) / 2]
    return {stem for at in columns for stem in content_words(rows[0].names[at])}


def quantity_column(rows: Sequence[Row]) -> int | None:
    """The column that says of each row how many there are of it, where there is one."""
    columns = (at for at, name in enumerate(rows[0].names) if at and _QUANTITY & set(content_words(name)))
    return next((at for at in columns if _figures(rows, at) == len(rows)), None)


def _figures(rows: Sequence[Row], column: int) -> int:
    """How many rows have a figure in a column that can be compared."""
    return sum(value is not None for value in column_values([row.cell(column) for row in rows]))


def _hints(hint: str, name: str, cells: Sequence[str], at: int) -> bool:
    """Whether a column is of the kind that a word or a sign stands for: by its name, or by its first cell."""
    return (
        hint in name.casefold().split()
        or hint in content_words(name)
        or (not hint.isalpha() and (hint in name or (at < len(cells) and hint in cells[at])))
        or (hint.isupper() and (hint in name or hint.casefold() in content_words(name)))
    )
