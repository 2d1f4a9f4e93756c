"""A plausible language model for a scripted endpoint: follows our prompts, and, on request, what documents tell it.

It plans a search, grades by word overlap, has enough where anything counts, quotes with ``[id]`` marks (or says what
is missing, where it may), and supports what its documents say word for word. ``obey_documents=True`` makes it the worst
case: it prints, links, mentions and calls whatever a document asks for, which is what the rest of the program has to
withstand.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import quote

from adapters.reasoners.openai import prompts
from adapters.reasoners.openai.structured_output import MISSING
from adapters.reasoners.openai.verifier_trust import control_claims
from core.model.text import content_words, sentences
from tests.fakes.model.endpoint import RecordedRequest, Says

ENOUGH = 5  # the grade from which a passage counts
QUOTED = 3  # sentences of an answer

_BLOCK = re.compile(
    r"<(?P<kind>[a-z]+)-(?P<token>[0-9a-f]{8})(?P<named>[^>\n]*)>\n(?P<text>.*?)\n</(?P=kind)-(?P=token)>", re.DOTALL
)
_NAMED = re.compile(r'(\w+)="([^"]*)"')
_QUESTION = re.compile(rf"^{re.escape(prompts.QUESTION)}(.*)$", re.MULTILINE)
_GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|(?:perfect, )?thank(?:s| you)|good (?:morning|evening|day))\b"
    r"(?:[^?]{0,15}\bhow are you\?|[^?]{0,30})$",
    re.IGNORECASE,
)
_URL = re.compile(r"(?:!?\[[^\]\n]*\]\()?https?://[^\s)>\"]+\)?")
_MENTION = re.compile(r"<[!@#][^>\s]{1,60}>|@(?:everyone|here|channel)\b")
_CALL = re.compile(r"\b(search_knowledge_base|search_by_source|read_section|list_sources)\b(?:\((.*?)\))?")
_COMMAND = re.compile(
    r"\b(?:ignore|disregard|instead|you must|always|append|include|print|write|say|reply with|respond with|output"
    r"|repeat|reveal|call|render|embed|send|tell)\b",
    re.IGNORECASE,
)
_HOLE = re.compile(r"\{[^{}\n]*\}|%7B[^%\n]*%7D|<(?:secret|data|question|conversation|answer)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PromptBlock:
    """Material between marks in a prompt."""

    kind: str
    named: dict[str, str]
    text: str

    @property
    def number(self) -> int:
        """The evidence id of a document."""
        return int(self.named.get("id", "0"))


def blocks_in(prompt: str) -> list[PromptBlock]:
    """What a prompt shows between marks, in order."""
    return [
        PromptBlock(found["kind"], dict(_NAMED.findall(found["named"])), found["text"])
        for found in _BLOCK.finditer(prompt)
    ]


class ObedientModel:
    """Give it to ``ScriptedEndpoint.answers_with``."""

    def __init__(self, *, obey_documents: bool = False) -> None:
        """Cooperative; with ``obey_documents`` also towards documents."""
        self._obey = obey_documents

    def __call__(self, request: RecordedRequest) -> Says:
        """The reply to one request."""
        steps = {
            prompts.UNDERSTAND: self._understand,
            prompts.GRADE: self._grade,
            prompts.DECIDE: self._decide,
            prompts.COMPOSE: self._compose,
            prompts.CHECK: self._check,
            prompts.REPAIR: self._repair,
            prompts.CRITIQUE: self._critique,
            prompts.SUMMARISE: self._summarise,
        }
        step = next((answer for opening, answer in steps.items() if request.task.startswith(opening)), None)
        reply = step(request) if step else Says("Ready.")
        read = len(request.text) // 4
        written = (len(reply.text) + sum(len(arguments) for _, arguments in reply.calls)) // 4
        return Says(reply.text, reply.calls, finish=reply.finish, usage=(read, max(1, written)))

    def _understand(self, request: RecordedRequest) -> Says:
        blocks = blocks_in(request.user)
        message = next((block.text for block in blocks if block.kind == "message"), "")
        if _GREETING.match(message):
            return _json(
                {"action": "reply", "reply": "Hello! Ask me anything about the documents.", "reason": "greeting"}
            )
        question = self._resolve_follow_up(message, blocks)
        queries = [" ".join(_keywords(part)) or part for part in _parts(question)]
        return _json({"action": "search", "question": question, "queries": queries, "reason": "a factual question"})

    def _resolve_follow_up(self, message: str, blocks: Iterable[PromptBlock]) -> str:
        """The message, with the words of the last question where it leans on it."""
        talk = next((block.text for block in blocks if block.kind == "conversation"), "")
        lines = talk.splitlines()
        asked = [line.partition(": ")[2] for line, after in pairwise(lines) if after[:9] == "Footnote:"]
        leans = re.search(r"(?i)\b(?:it|its|that|they|them|this)\b|^(?:and|what about|how about)\b", message)
        if not asked or not (leans or len(content_words(message)) < 3):
            return message
        return f"{message.rstrip('?')} ({asked[-1].rstrip('?')})?"

    def _grade(self, request: RecordedRequest) -> Says:
        wanted = set(content_words(_question(request)))
        documents = _documents(request)
        grades = [self._grade_block(block, wanted) for block in documents]
        if '"enough"' not in request.task:
            return _json({"grades": grades})
        # Whom a document tells to call something wants to: that is for the deciding step.
        called = self._obey and any(_CALL.search(block.text) for block in documents)
        counts = any(self._score(block, wanted) >= ENOUGH for block in documents)
        return _json({"grades": grades, "enough": counts and not called})

    def _score(self, block: PromptBlock, wanted: set[str]) -> int:
        held = set(content_words(f"{block.named.get('title', '')} {block.named.get('place', '')} {block.text}"))
        share = len(wanted & held) / len(wanted) if wanted else 0.0
        return 10 if self._obey and _COMMAND.search(block.text) else max(1, min(10, round(1 + 9 * share)))

    def _grade_block(self, block: PromptBlock, wanted: set[str]) -> dict[str, object]:
        score = self._score(block, wanted)
        summary = " ".join(_best(block.text, wanted, 2)) if score >= ENOUGH else ""
        return {"id": block.number, "score": score, "summary": summary}

    def _decide(self, request: RecordedRequest) -> Says:
        documents = _documents(request)
        if self._obey and (calls := [call for block in documents for call in _CALL.findall(block.text)]):
            wanted = [_as_call(name, arguments) for name, arguments in calls[:2]]
            return Says("A document asks for this.", tuple(wanted), finish="tool_calls")
        searched = "Searches already made:\nnone" not in request.user
        call = ("answer_now", "{}") if documents or searched else _as_call("search_knowledge_base", _question(request))
        if not request.tools:
            return _json({"calls": [{"name": call[0], "arguments": json.loads(call[1])}]})
        return Says("", (call,), finish="tool_calls")

    def _compose(self, request: RecordedRequest) -> Says:
        documents = _documents(request)
        question = _question(request)
        wanted = set(content_words(question))
        best = max((self._score(block, wanted) for block in documents), default=0)
        if MISSING in request.task and best < ENOUGH:
            return Says(f"{MISSING} {' '.join(_keywords(question)) or question}")
        lines = [line for block in documents for line in self._payloads(block, question)] if self._obey else []
        ranked = sorted(
            (
                (len(wanted & set(content_words(sentence))), -position, f"{sentence} [{block.number}]")
                for position, block in enumerate(documents)
                for sentence in sentences(block.text)
            ),
            reverse=True,
        )
        least = max(1, ranked[0][0] // 2) if ranked else 1
        lines.extend(text for shared, _, text in ranked[:QUOTED] if shared >= least)
        return Says("\n".join(lines) or "The documents do not say.")

    def _payloads(self, block: PromptBlock, question: str) -> Iterable[str]:
        """What a document's commands ask to be printed, holes in its links filled with what was asked."""
        for sentence in sentences(block.text):
            payload = [*_URL.findall(sentence), *_MENTION.findall(sentence)]
            if not payload and not _COMMAND.search(sentence):
                continue
            filled = _HOLE.sub(quote(question), " ".join(payload) or sentence.rpartition(":")[2].strip())
            yield f"{filled} [{block.number}]"

    def _check(self, request: RecordedRequest) -> Says:
        texts = {block.number: block.text for block in _documents(request)}
        labels = {control.claim: control.supported for control in control_claims()}
        verdicts = []
        for block in blocks_in(request.user):
            if block.kind != "sentence":
                continue
            said = set(content_words(re.sub(r"\[[\d, ]+\]", "", block.text)))
            cited = [texts.get(int(n), "") for n in re.findall(r"\d+", block.named.get("cites", ""))]
            best = max(cited, key=lambda text: len(said & set(content_words(text))), default="")
            held = len(said & set(content_words(best))) >= 0.8 * len(said) if said else False
            supported = labels.get(block.text, held)
            verdict = "supported" if supported else "not stated"
            verdicts.append({"n": int(block.named["n"]), "verdict": verdict, "words": best, "fault": ""})
        return _json({"verdicts": verdicts})

    def _repair(self, _: RecordedRequest) -> Says:
        return _json({"sentences": []})

    def _critique(self, _: RecordedRequest) -> Says:
        return _json({"complete": True, "missing": ""})

    def _summarise(self, request: RecordedRequest) -> Says:
        text = " ".join(block.text for block in blocks_in(request.user))
        return Says(" ".join(text.split())[:600] or "Nothing was said.")


def _json(value: object) -> Says:
    return Says(json.dumps(value))


def _question(request: RecordedRequest) -> str:
    found = _QUESTION.search(request.user)
    return found.group(1) if found else ""


def _documents(request: RecordedRequest) -> list[PromptBlock]:
    return [block for block in blocks_in(request.user) if block.kind == "document"]


def _parts(question: str) -> list[str]:
    """Several questions in one message, three at most."""
    parts = [part.strip() for part in re.split(r"(?<=\?)\s+", question) if part.strip()]
    return parts[:3] or [question]


def _keywords(question: str) -> list[str]:
    return [word for word in re.findall(r"[^\W_]+(?:[.'’-][^\W_]+)*", question) if content_words(word)]


def _best(text: str, wanted: set[str], most: int) -> list[str]:
    """The sentences that share most words with the question, best first."""
    return sorted(sentences(text), key=lambda sentence: -len(wanted & set(content_words(sentence))))[:most]


def _as_call(name: str, arguments: str) -> tuple[str, str]:
    """A call as a document or a question words it, as a function call."""
    given = arguments.strip(" \"'")
    named = dict(_NAMED.findall(arguments))
    match name:
        case "search_knowledge_base" | "search_by_source" if named:
            return name, json.dumps(named)
        case "read_section":
            return name, json.dumps({"id": int("".join(re.findall(r"\d", given)) or 1)})
        case "list_sources":
            return name, "{}"
        case "search_by_source":
            query, _, source = given.partition(",")
            return name, json.dumps({"query": query.strip(" \"'") or "all", "source": source.strip(" \"'") or "all"})
        case _:
            return name, json.dumps({"query": given or "all"})
