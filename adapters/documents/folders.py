"""Discovery of files below the paths that a person names."""

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from core.model.document_content import LocalFile

SKIPPED_NAMES = {"node_modules", "__pycache__", "Thumbs.db"}


def files_in(paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """Return (file, source) for every file, recursively and sorted; hidden files and folders only if named.

    The source of a file in a folder is its path relative to that folder's parent. If two sources are equal, both get
    more of their path. For files that are added to a base, ``local_files`` and ``FileOrigins`` identify the documents.
    A folder without read permission is listed itself; reading it gives the reason. ``find_refused_files`` lists links
    that lead out of the folder, and special files.
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
    """Return the same files, each with the named folder or file, as absolute paths that do not follow links."""
    found: dict[Path, LocalFile] = {}
    for named in paths:
        root = Path(os.path.normpath(named.absolute()))
        for path in [root] if root.is_file() else sorted(_below(root)):
            found.setdefault(path, LocalFile(path, root))
    return list(found.values())


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """A path below a named path that is not read, with the reason."""

    source: str
    reason: str


def find_refused_files(paths: Iterable[Path]) -> list[RefusedFile]:
    """Return the entries below these paths that are not read: links that lead out, devices, pipes and sockets."""
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
    """Yield everything below a folder that is not hidden, including folders that are links."""
    for folder, inside, names in os.walk(root):
        inside[:] = [name for name in inside if not _is_hidden(name)]
        links = [name for name in inside if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in (*links, *names) if not _is_hidden(name))


def _why_refused(path: Path, base: Path) -> str:
    """Return why this path is not read, or "" if it is read."""
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(base):
            return "It is a symbolic link to a place outside the folder."
    except (OSError, RuntimeError):
        return "It is a symbolic link to a file that does not exist."
    return _why_special(path)


def _why_special(path: Path) -> str:
    """Return why this path cannot be a document; "" for files, folders, and paths that are missing or unreadable."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return "It is a symbolic link to a file that does not exist." if path.is_symlink() else ""
    kinds = {stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket", stat.S_ISCHR: "a device", stat.S_ISBLK: "a device"}
    return next((f"It is {kind}, not a file." for test, kind in kinds.items() if test(mode)), "")


def _below(root: Path) -> Iterator[Path]:
    """Yield every file below a folder that is not hidden, and every folder without read permission."""
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
    """Return whether the path is a file or may not be inspected."""
    try:
        return path.is_file()
    except OSError:
        return True


def _told_apart(found: dict[Path, str]) -> dict[Path, str]:
    """Prepend parent folders to sources that several files share until they are unique."""
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
    """Return a file name with bytes that are not UTF-8 escaped, so that it can be stored and shown."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
