"""Who sits at the terminal, and asks or calls ``kb``: they own the data directory, so they may do everything."""

from core.model.conversation import Audience, Person, ThreadKey
from core.model.incoming_events import Permissions
from core.service.kb.commands import Caller

PLATFORM = "console"
OPERATOR = Person(f"{PLATFORM}:operator", "the operator")


def operator() -> Caller:
    """Return the person at the terminal, who alone reads what is printed there."""
    return Caller(OPERATOR, Permissions(is_admin=True), Audience(unrestricted=True), terminal_thread("kb"))


def terminal_thread(name: str) -> ThreadKey:
    """Return the thread of this name in the terminal."""
    return ThreadKey(PLATFORM, "", "terminal", name)
