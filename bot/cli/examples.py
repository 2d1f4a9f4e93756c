"""One example for every command, shown at the end of its ``--help``. A test reads each as the shell would."""

from collections.abc import Iterator

import typer

EXAMPLES: dict[str, str] = {
    "ask": 'footnote ask "Who approves refunds?"',
    "audit": "footnote audit -n 20",
    "backup": "footnote backup /backups/today",
    "chat": "footnote chat --kb handbook",
    "connections list": "footnote connections list",
    "connections map": "footnote connections map wiki GROUP slack:team:T0AB12",
    "connections remove": "footnote connections remove wiki",
    "connections show": "footnote connections show wiki",
    "connections sync": "footnote connections sync wiki --dry-run",
    "connect": "footnote connect confluence --name wiki",
    "check": "footnote check tests.yaml --junit report.xml",
    "demo": "footnote demo",
    "doctor": "footnote doctor",
    "eval": "footnote eval our-answers.jsonl",
    "feedback export": "footnote feedback export liked.yaml",
    "forget": "footnote forget --person slack:T0AB12/U0CD34",
    "gaps": "footnote gaps --since 12w --csv gaps.csv",
    "ingest": "footnote ingest handbook/ prices.xlsx --kb sales",
    "kb approve": "footnote kb approve 3f2a",
    "kb cancel": "footnote kb cancel 3f2a",
    "kb confirm": "footnote kb confirm handbook",
    "kb create": 'footnote kb create handbook "How we work" --grant slack:channel:T0AB12/C0EF56',
    "kb describe": 'footnote kb describe handbook "How we work"',
    "kb grant": "footnote kb grant handbook slack:channel:T0AB12/C0EF56",
    "kb ingest": "footnote kb ingest https://example.com/docs --limit 50 --kb product",
    "kb jobs": "footnote kb jobs",
    "kb list": "footnote kb list",
    "kb proposals": "footnote kb proposals",
    "kb refresh": "footnote kb refresh --kb product",
    "kb reject": "footnote kb reject 3f2a",
    "kb remove": "footnote kb remove prices.xlsx --kb sales",
    "kb repair": "footnote kb repair",
    "kb restore": "footnote kb restore prices.xlsx --kb sales",
    "kb revoke": "footnote kb revoke handbook slack:channel:T0AB12/C0EF56",
    "kb schedule": "footnote kb schedule https://example.com/docs daily --kb product",
    "kb show": "footnote kb show --kb product",
    "kb status": "footnote kb status",
    "manifest": "footnote manifest slack",
    "mcp": "footnote mcp --http --port 8090",
    "restore": "footnote restore /backups/today",
    "resume": "footnote resume 9c41d0 2",
    "search": 'footnote search "refund approval" -k 5',
    "serve": "footnote serve",
    "service install": "footnote service install --system",
    "setup": "footnote setup slack",
    "sources list": "footnote sources list --kb sales",
    "sources remove": "footnote sources remove prices.xlsx",
    "sources show": "footnote sources show prices.xlsx",
    "token create": "footnote token create --name wiki --kb handbook",
    "token list": "footnote token list",
    "token revoke": "footnote token revoke 3f2a",
    "trace": "footnote trace 596002ff5ee946a6",
    "web": "footnote web",
}


def add_examples(app: typer.Typer) -> None:
    """Write each command's example below its help."""
    for name, command in commands_of(app):
        if name in EXAMPLES:
            command.epilog = f"Example:\n\n\b\n  {EXAMPLES[name]}"


def commands_of(app: typer.Typer, group: str = "") -> Iterator[tuple[str, typer.models.CommandInfo]]:
    """Every command with its name as it is typed, those of groups included."""
    for command in app.registered_commands:
        callback = command.callback.__name__ if command.callback is not None else ""
        yield f"{group}{command.name or callback.rstrip('_')}", command
    for inner in app.registered_groups:
        if inner.typer_instance is not None:
            yield from commands_of(inner.typer_instance, f"{group}{inner.name} ")
