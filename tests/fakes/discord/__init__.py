"""A fake Discord that a real bot process connects to. `server.FakeDiscord` is the way in."""

from tests.fakes.discord.contract import SPECIFICATION
from tests.fakes.discord.interactions import Choice, Interaction, Modal
from tests.fakes.discord.people import Person
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import Channel, Message

__all__ = ["SPECIFICATION", "Channel", "Choice", "FakeDiscord", "Interaction", "Message", "Modal", "Person"]
