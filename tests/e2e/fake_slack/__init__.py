"""A Slack workspace on this machine, for end-to-end tests: a real HTTP and WebSocket server, strict about its rules."""

from tests.e2e.fake_slack.delivery import Attempt, Delivery
from tests.e2e.fake_slack.rendering import State
from tests.e2e.fake_slack.server import DEFAULT_SCOPES, FakeSlack
from tests.e2e.fake_slack.specs import specs_are_here
from tests.e2e.fake_slack.world import Channel, Message, Ping, UserGroup, View

__all__ = [
    "DEFAULT_SCOPES",
    "Attempt",
    "Channel",
    "Delivery",
    "FakeSlack",
    "Message",
    "Ping",
    "State",
    "UserGroup",
    "View",
    "specs_are_here",
]
