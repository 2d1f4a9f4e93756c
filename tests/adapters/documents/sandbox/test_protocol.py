"""The pipe protocol of the parser: documents arrive complete, in small lines."""

import json

import pytest

from adapters.documents.sandbox.protocol import LENGTH, MOST_LINE, SLICE, frame, from_parsed, in_slices
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected

HEAD: dict[str, object] = {"title": "T", "media_type": "text/plain", "modified": None, "url": None, "notes": []}
LARGE = Block("\0ä\n" * SLICE, page=3, label="Prices!A2", first_line=7, lines=tuple(range(SLICE)))


def body(*blocks: Block) -> bytes:
    return frame(*from_parsed(ParsedDocument("T", blocks, "text/plain", notes=("a note",))))[LENGTH.size :]


@pytest.mark.parametrize(
    "blocks",
    [
        (Block("short"),),
        (Block("a", lines=tuple(range(5 * SLICE))), LARGE, Block("z", page=1)),
        tuple(Block(f"row {number}", label="Sheet", lines=(number,)) for number in range(20_000)),
    ],
)
def test_a_reading_crosses_whole_in_lines_that_are_small(blocks: tuple[Block, ...]) -> None:
    crossing = body(*blocks)
    *turns, read = in_slices(crossing)
    assert read == ParsedDocument("T", blocks, "text/plain", notes=("a note",))
    assert turns == [None] * crossing.count(b"\n")
    assert max(map(len, crossing.split(b"\n"))) <= MOST_LINE
    assert len(turns) > len(crossing) // MOST_LINE


@pytest.mark.parametrize(
    "line",
    [
        b"", b"[]", b'{"blocks": 3}', b'{"blocks": [[true, "a", []]]}',
        b'{"blocks": [[false, "a", [1], 1, null]]}', b'{"blocks": [[false, 1, [], 1, "", 1]]}',
        b'{"blocks": [[false, "a", [true], 1, "", 1]]}', b"[" * 100_000, b" " * MOST_LINE + b'{"blocks": []}',
    ],
)  # fmt: skip
def test_an_answer_that_makes_no_sense_is_refused(line: bytes) -> None:
    with pytest.raises(DocumentRejected, match="no usable result"):
        list(in_slices(json.dumps(HEAD).encode() + b"\n" + line))
