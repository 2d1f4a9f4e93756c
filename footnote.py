"""Where the command ``footnote`` begins: says so when another package has the names of our folders.

It imports nothing of ours before it knows that it is ours: in a shared environment ``bot``, ``core`` or ``adapters``
may be somebody else's, and a traceback of theirs would help nobody.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

FOLDERS = ("bot", "core", "adapters")
REMEDY = "Install Footnote into an environment of its own: pipx install, uv tool install, or a new venv."


def main() -> None:
    """Run the command line; Ctrl-C before it has begun is one line as well, and 130 as shells have it."""
    try:
        _run_ours()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(130)


def _run_ours() -> None:
    """Run the command line, or leave with 1 and one line when it cannot be ours."""
    for name in FOLDERS:
        if other := _other_place(name):
            _leave(f"Another package is called {name!r} here, and Python finds it before Footnote's: {other}.")
    try:
        from bot.__main__ import main as run
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in FOLDERS:
            raise
        _leave(f"Another package wrote into the folder {(error.name or '').partition('.')[0]!r} of Footnote: {error}.")
    run()


def _other_place(name: str) -> str:
    """Where a package of this name lies that is not ours; empty where it is ours."""
    spec = find_spec(name)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    ours = Path(__file__).resolve().parent / name
    if spec is None or any(Path(place).resolve() == ours for place in places[:1]):
        return ""
    return places[0] if places else str(spec.origin)


def _leave(reason: str) -> NoReturn:
    sys.stderr.write(f"{reason} {REMEDY}\n")
    sys.exit(1)


if __name__ == "__main__":
    main()
