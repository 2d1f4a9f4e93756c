"""What the reader of answers learns from: questions with sentences or rows, of which some answer or none does.

Public sets that their owners publish for anybody (none is in the project): SQuAD 1.1, SQuAD 2.0 and XQuAD as JSON,
WikiTableQuestions as a folder with ``data/training.tsv`` and ``csv/``, FeTaQA as JSON lines. Texts are parted into
units by the product's own code and told as it tells them. From a question that something answers a second one is made
that nothing does: without the answering sentence, or with the table's column taken out that is asked for. Questions of
a few patterns ("the CAPTAIN of NAME") are made for columns of tables, with and without the column. Other sets, whose
own forms are not read here, come as JSON lines that somebody has prepared: ``q``, ``t`` (texts, those that answer
first), ``y`` (1 where one answers) and ``title``.
"""

import csv
import io
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.model.knowledge import Passage
from core.model.passage_units import Form, befores, in_context, units
from core.model.text import content_words

CHARACTERS = 400
SENTENCES_AT_MOST, ROWS_AT_MOST = 10, 8
REMOVED_SHARE, COLUMN_REMOVED_SHARE, REWORDED_SHARE = 0.3, 0.6, 0.5
PATTERNS = ("what is the {c} of {k}?", "{k} {c}?", "what {c} does {k} have?", "{c} for {k}", "what's {k}'s {c}")
Table = list[list[str]]


@dataclass(frozen=True, slots=True)
class Group:
    """A question, texts that might answer it, and which of them do.

    ``weight`` is what it counts in the loss, ``counted`` the odds of each text by what is counted, where known.
    """

    question: str
    texts: tuple[str, ...]
    answers: tuple[bool, ...]
    weight: float = 1.0
    counted: tuple[float, ...] = ()


def told_units(title: str, text: str) -> list[tuple[Form, str, str]]:
    """Return the form of each unit, its own text, and the text as the reader is given it."""
    passage = Passage(
        id="p",
        knowledge_base="b",
        document="d",
        version="1",
        section="s",
        ordinal=0,
        title=title,
        text=text,
        source="s",
        dated="",
    )
    parts = units(text)
    before = befores(parts)
    return [(one.form, one.text, in_context(passage, one, before.get(one))[:CHARACTERS]) for one in parts]


def group_of(question: str, told: Sequence[tuple[str, bool]], at_most: int) -> Group | None:
    """At most two that answer, and of the others two thirds that share most words with the question."""
    asked = set(content_words(question))
    right = [text for text, answers in told if answers][:2]
    wrong = [text for text, answers in told if not answers]
    wrong.sort(key=lambda text: -len(asked & set(content_words(text))) - 1.5 * random.random())
    room = at_most - len(right)
    hard, rest = wrong[: room * 2 // 3], wrong[room * 2 // 3 :]
    others = [*hard, *random.sample(rest, min(len(rest), room - room * 2 // 3))]
    if not right and not others:
        return None
    worded = question if random.random() < REWORDED_SHARE else question.lower().rstrip("?")
    return Group(worded, (*right, *others), (*(True for _ in right), *(False for _ in others)))


def from_squad(path: Path) -> Iterator[Group | None]:
    """Sentences of the paragraph and of another one of the same article; those of the answer's span answer."""
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        title = str(article.get("title", "")).replace("_", " ")
        told = [_spans(title, paragraph["context"]) for paragraph in article["paragraphs"]]
        for here, paragraph in zip(told, article["paragraphs"], strict=True):
            other = random.choice(told)
            for asked in paragraph["qas"]:
                start, end = _answer_span(asked)
                pairs = [(text, at < end and start < until) for at, until, text in here]
                pairs += [(text, False) for _, _, text in other] if other is not here else []
                if end and not 0 < sum(answers for _, answers in pairs) <= 2:
                    continue
                yield group_of(asked["question"], pairs, SENTENCES_AT_MOST)
                if end and random.random() < REMOVED_SHARE:
                    yield group_of(asked["question"], [one for one in pairs if not one[1]], SENTENCES_AT_MOST)


def _spans(title: str, context: str) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    at = 0
    for _, own, text in told_units(title, context):
        at = max(at, context.find(own[:40], at))
        found.append((at, at + len(own), text))
    return found


def _answer_span(asked: dict[str, object]) -> tuple[int, int]:
    answers = asked.get("answers")
    if asked.get("is_impossible") or not isinstance(answers, list) or not answers:
        return 0, 0
    return answers[0]["answer_start"], answers[0]["answer_start"] + len(answers[0]["text"])


def from_table(question: str, title: str, rows: Table, right: set[int], *, without: int | None = None) -> Group | None:
    """Rows as units; without the column that is asked for none of them answers."""
    kept = [[cell for at, cell in enumerate(row) if at != without] for row in rows]
    told = [text for form, _, text in told_units(title, _markdown(kept)) if form is Form.ROW]
    if len(told) != len(rows) - 1:
        return None
    return group_of(question, [(text, without is None and at in right) for at, text in enumerate(told)], ROWS_AT_MOST)


def _markdown(rows: Table) -> str:
    lines = [" | ".join(cell.replace("|", "/").replace("\n", " ").strip() or "-" for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in (lines[0], " | ".join("---" for _ in rows[0]), *lines[1:]))


def from_patterns(title: str, rows: Table, columns: int) -> Iterator[Group | None]:
    """Questions for cells of a few columns, by the column that names each row."""
    head, body = rows[0], rows[1:]
    keys = [at for at in range(len(head)) if len({row[at] for row in body}) == len(body) and body[0][at].strip()]
    others = [at for at, name in enumerate(head) if keys and at != keys[0] and name.strip()]
    for at in random.sample(others, min(columns, len(others))):
        row = random.randrange(len(body))
        question = random.choice(PATTERNS).format(c=head[at].lower(), k=body[row][keys[0]])
        yield from_table(question, title, rows, {row})
        yield from_table(question, title, rows, {row}, without=at)


def from_fetaqa(path: Path) -> Iterator[Group | None]:
    """Rows with highlighted cells answer, where there are two at most."""
    for line in path.read_text(encoding="utf-8").splitlines():
        asked = json.loads(line)
        rows = [[str(cell) for cell in row] for row in asked["table_array"]]
        cells = [(row, column) for row, column in asked["highlighted_cell_ids"] if row > 0]
        right = {row - 1 for row, _ in cells}
        if len({len(row) for row in rows}) > 1 or not 0 < len(right) <= 2:
            continue
        title = f"{asked['table_page_title']}, {asked['table_section_title']}"
        yield from_table(asked["question"], title, rows, right)
        said = set(content_words(asked["question"]))
        open_columns = [column for row, column in cells if not said & set(content_words(rows[row][column]))]
        if open_columns and random.random() < COLUMN_REMOVED_SHARE:
            without = random.choice(open_columns)
            yield from_table(asked["question"], title, rows, right, without=without)
        yield from from_patterns(title, rows, 1)


def from_prepared(path: Path) -> Iterator[Group]:
    """Yield groups as they are in the file, their texts below their document's title."""
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        place = f"{one['title']}: " if one.get("title") else ""
        texts = tuple(f"{place}{text}"[:CHARACTERS] for text in one["t"])
        worded = one["q"] if random.random() < REWORDED_SHARE else one["q"].lower().rstrip("?")
        yield Group(worded, texts, tuple(map(bool, one["y"])))


def from_wikitables(folder: Path) -> Iterator[Group | None]:
    """Questions whose answer is one cell, in a row that says more of the question."""
    for line in (folder / "data" / "training.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        _, question, place, target = line.split("\t")
        rows = list(csv.reader(io.StringIO((folder / place).read_text(encoding="utf-8")), escapechar="\\"))
        at = [
            (row, column)
            for row in range(1, len(rows))
            for column, cell in enumerate(rows[row])
            if cell.casefold() == target.casefold()
        ]
        if len(at) != 1 or len({len(row) for row in rows}) > 1:
            continue
        row, column = at[0]
        rest = " ".join(cell for other, cell in enumerate(rows[row]) if other != column)
        if not set(content_words(question)) & set(content_words(rest)):
            continue
        yield from_table(question, "", rows, {row - 1})
        if random.random() < COLUMN_REMOVED_SHARE:
            yield from_table(question, "", rows, {row - 1}, without=column)
        yield from from_patterns("", rows, 3)
