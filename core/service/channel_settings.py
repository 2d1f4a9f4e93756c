"""Settings of places: which apply, who may change them, which values are allowed, and the audit of changes.

A platform shows them as a form or as menus, and returns the chosen values.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from core.model.channel_settings import (
    LONGEST_INSTRUCTIONS,
    NEVER,
    THRESHOLDS,
    ChannelSettings,
    ChosenSettings,
    Confidence,
    ReplyStyle,
    channel_settings,
)
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import Denied
from core.model.incoming_events import IncomingMessage
from core.model.inquiry import PROFILE_LIMITS, CheckpointKind
from core.model.plain_text import remove_controls
from core.model.profile import Behaviour, Profile
from core.ports.access import Audit
from core.ports.catalog import Catalog
from core.ports.platform import ChannelSettingsStore
from core.service.visibility import VisibleBases


class AnswerVisibility(StrEnum):
    """Who sees an answer."""

    PLACE = "place"  # anyone who reads where it was asked
    ASKER = "asker"  # the asker alone, of all who read there; the asker may share it
    DIRECT = "direct"  # the asker alone, because nobody else reads there; it cannot be shared

    @property
    def for_asker_alone(self) -> bool:
        """Whether only the asker sees the answer, so that nobody else may learn how it came about."""
        return self is not AnswerVisibility.PLACE


def answer_visibility(
    settings: ChannelSettings | None, *, direct: bool, private: bool | None = None
) -> AnswerVisibility:
    """Return who sees an answer. ``settings`` None means unknown in time: then only the asker.

    ``direct``: nobody else reads there. ``private``: what the asker chose, or what was decided when the question
    arrived. None means neither, so the place's settings decide.
    """
    if direct:
        return AnswerVisibility.DIRECT
    as_the_place_has_it = settings is None or settings.answers_privately
    alone = as_the_place_has_it if private is None else private
    return AnswerVisibility.ASKER if alone else AnswerVisibility.PLACE


def visibility_of(message: IncomingMessage, settings: ChannelSettings) -> AnswerVisibility:
    """Return who sees the answer: as decided when the question arrived, otherwise by the place's settings now."""
    return answer_visibility(settings, direct=message.direct, private=message.private or None)


ONLY_ADMINS = "Only an admin can change the settings here."
LONGEST_LANGUAGE = 40  # characters
LONGEST_HANDOFF = 80
LONGEST_DETAIL = 500  # characters of the chosen settings in the audit

CHECKPOINT_LABELS = {  # sources come first by a setting of their own
    CheckpointKind.LONG_SEARCH: "A search takes long",
    CheckpointKind.NOTHING_RELEVANT: "Nothing relevant was found",
    CheckpointKind.CLARIFY: "The question is unclear",
}
PROFILE_LABELS = {one: f"{one.capitalize()}: at most {PROFILE_LIMITS[one].searches} searches" for one in Profile}
BEHAVIOUR_LABELS = {
    Behaviour.CONSERVATIVE: "Conservative: rather no answer than a doubtful one",
    Behaviour.BALANCED: "Balanced",
    Behaviour.THOROUGH: "Thorough: answer from weaker passages, too",
}
PROPOSALS_LABEL = "Post daily how many proposals are waiting"
STANDING_LABEL = "Tell people once, directly, when an answer they got has changed"
FOLLOW_UPS_LABEL = "Suggest follow-up questions"
INSTRUCTIONS_LABEL = "Instructions for answers here"
INSTRUCTIONS_HINT = (
    "Tone, language and length of answers. The model still follows my own rules first: answer from the documents,"
    " and cite them. A line such as “payroll, salary -> #payroll-help” adds that channel to answers about these"
    " topics. Without a model, only such lines have an effect."
)
LIMIT_LABELS = {  # by day; 0: no limit
    "person_answers": "Answers per person and day (0: no limit)",
    "channel_answers": "Answers in this channel per day (0: no limit)",
    "channel_money": "Model cost in this channel per day (0: no limit)",
}
REPLY_LABELS = {  # each platform says which of them it supports
    ReplyStyle.THREAD: "In the thread, for everyone",
    ReplyStyle.CHANNEL: "In the channel, as a reply",
    ReplyStyle.PRIVATE: "Only to the person who asks",
}
THRESHOLD_LABELS = {  # of answers to questions that do not name us, the most careful first
    NEVER: "Off: only when I am mentioned",
    THRESHOLDS[Confidence.HIGH]: "High: when I am very sure (0.9)",
    THRESHOLDS[Confidence.MEDIUM]: "Medium: when I am sure (0.8)",
    THRESHOLDS[Confidence.LOW]: "Low: when I am fairly sure (0.7)",
}


# Returns the notices that a channel with these readers and settings would have received.
Preview = Callable[[ThreadKey, Audience, ChannelSettings], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class SettingsService:
    """Reads and changes the settings of places."""

    store: ChannelSettingsStore
    catalog: Catalog
    audit: Audit
    defaults: ChannelSettings
    preview: Preview | None = None

    async def preview_notices(self, channel: ThreadKey, readers: Audience, *, before: bool) -> str:
        """Return the notices that a channel would have received, if they were just switched on; otherwise ''.

        ``before`` is whether they were on before.
        """
        now = await self.effective_settings(channel.place)
        if before or not now.standing_answers or self.preview is None:
            return ""
        return await self.preview(channel, readers, now)

    async def effective_settings(self, *places: str) -> ChannelSettings:
        """Return the settings that apply: the defaults, overridden by each of these places, the widest first."""
        return channel_settings(self.defaults, *[await self.store.read(place) for place in places])

    async def require_admin(self, person: Person, place: str, *, is_admin: bool) -> None:
        """Raise Denied, and record it, if this person is no admin there."""
        if not is_admin:
            await self.audit.record(person.id, "settings", place, allowed=False)
            raise Denied(ONLY_ADMINS)

    async def selectable_bases(self, readers: Audience) -> tuple[str, ...]:
        """Return the bases that a place can be limited to: those that all its readers may read."""
        return tuple(base.name for base in await VisibleBases(self.catalog).for_audience(readers))

    async def save(
        self, place: str, chosen: ChosenSettings, person: Person, readers: Audience, *, is_admin: bool
    ) -> ChannelSettings:
        """Replace a place's chosen settings, limited to allowed values; return the settings that now apply.

        A base that was chosen before may stay even if others now read there. Without it, the place would use all bases.
        Raises Denied if this person is no admin. Every attempt is recorded.
        """
        before = (await self.store.read(place)).bases or frozenset()
        kept = _limit_bases(chosen, before | frozenset(await self.selectable_bases(readers)))
        detail = ", ".join(f"{name}={value}" for name, value in sorted(kept.to_mapping().items()))
        await self.audit.record(person.id, "settings", place, allowed=is_admin, detail=detail[:LONGEST_DETAIL])
        if not is_admin:
            raise Denied(ONLY_ADMINS)
        await self.store.write(place, kept)
        return channel_settings(self.defaults, kept)

    async def move(self, before: str, after: str, actor: str) -> None:
        """Move a place's settings to its new id, and record it with ``actor``. Idempotent.

        Grants do not move: others may read there now, so an admin has to decide.
        """
        chosen, nothing = await self.store.read(before), ChosenSettings()
        if chosen == nothing:
            return
        await self.audit.record(actor, "move", before, allowed=True, detail=after)
        await self.store.write(after, chosen)
        await self.store.write(before, nothing)


def _limit_bases(chosen: ChosenSettings, bases: frozenset[str]) -> ChosenSettings:
    """Return the input limited to allowed values. An empty choice of bases, languages or group becomes None."""
    return replace(
        chosen,
        bases=(chosen.bases or frozenset()) & bases or None,
        languages=tuple(one.strip()[:LONGEST_LANGUAGE] for one in chosen.languages or () if one.strip()) or None,
        handoff=(chosen.handoff or "").strip()[:LONGEST_HANDOFF] or None,
        instructions=remove_controls(chosen.instructions or "").strip()[:LONGEST_INSTRUCTIONS] or None,
    )


@dataclass(frozen=True, slots=True)
class AppliedSetting:
    """One setting that applies in a place, by its stored name."""

    name: str
    value: str  # empty: none
    chosen: bool  # there, and not the default

    @property
    def text(self) -> str:
        """The setting in one line, with its origin."""
        return f"{self.name}: {self.value or 'none'} ({'chosen here' if self.chosen else 'default'})"


def explain_settings(settings: ChannelSettings, chosen: ChosenSettings) -> tuple[AppliedSetting, ...]:
    """Return the settings that apply in a place, and whether each was chosen there."""
    here = chosen.to_mapping()
    return tuple(AppliedSetting(name, value, name in here) for name, value in settings.to_mapping().items())
