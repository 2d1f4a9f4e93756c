"""The terminal's answer view: live steps and text on a terminal, plain lines otherwise. Also prints traces."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import ClassVar

from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderableType, RenderResult
from rich.live import Live
from rich.markdown import Heading, HorizontalRule, Markdown, MarkdownElement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from core.model.answer import Answer, Citation, Outcome, Support
from core.model.errors import NotFound
from core.model.events import TracedEvent
from core.model.inquiry import Checkpoint
from core.ports.answer_view import Step, StepState
from core.ports.usage import TraceStore
from core.service.explanations import describe_event


class LeftHeading(Heading):
    """A left-aligned heading, because the output of a pipe has no middle."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class ShortRule(HorizontalRule):
    """A rule that is as short in a pipe as on the narrowest screen."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw three dashes."""
        yield Text("───", style=console.get_style("markdown.hr", default="none"))


class AnswerMarkdown(Markdown):
    """Markdown in the form of answers."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": LeftHeading,
        "hr": ShortRule,
    }


REFRESH = 12  # times a second


@dataclass(slots=True)
class TerminalAnswerView:
    """View of one answer. On a terminal it is live, and the timeline disappears once the answer is complete."""

    console: Console
    _steps: dict[str, Step] = field(default_factory=dict)
    _text: str = ""
    _live: Live | None = None

    async def open(self) -> None:
        """Show that the question was received."""
        if self.console.is_terminal:
            self._live = Live(
                self._picture(), console=self.console, transient=True, refresh_per_second=REFRESH, auto_refresh=False
            )
            self._live.start()
            await self._refresh()

    async def step(self, step: Step) -> None:
        """Show or replace a line of the timeline."""
        self._steps[step.id] = step
        if self._live is None and step.state is StepState.DONE:
            self.console.print(_line(step))
        await self._refresh()

    async def write(self, text: str) -> None:
        """Show more of the answer, on a terminal."""
        self._text += text
        await self._refresh()

    async def rewrite(self, reason: str) -> None:
        """Begin the text again."""
        self._text = ""
        await self.notice(reason)

    async def notice(self, text: str) -> None:
        """Print a notice next to the answer."""
        self.console.print(Text(text, style="italic yellow"))

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """Print the final text, its sources, and its cost."""
        self._close()
        if self._live is not None:
            for step in self._steps.values():
                self.console.print(_line(step))
        self.console.print(Padding(AnswerMarkdown(answer.text), (1, 0, 0, 0)))
        if answer.citations:
            self.console.print()
            for source in answer.citations:
                self.console.print(Padding(_source(source), (0, 0, 0, 2)))
        for notice in answer.notices:
            self.console.print(Text(notice, style="italic yellow"))
        for suggested in answer.follow_ups:
            self.console.print(Text.assemble(("You could ask: ", "dim"), suggested.question))
        self.console.print(Text(_cost(answer, trace_id), style="dim"))

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """Print a checkpoint: what was found, what is missing, and the choices by number."""
        self._close()
        self.console.print(Padding(AnswerMarkdown(checkpoint.message), (1, 0, 0, 0)))
        for source in answer.citations:
            self.console.print(Padding(_source(source), (0, 0, 0, 2)))
            self.console.print(Padding(Text(f"“{source.quote}”", style="italic"), (0, 0, 0, 6)))
        for number, choice in enumerate(checkpoint.choices, 1):
            more = " …" if choice.asks_text else ""
            self.console.print(Text.assemble((f"  {number} ", "bold cyan"), f"{choice.label}{more}"))
        self.console.print(Text(f"checkpoint {checkpoint.id} · {_cost(answer, trace_id)}", style="dim"))

    async def fail(self, message: str, trace_id: str) -> None:
        """Print the error."""
        self._close()
        self.console.print(Text(message, style="red"))
        self.console.print(Text(f"footnote trace {trace_id} has the details.", style="dim"))

    async def close(self) -> None:
        """Restore the terminal in any case."""
        self._close()

    def _close(self) -> None:
        if self._live is not None:
            self._live.stop()

    async def _refresh(self) -> None:
        if self._live is not None and self._live.is_started:
            self._live.update(self._picture(), refresh=True)
            await asyncio.sleep(0)

    def _picture(self) -> RenderableType:
        lines: list[RenderableType] = [_line(step) for step in self._steps.values()]
        if self._text:
            lines.append(Padding(AnswerMarkdown(self._text), (1, 0, 0, 0)))
        elif not lines:
            lines.append(Text("…", style="dim"))
        return Group(*lines)


def _line(step: Step) -> Text:
    mark = "·" if step.state is StepState.RUNNING else "✓"
    return Text.assemble((f"{mark} {step.title}", "dim"), (f"  {step.detail}" if step.detail else "", "dim italic"))


def _source(source: Citation) -> Text:
    where = f" · {source.locator}" if source.locator else ""
    dated = f" · {source.dated}" if source.dated else ""
    link = source.url or source.document
    return Text.assemble((f"[{source.n}] ", "bold cyan"), (source.title, "bold"), where, (f"{dated} · {link}", "dim"))


def _cost(answer: Answer, trace_id: str) -> str:
    spent = answer.spent
    parts = [f"{spent.searches} search{'' if spent.searches == 1 else 'es'}", f"{spent.seconds:.1f} s"]
    if spent.calls:
        parts.append(f"{spent.calls} model calls, {spent.tokens:,} tokens")
    if answer.verdict is not None and answer.outcome is Outcome.ANSWERED:
        held = sum(claim.support is Support.SUPPORTED for claim in answer.verdict.claims)
        parts.append(f"{held} of {len(answer.verdict.claims)} sentences checked against their source")
    return " · ".join([*parts, f"trace {trace_id}"])


ROOM_FOR_COLUMNS = 70  # columns; on a narrower terminal each event has its own lines


async def print_trace(console: Console, trace_store: TraceStore, trace_id: str) -> None:
    """Print the events of a trace. Raises NotFound if none are stored."""
    events = await trace_store.trace(trace_id) if trace_id else []
    if not events:
        raise NotFound(f"There is no trace {trace_id or 'yet'}.", remedy="Traces are kept for 14 days.")
    started = events[0].at
    when = datetime.fromtimestamp(started, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    console.print(Text(f"trace {trace_id} · {when}", style="bold"))
    if not console.is_terminal:  # one line per event, for programs that read the pipe
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
    """Return the time, kind and description of an event."""
    return f"{traced.at - started:7.3f} s", f"{traced.event.kind:<26}", describe_event(traced.event)
