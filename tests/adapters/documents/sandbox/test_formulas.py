"""Formulas computed by LibreOffice: the real one where it is installed, elsewhere a program in its place."""

import ctypes
import multiprocessing
import sys
from io import BytesIO
from pathlib import Path

import pytest

from adapters.documents.parser import DocumentParser
from adapters.documents.sandbox.child import CLONE_NEWNET, CLONE_NEWUSER
from adapters.documents.sandbox.formulas import office


def _leave_network() -> None:
    libc = ctypes.CDLL(None)
    sys.exit(bool(libc.unshare(CLONE_NEWNET) != 0 and libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0))


def may_leave_network() -> bool:
    if sys.platform != "linux":
        return False
    child = multiprocessing.get_context("spawn").Process(target=_leave_network)
    child.start()
    child.join(30)
    return child.exitcode == 0


def workbook() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (
        ["Item", "Monthly", "Yearly"],
        ["Rent", 4100, "=B2*12"],
        ["Fuel", 6200, "=B3*12"],
        ["All", "=SUM(B2:B3)", None],
    ):
        book.active.append(row)
    out = BytesIO()
    book.save(out)
    return out.getvalue()


async def read(data: bytes) -> tuple[str, tuple[str, ...]]:
    async with DocumentParser(with_ocr=False) as parser:
        parsed = await parser.parse("budget.xlsx", data)
    return "\n".join(block.text for block in parsed.blocks), parsed.notes


def program_at(folder: Path, body: str) -> None:
    """A program by LibreOffice's name that takes its arguments and is called in its place."""
    path = folder / "soffice"
    path.write_text(f"#!{sys.executable}\nimport shutil, sys\nfrom pathlib import Path\n"
                    f"out, given = Path(sys.argv[-2]), Path(sys.argv[-1])\nout.mkdir()\n{body}\n")  # fmt: skip
    path.chmod(0o755)


SHOWN = "| Rent | 4100 | =B2*12 (not computed) |"
NAMED = ("sheet Sheet: 3 formulas without a stored value, not computed",)
COMPUTES = """
import openpyxl
book = openpyxl.load_workbook(given)
for cell, value in {"C2": 49200, "C3": 74400, "B4": 10300}.items():
    book.active[cell] = value
book.save(out / "book.xlsx")
"""
STATES_ITS_NETWORK = """
import openpyxl
reached = [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]]
book = openpyxl.load_workbook(given)
for cell in ("C2", "C3", "B4"):
    book.active[cell] = " ".join(reached)
book.save(out / "book.xlsx")
"""


@pytest.mark.skipif(office() is None or not may_leave_network(), reason="LibreOffice is not installed")
async def test_libreoffice_computes_what_no_program_did() -> None:
    text, notes = await read(workbook())
    assert "| Rent | 4100 | 49200 |" in text
    assert notes == ("formulas computed by LibreOffice: 3",)


@pytest.mark.skipif(not may_leave_network(), reason="a process may not leave the network here")
async def test_values_of_a_program_in_its_place_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program_at(tmp_path, COMPUTES)
    monkeypatch.setenv("PATH", str(tmp_path))
    text, notes = await read(workbook())
    assert "| Rent | 4100 | 49200 |" in text
    assert notes == ("formulas computed by LibreOffice: 3",)


@pytest.mark.skipif(not may_leave_network(), reason="a process may not leave the network here")
async def test_what_computes_formulas_reaches_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program_at(tmp_path, STATES_ITS_NETWORK)
    monkeypatch.setenv("PATH", str(tmp_path))
    text, _ = await read(workbook())
    assert "| Rent | 4100 | lo |" in text


@pytest.mark.parametrize(
    "body", ["sys.exit(1)", "(out / 'book.xlsx').write_text('none')", "shutil.copy(given, out / 'book.xlsx')"]
)
async def test_formulas_are_shown_where_they_are_not_computed(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program_at(tmp_path, body)
    monkeypatch.setenv("PATH", str(tmp_path))
    text, notes = await read(workbook())
    assert SHOWN in text
    assert notes == NAMED


async def test_formulas_are_shown_where_nothing_computes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    text, notes = await read(workbook())
    assert SHOWN in text
    assert notes == NAMED
