"""A conversation in the terminal, with the same presenter as on every platform."""

import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from adapters.terminal.answer_view import TerminalAnswerView, print_trace
from adapters.terminal.operator import OPERATOR, terminal_thread
from core.model.answer import Answer
from core.model.conversation import Audience
from core.model.errors import FootnoteError
from core.model.events import AgentCompleted, AgentEvent, CheckpointReached
from core.model.inquiry import AnswerPolicy, Checkpoint, Choice
from core.model.message_text import too_long
from core.ports.catalog import Catalog
from core.ports.usage import TraceStore
from core.service.event_presenter import EventPresenter
from core.service.explanations import explanation_steps
from core.service.question_service import Question, QuestionService
from core.service.visibility import VisibleBases

HELP = """\
Ask a question, then follow up as you would with a colleague.
  /sources     what is indexed here
  /quote 2     the exact passage behind [2] of the last answer
  /why         how the last answer came about, in short
  /trace       what happened, step by step; /trace ID for an earlier one
  /new         a new conversation
  /quit        leave (Ctrl-D does too; Ctrl-C stops an answer)"""
_LIKE_A_CHOICE = 2  # digits; a longer number is a message


@dataclass(slots=True)
class Chat:
    """One person at the terminal, in one thread at a time."""

    console: Console
    question_service: QuestionService
    trace_store: TraceStore
    catalog: Catalog
    policy: AnswerPolicy
    bases: frozenset[str] | None = None
    thread: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    _last: Answer | None = None
    _trace: str = ""
    _open: Checkpoint | None = None

    async def say(self, text: str) -> bool:
        """Handle one line: a command, a choice's number, or a message. Return False when the person leaves."""
        text = text.strip()
        if not text:
            return True
        if text.startswith("/"):
            return await self._command(text)
        if text.rstrip("?").casefold() == "why" and self._trace:
            return await self._command("/why")
        if await (self._chose(text, self._open) if self._open is not None else self._chose_nothing(text)):
            return True
        if refusal := too_long(text):
            self.console.print(Text(refusal, style="red"))
            return True
        await self._show(self.question_service.ask(self._question(text)))
        return True

    async def _chose(self, text: str, checkpoint: Checkpoint) -> bool:
        """Press the choice that the line names. Return whether the line was a choice, or the number of none."""
        choice = checkpoint.choice(text)
        if choice is not None and not choice.asks_text:
            await self.press(choice)
            return True
        if choice is None and _is_like_a_choice(text):
            told = f"There is no choice {text}. Enter 1 to {len(checkpoint.choices)}."
            self.console.print(Text(told, style="red"))
            return True
        return False

    async def _chose_nothing(self, text: str) -> bool:
        """Return whether the line is a choice's number although there is no open choice, and say so."""
        if _is_like_a_choice(text):
            self.console.print(Text("There is no choice to make right now. Ask a question.", style="red"))
        return _is_like_a_choice(text)

    async def press(self, choice: Choice, text: str = "") -> None:
        """Press a choice of the open checkpoint."""
        if self._open is not None:
            checkpoint, self._open = self._open, None
            await self._show(
                self.question_service.choose(
                    checkpoint.id, choice, OPERATOR, text=text, audience=Audience(unrestricted=True), is_admin=True
                )
            )

    @property
    def open_checkpoint(self) -> Checkpoint | None:
        """The checkpoint that waits for this person's choice."""
        return self._open

    def _question(self, text: str) -> Question:
        key, audience = terminal_thread(self.thread), Audience(unrestricted=True)
        return Question(text, key, OPERATOR, audience, self.policy, self.bases)

    async def _show(self, events: AsyncGenerator[AgentEvent, None]) -> None:
        view = TerminalAnswerView(self.console)
        try:
            await view.open()
            async with aclosing(events) as stream:
                final = await EventPresenter(view).show(stream)
        except FootnoteError as error:
            await view.close()
            self.console.print(Text(str(error), style="red"))
            return
        finally:
            await view.close()
        self._open = final.checkpoint if isinstance(final, CheckpointReached) else None
        if isinstance(final, CheckpointReached | AgentCompleted):
            self._last = final.answer
        self._trace = await self.question_service.last_trace(terminal_thread(self.thread))
        await self.question_service.reflect(terminal_thread(self.thread), Audience(unrestricted=True))

    async def _command(self, text: str) -> bool:
        name, _, rest = text[1:].partition(" ")
        match name.casefold():
            case "quit" | "exit" | "q":
                return False
            case "new":
                told = (
                    f"A new conversation. The earlier one is kept; footnote forget --thread {self.thread} forgets it."
                )
                self.thread, self._last, self._open, self._trace = uuid.uuid4().hex[:8], None, None, ""
                self.console.print(Text(told, style="dim"))
            case "sources":
                await self._sources()
            case "quote":
                self._quote(rest.strip())
            case "why":
                await self._why()
            case "trace":
                await print_trace(self.console, self.trace_store, rest.strip() or self._trace)
            case "help" | "?":
                self.console.print(HELP)
            case _:
                self.console.print(Text(f"There is no command /{name}. /help lists them.", style="red"))
        return True

    async def _why(self) -> None:
        events = await self.trace_store.trace(self._trace) if self._trace else []
        lines = "\n".join(f"• {step}" for step in explanation_steps(events))
        told = lines if events else "There is no answer to explain yet."
        self.console.print(Padding(Text(told), (0, 0, 0, 2)))

    async def _sources(self) -> None:
        bases = await VisibleBases(self.catalog).names(Audience(unrestricted=True), self.bases)
        documents = await self.catalog.documents(bases)
        for document in documents:
            line = Text.assemble((document.title, "bold"), (f"  {document.source}", "dim"))
            passages = "1 passage" if document.passages == 1 else f"{document.passages} passages"
            line.append(f"  {passages}" + (f" · {document.dated}" if document.dated else ""), style="dim")
            self.console.print(Padding(line, (0, 0, 0, 2)))
        self.console.print(Text(f"{len(documents)} documents.", style="dim"))

    def _quote(self, wanted: str) -> None:
        sources = self._last.citations if self._last else ()
        named = wanted.strip("[]") or (str(sources[0].n) if len(sources) == 1 else "")
        source = next((source for source in sources if str(source.n) == named), None)
        if source is None:
            numbers = ", ".join(str(source.n) for source in sources) or "none"
            self.console.print(Text(f"The last answer has no source {wanted or '…'}; it has: {numbers}.", style="red"))
            return
        self.console.print(Padding(Text(f"“{source.quote}”", style="italic"), (0, 0, 0, 2)))
        self.console.print(
            Padding(
                Text(" · ".join(filter(None, (source.title, source.locator, source.dated))), style="dim"), (0, 0, 0, 2)
            )
        )


def _is_like_a_choice(text: str) -> bool:
    return text.isdecimal() and len(text) <= _LIKE_A_CHOICE
