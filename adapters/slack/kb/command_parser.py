"""``/kb`` given in words: what was typed, as a command."""

import re
import shlex
from html import unescape

from adapters.slack.inbound.message_text import plain_message
from core.service.kb.commands import KbCommand, KbVerb

KB = "/kb"
USAGE = "ingest LINK | list | show | remove | restore | refresh | schedule | create | describe | grant | revoke | jobs"
HELP = (
    f"`{KB}` alone opens a form: files, a link, or this channel.\n"
    f"`{KB} grant NAME` opens one in which you pick who may read it; `#channel`, `@group` and `@person` work as well.\n"
    f"`{KB} {USAGE} | status | repair | cancel | proposals | approve | reject`\n"
    "Add `--kb NAME` for a knowledge base, `--here` for this channel's conversations, `--limit N` to follow a link to "
    "so many pages, `--every daily|weekly|on-change|never`, `--page N`, and `--yes` to confirm."
)
_TEXT = {KbVerb.CREATE, KbVerb.DESCRIBE}
_PRINCIPALS = {KbVerb.GRANT, KbVerb.REVOKE}
_PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--"})  # what Slack's editor makes of them
_MENTION = re.compile(r"<((?:#|@|!)[^<>|]+)(?:\|[^<>]*)?>")
_LINK = re.compile(r"<((?:https?|mailto):[^<>|]+)(?:\|[^<>]*)?>")
_FLAGS = {"--yes", "--here"}
_VALUED = {"--kb", "--limit", "--every", "--page"}


def parse_command(words: str, channel: str = "") -> KbCommand | str:
    """The command, or what to tell whoever wrote it otherwise. ``channel`` is what ``--here`` means.

    What was picked while it was typed stays a mention where it names somebody, and reads as its name in a text.
    """
    try:
        parts = shlex.split(_readable(words).translate(_PLAIN))
    except ValueError:
        return "A quotation mark is not closed."
    options: dict[str, str] = {}
    said: list[str] = []
    rest = iter(parts)
    for part in rest:
        if part in _FLAGS:
            options[part[2:]] = "yes"
        elif part in _VALUED:
            options[part[2:]] = next(rest, "")
        elif part.startswith("--"):
            return f"There is no option {part}.\n{HELP}"
        else:
            said.append(part)
    if not said or said[0] not in list(KbVerb):
        return HELP
    if any(not options.get(name, "1").isdecimal() for name in ("limit", "page")):
        return "--limit and --page take a number."
    return _command(KbVerb(said[0]), said[1:], options, channel)


def _readable(words: str) -> str:
    """The words without Slack's marks, but for those that say whom a base is to be for."""
    verb = words.split(maxsplit=1)[0] if words.strip() else ""
    linked = _LINK.sub(lambda link: link[1].removeprefix("mailto:"), words)
    if verb in _PRINCIPALS:
        return unescape(_MENTION.sub(r"<\1>", linked))
    return plain_message(linked, "")


def _command(verb: KbVerb, said: list[str], options: dict[str, str], channel: str) -> KbCommand:
    names_base = verb in _TEXT | _PRINCIPALS and "kb" not in options
    base = options.get("kb", said[0] if names_base and said else "")
    given = said[1:] if names_base else said
    return KbCommand(
        verb,
        base,
        target="" if verb in _TEXT | _PRINCIPALS else " ".join(given),
        text=" ".join(given) if verb in _TEXT else "",
        channel=channel if "here" in options and verb is KbVerb.INGEST else "",
        principals=tuple(given) if verb in _PRINCIPALS else (),
        every=options.get("every", ""),
        limit=int(options.get("limit", "0")),
        page=max(1, int(options.get("page", "1"))),
        confirmed="yes" in options,
    )
