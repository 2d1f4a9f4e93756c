"""Signals that end a command: Ctrl-C, a service manager's SIGTERM, and SIGHUP of a closed terminal.

For each of them, a command closes what it has open (an embedded Redis, an embedded Milvus).
"""

import signal


def ending_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that end this process. nohup ignores SIGHUP, and that stays so."""
    every = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return tuple(one for one in every if signal.getsignal(one) is not signal.SIG_IGN)


def interrupt_on_ending_signals() -> None:
    """Handle SIGTERM and SIGHUP like Ctrl-C: asyncio cancels the command, which then closes everything."""
    for one in ending_signals():
        if one is not signal.SIGINT:
            signal.signal(one, _interrupt)


def _interrupt(*_: object) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started with & in a script: ignore Ctrl-C, but obey SIGTERM
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)
