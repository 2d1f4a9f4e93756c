"""Who may act on somebody's question: whoever asked it, and an admin. What was refused is on record."""

from collections.abc import Awaitable, Callable

from core.model.conversation import Person
from core.model.errors import Denied
from core.ports.audit import Audit

IsAdmin = Callable[[], Awaitable[bool]]  # whether who pressed is an admin, looked up by the platform when it matters


async def may_act(person: Person, asker: str, is_admin: IsAdmin) -> bool:
    """Whether this person may act on what ``asker``, an id, asked; who is an admin is looked up for others alone."""
    return person.id == asker or await is_admin()


async def refuse(audit: Audit, person: Person, action: str, target: str, refusal: str) -> Denied:
    """What to raise, in these words, when somebody tried what they may not; it is on record by then."""
    await audit.record(person.id, action, target, allowed=False)
    return Denied(refusal)
