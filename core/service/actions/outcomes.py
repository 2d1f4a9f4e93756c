"""What came of an action of a person's, as data: each client says it in the words of ``wording``, or in its own way."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ThreadMuted:
    """A thread in which nothing is said any more, or, not ``muted``, in which something is said again."""

    muted: bool


@dataclass(frozen=True, slots=True)
class ThreadForgotten:
    """What was kept of a thread is gone; ``was_kept`` is whether there was anything."""

    was_kept: bool


@dataclass(frozen=True, slots=True)
class PersonForgotten:
    """Everything that a person asked is gone: so many questions."""

    questions: int


ActionOutcome = ThreadMuted | ThreadForgotten | PersonForgotten
