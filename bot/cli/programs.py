"""Access for programs: ``token create``, ``token list``, ``token revoke`` and ``mcp``."""

from typing import TYPE_CHECKING, Annotated

import typer

from adapters.terminal.output import print_json, say
from bot.cli.runner import finish

if TYPE_CHECKING:
    from core.ports.access import ApiToken

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

token = typer.Typer(help="Let other programs ask and search over /v1 and MCP.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.add_typer(token, name="token")
    app.command()(mcp)


@token.command()
def create(
    name: Annotated[str, typer.Option(help="Its purpose, as shown in the list.")] = "a program",
    scope: Annotated[
        str, typer.Option(help=("Its permissions: ask, search or ingest. Separate several with commas."))
    ] = "ask,search",
    kb: Annotated[
        list[str] | None, typer.Option("--kb", help=("A knowledge base that it can read. Repeat for more."))
    ] = None,
    rate: Annotated[int, typer.Option(min=1, max=6_000, help="Requests allowed per minute.")] = 60,
    public: Annotated[bool, typer.Option("--public", help="Show the text of its questions in footnote gaps.")] = False,
    as_json: Json = False,
) -> None:
    """Make a token. It is shown once.

    It reads open knowledge bases, or those named with --kb, which are granted to it where they are not open. With
    --scope ingest it adds documents to those named, and replaces and deletes those that it added.
    """
    finish(_create(name, scope, kb or [], rate, public, as_json))


async def _create(name: str, scope: str, bases: list[str], rate: int, public: bool, as_json: bool) -> int:
    from adapters.terminal.operator import OPERATOR
    from bot.container import open_footnote
    from bot.programs import api_clients
    from bot.settings import load_settings
    from core.ports.access import TokenScope

    wanted = [part.strip().lower() for part in scope.split(",") if part.strip()]
    if unknown := [part for part in wanted if part not in set(TokenScope)]:
        raise typer.BadParameter(f"There is no scope {unknown[0]}; there are: {', '.join(TokenScope)}.")
    async with open_footnote(load_settings(), models=False, index=False) as footnote:
        scopes = {TokenScope(part) for part in wanted}
        made, secret = await api_clients(footnote).create(name, scopes, bases, OPERATOR, rate=rate, public=public)
    if as_json:
        print_json({"id": made.id, "token": secret})
        return 0
    typer.echo(secret)
    say(f"{_line(made)}\nThe token above is shown only once. Send it as Authorization: Bearer TOKEN.", err=True)
    return 0


@token.command("list")
def list_(as_json: Json = False) -> None:
    """List the tokens, without their secrets."""
    finish(_list(as_json))


async def _list(as_json: bool) -> int:
    import json

    from bot.container import open_footnote
    from bot.programs import api_clients
    from bot.settings import load_settings
    from core.model.json_codec import to_json

    async with open_footnote(load_settings(), models=False, index=False) as footnote:
        tokens = await api_clients(footnote).tokens.all()
    if as_json:
        print_json([json.loads(to_json(one)) for one in tokens])
    elif not tokens:
        say("There are no tokens yet. Create one with footnote token create.")
    for one in tokens if not as_json else ():
        say(_line(one))
    return 0


@token.command()
def revoke(token_id: Annotated[str, typer.Argument(help="The token's id, as shown in the list.")]) -> None:
    """Make a token open nothing any more, at once."""
    finish(_revoke(token_id))


async def _revoke(token_id: str) -> int:
    from adapters.terminal.operator import OPERATOR
    from bot.container import open_footnote
    from bot.programs import api_clients
    from bot.settings import load_settings

    async with open_footnote(load_settings(), models=False, index=False) as footnote:
        gone = await api_clients(footnote).revoke(token_id, OPERATOR)
    say(f"{gone.id} is revoked.")
    return 0


def _line(one: "ApiToken") -> str:
    from core.model.plain_text import one_line

    bases = ", ".join(sorted(one.bases)) if one.bases else "open knowledge bases"
    until = f"revoked {one.revoked_at:%Y-%m-%d}" if one.revoked_at else f"{one.rate} requests a minute"
    made = f"made {one.created_at:%Y-%m-%d}"
    return one_line(f"{one.id}  {one.name}: {', '.join(sorted(one.scopes))}; {bases}; {until}; {made}")


PORT = 8090


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help=("Serve over streamable HTTP, for programs with a token."))
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port for --http. 0 picks a free one.")] = PORT,
) -> None:
    """Let other agents search and ask, by the Model Context Protocol.

    Without --http over standard input and output: as the person who starts it, or as the token in MCP_TOKEN.
    """
    finish(_over_http(port) if http else _over_stdio())


async def _over_stdio() -> int:
    from bot.container import open_footnote
    from bot.programs import local_mcp
    from bot.settings import load_settings

    settings = load_settings()
    async with open_footnote(settings) as footnote:
        await (await local_mcp(settings, footnote)).run_stdio_async()
    return 0


async def _over_http(port: int) -> int:
    from adapters.http_bounds import HttpBounds
    from adapters.mcp.server import serve_http
    from adapters.platform_plugin import split_names
    from bot.container import open_footnote
    from bot.programs import remote_mcp
    from bot.settings import load_settings

    settings = load_settings()
    async with open_footnote(settings) as footnote:
        bounds = HttpBounds(proxies=split_names(settings.web_proxies))
        await serve_http(remote_mcp(footnote), settings.http_host, port, typer.echo, bounds)
    return 0
