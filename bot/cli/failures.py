"""The message for unexpected errors: one line without secrets, and where it happened.

A ``FootnoteError`` has its own message. With LOG_LEVEL=debug the whole traceback comes before the line.
"""

import re
import traceback
from pathlib import Path

from adapters.observability.logs import Redaction
from bot.settings import load_settings
from core.model.errors import FootnoteError, first_of_ours

HOUSE = Path(__file__).parents[2]
_NUMBER = r"^\[Errno -?\d+\] "


def explain_failure(error: Exception) -> str:
    """Return the text for standard error, ending in a line break."""
    found = first_of_ours(error) if isinstance(error, ExceptionGroup) else error
    if isinstance(found, FootnoteError):
        return f"{found}\n"
    try:
        settings = load_settings()
    except FootnoteError:
        return Redaction().clean(f"{_line(error)}\n")
    whole = "".join(traceback.format_exception(error)) if settings.log_level == "debug" else ""
    return Redaction(settings.secrets()).clean(f"{whole}{_line(error)}\n")


def _line(error: Exception) -> str:
    """Return one line about the innermost error: the system's message for a file, otherwise its place in our code."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}." if error.filename else f"{re.sub(_NUMBER, '', str(error))}."
    said = " ".join(str(error).split())[:300]
    what = f"{type(error).__name__}{f': {said}' if said else ''}"
    return (
        f"Footnote failed unexpectedly: {what} ({_place(error)}). Run it again with LOG_LEVEL=debug to see the details."
    )


def _place(error: Exception) -> str:
    """Return the file and line of our own code that was nearest to the failure."""
    nearest = "nowhere"
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename)
        if path.is_relative_to(HOUSE) and ".venv" not in path.parts:
            nearest = f"{path.relative_to(HOUSE)}:{frame.lineno}"
    return nearest
