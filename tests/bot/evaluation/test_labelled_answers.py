"""``footnote eval FILE``: what the configured model's checks say of right and false answers."""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import typer
from pydantic import SecretStr
from typer.testing import CliRunner

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.openai import prompts
from adapters.reasoners.openai.verifier_trust import ControlResult
from bot.cli import measure as measuring
from bot.demo import SAMPLES
from bot.evaluation.labelled_answers import SAMPLE_ANSWERS, LabelledAnswer, ModelReport, check_answers, read_answers
from bot.model_endpoint import model_with_standby
from bot.settings import Settings
from core.agent.agent import Agent
from core.agent.run import AgentDeps
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import ConfigurationError
from core.model.inquiry import AnswerPolicy, Inquiry
from core.model.profile import Profile
from core.retrieval.hybrid import Retriever
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.index import InProcessIndex
from tests.fakes.memory.stores import InProcessCatalog
from tests.fakes.model.endpoint import Fails, RecordedRequest, Says, Scripted, ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel

EVIDENCE = (("Leave", "Everyone has 27 days of annual leave a year. Unused days lapse on 31 March."),)
RIGHT = LabelledAnswer("How much leave?", "The annual leave of everyone is 27 days a year [1].", True, EVIDENCE)
FALSE = LabelledAnswer("When do days lapse?", "Unused days lapse on 31 May, every year [1].", False, EVIDENCE)
Answering = Callable[[RecordedRequest], Scripted]


async def report_on(
    answering: Answering,
    answers: Sequence[LabelledAnswer],
    *,
    believed: bool = True,
    policy: AnswerPolicy | None = None,
) -> ModelReport:
    """Check these answers with the product's agent and a model that answers like this."""
    clock, encoder, index, catalog = ManualClock(), HashingEncoder(), InProcessIndex(), InProcessCatalog()
    inquiry = Inquiry(
        id="i",
        question="?",
        thread=ThreadKey("eval", "labelled", "", "answers"),
        asker=Person("eval"),
        audience=Audience(unrestricted=True),
        started_at=clock.now(),
        policy=policy or AnswerPolicy(),
    )
    async with ScriptedEndpoint() as endpoint, AsyncExitStack() as stack:
        endpoint.answers_with(answering)
        settings = Settings(llm_base_url=endpoint.base_url, llm_api_key=SecretStr("k"), llm_model="scripted")
        quoting = ExtractiveReasoner(encoder)
        deps = AgentDeps(
            model_with_standby(settings, quoting, clock, stack, None),
            Retriever(index, encoder, None, catalog),
            index,
            catalog,
            clock,
            quote_fallback=quoting,
        )
        report = ModelReport("scripted", ControlResult(12 if believed else 6, 12, believed))
        async for one in check_answers(Agent(deps).check, [(answer, inquiry) for answer in answers], believed=believed):
            report.answers.append(one)
    return report


def judging(*verdicts: str) -> Answering:
    """Pass the control claims, and give these verdicts on the claims of an answer."""
    model = ObedientModel()

    def answer(request: RecordedRequest) -> Scripted:
        if prompts.QUESTION not in request.user:
            return model(request)
        documents = re.search(r"(?:Everyone has|Unused days lapse on 31 March).*", request.user)
        words = documents.group() if documents else ""
        entries = [{"n": n, "document": 1, "words": words, "verdict": verdict, "fault": "it is otherwise"}
                   for n, verdict in enumerate(verdicts, 1)]  # fmt: skip
        return Says(json.dumps({"verdicts": entries}))

    return answer


async def test_counts_a_rejected_right_answer_as_a_false_alarm_with_its_sentence_and_fault() -> None:
    report = await report_on(judging("not stated"), [RIGHT, FALSE])
    assert [one.is_false_alarm for one in report.answers] == [True, False]
    assert not any(one.is_miss for one in report.answers)
    lines = list(report.lines())
    assert "    The annual leave of everyone is 27 days a year [1].  -- it is otherwise" in lines
    assert "false alarms: 1 of 1 right answers have a sentence that fails" in lines
    assert report.spent.calls == 2


async def test_counts_a_false_answer_that_passes_as_a_miss() -> None:
    vague = LabelledAnswer(
        "When do days lapse?", "Unused days never lapse for people in the office [1].", False, EVIDENCE
    )
    report = await report_on(judging("supported"), [RIGHT, vague])
    assert [one.is_miss for one in report.answers] == [False, True]
    assert not report.answers[0].failed
    found = report.as_json()
    assert [one["answer"] for one in found["misses"]] == [vague.answer]
    assert found["false_alarms"] == []


async def test_a_value_that_the_evidence_lacks_fails_though_the_model_supports_it() -> None:
    report = await report_on(judging("supported"), [FALSE])
    assert not report.answers[0].is_miss
    assert "31 May" in str(report.answers[0].failed)


async def test_code_that_is_in_no_document_fails() -> None:
    answer = LabelledAnswer("How much leave?", f"{RIGHT.answer}\n\n```\nrm -r leave\n```", False, EVIDENCE)
    report = await report_on(judging("supported", "no claim"), [answer])
    assert ("code", "no document has this code") in report.answers[0].failed


async def test_a_year_of_a_document_s_title_is_known() -> None:
    evidence = (("Leave policy 2026", "Unused days lapse on 31 March."),)
    answer = LabelledAnswer("When?", "Under the rules of 2026, unused days lapse on 31 March [1].", True, evidence)
    report = await report_on(judging("supported"), [answer])
    assert not report.answers[0].failed


async def test_an_answer_that_the_model_did_not_check_is_neither_a_false_alarm_nor_a_miss() -> None:
    model = ObedientModel()

    def failing(request: RecordedRequest) -> Scripted:
        return Fails(401) if prompts.QUESTION in request.user else model(request)

    report = await report_on(failing, [RIGHT, FALSE])
    assert not any(one.is_false_alarm or one.is_miss for one in report.answers)
    assert len(report.as_json()["not_checked"]) == 2
    assert any(line.startswith("not checked: 2 (") and "LLM_API_KEY" in line for line in report.lines())


async def test_a_model_that_is_not_believed_is_replaced_by_the_rules_for_words() -> None:
    def nodding(_: RecordedRequest) -> Scripted:
        return Says(json.dumps({"verdicts": [{"n": n, "verdict": "supported"} for n in range(1, 13)]}))

    report = await report_on(nodding, [RIGHT, FALSE], believed=False)
    assert report.answers[1].failed
    assert not any(one.unread for one in report.answers)
    assert "NOT believed" in next(report.lines())


async def test_the_model_checks_also_where_the_quick_profile_is_set() -> None:
    report = await report_on(judging("supported"), [RIGHT], policy=AnswerPolicy(profile=Profile.QUICK))
    assert report.spent.calls == 1


def test_the_sample_answers_cite_text_of_the_sample_documents() -> None:
    answers = read_answers(SAMPLE_ANSWERS)
    texts = [path.read_text(encoding="utf-8") for path in (SAMPLES / "documents").rglob("*.md")]
    known = " ".join(" ".join(text.split()) for text in texts)
    missing = [text for one in answers for _, text in one.evidence if " ".join(text.split()) not in known]
    assert not missing
    assert sum(one.right for one in answers) == 12
    assert len(answers) == 24


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"right": "yes"}, "true or false"),
        ({"answer": "27 days"}, "has to cite its evidence"),
        ({"answer": "27 days [2]"}, "has to cite its evidence"),
        ({"evidence": None}, "cannot be read"),
        ({"question": None}, "everything else a text"),
    ],
)
def test_names_the_line_that_is_in_another_layout(tmp_path: Path, change: dict[str, object], why: str) -> None:
    good = {"question": "?", "answer": "27 days [1]", "right": True, "evidence": [{"title": "a", "text": "b"}]}
    file = tmp_path / "answers.jsonl"
    file.write_text(f"{json.dumps(good)}\n\n{json.dumps(good | change)}\n")
    with pytest.raises(ConfigurationError, match=why) as caught:
        read_answers(file)
    assert "Line 3" in str(caught.value)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").touch()
    with pytest.raises(ConfigurationError, match="no answer"):
        read_answers(tmp_path / "answers.jsonl")


def test_without_a_model_the_command_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LLM_MODEL", "LLM_BASE_URL", "LLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    app = typer.Typer()
    measuring.register(app)
    failure = CliRunner().invoke(app, ["eval"]).exception
    assert isinstance(failure, ConfigurationError)
    assert "LLM_MODEL" in str(failure)
