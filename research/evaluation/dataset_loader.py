"""Reads a folder as something to measure: questions with a corpus, questions with expected facts, or both."""

from dataclasses import dataclass
from pathlib import Path

from adapters.documents.folders import files_in
from core.model.errors import ConfigurationError, NotFound
from research.evaluation.datasets import CorpusDocument, Query, documents_from, grades_from, queries_from, spread
from research.evaluation.question_sets import QuestionSet, question_set_from

LAYOUTS = (
    "queries.jsonl with qrels.tsv and corpus.jsonl (BEIR); questions.jsonl with documents.json and the folder documents"
)


@dataclass(frozen=True, slots=True)
class Dataset:
    """What a folder holds. Without ``corpus.jsonl`` its corpus is the files in ``documents`` beside it, if any."""

    name: str
    queries: tuple[Query, ...] = ()
    documents: tuple[CorpusDocument, ...] = ()
    files: tuple[tuple[Path, str], ...] = ()
    questions: QuestionSet | None = None

    @property
    def has_corpus(self) -> bool:
        """Whether there is anything to search in."""
        return bool(self.documents or self.files)


def read(folder: Path, limit: int | None) -> Dataset:
    """Read a dataset, at most ``limit`` questions of each kind.

    Raises NotFound when there is nothing to measure in it, ConfigurationError when a file is not in its layout.
    """
    try:
        found = _read(folder, limit)
    except (ValueError, KeyError, TypeError, StopIteration) as error:
        raise ConfigurationError(
            f"{folder} is not in a layout I know: {error!r}.", remedy=f"Known: {LAYOUTS}."
        ) from None
    if not (found.queries or found.questions):
        raise NotFound(f"There is nothing to measure in {folder}.", remedy=f"A dataset has {LAYOUTS}.")
    if not found.has_corpus:
        raise NotFound(f"There is no corpus.jsonl in {folder}, and no documents folder beside it.")
    return found


def _read(folder: Path, limit: int | None) -> Dataset:
    documents = documents_from(_lines(folder / "corpus.jsonl"))
    questions = _question_set(folder, limit)
    beside = (folder.absolute() if questions else folder.absolute().parent) / "documents"
    files = () if documents else tuple((p, str(Path(s).relative_to(beside.name))) for p, s in files_in([beside]))
    queries: tuple[Query, ...] = ()
    if (folder / "qrels.tsv").is_file():
        queries = queries_from(_lines(folder / "queries.jsonl"), grades_from(_lines(folder / "qrels.tsv")))
    return Dataset(
        folder.resolve().name, spread(queries, limit), documents, files if queries or questions else (), questions
    )


def _question_set(folder: Path, limit: int | None) -> QuestionSet | None:
    """Return the questions with expected facts, if there are any. Raises ValueError without a manifest."""
    lines, manifest = _lines(folder / "questions.jsonl"), folder / "documents.json"
    if not lines:
        return None
    if not manifest.is_file():
        raise ValueError("questions.jsonl without documents.json")
    return question_set_from(lines, manifest.read_text(encoding="utf-8")).limit_to(limit)


def _lines(path: Path) -> list[str]:
    """Return a file's lines, none without a file. Not ``splitlines``: texts hold other line breaks."""
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line] if path.is_file() else []
