"""Text as it was meant: encodings that say they are others, letters in several forms, files written into text."""

import base64
import json
import random

import pytest

from adapters.documents.reader import read
from core.model.plain_text import compose


def text_of(name: str, data: bytes) -> str:
    return "\n\n".join(block.text for block in read(name, data).blocks)


@pytest.mark.parametrize(
    ("data", "meant"),
    [
        ("Café “Nord” – 5 €".encode("cp1252"), "Café “Nord” – 5 €"),
        ("Das Büro schließt um 18 Uhr.".encode("latin-1"), "Das Büro schließt um 18 Uhr."),
        ("Größe: 5 € pro Stück".encode() + b"\nZweite Zeile: \x80 7, gr\xf6\xdfer", "Zweite Zeile: € 7, größer"),
        ("Größe".encode().decode("cp1252").encode(), "Größe"),
        (
            "“Quoted” – naïve".encode().decode("cp1252", "replace").replace("\ufffd", "\x9d").encode(),
            "“Quoted” – naïve",
        ),
        ("It\u0092s 5\u0085 or so".encode(), "It’s 5… or so"),
        ("Le dépôt ferme à midi".encode("utf-16"), "Le dépôt ferme à midi"),
    ],
)
def test_wrong_encodings_read_as_meant(data: bytes, meant: str) -> None:
    assert meant in text_of("note.txt", data)


def test_a_page_that_says_latin_1_is_read_as_windows_1252() -> None:
    page = '<html><head><meta charset="iso-8859-1"></head><body><p>Fee: 12 € – “net”</p></body></html>'
    assert text_of("fee.html", page.encode("cp1252")) == "Fee: 12 € – “net”"


@pytest.mark.parametrize("right", ["INFORMAÇÃO E SÃO PAULO", "Ångström, naïve, cœur", "日本語、テスト。"])
def test_text_that_only_looks_wrong_stays_as_it_is(right: str) -> None:
    assert text_of("right.txt", right.encode()) == right


@pytest.mark.parametrize(
    ("written", "composed"),
    [
        ("Büro 12", "Büro 12"),
        ("ｔａｒｉｆｆ Ｂ１２", "tariff B12"),
        ("dam\u00adage re\u00adport", "damage report"),
        ("ﬁve oﬀices, a ﬂat", "five offices, a flat"),
        ("pass\u200bword and \u2060key\ufeff", "password and key"),
        ("half \ud83d here", "half  here"),
    ],
)
def test_letters_of_several_forms_become_usual_ones(written: str, composed: str) -> None:
    assert compose(written) == composed


@pytest.mark.parametrize("written", ["می\u200cخواهم", "👩\u200d🔧", "ไทย\u200bคำ", "日本語，テスト：", "plain"])
def test_joiners_and_punctuation_that_mean_something_stay(written: str) -> None:
    assert compose(written) == written


def test_titles_and_file_names_are_composed() -> None:
    assert read("Lagerordnung Büro.md", b"Text.").title == "Lagerordnung Büro"


PICTURE = base64.b64encode(random.Random(7).randbytes(30_000)).decode()


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (f"Before.\n\n![Map of the yard](data:image/png;base64,{PICTURE})\n\nAfter.\n", "[Image: Map of the yard]"),
        (
            f'Before.\n\n<img alt="Map of the yard" src="data:image/png;base64,{PICTURE}">\n\nAfter.\n',
            "[Image: Map of the yard]",
        ),
        (
            f"Before.\n\n![Map of the yard][i1]\n\nAfter.\n\n[i1]: <data:image/png;base64,{PICTURE}>\n",
            "[Image: Map of the yard]",
        ),
        (f"Before.\n\n![](data:image/jpeg;base64,{PICTURE})\n\nAfter.\n", ""),
        (f"Before.\n\n{PICTURE}\n\nAfter.\n", ""),
    ],
)
def test_pictures_in_markdown_are_told_by_their_alternative_text(source: str, shown: str) -> None:
    [block] = read("yard.md", source.encode()).blocks
    assert [line for line in block.text.split("\n") if line] == [line for line in ("Before.", shown, "After.") if line]
    lines = source.split("\n")
    assert block.source_line(block.text.split("\n").index("After.")) == lines.index("After.") + 1


def test_pictures_in_pages_and_notebooks_are_no_text() -> None:
    page = f'<p>Before.</p><img alt="Map of the yard" src="data:image/png;base64,{PICTURE}"><p>After.</p>'
    assert (
        text_of("yard.html", f"<html><body>{page}</body></html>".encode())
        == "Before.\n\n[Image: Map of the yard]\n\nAfter."
    )
    outputs = [{"output_type": "display_data", "data": {"image/png": PICTURE, "text/plain": ["<Figure>"]}}]
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Churn\n", "Customers left in May."]},
        {"cell_type": "code", "metadata": {}, "source": ["plot()"], "outputs": outputs, "execution_count": 1},
    ]
    book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    text = text_of("churn.ipynb", book.encode())
    assert "Customers left in May." in text
    assert len(text) < 1_000


def test_long_names_and_keys_stay() -> None:
    key = "deadbeef" * 60
    assert key in text_of("keys.txt", f"The key is {key}.".encode())
