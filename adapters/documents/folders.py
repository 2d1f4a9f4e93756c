"""Files below the paths that a person names."""

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from core.model.document_content import LocalFile

SKIPPED_NAMES = {"node_modules", "__pycache__", "Thumbs.db"}


def files_in(paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """(file, source) for every file, recursively, sorted; hidden files and folders are left out unless named.

    The source of a file in a folder is its path below that folder's parent. Where two would have one source, both are
    named with more of their path. For files that go into a base, ``local_files`` and ``FileOrigins`` say which document
    each is. A folder that may not be looked into is in the list as it is: reading it says why. What is no file of the
    folder's own is named by ``find_refused_files`` instead.
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


def local_files(paths: Iterable[Path]) -> list[LocalFile]:
    """Return the same files, each with the folder or file that was named, as absolute paths that follow no links."""
    found: dict[Path, LocalFile] = {}
    for named in paths:
        root = Path(os.path.normpath(named.absolute()))
        for path in [root] if root.is_file() else sorted(_below(root)):
            found.setdefault(path, LocalFile(path, root))
    return list(found.values())


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """Something below a named path that is not read, and why."""

    source: str
    reason: str


def find_refused_files(paths: Iterable[Path]) -> list[RefusedFile]:
    """Return what below these paths is no file of theirs, by name: links that lead out, devices, pipes and sockets."""
    found: list[RefusedFile] = []
    for path in paths:
        root = path.absolute()
        if root.is_dir():
            base = root.resolve()
            for entry in sorted(_entries(root)):
                if reason := _why_refused(entry, base):
                    name = str(Path(base.name) / entry.relative_to(root))
                    found.append(RefusedFile(_as_text(name), reason))
        elif reason := _why_special(root):
            found.append(RefusedFile(_as_text(root.name), reason))
    return found


def _entries(root: Path) -> Iterator[Path]:
    """Everything below a folder that is not hidden, folders that are links included."""
    for folder, inside, names in os.walk(root):
        inside[:] = [name for name in inside if not _is_hidden(name)]
        links = [name for name in inside if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in (*links, *names) if not _is_hidden(name))


def _why_refused(path: Path, base: Path) -> str:
    """Why this is not read; empty when it is."""
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(base):
            return "It is a link that leads out of the folder."
    except (OSError, RuntimeError):
        return "It is a link that leads nowhere."
    return _why_special(path)


def _why_special(path: Path) -> str:
    """Why this can be no document; empty for files, folders, and what is not there or may not be looked at."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return "It is a link that leads nowhere." if path.is_symlink() else ""
    kinds = {stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket", stat.S_ISCHR: "a device", stat.S_ISBLK: "a device"}
    return next((f"It is {kind}, not a file." for test, kind in kinds.items() if test(mode)), "")


def _below(root: Path) -> Iterator[Path]:
    """Every file below a folder that is not hidden, and every folder that may not be looked into."""
    failures: list[OSError] = []
    base = root.resolve()
    for folder, inside, names in os.walk(root, onerror=failures.append):
        inside[:] = [name for name in inside if not _is_hidden(name)]
        files = (Path(folder, name) for name in names if not _is_hidden(name))
        yield from (file for file in files if _is_file(file) and not _why_refused(file, base))
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
    """Put one more folder in front of every source that several files share, as long as there are any."""
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
    """Return a name that is no UTF-8 with its odd bytes spelt out, so that it can be kept and shown."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
