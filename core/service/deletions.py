"""A question was deleted, at whatever moment: before its turn, while it is worked on, over a card, after its answer.

Whoever works on it is cancelled first. Then, if anything may have been shown by now, the deletion waits in the inbox
behind the question. A worker keeps something in the message state before it shows anything, and looks if it was
cancelled after that; so one of the two always meets it.
"""

import logging

from core.model.errors import Busy
from core.model.incoming_events import Deletion, IncomingMessage
from core.model.message_records import QuestionState
from core.ports.inbox import Inbox
from core.ports.message_state import CancelReason, MessageStateStore
from core.service.delivery_codec import delivery

log = logging.getLogger(__name__)


async def take_in_deletion(message_states: MessageStateStore, inbox: Inbox, question: IncomingMessage) -> None:
    """Take in that this message is gone. Raises StoreUnavailable when it could not be kept.

    What nobody asked us, and nothing was shown for, is not kept.
    """
    thread = str(question.thread)
    await message_states.request_cancel(thread, question.id, CancelReason.DELETED)
    asked = question.mentions_us or question.direct
    if not (asked or await message_states.read(QuestionState(thread=question.thread, message=question.id))):
        return
    try:
        await inbox.put(delivery(f"{thread}:{question.id}:deleted", Deletion(question)))
    except Busy as busy:  # its writer has too many questions waiting; the call stands for an hour
        log.warning("deletion_not_kept", extra={"reason": str(busy)})
