"""Settings of the gate readers.

A gate is an arch of four antennas through which cages are pushed. It reads the tags of all pieces in the cage and sends the list to the books.
Every gate runs this program on a small computer in the grey box beside it. Change a value in the fleet repository, never on the box: the boxes
fetch their settings every 30 minutes and overwrite what they have.
"""

from dataclasses import dataclass, field
from datetime import timedelta

# Gates in use. MW = Millbank Way, QS = Quarrier Street, PU = Pinnock Unit.
GATES = {
    "MW-1": "door 1, incoming",
    "MW-2": "floor scale, sorting hall",
    "MW-3": "packing, clean side",
    "MW-4": "door 6, outgoing",
    "QS-1": "van door, both directions",
    "PU-1": "steriliser, unloading side",
}


@dataclass
class GateSettings:
    """What one gate does. The defaults fit an arch of two metres and dry linen."""

    #: Transmitting power of each antenna, in dBm. More than 30 is not lawful here. QS-1 runs at 22 because of the wet wool next to it.
    power_dbm: float = 27.0

    #: How long a cage is read. A full cage of pillowcases (about 600 pieces) needs nearly all of it.
    read_window: timedelta = timedelta(seconds=9)

    #: The window is stretched while new tags keep coming in, but never beyond this.
    read_window_at_most: timedelta = timedelta(seconds=16)

    #: A piece that is read again within this time counts once. Was 10 minutes until the cages were turned at the scale.
    same_piece_within: timedelta = timedelta(minutes=25)

    #: Share of unknown tags above which the screen shows "???" and the cage goes to bay 7.
    unknown_share: float = 0.08

    #: Where reads wait when the network is gone. At 20 reads a minute this is enough for about three days.
    queue_rows: int = 90_000

    #: How often the box sends a sign of life. Three missing ones raise an alarm at the integration desk.
    heartbeat: timedelta = timedelta(seconds=40)

    #: Antennas that are switched off, by number from 1 to 4. PU-1 has 3 switched off since it read the shelf behind the wall.
    antennas_off: list[int] = field(default_factory=list)

    #: Languages of the screen, in the order in which the button goes through them.
    screen_languages: tuple[str, ...] = ("en", "pl", "ro")


def cage_weight_plausible(pieces: int, kilograms: float) -> bool:
    """Whether weight and count fit each other.

    Below 0.1 kg a piece somebody has left tags in the arch; above 1.6 kg a piece there are untagged things in the cage (slings, dishcloths) or it
    is soaking wet. The empty cage, 38 kg, is taken off before. The answer is only shown; nothing is stopped by it.
    """
    if pieces == 0:
        return kilograms < 2.0
    return 0.1 <= kilograms / pieces <= 1.6


def needs_second_pass(expected: int, read: int) -> bool:
    """Whether the cage has to be pushed through again: fewer than 97 % of the announced pieces were read, and at least five are missing."""
    return expected - read >= 5 and read < 0.97 * expected


def restart_hint(gate: str) -> str:
    """What the screen tells people when a box does not answer.

    The box is restarted by holding its green button for six seconds. Pulling the plug loses the queue. MW-4 has no button; ring the integration
    desk.
    """
    if gate == "MW-4":
        return "Ring 219"
    return "Hold the green button for six seconds"
