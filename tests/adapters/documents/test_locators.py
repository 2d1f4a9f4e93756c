"""The line numbers of a passage are those of its words in the file."""

import io
import json
import zipfile
from collections.abc import Sequence

import pytest

from adapters.documents import reader
from adapters.documents.sandbox.protocol import frame, from_parsed, in_slices
from core.ingestion.chunking import passages_of
from core.model.document_content import ParsedDocument
from core.model.knowledge import Document, Passage

CODE = "\n\n".join(
    [
        '"""What is promised."""\n\nimport os',
        *(
            f"def promise{n}(days):\n" + "\n".join(f"    step{n}_{line} = days + {line}" for line in range(60))
            for n in range(3)
        ),
    ]
)
SCRIPT = "// first\nlet total = 0;\n\n/** Adds. */\nexport function add(a, b) {\n  return a + b;\n}\n"
TABLE = "name,city\n" + "".join(f"person{n},city{n}\n" for n in range(300))
QUOTED = 'name,note\nann,"two\nlines"\nben,one\n\ncat,three\n'
WIDE = "name,story,end\n" + "".join(f"person{n},{'once upon a time ' * 60}{n},end{n}\n" for n in range(4))
LIST = "word\n" + "".join(f"word{n}\n" for n in range(90))
RECORDS = "\n".join(json.dumps({"id": f"rec{n}", "tags": [f"tag{n}"], "text": "words " * 60}) for n in range(8))
NOTES = "Notes\n=====\n\n" + "\n\n".join(f"Paragraph number{n} says something of its own." for n in range(40))


async def _passages(name: str, text: str) -> Sequence[Passage]:
    async def count(texts: Sequence[str]) -> Sequence[int]:
        return [len(one.split()) for one in texts]

    parsed = _through_the_pipe(reader.read(name, text.encode()))
    return await passages_of(parsed, Document("d", "b", name, parsed.title, "v", "t", 0), count, 256)


def _through_the_pipe(parsed: ParsedDocument) -> ParsedDocument:
    """Return the document as it comes out of the sandbox."""
    *_, read = in_slices(frame(*from_parsed(parsed))[8:])
    assert read is not None
    return read


def _words(text: str) -> set[str]:
    """The words of a passage that occur nowhere else in the file, so that they can be looked for in its lines."""
    return {word.strip("|,:()\"'") for word in text.split() if any(sign.isdigit() for sign in word)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("promise.py", CODE),
        ("add.js", SCRIPT),
        ("people.csv", TABLE),
        ("quoted.csv", QUOTED),
        ("wide.csv", WIDE),
        ("list.csv", LIST),
        ("records.jsonl", RECORDS),
        ("notes.txt", NOTES),
        ("notes.md", NOTES),
    ],
)
async def test_a_passages_lines_hold_its_words_and_no_more_lines_than_needed(name: str, text: str) -> None:
    lines, named = text.split("\n"), set[int]()
    for passage in await _passages(name, text):
        first, last = passage.locator.first_line, passage.locator.last_line
        assert first is not None
        assert last is not None
        there = "\n".join(lines[first - 1 : last])
        missing = [word for word in _words(passage.text) if word not in there]
        assert not missing, f"{passage.place}: {missing[:3]}"
        assert not named & set(range(first + 1, last)), f"{passage.place} names lines of another passage"
        named |= set(range(first, last + 1))


async def test_a_file_in_an_archive_keeps_its_lines_below_the_title_that_it_is_given() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("rules.txt", "First rule.\n\nSecond rule.")
        archive.writestr("people.csv", TABLE)
    parsed = _through_the_pipe(reader.read("both.zip", packed.getvalue()))
    rules, people = parsed.blocks[:2]
    assert rules.text.split("\n")[2:] == ["First rule.", "", "Second rule."]
    assert [rules.source_line(offset) for offset in range(5)] == [1, 1, 1, 2, 3]
    row = next(at for at, line in enumerate(people.text.split("\n")) if "person7 " in line)
    assert people.source_line(row) == 9


async def test_a_value_of_several_lines_stays_one_item() -> None:
    text = json.dumps([{"question": "How?", "steps": ["a"], "answer": "Open it.\nPress the button."}])
    assert "- answer: Open it.\n  Press the button." in reader.read("faq.json", text.encode()).blocks[0].text
