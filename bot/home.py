"""The data directory, private to its owner because it contains all questions and documents unencrypted."""

import os
import stat
import uuid
from pathlib import Path

INSTALLATION = "installation"  # the file with the installation's id
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def secure_home(home: Path) -> int:
    """Create the directory, or tighten an existing one's permissions. Return how many entries were open to others.

    From then on this process, and the stores that it starts, create every file for its owner only. Entries of other
    owners stay as they are: ``open_to_others`` finds them. Raises OSError if the directory cannot be created.
    """
    os.umask(_OTHERS)
    home.mkdir(parents=True, exist_ok=True)
    loose = _loose(home)
    for path in loose:
        try:
            path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~_OTHERS)
        except (PermissionError, FileNotFoundError):
            continue
    return len(loose)


def installation_id(home: Path) -> str:
    """Return this installation's id, which distinguishes its folders from another's. Creates it once. Raises OSError.

    The id stays with the data directory. A recreated container has another host name but the same home.
    """
    there = home / INSTALLATION
    if not there.exists():
        _write_once(there, uuid.uuid4().hex)
    return there.read_text("utf-8").strip()


def find_installation(home: Path) -> str:
    """Return this installation's id; empty if there is none yet."""
    there = home / INSTALLATION
    return there.read_text("utf-8").strip() if there.exists() else ""


def keep_installation(home: Path, installation: str) -> None:
    """Take over the id of the installation whose documents were restored here. Raises OSError."""
    _write_beside(home / INSTALLATION, installation).replace(home / INSTALLATION)


def _write_beside(there: Path, text: str) -> Path:
    whole = there.with_name(f".{there.name}-{os.getpid()}")
    whole.write_text(f"{text}\n", "utf-8")
    return whole


def _write_once(there: Path, text: str) -> None:
    """Write a complete file, unless another process has just done so."""
    whole = _write_beside(there, text)
    try:
        os.link(whole, there)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        if not there.exists():
            whole.replace(there)
    finally:
        whole.unlink(missing_ok=True)


def open_to_others(place: Path) -> list[Path]:
    """Return the entries of a file or folder, itself included, that others on this machine may access."""
    return _loose(place)


def _loose(home: Path) -> list[Path]:
    """Return the loose entries. Skips links, whose modes mean nothing, and sockets, which their folder protects."""
    found = [home]
    for folder, inside, names in os.walk(home):
        found += [Path(folder, name) for name in (*inside, *names)]
    return [path for path in found if _is_loose(path)]


def _is_loose(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return bool(mode & _OTHERS) and (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
