"""Workbooks as people and programs leave them: stray rows at the very end, identifiers, formats, comments."""

import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from io import BytesIO
from typing import Any

import pytest

from adapters.documents.number_format import shown_number
from adapters.documents.reader import read
from core.model.document_content import ParsedDocument


def workbook(fill: Callable[[Any], None]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "Data"
    fill(book.active)
    out = BytesIO()
    book.save(out)
    return out.getvalue()


def patched(data: bytes, path: str, change: Callable[[bytes], bytes]) -> bytes:
    """The package with one part changed, as other programs write it."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as before, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as after:
        for member in before.namelist():
            content = before.read(member)
            after.writestr(member, change(content) if member == path else content)
    return out.getvalue()


def text_of(parsed: ParsedDocument) -> str:
    return "\n\n".join(block.text for block in parsed.blocks)


def fill_plans(sheet: Any) -> None:
    for row in (["Plan", "Fee"], ["Basic", 5], ["Pro", 9]):
        sheet.append(row)


STRAY_ROW = b'<row r="1048496"><c r="A1048496" s="0"/><c r="XFD1048496" s="0"/></row></sheetData>'


@pytest.mark.timeout(120)
def test_a_sheet_ends_at_its_last_value_whatever_size_it_states() -> None:
    sheet = "xl/worksheets/sheet1.xml"
    data = patched(
        workbook(fill_plans),
        sheet,
        lambda xml: xml.replace(b'ref="A1:B3"', b'ref="A1:XFD1048496"').replace(b"</sheetData>", STRAY_ROW),
    )
    parsed = read("plans.xlsx", data)
    assert [(block.label, block.text) for block in parsed.blocks] == [
        ("Data!A1:B3", "## Data\n\n| Plan | Fee |\n| --- | --- |\n| Basic | 5 |\n| Pro | 9 |")
    ]
    assert parsed.notes == ()


def test_a_value_in_the_last_row_of_a_sheet_is_found_where_it_is() -> None:
    def fill(sheet: Any) -> None:
        fill_plans(sheet)
        sheet["C1048576"] = "the end"

    assert [block.label for block in read("plans.xlsx", workbook(fill)).blocks] == [
        "Data!A1:B3",
        "Data!C1048576:C1048576",
    ]


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (1234567890123450, "General", "1234567890123450"),
        (1.23456789012345e15, "General", "1234567890123450"),
        (4_111_111_111_111_111, "0", "4111111111111111"),
        (0.1 + 0.2, "General", "0.3"),
        (1e-7, "General", "0.0000001"),
        (42, "00000", "00042"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (123456789, "000-00-0000", "123-45-6789"),
        (1234.5, "#,##0.00", "1,234.50"),
        (-1234.5, '"$"#,##0.00_);[Red]("$"#,##0.00)', "($1,234.50)"),
        (1999.99, "#,##0.00\\ [$€-407]", "1,999.99 €"),
        (0.125, "0.0%", "12.5%"),
        (2_500_000, '0.0,,"M"', "2.5M"),
        (12.5, '0.0 "kg"', "12.5 kg"),
        (0, '_-* #,##0_-;-* #,##0_-;_-* "-"_-', "-"),
        (12345.678, "0.00E+00", "1.23E+04"),
        (-0.001, "0.00", "0.00"),
        (2.5, "0", "3"),
    ],
)
def test_a_number_is_what_its_cell_shows(value: float, number_format: str, shown: str) -> None:
    assert shown_number(value, number_format) == shown

    def fill(sheet: Any) -> None:
        sheet.append(["Name", "Value"])
        sheet.append(["this", value])
        sheet["B2"].number_format = number_format

    assert f"| this | {shown} |" in text_of(read("a.xlsx", workbook(fill)))


def test_moments_are_written_in_iso_and_durations_in_hours() -> None:
    def fill(sheet: Any) -> None:
        sheet.append(["Day", "Moment", "Took"])
        sheet.append([datetime(2024, 5, 6), datetime(2024, 5, 6, 10, 30), timedelta(hours=26, minutes=5)])  # noqa: DTZ001 - sheets know no zones
        sheet["C2"].number_format = "[h]:mm:ss"

    assert "| 2024-05-06 | 2024-05-06 10:30:00 | 26:05:00 |" in text_of(read("a.xlsx", workbook(fill)))


def test_merged_cells_and_comments_are_kept_also_in_a_large_sheet() -> None:
    from openpyxl.comments import Comment

    def fill(sheet: Any) -> None:
        sheet.append(["Region", "Month", "Sold"])
        for i in range(40_000):
            sheet.append([f"Region {i // 2}" if i % 2 == 0 else None, f"month {i}", i])
        for i in range(2, 200, 2):
            sheet.merge_cells(f"A{i}:A{i + 1}")
        sheet["C3"].comment = Comment("Counted again in June", "Ada")

    parsed = read("a.xlsx", workbook(fill))
    text = text_of(parsed)
    assert "| Region 0 | month 0 | 0 |\n| Region 0 | month 1 | 1 |" in text
    assert "| month 39999 | 39999 |" in text
    assert (parsed.blocks[-1].label, parsed.blocks[-1].text) == ("Data!C3", "Comment on C3: Counted again in June")
