"""Attached files: the same limits on every platform, and reasons for files that are not read."""

from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected
from core.model.incoming_events import FileReference
from core.service.attached_files import BEYOND, LARGEST_READ, LONGEST_READ, MOST_READ, read_files

asked_for: list[str] = []


async def fetch(file: FileReference, limit: int) -> tuple[str, bytes]:
    assert limit == LARGEST_READ
    asked_for.append(file.id)
    return file.name, file.id.encode()


async def parse(name: str, data: bytes) -> ParsedDocument:
    if name.endswith(".exe"):
        raise DocumentRejected("A program is not read.")
    return ParsedDocument(name, (Block(data.decode() * 100), Block("end")), "text/plain")


async def test_the_first_files_are_read_and_of_the_others_it_is_said_that_they_are_not() -> None:
    asked_for.clear()
    found = await read_files([FileReference(f"f{n}", f"{n}.docx", 1) for n in range(5)], fetch, parse)
    assert [bool(one.unread) for one in found] == [False] * MOST_READ + [True] * 2
    assert [one.author for one in found] == [f"{n}.docx" for n in range(5)]
    assert found[-1].unread == BEYOND
    assert asked_for == ["f0", "f1", "f2"]


async def test_a_text_is_cut_where_it_is_too_long() -> None:
    (found,) = await read_files([FileReference("word " * 200, "long.txt")], fetch, parse)
    assert len(found.text) == LONGEST_READ


async def test_what_is_too_large_is_not_fetched_and_what_is_no_document_says_so() -> None:
    asked_for.clear()
    files = [FileReference("big", "big.pdf", LARGEST_READ + 1), FileReference("x", "tool.exe", 1)]
    found = await read_files(files, fetch, parse)
    assert [one.unread for one in found] == ["It is larger than 10 MB.", "A program is not read."]
    assert asked_for == ["x"]
