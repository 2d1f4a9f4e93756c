"""Files below the paths a person names, each with the name it is known by as a source."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

SKIPPED_NAMES = {"node_modules", "__pycache__", "Thumbs.db"}


def files_in(paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """(file, source) for every file, recursively, sorted; hidden files and folders are left out unless named.

    The source of a file in a folder is its path below that folder's parent, so that moving the whole tree elsewhere
    keeps every document's identity. Where two would have one source, both are named with more of their path. A folder
    that may not be looked into is in the list as it is: whoever reads it finds out why, and says so.
    """
    found: dict[Path, str] = {}
    for path in paths:
        root = path.absolute()
        if root.is_file():
            found.setdefault(root, root.name)
            continue
        for file in sorted(_below(root)):
            found.setdefault(file, str(Path(root.resolve().name) / file.relative_to(root)))
    return [(path, _as_text(source)) for path, source in _told_apart(found).items()]


def _below(root: Path) -> Iterator[Path]:
    """Every file below a folder that is not hidden, and every folder that may not be looked into."""
    failures: list[OSError] = []
    for folder, inside, names in os.walk(root, onerror=failures.append):
        inside[:] = [name for name in inside if not _is_hidden(name)]
        yield from (file for name in names if not _is_hidden(name) and _is_file(file := Path(folder, name)))
    yield from (Path(failure.filename) for failure in failures if isinstance(failure, PermissionError))


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name in SKIPPED_NAMES


def _is_file(path: Path) -> bool:
    """Whether it is one, or may not be looked at."""
    try:
        return path.is_file()
    except OSError:
        return True


def _told_apart(found: dict[Path, str]) -> dict[Path, str]:
    """The same with one more folder in front of every source that several files have, as long as there are any."""
    while True:
        times = Counter(found.values())
        longer = {
            path: str(Path(*path.parts[-len(Path(source).parts) - 1 :]))
            for path, source in found.items()
            if times[source] > 1 and len(Path(source).parts) < len(path.parts)
        }
        if not longer:
            return found
        found |= longer


def _as_text(name: str) -> str:
    """A name that is no UTF-8 with its odd bytes spelt out, so that it can be kept and shown."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
