"""Seven ways to check sentences: honest, nodding, two that refuse, overlooking, sloppy and weak.

Each answers the check in the form that its prompt asks for, and corrects sentences when it is asked to.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from tests.fakes.model.obedient_model import PromptBlock
from tests.fakes.model.pairs import without_list_marks, without_marks, words_of
from tests.fakes.model.reading import NO_CLAIM, NOT_STATED, SUPPORTED, Finding, Reader

REFUSAL = "I'm sorry, but I can't help with checking these statements."
_FUNCTION_WORD = re.compile(
    r"(?i)\b(?:the|an?|is|are|was|of|to|der|die|das|eine?|ist|sind|les?|la|une?|est|el|los|una|es|de|du)\s+"
)
_UNNUMBERED = 0.2  # of the sloppy verifier's verdicts
# Shares of the weak verifier's replies, of its JSON, and of the sentences in them.
_WEAK = {"broken": 0.2, "fenced": 0.4, "missing": 0.1, "wrong": 0.25, "uncorrected": 0.5}


class Verifier:
    """The honest one: says what the documents say."""

    def check(self, reader: Reader, sentences: Sequence[PromptBlock], task: str, attempt: int) -> str:
        """Return the reply to a check. ``attempt`` counts the replies that were sent back before."""
        asks_for_words = '"words"' in task
        findings = [(block, self.finding(reader, block.text)) for block in sentences]
        entries = [
            _entry(int(block.named["n"]), finding, words=asks_for_words, may_be_none=NO_CLAIM in task)
            for block, finding in findings
        ]
        return json.dumps({"verdicts": entries}, ensure_ascii=False)

    def finding(self, reader: Reader, sentence: str) -> Finding:
        """Return the verdict on one sentence."""
        return reader.judge(sentence)

    def repair(self, reader: Reader, sentences: Sequence[PromptBlock], attempt: int) -> str:
        """Return the reply to a request for corrected sentences."""
        corrected = [{"n": int(one.named["n"]), "text": self.corrected(reader, one.text)} for one in sentences]
        return json.dumps({"sentences": corrected}, ensure_ascii=False)

    def corrected(self, reader: Reader, sentence: str) -> str:
        """Return the right sentence for the false one; one that is right stays, one that nobody says goes."""
        if reader.is_false(sentence) and reader.pair is not None:
            right = reader.cite(reader.pair.right_claim)
            return right if without_list_marks(sentence) != sentence else without_list_marks(right)
        return sentence if reader.judge(sentence).verdict in {SUPPORTED, NO_CLAIM} else ""


class Nodding(Verifier):
    """Calls everything supported, with the first words of a document, and corrects nothing."""

    def finding(self, reader: Reader, sentence: str) -> Finding:
        """Supported, whatever it says."""
        del sentence
        first = reader.documents[0] if reader.documents else None
        return Finding(SUPPORTED, first.number, " ".join(first.text.split()[:8])) if first else Finding(SUPPORTED)

    def corrected(self, reader: Reader, sentence: str) -> str:
        """The sentence as it was."""
        return sentence


class Refusing(Verifier):
    """Declines politely to check or correct anything."""

    def check(self, reader: Reader, sentences: Sequence[PromptBlock], task: str, attempt: int) -> str:
        """A refusal in prose."""
        return REFUSAL

    def repair(self, reader: Reader, sentences: Sequence[PromptBlock], attempt: int) -> str:
        """The same refusal."""
        return REFUSAL


class Denying(Verifier):
    """Says of everything that the documents do not state it."""

    def finding(self, reader: Reader, sentence: str) -> Finding:
        """Not stated, whatever it says."""
        return Finding(NOT_STATED, fault="the documents do not say this")

    def corrected(self, reader: Reader, sentence: str) -> str:
        """Nothing: no document says anything."""
        return ""


class Overlooking(Verifier):
    """Honest but for the false sentence, for which it names the words of the true one."""

    def finding(self, reader: Reader, sentence: str) -> Finding:
        """The honest verdict, or the true sentence's for the false one."""
        return reader.rests_on_truth() if reader.is_false(sentence) else reader.judge(sentence)


class Sloppy(Verifier):
    """Right verdicts on words that are not copied letter by letter, now and then without the document's number."""

    def finding(self, reader: Reader, sentence: str) -> Finding:
        """The honest verdict with the words changed in one of five ways."""
        found = reader.judge(sentence)
        way = int(len(_SLOPPY) * _draw(reader, "way", sentence))
        number = found.document if _draw(reader, "number", sentence) > _UNNUMBERED else 0
        return replace(found, document=number, words=_SLOPPY[way](found.words))


class Weak(Verifier):
    """Sends broken JSON or JSON in prose now and then, forgets some sentences and is wrong about some."""

    def check(self, reader: Reader, sentences: Sequence[PromptBlock], task: str, attempt: int) -> str:
        """The honest reply, spoilt."""
        judged = [one for one in sentences if _draw(reader, "missing", one.text) >= _WEAK["missing"]]
        return _spoil(reader, super().check(reader, judged, task, attempt), attempt)

    def finding(self, reader: Reader, sentence: str) -> Finding:
        """The honest verdict, or the opposite one for a fixed share of sentences."""
        found = reader.judge(sentence)
        if _draw(reader, "wrong", sentence) >= _WEAK["wrong"]:
            return found
        if found.verdict == SUPPORTED:
            return Finding(NOT_STATED, fault="I do not see this")
        return Nodding().finding(reader, sentence)

    def repair(self, reader: Reader, sentences: Sequence[PromptBlock], attempt: int) -> str:
        """The honest reply, spoilt."""
        return _spoil(reader, super().repair(reader, sentences, attempt), attempt)

    def corrected(self, reader: Reader, sentence: str) -> str:
        """The right sentence, or the same one again."""
        return (
            super().corrected(reader, sentence)
            if _draw(reader, "repair", sentence) > _WEAK["uncorrected"]
            else sentence
        )


VERIFIERS: dict[str, Verifier] = {
    "honest": Verifier(),
    "nodding": Nodding(),
    "refusing": Refusing(),
    "denying": Denying(),
    "overlooking": Overlooking(),
    "sloppy": Sloppy(),
    "weak": Weak(),
}


def chance(*parts: str) -> float:
    """Return a number in [0, 1) that depends on these texts alone, case and markup aside."""
    known = "\x1f".join(words_of(part) for part in parts).encode()
    return int.from_bytes(blake2b(known, digest_size=6).digest(), "big") / 2**48


def _draw(reader: Reader, what: str, sentence: str) -> float:
    """Draw for a sentence of one question: a sentence of the product's own comes with many."""
    return chance(what, reader.pair.id if reader.pair else "", sentence)


def _spoil(reader: Reader, reply: str, attempt: int) -> str:
    """Break the JSON of a first reply now and then, and put it into prose more often."""
    drawn = _draw(reader, "reply", reply)
    if attempt == 0 and drawn < _WEAK["broken"]:
        return reply[: len(reply) * 2 // 3]
    fenced = f"Sure! Here is what I found:\n```json\n{reply}\n```\nLet me know if you need more."
    return fenced if drawn < _WEAK["fenced"] else reply


def _entry(n: int, finding: Finding, *, words: bool, may_be_none: bool) -> dict[str, object]:
    verdict = NOT_STATED if finding.verdict == NO_CLAIM and not may_be_none else finding.verdict
    if words:
        entry = {"n": n, "document": finding.document, "words": finding.words, "verdict": verdict}
        return {key: value for key, value in entry.items() if key != "document" or value} | {"fault": finding.fault}
    named = "unsupported" if verdict == NOT_STATED else verdict
    reason = finding.fault or "it says just that"
    return {"n": n, "reason": reason, "verdict": named, "correction": without_marks(finding.correction)}


def _with_curly_quotes(words: str) -> str:
    return re.sub(r'"([^"]*)"', "“\\1”", words).replace("'", "’")


def _in_capitals(words: str) -> str:
    return words[:1].upper() + words[1:].lower()


def _without_markdown(words: str) -> str:
    return " ".join(re.sub(r"[*_`#|>]", " ", words).split())


def _as_telegram(words: str) -> str:
    return _FUNCTION_WORD.sub("", words)


_SLOPPY = (_with_curly_quotes, _in_capitals, _without_markdown, _as_telegram, lambda words: f"“{words.rstrip('.')}.”")
