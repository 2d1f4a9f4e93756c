"""Managing the knowledge: ``kb …`` as on the platforms, and ``audit``."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack

import typer

from adapters.terminal.output import print_json, say
from bot.cli.documents import FolderName
from bot.cli.runner import ConfirmationMissing, finish, require_paths, say_losses
from core.model.plain_text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.container import Footnote
    from core.service.kb.commands import KbCommand
    from core.service.kb.results import KbResult

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Kb = Annotated[str, typer.Option("--kb", help="The knowledge base.")]
Name = Annotated[str, typer.Argument(help="The knowledge base.")]
Principals = Annotated[
    list[str], typer.Argument(help=("Channels, roles, groups or people, such as slack:channel:T1/C1."))
]
Page = Annotated[int, typer.Option("--page", min=1, help="Which page.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
LINK = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)  # a web address, or one in a file store: s3://


class _Given(TypedDict, total=False):
    """The arguments of a ``KbCommand``, whose type is imported only when needed."""

    base: str
    target: str
    text: str
    principals: tuple[str, ...]
    every: str
    limit: int
    page: int


kb = typer.Typer(help="Add documents, keep them current, and set who can read them.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.add_typer(kb, name="kb")
    app.command()(audit)


@kb.command()
def ingest(
    what: Annotated[list[str], typer.Argument(help="Links, files and folders.")],
    base: Kb = "default",
    limit: Annotated[int, typer.Option(min=0, max=500, help="Follow links and sitemaps to this many pages.")] = 0,
    as_json: Json = False,
    name: FolderName = "",
) -> None:
    """Bring in links, files and folders.

    The base is created when it is new. What a ZIP holds becomes one document. Exit 0: all well; 1: some failed.
    """
    require_paths(name for name in what if not LINK.match(name))
    finish(_ingest(what, base, limit, as_json, name))


async def _ingest(what: list[str], base: str, limit: int, as_json: bool, name: str = "") -> int:
    from adapters.documents.folders import find_refused_files, local_files
    from adapters.terminal.console import SafeConsole
    from adapters.terminal.ingest_view import TOGETHER, base_to_fill, read_files, report_naming
    from adapters.terminal.operator import operator
    from bot.container import open_footnote
    from bot.settings import load_settings
    from core.service.kb.commands import KbCommand, KbVerb

    paths = [Path(name) for name in what if not LINK.match(name)]
    found = local_files(paths)
    for one in find_refused_files(paths):
        say(one_line(f"{one.source} is not read: {one.reason}"), err=True)
    async with open_footnote(load_settings()) as footnote:
        kb_service, caller = footnote.knowledge_stack.kb_service, operator()
        async with base_to_fill(kb_service, base, caller) as there:
            naming = await kb_service.name_files(found, there, caller, name=name)
            report_naming(SafeConsole(stderr=True), naming)
            groups = [naming.files[start : start + TOGETHER] for start in range(0, len(naming.files), TOGETHER)]
            links = [KbCommand(KbVerb.INGEST, there, link, limit=limit) for link in what if LINK.match(link)]
            results = [
                await kb_service.ingest_bytes(read_files(group, _say_unreadable), there, caller) for group in groups
            ]
            results += [await kb_service.handle(link, caller) for link in links]
            return await _report(footnote, results, as_json)


def _say_unreadable(path: Path, _: str, error: OSError) -> None:
    say(one_line(f"{path} cannot be read: {error.strerror}."), err=True)


@kb.command("list")
def list_(base: Kb = "", page: Page = 1, as_json: Json = False) -> None:
    """Knowledge bases, or the documents of one."""
    _run("list", as_json, base=base, page=page)


@kb.command()
def show(target: Annotated[str, typer.Argument(help=(
    "A document. Without one: the"
    " knowledge base."
))] = "", base: Kb = "",
         page: Page = 1, as_json: Json = False) -> None:  # fmt: skip
    """One document or one base in full.

    Its version, passages, age, who added it, the last look at it, and errors.
    """
    _run("show", as_json, base=base, target=target, page=page)


@kb.command()
def remove(target: Annotated[str, typer.Argument(help="A document. Without one: the whole knowledge base.")] = "",
           base: Kb = "", yes: Yes = False, as_json: Json = False) -> None:  # fmt: skip
    """Take a document or a whole base out.

    It asks first, or wants --yes; then it shows by a search that nothing finds it.
    """
    _run("remove", as_json, base=base, target=target, yes=yes)


@kb.command()
def restore(target: Annotated[str, typer.Argument(help="A document. Without one: the whole knowledge base.")] = "",
            base: Kb = "", as_json: Json = False) -> None:  # fmt: skip
    """Restore what was removed, or a version that an ingest replaced.

    That is possible for 7 days; without a name, it shows what can be restored. A version's number names that version.
    """
    _run("restore", as_json, base=base, target=target)


@kb.command()
def refresh(target: Annotated[str, typer.Argument(help=(
    "A document. Without one: all links of"
    " the knowledge base."
))] = "",
            base: Kb = "", as_json: Json = False) -> None:  # fmt: skip
    """Fetch links and sites again.

    What has not changed costs nothing. The link that a site began at walks through that site again.
    """
    _run("refresh", as_json, base=base, target=target)


@kb.command()
def repair(base: Annotated[str, typer.Argument(help="A knowledge base. Without one: all of them.")] = "",
           as_json: Json = False) -> None:  # fmt: skip
    """Restore what Redis, the index or the originals have lost.

    Bases, readers and removals come from the ledger, passages from originals or links; it names what to add again.
    """
    _run("repair", as_json, base=base)


@kb.command()
def schedule(link: Annotated[str, typer.Argument(help="A link, or a document added from a link.")],
             every: Annotated[str, typer.Argument(help="daily, weekly, on-change (files) or never.")], base: Kb = "",
             limit: Annotated[int, typer.Option(min=0, max=500, help="How many pages below the link to fetch.")] = 0,
             as_json: Json = False) -> None:  # fmt: skip
    """Fetch a link on a schedule.

    ``footnote serve`` does that while it runs.
    """
    _run("schedule", as_json, base=base, target=link, every=every, limit=limit)


@kb.command()
def create(name: Name, description: Annotated[str, typer.Argument(help=(
    "A description. Footnote uses it to choose"
    " which knowledge base to search."
))] = "",
           grant: Annotated[list[str] | None, typer.Option(help=(
               "A channel, role or group that can"
               " read it. Repeat for more. Without it: everyone."
           ))] = None,
           as_json: Json = False) -> None:  # fmt: skip
    """Create a base."""
    _run("create", as_json, base=name, text=description, principals=tuple(grant or ()))


@kb.command()
def describe(
    name: Name,
    description: Annotated[
        str, typer.Argument(help=("A description. Footnote uses it to choose which knowledge base to search."))
    ],
    as_json: Json = False,
) -> None:
    """Change a base's description."""
    _run("describe", as_json, base=name, text=description)


@kb.command()
def grant(name: Name, principals: Principals, yes: Yes = False, as_json: Json = False) -> None:
    """Restrict a base to some readers, add readers, or open it to everyone.

    Restricting a base that everyone reads, and opening one, asks first, or wants --yes. Readers are
    slack:channel:T1/C1, slack:group:T1/S1, slack:user:T1/U1, slack:team:T1,
    discord:channel:1/2, discord:role:1/2, discord:user:1, discord:guild:1, web:user:ada, web:readers,
    or "everyone".
    """
    _run("grant", as_json, base=name, principals=tuple(principals), yes=yes)


@kb.command()
def revoke(name: Name, principals: Principals, yes: Yes = False, as_json: Json = False) -> None:
    """Stop these readers from reading a base. Before the last one it asks, or wants --yes."""
    _run("revoke", as_json, base=name, principals=tuple(principals), yes=yes)


@kb.command()
def confirm(name: Name, as_json: Json = False) -> None:
    """After a loss in Redis, say that a base's readers are right: they can read it again."""
    _run("confirm", as_json, base=name)


@kb.command()
def status(as_json: Json = False) -> None:
    """Show the queue, running jobs, failures and schedules."""
    _run("status", as_json)


@kb.command()
def jobs(job: Annotated[str, typer.Argument(help="One job's id.")] = "", page: Page = 1, as_json: Json = False) -> None:
    """List the newest jobs, or show one in full."""
    _run("jobs", as_json, target=job, page=page)


@kb.command()
def cancel(job: Annotated[str, typer.Argument(help="The job's id.")], as_json: Json = False) -> None:
    """End a job; what it has done stays."""
    _run("cancel", as_json, target=job)


@kb.command()
def proposals(page: Page = 1, as_json: Json = False) -> None:
    """List what people would like to add."""
    _run("proposals", as_json, page=page)


@kb.command()
def approve(proposal: Annotated[str, typer.Argument(help="The proposal's id.")], base: Kb = "",
            as_json: Json = False) -> None:  # fmt: skip
    """Take a proposal in."""
    _run("approve", as_json, base=base, target=proposal)


@kb.command()
def reject(proposal: Annotated[str, typer.Argument(help="The proposal's id.")], as_json: Json = False) -> None:
    """Drop a proposal."""
    _run("reject", as_json, target=proposal)


def audit(
    limit: Annotated[int, typer.Option("-n", min=1, max=10_000, help=("The number of entries to show."))] = 50,
    as_json: Json = False,
) -> None:
    """List what admins did, and who was refused what, the newest first."""
    finish(_audit(limit, as_json))


async def _audit(limit: int, as_json: bool) -> int:
    import json

    from bot.settings import load_settings
    from bot.stores import open_catalog
    from core.model.json_codec import to_json

    async with open_catalog(load_settings()) as stores:
        entries = await stores.audit.recent(limit)
    if as_json:
        print_json([json.loads(to_json(entry)) for entry in entries])
        return 0
    if not entries:
        say("There are no admin actions yet.")
    for entry in entries:
        refused = "" if entry.allowed else "  refused"
        detail = f"  ({entry.detail})" if entry.detail else ""
        say(f"{entry.at:%Y-%m-%d %H:%M:%S}  {entry.actor}  {entry.action}  {entry.target}{refused}{detail}")
    return 0


def _run(verb: str, as_json: bool, *, yes: bool = False, **given: Unpack[_Given]) -> None:
    """Run one command with these arguments, and exit with its code."""
    from core.service.kb.commands import KbCommand, KbVerb

    finish(_handle(KbCommand(KbVerb(verb), **given), yes, as_json))


async def _handle(command: "KbCommand", yes: bool, as_json: bool) -> int:
    import sys

    from adapters.terminal.operator import operator
    from bot.container import open_footnote
    from bot.settings import load_settings
    from core.service.kb.commands import KbVerb
    from core.service.kb.results import ConfirmationView
    from core.service.kb.wording import confirmation_question

    writes = command.verb in {KbVerb.REMOVE, KbVerb.RESTORE, KbVerb.REFRESH, KbVerb.REPAIR, KbVerb.APPROVE}
    async with open_footnote(load_settings(), models=False, index=writes) as footnote:
        result = await footnote.knowledge_stack.kb_service.handle(command, operator())
        if isinstance(result, ConfirmationView):
            if not yes and not sys.stdin.isatty():
                raise ConfirmationMissing(confirmation_question(result), remedy="Confirm with --yes.")
            if not yes:
                typer.confirm(confirmation_question(result), abort=True)
            result = await footnote.knowledge_stack.kb_service.handle(result.confirm.command, operator())
        return await _report(footnote, [result], as_json)


async def _report(footnote: "Footnote", results: "Sequence[KbResult]", as_json: bool) -> int:
    """Show the results and run the accepted jobs to their end. Return 1 if something failed."""
    import json

    from adapters.terminal.console import SafeConsole
    from adapters.terminal.job_progress import follow_jobs, result_json, result_text
    from core.model.jobs import JobState
    from core.model.json_codec import to_json
    from core.service.kb.results import accepted_jobs, is_success

    say_losses(footnote)
    texts = [result_text(result) for result in results]
    if not as_json:
        for result, text in zip(results, texts, strict=True):
            if text:
                say(text, err=not is_success(result))
    accepted = [job for result in results for job in accepted_jobs(result)]
    stack, console = footnote.knowledge_stack, SafeConsole(stderr=as_json)
    ended = (
        await follow_jobs(console, accepted, stack.deps.jobs, stack.terminal_worker, quiet=as_json) if accepted else []
    )
    ok = all(map(is_success, results))
    if as_json:
        print_json(
            {
                "ok": ok,
                "said": list(filter(None, texts)),
                "results": [result_json(result) for result in results],
                "jobs": [json.loads(to_json(job)) for job in ended],
            }
        )
    broken = any(job.state is not JobState.DONE or job.failed_items for job in ended)
    return 1 if broken or not ok else 0
