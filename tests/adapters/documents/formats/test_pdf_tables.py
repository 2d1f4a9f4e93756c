"""Tables and blocks of PDFs as programs draw them: without rules, with a few, with boxes, side by side."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from adapters.documents.reader import read

if TYPE_CHECKING:
    from fpdf import FPDF

Rows = Sequence[Sequence[str]]

VANS = (
    ("Depot", "Vans", "Manager"),
    ("Ashfen", "14", "T. Oduya"),
    ("Brackley", "9", "M. Reyes"),
    ("Corwell", "27", "P. Lind"),
)
SHIFTS = (
    ("Shift", "Begins", "Crew"),
    ("Early", "05:30", "12"),
    ("Late", "13:30", "9"),
    ("Night", "21:30", "4"),
    ("Total", "", "25"),
)
TYRES = (
    ("Axle", "Pressure", "Checked"),
    ("Front", "4.1 bar", "weekly"),
    ("Rear", "4.6 bar", "weekly"),
    ("Spare", "5.0 bar", "monthly"),
)


def sheet(size: int = 10) -> "FPDF":
    from fpdf import FPDF

    pdf = FPDF(unit="pt", format=(600, 800))
    pdf.set_auto_page_break(auto=False)
    pdf.add_page()
    pdf.set_font("helvetica", size=size)
    return pdf


def draw(
    pdf: "FPDF", rows: Rows, *, top: float = 120, step: float = 16, columns: Sequence[float] = (60, 220, 340)
) -> None:
    for i, row in enumerate(rows):
        for x, text in zip(columns, row, strict=True):
            pdf.text(x, top + i * step, text)


def text_of(pdf: "FPDF") -> str:
    return "\n\n".join(block.text for block in read("sheet.pdf", bytes(pdf.output())).blocks)


def rows_in(text: str) -> list[list[str]]:
    lines = [line for line in text.split("\n") if line.startswith("|") and not line.startswith("| ---")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("rows", [VANS, SHIFTS, TYRES], ids=["vans", "shifts", "tyres"])
@pytest.mark.parametrize("rules", ["none", "booktabs", "outer box", "groups", "shaded", "total"])
def test_rows_of_a_table_are_told_apart_whatever_is_drawn_around_them(rows: Rows, rules: str) -> None:
    pdf = sheet()
    pdf.text(60, 60, "The table below holds for all depots from March on.")
    left, right, top, step = 54, 420, 108, 16
    bottom = top + step * len(rows)
    if rules == "shaded":
        pdf.set_fill_color(230)
        for i in range(1, len(rows), 2):
            pdf.rect(left, top + i * step, right - left, step, style="F")
    draw(pdf, rows)
    heights = {"none": [], "booktabs": [top, top + step, bottom], "total": [top + step, bottom - step]}
    for y in heights.get(rules, []):
        pdf.line(left, y, right, y)
    if rules in ("outer box", "groups"):
        edges = [top, top + step, bottom] if rules == "outer box" else [top, top + step, top + 3 * step, bottom]
        for y in edges:
            pdf.line(left, y, right, y)
        for x in (left, 210, 330, right):
            pdf.line(x, top, x, bottom)
    assert rows_in(text_of(pdf)) == [list(row) for row in rows]


def test_cells_that_go_over_a_line_stay_one_cell_in_a_ruled_table() -> None:
    pdf = sheet()
    with pdf.table(width=300, col_widths=(1, 1), text_align="LEFT") as table:
        for row in (
            ("Rule", "Why it is so"),
            ("Doors are locked when the last van has left the yard", "Two vans were opened by strangers in the spring"),
            (
                "Keys are handed in at the desk and never left in a van",
                "The insurer asks for it in writing every single year",
            ),
        ):
            table.row(row)
    assert rows_in(text_of(pdf)) == [
        ["Rule", "Why it is so"],
        ["Doors are locked when the last van has left the yard", "Two vans were opened by strangers in the spring"],
        [
            "Keys are handed in at the desk and never left in a van",
            "The insurer asks for it in writing every single year",
        ],
    ]


def test_a_header_of_two_lines_names_its_groups_above_each_column() -> None:
    pdf = sheet()
    columns = (60, 180, 260, 340, 420)
    draw(pdf, [("Depot", "Weekday", "", "Weekend", "")], top=120, columns=columns)
    draw(
        pdf,
        [
            ("", "opens", "closes", "opens", "closes"),
            ("Ashfen", "6", "22", "8", "18"),
            ("Corwell", "5", "23", "9", "17"),
        ],
        top=136,
        columns=columns,
    )
    for y in (108, 140, 172):
        pdf.line(54, y, 480, y)
    for y in (108, 124, 140, 156, 172):
        pdf.line(54, y, 480, y)
    for x in (54, 480):
        pdf.line(x, 108, x, 172)
    for x in (170, 250, 330, 410):
        pdf.line(x, 124 if x in (250, 410) else 108, x, 172)
    assert rows_in(text_of(pdf))[0] == ["Depot", "Weekday opens", "Weekday closes", "Weekend opens", "Weekend closes"]


@pytest.mark.parametrize("words", ["Rear door left open", "Belt runs too slowly", "Cooling unit lost power"])
@pytest.mark.parametrize("gap", [1.7, 2.2, 2.8])
def test_words_set_without_spaces_between_them_are_apart_in_cells(words: str, gap: float) -> None:
    pdf = sheet(size=9)
    for i, (code, said) in enumerate((("Code", "Meaning"), ("E-31", words), ("E-32", "None"))):
        y = 120 + i * 18
        pdf.text(66, y, code)
        x = 146.0
        for word in said.split():
            pdf.text(x, y, word)
            x += pdf.get_string_width(word) + gap
    for y in (108, 126, 144, 162):
        pdf.line(60, y, 380, y)
    for x in (60, 140, 380):
        pdf.line(x, 108, x, 162)
    assert ["E-31", words] in rows_in(text_of(pdf))


@pytest.mark.parametrize("date", ["08/07/2015", "12/31/2026", "2027-03-25"])
def test_digits_that_are_set_apart_are_one_number(date: str) -> None:
    pdf = sheet()
    for i, (name, day) in enumerate((("Permit", "Expires"), ("P-31", date), ("P-32", date))):
        y = 120 + i * 18
        pdf.text(66, y, name)
        pdf.set_char_spacing(1.6 if i else 0)
        pdf.text(186, y, day)
        pdf.set_char_spacing(0)
    for y in (108, 126, 144, 162):
        pdf.line(60, y, 380, y)
    for x in (60, 180, 380):
        pdf.line(x, 108, x, 162)
    assert ["P-31", date] in rows_in(text_of(pdf))


BLOCKS = (
    (("Ship to:", "Tarn Ltd", "14 Quay Street", "Brackley"), ("Bill to:", "Holm AG", "2 Seegasse", "Zurich")),
    (("Sender:", "Orrin GmbH", "Hafen 3", "Kiel"), ("Recipient:", "Vexley", "9 Mill Lane", "Corwell")),
    (("From:", "Depot Ashfen", "Gate 2", "Bay 4"), ("To:", "Depot Farrow", "Gate 1", "Bay 9")),
)


@pytest.mark.parametrize(("left", "right"), BLOCKS, ids=["order", "letter", "transfer"])
def test_short_blocks_side_by_side_are_read_one_after_the_other(left: Sequence[str], right: Sequence[str]) -> None:
    pdf = sheet()
    for i, pair in enumerate(zip(left, right, strict=True)):
        for x, text in zip((60, 320), pair, strict=True):
            pdf.text(x, 120 + i * 14, text)
    words = " ".join(text_of(pdf).split())
    assert words == " ".join((*left, *right))


def test_labels_keep_what_was_filled_in_beside_them() -> None:
    pdf = sheet()
    for i, (label, value) in enumerate(
        (("Name:", "Mira Kessler"), ("Depot:", "Brackley"), ("Van:", "MT-207"), ("Since:", "2019"))
    ):
        pdf.text(60, 120 + i * 16, label)
        pdf.text(180, 120 + i * 16, value)
    assert (
        text_of(pdf).split("\n") == ["Name: Mira Kessler", "Depot: Brackley", "Van: MT-207", "Since: 2019"]
        or text_of(pdf).replace("\n", " ") == "Name: Mira Kessler Depot: Brackley Van: MT-207 Since: 2019"
    )


QUESTIONS = ("Damage found:", "Tank refilled:", "Keys handed in:")


@pytest.mark.parametrize("how", ["crossed", "ticked", "lettered", "filled"])
@pytest.mark.parametrize("side", [9, 12])
def test_boxes_drawn_beside_words_are_told_as_ticked_or_empty(how: str, side: int) -> None:
    pdf = sheet()
    for i, question in enumerate(QUESTIONS):
        y = 120 + i * 24
        pdf.text(60, y, question)
        for x, word, chosen in ((210, "Yes", i != 0), (280, "No", i == 0)):
            top = y - side + 1
            pdf.rect(x, top, side, side)
            pdf.text(x + side + 4, y, word)
            if not chosen:
                continue
            if how == "crossed":
                pdf.line(x, top, x + side, top + side)
                pdf.line(x + side, top, x, top + side)
            elif how == "ticked":
                pdf.polyline([(x + 2, top + side / 2), (x + side / 2, top + side - 2), (x + side - 1, top + 1)])
            elif how == "filled":
                pdf.rect(x + 2, top + 2, side - 4, side - 4, style="F")
            else:
                pdf.text(x + side / 2 - 3, y - 1, "X")
    assert text_of(pdf).split("\n") == [
        "Damage found: [ ] Yes [x] No",
        "Tank refilled: [x] Yes [ ] No",
        "Keys handed in: [x] Yes [ ] No",
    ]


@pytest.mark.parametrize("side", [3, 40])
def test_squares_that_are_no_boxes_to_be_ticked_are_not_told(side: int) -> None:
    pdf = sheet()
    pdf.text(60, 120, "Gates are oiled every second month.")
    pdf.rect(45, 112, side, side)
    assert text_of(pdf) == "Gates are oiled every second month."


@pytest.mark.parametrize(
    "title",
    [
        "(anonymous)",
        "untitled",
        "Microsoft Word - salt.doc",
        "PowerPoint-Präsentation",
        "Layout 1",
        "C:\\Temp\\x1.tmp",
        "{{title}}",
    ],
)
def test_titles_that_programs_leave_behind_are_refused(title: str) -> None:
    pdf = sheet()
    pdf.set_title(title)
    pdf.text(60, 120, "Ramps are salted at minus two degrees.")
    assert read("winter-rules.pdf", bytes(pdf.output())).title == "winter-rules"


@pytest.mark.parametrize("title", ["Unknown deliveries", "Scandinavia 2026", "Page layout of forms"])
def test_titles_that_only_begin_like_those_are_kept(title: str) -> None:
    pdf = sheet()
    pdf.set_title(title)
    pdf.text(60, 120, "Ramps are salted at minus two degrees.")
    assert read("winter-rules.pdf", bytes(pdf.output())).title == title


def test_a_table_that_goes_on_over_a_page_keeps_its_header() -> None:
    pdf = sheet()
    rows = [
        ("Van", "Depot"),
        *((f"MT-{i}", f"Bay {i}") for i in range(1, 4)),
        *((f"MT-{i}", f"Bay {i}") for i in range(4, 7)),
    ]
    for part in (rows[:4], rows[4:]):
        if part is not rows and part[0][0] != "Van":
            pdf.add_page()
        for i, (van, depot) in enumerate(part):
            pdf.text(66, 120 + i * 18, van)
            pdf.text(186, 120 + i * 18, depot)
        for i in range(len(part) + 1):
            pdf.line(60, 108 + i * 18, 380, 108 + i * 18)
        for x in (60, 180, 380):
            pdf.line(x, 108, x, 108 + len(part) * 18)
    blocks = read("vans.pdf", bytes(pdf.output())).blocks
    assert [rows_in(block.text)[0] for block in blocks] == [["Van", "Depot"]] * 2
    assert rows_in(blocks[1].text)[1:] == [["MT-4", "Bay 4"], ["MT-5", "Bay 5"], ["MT-6", "Bay 6"]]


@pytest.mark.parametrize("prose", ["Tyres are changed after four years. ", "Oil goes into the blue drum by the gate. "])
def test_prose_in_two_columns_is_no_table(prose: str) -> None:
    pdf = sheet()
    lines = [f"{prose}It is rule {i}" for i in range(8)]
    for i, line in enumerate(lines):
        pdf.text(50, 120 + i * 14, line)
        pdf.text(330, 120 + i * 14, line.replace("rule", "note"))
    text = text_of(pdf)
    assert "|" not in text
    assert text.index("rule 7") < text.index("note 0")


RIGHT_TO_LEFT = (
    (("סניף", "שעות"), ("תל אביב", "08:00"), ("חיפה", "09:30")),
    (("מחסן", "מנהל"), ("אשדוד", "דנה"), ("אילת", "רון")),
    (("مخزن", "مدير"), ("شمال", "ليلى"), ("جنوب", "سمير")),
)


@pytest.mark.parametrize("rows", RIGHT_TO_LEFT, ids=["hours", "managers", "arabic"])
def test_tables_written_from_right_to_left_keep_their_letters_and_columns_in_order(rows: Rows) -> None:
    import matplotlib as mpl

    pdf = sheet()
    pdf.add_font("DejaVu", fname=f"{mpl.get_data_path()}/fonts/ttf/DejaVuSans.ttf")
    pdf.set_font("DejaVu", size=10)
    for i, row in enumerate(rows):
        for x, text in zip((230, 70), row, strict=True):
            shown = text if text[0].isdigit() else text[::-1]  # as it is drawn: glyph by glyph from the left
            pdf.text(x, 120 + i * 18, shown)
    for i in range(len(rows) + 1):
        pdf.line(60, 108 + i * 18, 380, 108 + i * 18)
    for x in (60, 220, 380):
        pdf.line(x, 108, x, 108 + len(rows) * 18)
    assert rows_in(text_of(pdf)) == [list(row) for row in rows]
