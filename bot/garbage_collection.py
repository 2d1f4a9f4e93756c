"""Tuning of the cyclic garbage collector for a model's library, whose million objects live as long as the process.

https://docs.python.org/3/library/gc.html#gc.freeze
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector while the models load.

    Collections find nothing there, and scanning newly imported objects again and again takes a sixth of the CPU time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def freeze_loaded_objects() -> None:
    """Exclude all loaded objects from collections, in a process that only serves or answers.

    With the encoder's library loaded, a full collection blocks the event loop for a third of a second. For the objects
    of questions alone it takes some milliseconds.
    """
    gc.freeze()
