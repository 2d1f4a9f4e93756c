"""The two reasoners of a test: the scripted one in this process, or a language model behind a real socket.

A test scripts the reasoner in core's own types (``harness.script``). Over HTTP, the same script is played by
a scripted endpoint, as the JSON, the tool calls and the stream that a model sends, and the OpenAI reasoner has to make
plans, grades and verdicts of them again.
"""

import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from adapters.reasoners.openai import prompts
from adapters.reasoners.openai.reasoner import OpenAIReasoner
from core.model.answer import Claim, ClaimVerdict
from core.model.budget import Meter
from core.model.conversation import Thread, Turn
from core.model.errors import ModelUnavailable
from core.model.evidence import Evidence, Grade
from core.model.inquiry import (
    PROFILE_LIMITS,
    AskBack,
    Decision,
    Inquiry,
    Insufficient,
    Investigate,
    ListSources,
    Overview,
    Plan,
    ReadSection,
    Reply,
    SearchAction,
    SearchKnowledge,
    SearchSource,
    Sufficient,
)
from core.model.profile import Profile
from core.ports.reasoner import DraftDeclined, DraftPart, GradesWithDecision, Reasoner
from tests.fakes.memory.scripted_reasoner import ScriptedReasoner
from tests.fakes.model.endpoint import Fails, RecordedRequest, Says, Scripted, ScriptedEndpoint

IN_PROCESS, OVER_HTTP = "in process", "over http"
_DOCUMENT = re.compile(r'<document-[0-9a-f]{8} id="(\d+)"')


class ModelOverHttp(Reasoner):
    """The OpenAI reasoner at an endpoint that plays a script."""

    def __init__(self, script: ScriptedReasoner, endpoint: ScriptedEndpoint, model: OpenAIReasoner) -> None:
        self._script = script
        self._model = model
        self._free = Meter(PROFILE_LIMITS[Profile.THOROUGH], _NoClock())  # thinking is not what is counted here
        self._thinking: Callable[[RecordedRequest], Any] | None = None
        endpoint.answers_with(self._spoken)

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def top_k(self) -> int:
        return self._model.top_k

    async def understand(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Plan:
        self._about_to(lambda: self._script.understand(inquiry, thread, self._free), _plan)
        return await self._model.understand(inquiry, thread, meter)

    async def grade(self, inquiry: Inquiry, evidence: Sequence[Evidence], meter: Meter) -> Sequence[Grade]:
        def say(grades: Sequence[Grade], request: RecordedRequest) -> Says:
            decision = grades.decision if isinstance(grades, GradesWithDecision) else None
            return _grades(dict(zip((item.id for item in evidence), grades, strict=True)), decision, request)

        self._about_to(lambda: self._script.grade(inquiry, evidence, self._free), say)
        return await self._model.grade(inquiry, evidence, meter)

    async def decide(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Decision:
        self._about_to(lambda: self._script.decide(inquiry, thread, self._free), _decision)
        return await self._model.decide(inquiry, thread, meter)

    async def compose(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: Meter
    ) -> AsyncGenerator[DraftPart, None]:
        async def think() -> list[DraftPart]:
            return [part async for part in self._script.compose(inquiry, thread, evidence, self._free)]

        self._about_to(think, _draft)
        async with aclosing(self._model.compose(inquiry, thread, evidence, meter)) as parts:
            async for part in parts:
                yield part

    async def check(
        self, inquiry: Inquiry, claims: Sequence[Claim], evidence: Sequence[Evidence], meter: Meter
    ) -> Sequence[ClaimVerdict]:
        self._about_to(lambda: self._script.check(inquiry, claims, evidence, self._free), _verdicts)
        return await self._model.check(inquiry, claims, evidence, meter)

    async def repair(
        self,
        inquiry: Inquiry,
        draft: str,
        failed: Sequence[ClaimVerdict],
        evidence: Sequence[Evidence],
        meter: Meter,
    ) -> Sequence[str]:
        self._about_to(lambda: self._script.repair(inquiry, draft, failed, evidence, self._free), _repaired)
        return await self._model.repair(inquiry, draft, failed, evidence, meter)

    async def critique(self, inquiry: Inquiry, answer: str, meter: Meter) -> str:
        self._about_to(lambda: self._script.critique(inquiry, answer, self._free), _critique)
        return await self._model.critique(inquiry, answer, meter)

    async def summarise(self, summary: str, turns: Sequence[Turn], meter: Meter) -> str:
        self._about_to(lambda: self._script.summarise(summary, turns, self._free), lambda text, _: Says(text))
        return await self._model.summarise(summary, turns, meter)

    def _about_to(self, think: Callable[[], Any], say: Callable[[Any, RecordedRequest], Scripted]) -> None:
        """Begin a step. Its script is played once, however many requests the step makes."""
        thoughts: list[Any] = []

        async def spoken(request: RecordedRequest) -> Scripted:
            try:
                if not thoughts:
                    thoughts.append(await think())
            except ModelUnavailable:
                return Fails(401)  # one of the failures that are not tried again
            return say(thoughts[0], request)

        self._thinking = spoken

    async def _spoken(self, request: RecordedRequest) -> Scripted:
        assert self._thinking is not None
        spoken: Scripted = await self._thinking(request)
        return spoken


class _NoClock:
    """Time that does not pass."""

    def now(self) -> Any:
        raise NotImplementedError

    def monotonic(self) -> float:
        return 0.0


def _json(value: object) -> Says:
    return Says(json.dumps(value))


def _plan(plan: Plan, request: RecordedRequest) -> Says:
    assert request.task.startswith(prompts.UNDERSTAND)
    match plan:
        case Reply():
            return _json({"action": "reply", "reply": plan.text, "reason": plan.reason})
        case AskBack():
            return _json({"action": "ask", "question": plan.question, "options": plan.options, "reason": plan.reason})
        case Investigate():
            return _json(
                {
                    "action": "search",
                    "question": plan.question,
                    "queries": plan.queries,
                    "sources_first": plan.sources_first,
                    "reason": plan.reason,
                }
            )
        case Overview():
            raise AssertionError("a model searches or replies")


def _grades(grades: dict[int, Grade], decision: Decision | None, request: RecordedRequest) -> Says:
    shown = [int(number) for number in _DOCUMENT.findall(request.user)]
    given = [{"id": n, "score": grades[n].score, "summary": grades[n].summary} for n in shown]
    said: dict[str, Any] = {"grades": given}
    if decision is not None:
        assert '"enough"' in request.task, "only where it is asked for"
        assert isinstance(decision, Sufficient), "a model says nothing else beside its grades"
        said["enough"] = True
    return _json(said)


def _decision(decision: Decision, request: RecordedRequest) -> Says:
    assert "search_knowledge_base" in request.tools
    match decision:
        case Sufficient():
            return Says("", (("answer_now", "{}"),), finish="tool_calls")
        case AskBack():
            arguments = json.dumps({"question": decision.question, "options": decision.options})
            return Says("", (("ask_user", arguments),), finish="tool_calls")
        case Insufficient():
            return Says(decision.missing, tuple(_call(action) for action in decision.actions), finish="tool_calls")


def _call(action: SearchAction) -> tuple[str, str]:
    match action:
        case SearchKnowledge():
            given = {"query": action.query, "knowledge_base": action.knowledge_base, "top_k": action.top_k}
            return "search_knowledge_base", json.dumps({name: value for name, value in given.items() if value})
        case SearchSource():
            return "search_by_source", json.dumps({"query": action.query, "source": action.source})
        case ListSources():
            return "list_sources", "{}"
        case ReadSection():
            return "read_section", json.dumps({"id": action.evidence})


def _draft(parts: list[DraftPart], request: RecordedRequest) -> Says:
    assert request.stream
    parts = [_instead(part) if isinstance(part, DraftDeclined) else part for part in parts]
    texts = [part for part in parts if isinstance(part, str)]
    assert len(texts) == len(parts), "a model cannot say that another reasoner begins again"
    return Says("".join(texts), pieces=tuple(texts))


def _instead(withheld: DraftDeclined) -> str:
    if withheld.unclear is None:
        return f"MISSING: {withheld.missing}\n"
    return f"UNCLEAR: {' | '.join((withheld.unclear.question, *withheld.unclear.options))}\n"


def _verdicts(verdicts: Sequence[ClaimVerdict], _: RecordedRequest) -> Says:
    return _json(
        {
            "verdicts": [
                {"n": n, "verdict": v.support, "words": v.words, "fault": v.fault} for n, v in enumerate(verdicts, 1)
            ]
        }
    )


def _repaired(texts: Sequence[str], _: RecordedRequest) -> Says:
    return _json({"sentences": [{"n": n, "text": text} for n, text in enumerate(texts, 1)]})


def _critique(missing: str, _: RecordedRequest) -> Says:
    return _json({"complete": not missing, "missing": missing})
