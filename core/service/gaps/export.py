"""CSV export of the report for spreadsheets. For JSON, use ``to_json(report)``."""

import csv
import io

from core.service.gaps.report import GapReason, GapReport

COLUMNS = (
    "gap",
    "title",
    "questions",
    "people",
    "private",
    *(reason.value for reason in GapReason),
    "trend",
    "first_at",
    "last_at",
    "places",
    "nearest_documents",
    "examples",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(report: GapReport) -> str:
    """Return a table with one row for each gap. Several values in a cell are on lines of their own."""
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow(COLUMNS)
    for gap in report.gaps:
        row = (
            gap.id,
            gap.title,
            gap.questions,
            gap.people,
            gap.private,
            *(gap.reasons.get(reason, 0) for reason in GapReason),
            gap.trend.value,
            gap.first_at.isoformat(),
            gap.last_at.isoformat(),
            "\n".join(f"{place} ({count})" for place, count in gap.places),
            "\n".join(f"{near.document.title} [{near.document.knowledge_base}]" for near in gap.nearest),
            "\n".join(example.question for example in gap.examples),
        )
        table.writerow([_cell(value) for value in row])
    return written.getvalue()


def _cell(value: object) -> object:
    """Return a value, with an apostrophe before text that a spreadsheet would take for a formula.

    Questions are untrusted. See OWASP: https://owasp.org/www-community/attacks/CSV_Injection.
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
