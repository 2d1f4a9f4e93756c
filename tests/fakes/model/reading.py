"""A careful reader's verdict on a sentence, given the prompt's documents and what is known about its question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.fakes.model.obedient_model import PromptBlock
from tests.fakes.model.pairs import MARK, Pair, Support, find_words, without_marks, words_of

SUPPORTED, CONTRADICTED, NOT_STATED, NO_CLAIM = "supported", "contradicted", "not stated", "no claim"
_YES_NO = frozenset({"yes", "no", "ja", "nein", "doch", "oui", "non", "si", "sí"})
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict on one sentence. ``correction`` is the sentence as the documents have it, with file marks."""

    verdict: str
    document: int = 0
    words: str = ""
    fault: str = ""
    correction: str = ""


@dataclass(frozen=True, slots=True)
class Control:
    """A claim whose label is known, by which a product finds out whether it can believe a verifier."""

    claim: str
    evidence: str
    label: str


@dataclass(frozen=True)
class Reader:
    """Reads the documents of one prompt. ``titles`` are the documents' titles by company and file name."""

    pair: Pair | None
    documents: Sequence[PromptBlock]
    titles: Mapping[tuple[str, str], str] = field(default_factory=dict)
    controls: Sequence[Control] = ()

    def locate(self, support: Support) -> tuple[int, str] | None:
        """Return the number of the document shown that has the supporting words, and the words as they are there."""
        for block in self._of_file(support.file):
            named = "\n".join(block.named.get(name, "") for name in ("title", "place", "date"))
            if found := find_words(support.words, block.text) or find_words(support.words, named):
                return block.number, found
        return None

    @property
    def complete(self) -> bool:
        """Whether the documents shown support every sentence of the right answer."""
        return not self.missing

    @property
    def missing(self) -> list[Support]:
        """The supports that no document shown has."""
        return [one for one in self.pair.supports if self.locate(one) is None] if self.pair else []

    def is_false(self, sentence: str) -> bool:
        """Whether a sentence is the false claim, or the part of it that is wrong."""
        if self.pair is None:
            return False
        said, wrong = words_of(sentence), words_of(self.pair.false_claim)
        if wrong.strip() and wrong in said:
            return True
        return bool(said.strip()) and said in wrong and said not in words_of(self.pair.right)

    def judge(self, sentence: str) -> Finding:
        """Return the verdict of somebody who reads well and tells the truth."""
        if (control := self._control(sentence)) is not None:
            return self._judge_control(control)
        if self.pair is None:
            return self._judge_unknown(sentence)
        if self.is_false(sentence):
            return self._judge_false(self.pair)
        said = words_of(sentence)
        if said not in words_of(self.pair.right):
            return self._judge_unknown(sentence)
        supports = list(self._supports_of(said))
        if not supports:
            return Finding(NO_CLAIM)
        return self._rests_on(supports) or Finding(NOT_STATED, fault="the documents do not say this")

    def rests_on_truth(self) -> Finding:
        """Return what somebody says who takes the false claim for the true one."""
        assert self.pair is not None
        supports = list(self._supports_of(words_of(self.pair.right_claim)))
        return self._rests_on(supports) or Finding(NOT_STATED, fault="the documents do not say this")

    def cite(self, text: str) -> str:
        """Return a text of the pair with the numbers of the documents shown in place of its file marks."""
        written, end = "", 0
        for mark in MARK.finditer(text):
            number = self._number_for(mark["file"], text, mark.start())
            gap = text[end : mark.start()]
            repeats = not gap and written.endswith(f"[{number}]")
            written += (gap if number else gap.rstrip(" ")) + (f"[{number}]" if number and not repeats else "")
            end = mark.end()
        return written + text[end:]

    def _number_for(self, file: str, text: str, position: int) -> int:
        own = [one for one in self.pair.supports if one.file == file] if self.pair else []
        near = [one for one in own if any(start <= position < end for start, end in self._spans(one, text))]
        found = next((place for one in (*near, *own) if (place := self.locate(one))), None)
        return found[0] if found else next((block.number for block in self._of_file(file)), 0)

    def _spans(self, support: Support, text: str) -> Iterator[tuple[int, int]]:
        """Yield where the claim of a support is in a text, in its false form too."""
        assert self.pair is not None
        forms = {support.claim, support.claim.replace(self.pair.right_claim, self.pair.false_claim)}
        if support.claim in self.pair.right_claim:
            forms.add(self.pair.false_claim)
        for form in forms:
            start = text.find(form)
            while start >= 0 and form:
                yield start, start + len(form)
                start = text.find(form, start + 1)

    def _of_file(self, file: str) -> list[PromptBlock]:
        title = self.titles.get((self.pair.company, file)) if self.pair else None
        if title is None:
            return list(self.documents)
        return [block for block in self.documents if words_of(block.named.get("title", "")) == words_of(title)]

    def _supports_of(self, said: str) -> Iterator[Support]:
        """Yield what a sentence of the right answer rests on; nothing for one that states nothing."""
        assert self.pair is not None
        claims = {one: words_of(one.claim) for one in self.pair.supports}
        own = [one for one, claim in claims.items() if said in claim or claim in said]
        if own or (set(said.split()) & _YES_NO and len(said.split()) < 3):
            yield from own or self.pair.supports
            return
        words = {word for word in said.split() if len(word) > 3 or word[:1].isdigit()}
        for one, claim in claims.items():  # a first sentence without a mark that says what later ones say
            known = set(f"{claim} {words_of(one.words)}".split())
            if words and len(words & known) >= _HALF * len(words):
                yield one

    def _rests_on(self, supports: Sequence[Support]) -> Finding | None:
        places = list(dict.fromkeys(place for one in supports if (place := self.locate(one))))
        return Finding(SUPPORTED, places[0][0], " … ".join(words for _, words in places)) if places else None

    def _judge_false(self, pair: Pair) -> Finding:
        truth = self.rests_on_truth()
        if truth.verdict != SUPPORTED:
            return truth
        wrong = set(words_of(pair.false_claim).split()) - set(words_of(pair.right_claim).split())
        fault = f"the documents say otherwise: {' '.join(sorted(wrong)[:6])}".rstrip(": ")
        return Finding(CONTRADICTED, truth.document, truth.words, fault, pair.right_claim)

    def _judge_unknown(self, sentence: str) -> Finding:
        """Judge what is in neither answer: a quotation, or what the product made of the answer."""
        bare = without_marks(sentence)
        for block in self.documents:
            if words_of(sentence).strip() and words_of(sentence) in words_of(block.text):
                return Finding(SUPPORTED, block.number, find_words(bare, block.text))
        if self.pair is not None and set(words_of(sentence).split()) <= set(words_of(self.pair.right).split()):
            return self._rests_on(self.pair.supports) or Finding(NOT_STATED, fault="the documents do not say this")
        return Finding(NOT_STATED, fault="the documents do not say this")

    def _control(self, sentence: str) -> Control | None:
        return next((one for one in self.controls if words_of(one.claim) == words_of(sentence)), None)

    def _judge_control(self, control: Control) -> Finding:
        block = next((b for b in self.documents if find_words(control.evidence, b.text)), None)
        number, words = (block.number, find_words(control.evidence, block.text)) if block else (0, control.evidence)
        if control.label == SUPPORTED:
            return Finding(SUPPORTED, number, words)
        return Finding(control.label, number, words if control.label == CONTRADICTED else "", "it is not said so")
