"""The signals that end a command: Ctrl-C, a service manager's SIGTERM, and the SIGHUP of a terminal that is closed.

What a command has open (an embedded Redis, an embedded Milvus) is closed on its way out, whichever of them came.
"""

import signal


def ending_signals() -> tuple[signal.Signals, ...]:
    """Those that end us here: nohup has SIGHUP ignored, and that is left so."""
    every = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return tuple(one for one in every if signal.getsignal(one) is not signal.SIG_IGN)


def interrupt_on_ending_signals() -> None:
    """Take SIGTERM and SIGHUP as Ctrl-C: asyncio then cancels the command, and everything is closed on the way out."""
    for one in ending_signals():
        if one is not signal.SIGINT:
            signal.signal(one, _interrupt)


def _interrupt(*_: object) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # behind & in a script: Ctrl-C is not for us, SIGTERM is
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)
