"""How it goes on running when the terminal is closed: a systemd unit of one's own, or the compose file."""

import os
import shutil
import sys
from pathlib import Path

from core.model.errors import ConfigurationError
from core.model.setup_steps import RunningOptions

UNIT = "footnote.service"
START = "footnote serve"
UNIT_COMMANDS = (
    "systemctl --user daemon-reload",
    "systemctl --user enable --now footnote",
    "loginctl enable-linger",
)


def options(home: Path) -> RunningOptions:
    """How it is started now, by systemd where that is there, and by Docker."""
    unit = unit_path() if shutil.which("systemctl") else None
    return RunningOptions(
        start=START,
        unit=str(unit or ""),
        unit_written=unit is not None and unit.is_file() and unit.read_text(encoding="utf-8") == unit_text(home),
        unit_commands=UNIT_COMMANDS,
        compose_commands=(
            f"cp {home / '.env'} .env",
            'echo "REDIS_PASSWORD=$(openssl rand -hex 24)" >> .env',
            "docker compose up -d",
        ),
    )


def unit_path() -> Path:
    """Where systemd looks for a user's own units."""
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "systemd" / "user" / UNIT


def write_unit(path: Path, home: Path) -> None:
    """Write the unit. Raises ConfigurationError where that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(unit_text(home), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}.") from None


def unit_text(home: Path) -> str:
    """The unit: the same interpreter, data directory and .env as here."""
    here = Path.cwd()
    folder = here if (here / ".env").is_file() else home
    return f"""\
[Unit]
Description=Footnote, answers from your team's documents
Wants=network-online.target
After=network-online.target

[Service]
Environment={_quote(f"FOOTNOTE_HOME={home}")}
WorkingDirectory={_escape(str(folder))}
ExecStart={_quote(sys.executable)} -m bot serve
Restart=on-failure
RestartSec=5
TimeoutStopSec=35
UMask=0077

[Install]
WantedBy=default.target
"""


def _escape(text: str) -> str:
    return text.replace("%", "%%")


def _quote(text: str) -> str:
    """As systemd reads a word with spaces: https://www.freedesktop.org/software/systemd/man/systemd.syntax.html."""
    inside = _escape(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inside}"'
