"""Whether a message is for us: mentions, direct messages and the asker's follow-ups are, chatter is not.

What another person asks in our thread may be meant for a colleague, and so may what is asked in a channel at large: it
is answered only where that can be done well, and in a channel only where an admin wants that.
"""

import re
from dataclasses import dataclass

from core.model.channel_settings import LEAST_CONFIDENCE, ChannelSettings
from core.model.incoming_events import IncomingMessage, MessageRoute
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


# Of the asker, to us: a correction, an objection, a wish for more. They ask nothing by their form.
_GOES_BACK = re.compile(
    r"(?i)^\W*(?:(?:no|nope|sorry|wait|actually|hm+|but|ok(?:ay)?)[\s,.!–—-]+)*"
    r"(?:i (?:meant|mean|was asking (?:about|for)|asked (?:about|for))\b"
    r"|(?:that|this|it|the answer|your answer)(?:['’]?s| is| was| looks| seems) (?:(?:just|simply|plain|all) )?"
    r"(?:wrong|incorrect|false|outdated|out of date|not (?:right|true|correct|helpful|what i (?:asked|meant|wanted)))\b"
    r"|(?:wrong(?: answer)?|incorrect|not what i (?:asked|meant|wanted)(?: for)?|you misunderstood(?: me)?)\W*$"
    r"|(?:some |a bit )?more(?: (?:details?|about (?:that|this|it)|please))*\W*$|(?:go on|details)(?: please)?\W*$)"
)
# "No, the monthly plan", "no, I'm in sales" may also be said to a colleague.
_PUTS_RIGHT = re.compile(
    r"(?i)^\W*(?:no|nope)\s*[,.–—-]+\s*"
    r"(?:for|on|in|the|of|with|not|(?:i['’]?m|we['’]?re|(?:i|we) (?:am|are)) (?:in|at|on|from))\b"
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
    in_channel: bool = False  # in no thread
    opens_post: bool = False  # a forum's post begins with it
    by_moderator: bool = False  # asked only of who opens a post
    answers_unasked: bool = False  # the place's settings, as the next
    answers_posts: bool = False


def route_message(heard: MessageFacts) -> MessageRoute:
    """What to do with a message. Muting needs no mention in our own thread; being spoken to by name always works."""
    spoken_to = heard.mentions_us or heard.direct
    if (spoken_to or heard.in_our_thread) and len(words(heard.text)) <= LONGEST_COMMAND:
        if _UNMUTE.match(heard.text):
            return MessageRoute.UNMUTE
        if _MUTE.match(heard.text):
            return MessageRoute.MUTE
    return MessageRoute.ANSWER if spoken_to else _route_unaddressed(heard)


def could_be_answered(message: IncomingMessage, settings: ChannelSettings) -> bool:
    """Whether a message that begins a conversation without naming us may be answered where these settings apply.

    For platforms, which hear all that is said: what cannot be for us is not put in line. Its writer's rights are looked
    at later.
    """
    facts = MessageFacts(
        text=message.text,
        mentions_others=message.mentions_others,
        in_channel=message.in_channel,
        opens_post=message.opens_post,
        answers_unasked=settings.answers_unasked,
        answers_posts=settings.forum_posts,
    )
    return _route_unaddressed(facts) is not MessageRoute.KEEP_QUIET


ANYWHERE = ChannelSettings(auto_answer=LEAST_CONFIDENCE, forum_posts=True)  # where all is answered that ever is


def _route_unaddressed(heard: MessageFacts) -> MessageRoute:
    """What to do with a message that names nobody: the asker goes on with our conversation, others may not mean us."""
    if heard.muted or heard.mentions_others:
        return MessageRoute.KEEP_QUIET
    if heard.opens_post and heard.answers_posts:
        return MessageRoute.KEEP_QUIET if heard.by_moderator else MessageRoute.ANSWER
    if heard.in_channel or heard.opens_post:
        wanted = heard.answers_unasked and is_question(heard.text)
        return MessageRoute.ANSWER_IF_CERTAIN if wanted else MessageRoute.KEEP_QUIET
    if not heard.in_our_thread:
        return MessageRoute.KEEP_QUIET
    short = len(words(heard.text)) <= LONGEST_AFTERTHOUGHT
    goes_on = (short and _AFTERTHOUGHT.match(heard.text)) or _GOES_BACK.match(heard.text)
    asks = is_question(heard.text)
    if heard.answers_checkpoint or (heard.by_our_asker and (asks or goes_on)):
        return MessageRoute.ANSWER
    puts_right = heard.by_our_asker and short and _PUTS_RIGHT.match(heard.text)
    return MessageRoute.ANSWER_IF_CERTAIN if asks or puts_right else MessageRoute.KEEP_QUIET
