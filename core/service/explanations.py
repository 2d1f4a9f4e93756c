"""How an answer came about, for those who may read what it is made of: *Why*, ``/footnote why`` and a plain "why".

What is shown is the last answer of a thread, or the one of a trace.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from core.model.conversation import ThreadKey
from core.model.errors import NotFound
from core.model.event_text import explanation_steps
from core.ports.memory import Memory
from core.ports.trace_store import TraceStore

NOTHING_ANSWERED = "There is no answer of mine here that I can explain."
NO_TRACE = "I no longer have the steps of that answer."
_WHY = re.compile(r"(?i)^\W*(?:please\s+)?why\W*(?:please)?\W*$")


def asks_why(text: str) -> bool:
    """Whether somebody who speaks to us asks how the last answer came about: a "why" alone. ``text`` names us not."""
    return _WHY.match(text) is not None


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the answer of a trace came about: a sentence for each step."""

    question: str
    steps: tuple[str, ...]
    trace_id: str


async def explain_answer(
    memory: Memory,
    trace_store: TraceStore,
    thread: ThreadKey,
    visible: Collection[str],
    *,
    trace_id: str = "",
    asker: str = "",
) -> Explanation:
    """How an answer came about: of this trace, else of the last one in the thread that may be read.

    ``visible`` are the names of the bases that whoever is told may read. With an ``asker`` only what this person asked
    counts: where answers are for their asker alone. Raises NotFound where there is none, or its trace is gone.
    """
    readable = [
        turn
        for turn in (await memory.recall(thread)).turns
        if turn.readable_by(frozenset(visible)) and trace_id in {"", turn.trace_id} and asker in {"", turn.asker.id}
    ]
    if not readable:
        raise NotFound(NOTHING_ANSWERED)
    last = readable[-1]
    steps = explanation_steps(await trace_store.trace(last.trace_id))
    if not steps:
        raise NotFound(NO_TRACE)
    return Explanation(last.question, steps, last.trace_id)
