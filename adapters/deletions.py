"""A question was deleted, at whatever moment: before its turn, while it is worked on, over a card, after its answer.

Whoever works on it is called off first. Then, if anything may have been shown by now, the deletion waits in the inbox
behind the question. A worker keeps something in the posting before it shows anything, and looks whether it was called
off after that; so one of the two always meets it.
"""

import structlog

from adapters.incoming import Deletion, IncomingMessage, delivery
from core.errors import Busy
from core.ports import Inbox, Postings

log = structlog.get_logger(__name__)


async def take_in_deletion(postings: Postings, inbox: Inbox, question: IncomingMessage) -> None:
    """Take in that this message is gone. Raises StoreUnavailable when it could not be kept.

    What nobody asked us, and nothing was shown for, is not kept.
    """
    thread = str(question.thread)
    await postings.call_off(thread, question.id, "deleted")
    asked = question.mentions_us or question.direct
    if not (asked or await postings.read(thread, question.id)):
        return
    try:
        await inbox.put(delivery(f"{thread}:{question.id}:deleted", Deletion(question)))
    except Busy as busy:  # its writer has too many questions waiting; the call stands for an hour
        log.warning("deletion_not_kept", reason=str(busy))
