"""The webhook as a platform plugin. Every command imports this module, so it imports little."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from pydantic import BaseModel, SecretStr

from adapters.platform_plugin import (
    ConnectedPlatform,
    PlatformDeps,
    PlatformPlugin,
    SettingsByPlace,
    reveal,
    split_names,
)
from core.model.health import Check, Health
from core.model.principals import PrincipalForm, PrincipalKind


class WebhookSettings(BaseModel):
    """The settings WEBHOOK_TOKEN, WEBHOOK_REPLY_URL and WEBHOOK_ADMINS."""

    token: SecretStr | None = None  # authenticates callers, and signs our own calls
    reply_url: str = ""  # where answers are posted
    admins: str = ""  # people, separated by commas


class WebhookPlugin(PlatformPlugin[WebhookSettings]):
    """Conversations that another program holds with its own people."""

    name = "webhook"
    label = "Webhook"
    settings = WebhookSettings
    principals = (PrincipalForm("webhook", PrincipalKind.CHANNEL, "CONVERSATION", "main", named=True),)

    def is_configured(self, settings: WebhookSettings) -> bool:
        """Return whether there is a token."""
        return settings.token is not None

    def open(self, settings: WebhookSettings, deps: PlatformDeps) -> AbstractAsyncContextManager[ConnectedPlatform]:
        """Return the platform. Raises ConfigurationError without WEBHOOK_REPLY_URL."""
        from footnote_webhook.platform import WebhookPlatform

        return WebhookPlatform(
            token=reveal(settings.token) or "",
            reply_url=settings.reply_url,
            admins=split_names(settings.admins),
            inbox=deps.inbox,
            message_states=deps.message_states,
            settings=deps.user_actions.settings,
        )

    async def checks(self, settings: WebhookSettings, chosen: SettingsByPlace) -> Sequence[Check]:
        """Check that the address for answers is set."""
        if settings.reply_url:
            return (Check("Webhook", Health.OK, f"answers go to {settings.reply_url}"),)
        remedy = "Set WEBHOOK_REPLY_URL to an address that takes POST."
        return (Check("Webhook", Health.FAILED, "nobody receives the answers", remedy),)

    def manifest(self, settings: WebhookSettings, *, http: bool) -> str:
        """Return an example of a first call."""
        question = '{"id": "1", "conversation": "support", "person": "ada", "text": "Who approves refunds?"}'
        return f"curl -H 'Authorization: Bearer $WEBHOOK_TOKEN' --json '{question}' HOST/webhook/messages"


PLUGIN = WebhookPlugin()
