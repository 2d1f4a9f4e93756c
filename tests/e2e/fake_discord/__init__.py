"""A fake Discord that a real bot process connects to. `server.FakeDiscord` is the way in."""

from tests.e2e.fake_discord.contract import SPECIFICATION
from tests.e2e.fake_discord.interactions import Choice, Interaction, Modal
from tests.e2e.fake_discord.people import Person
from tests.e2e.fake_discord.server import FakeDiscord
from tests.e2e.fake_discord.world import Channel, Message

__all__ = ["SPECIFICATION", "Channel", "Choice", "FakeDiscord", "Interaction", "Message", "Modal", "Person"]
