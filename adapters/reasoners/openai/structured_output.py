"""Tolerant parser for the JSON of language models. It never raises.

Models put JSON in code fences, add prose or thoughts around it, leave trailing commas, and send ``"8/10"`` instead of a
number. Unreadable values are ``None``, and the caller has a default.
"""

import json
import re
from typing import Any

from adapters.reasoners.openai.hidden_text import without_thoughts

MISSING, UNCLEAR = "MISSING:", "UNCLEAR:"  # begin the line that replaces an answer

_FENCED = re.compile(r"```[a-zA-Z0-9]*[ \t]*\n?(.*?)```", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LITERALS = {"True": "true", "False": "false", "None": "null"}
_LITERAL = re.compile(r"(?<=[:\[,\s])(True|False|None)(?=\s*[,}\]])")
_MOST_STARTS = 20  # brackets of a long text that are tried as the start of a JSON value
_MISSING_LENGTH = 300  # characters
_UNCLEAR_LENGTH = 1_200
_FEWEST_READINGS = 2
_NOTHING = frozenset({"none", "nothing", "n/a", "no", "-", "keywords"})
_LINE_STARTS = (r"(?:\A|\n)[\s>*_#-]*", r"\n[\s>*_#-]*")  # at the start of the text; after its first words
_INSTEAD = [re.compile(f"{start}({MISSING}|{UNCLEAR})") for start in _LINE_STARTS]
_BEGUN = "|".join(word[:length] for word in (MISSING, UNCLEAR) for length in range(len(word)))
_MAY_BE_INSTEAD = [re.compile(rf"{start}(?:{_BEGUN})\Z") for start in _LINE_STARTS]
_LIST_MARK = re.compile(r"^\s*(?:[-*•>]+|\(?\w[.)])\s+")
_UNQUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|([^"]+)', re.DOTALL)


def json_in(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the JSON object or array in a model's reply, or None if none is readable."""
    bare = without_thoughts(text)
    for candidate in (bare, *_FENCED.findall(bare)):
        found = _load_json(candidate.strip())
        if found is not None:
            return found
    return _first_value(bare)


def _load_json(text: str) -> dict[str, Any] | list[Any] | None:
    for version in (text, _mend_json(text)):
        try:
            value = json.loads(version, strict=False)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict | list):
            return value
    return None


def _first_value(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the first readable JSON value within prose. Prefer an object to a list like ``[3]``."""
    decoder = json.JSONDecoder(strict=False)
    for version in (text, _mend_json(text)):
        for bracket in "{[":
            starts = [match.start() for match in re.finditer(re.escape(bracket), version)][:_MOST_STARTS]
            for start in starts:
                try:
                    value, _ = decoder.raw_decode(version, start)
                except (ValueError, RecursionError):
                    continue
                if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, dict) for v in value)):
                    return value
    return None


def _mend_json(text: str) -> str:
    """Fix trailing commas and Python literals outside of strings."""

    def outside(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group()
        bare = _TRAILING_COMMA.sub(r"\1", match.group())
        return _LITERAL.sub(lambda literal: _LITERALS[literal.group(1)], bare)

    return _UNQUOTED.sub(outside, text)


def as_text(value: object, limit: int = 2_000) -> str:
    """Convert any value to one stripped text of at most ``limit`` characters. Join lists with spaces."""
    if isinstance(value, str):
        return value.strip()[:limit]
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return " ".join(filter(None, (as_text(item) for item in value)))[:limit]
    if isinstance(value, dict):
        inner = next((value[key] for key in ("text", "query", "question", "value", "label") if key in value), "")
        return as_text(inner, limit)
    return ""


def as_texts(value: object, most: int, limit: int = 400) -> tuple[str, ...]:
    """Convert any value to at most ``most`` distinct, non-empty texts."""
    items = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(text for text in (as_text(item, limit) for item in items) if text))[:most]


def as_number(value: object) -> float | None:
    """Return a number, or the first one in a text (``"8/10"``, ``"[3]"``, ``"E3"``), or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e9 else None
    if isinstance(value, str):
        match = _NUMBER.search(value[:100])
        return as_number(float(match.group())) if match else None
    if isinstance(value, list) and value:
        return as_number(value[0])
    return None


def as_flag(value: object) -> bool:
    """Return whether a field's value means yes, in any form."""
    return value is True or (isinstance(value, str) and value.strip().casefold() in {"true", "yes", "1"})


class InsteadFilter:
    """Streaming filter for the line that replaces an answer. It holds back text that may become such a line.

    It returns neither the line nor the text after it. The line says what is missing, or it asks back:
    ``UNCLEAR: a question | a reading | a reading``. Each reading may also be on its own line.
    """

    def __init__(self) -> None:
        self._held = ""
        self._begun = False  # some text was returned, so the next piece does not start a line
        self._word = ""
        self._said = ""

    @property
    def has_line(self) -> bool:
        """Whether the text has such a line."""
        return bool(self._word)

    @property
    def missing_text(self) -> str:
        """What is missing according to the line. Empty if it asks back or says that nothing is missing."""
        if self._word != MISSING or self._first_line.casefold() in _NOTHING:
            return ""
        return self._first_line[:_MISSING_LENGTH]

    @property
    def asks(self) -> tuple[str, ...]:
        """The question back and its readings. Empty without a question and at least two readings."""
        if self._word != UNCLEAR:
            return ()
        said = self._said[:_UNCLEAR_LENGTH]
        parts = self._first_line.split("|") if "|" in self._first_line else said.replace("|", "\n").splitlines()
        texts = tuple(dict.fromkeys(filter(None, (_LIST_MARK.sub("", part).strip(' \r*_"') for part in parts))))
        return texts if len(texts) > _FEWEST_READINGS else ()

    @property
    def complete(self) -> bool:
        """Whether the line is complete."""
        said = self._said.lstrip()
        if self._word == UNCLEAR:
            return ("\n" in said and "|" in said.partition("\n")[0]) or len(said) > _UNCLEAR_LENGTH
        return "\n" in said or len(said) > _MISSING_LENGTH

    @property
    def _first_line(self) -> str:
        return self._said.strip().partition("\n")[0].strip(' \r*_."')

    def feed(self, piece: str) -> str:
        """Add a piece and return the text that can be shown now."""
        if self._word:
            self._said += piece
            return ""
        text = self._held + piece
        where = 1 if self._begun else 0
        if (line := _INSTEAD[where].search(text)) is not None:
            self._word, self._said = line.group(1), text[line.end() :]
            return text[: line.start()]
        held = _MAY_BE_INSTEAD[where].search(text)
        shown = text[: held.start()] if held else text
        self._held = text[len(shown) :]
        self._begun = self._begun or bool(shown)
        return shown

    def rest(self) -> str:
        """Return the held-back text at the end, if it did not become such a line."""
        return "" if self.has_line else self._held
