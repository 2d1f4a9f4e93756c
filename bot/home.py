"""The data directory is for its owner alone: what everybody asked, and every document, lies in it as it is."""

import os
import stat
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def secure_home(home: Path) -> int:
    """Make the directory, or tighten what others may do in an existing one; how many entries were open to others.

    From here on this process, and the stores that it starts, create every file for their owner alone.
    Entries of other owners stay as they are: ``open_to_others`` finds them. Raises OSError when there can be none.
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


def open_to_others(place: Path) -> list[Path]:
    """What of a file or folder, itself included, somebody else on this machine may read, write or enter."""
    return _loose(place)


def _loose(home: Path) -> list[Path]:
    """Links are left out: their own modes mean nothing. Sockets too: who may enter the folder decides."""
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
