"""Events of platforms with a field missing, empty, of another type or too many, one fault at a time."""

import copy
from collections.abc import Iterator
from typing import Any

WRONG: tuple[Any, ...] = (None, [], {}, "", "\x00", -1, 10**30, True, "x" * 5_000)


def faulty(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The event with each of its fields, at every depth, left out and replaced by what it never is."""
    yield event | {"unknown": {"deeply": [{"nested": 1}]}}
    for path in paths_of(event):
        yield _changed(event, path, None, leave_out=True)
        for value in WRONG:
            yield _changed(event, path, value)


def paths_of(value: Any, here: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every field and item below a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield (*here, key)
        yield from paths_of(one, (*here, key))


def _changed(event: dict[str, Any], path: tuple[str | int, ...], value: Any, *, leave_out: bool = False) -> Any:
    changed = copy.deepcopy(event)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    if leave_out:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed
