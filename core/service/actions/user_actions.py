"""What people can do beside asking, the same on every platform: one service for each thing, handed over together.

Each right is checked in the service it belongs to, and what was refused is on record. Who someone is and what they may
see is the platform's to say: it passes the audience, and who is an admin, looked up on its own server side, never taken
from a button.
"""

from dataclasses import dataclass

from core.model.channel_settings import ChannelSettings
from core.ports.audit import Audit
from core.ports.catalog import Catalog
from core.ports.channel_settings import ChannelSettingsStore
from core.ports.checkpoints import Checkpoints
from core.ports.feedback import FeedbackStore
from core.ports.inbox import Inbox
from core.ports.memory import Memory
from core.ports.message_state import MessageStateStore
from core.ports.trace_store import TraceStore
from core.service.actions.cancellation import QuestionCancellation
from core.service.actions.checkpoint_choices import CheckpointChoices
from core.service.actions.follow_up_requests import FollowUpRequests
from core.service.actions.handoff import AnswerHandoff
from core.service.actions.kept_answers import KeptAnswers
from core.service.actions.late_edits import LateEdits
from core.service.actions.memory_controls import MemoryControls
from core.service.actions.overview import InstallationOverview
from core.service.actions.presses import AnswerPresses
from core.service.actions.ratings import AnswerRatings
from core.service.actions.shares import AnswerSharing
from core.service.channel_settings import SettingsService
from core.service.visible_bases import VisibleBases


@dataclass(frozen=True, slots=True)
class UserActions:
    """Everything that people can do beside asking."""

    choices: CheckpointChoices
    cancellation: QuestionCancellation
    answers: KeptAnswers
    follow_ups: FollowUpRequests
    late_edits: LateEdits
    ratings: AnswerRatings
    handoff: AnswerHandoff
    sharing: AnswerSharing
    presses: AnswerPresses
    memory: MemoryControls
    settings: SettingsService
    bases: VisibleBases
    overview: InstallationOverview
    audit: Audit

    @classmethod
    def build(
        cls,
        *,
        memory: Memory,
        trace_store: TraceStore,
        catalog: Catalog,
        feedback: FeedbackStore,
        settings_store: ChannelSettingsStore,
        audit: Audit,
        inbox: Inbox,
        message_states: MessageStateStore,
        checkpoints: Checkpoints,
        defaults: ChannelSettings,
    ) -> "UserActions":
        """All of them, over these stores; ``defaults`` are the settings of places where nothing was chosen."""
        bases = VisibleBases(catalog)
        answers = KeptAnswers(memory, trace_store, bases)
        ratings = AnswerRatings(answers, feedback, trace_store)
        handoff = AnswerHandoff(answers, message_states)
        sharing = AnswerSharing(answers, message_states, audit)
        return cls(
            choices=CheckpointChoices(checkpoints, message_states, inbox, audit),
            cancellation=QuestionCancellation(message_states, audit),
            answers=answers,
            follow_ups=FollowUpRequests(answers, trace_store, message_states),
            late_edits=LateEdits(message_states),
            ratings=ratings,
            handoff=handoff,
            sharing=sharing,
            presses=AnswerPresses(answers, ratings, handoff, sharing),
            memory=MemoryControls(memory, audit),
            settings=SettingsService(settings_store, catalog, audit, defaults),
            bases=bases,
            overview=InstallationOverview(bases, inbox, trace_store),
            audit=audit,
        )
