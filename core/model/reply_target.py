"""The way back to a message: what a platform needs to find its place again, and how an answer comes to stand there.

It travels with what is put into the inbox and with jobs, so that whichever worker answers finds the place: in a thread
that it may still have to start, as a reply, or in answer to an interaction. Ids are the platform's own; where the
thread key says all of it, the target is ``IN_THREAD``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator

from core.model.json_codec import name_at_rest


class ReplyMode(StrEnum):
    """How an answer comes to stand where it stands."""

    START = "start"  # in a thread that is started on the question
    POST = "post"  # in the place itself: a thread, a forum post, a direct message
    REPLY = "reply"  # in the channel, referring to the question
    RESPONSE = "response"  # as the answer to an interaction, for all to see
    PRIVATE = "private"  # the same, for one person's eyes
    DIRECT = "direct"  # in a direct message, although it was asked elsewhere


@dataclass(frozen=True, slots=True)
class ReplyTarget:
    """``channel`` is where the question stands; ``response`` and ``token`` are an interaction's."""

    mode: Annotated[ReplyMode, name_at_rest("manner")] = ReplyMode.POST
    channel: str = ""
    message: str = ""  # of an interaction its id
    guild: str = ""  # the server or workspace, where the channel does not say it
    asker: str = ""
    token: str = ""
    response: str = ""
    about: str = ""  # the message that the question refers to
    edited: str = ""  # when the question was edited to read as it does, in seconds since the epoch
    file: str = ""  # the address of a file that came with a command, and so hangs on no message


IN_THREAD = ReplyTarget()

_FIRST_NAMES = {"ts": "message", "user": "asker"}  # as the first version kept some


def _as_kept_first(value: Any) -> Any:
    return {_FIRST_NAMES.get(name, name): one for name, one in value.items()} if isinstance(value, Mapping) else value


KeptReplyTarget = Annotated[  # reads what every version kept, under the name that it has there
    ReplyTarget, BeforeValidator(_as_kept_first), name_at_rest("address")
]
