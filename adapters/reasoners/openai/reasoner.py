"""Reasoner that uses a language model on any OpenAI-compatible endpoint.

Each step is one call with a default for an unusable reply: a grade from the retrieval score, an answer from the
evidence so far. Steps without an honest default (the plan, the answer, the check of its claims) raise ModelMisbehaved,
and the fallback reasoner takes over.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, TypeVar, Unpack

from adapters.reasoners.openai import prompts
from adapters.reasoners.openai.dialect import LEAST_CONTEXT, REASONING_ROOM
from adapters.reasoners.openai.draft import OFTEN, CitationMarks, DraftReader
from adapters.reasoners.openai.endpoint import CallOptions, ModelEndpoint
from adapters.reasoners.openai.failures import PromptTooLong
from adapters.reasoners.openai.hidden_text import without_thoughts
from adapters.reasoners.openai.prompt_blocks import EVIDENCE_TOGETHER
from adapters.reasoners.openai.request import CHARACTERS_PER_TOKEN, Completion, ModelRequest
from adapters.reasoners.openai.structured_output import (
    InsteadFilter,
    as_flag,
    as_number,
    as_text,
    as_texts,
    json_in,
)
from adapters.reasoners.openai.tools import MOST_OPTIONS, QUERY_LENGTH, READY, decision_in
from adapters.reasoners.openai.verifier_trust import Trust, numbered, verdicts_in
from core.model.answer import Claim, ClaimVerdict
from core.model.budget import Meter
from core.model.conversation import Thread, Turn
from core.model.errors import ModelFailure, ModelMisbehaved
from core.model.evidence import Evidence, Grade
from core.model.inquiry import AskBack, Decision, Inquiry, Insufficient, Investigate, Plan, Reply, Sufficient
from core.model.profile import Profile
from core.ports.reasoner import DraftDeclined, DraftPart, GradesWithDecision, VerifierRecords

T = TypeVar("T")

MOST_QUERIES = 3
REPLY_LENGTH = 4_000  # characters
AskedWithin = Callable[[int], ModelRequest]  # makes a request with at most this many characters of evidence

TOP_K = 8  # passages: one grading batch
PROMPT_TOKENS = 900  # approximate length of a prompt without its material
LEAST_ROOM = 1_500  # characters of evidence; a model whose context is too small for that cannot answer
REPAIR = "That was not the JSON object that was asked for. Send it now: only the object, no other text."


class OpenAIReasoner:
    """Reasoner that decides and writes with a language model. Create one per process, and ``close`` it at the end."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        answer_tokens: int = 1_200,
        grading_batch: int = 8,
        grading_concurrency: int = 4,
        fast_model: str = "",
        records: VerifierRecords | None = None,
        **calling: Unpack[CallOptions],
    ) -> None:
        """Create without connecting. An answer has at most ``answer_tokens``. Passages are graded in batches.

        A ``fast_model`` of the same endpoint, if given, plans and grades. ``records`` store whether the model's checks
        are trusted. Without them, each process tests that once.
        """
        self.endpoint = ModelEndpoint(base_url, api_key, model, **calling)
        self.fast = self.endpoint
        if fast_model:
            self.fast = ModelEndpoint(base_url, api_key, fast_model, client=self.endpoint.client, **calling)
        self._room = EVIDENCE_TOGETHER  # characters of evidence that fit into a prompt, as far as known
        self._answer_tokens = answer_tokens
        self.trust = Trust(self.endpoint, f"{base_url} {model}", records)
        self._batch = grading_batch
        self._concurrency = grading_concurrency

    @property
    def name(self) -> str:
        """The model's name."""
        return self.endpoint.model

    @property
    def top_k(self) -> int:
        """Number of passages of a search: one grading batch."""
        return TOP_K

    async def close(self) -> None:
        """Close the connections and cancel background tasks."""
        await self.trust.close()
        await self.endpoint.close()

    async def probe(self, meter: Meter) -> Sequence[str]:
        """Diagnose the endpoint with one JSON call and one streamed answer. Return the unsupported features.

        Raises ModelUnavailable with a remedy.
        """
        asked = ModelRequest(prompts.PROBE, 'Answer with this JSON object: {"ready": true}', 90, schema=READY)
        completion = await self.fast.complete(asked, meter)
        request = ModelRequest(prompts.PROBE, "Write one short sentence.", self._answer_tokens)
        async with aclosing(self.endpoint.stream(request, meter)) as pieces:
            text = "".join([piece async for piece in pieces])
        if not without_thoughts(text):
            raise ModelMisbehaved("The model sent an empty answer.", remedy=OFTEN, kind=ModelFailure.LENGTH)
        lacks = [*self.endpoint.refused_features, *self.fast.refused_features]
        if not isinstance(json_in(completion.text), dict):
            lacks.append("JSON on request")
        return sorted(set(lacks))

    async def understand(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Plan:
        """Plan with one call, and a second one if the reply is unreadable. Raises ModelMisbehaved if both are.

        The fallback then resolves a follow-up by rules. Searching for the unresolved question would find nothing.
        """
        if inquiry.policy.profile is not Profile.QUICK:
            self.trust.start()
        reply = await self._object(
            self.fast,
            lambda room: prompts.understand_request(inquiry, thread, room),
            meter,
            needs=("action", "queries", "reply"),
        )
        if reply is None:
            raise ModelMisbehaved(
                "The model's plan cannot be read.",
                remedy="If this happens often, use a model that writes JSON when it is asked to.",
                kind=ModelFailure.MALFORMED,
            )
        return _plan(reply, inquiry.question)

    async def grade(self, inquiry: Inquiry, evidence: Sequence[Evidence], meter: Meter) -> Sequence[Grade]:
        """Grade in concurrent batches. Passages that the model leaves out get a grade from their retrieval score.

        Except in the thorough profile, a single batch is graded and judged sufficient or not in one reply, because the
        model sees all of it. Other decisions have their own call with tools.
        """
        if 0 < len(evidence) <= self._batch and inquiry.policy.profile is not Profile.THOROUGH:
            return await self._grade_with_decision(inquiry, evidence, meter)
        batches = [evidence[start : start + self._batch] for start in range(0, len(evidence), self._batch)]
        # Admit all at once: each batch alone might fit the budget when all together do not.
        meter.admit(sum(prompts.grade_request(inquiry, batch, room=self._room).tokens for batch in batches))
        gate = asyncio.Semaphore(self._concurrency)

        async def grade_batch(batch: Sequence[Evidence]) -> list[Grade]:
            async with gate:
                completion = await self._complete(
                    self.fast, lambda room: prompts.grade_request(inquiry, batch, room=room), meter
                )
            return _grades(json_in(completion.text), batch)

        found = await _together([grade_batch(batch) for batch in batches])
        return [grade for grades in found for grade in grades]

    async def _grade_with_decision(
        self, inquiry: Inquiry, evidence: Sequence[Evidence], meter: Meter
    ) -> GradesWithDecision:
        known = inquiry.library.relevant(inquiry.cutoff)
        completion = await self._complete(
            self.fast, lambda room: prompts.grade_request(inquiry, evidence, known, room), meter
        )
        reply = json_in(completion.text)
        enough = isinstance(reply, dict) and as_flag(reply.get("enough"))
        return GradesWithDecision(
            tuple(_grades(reply, evidence)), Sufficient("the grader has enough") if enough else None
        )

    async def decide(self, inquiry: Inquiry, thread: Thread, meter: Meter) -> Decision:
        """Decide with one call with tools. If it is unreadable, answer from relevant evidence or report it missing."""
        relevant = inquiry.library.relevant(inquiry.cutoff)
        left = meter.searches_left
        completion = await self._complete(
            self.endpoint, lambda room: prompts.decide_request(inquiry, thread, relevant, left, room), meter
        )
        decision = decision_in(completion, [base.name for base in inquiry.bases])
        if decision is not None:
            return decision
        return Sufficient("the model did not say") if relevant else Insufficient(inquiry.standalone)

    async def compose(
        self, inquiry: Inquiry, thread: Thread, evidence: Sequence[Evidence], meter: Meter
    ) -> AsyncGenerator[DraftPart, None]:
        """Stream the draft of one call. Raises ModelMisbehaved if there are only thoughts, data or white space.

        On the fast path, a line that says what is missing or asks back ends the draft. If such a line is empty below an
        answer, the answer is kept.
        """
        draft = DraftReader(evidence, fast_path=inquiry.fast_path, eager=self.trust.is_believed)

        def asked(room: int) -> ModelRequest:
            return prompts.compose_request(inquiry, thread, evidence, self._answer_tokens, room)

        async with aclosing(self._stream(asked, meter)) as pieces:
            async for piece in pieces:
                for part in draft.feed(piece):
                    yield part
                if draft.instead.complete:
                    break
        for part in draft.finish():
            yield part
        if draft.instead.missing_text or draft.instead.asks or (draft.instead.has_line and not draft.has_prose):
            yield _decline_draft(draft.instead)

    async def check(
        self, inquiry: Inquiry, claims: Sequence[Claim], evidence: Sequence[Evidence], meter: Meter
    ) -> Sequence[ClaimVerdict]:
        """Check all claims in one call. Raises ModelMisbehaved unless the model is trusted and judges every claim."""
        if not claims:
            return []
        await self._require_trust()
        reply = await self._object(
            self.endpoint,
            lambda room: prompts.check_request(inquiry, claims, evidence, room),
            meter,
            needs=("verdicts",),
        )
        return verdicts_in(reply or {}, claims)

    async def repair(
        self,
        inquiry: Inquiry,
        draft: str,
        failed: Sequence[ClaimVerdict],
        evidence: Sequence[Evidence],
        meter: Meter,
    ) -> Sequence[str]:
        """Repair with one call. Unreadable parts are empty. Raises ModelMisbehaved if the model is not trusted."""
        await self._require_trust()
        completion = await self._complete(
            self.endpoint, lambda room: prompts.repair_request(inquiry, draft, failed, evidence, room), meter
        )
        reply = _object_with_keys(json_in(completion.text), ("sentences",)) or {}
        entries = numbered(reply.get("sentences"), len(failed))
        return [_marked(as_text(entries.get(n, {}).get("text")), inquiry) for n in range(1, len(failed) + 1)]

    async def _require_trust(self) -> None:
        if not await self.trust.believed():
            raise ModelMisbehaved(
                "The model's checks are not believed: it failed control claims whose answers are known.",
                remedy="Quotes replace what is not nearly in the documents' words. A larger model may pass.",
                kind=ModelFailure.UNRELIABLE,
            )

    async def critique(self, inquiry: Inquiry, answer: str, meter: Meter) -> str:
        """Return what the answer misses. An unreadable reply counts as complete."""
        completion = await self.endpoint.complete(prompts.critique_request(inquiry, answer), meter)
        reply = json_in(completion.text)
        if not isinstance(reply, dict) or as_flag(reply.get("complete")):
            return ""
        return as_text(reply.get("missing"), QUERY_LENGTH)

    async def summarise(self, summary: str, turns: Sequence[Turn], meter: Meter) -> str:
        """Summarise with one call. Raises ModelMisbehaved if the reply is empty."""
        completion = await self.endpoint.complete(prompts.summarise_request(summary, turns), meter)
        text = without_thoughts(completion.text)
        if not text:
            raise ModelMisbehaved("The model sent an empty summary.")
        return text[:REPLY_LENGTH]

    async def _object(
        self, endpoint: ModelEndpoint, asked: AskedWithin, meter: Meter, *, needs: Sequence[str]
    ) -> dict[str, Any] | None:
        """Return the JSON object in the reply. Ask a second time if the first reply is unreadable."""
        completion = await self._complete(endpoint, asked, meter)
        found = _object_with_keys(json_in(completion.text), needs)
        if found is not None:
            return found
        spoiled = without_thoughts(completion.text)[:REPLY_LENGTH] or "(empty)"
        again = replace(asked(self._room), further=(("assistant", spoiled), ("user", REPAIR)))
        completion = await endpoint.complete(again, meter)
        return _object_with_keys(json_in(completion.text), needs)

    async def _complete(self, endpoint: ModelEndpoint, asked: AskedWithin, meter: Meter) -> Completion:
        """Return one reply. Halve the evidence while the prompt is too long for the model."""
        while True:
            room = self._room_at(endpoint)
            try:
                return await endpoint.complete(asked(room), meter)
            except PromptTooLong:
                if room <= LEAST_ROOM:
                    raise
                self._room = max(LEAST_ROOM, room // 2)

    async def _stream(self, asked: AskedWithin, meter: Meter) -> AsyncGenerator[str, None]:
        """Stream a reply like ``_complete``. A prompt that is too long yields no text before the retry."""
        while True:
            room = self._room_at(self.endpoint)
            try:
                async with aclosing(self.endpoint.stream(asked(room), meter)) as pieces:
                    async for piece in pieces:
                        yield piece
            except PromptTooLong:
                if room <= LEAST_ROOM:
                    raise
                self._room = max(LEAST_ROOM, room // 2)
            else:
                return

    def _room_at(self, endpoint: ModelEndpoint) -> int:
        """Return the characters of evidence that fit in the model's context with the reply.

        A reasoning model reserves up to half of its context for reasoning and the reply.
        """
        context, thinks = endpoint.dialect.context, endpoint.dialect.reasons
        if not context:
            return self._room
        reply = self._answer_tokens + (REASONING_ROOM if thinks else 0)
        tokens = context - min(reply, context // (2 if thinks else 4)) - PROMPT_TOKENS
        fits = max(LEAST_CONTEXT // 2, tokens) * CHARACTERS_PER_TOKEN * 3 // 4
        return max(LEAST_ROOM, min(self._room, fits))


def _marked(text: str, inquiry: Inquiry) -> str:
    """Return a text with its citation marks as ``[id]``."""
    marks = CitationMarks((item.id for item in inquiry.library), (item.passage.text for item in inquiry.library))
    return f"{marks.feed(text)}{marks.rest()}"


async def _together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Return all results in order. The first failure cancels the others and is raised alone."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


def _object_with_keys(value: object, keys: Sequence[str]) -> dict[str, Any] | None:
    """Return the object if it has one of these keys. A list is the only key's value, or its first item is used."""
    if isinstance(value, list):
        return {keys[0]: value} if len(keys) == 1 else _object_with_keys(next(iter(value), None), keys)
    return value if isinstance(value, dict) and any(key in value for key in keys) else None


def _plan(reply: dict[str, Any], asked: str) -> Plan:
    action = as_text(reply.get("action"), 20).casefold()
    reason = as_text(reply.get("reason"), 200)
    text = as_text(reply.get("reply"), REPLY_LENGTH)
    question = as_text(reply.get("question"), 4 * QUERY_LENGTH)
    action = action or ("search" if reply.get("queries") else "reply")
    if action == "reply" and text:
        return Reply(text, reason)
    if action == "ask" and question:
        return AskBack(question, as_texts(reply.get("options"), MOST_OPTIONS), reason)
    standalone = (question if action == "search" else "") or asked
    queries = as_texts(reply.get("queries"), MOST_QUERIES, QUERY_LENGTH) if action == "search" else ()
    return Investigate(
        standalone,
        queries or (standalone[:QUERY_LENGTH],),
        reason or "searching for the question as it stands",
        sources_first=as_flag(reply.get("sources_first")),
    )


def _decline_draft(instead: InsteadFilter) -> DraftDeclined:
    if not instead.asks:
        return DraftDeclined(instead.missing_text)
    question, *readings = (text[:QUERY_LENGTH] for text in instead.asks)
    return DraftDeclined(
        unclear=AskBack(question, tuple(readings[:MOST_OPTIONS]), "the documents answer several readings")
    )


def _grades(reply: object, batch: Sequence[Evidence]) -> list[Grade]:
    entries = reply.get("grades", reply) if isinstance(reply, dict) else reply
    if isinstance(entries, dict) and "score" in entries:
        entries = [entries]
    if isinstance(entries, dict):  # {"3": 8} or {"3": {"score": 8}}
        entries = [{"id": key, **(v if isinstance(v, dict) else {"score": v})} for key, v in entries.items()]
    given: dict[int, Grade] = {}
    for entry in entries if isinstance(entries, list) else ():
        number = as_number(entry.get("id")) if isinstance(entry, dict) else None
        score = as_number(entry.get("score")) if isinstance(entry, dict) else None
        if number is not None and score is not None:
            given.setdefault(int(number), Grade(_within_scale(score), as_text(entry.get("summary"), 600)))
    return [given.get(item.id) or _grade_from_score(item) for item in batch]


def _grade_from_score(item: Evidence) -> Grade:
    score = item.hit.rerank if item.hit.rerank is not None else item.hit.score
    return Grade(_within_scale(score * 10))


def _within_scale(score: float) -> int:
    return max(1, min(10, round(score)))
