"""``/kb`` as words, and *Add to knowledge base*, on the neutral knowledge desk.

Replies are for the caller's eyes alone. Rights and audience are looked up anew for every command, never remembered;
what has to be confirmed is said again with ``--yes``. Attached files and a live card have no place in a slash command
of Slack's: links are ingested, and ``/kb jobs`` tells how far they are.
"""

import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adapters.incoming import Permissions
from adapters.knowledge_desk import Caller, KbCommand, KbReply, KbVerb, KnowledgeCommands
from adapters.slack.commands import Given
from adapters.slack.intake import PLATFORM
from adapters.slack.text import heard
from adapters.slack.web import Refusal
from adapters.slack.workplace import Workplace
from core.conversation import Person, ThreadKey
from core.errors import NotFound
from core.ingestion.transcripts import Conversation, Said

KB = "/kb"
USAGE = "ingest LINK | list | show | remove | restore | refresh | schedule | create | describe | grant | revoke | jobs"
HELP = (
    f"`{KB} {USAGE} | status | cancel | proposals | approve | reject`\n"
    "Add `--kb NAME` for a knowledge base, `--limit N` to follow a link to so many pages, "
    "`--every daily|weekly|never`, `--page N`, and `--yes` to confirm."
)
_TEXT = {KbVerb.CREATE, KbVerb.DESCRIBE}
_PRINCIPALS = {KbVerb.GRANT, KbVerb.REVOKE}
_MOST_MESSAGES = 200
_PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--"})  # what Slack's editor makes of them


@dataclass(frozen=True, slots=True)
class SlackKnowledge:
    """What Slack adds to the desk: who calls, and what was said in a thread."""

    workplace: Workplace
    kb: KnowledgeCommands

    async def command(self, given: Given) -> str:
        """Do what ``/kb …`` says; what to tell the caller."""
        command = parsed(given.words)
        if isinstance(command, str):
            return command
        reply = await self.kb.handle(command, await self._caller(given.place, given.user))
        return told(reply)

    async def propose(self, thread: ThreadKey, person: Person, _text: str, ts: str) -> str:
        """Keep the thread that a message stands in, or wait for an admin who does. Raises NotFound, Unavailable."""
        user = person.id.rsplit("/", 1)[-1]
        conversation = await self._conversation(thread, ts)
        return told(await self.kb.propose(conversation, await self._caller(thread, user)))

    async def _caller(self, thread: ThreadKey, user: str) -> Caller:
        work = self.workplace
        principals = await work.principals(thread.space, user)
        rights = Permissions(await work.is_admin(user), principals)
        return Caller(await work.person(thread.space, user), rights, await work.reader(thread, user), thread)

    async def _conversation(self, thread: ThreadKey, ts: str) -> Conversation:
        web, place = self.workplace.web, {"channel": thread.channel}
        try:
            found = await web.patiently("conversations.replies", ts=thread.thread, limit=_MOST_MESSAGES, **place)
            link = await web.patiently("chat.getPermalink", message_ts=thread.thread, **place)
        except Refusal as refusal:
            raise NotFound(
                f"Slack does not show me that thread ({refusal.error}).", remedy="Invite me there."
            ) from None
        messages = [said for one in found.get("messages") or [] if (said := await self._said(one)) is not None]
        if not messages:
            raise NotFound("There is nothing in that thread to keep.")
        title = messages[0].text.splitlines()[0][:80]
        source = f"{PLATFORM}/{thread.space}/{thread.channel}/{thread.thread}"
        return Conversation(source, title, tuple(messages), str(link.get("permalink") or "") or None)

    async def _said(self, one: dict[str, Any]) -> Said | None:
        us = await self.workplace.directory.identity()
        text = heard(str(one.get("text") or ""), us.user)
        if not text.strip():
            return None
        author = "Footnote" if one.get("user") == us.user else await self.workplace.directory.name(str(one.get("user")))
        return Said(author, datetime.fromtimestamp(float(one["ts"]), UTC), text)


def told(reply: KbReply) -> str:
    """A reply in words: what to confirm and how to turn the page is said, because there are no buttons."""
    lines = [reply.text]
    if reply.confirm is not None:
        lines.append(f"To confirm, give the same command again with `--yes` ({reply.confirm_label}).")
    if reply.pages > 1:
        lines.append(f"Page {reply.page} of {reply.pages}; `--page N` shows another.")
    if reply.job is not None:
        lines.append(f"`{KB} jobs` tells how far it is.")
    return "\n".join(lines)


def parsed(words: str) -> KbCommand | str:
    """The command, or what to tell whoever wrote it otherwise."""
    try:
        parts = shlex.split(words.translate(_PLAIN))
    except ValueError:
        return "A quotation mark is not closed."
    options: dict[str, str] = {}
    said: list[str] = []
    rest = iter(parts)
    for part in rest:
        if part == "--yes":
            options["yes"] = "yes"
        elif part in {"--kb", "--limit", "--every", "--page"}:
            options[part[2:]] = next(rest, "")
        elif part.startswith("--"):
            return f"There is no option {part}.\n{HELP}"
        else:
            said.append(part.strip("<>").split("|")[0] if part.startswith("<http") else part)
    if not said or said[0] not in list(KbVerb):
        return HELP
    if any(not options.get(name, "1").isdecimal() for name in ("limit", "page")):
        return "--limit and --page take a number."
    return _command(KbVerb(said[0]), said[1:], options)


def _command(verb: KbVerb, said: list[str], options: dict[str, str]) -> KbCommand:
    names_base = verb in _TEXT | _PRINCIPALS and "kb" not in options
    base = options.get("kb", said[0] if names_base and said else "")
    given = said[1:] if names_base else said
    return KbCommand(
        verb,
        base,
        target="" if verb in _TEXT | _PRINCIPALS else " ".join(given),
        text=" ".join(given) if verb in _TEXT else "",
        principals=tuple(given) if verb in _PRINCIPALS else (),
        every=options.get("every", ""),
        limit=int(options.get("limit", "0")),
        page=max(1, int(options.get("page", "1"))),
        confirmed="yes" in options,
    )
