"""The Home tab, and the prompts that a new direct message suggests."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from adapters.slack.api.web_client import Refusal
from adapters.slack.api.workspace import SlackWorkspace
from adapters.slack.inbound.event_listener import PLATFORM
from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.kb.handlers import SlackKnowledge
from adapters.slack.outbound import views
from core.model.conversation import Audience, ThreadKey
from core.model.errors import PlatformUnavailable
from core.service.kb.text_spans import Line

MOST_PROMPTS = 4
PROMPTS = (
    ("What do you know?", "What documents do you know?"),
    ("What can you do?", "What can you do?"),
    ("How do you check your answers?", "How do you check your answers against the sources?"),
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Home:
    """Publishes what a person sees when they open the app."""

    workspace: SlackWorkspace
    knowledge: SlackKnowledge | None = None

    async def publish(self, team: str, user: str, outcome: Sequence[Line] = ()) -> None:
        """Show the Home tab as it is for this person now, and what came of a button that they pressed on it."""
        audience = Audience(await self.workspace.principals(team, user))
        is_admin = await self.workspace.is_admin(user)
        system_status = await self.workspace.answer_actions.system_status() if is_admin else None
        waiting = await self.knowledge.proposals(team, user) if is_admin and self.knowledge is not None else []
        told = kb_blocks.paragraphs(outcome) if outcome else []
        view = views.home(await self.workspace.answer_actions.knowledge_bases(audience), system_status, told, waiting)
        try:
            await self.workspace.web.patiently("views.publish", user_id=user, view=view)
        except (Refusal, PlatformUnavailable) as error:
            log.warning("home_not_published", reason=str(error))

    async def suggest(self, team: str, channel: str, user: str) -> None:
        """Suggest how to begin: what the knowledge holds comes first. Silently nothing where the app is no agent."""
        if not self.workspace.is_agent:
            return
        audience = await self.workspace.audience(ThreadKey(PLATFORM, team, channel, ""), user)
        bases = [
            summary.base.name
            for summary in await self.workspace.answer_actions.knowledge_bases(audience)
            if summary.documents
        ]
        about = [(f"About {name}"[:75], f"What is in the knowledge base {name}?") for name in bases[:1]]
        prompts = [{"title": title, "message": message} for title, message in (*about, *PROMPTS)][:MOST_PROMPTS]
        try:
            await self.workspace.web.eagerly(
                "assistant.threads.setSuggestedPrompts", channel_id=channel, title="Ask me", prompts=prompts
            )
        except (Refusal, PlatformUnavailable) as error:
            log.debug("prompts_not_set", reason=str(error))
