"""Recall."""

from collections.abc import Sequence

from core.conversation import Turn


def recall_turns(turns: Sequence[Turn], question: str, limit: int) -> tuple[Turn, ...]:
    """Older turns that bear on a question."""
    return ()
