"""Tests of documents: questions with what their answers must and must not say (``footnote check``).

Helpful answers are exported as such tests: their questions and the sources that they cited.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from xml.etree.ElementTree import Element, SubElement, tostring

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from bot.evaluation.asking import comparable, place_of, pursue_question, reply_of, says_not_covered, turn_of
from core.model.answer import Outcome
from core.model.conversation import Thread, ThreadKey
from core.model.errors import ConfigurationError
from core.model.text import sentences

if TYPE_CHECKING:
    from bot.container import Footnote
    from bot.evaluation.asking import Prediction
from collections.abc import AsyncIterator

from core.ports.catalog import Catalog
from core.ports.memory import Feedback, FeedbackStore, Memory

MOST_TESTS = 1_000
LARGEST_FILE = 1_000_000  # bytes
LAYOUT = (
    "A test file has documents (files and folders) and tests. Each test has ask, and has, lacks, cites or abstains."
)
_PLAIN = {"extra_forbidden": "there is no such field", "missing": "is missing", "model_type": "is not a mapping"}
RUNS_WITH_MODEL = 3  # a model may answer differently each time; the majority decides


def _as_texts(value: object) -> object:
    """Convert a single text to a list, and numbers and dates that YAML parsed back to text."""
    values = value if isinstance(value, list | tuple) else [value]
    if any(isinstance(one, dict | list) or one is None for one in values):
        raise ValueError("is no text; put quotes around a text with a colon")
    return [str(one) for one in values]


def _as_alternatives(value: object) -> object:
    return [_as_texts(one) for one in (value if isinstance(value, list | tuple) else [value])]


Texts = Annotated[tuple[str, ...], BeforeValidator(_as_texts)]
Facts = Annotated[tuple[tuple[str, ...], ...], BeforeValidator(_as_alternatives)]


class DocumentTest(BaseModel):
    """One question and the expectations for its answer.

    ``has`` are facts; for a list, one of its texts is enough. ``after`` are earlier questions in the same thread.
    ``cites`` are sources or titles that all must be cited.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ask: str = Field(min_length=1, max_length=4_000)
    after: Texts = ()
    has: Facts = ()
    lacks: Texts = ()
    cites: Texts = ()
    abstains: bool = False

    @model_validator(mode="after")
    def _expects_something(self) -> "DocumentTest":
        if self.abstains == bool(self.has or self.lacks or self.cites):
            raise ValueError("expects nothing, or both an answer and none: give has, lacks or cites, or abstains: true")
        return self


class TestFile(BaseModel):
    """A file of tests. ``documents`` are files and folders, relative to the file."""

    __test__ = False  # pytest would collect a class of this name
    model_config = ConfigDict(extra="forbid", frozen=True)

    documents: Texts = ()
    tests: tuple[DocumentTest, ...] = Field(min_length=1, max_length=MOST_TESTS)


@dataclass(frozen=True, slots=True)
class Checked:
    """A test with its result. ``faults`` is empty if it passed."""

    test: DocumentTest
    answer: str
    faults: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the answer met the expectations."""
        return not self.faults


def read_tests(path: Path) -> TestFile:
    """Read a YAML file of tests. Raises ConfigurationError that names the wrong test and field."""
    import yaml

    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigurationError(f"{path} is larger than {LARGEST_FILE // 1_000_000} MB.")
        return TestFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        message = _PLAIN.get(first["type"], str(first["msg"]).removeprefix("Value error, "))
        raise ConfigurationError(f"{path}{_place(first['loc'])}: {message}.", remedy=LAYOUT) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f", line {line + 1}"
        raise ConfigurationError(f"{path}{where} is not YAML: {getattr(error, 'problem', error)}.") from None


def _place(location: Sequence[int | str]) -> str:
    words = [f"test {part + 1}" if isinstance(part, int) and at == 1 else part for at, part in enumerate(location)]
    return "".join(f", {word}" for word in words if isinstance(word, str) and word != "tests")


async def check(footnote: "Footnote", base: str, test: DocumentTest) -> Checked:
    """Ask a base one question and judge the answer; with a model, by the majority of three runs."""
    runs = RUNS_WITH_MODEL if footnote.settings.llm_model else 1
    checked = [await _check_once(footnote, base, test) for _ in range(runs)]
    passed = sum(one.passed for one in checked) * 2 > runs
    return next(one for one in checked if one.passed == passed)


async def _check_once(footnote: "Footnote", base: str, test: DocumentTest) -> Checked:
    thread = Thread(ThreadKey("check", base, "", test.ask))
    for earlier in test.after:
        answer, inquiry = await pursue_question(footnote, base, earlier, thread)
        thread = Thread(thread.key, (*thread.turns, turn_of(footnote, inquiry, answer)))
    answer, _ = await pursue_question(footnote, base, test.ask, thread)
    reply = reply_of(answer)
    titles = {one.document: one.title for one in answer.citations} if answer else {}
    return Checked(test, reply.text.strip(), tuple(find_faults(test, reply, frozenset(titles.values()))))


def find_faults(test: DocumentTest, reply: "Prediction", titles: frozenset[str] = frozenset()) -> list[str]:
    """Return the faults of a reply, one sentence each. ``titles`` are the titles of cited documents."""
    if reply.outcome in {Outcome.FAILED, Outcome.REFUSED}:
        return [f"Could not be asked ({reply.outcome})."]
    declines = reply.outcome is not Outcome.ANSWERED or says_not_covered(next(iter(sentences(reply.text)), ""))
    if test.abstains:
        return [] if declines else ["Gives an answer, although the documents should not contain one."]
    if reply.outcome is not Outcome.ANSWERED:
        return [f"Does not answer ({reply.outcome})."]
    text = comparable(reply.text)
    faults = [
        "Lacks " + " or ".join(f"“{one}”" for one in alternatives) + "."
        for alternatives in test.has
        if all(place_of(comparable(one), text) is None for one in alternatives)
    ]
    faults += [f"Says “{one}”." for one in test.lacks if place_of(comparable(one), text) is not None]
    return faults + [f"Does not cite {one}." for one in test.cites if not _is_cited(one, reply.cited, titles)]


def _is_cited(name: str, sources: frozenset[str], titles: frozenset[str]) -> bool:
    return name in titles or any(source == name or source.endswith(f"/{name}") for source in sources)


def as_json(one: Checked) -> dict[str, Any]:
    """Return a result as JSON data."""
    return {"ask": one.test.ask, "passed": one.passed, "faults": list(one.faults), "answer": one.answer}


def as_junit(checked: Sequence[Checked], name: str) -> bytes:
    """Return the results as JUnit XML, as CI services show it."""
    failures = sum(not one.passed for one in checked)
    suite = Element("testsuite", name=name, tests=str(len(checked)), failures=str(failures))
    for one in checked:
        case = SubElement(suite, "testcase", classname=name, name=_printable(one.test.ask))
        if one.faults:
            failure = SubElement(case, "failure", message=_printable(" ".join(one.faults)))
            failure.text = _printable(one.answer)
    written: bytes = tostring(suite, encoding="utf-8", xml_declaration=True)
    return written


def _printable(text: str) -> str:
    """Return the text without control characters that XML 1.0 does not allow."""
    return "".join(sign for sign in text if sign.isprintable() or sign in "\n\t")


def as_markdown(checked: Sequence[Checked], changed: Sequence[tuple[Checked, Checked]] = ()) -> str:
    """Return the results as a comment for a pull request: failures first, then answers that change."""
    failed = [one for one in checked if not one.passed]
    lines = [f"**{len(checked) - len(failed)} of {len(checked)} document tests passed.**", ""]
    for one in failed:
        lines += [f"- ❌ **{_inline(one.test.ask)}** {_inline(' '.join(one.faults))}", f"  > {_inline(one.answer)}"]
    if changed:
        lines += ["", "Changed answers:", ""]
    for before, after in changed:
        lines += [f"- **{_inline(after.test.ask)}**", f"  - before: {_inline(before.answer)}"]
        lines += [f"  - now: {_inline(after.answer)}"]
    return "\n".join(lines) + "\n"


def _inline(text: str) -> str:
    """Return the text on one line, without active Markdown or HTML."""
    return " ".join(text.replace("<", "&lt;").replace("@", "@\u2060").split())


async def export_feedback(box: FeedbackStore, catalog: Catalog, memory: Memory, base: str) -> list[dict[str, object]]:
    """Return a test for each helpful answer from this base, as ``read_tests`` reads them.

    Answers with as many unhelpful as helpful ratings are left out, and so are answers whose sources are all removed. A
    follow-up includes the questions before it while the thread is stored.
    """
    sources = {document.source for document in await catalog.documents(frozenset({base}))}
    tests: list[dict[str, object]] = []
    for one in await _helpful(box.all()):
        cited = {citation.document for citation in one.citations if citation.knowledge_base == base}
        if kept := sorted(cited & sources):
            before = await _before(one, memory)
            tests.append({"ask": one.question, **({"after": before} if before else {}), "cites": kept})
    return tests


async def _helpful(words: AsyncIterator[Feedback]) -> list[Feedback]:
    """Return one feedback for each answer rated more helpful than not, if it has a question and sources."""
    by_trace: dict[str, list[Feedback]] = {}
    async for word in words:
        by_trace.setdefault(word.trace_id, []).append(word)
    return [
        said[-1]
        for said in by_trace.values()
        if sum(1 if word.helpful else -1 for word in said) > 0 and said[-1].question and said[-1].citations
    ]


async def _before(word: Feedback, memory: Memory) -> list[str]:
    """Return the questions before this one in its thread; none if that is forgotten."""
    if not word.thread:
        return []
    asked: list[str] = []
    for turn in (await memory.recall(ThreadKey.parse(word.thread))).turns:
        if turn.trace_id == word.trace_id:
            return asked
        asked.append(turn.question)
    return []
