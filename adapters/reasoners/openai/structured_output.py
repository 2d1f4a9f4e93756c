"""Reads what language models send instead of the JSON they were asked for, without ever raising.

Models put JSON in code fences, talk around it, think aloud before it, leave trailing commas, and send ``"8/10"`` where
a number was asked for. What can be understood is understood; what cannot is ``None``, and the caller has a default.
"""

import json
import re
from typing import Any

from adapters.reasoners.openai.hidden_text import without_thoughts

MISSING, UNCLEAR = "MISSING:", "UNCLEAR:"  # begin the line that takes an attempted answer's place

_FENCED = re.compile(r"```[a-zA-Z0-9]*[ \t]*\n?(.*?)```", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LITERALS = {"True": "true", "False": "false", "None": "null"}
_LITERAL = re.compile(r"(?<=[:\[,\s])(True|False|None)(?=\s*[,}\]])")
_MOST_STARTS = 20  # how many brackets of a long text are tried as the beginning of a JSON value
_MISSING_LENGTH = 300  # characters
_UNCLEAR_LENGTH = 1_200
_FEWEST_READINGS = 2
_NOTHING = frozenset({"none", "nothing", "n/a", "no", "-", "keywords"})
_LINE_STARTS = (r"(?:\A|\n)[\s>*_#-]*", r"\n[\s>*_#-]*")  # of the whole text; of what follows its first words
_INSTEAD = [re.compile(f"{start}({MISSING}|{UNCLEAR})") for start in _LINE_STARTS]
_BEGUN = "|".join(word[:length] for word in (MISSING, UNCLEAR) for length in range(len(word)))
_MAY_BE_INSTEAD = [re.compile(rf"{start}(?:{_BEGUN})\Z") for start in _LINE_STARTS]
_LIST_MARK = re.compile(r"^\s*(?:[-*•>]+|\(?\w[.)])\s+")
_UNQUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|([^"]+)', re.DOTALL)


def json_in(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the JSON object or array in a model's reply, or None when there is none that can be read."""
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
    """Return the first readable JSON value in the middle of prose; an object wins over a list like ``[3]``."""
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
    """Trailing commas and Python's literals put right, outside of strings."""

    def outside(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group()
        bare = _TRAILING_COMMA.sub(r"\1", match.group())
        return _LITERAL.sub(lambda literal: _LITERALS[literal.group(1)], bare)

    return _UNQUOTED.sub(outside, text)


def as_text(value: object, limit: int = 2_000) -> str:
    """Whatever came, as one stripped text of at most ``limit`` characters; lists are joined with spaces."""
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
    """Whatever came, as at most ``most`` different texts that are not empty."""
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
    """Whether a field's value means yes, however the model wrote it."""
    return value is True or (isinstance(value, str) and value.strip().casefold() in {"true", "yes", "1"})


class InsteadFilter:
    """Finds the line of a streamed text that stands in the answer's place, and holds back what may become one.

    Neither the line nor what comes after it is let through. It says what is missing, or it asks back:
    ``UNCLEAR: a question | a reading | a reading``, also with each reading on a line of its own.
    """

    def __init__(self) -> None:
        self._held = ""
        self._begun = False  # something was let through, so that the next piece begins no line by itself
        self._word = ""
        self._said = ""

    @property
    def has_line(self) -> bool:
        """Whether there is such a line."""
        return bool(self._word)

    @property
    def missing_text(self) -> str:
        """What the line says is missing; empty when it asks back, or says that nothing is."""
        if self._word != MISSING or self._first_line.casefold() in _NOTHING:
            return ""
        return self._first_line[:_MISSING_LENGTH]

    @property
    def asks(self) -> tuple[str, ...]:
        """The question back and its readings, where the line has that and at least two readings; else empty."""
        if self._word != UNCLEAR:
            return ()
        said = self._said[:_UNCLEAR_LENGTH]
        parts = self._first_line.split("|") if "|" in self._first_line else said.replace("|", "\n").splitlines()
        texts = tuple(dict.fromkeys(filter(None, (_LIST_MARK.sub("", part).strip(' \r*_"') for part in parts))))
        return texts if len(texts) > _FEWEST_READINGS else ()

    @property
    def complete(self) -> bool:
        """Whether the line has been read to its end."""
        said = self._said.lstrip()
        if self._word == UNCLEAR:
            return ("\n" in said and "|" in said.partition("\n")[0]) or len(said) > _UNCLEAR_LENGTH
        return "\n" in said or len(said) > _MISSING_LENGTH

    @property
    def _first_line(self) -> str:
        return self._said.strip().partition("\n")[0].strip(' \r*_."')

    def feed(self, piece: str) -> str:
        """Return what of the text so far may be shown now."""
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
        """Return what is still held at the end and was no such line after all."""
        return "" if self.has_line else self._held
