"""Who sits at the terminal, as a caller of ``kb``: they own the data directory, so they may do everything."""

from adapters.terminal.chat import OPERATOR
from core.model.conversation import Audience, ThreadKey
from core.model.incoming_events import Permissions
from core.service.kb.commands import Caller


def operator() -> Caller:
    """The person at the terminal, who alone reads what is printed there."""
    place = ThreadKey("console", "", "terminal", "kb")
    return Caller(OPERATOR, Permissions(is_admin=True), Audience(unrestricted=True), place)
