"""The person at the terminal, who may do everything because they own the data directory."""

from core.model.conversation import Audience, Person, ThreadKey
from core.model.incoming_events import Permissions
from core.service.kb.commands import Caller

PLATFORM = "console"
OPERATOR = Person(f"{PLATFORM}:operator", "the operator")


def operator() -> Caller:
    """Return the person at the terminal as the caller, and the only reader of what is printed."""
    return Caller(OPERATOR, Permissions(is_admin=True), Audience(unrestricted=True), terminal_thread("kb"))


def terminal_thread(name: str) -> ThreadKey:
    """Return the thread of this name in the terminal."""
    return ThreadKey(PLATFORM, "", "terminal", name)
