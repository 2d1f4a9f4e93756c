"""Documents: ``ingest``, ``search``, ``sources``."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.terminal.output import print_json, say
from bot.cli.runner import ConfirmationMissing, finish, open_to_read, require_paths, say_losses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.ingestion.ingestor import IngestResult

INDEX_INCOMPLETE = "This index does not have the catalog's other documents. footnote kb repair adds them."
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FolderName = Annotated[
    str, typer.Option("--name", help="The name of the folder in Footnote. If the folder has moved, its earlier name.")
]
Kb = Annotated[str | None, typer.Option("--kb", help="Search only this knowledge base.")]
sources = typer.Typer(help="What is indexed: documents, versions, passages, when.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(ingest)
    app.command()(search)
    app.add_typer(sources, name="sources")


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders. Folders are read with all subfolders.")],
    kb: Annotated[str, typer.Option("--kb", help="The knowledge base. A new name creates one.")] = "default",
    as_json: Json = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=("Show what would change, without changing anything."))
    ] = False,
    name: FolderName = "",
) -> None:
    """Bring files and folders in. Exit 0: all well; 1: some failed, the rest are indexed.

    A second folder of the same name gets a name of its own. For 7 days, kb restore brings back what was replaced.
    """
    require_paths(paths)
    if not kb.strip():
        raise typer.BadParameter("The knowledge base needs a name.")
    finish(ingest_paths(paths, kb.strip(), as_json=as_json, dry_run=dry_run, name=name))


async def ingest_paths(
    paths: list[Path], kb: str, *, as_json: bool = False, dry_run: bool = False, name: str = ""
) -> int:
    """Ingest these paths and show the results. Return 1 if one failed.

    Raises BadParameter if there is nothing to read.
    """
    from adapters.documents.folders import find_refused_files, local_files
    from adapters.terminal.console import SafeConsole
    from adapters.terminal.ingest_view import ingest_files, preview_files, report, report_missing, report_naming
    from bot.container import open_footnote
    from bot.settings import load_settings
    from core.ingestion.ingestor import Change, IngestResult

    files = local_files(paths)
    refused = [IngestResult(one.source, Change.FAILED, reason=one.reason) for one in find_refused_files(paths)]
    if not files and not refused:
        raise typer.BadParameter("There is no readable file in this folder.")
    console = SafeConsole(stderr=as_json)
    async with open_footnote(load_settings(), any_index=True) as footnote:
        client, consistency = footnote.knowledge_stack.ingest_client(), footnote.knowledge_stack.deps.consistency
        if not dry_run:
            await consistency.settle()  # claims an empty index for the catalog before anything is in it
        naming = await client.kb.name_files(files, kb, client.caller, name=name, dry=dry_run)
        report_naming(console, naming)
        if dry_run:
            results = await preview_files(client.kb, client.caller, naming.files, kb)
        else:
            results = await ingest_files(console, client, naming.files, kb, quiet=as_json)
        results = [*results, *refused]
        complete = dry_run or await consistency.settle()
        say_losses(footnote)
    if as_json:
        print_json(_ingest_json(results))
    else:
        if dry_run:
            console.print("Nothing was changed. This would change:")
        report(console, results)
        report_missing(console, naming.missing)
    if not complete:
        console.print(INDEX_INCOMPLETE, soft_wrap=True)
    return 1 if any(r.change == "failed" for r in results) else 0


def _ingest_json(results: "Sequence[IngestResult]") -> dict[str, object]:
    count = Counter(result.change.value for result in results)
    return {
        **{change: count[change] for change in ("added", "updated", "unchanged")},
        **{
            change: [{"file": one.source, "reason": one.reason} for one in results if one.change == change]
            for change in ("skipped", "failed")
        },
        "passages": sum(result.passages for result in results),
    }


def search(
    query: Annotated[str, typer.Argument(help="Keywords or a question.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="The number of passages to show.")] = 10,
    kb: Kb = None,
    source: Annotated[str | None, typer.Option(help="Search only this document, by title or path.")] = None,
    as_json: Json = False,
) -> None:
    """Search without answering: passages with the score of each leg."""
    if not query.strip():
        raise typer.BadParameter("The search is empty.")
    finish(_search(query, k, kb, source, as_json))


async def _search(query: str, k: int, kb: str | None, source: str | None, as_json: bool) -> int:
    from adapters.terminal.console import SafeConsole
    from adapters.terminal.passage_view import hit_as_json, print_hits
    from core.service.api_clients import local_owner

    async with open_to_read() as footnote:
        found = await footnote.knowledge_reader().search(
            local_owner(), query, base=kb or "", source=source or "", limit=k
        )
    if as_json:
        print_json([hit_as_json(hit) for hit in found.hits])
    else:
        print_hits(SafeConsole(), found.hits)
    return 0


@sources.command("list")
def list_sources(kb: Kb = None, as_json: Json = False) -> None:
    """All documents, by knowledge base and title."""
    finish(_list(kb, as_json))


async def _list(kb: str | None, as_json: bool) -> int:
    from adapters.terminal.console import SafeConsole
    from adapters.terminal.operator import operator
    from adapters.terminal.passage_view import print_documents

    async with open_to_read(models=False, index=False) as footnote:
        documents = await footnote.knowledge_stack.kb_service.documents(operator(), kb or "")
    if as_json:
        print_json([asdict(document) for document in documents])
    else:
        print_documents(SafeConsole(), documents)
    return 0


@sources.command("show")
def show_source(
    name: Annotated[str, typer.Argument(help="A title, a path or an id.")], kb: Kb = None, as_json: Json = False
) -> None:
    """One document: its version, when it came, and its passages."""
    finish(_show(name, kb, as_json))


async def _show(name: str, kb: str | None, as_json: bool) -> int:
    from adapters.terminal.console import SafeConsole
    from adapters.terminal.operator import operator
    from adapters.terminal.passage_view import passage_as_json, print_document

    async with open_to_read(models=False, index=False) as footnote:
        document, passages = await footnote.knowledge_stack.kb_service.document(name, operator(), kb or "")
    if as_json:
        print_json({**asdict(document), "text": [passage_as_json(passage) for passage in passages]})
    else:
        print_document(SafeConsole(), document, passages)
    return 0


@sources.command("remove")
def remove_source(
    name: Annotated[str, typer.Argument(help="A title, a path or an id.")],
    kb: Kb = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Take a document out, and show that nothing finds it. For 7 days, kb restore puts it back."""
    finish(_remove(name, kb, yes, as_json))


async def _remove(name: str, kb: str | None, yes: bool, as_json: bool) -> int:
    import sys

    from adapters.terminal.job_progress import result_text
    from adapters.terminal.operator import operator
    from bot.container import open_footnote
    from bot.settings import load_settings
    from core.service.kb.commands import KbCommand, KbVerb
    from core.service.kb.results import DocumentRemoved

    async with open_footnote(load_settings(), models=False) as footnote:
        document, _ = await footnote.knowledge_stack.kb_service.document(name, operator(), kb or "")
        question = f"Remove “{document.title}” ({document.source}) from {document.knowledge_base}?"
        if not yes and not sys.stdin.isatty():
            raise ConfirmationMissing(question, remedy="Confirm with --yes.")
        if not yes:
            typer.confirm(question, abort=True)
        command = KbCommand(KbVerb.REMOVE, document.knowledge_base, document.id, confirmed=True)
        result = await footnote.knowledge_stack.kb_service.handle(command, operator())
    removed = isinstance(result, DocumentRemoved)
    left = result.passages_left if isinstance(result, DocumentRemoved) else document.passages
    if as_json:
        print_json({"removed": document.source, "title": document.title, "passages_left": left})
    else:
        say(result_text(result), err=not removed)
    return 0 if removed and not left else 1
