"""Parser for ``/kb``: the typed command, or the help text if there is none.

``KbVerb`` defines the verbs and their arguments. This module defines only how they are typed in Slack.
"""

import re
import shlex
from html import unescape

from adapters.slack.inbound.message_words import plain_message
from core.ports.job_store import Every
from core.service.kb.commands import KbCommand, KbVerb

KB = "/kb"
_HINTED = (  # the usage hint has room for everyday verbs only; the help lists all
    KbVerb.INGEST, KbVerb.LIST, KbVerb.SHOW, KbVerb.REMOVE, KbVerb.RESTORE, KbVerb.REFRESH, KbVerb.SCHEDULE,
    KbVerb.CREATE, KbVerb.DESCRIBE, KbVerb.GRANT, KbVerb.REVOKE, KbVerb.JOBS,
)  # fmt: skip
_ARGUMENTS = {KbVerb.INGEST: "LINK"}
USAGE_HINT = " | ".join(f"{verb} {_ARGUMENTS.get(verb, '')}".rstrip() for verb in _HINTED)
_OTHER_VERBS = " | ".join(verb for verb in KbVerb if verb not in _HINTED)
HELP = (
    f"`{KB}` alone opens a form: files, a link, or this channel.\n"
    f"`{KB} grant NAME` opens one that restricts it to those you pick; `#channel`, `@group` and `@person` work too.\n"
    f"`{KB} {USAGE_HINT} | {_OTHER_VERBS}`\n"
    "Add `--kb NAME` for a knowledge base, `--here` for this channel's conversations, `--limit N` to follow a link to "
    f"so many pages, `--every {'|'.join(Every)}`, `--page N`, and `--yes` to confirm."
)
_PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--"})  # undoes the typography of Slack's editor
_MENTION = re.compile(r"<((?:#|@|!)[^<>|]+)(?:\|[^<>]*)?>")
_LINK = re.compile(r"<((?:https?|mailto):[^<>|]+)(?:\|[^<>]*)?>")
_FLAGS = {"--yes", "--here"}
_VALUED = {"--kb", "--limit", "--every", "--page"}


def parse_command(text: str, channel: str = "") -> KbCommand | str:
    """Return the command, or the reply if it is not one. ``channel`` is what ``--here`` refers to.

    A mention picked from Slack's menu stays a mention where it names a reader. In text it becomes its name.
    """
    try:
        parts = shlex.split(_readable(text).translate(_PLAIN))
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
    if not said:
        return HELP
    if said[0] not in list(KbVerb):
        return f"There is no `{KB} {said[0][:40]}`.\n{HELP}"
    if any(not options.get(name, "1").isdecimal() for name in ("limit", "page")):
        return "--limit and --page take a number."
    return _command(KbVerb(said[0]), said[1:], options, channel)


def _readable(text: str) -> str:
    """Return the text without Slack's markup, except mentions that name who may read a base."""
    verb = text.split(maxsplit=1)[0] if text.strip() else ""
    linked = _LINK.sub(lambda link: link[1].removeprefix("mailto:"), text)
    if verb in list(KbVerb) and KbVerb(verb).takes_principals:
        return unescape(_MENTION.sub(r"<\1>", linked))
    return plain_message(linked, "")


def _command(verb: KbVerb, given: list[str], options: dict[str, str], channel: str) -> KbCommand:
    names_base = verb.takes_text or verb.takes_principals
    base = options.get("kb", "")
    if names_base and "kb" not in options and given:
        base, *given = given
    words = " ".join(given)
    return KbCommand(
        verb,
        base,
        target="" if names_base else words,
        text=words if verb.takes_text else "",
        channel=channel if "here" in options and verb is KbVerb.INGEST else "",
        principals=tuple(given) if verb.takes_principals else (),
        every=options.get("every", ""),
        limit=int(options.get("limit", "0")),
        page=max(1, int(options.get("page", "1"))),
        confirmed="yes" in options,
    )
