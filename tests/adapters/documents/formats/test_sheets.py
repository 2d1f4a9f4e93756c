"""Sheets as people lay them out: gaps, several tables, headers over two rows, formulas nobody computed, hidden rows."""

from collections.abc import Callable
from datetime import date
from io import BytesIO
from typing import Any

import pytest

from adapters.documents.reader import read
from core.model.document_content import ParsedDocument


def sheet_of(rows: Any, change: Callable[[Any], None] | None = None) -> ParsedDocument:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "Data"
    for row in rows:
        book.active.append(list(row))
    if change is not None:
        change(book.active)
    out = BytesIO()
    book.save(out)
    return read("book.xlsx", out.getvalue())


def text_of(parsed: ParsedDocument) -> str:
    return "\n\n".join(block.text for block in parsed.blocks)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [["Crew", "Hours", "Overtime"], [], ["Aspen", 402, 14], ["Birch", 388, 9]],
            "| Crew | Hours | Overtime |\n| --- | --- | --- |\n| Aspen | 402 | 14 |\n| Birch | 388 | 9 |",
        ),
        (
            [["Fuel", "May", "June"], [], [], ["Van 1", 3.5, 4], [], ["Van 2", 8, 9]],
            "| Fuel | May | June |\n| --- | --- | --- |\n| Van 1 | 3.5 | 4 |\n| Van 2 | 8 | 9 |",
        ),
        (
            [["Ward", "Beds"], [], ["North", 20], ["South", 31], [], ["Total", 51]],
            "| Ward | Beds |\n| --- | --- |\n| North | 20 |\n| South | 31 |\n| Total | 51 |",
        ),
    ],
)
def test_rows_below_a_gap_keep_the_names_of_their_columns(rows: list[list[Any]], expected: str) -> None:
    assert expected in text_of(sheet_of(rows))


@pytest.mark.parametrize("gap", [1, 2, 3])
def test_rows_of_words_below_a_gap_keep_the_names_of_their_columns(gap: int) -> None:
    names, first, second = ["Crew", "Lead", "Town"], ["Ash", "Mira", "Corwell"], ["Birch", "Jan", "Dunmere"]

    text = text_of(sheet_of([names, *[[]] * gap, first, second]))

    table = ["| Crew | Lead | Town |", "| --- | --- | --- |", "| Ash | Mira | Corwell |", "| Birch | Jan | Dunmere |"]
    assert text.endswith("\n".join(table))


def test_a_long_sheet_with_an_empty_row_between_all_rows_is_one_table() -> None:
    rows = [row for i in range(4_000) for row in ([f"Van {i}", i + 0.5, "ok"], [])]
    parsed = sheet_of([["Fuel", "Litres", "State"], [], *rows])
    assert text_of(parsed).count("| Van ") == 4_000
    assert {block.text.removeprefix("## Data\n\n").split("\n")[0] for block in parsed.blocks} == {
        "| Fuel | Litres | State |"
    }


def test_a_table_with_names_of_its_own_below_a_gap_is_another_table() -> None:
    text = text_of(sheet_of([["Plan", "Fee"], ["Basic", 5], [], ["City", "Depot"], ["Bern", "West"], ["Zug", "East"]]))
    assert "| Plan | Fee |\n| --- | --- |\n| Basic | 5 |" in text
    assert "| City | Depot |\n| --- | --- |\n| Bern | West |" in text


@pytest.mark.parametrize("gap", [5, 9])
def test_figures_far_below_a_table_are_not_its_rows(gap: int) -> None:
    text = text_of(sheet_of([["Plan", "Fee"], ["Basic", 5], *[[]] * gap, ["Checked", 7]]))
    assert "| Basic | 5 |" in text
    assert "| Checked" not in text


def test_tables_under_titles_without_a_gap_are_told_apart() -> None:
    rows = [
        ["Prices"],
        ["Plan", "Fee"],
        ["Basic", 5],
        ["Pro", 9],
        ["Seats"],
        ["Plan", "Count"],
        ["Basic", 3],
        ["Pro", 8],
    ]
    text = text_of(sheet_of(rows))
    assert "Prices\n\n| Plan | Fee |" in text
    assert "Seats\n\n| Plan | Count |\n| --- | --- |\n| Basic | 3 |" in text


def test_tables_side_by_side_are_told_apart() -> None:
    rows = [["Plan", "Fee", None, "City", "Depot"], ["Basic", 5, None, "Bern", "West"], ["Pro", 9, None, "Zug", "East"]]
    text = text_of(sheet_of(rows))
    assert "| Plan | Fee |\n| --- | --- |\n| Basic | 5 |" in text
    assert "| City | Depot |\n| --- | --- |\n| Bern | West |" in text


def test_a_narrow_empty_column_within_a_table_does_not_cut_its_rows() -> None:
    rows = [
        ["Zone", "Sales", None, "Costs", "Profit"],
        ["North", 12, None, 7, 5],
        ["South", 9, None, 6, 3],
        ["West", 8, None, 6, 2],
    ]
    assert "| South | 9 | 6 | 3 |" in text_of(sheet_of(rows))


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        (
            [["Depot", "Lease", "Staff"], ["", "per month", "in June"], ["Ashfen", 4100, 12], ["Corwell", 3900, 9]],
            "| Depot | Lease per month | Staff in June |",
        ),
        (
            [
                ["", "Day", "", "Night", ""],
                ["Site", "Vans", "Riders", "Vans", "Riders"],
                ["A", 1, 2, 3, 4],
                ["B", 5, 6, 7, 8],
            ],
            "| Site | Day Vans | Day Riders | Night Vans | Night Riders |",
        ),
        (
            [["In EUR", *[""] * 4, "June"], ["Site", *"PQRST"], ["A", 10, 2, 3, 4, 5], ["B", 50, 6, 7, 8, 9]],
            "In EUR · June\n\n| Site | P | Q | R | S | T |",
        ),
        (
            [["Item", "2025", "2026"], ["", "planned", "planned"], ["Rent", 10, 20], ["Fuel", 30, 40]],
            "| Item | 2025 planned | 2026 planned |",
        ),
    ],
)
def test_names_over_two_rows_become_one_header(rows: list[list[Any]], header: str) -> None:
    assert header in text_of(sheet_of(rows))


def test_rows_of_words_are_no_second_header() -> None:
    rows = [["Name", "Room", "Phone"], ["Ada", "East", "n/a"], ["Ben", "West", 4411], ["Eve", "West", 4412]]
    assert "| Name | Room | Phone |\n| --- | --- | --- |\n| Ada | East | n/a |" in text_of(sheet_of(rows))


def test_merged_names_over_columns_are_in_each_of_their_names() -> None:
    def merge(sheet: Any) -> None:
        sheet.merge_cells("B1:C1")

    rows = [["", "First aiders", ""], ["Site", "Day", "Evening"], ["Ashfen", "Ada", "Ben"], ["Corwell", "Eve", "Kim"]]
    assert "| Site | First aiders Day | First aiders Evening |" in text_of(sheet_of(rows, merge))


@pytest.mark.parametrize("formula", ["=B2*12", "=SUM(B2:B9)", "=IF(B2>3,B2*2,0)"])
def test_a_formula_that_nobody_computed_is_shown_and_named(formula: str) -> None:
    parsed = sheet_of([["Item", "Monthly", "Yearly"], ["Rent", 4100, formula]])
    assert f"| Rent | 4100 | {formula} (not computed) |" in text_of(parsed)
    assert parsed.notes == ("sheet Data: 1 formula without a stored value, not computed",)


def test_dates_and_shares_are_as_their_cells_show_them() -> None:
    def show(sheet: Any) -> None:
        for cell, shown in {
            "A2": "mmm yyyy",
            "B2": "0.0%",
            "C2": "dd/mm/yyyy",
            "D2": "yyyy",
            "E2": '"Q3" yy-mm-dd',
        }.items():
            sheet[cell].number_format = shown

    rows = [
        ["Month", "Share", "Day", "Year", "Due"],
        [date(2026, 5, 1), 0.125, date(2026, 5, 6), date(2026, 1, 1), date(2026, 8, 9)],
    ]
    assert "| May 2026 | 12.5% | 2026-05-06 | 2026 | 2026-08-09 |" in text_of(sheet_of(rows, show))


def test_hidden_rows_columns_and_sheets_are_named() -> None:
    def hide(sheet: Any) -> None:
        sheet.row_dimensions[3].hidden = sheet.row_dimensions[4].hidden = True
        sheet.column_dimensions["B"].hidden = True
        sheet.parent.create_sheet("Old").sheet_state = "hidden"

    parsed = sheet_of([["Plan", "Cost", "Fee"], ["Basic", 1, 5], ["Pro", 2, 9], ["Max", 3, 12]], hide)
    assert "| Max | 3 | 12 |" in text_of(parsed)
    assert parsed.notes == (
        "sheet Data: hidden rows read too: 3-4",
        "sheet Data: hidden columns read too: B",
        "hidden sheets left out: Old",
    )


def test_the_addresses_behind_cells_are_kept() -> None:
    def link(sheet: Any) -> None:
        sheet["B2"].hyperlink = "https://forms.acme.example/leave?team=hr"
        sheet["A3"].hyperlink = "#Data!A1"

    parsed = sheet_of([["Topic", "Form", "Days"], ["Leave", "absence form", 2], ["Top", "none", 1]], link)
    assert "| Leave | [absence form](https://forms.acme.example/leave?team=hr) | 2 |\n| Top | none | 1 |" in text_of(
        parsed
    )


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("Artikel;Preis, EUR\nBolzen;12,50\nMutter;3,20\n", "| Bolzen | 12,50 |"),
        ("1,5;2,5\n3,5;4,5\n5,5;6,5\n", "| 3,5 | 4,5 |"),
        ("Depot;Miete;Anteil\nA;1.234,56 €;12,5 %\nB;987,00 €;3,1 %\n", "| A | 1.234,56 € | 12,5 % |"),
        ("name,price\nbolt,1.5\nnut,2.5\n", "| bolt | 1.5 |"),
        ('name,price\nbolt,"1,5"\nnut,"2,5"\n', "| bolt | 1,5 |"),
    ],
)
def test_commas_of_decimals_are_no_delimiters(table: str, row: str) -> None:
    assert row in text_of(read("prices.csv", table.encode()))


def test_separates_side_by_side_tables_that_start_lower_or_share_column_names() -> None:
    below: list[list[Any]] = [
        ["A", "B", None, None],
        [1, 2, None, None],
        [3, 4, None, "C"],
        [5, 6, None, 7],
        [8, 9, None, 10],
    ]
    text = text_of(sheet_of([[*row, row[-1]] for row in below]))
    assert "| A | B |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |" in text
    twice = text_of(sheet_of([["Day", "Vans", None, "Day", "Vans"], [1, 3, None, 1, 5], [2, 4, None, 2, 6]]))
    assert twice.count("| Day | Vans |") == 2
