"""A trace as a timeline that a person can follow, and its short form for ``why``."""

from datetime import UTC, datetime

from rich.console import Console
from rich.text import Text

from core.errors import NotFound
from core.events import TracedEvent
from core.narration import told
from core.ports import Journal


async def print_trace(console: Console, journal: Journal, trace_id: str) -> None:
    """Print what happened under a trace id. Raises NotFound when nothing is kept under it."""
    events = await journal.trace(trace_id) if trace_id else []
    if not events:
        raise NotFound(f"There is no trace {trace_id or 'yet'}.", remedy="Traces are kept for 14 days.")
    started = events[0].at
    when = datetime.fromtimestamp(started, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    console.print(Text(f"trace {trace_id} · {when}", style="bold"))
    for traced in events:
        console.print(_line(traced, started))


def _line(traced: TracedEvent, started: float) -> Text:
    return Text.assemble(
        (f"{traced.at - started:7.3f} s  ", "cyan"), (f"{traced.event.kind:<28}", "dim"), told(traced.event)
    )
