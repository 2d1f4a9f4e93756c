"""A backtracking matcher that counts its steps, to measure a pattern's work without a clock.

It walks the tree that the standard library parses a pattern into, in the order in which ``re`` tries things: greedy
before lazy, the left of a branch before the right, the next start where a search fails. It leaves out what ``re`` does
to be faster, so that its counts are never too low. Repetitions with a large bound are given a small one: a bound is a
bound, and inputs here are short.
"""

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

_parser: Any = re._parser  # type: ignore[attr-defined]
_const: Any = re._constants  # type: ignore[attr-defined]
SMALL_BOUND = 4
LARGE_BOUND = 12
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    _const.CATEGORY_DIGIT: str.isdigit,
    _const.CATEGORY_SPACE: str.isspace,
    _const.CATEGORY_WORD: lambda character: character.isalnum() or character == "_",
    _const.CATEGORY_NOT_DIGIT: lambda character: not character.isdigit(),
    _const.CATEGORY_NOT_SPACE: lambda character: not character.isspace(),
    _const.CATEGORY_NOT_WORD: lambda character: not (character.isalnum() or character == "_"),
}
Next = Callable[[int], int]
FAILED = -1


class TooManySteps(Exception):
    """The count has passed what was given as its limit."""


class StepCounter:
    """Counts the steps of searching texts with one pattern."""

    def __init__(self, pattern: re.Pattern[str], limit: int) -> None:
        self.tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        self.ignores_case, self.is_multiline, self.dot_is_all = (
            bool(pattern.flags & flag) for flag in (re.IGNORECASE, re.MULTILINE, re.DOTALL)
        )
        self.limit = limit
        self._accepted: dict[tuple[int, str], bool] = {}  # by a node and a character: asked for again and again
        self.steps = 0
        self.text = ""
        self.groups: dict[int, tuple[int, int]] = {}

    def search(self, text: str) -> int:
        """How many steps it takes to find every match in the text, one after the other."""
        self.text, self.steps = text, 0
        start = 0
        while start <= len(text):
            self.groups = {}
            end = self._sequence(self.tree.data, 0, start, lambda position: position)
            start = max(end, start + 1) if end != FAILED else start + 1
        return self.steps

    def _sequence(self, items: list[Any], index: int, position: int, then: Next) -> int:
        if index == len(items):
            return then(position)
        return self._item(items[index], position, lambda reached: self._sequence(items, index + 1, reached, then))

    def _item(self, item: Any, position: int, then: Next) -> int:  # noqa: C901, PLR0911 - one arm for each kind of node
        self.steps += 1
        if self.steps > self.limit:
            raise TooManySteps
        kind, value = item
        match kind.name:
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repeat(kind.name, value, position, then)
            case "SUBPATTERN":
                number, _, _, inner = value
                return self._sequence(inner.data, 0, position, self._closing(number, position, then))
            case "ATOMIC_GROUP":
                end = self._sequence(value.data, 0, position, lambda reached: reached)
                return then(end) if end != FAILED else FAILED
            case "BRANCH":
                for branch in value[1]:
                    if (end := self._sequence(branch.data, 0, position, then)) != FAILED:
                        return end
                return FAILED
            case "ASSERT" | "ASSERT_NOT":
                return then(position) if self._holds(value, position) is (kind.name == "ASSERT") else FAILED
            case "AT":
                return then(position) if self._at(value.name, position) else FAILED
            case "GROUPREF":
                start, end = self.groups.get(value, (0, 0))
                same = self.text.startswith(self.text[start:end], position)
                return then(position + end - start) if same else FAILED
        return then(position + 1) if position < len(self.text) and self._accepts(item, position) else FAILED

    def _closing(self, number: int | None, start: int, then: Next) -> Next:
        def close(end: int) -> int:
            if number is not None:
                self.groups[number] = (start, end)
            return then(end)

        return close

    def _repeat(self, kind: str, value: Any, position: int, then: Next) -> int:
        least, most, body = value
        least, most = min(least, LARGE_BOUND), SMALL_BOUND + least if LARGE_BOUND < most < _const.MAXREPEAT else most
        if kind == "POSSESSIVE_REPEAT":
            count = 0
            while count < most:
                end = self._sequence(body.data, 0, position, lambda reached: reached)
                if end in (FAILED, position):
                    break
                position, count = end, count + 1
            return then(position) if count >= least else FAILED

        def again(count: int, at: int) -> int:
            def more() -> int:
                if count >= most:
                    return FAILED
                return self._sequence(body.data, 0, at, lambda end: again(count + 1, end) if end > at else FAILED)

            if count < least:
                return more() if least else then(at)
            ways: list[Callable[[], int]] = [more, lambda: then(at)]
            first, second = ways if kind == "MAX_REPEAT" else reversed(ways)
            found: int = first()
            return found if found != FAILED else second()

        return again(0, position)

    def _holds(self, value: Any, position: int) -> bool:
        direction, inner = value
        if direction > 0:
            return self._sequence(inner.data, 0, position, lambda reached: reached) != FAILED
        width = inner.getwidth()[0]
        if position < width:
            return False
        end = self._sequence(inner.data, 0, position - width, lambda reached: reached)
        return end == position

    def _at(self, where: str, position: int) -> bool:
        text, before = self.text, self.text[position - 1 : position]
        match where:
            case "AT_BEGINNING":
                return position == 0 or (self.is_multiline and before == "\n")
            case "AT_BEGINNING_STRING":
                return position == 0
            case "AT_END":
                last = position == len(text) or (position == len(text) - 1 and text[position] == "\n")
                return last or (self.is_multiline and text[position : position + 1] == "\n")
            case "AT_END_STRING":
                return position == len(text)
        word = [bool(one) and (one.isalnum() or one == "_") for one in (before, text[position : position + 1])]
        return (word[0] != word[1]) is (where == "AT_BOUNDARY")

    def _accepts(self, item: Any, position: int) -> bool:
        asked = id(item), self.text[position]
        if asked not in self._accepted:
            self._accepted[asked] = self._takes(item, self.text[position])
        return self._accepted[asked]

    def _takes(self, item: Any, character: str) -> bool:
        kind, value = item
        forms = {character, character.lower(), character.upper()} if self.ignores_case else {character}
        match kind.name:
            case "LITERAL":
                return chr(value) in forms
            case "NOT_LITERAL":
                return chr(value) not in forms
            case "ANY":
                return character != "\n" or self.dot_is_all
            case "IN":
                inside = any(_in_set(one, form) for one in value for form in forms)
                return inside is (str(value[0][0]) != "NEGATE")
        raise AssertionError(kind)


def _in_set(item: Any, character: str) -> bool:
    kind, value = item
    match str(kind):
        case "LITERAL":
            return chr(value) == character
        case "RANGE":
            return bool(value[0] <= ord(character) <= value[1])
        case "CATEGORY":
            return bool(_CATEGORIES[value](character))
    return False


# --- inputs made to slow it


def adversarial_units(pattern: re.Pattern[str]) -> Iterator[str]:
    """Short strings whose repetition may slow the pattern: what its repetitions take, alone and after what precedes."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    found: list[str] = []
    _units(list(tree), "", found)
    letters = [one for one in dict.fromkeys("".join(found)) if one]
    yield from dict.fromkeys([*found, *letters, *(a + b for a in letters[:5] for b in letters[:5] if a != b)])


def _units(items: list[Any], before: str, found: list[str]) -> str:
    """Collect what is repeated; an example of what these items match."""
    for kind, value in items:
        match str(kind):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                unit = _units(list(value[2]), before, found)
                found += [unit, before + unit]
                before += unit * max(1, min(value[0], 2))
            case "SUBPATTERN":
                before += _units(list(value[3]), before, found)
            case "ATOMIC_GROUP":
                before += _units(list(value), before, found)
            case "BRANCH":
                before += next(iter([_units(list(branch), before, found) for branch in value[1]]))
            case "LITERAL":
                before += chr(value)
            case "NOT_LITERAL" | "ANY":
                before += "a" if value is None or chr(value) != "a" else "b"
            case "IN":
                before += _example(value)
    return before[-12:]


def _example(options: Any) -> str:
    negated = str(options[0][0]) == "NEGATE"
    for character in "a1 -.[(</:@`\n\tA_":
        if any(_in_set(one, character) for one in options) is not negated:
            return character
    first = options[0]
    return chr(first[1]) if str(first[0]) == "LITERAL" else "a"


sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))
