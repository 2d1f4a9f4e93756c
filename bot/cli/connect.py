"""Connecting sources: ``connect``, and ``connections …`` to list, map, sync and remove them."""

import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.terminal.output import print_json, say
from bot.cli.runner import ConfirmationMissing, finish, say_losses
from core.model.errors import ConfigurationError
from core.service.kb.text_spans import count

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from bot.container import Footnote
    from core.model.connections import Connection
    from core.ports.connector import ConnectorPlugin, SettingField, SourceCheck
    from core.service.sync.connections import ConnectionOverview, SyncPlan

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Name = Annotated[str, typer.Argument(help="The connection.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

connections_app = typer.Typer(help="Connected sources: their state, errors, readers and syncs.", no_args_is_help=True)


@asynccontextmanager
async def _open(*, models: bool, index: bool = True) -> "AsyncIterator[Footnote]":
    from bot.container import open_footnote
    from bot.settings import load_settings

    async with open_footnote(load_settings(), models=models, index=index) as footnote:
        yield footnote


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(connect)
    app.add_typer(connections_app, name="connections")


def connect(
    kind: Annotated[str, typer.Argument(help="What to connect, for example confluence.")],
    name: Annotated[str, typer.Option(help="A name. The names of its knowledge bases begin with it.")] = "",
    given: Annotated[list[str] | None, typer.Option("--set", help="A setting, for example url=https://….")] = None,
    secret_file: Annotated[Path | None, typer.Option(help="A file with the token, instead of typing it.")] = None,
    readers: Annotated[
        list[str] | None, typer.Option(help=("Who can read the documents, if the source does not say."))
    ] = None,
    minutes: Annotated[int, typer.Option(min=5, max=1440, help="The time between two syncs.")] = 15,
    hours: Annotated[
        int,
        typer.Option(min=1, max=720, help=("How long documents stay visible if their readers cannot be looked up.")),
    ] = 24,
    only_check: Annotated[bool, typer.Option("--check", help="Check the settings without saving them.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=("Show what a sync would do, without changing anything."))
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Connect a source, with the rights that it states, and keep it in sync.

    It asks for what it needs, or takes it from --set and the environment; a token is never an argument. It checks the
    token, counts the documents, and starts. The same name again replaces the settings.
    """
    from adapters.connectors.registry import connector_plugin
    from adapters.terminal.operator import OPERATOR

    async def work() -> int:
        plugin = connector_plugin(kind)
        values = _values(plugin, given or [], secret_file)
        readable_by = (readers or []) if plugin.states_readers else readers or _ask_readers(plugin)
        async with _open(models=not (only_check or dry_run)) as footnote:
            connections = footnote.knowledge_stack.connections
            check = await connections.check(kind, values)
            if only_check:
                return _print_check(plugin, check, as_json)
            if dry_run:
                plan = await connections.preview(name or kind, kind, values, OPERATOR, readers=readable_by)
                return _print_plan(plan, as_json)
            if not as_json:
                _print_check(plugin, check, as_json)
            _confirm("Connect it?", yes=yes)
            made = await connections.connect(
                name or kind, kind, values, OPERATOR, readers=readable_by, minutes=minutes, hours=hours
            )
            return await _sync(footnote, made, as_json)

    finish(work())


def _values(plugin: "ConnectorPlugin", given: list[str], secret_file: Path | None) -> "Mapping[str, str]":
    """Return settings from options, environment or answers. Raises ConfigurationError, BadParameter."""
    values: dict[str, str] = {}
    fields = {one.name: one for one in plugin.fields}
    for pair in given:
        key, sign, value = pair.partition("=")
        if not sign or key not in fields:
            raise typer.BadParameter(f"{key} is not a setting of {plugin.title}. Its settings: {', '.join(fields)}.")
        if fields[key].secret:
            raise typer.BadParameter(
                f"Do not pass a token as an argument. Use --secret-file or {fields[key].variable}, or type it when"
                " asked."
            )
        values[key] = value
    for one in plugin.fields:
        values[one.name] = values.get(one.name) or _from_outside(one, secret_file)
    missing = [one for one in plugin.fields if not values[one.name]]
    if not sys.stdin.isatty():
        if lacking := [one for one in missing if one.required]:
            names = ", ".join(one.variable or f"--set {one.name}=…" for one in lacking)
            raise ConfigurationError(f"{plugin.title} needs more settings.", remedy=f"Set {names}.")
        return values
    for one in missing:
        hint = f" ({one.help})" if one.help else ""
        values[one.name] = str(
            typer.prompt(f"{one.label}{hint}", default=one.default, show_default=False, hide_input=one.secret)
        ).strip()
    return values


def _from_outside(one: "SettingField", secret_file: Path | None) -> str:
    if one.secret and secret_file is not None:
        try:
            return secret_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{secret_file} cannot be read.", remedy="Name a text file.") from error
    return os.environ.get(one.variable, "").strip() if one.variable else ""


def _ask_readers(plugin: "ConnectorPlugin") -> list[str]:
    """Ask who may read a source that does not say. Raises ConfigurationError without a terminal."""
    if not sys.stdin.isatty():
        raise ConfigurationError(f"{plugin.title} does not say who may read.", remedy="Set the readers with --readers.")
    say(f"{plugin.title} does not say who may read. Readers look like slack:team:T1, discord:role:1/2 or "
        "mail:user:ada@example.org.")  # fmt: skip
    return str(typer.prompt("Who may read it, with spaces between them")).split()


def _print_check(plugin: "ConnectorPlugin", check: "SourceCheck", as_json: bool) -> int:
    from core.service.sync.connections import check_lines

    if as_json:
        found = {"account": check.account, "documents": check.documents, "example": check.example}
        print_json({**found, "warnings": list(check.warnings), "scopes": list(plugin.scopes)})
        return 0
    for line in check_lines(plugin, check):
        say(line)
    return 0


def _print_plan(plan: "SyncPlan", as_json: bool) -> int:
    if as_json:
        from dataclasses import asdict

        print_json(asdict(plan))
        return 0
    say(f"Nothing was changed. A sync would read {plan.new:,} new and {plan.changed:,} changed documents of "
        f"{plan.documents:,}, and remove {plan.gone:,}.")  # fmt: skip
    say(
        f"They have {count(plan.classes, 'different set')} of readers. Nobody here could read {plan.unreadable:,} of"
        " them."
    )
    for group in plan.groups:
        say(f"No member of group {group} is known here. Map it with footnote connections map NAME {group} PRINCIPAL.")
    for title in plan.titles:
        say(f"  {title}")
    return 0


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise ConfirmationMissing(question, remedy="Confirm with --yes.")
    typer.confirm(question, default=True, abort=True)


async def _sync(footnote: "Footnote", connection: "Connection", as_json: bool) -> int:
    """Sync now, here or in another process that serves the same data, and show the result."""
    import json

    from adapters.terminal.console import SafeConsole
    from adapters.terminal.job_progress import follow_jobs
    from adapters.terminal.operator import operator
    from core.model.jobs import JobState
    from core.model.json_codec import to_json
    from core.service.kb.summaries import summarize_job

    stack = footnote.knowledge_stack
    say_losses(footnote)
    job = await stack.connections.begin_sync(connection, operator())
    console = SafeConsole(stderr=as_json)
    ended = await follow_jobs(console, [summarize_job(job)], stack.deps.jobs, stack.terminal_worker, quiet=as_json)
    if as_json:
        print_json([json.loads(to_json(one)) for one in ended])
    else:
        (overview,) = [one for one in await stack.connections.overview() if one.connection.name == connection.name]
        _print_overview(overview)
    return 0 if all(one.state is JobState.DONE and not one.failed_items for one in ended) else 1


# --- connections


@connections_app.command("list")
def list_(as_json: Json = False) -> None:
    """List the connections: how far each is, and what went wrong since when."""
    finish(_list("", as_json))


@connections_app.command()
def show(name: Name, as_json: Json = False) -> None:
    """One connection, with every document that could not be read."""
    finish(_list(name, as_json))


async def _list(name: str, as_json: bool) -> int:
    async with _open(models=False, index=False) as footnote:
        connections = footnote.knowledge_stack.connections
        chosen = (await connections.find(name)).name if name else ""
        found = [one for one in await connections.overview() if chosen in ("", one.connection.name)]
    if as_json:
        print_json([_as_json(one) for one in found])
        return 0
    if not found:
        say("Nothing is connected. Connect a source, for example with footnote connect confluence.")
    for one in found:
        _print_overview(one, every=bool(name))
    return 0


def _print_overview(one: "ConnectionOverview", *, every: bool = False) -> None:
    from core.service.sync.documents import listed_item

    connection, state = one.connection, one.state
    when = f"{state.rights_at:%Y-%m-%d %H:%M}" if state.rights_at else "never"
    say(f"{connection.name}  {connection.kind}  {count(one.documents, 'document')}  rights read: {when} UTC")
    if state.failure and state.failed_since:
        say(f"  failing since {state.failed_since:%Y-%m-%d %H:%M} UTC: {state.failure}")
    if state.unmapped:
        say(f"  {count(state.unmapped, 'document')} not read: none of the readers is known here")
    if state.unread:
        say(f"  not read: {', '.join(f'{number} {kind}' for kind, number in sorted(state.unread.items()))}")
    for group, named in state.groups.items():
        say(f"  nobody is known of group {group} ({count(named, 'document')}): "
            f"footnote connections map {connection.name} {group} PRINCIPAL")  # fmt: skip
    shown = one.failing if every else one.failing[:5]
    for item in shown:
        since = f"{item.failed_since:%Y-%m-%d %H:%M} UTC" if item.failed_since else ""
        say(f"  not read since {since}: {listed_item(item).title}: {item.reason}")
    if len(one.failing) > len(shown):
        say(f"  and {len(one.failing) - len(shown)} more: footnote connections show {connection.name}")


def _as_json(one: "ConnectionOverview") -> dict[str, object]:
    """Return a connection without its secrets."""
    import json

    from core.model.json_codec import to_json
    from core.service.sync.documents import listed_item

    kept = json.loads(to_json(one.connection))
    failing = [
        {"title": listed_item(item).title, "reason": item.reason, "since": str(item.failed_since)}
        for item in one.failing
    ]
    state = json.loads(to_json(one.state))
    return {
        **{key: value for key, value in kept.items() if key != "secrets"},
        "state": {key: value for key, value in state.items() if key not in {"readers", "cursor"}},
        "documents": one.documents,
        "failing": failing,
    }


@connections_app.command()
def sync(
    name: Name,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=("Show what it would do, without changing anything."))
    ] = False,
    as_json: Json = False,
) -> None:
    """Sync a connection now. ``footnote serve`` does that by itself while it runs."""
    finish(_sync_now(name, dry_run, as_json))


async def _sync_now(name: str, dry_run: bool, as_json: bool) -> int:
    async with _open(models=not dry_run) as footnote:
        connections = footnote.knowledge_stack.connections
        if dry_run:
            return _print_plan(await connections.plan(name), as_json)
        return await _sync(footnote, await connections.find(name), as_json)


@connections_app.command("map")
def map_(
    name: Name,
    group: Annotated[str, typer.Argument(help="A group's id, a person's id, * for everyone, ** for anyone.")],
    principals: Annotated[list[str] | None, typer.Argument(help="Its members here. Without any: nobody.")] = None,
) -> None:
    """Say who holds a group of the source, as slack:team:T1, slack:group:T1/S1, discord:role:1/2 or mail:user:ADDRESS.

    It takes effect at the next sync, which is due at once.
    """
    finish(_map(name, group, principals or []))


async def _map(name: str, group: str, principals: list[str]) -> int:
    from adapters.terminal.operator import OPERATOR

    async with _open(models=False, index=False) as footnote:
        connection = await footnote.knowledge_stack.connections.map_group(name, group, principals, OPERATOR)
    held = ", ".join(sorted(connection.mapping.get(group, frozenset()))) or "nobody"
    say(f"Group {group} of {connection.name} is {held}, from the next sync on.")
    return 0


@connections_app.command()
def remove(name: Name, yes: Yes = False) -> None:
    """Forget a connection and its token, and take all of its documents out. Nothing changes at the source."""
    finish(_remove(name, yes))


async def _remove(name: str, yes: bool) -> int:
    from adapters.terminal.operator import OPERATOR

    async with _open(models=False) as footnote:
        connections = footnote.knowledge_stack.connections
        connection = await connections.find(name)
        _confirm(f"Forget {connection.name} and remove its documents?", yes=yes)
        removed = await connections.disconnect(name, OPERATOR)
    say(f"{connection.name} is no longer connected. Removed: {count(removed, 'document')}.")
    return 0
