"""Formats are declared in their modules, and a package of somebody else's can bring one."""

import sys
from pathlib import Path

import pytest

from adapters.documents.format import formats
from adapters.documents.sandbox.pool import Sandbox

PACKAGE = """
from adapters.documents.format import Format
from core.model.document_content import Block, ParsedDocument


def read(name, data):
    return ParsedDocument(title="Playlist", blocks=(Block(data.decode().upper()),), media_type="audio/x-mpegurl")


FORMATS = (
    Format(media_type="audio/x-mpegurl", read=read, label="M3U", suffixes=("m3u",),
           in_text=lambda promised, head: head.startswith("#EXTM3U")),
)
"""


def _install(site: Path, name: str, module: str, value: str) -> None:
    (site / f"{name}.py").write_text(module)
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[footnote.formats]\n{name} = {value}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages that a new Python process sees."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    return tmp_path


async def test_the_sandbox_reads_the_format_of_an_installed_package(site: Path) -> None:
    _install(site, "footnote_m3u", PACKAGE, "footnote_m3u:FORMATS")
    async with Sandbox(workers=1) as sandbox:
        parsed = await sandbox.read("songs", b"#EXTM3U\nabbey road\n")
    assert (parsed.title, parsed.blocks[0].text) == ("Playlist", "#EXTM3U\nABBEY ROAD\n")


async def test_a_package_that_cannot_be_imported_keeps_no_other_file_from_being_read(site: Path) -> None:
    _install(site, "footnote_broken", "raise RuntimeError", "footnote_broken:FORMATS")
    async with Sandbox(workers=1) as sandbox:
        parsed = await sandbox.read("leave.md", b"# Leave\n\nThirty days.\n")
    assert parsed.title == "Leave"


def test_a_media_type_and_a_suffix_belong_to_one_format() -> None:
    types = [one.media_type for one in formats()]
    suffixes = [suffix for one in formats() for suffix in one.suffixes]
    assert len(types) == len(set(types))
    assert len(suffixes) == len(set(suffixes))
