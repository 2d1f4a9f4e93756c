"""A strong writer with one of seven verifiers, for ``ScriptedEndpoint.answers_with``.

    model = ScriptedModel(pairs, "overlooking", false=True)
    async with ScriptedEndpoint() as endpoint:
        endpoint.answers_with(model)

It knows the right answer to every question of its pairs and its false twin, and writes the one that it is set to. It
recognises a step by the first sentence of the task and a conversation by its question or its sentences. It counts the
calls, and what an endpoint that caches prompts would have kept of each.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from adapters.reasoners.openai import prompts, verifier_trust
from adapters.reasoners.openai.structured_output import MISSING
from tests.fakes.model.endpoint import RecordedRequest, Says
from tests.fakes.model.obedient_model import PromptBlock, blocks_in
from tests.fakes.model.pairs import Pair, without_marks, words_of
from tests.fakes.model.reading import Control, Reader
from tests.fakes.model.verifiers import VERIFIERS

CHARACTERS_PER_TOKEN, CACHED_IN_BLOCKS_OF, FEWEST_CACHED = 4, 128, 1_024  # tokens, as endpoints count them
MOST_SEARCHES = 3
RIGHT, WRONG = 9, 2  # grades
_CONTROLS = Path(verifier_trust.__file__).with_name("control_claims.json")
_TOKEN = re.compile(r"<[a-z]+-([0-9a-f]{8})[ >]")
_QUESTION = re.compile(rf"^{re.escape(prompts.QUESTION)}(.*)$", re.MULTILINE)


@dataclass(slots=True)
class Conversation:
    """What was asked about one question so far, and what of its prompts an endpoint could have cached."""

    pair: Pair | None
    steps: list[str] = field(default_factory=list)
    drafts: list[str] = field(default_factory=list)
    searched_again: int = 0
    complete: bool = True  # the last draft's documents support the whole right answer
    characters: int = 0
    repeated: int = 0  # characters that begin an earlier prompt of the conversation in the same way
    tokens: int = 0
    cached: int = 0  # tokens
    prompts: list[str] = field(default_factory=list)

    def count(self, step: str, prompt: str) -> tuple[int, int]:
        """Count one call; returns its tokens and how many of them are cached."""
        kept = max((_same_beginning(prompt, before) for before in self.prompts), default=0)
        tokens, prefix = len(prompt) // CHARACTERS_PER_TOKEN, kept // CHARACTERS_PER_TOKEN
        cached = prefix - prefix % CACHED_IN_BLOCKS_OF if prefix >= FEWEST_CACHED else 0
        self.steps.append(step)
        self.prompts.append(prompt)
        self.characters, self.repeated = self.characters + len(prompt), self.repeated + kept
        self.tokens, self.cached = self.tokens + tokens, self.cached + cached
        return tokens, cached


class ScriptedModel:
    """Answers one request after another; conversations may be mixed."""

    def __init__(
        self,
        pairs: Sequence[Pair],
        verifier: str = "honest",
        *,
        false: bool = False,
        titles: Mapping[tuple[str, str], str] | None = None,
        controls: Path = _CONTROLS,
    ) -> None:
        """Write the right answers, or their ``false`` twins. ``titles`` by company and file tell documents apart."""
        self.conversations: dict[str, Conversation] = {}
        self.beside = Conversation(None)  # what belongs to no question: control claims
        self._verifier = VERIFIERS[verifier]
        self._false = false
        self._titles = titles or {}
        rows = json.loads(controls.read_text("utf-8")) if controls.is_file() else []
        self._controls = tuple(Control(row["claim"], row["evidence"], row["label"]) for row in rows)
        self._pairs = tuple(pairs)
        self._answers = {pair.id: (words_of(pair.right), words_of(pair.false)) for pair in pairs}
        self._by_question: dict[str, list[Pair]] = {}
        for pair in pairs:
            self._by_question.setdefault(words_of(pair.question), []).append(pair)
        self._by_token: dict[str, Pair] = {}
        self._steps: dict[str, tuple[str, Callable[[RecordedRequest, Reader, Conversation], Says]]] = {
            prompts.UNDERSTAND: ("understand", self._understand),
            prompts.GRADE: ("grade", self._grade),
            prompts.DECIDE: ("decide", self._decide),
            prompts.COMPOSE: ("compose", self._compose),
            prompts.CHECK: ("check", self._check),
            prompts.REPAIR: ("repair", self._repair),
            prompts.CRITIQUE: ("critique", self._critique),
            prompts.SUMMARISE: ("summarise", self._summarise),
        }

    def __call__(self, request: RecordedRequest) -> Says:
        """Return the reply to one request, with what it would have cost."""
        blocks = blocks_in(request.user)
        pair = self._pair_of(request, blocks)
        conversation = self.conversations.setdefault(pair.id, Conversation(pair)) if pair else self.beside
        step, answer = self._step_of(request)
        read, cached = conversation.count(step, request.text)
        documents = [block for block in blocks if block.kind == "document"]
        said = answer(request, Reader(pair, documents, self._titles, self._controls), conversation)
        written = len(said.text) + sum(len(arguments) for _, arguments in said.calls)
        return replace(said, usage=(read, max(1, written // CHARACTERS_PER_TOKEN)), cached=cached)

    def _step_of(self, request: RecordedRequest) -> tuple[str, Callable[[RecordedRequest, Reader, Conversation], Says]]:
        found = (step for opening, step in self._steps.items() if request.task.startswith(opening))
        return next(found, ("other", lambda *_: Says("Ready.")))

    def _pair_of(self, request: RecordedRequest, blocks: Sequence[PromptBlock]) -> Pair | None:
        """Find the question that a request is about: by its words, else by its sentences, else by its token."""
        mark = _TOKEN.search(request.user)
        token = mark.group(1) if mark else ""
        known = self._by_token.get(token)
        lines = [words_of(line) for line in _QUESTION.findall(request.user)]
        lines += [words_of(one.text) for one in blocks if one.kind == "message"]
        asked = next((line for line in lines if line in self._by_question), "")
        candidates = self._by_question.get(asked, [])
        if not asked:
            said = [words_of(one.text) for one in blocks if one.kind in {"sentence", "answer"}]
            candidates = sorted(self._pairs, key=lambda pair: -self._shared(pair, said))[:1]
            if not candidates or not self._shared(candidates[0], said):
                candidates = []
            if known is not None and self._shared(known, said):
                candidates = [known]
        base = [pair for pair in candidates if f"- {pair.company}" in request.user]
        found = known if known in candidates else next(iter(base or candidates), known)
        if found is not None and token:
            self._by_token[token] = found
        return found

    def _shared(self, pair: Pair, said: Sequence[str]) -> int:
        return sum(len(one) for one in said if one.strip() and any(one in answer for answer in self._answers[pair.id]))

    def _understand(self, request: RecordedRequest, reader: Reader, _: Conversation) -> Says:
        message = next((one.text for one in blocks_in(request.user) if one.kind == "message"), "")
        asked = reader.pair.question if reader.pair else message
        return _json({"action": "search", "question": asked, "queries": [asked], "reason": "a question of fact"})

    def _grade(self, request: RecordedRequest, reader: Reader, conversation: Conversation) -> Says:
        found = [place for one in reader.pair.supports if (place := reader.locate(one))] if reader.pair else []
        holding = dict(reversed(found))
        grades = [
            {"id": block.number, "summary": holding.get(block.number, ""), "score": score}
            for block in reader.documents
            for score in [RIGHT if block.number in holding else WRONG]
        ]
        enough = reader.complete or bool(holding and conversation.searched_again >= MOST_SEARCHES)
        return _json({"grades": grades} | ({"enough": enough} if '"enough"' in request.task else {}))

    def _decide(self, request: RecordedRequest, reader: Reader, conversation: Conversation) -> Says:
        if reader.complete or conversation.searched_again >= MOST_SEARCHES:
            call = ("answer_now", "{}")
        else:
            conversation.searched_again += 1
            call = ("search_knowledge_base", json.dumps({"query": _keywords(reader, conversation)}))
        if not request.tools:
            return _json({"calls": [{"name": call[0], "arguments": json.loads(call[1])}]})
        return Says("", (call,), finish="tool_calls")

    def _compose(self, request: RecordedRequest, reader: Reader, conversation: Conversation) -> Says:
        if reader.pair is None:
            return Says("The documents do not say.")
        conversation.complete = reader.complete
        if not reader.complete and MISSING in request.task:
            conversation.searched_again += 1
            return Says(f"{MISSING} {_keywords(reader, conversation)}")
        draft = reader.cite(reader.pair.false if self._false else reader.pair.right)
        conversation.drafts.append(draft)
        return Says(draft)

    def _check(self, request: RecordedRequest, reader: Reader, _: Conversation) -> Says:
        sentences = [one for one in blocks_in(request.user) if one.kind == "sentence"]
        return Says(self._verifier.check(reader, sentences, request.task, _attempt(request)))

    def _repair(self, request: RecordedRequest, reader: Reader, _: Conversation) -> Says:
        sentences = [one for one in blocks_in(request.user) if one.kind == "sentence"]
        return Says(self._verifier.repair(reader, sentences, _attempt(request)))

    def _critique(self, request: RecordedRequest, reader: Reader, _: Conversation) -> Says:
        del request, reader
        return _json({"missing": "", "complete": True})

    def _summarise(self, request: RecordedRequest, reader: Reader, _: Conversation) -> Says:
        del reader
        return Says(" ".join(" ".join(block.text for block in blocks_in(request.user)).split())[:600] or "Nothing.")


def _same_beginning(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _keywords(reader: Reader, conversation: Conversation) -> str:
    """Return what to search for next: words of what is missing, in the documents' language."""
    missing = reader.missing or list(reader.pair.supports if reader.pair else ())
    chosen = missing[(conversation.searched_again - 1) % len(missing)]
    return " ".join(without_marks(chosen.words).replace("|", " ").split()[:16])


def _attempt(request: RecordedRequest) -> int:
    """Return how many replies to this request were sent back."""
    return sum(message.get("role") == "assistant" for message in request.messages)


def _json(value: object) -> Says:
    return Says(json.dumps(value, ensure_ascii=False))
