"""Automatic messages: weekly gaps in the documents, daily waiting proposals, and changed answers."""

from bot.container import Footnote
from bot.plugins import principal_forms
from core.model.conversation import ThreadKey
from core.model.errors import ConfigurationError
from core.model.principals import Principal, PrincipalKind
from core.ports.platform import Announcements, PersonalNotices
from core.service.gaps.digest import GapDigest
from core.service.kb.proposal_digest import ProposalDigest
from core.service.standing_answers.service import StandingAnswers


def gap_digest(footnote: Footnote) -> GapDigest | None:
    """Return the weekly digest for the channel of GAPS_DIGEST; None if none is set. Raises ConfigurationError."""
    channel = digest_channel(footnote.settings.gaps_digest)
    if channel is None:
        return None

    def announcements() -> Announcements | None:
        return _announcements(footnote, channel.platform)

    return GapDigest(footnote.gaps(), footnote.catalog, footnote.message_states, footnote.clock, channel, announcements)


def proposal_digest(footnote: Footnote) -> ProposalDigest:
    """Return the daily digest of waiting proposals, for admins who chose it."""
    waiting = footnote.knowledge_stack.deps.proposal_store
    return ProposalDigest(
        waiting,
        footnote.settings_store,
        footnote.message_states,
        footnote.clock,
        lambda platform: _announcements(footnote, platform),
    )


def standing_answers(footnote: Footnote, holder: str) -> StandingAnswers:
    """Return the notifier of people whose answers changed, where an admin switched it on."""

    def notices(platform: str) -> PersonalNotices | None:
        found = footnote.capabilities.get(platform)
        return found.notices if found is not None else None

    return StandingAnswers(
        check=footnote.answer_check(),
        questions=footnote.questions,
        memory=footnote.memory,
        settings=footnote.settings_store,
        message_states=footnote.message_states,
        leases=footnote.leases,
        holder=holder,
        notices=notices,
        budget=footnote.daily_budget,
    )


def _announcements(footnote: Footnote, platform: str) -> Announcements | None:
    found = footnote.capabilities.get(platform)
    return found.announcements if found is not None else None


def digest_channel(setting: str) -> ThreadKey | None:
    """Return the channel of GAPS_DIGEST; None if it is empty. Raises ConfigurationError if it names none."""
    text = setting.strip()
    if not text:
        return None
    forms = [form for form in principal_forms() if form.kind == PrincipalKind.CHANNEL]
    if not any(form.accepts(text) for form in forms):
        raise ConfigurationError(
            "GAPS_DIGEST is not a channel.", remedy=f"It looks like {' or '.join(map(str, forms))}."
        )
    channel = Principal.parse(text)
    return ThreadKey(channel.platform, channel.space or "", channel.id, "")
