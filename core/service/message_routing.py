"""Whether a message in a thread is for us: mentions, direct messages and the asker's follow-ups are, chatter is not.

What another person asks in our thread may be meant for a colleague: it is answered only where that can be done well.
"""

import re
from dataclasses import dataclass

from core.model.incoming_events import MessageRoute
from core.model.text import is_question, words

LONGEST_COMMAND = 4  # words


LONGEST_AFTERTHOUGHT = 8  # words of a follow-up that is no full question: "and for enterprise"


_MUTE = re.compile(
    r"(?i)^\W*(?:please\s+)?(?:mute|be quiet|quiet|shush|stop answering|stop listening)\W*(?:please)?\W*$"
)


_UNMUTE = re.compile(r"(?i)^\W*(?:please\s+)?(?:unmute|un-mute|speak again|you can talk again)\W*(?:please)?\W*$")


_AFTERTHOUGHT = re.compile(
    r"(?i)^\W*(?:and|or|but|what about|how about|same for|in short|shorter|more simply|say that)\b"
)


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """A message as a platform hears it. ``text`` is without the mention of us."""

    text: str
    mentions_us: bool = False
    direct: bool = False  # a direct message, or a place made for asking
    mentions_others: bool = False
    in_our_thread: bool = False  # we have answered here before
    by_our_asker: bool = False  # of someone we have answered here
    muted: bool = False
    answers_checkpoint: bool = False


def route_message(heard: MessageFacts) -> MessageRoute:
    """What to do with a message. Muting needs no mention in our own thread; being spoken to by name always works."""
    spoken_to = heard.mentions_us or heard.direct
    if (spoken_to or heard.in_our_thread) and len(words(heard.text)) <= LONGEST_COMMAND:
        if _UNMUTE.match(heard.text):
            return MessageRoute.UNMUTE
        if _MUTE.match(heard.text):
            return MessageRoute.MUTE
    return MessageRoute.ANSWER if spoken_to else _route_unaddressed(heard)


def _route_unaddressed(heard: MessageFacts) -> MessageRoute:
    """What to do with a message that names nobody: the asker goes on with our conversation, others may not mean us."""
    if heard.muted or not heard.in_our_thread or heard.mentions_others:
        return MessageRoute.KEEP_QUIET
    afterthought = _AFTERTHOUGHT.match(heard.text) and len(words(heard.text)) <= LONGEST_AFTERTHOUGHT
    asks = is_question(heard.text)
    if heard.answers_checkpoint or (heard.by_our_asker and (asks or afterthought)):
        return MessageRoute.ANSWER
    return MessageRoute.ANSWER_IF_CERTAIN if asks else MessageRoute.KEEP_QUIET
