"""``/kb`` given in words: what was typed, as a command."""

import shlex

from core.service.kb.commands import KbCommand, KbVerb

KB = "/kb"
USAGE = "ingest LINK | list | show | remove | restore | refresh | schedule | create | describe | grant | revoke | jobs"
HELP = (
    f"`{KB}` alone opens a form: files, a link, or this channel.\n"
    f"`{KB} {USAGE} | status | repair | cancel | proposals | approve | reject`\n"
    "Add `--kb NAME` for a knowledge base, `--here` for this channel's conversations, `--limit N` to follow a link to "
    "so many pages, `--every daily|weekly|on-change|never`, `--page N`, and `--yes` to confirm."
)
_TEXT = {KbVerb.CREATE, KbVerb.DESCRIBE}
_PRINCIPALS = {KbVerb.GRANT, KbVerb.REVOKE}
_PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--"})  # what Slack's editor makes of them
_FLAGS = {"--yes", "--here"}
_VALUED = {"--kb", "--limit", "--every", "--page"}


def parse_command(words: str, channel: str = "") -> KbCommand | str:
    """The command, or what to tell whoever wrote it otherwise. ``channel`` is what ``--here`` means."""
    try:
        parts = shlex.split(words.translate(_PLAIN))
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
            said.append(part.strip("<>").split("|")[0] if part.startswith("<http") else part)
    if not said or said[0] not in list(KbVerb):
        return HELP
    if any(not options.get(name, "1").isdecimal() for name in ("limit", "page")):
        return "--limit and --page take a number."
    return _command(KbVerb(said[0]), said[1:], options, channel)


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
