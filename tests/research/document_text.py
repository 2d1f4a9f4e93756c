"""The text of a document of a question set, by readers that are none of ours."""

import csv
from functools import cache
from pathlib import Path

from bs4 import BeautifulSoup
from docx import Document
from openpyxl import load_workbook

from bot.evaluation.asking import comparable


@cache
def text_of(path: Path) -> str:
    """In the form in which facts and passages are looked for."""
    if path.suffix == ".xlsx":
        cells = (row for sheet in load_workbook(path, data_only=True) for row in sheet.iter_rows(values_only=True))
        return comparable("\n".join(" ".join(str(value) for value in row if value is not None) for row in cells))
    if path.suffix == ".docx":
        document = Document(str(path))
        rows = [" ".join(cell.text for cell in row.cells) for table in document.tables for row in table.rows]
        return comparable("\n".join([*(paragraph.text for paragraph in document.paragraphs), *rows]))
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return comparable("\n".join(" ".join(row) for row in csv.reader(text.splitlines())))
    return comparable(BeautifulSoup(text, "html.parser").get_text(" ") if path.suffix == ".html" else text)
