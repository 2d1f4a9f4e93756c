"""The cyclic garbage collector beside a model's library: a million objects that stay for as long as the process.

https://docs.python.org/3/library/gc.html#gc.freeze
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """No collections while the models load.

    They find nothing there, and walking again and again what was just imported takes a sixth of the processor's time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def freeze_loaded_objects() -> None:
    """Keep the collector from walking what is loaded by now, in a process that does nothing but serve or answer.

    With the encoder's library loaded, a full collection takes a third of a second on the event loop's thread; of what
    comes and goes with questions alone, some milliseconds.
    """
    gc.freeze()
