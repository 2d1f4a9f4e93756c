"""Reads a set to learn from: a folder with ``documents``, and in ``questions.txt`` what they answer and what not.

A line that begins with ``##`` names the document of the passages below it, or nothing; one or more lines that begin
with ``>`` are sentences or rows of it, word for word, of which each answers the questions that follow, one a line::

    ## handbook/leave.md
    > Everyone has 27 days of annual leave a year.
    how much leave do i get
    ## nothing
    who parks where
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from bs4 import BeautifulSoup

from adapters.documents.folders import files_in
from research.evaluation.dataset_loader import Dataset
from research.evaluation.question_sets import LabelledQuestion, QuestionKind, QuestionSet

FILE = "questions.txt"
DOCUMENT, PASSAGE, NOTHING = "## ", "> ", "nothing"


def learning_set(folder: Path) -> Dataset:
    """Return the documents and their questions. Raises ValueError when a question stands below no passage."""
    lines = (folder / FILE).read_text(encoding="utf-8").splitlines()
    documents = folder.absolute() / "documents"
    files = tuple((path, str(Path(source).relative_to(documents.name))) for path, source in files_in([documents]))
    return Dataset(folder.name, files=files, questions=QuestionSet(tuple(_questions(lines)), {}))


def _questions(lines: Iterable[str]) -> Iterator[LabelledQuestion]:
    document, passages, asked = "", list[str](), True
    for number, line in enumerate(filter(None, map(str.strip, lines)), 1):
        if line.startswith(DOCUMENT):
            document, passages, asked = line.removeprefix(DOCUMENT), [], True
        elif line.startswith(PASSAGE):
            passage = line.removeprefix(PASSAGE)
            passages = [*([] if asked else passages), _bare(passage, document)]
            asked = False
        elif document == NOTHING:
            yield LabelledQuestion(f"line-{number}", line, QuestionKind.UNANSWERABLE, unanswerable=True)
        elif passages:
            asked = True
            held = (document,), tuple(passages)
            yield LabelledQuestion(f"line-{number}", line, QuestionKind.FACT, documents=held[0], passages=held[1])
        else:
            raise ValueError(f"“{line}” stands below no passage.")


def _bare(passage: str, document: str) -> str:
    """Without what only its format writes: a line of comma-separated values is the row of a table."""
    if document.endswith(".csv"):
        return f"| {' | '.join(next(csv.reader([passage])))} |"
    return BeautifulSoup(passage, "html.parser").get_text(" ") if document.endswith(".html") else passage
