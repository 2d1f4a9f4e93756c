"""A Slack workspace on this machine, for end-to-end tests: a real HTTP and WebSocket server, strict about its rules."""

from tests.fakes.slack.delivery import Attempt, Delivery
from tests.fakes.slack.rendering import State
from tests.fakes.slack.server import DEFAULT_SCOPES, FakeSlack
from tests.fakes.slack.specs import specs_are_here
from tests.fakes.slack.world import Channel, Message, Ping, UserGroup, View

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
