"""The answer that a button stands below: a button names a trace and nothing else."""

import asyncio

from adapters.discord.inbound.interaction_responses import LOOK_UP_SECONDS
from adapters.discord.outbound.answer_index import AnsweredQuestion, AnswerIndex
from core.model.errors import NotFound
from core.service.actions.wording import GONE


async def find_answer(index: AnswerIndex, trace_id: str, gone: str = GONE) -> AnsweredQuestion:
    """Where this trace's answer is shown. Raises NotFound, in these words, and TimeoutError."""
    async with asyncio.timeout(LOOK_UP_SECONDS):
        shown = await index.find(trace_id)
    if shown is None:
        raise NotFound(gone)
    return shown
