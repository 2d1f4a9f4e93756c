"""The tables of a measurement, as lines of text; nothing in them tells one pair from another."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from research.benchmark.rows import percentile
from research.verification.asking import Asked
from research.verification.judging import Fate

_NAME, _COUNT = 22, 11  # characters of a column
_IN_GROUPS = ("honest", "nodding", "overlooking")  # where all verifiers are measured, these are told by kind


def all_tables(asked: Sequence[Asked]) -> Iterator[str]:
    """Yield every table."""
    runs = [[one for one in asked if (one.verifier, one.false) == run] for run in _in_order(asked)]
    yield from fates(runs)
    yield from _falsehoods([run for run in runs if run[0].false])
    yield from _costs(runs)
    some = runs if len(runs) <= 2 * len(_IN_GROUPS) else [run for run in runs if run[0].verifier in _IN_GROUPS]
    yield from _groups(some, "kind", lambda one: one.pair.kind)
    yield from _groups(some, "language", lambda one: one.pair.language)


def figures(run: Sequence[Asked]) -> dict[str, Any]:
    """Return the figures of one verifier with right or with false answers."""
    false = [one for one in run if one.false]
    absent = [one for one in false if one.judgement.absent]
    calls = sorted(len(one.conversation.steps) for one in run if _counts_for_calls(one))
    return {
        "verifier": run[0].verifier,
        "answers": "false" if run[0].false else "right",
        "pairs": len(run),
        "fates": {str(fate): sum(one.judgement.fate is fate for one in run) for fate in Fate},
        "stands": sum(one.judgement.stands for one in false),
        "just_the_false_claim": sum(one.judgement.just for one in false),
        "false_claim_is_all": sum(one.judgement.alone for one in false),
        "absent_values": len(absent),
        "absent_values_stand": sum(one.judgement.stands for one in absent),
        "calls": {"counted": len(calls), "p50": percentile(calls, 0.5), "max": calls[-1]} if calls else None,
        "evidence_missing": sum(not one.conversation.complete for one in run),
        "further_searches": sum(one.conversation.searched_again > 0 for one in run),
        "steps": Counter(step for one in run for step in one.conversation.steps),
        "cached": _share(sum(one.conversation.cached for one in run), sum(one.conversation.tokens for one in run)),
        "same_prefix": _share(
            sum(one.conversation.repeated for one in run), sum(one.conversation.characters for one in run)
        ),
        "notices": sum(bool(one.answer and one.answer.notices) for one in run),
    }


def _in_order(asked: Iterable[Asked]) -> Iterable[tuple[str, bool]]:
    return dict.fromkeys((one.verifier, one.false) for one in asked)


def _counts_for_calls(one: Asked) -> bool:
    """Return whether an answer's calls are compared: one search settled it, and it is a good or a failing one."""
    if one.conversation.searched_again or not one.conversation.complete:
        return False
    return not one.judgement.stands if one.false else one.judgement.fate is Fate.AS_WRITTEN


def fates(runs: Sequence[Sequence[Asked]]) -> Iterator[str]:
    """Yield what became of the answers, with counts and shares."""
    yield _row("verifier, answers", ["pairs", *Fate, "stands", "just it"])
    for run in runs:
        found = figures(run)
        of_false = [found["stands"], found["just_the_false_claim"]] if run[0].false else ["", ""]
        yield _row(_name(run), [found["pairs"], *found["fates"].values(), *of_false])
        of_false = [_percent(one, len(run)) for one in of_false] if run[0].false else []
        yield _row("", ["", *(_percent(count, len(run)) for count in found["fates"].values()), *of_false])


def _falsehoods(runs: Sequence[Sequence[Asked]]) -> Iterator[str]:
    if runs:
        alone = sum(one.judgement.alone for one in runs[0])
        yield f"\nfalse claims that stand, by whether a value of theirs is absent ({alone} are the whole answer)"
        yield _row("verifier", ["absent", "stands", "", "present", "stands", ""])
    for run in runs:
        row: list[object] = []
        for absent in (True, False):
            some = [one for one in run if one.judgement.absent is absent]
            stands = sum(one.judgement.stands for one in some)
            row += [len(some), stands, _percent(stands, len(some))]
        yield _row(run[0].verifier, row)


def _costs(runs: Sequence[Sequence[Asked]]) -> Iterator[str]:
    yield "\ncalls of good and of failing answers that one search settled; all calls by step"
    yield _row("verifier, answers", ["counted", "p50", "max", "searched +", "no evid.", "cached", "prefix", "notices"])
    for run in runs:
        found = figures(run)
        calls = found["calls"] or {"counted": 0, "p50": "", "max": ""}
        beside = [found["further_searches"], found["evidence_missing"], found["cached"], found["same_prefix"]]
        steps = ", ".join(f"{step} {count}" for step, count in found["steps"].most_common())
        yield _row(_name(run), [*calls.values(), *beside, found["notices"]]) + f"   {steps}"


def _groups(runs: Sequence[Sequence[Asked]], title: str, key: Callable[[Asked], str]) -> Iterator[str]:
    """Yield, by kind or language, right answers as written, false ones that stand and those that lose just that."""
    groups = sorted({key(one) for run in runs for one in run})
    yield f"\nby {title}: right as written; false that stand / that lose just the false claim"
    yield _row("", [_short_name(run) for run in runs])
    for group in groups:
        row = []
        for run in runs:
            some = [one for one in run if key(one) == group]
            as_written = sum(one.judgement.fate is Fate.AS_WRITTEN for one in some)
            stands, just = sum(one.judgement.stands for one in some), sum(one.judgement.just for one in some)
            row.append(f"{stands}/{just} of {len(some)}" if run[0].false else f"{as_written} of {len(some)}")
        yield _row(group, row)


def _name(run: Sequence[Asked]) -> str:
    return f"{run[0].verifier}, {'false' if run[0].false else 'right'}"


def _short_name(run: Sequence[Asked]) -> str:
    return f"{run[0].verifier[:6]}, {'F' if run[0].false else 'R'}"


def _row(name: str, cells: Iterable[object]) -> str:
    return f"{name[: _NAME - 1]:{_NAME}}" + "".join(f"{cell!s:>{_COUNT}}" for cell in cells)


def _share(part: int, whole: int) -> str:
    return _percent(part, whole) if whole else ""


def _percent(part: object, whole: int) -> str:
    return f"{int(str(part)) / whole:.1%}" if whole else ""
