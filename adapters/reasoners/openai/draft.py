r"""Conversion of a model's stream to a draft: no hidden text, marks as ``[id]``, no words before the answer.

A draft without a mark is not an answer, so the reader holds text back until the first mark. It never shows thoughts
that only have a closing tag, refusals, JSON, tool calls or words about the task. The text of a trusted model is shown
as soon as it cannot be any of these.

Citation marks seen from models: ``[1]``, ``【1】``, ``【1†source】``, ``(1)``, ``[^1]``, ``[#1]``, ``[1, 2]``,
``[1-3]``, ``[Source: 1]``, ``[document 1]``, ``[Document 1, its title]``, ``[1.]``, ``\[1\]``, ``<sup>1</sup>``,
full-width brackets and digits, and marks that are links. Round brackets, braces and superscript digits are a mark only
at the end of a clause, with the number of a given document, and if no document has the same word before the bracket.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

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


LONGEST_RANGE = 10
ENDS = ".,;:!?)]([<\n|"  # follows a mark, but not a number that is part of the text
LONGEST_WORD = 60  # characters before a bracket that are compared

_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_FEWEST_LETTERS = 4  # of a word with a superscript mark: "km²" and "10²" are not marks

_NAME = r"(?:documents?|docs?\.?|sources?|passages?|evidence|references?|refs?\.?|citations?|cite|id)(?:\s+id)?"
_ONE = rf"(?:[\^#]|{_NAME}\s*[:#=]?\s*\"?|E)?\s*\d{{1,4}}\"?"
_MANY = rf"{_ONE}(?:\s*(?:,|;|&|\+|and|to|[-–—])\s*{_ONE}){{0,19}}"
_SQUARE = (
    rf"\\?[\[【［〔]{{1,2}}\s*(?P<square>{_MANY})(?::\d{{1,3}})?(?:†[^\[\]【】［］〔〕\n]{{0,60}})?\.?\s*\\?[\]】］〕]{{1,2}}"
    r"(?:\([^()\n]{0,300}\))?(?::(?=\s*$))?"
)
_TITLED = rf"\[\s*(?P<titled>{_NAME}\s*[:#]?\s*\d{{1,4}})\s*[,:–—-]\s*[^\[\]\n]{{1,80}}\]"
_RAISED = rf"<sup>\s*[\[(]?\s*(?P<raised>{_MANY})\s*[\])]?\s*</sup>"
_ROUND = rf"(?:[(（]\s*(?P<round>{_MANY})\s*[)）]|\{{(?P<braced>\d{{1,4}})\}}|(?P<digits>[{_SUPERSCRIPTS}]{{1,3}}))"
_MARKS = re.compile(f"{_SQUARE}|{_TITLED}|{_RAISED}|{_ROUND}", re.IGNORECASE)
_PLAIN_DIGITS = str.maketrans(_SUPERSCRIPTS, "0123456789")
_NUMBERS = re.compile(r"(?P<first>\d{1,4})(?:\s*\"?\s*(?:[-–—]|to)\s*(?:[\^#]|E)?\s*(?P<last>\d{1,4}))?", re.IGNORECASE)
_NAMED = re.compile(_NAME, re.IGNORECASE)
_OF_THE_TEXT = re.compile(
    r"(?i)^(?:section|article|clause|paragraph|step|phase|version|level|tier|chapter|appendix|table|figure|no|number)$"
)

# The end of the text so far that may still become a mark, or a mark that may still become a link.
_HELD = re.compile(
    r"(?:\\?[\[【［〔]{1,2}[^\[\]【】［］〔〕\n]{0,80}(?:[\]】］〕]{1,2}(?:\([^()\n]{0,300}\)?)?)?"
    r"|[(（][^()（）\n]{0,30}(?:[)）][ \t]{0,2})?"
    rf"|\{{\d{{0,4}}(?:\}}[ \t]{{0,2}})?|[{_SUPERSCRIPTS}]{{1,3}}[ \t]{{0,2}}|\\"
    r"|<(?:s(?:u(?:p(?:>[^<>\n]{0,40}(?:<(?:/(?:s(?:u(?:p)?)?)?)?)?)?)?)?)?)$",
    re.IGNORECASE,
)


class CitationMarks:
    """Streaming rewriter for the marks of one draft."""

    def __init__(self, valid: Iterable[int], texts: Iterable[str]) -> None:
        """Accept marks of documents with these ids and texts."""
        self._valid = frozenset(valid)
        self._texts = "\n".join(texts).casefold()
        self._held = ""
        self._before = ""  # the end of the text already returned

    def feed(self, piece: str) -> str:
        """Add a piece and return the text that is ready."""
        text = self._held + piece
        held = _HELD.search(text)
        cut = held.start() if held else len(text)
        self._held = text[cut:]
        return self._gone_on(text[:cut])

    def rest(self) -> str:
        """Return the held-back text at the end."""
        held, self._held = self._held, ""
        return self._gone_on(held)

    def _gone_on(self, text: str) -> str:
        written = _MARKS.sub(self._mark, text)
        self._before = (self._before + text)[-LONGEST_WORD:]
        return written

    def _mark(self, match: re.Match[str]) -> str:
        if (sure := match.group("square") or match.group("titled") or match.group("raised")) is not None:
            return "".join(f"[{number}]" for number in _numbers(sure))
        raised = match.group("digits")
        inside = match.group("round") or match.group("braced") or raised.translate(_PLAIN_DIGITS)
        numbers = _numbers(inside)
        if not self._valid.issuperset(numbers) or (not _NAMED.match(inside) and self._is_text(match)):
            return match.group()
        return "".join(f"[{number}]" for number in numbers)

    def _is_text(self, match: re.Match[str]) -> bool:
        """Return whether a number in round brackets is text: a list number, or words of a document."""
        before = (self._before + match.string[: match.start()])[-LONGEST_WORD:].rpartition("\n")[2]
        word = before.split()[-1] if before.split() else ""
        gap = before[len(before.rstrip()) :]
        follows = match.string[match.end() :].lstrip(" ")[:1]
        if match.group("digits") and word.endswith((".", "!", "?")):
            return False
        if follows and follows not in ENDS:
            return True
        if match.group("digits") and word[-1:].isalnum() and not re.search(rf"[^\W\d_]{{{_FEWEST_LETTERS}}}$", word):
            return True
        return not word or bool(_OF_THE_TEXT.match(word)) or f"{word}{gap}{match.group()}".casefold() in self._texts


def _numbers(written: str) -> list[int]:
    numbers: list[int] = []
    for match in _NUMBERS.finditer(written):
        first = int(match.group("first"))
        last = int(match.group("last") or first)
        numbers.extend(range(first, last + 1) if first <= last <= first + LONGEST_RANGE else (first, last))
    return list(dict.fromkeys(numbers))
