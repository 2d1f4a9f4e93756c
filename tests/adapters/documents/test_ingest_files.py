"""Real files from the test suites of public parsers: each ends as text or as a named reason."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adapters.documents.parser import DocumentParser
from core.model.errors import DocumentRejected

if TYPE_CHECKING:
    from core.model.document_content import ParsedDocument

FILES = Path(__file__).parents[3] / ".." / "shared" / "data" / "ingest_files"
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not FILES.is_dir(), reason="the shared sample files are not here"),
]

REFUSED = {
    "docling__nemotron_multipage.pdf": "scan",
    "docling__ocr_test_rotated_90.pdf": "scan",
    "sample-files__grayscale-image.pdf": "scan",
    "sample-files__imagemagick-ASCII85Decode.pdf": "scan",
    "sample-files__imagemagick-lzw.pdf": "scan",
    "python-docx__doc-coreprops.docx": "no text",
    "python-docx__doc-no-coreprops.docx": "no text",
    "python-docx__set-no-settings-part.docx": "no text",
    "python-docx__tbl-having-tables.docx": "no text",
    "python-pptx__mst-placeholders.pptx": "no text",
    "python-pptx__mst-shapes.pptx": "no text",
    "python-pptx__prs-slide-masters.pptx": "no text",
    "unstructured__empty.xlsx": "no filled cells",
    "unstructured__empty.eml": "empty",
}

SAYS = {
    "unstructured__fake-memo.pdf": "20,000 bottles of water, 10,000 blankets, and 200 laptops delivered on January 23",
    "unstructured__interface-config-guide-p93.pdf": "# 6.4 Internal PXC",
    "unstructured__korean-text-with-tables.pdf": "적립 제외 대상",
    "unstructured__embedded-images-tables.pdf": "egg shell adsorption on stainless surface",
    "unstructured__category-level.docx": "- A top level list item\n  - Next level\n",
    "markitdown__docx_complex_layout.docx": "| Authentication | Active |",
    "docling__html_rich_table_cells.html": "| Pond; Marsh; Riverbank | Fly south in winter; Build nest on ground |",
    "unstructured__fake-html-lang-de.html": "Geschäftsjahr",
    "unstructured__ideas-page.html": "\n\nKnowledge grows fractally.",
    "unstructured__fake-power-point.pptx": "- Find the bullet slide layout\n  - Use _TextFrame.text",
    "unstructured__fake-power-point-table.pptx": "| Tangerine | Pink | Aqua |",
    "unstructured__vodafone.xlsx": "| Mobile customers | Nine quarters to 30 June 2023 |",
    "docling__xlsx_01.xlsx": "| first (f) | header (f) second | header (f) third |",
    "unstructured__email-replace-mime-encodings-error-1.eml": "869 1664 1575",
    "unstructured__fake-email.txt": "- Roses are red",
    "docling__csv-pipe.csv": "| 2 | 1Ef7b82A4CAAD10 | Preston |",
    "unstructured__semicolon-delimited.csv": "| Lorem, ipsum | dolor sit | amet |",
    "docling__wiki.md": "## 1910s–1950s",
    "unstructured__umlauts-utf8.md": "äöüß",
    "markitdown__test.rtf": "This is a Sample RTF File",
    "unstructured__fake-doc.rtf": "| Row 1, Cell 1 | Row 1, Cell 2 |",
    "unstructured__fake.odt": "| Leader | Sarah | Mark | Ryan |",
    "docling__epub_purvis_poetry.epub": "Sarah Louisa Forten Purvis",
    "unstructured__eng_spa_mult.rst": "Todos los seres humanos",
}


async def test_every_real_file_ends_as_text_or_as_a_reason() -> None:
    names = [json.loads(line)["file"] for line in (FILES / "manifest.jsonl").read_text().splitlines()]
    assert len(names) == 87
    read: dict[str, ParsedDocument] = {}
    refused: dict[str, str] = {}
    async with DocumentParser(with_ocr=False) as parser:
        for name in names:
            path = FILES / name
            try:
                read[path.name] = await parser.parse(path.name, path.read_bytes())
            except DocumentRejected as rejected:
                refused[path.name] = str(rejected)
    assert refused.keys() == REFUSED.keys()
    assert all(REFUSED[name] in reason for name, reason in refused.items())
    for name, parsed in read.items():
        text = "\n\n".join(block.text for block in parsed.blocks)
        assert parsed.title.strip(), name
        assert not re.search(r"\ufffd|[\x00-\x08]|Ã¼|â€", text), f"{name} is garbled"
        assert SAYS.get(name, "") in text, f"{name} lost what it says"
