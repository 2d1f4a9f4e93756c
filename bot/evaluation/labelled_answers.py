"""Checks labelled answers with the configured model, to choose a model by its false alarms and misses.

Each line of the file is a JSON object: ``question``, ``answer`` with markers ``[1]``, ``[2]`` in the order of
``evidence``, a list of ``{"title", "text"}``, and ``right``, whether the evidence supports the whole answer. It runs
the product's check on this evidence only, without search, writing or repair.
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.model.answer import ResourceUsage, Verdict
from core.model.budget import Meter
from core.model.errors import ConfigurationError
from core.model.evidence import EvidenceLibrary, Hit
from core.model.inquiry import Inquiry
from core.model.knowledge import Passage
from core.model.profile import Profile
from core.model.text import cited_ids

if TYPE_CHECKING:
    from adapters.reasoners.openai.verifier_trust import ControlResult
    from bot.settings import Settings

SAMPLE_ANSWERS = Path(__file__).parents[1] / "samples" / "eval" / "answers.jsonl"
Check = Callable[[Inquiry, str], Awaitable[tuple[Verdict, Meter]]]  # like ``Agent.check``
_BASE = "labelled"
_LAYOUT = 'Each line is {"question", "answer", "right": true or false, "evidence": [{"title", "text"}, …]}.'
_SET_A_MODEL = "Set LLM_MODEL, LLM_BASE_URL and LLM_API_KEY."


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """An answer with its cited evidence as (title, text), and whether all of it is right."""

    question: str
    answer: str
    right: bool
    evidence: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """The result of checking an answer: the failed sentences with faults, and why no model read it, if so."""

    labelled: LabelledAnswer
    failed: tuple[tuple[str, str], ...]
    unread: str
    spent: ResourceUsage

    @property
    def is_false_alarm(self) -> bool:
        """Whether a sentence of a right answer failed."""
        return self.labelled.right and not self.unread and bool(self.failed)

    @property
    def is_miss(self) -> bool:
        """Whether no sentence of a false answer failed."""
        return not self.labelled.right and not self.unread and not self.failed


@dataclass(slots=True)
class ModelReport:
    """The results for one model. ``control`` says whether its checks are reliable."""

    model: str
    control: "ControlResult"
    answers: list[CheckedAnswer] = field(default_factory=list)

    @property
    def spent(self) -> ResourceUsage:
        """The total cost of the checks."""
        return sum((one.spent for one in self.answers), ResourceUsage())

    def lines(self) -> Iterator[str]:
        """Yield the report for a person."""
        right, false = (sum(one.labelled.right is label for one in self.answers) for label in (True, False))
        alarms = [one for one in self.answers if one.is_false_alarm]
        misses = [one for one in self.answers if one.is_miss]
        unread = [one for one in self.answers if one.unread]
        believed = "believed" if self.control.believed else "NOT believed, so rules that compare words decide instead"
        yield f"{self.model}: its checks are {believed} ({self.control})"
        yield f"false alarms: {len(alarms)} of {right} right answers have a sentence that fails"
        for one in alarms:
            yield f"  {one.labelled.question}"
            yield from (f"    {sentence}  -- {fault or 'no document says it'}" for sentence, fault in one.failed)
        yield f"misses: {len(misses)} of {false} false answers have no sentence that fails"
        for one in misses:
            yield f"  {one.labelled.question}"
            yield f"    {' '.join(one.labelled.answer.split())}"
        if unread:
            yield f"not checked: {len(unread)} ({unread[0].unread})"
        spent = self.spent
        cost = f", cost {spent.cost:.4g}" if spent.cost else ""
        yield (
            f"{spent.calls} calls, {spent.tokens_in:,} tokens read ({spent.tokens_cached:,} of them cached),"
            f" {spent.tokens_out:,} written, {spent.seconds:.1f} seconds{cost}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "model": self.model,
            "control": asdict(self.control),
            "right_answers": sum(one.labelled.right for one in self.answers),
            "false_answers": sum(not one.labelled.right for one in self.answers),
            "false_alarms": [_as_json(one) for one in self.answers if one.is_false_alarm],
            "misses": [_as_json(one) for one in self.answers if one.is_miss],
            "not_checked": [_as_json(one) for one in self.answers if one.unread],
            "spent": {name: value for name, value in asdict(self.spent).items() if name != "searches"},
        }


async def check_model(settings: "Settings", answers: Sequence[LabelledAnswer]) -> ModelReport:
    """Check all answers in order. Raises ConfigurationError without a model, ModelUnavailable without a reply.

    A model with unreliable checks is not called. Then the figures are those of the word rules.
    """
    if not settings.has_llm:
        raise ConfigurationError("No model is configured, so nothing can be checked.", remedy=_SET_A_MODEL)
    from adapters.redis.settings import RedisVerifierRecords
    from bot.evaluation.asking import new_inquiry
    from bot.evaluation.temp_index import open_temporary
    from bot.model_endpoint import model_endpoint
    from core.model.conversation import ThreadKey

    async with open_temporary(settings) as footnote:
        endpoint = model_endpoint(settings, records=RedisVerifierRecords(footnote.redis))
        try:
            report = ModelReport(settings.llm_model or "", await endpoint.trust.result())
        finally:
            await endpoint.close()
        thread = ThreadKey("eval", _BASE, "", "answers")
        inquiries = (new_inquiry(footnote, _BASE, labelled.question, thread) for labelled in answers)
        pairs = zip(answers, inquiries, strict=True)
        async for one in check_answers(footnote.agent.check, pairs, believed=report.control.believed):
            report.answers.append(one)
    return report


async def check_answers(
    check: Check, labelled: Iterable[tuple[LabelledAnswer, Inquiry]], *, believed: bool
) -> AsyncGenerator[CheckedAnswer, None]:
    """Check each answer in the balanced profile, because the quick one calls no model."""
    for answer, inquiry in labelled:
        hits = [
            Hit(Passage(f"evidence-{n}", _BASE, f"document-{n}", "1", f"section-{n}", 0, title, text), 1.0)
            for n, (title, text) in enumerate(answer.evidence, 1)
        ]
        library, _ = EvidenceLibrary().add(hits, answer.question)
        policy = replace(inquiry.policy, profile=Profile.BALANCED)
        verdict, meter = await check(replace(inquiry, library=library, policy=policy), answer.answer)
        failed = tuple((one.claim.text, one.fault) for one in verdict.failed_claims)
        unread = believed and any(one.by_words for one in verdict.claims)
        reasons = [*meter.causes, *meter.notices] if unread or meter.notices else []
        why = reasons[0] if reasons else "the model did not check it" if unread else ""
        yield CheckedAnswer(answer, failed, why, meter.spent)


def read_answers(file: Path) -> list[LabelledAnswer]:
    """Read a file of labelled answers. Raises ConfigurationError that names the first invalid line."""
    answers = []
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            answers.append(_answer_in(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            said = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise ConfigurationError(f"Line {number} of {file} cannot be read: {said}.", remedy=_LAYOUT) from None
    if not answers:
        raise ConfigurationError(f"There is no answer in {file}.", remedy=_LAYOUT)
    return answers


def _answer_in(row: dict[str, Any]) -> LabelledAnswer:
    question, answer, right = row["question"], row["answer"], row["right"]
    evidence = tuple((source["title"], source["text"]) for source in row["evidence"])
    texts = [question, answer, *(text for source in evidence for text in source)]
    if not isinstance(right, bool) or not all(isinstance(text, str) for text in texts):
        raise TypeError('"right" is true or false, everything else a text')
    cited = cited_ids(answer)
    if not cited or max(cited) > len(evidence) or min(cited) < 1:
        raise ValueError(f"the answer has to cite its evidence, [1] to [{len(evidence)}]")
    return LabelledAnswer(question, answer, right, evidence)


def _as_json(one: CheckedAnswer) -> dict[str, Any]:
    failed = [{"sentence": sentence, "fault": fault} for sentence, fault in one.failed]
    return {"question": one.labelled.question, "answer": one.labelled.answer, "failed": failed, "unread": one.unread}
