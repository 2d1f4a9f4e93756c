"""What people can have done with memory: keep quiet in a thread, forget it, forget everything that they asked."""

from dataclasses import dataclass

from core.model.conversation import Person, ThreadKey
from core.model.errors import Denied
from core.ports.audit import Audit
from core.ports.memory import AskedQuestion, Memory
from core.service.actions.outcomes import PersonForgotten, ThreadForgotten, ThreadMuted
from core.service.actions.wording import NOT_YOURS_TO_FORGET

MOST_THREADS, MOST_RECENT = 20, 5  # that are looked through, and that are shown, of what somebody asked


@dataclass(frozen=True, slots=True)
class MemoryControls:
    """Mutes and forgets, and says what somebody asked."""

    memory: Memory
    audit: Audit

    async def recent_questions(self, person: Person, platform: str, space: str) -> tuple[AskedQuestion, ...]:
        """What this person asked last in one workspace or server, the newest first, one a thread: theirs alone."""
        asked = await self.memory.questions_of(person.id, MOST_THREADS)
        here = [one for one in asked if (one.thread.platform, one.thread.space) == (platform, space)]
        return tuple({one.thread: one for one in reversed(here)}.values())[::-1][:MOST_RECENT]

    async def mute(self, thread: ThreadKey, *, muted: bool) -> ThreadMuted:
        """Keep quiet in a thread, or speak again."""
        await self.memory.mute(thread, muted)
        return ThreadMuted(muted)

    async def forget_thread(self, thread: ThreadKey, person: Person, *, is_admin: bool) -> ThreadForgotten:
        """Remove a thread's memory. Raises Denied when others asked there too and this is no admin; it is on record."""
        turns = (await self.memory.recall(thread)).turns
        allowed = is_admin or all(turn.asker.id == person.id for turn in turns)
        await self.audit.record(person.id, "forget thread", str(thread), allowed=allowed)
        if not allowed:
            raise Denied(NOT_YOURS_TO_FORGET)
        return ThreadForgotten(was_kept=await self.memory.forget_thread(thread))

    async def forget_person(self, person: Person) -> PersonForgotten:
        """Remove everything this person asked; they may always."""
        count = await self.memory.forget_person(person.id)
        await self.audit.record(person.id, "forget person", person.id, allowed=True, detail=f"{count} turns")
        return PersonForgotten(count)
