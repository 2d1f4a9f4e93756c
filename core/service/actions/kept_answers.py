"""Reading an answer again, as far as the reader may: the turn itself, its quotes, and how it came about."""

from dataclasses import dataclass

from core.model.answer import Citation
from core.model.conversation import Audience, ThreadKey, Turn
from core.model.errors import NotFound
from core.ports.memory import Memory
from core.ports.trace_store import TraceStore
from core.service.actions.wording import GONE
from core.service.explanations import Explanation, explain_answer
from core.service.visible_bases import VisibleBases


@dataclass(frozen=True, slots=True)
class Quotes:
    """The exact passages behind one answer that this reader may see; ``withheld`` counts those that they may not."""

    question: str
    citations: tuple[Citation, ...]
    withheld: int = 0


@dataclass(frozen=True, slots=True)
class KeptAnswers:
    """The answers that are still in memory."""

    memory: Memory
    trace_store: TraceStore
    bases: VisibleBases

    async def find(self, thread: ThreadKey, trace_id: str) -> Turn:
        """A turn of this thread, whoever asks: for who acts on it and is shown none of it. Raises NotFound."""
        for turn in (await self.memory.recall(thread)).turns:
            if turn.trace_id == trace_id:
                return turn
        raise NotFound(GONE)

    async def read(self, thread: ThreadKey, trace_id: str, audience: Audience) -> Turn:
        """A turn of this thread. Raises NotFound when it is gone or carries words this audience may not read."""
        turn = await self.find(thread, trace_id)
        if not turn.readable_by(await self.bases.names(audience)):
            raise NotFound(GONE)
        return turn

    async def quotes(self, thread: ThreadKey, trace_id: str, audience: Audience) -> Quotes:
        """The passages behind an answer, as far as this reader may see their bases now. Raises NotFound."""
        turn, visible = await self.find(thread, trace_id), await self.bases.names(audience)
        shown = tuple(source for source in turn.citations if source.knowledge_base in visible)
        return Quotes(turn.question, shown, len(turn.citations) - len(shown))

    async def explain(
        self, thread: ThreadKey, audience: Audience, trace_id: str = "", *, asker: str = ""
    ) -> Explanation:
        """How an answer came about, as ``explain_answer`` tells it to this audience. Raises NotFound."""
        visible = await self.bases.names(audience)
        return await explain_answer(self.memory, self.trace_store, thread, visible, trace_id=trace_id, asker=asker)
