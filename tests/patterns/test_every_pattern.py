"""Every compiled pattern in the house, against growing inputs made to slow it. Steps are counted, not seconds.

A pattern that reads whole texts on the event loop must make work that grows as the text does. Any other may grow with
its square (its inputs are bounded: a line, a name, a page of one document in the sandbox), never faster.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

from tests.patterns.step_counter import StepCounter, TooManySteps, adversarial_units

HOUSE = ("core", "adapters", "bot")
SHORT, LONG = 24, 48
MOST_STEPS = 60_000  # for the long input; a pattern without repetitions in repetitions stays far below
LINEAR, SQUARE = 2.6, 4.7  # by how much the steps may grow when the input doubles; 2 and 4, and something for its ends
ON_THE_LOOP = (
    "core.model.answer_links",
    "core.model.markdown_links",
    "core.model.plain_text",
    "core.service.text_splitter",
    "adapters.slack.api.sanitizer",
    "adapters.slack.inbound.message_words",
    "adapters.slack.outbound",
    "adapters.discord.inbound.message_words",
    "adapters.discord.outbound",
)


def house_patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Each pattern that a module of ours holds, by where it stands."""
    seen: set[tuple[str, int]] = set()
    for root in HOUSE:
        package = importlib.import_module(root)
        for module in pkgutil.walk_packages(package.__path__, f"{root}."):
            if module.name.endswith("__main__") or ".samples" in module.name:
                continue
            loaded = importlib.import_module(module.name)
            for name, value in vars(loaded).items():
                for number, pattern in enumerate(_patterns_in(value)):
                    key = (pattern.pattern, pattern.flags)
                    if key not in seen:
                        seen.add(key)
                        yield f"{module.name}.{name}{f'[{number}]' if number else ''}", pattern


def _patterns_in(value: object) -> list[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        return [value] if isinstance(value.pattern, str) else []
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple | list) and len(value) < 60:
        return [one for item in value for one in _patterns_in(item)]
    return []


PATTERNS = dict(house_patterns())


def test_the_sweep_has_the_whole_house_before_it() -> None:
    assert len(PATTERNS) > 150
    assert any(name.startswith("core.model.answer_links") for name in PATTERNS)


@pytest.mark.parametrize("name", PATTERNS)
def test_no_pattern_makes_work_that_outgrows_its_input(name: str) -> None:
    pattern, counter = PATTERNS[name], StepCounter(PATTERNS[name], MOST_STEPS)
    most = LINEAR if name.startswith(ON_THE_LOOP) else SQUARE
    for unit in list(adversarial_units(pattern))[:40]:
        for ending in ("", "\x01"):
            short, long = (_steps(counter, (unit * size)[:size] + ending) for size in (SHORT, LONG))
            assert long <= max(short * most, 40 * LONG), f"{unit!r}: {short} steps, {long} for twice the input"


def test_a_pattern_that_is_slow_is_found() -> None:
    slow = re.compile(r"(?:a+)+b")
    with pytest.raises(TooManySteps):
        StepCounter(slow, MOST_STEPS).search("a" * LONG)
    square = StepCounter(re.compile(r"a+b"), MOST_STEPS)
    assert _steps(square, "a" * LONG) > 3 * _steps(square, "a" * SHORT)


def _steps(counter: StepCounter, text: str) -> int:
    try:
        return counter.search(text)
    except TooManySteps:
        pytest.fail(f"more than {MOST_STEPS} steps for {len(text)} characters: {text[:20]!r}…")
