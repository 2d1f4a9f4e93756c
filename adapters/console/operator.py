"""Who sits at the terminal, as a caller of ``kb``: they own the data directory, so they may do everything."""

from adapters.console.chat import OPERATOR
from adapters.incoming import Permissions
from adapters.knowledge_desk import Caller
from core.conversation import Audience, ThreadKey


def operator() -> Caller:
    """The person at the terminal, who alone reads what is printed there."""
    place = ThreadKey("console", "", "terminal", "kb")
    return Caller(OPERATOR, Permissions(is_admin=True), Audience(unrestricted=True), place)
