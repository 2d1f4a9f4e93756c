"""Conversion of a model's stream to a draft: no hidden text, marks as ``[id]``, no words before the answer.

A draft without a mark is not an answer, so the reader holds text back until the first mark. It never shows thoughts
that only have a closing tag, refusals, JSON, tool calls or words about the task. The text of a trusted model is shown
as soon as it cannot be any of these.
"""

import re
from collections.abc import Iterator, Sequence

from adapters.reasoners.openai.citation_marks import CitationMarks
from adapters.reasoners.openai.hidden_text import HiddenTextFilter, is_call_or_data, prose_of
from adapters.reasoners.openai.structured_output import InsteadFilter
from core.model.errors import ModelMisbehaved
from core.model.evidence import Evidence
from core.ports.reasoner import DraftPart, DraftRestarted

LONGEST_MARK = 6  # characters: [1234]
OFTEN = "If this happens often, use another model, or check the chat template that the server has for it."
THOUGHT_ALOUD = "what came before was the model thinking aloud"
_MARK = re.compile(r"\[\d{1,4}\]")
# Two words of prose, also in a list, a table or bold. Calls, data and fences never begin like this.
_EAGER = re.compile(r"\s*(?:(?:[-*•]|\d{1,2}[.)])\s+)?(?:(?:\|\s+)?\*{0,2}[^\W_][^\s\[\]{}<>`()_=]*\s+){2}\S")
_OPEN_FENCE = re.compile(r"^\s*```(?:markdown|md|text|plaintext)?[ \t]*\n", re.IGNORECASE)


class DraftReader:
    """Reader of one streamed draft. ``instead`` finds the line that may replace a draft on the fast path."""

    def __init__(self, evidence: Sequence[Evidence], *, fast_path: bool, eager: bool = False) -> None:
        """Read an answer from this evidence. With ``eager``, don't wait for its first mark."""
        self._eager = eager
        self.instead = InsteadFilter()
        self._fast_path = fast_path
        self._hidden = HiddenTextFilter()
        self._marks = CitationMarks((item.id for item in evidence), (item.passage.text for item in evidence))
        self._held = ""
        self._shown = ""
        self._fenced = False  # the whole draft is in a code fence that is not part of it

    def feed(self, piece: str) -> Iterator[DraftPart]:
        """Add a piece and yield the text that can be shown now."""
        before = self._hidden.restarts
        text = self._hidden.feed(piece)
        if self._hidden.restarts > before:
            self.instead, self._held = InsteadFilter(), ""
            if self._shown:
                self._shown = ""
                yield DraftRestarted(THOUGHT_ALOUD)
        yield from self._pass_on(self._marks.feed(text))

    def finish(self) -> Iterator[DraftPart]:
        """Yield the rest. Raises ModelMisbehaved if there is no prose."""
        rest = self._marks.feed(self._hidden.rest()) + self._marks.rest()
        yield from self._pass_on(rest)
        if self.instead.missing_text or self.instead.asks or (self.instead.has_line and not self.has_prose):
            return
        self._held += self.instead.rest()
        written = self._shown + (prose_of(self._held).lstrip() if not self._shown else self._held)
        if not written.strip():
            raise ModelMisbehaved("The model sent an empty answer.", remedy=OFTEN)
        if is_call_or_data(written):
            raise ModelMisbehaved("The model sent data or a call in place of an answer.", remedy=OFTEN)
        if self._held:
            yield written[len(self._shown) :]

    @property
    def has_prose(self) -> bool:
        """Whether there is text before the line that replaces the answer."""
        return bool((self._shown + self._held).strip())

    def _pass_on(self, text: str) -> Iterator[str]:
        """Yield the draft's text, once the first mark has arrived."""
        text = self.instead.feed(text) if self._fast_path else text
        looked_at = max(0, len(self._held) - LONGEST_MARK)
        self._held += text
        begun = _MARK.search(self._held, looked_at) or (self._eager and _EAGER.match(self._held))
        if self._shown or (begun and not is_call_or_data(self._held)):
            if not self._shown:
                self._fenced = bool(_OPEN_FENCE.match(self._held))
                self._held = prose_of(_OPEN_FENCE.sub("", self._held)).lstrip()
            shown, self._held = self._held.replace("```", "") if self._fenced else self._held, ""
            self._shown += shown
            if shown:
                yield shown
