"""Several commands of ``footnote`` in one process, for preparing data: each process of its own imports for seconds.

``python -m tests.several_commands JSON``, with a list of commands, each a list of words. Words that look like
``NAME=value`` before a command set the environment from there on.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PATIENCE = 400.0  # seconds


class Printed(NamedTuple):
    """What a command printed on its two streams."""

    out: str
    err: str


def run_commands(
    commands: Sequence[Sequence[str]], env: Mapping[str, str], *, prefix: Sequence[str] = ()
) -> list[Printed]:
    """Return what each command printed. Fails the test if one of them does not exit with 0."""
    command = [*prefix, sys.executable, "-m", "tests.several_commands", json.dumps(commands)]
    done = subprocess.run(command, env={**env}, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return [Printed(*each) for each in json.loads(done.stdout)]


def main(commands: list[list[str]]) -> None:
    """Print what each command printed, or exit with the code of the first that fails."""
    from bot.__main__ import app

    printed = []
    for words in commands:
        while words and "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            os.environ[name] = value
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code: Any = app(words, prog_name="footnote", standalone_mode=False)
        printed.append((out.getvalue(), err.getvalue()))
        if code:
            sys.stderr.write(f"{words} ended with {code}: {printed[-1]}\n")
            sys.exit(code)
    sys.stdout.write(json.dumps(printed))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
