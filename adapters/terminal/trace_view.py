"""A trace as a timeline that a person can follow, and its short form for ``why``."""

from datetime import UTC, datetime

from rich.console import Console
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from core.model.errors import NotFound
from core.model.events import TracedEvent
from core.ports.usage import TraceStore
from core.service.explanations import describe_event

ROOM_FOR_COLUMNS = 70  # of the terminal; on a narrower one each event has lines of its own


async def print_trace(console: Console, trace_store: TraceStore, trace_id: str) -> None:
    """Print what happened under a trace id. Raises NotFound when nothing is kept under it."""
    events = await trace_store.trace(trace_id) if trace_id else []
    if not events:
        raise NotFound(f"There is no trace {trace_id or 'yet'}.", remedy="Traces are kept for 14 days.")
    started = events[0].at
    when = datetime.fromtimestamp(started, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    console.print(Text(f"trace {trace_id} · {when}", style="bold"))
    if not console.is_terminal:  # one line for one event, for whoever reads on behind a pipe
        for traced in events:
            console.print(Text("  ".join(_cells(traced, started))), soft_wrap=True)
        return
    if console.width < ROOM_FOR_COLUMNS:
        for traced in events:
            time, kind, what = _cells(traced, started)
            console.print(Text.assemble((time.strip(), "cyan"), "  ", (kind.strip(), "dim")))
            console.print(Padding(Text(what), (0, 0, 0, 2)))
        return
    times, kinds = Column(style="cyan", no_wrap=True), Column(style="dim", no_wrap=True)
    lines = Table(times, kinds, Column(ratio=1), box=None, show_header=False, padding=(0, 2, 0, 0))
    for traced in events:
        lines.add_row(*(Text(cell) for cell in _cells(traced, started)))
    console.print(lines)


def _cells(traced: TracedEvent, started: float) -> tuple[str, str, str]:
    """When, which kind, and what it was."""
    return f"{traced.at - started:7.3f} s", f"{traced.event.kind:<26}", describe_event(traced.event)
