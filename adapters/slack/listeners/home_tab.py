"""The Home tab, and the prompts that a new direct message suggests."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.ids import PLATFORM, person_id
from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.kb.knowledge import SlackKnowledge
from adapters.slack.outbound.blocks import Block
from adapters.slack.outbound.home_view import HomeContents, admin_buttons, home
from adapters.slack.workspace import SlackWorkspace
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import PlatformUnavailable
from core.service.kb.text_spans import Line

MOST_PROMPTS = 4  # https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts
PROMPTS = (
    ("What do you know?", "What documents do you know?"),
    ("What can you do?", "What can you do?"),
    ("How do you check your answers?", "How do you check your answers against the sources?"),
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HomeTab:
    """Publishes what a person sees when they open the app."""

    workspace: SlackWorkspace
    knowledge: SlackKnowledge | None = None
    has_gaps: bool = False  # whether it can be looked at what the documents lack

    async def publish(self, team: str, user: str, outcome: Sequence[Line] = ()) -> None:
        """Show the Home tab as it is for this person now, and what came of a button that they pressed on it."""
        audience, actions = Audience(await self.workspace.access.principals(team, user)), self.workspace.user_actions
        is_admin = await self.workspace.access.is_admin(user)
        contents = HomeContents(
            knowledge_bases=await actions.overview.knowledge_bases(audience),
            recent=await actions.memory.recent_questions(Person(person_id(team, user)), PLATFORM, team),
            workspace_url=(await self.workspace.directory.identity()).url,
            outcome=kb_blocks.paragraphs(outcome) if outcome else [],
            proposals=await self.knowledge.proposals(team, user) if is_admin and self.knowledge is not None else [],
            system_status=await actions.overview.system_status() if is_admin else None,
            buttons=await self._buttons(team, user) if is_admin else (),
        )
        try:
            await self.workspace.web.call("views.publish", user_id=user, view=home(contents))
        except (RequestRefused, PlatformUnavailable) as error:
            log.warning("home_not_published", reason=str(error))

    async def _buttons(self, team: str, user: str) -> Sequence[Block]:
        adds = self.knowledge is not None
        daily_digest = False
        if adds:
            place = await self.direct_place(team, user)
            daily_digest = bool(place.channel) and (await self.workspace.settings(place)).proposal_digest
        return admin_buttons(adds=adds, gaps=self.has_gaps, daily_digest=daily_digest)

    async def direct_place(self, team: str, user: str) -> ThreadKey:
        """The direct message with somebody; without a channel where Slack does not open it."""
        try:
            channel = await self.workspace.messages.direct_channel(user)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("direct_message_not_opened", reason=str(error))
            channel = ""
        return ThreadKey(PLATFORM, team, channel, "")

    async def suggest_prompts(self, team: str, channel: str, user: str) -> None:
        """Suggest how to begin: what the knowledge holds comes first. Silently nothing where the app is no agent."""
        if not self.workspace.sessions.available:
            return
        audience = await self.workspace.access.audience(ThreadKey(PLATFORM, team, channel, ""), user)
        bases = [
            summary.base.name
            for summary in await self.workspace.user_actions.overview.knowledge_bases(audience)
            if summary.documents
        ]
        about = [(f"About {name}"[:75], f"What is in the knowledge base {name}?") for name in bases[:1]]
        prompts = [{"title": title, "message": message} for title, message in (*about, *PROMPTS)][:MOST_PROMPTS]
        try:
            await self.workspace.web.call_once(
                "assistant.threads.setSuggestedPrompts", channel_id=channel, title="Ask me", prompts=prompts
            )
        except (RequestRefused, PlatformUnavailable) as error:
            log.debug("prompts_not_set", reason=str(error))
