"""Who sees an answer: whoever reads where it was asked, or the asker alone. One rule, which every platform asks."""

from enum import StrEnum

from core.model.channel_settings import ChannelSettings
from core.model.incoming_events import IncomingMessage


class AnswerVisibility(StrEnum):
    """Who sees an answer."""

    PLACE = "place"  # whoever reads where it was asked
    ASKER = "asker"  # the asker alone, of all who read there; the asker may share it
    DIRECT = "direct"  # the asker alone, because nobody else reads there: there is nobody to share it with

    @property
    def for_asker_alone(self) -> bool:
        """Whether nobody but the asker sees the answer, and so nobody else learns how it came about."""
        return self is not AnswerVisibility.PLACE


def answer_visibility(
    settings: ChannelSettings | None, *, direct: bool, private: bool | None = None
) -> AnswerVisibility:
    """Who sees an answer in a place with these settings; None where nobody can tell in time, and then the asker alone.

    ``direct``: nobody else reads there. ``private``: what the asker chose, or what was settled when the question came
    in; None: neither, so that it is as the place has it.
    """
    if direct:
        return AnswerVisibility.DIRECT
    as_the_place_has_it = settings is None or settings.answers_privately
    alone = as_the_place_has_it if private is None else private
    return AnswerVisibility.ASKER if alone else AnswerVisibility.PLACE


def visibility_of(message: IncomingMessage, settings: ChannelSettings) -> AnswerVisibility:
    """Who sees the answer to this question: as it came in, and where that says nothing, as its place has it now."""
    return answer_visibility(settings, direct=message.direct, private=message.private or None)
