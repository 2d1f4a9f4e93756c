"""Files below the paths a person names, each with the name it is known by as a source."""

from collections.abc import Iterable
from pathlib import Path

SKIPPED_NAMES = {"node_modules", "__pycache__", "Thumbs.db"}


def files_in(paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """(file, source) for every file, recursively, sorted; hidden files and folders are left out unless named.

    The source of a file in a folder is its path below that folder's parent, so that moving the whole tree elsewhere
    keeps every document's identity.
    """
    found: dict[Path, str] = {}
    for path in paths:
        root = path.absolute()
        if root.is_file():
            found.setdefault(root, root.name)
            continue
        for file in sorted(root.rglob("*")):
            inside = file.relative_to(root)
            hidden = any(part.startswith(".") or part in SKIPPED_NAMES for part in inside.parts)
            if file.is_file() and not hidden:
                found.setdefault(file, str(Path(root.resolve().name) / inside))
    return list(found.items())
