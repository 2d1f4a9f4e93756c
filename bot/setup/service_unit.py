"""The systemd unit that keeps Footnote running, for one user or for the whole machine."""

import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from core.model.errors import ConfigurationError
from core.model.health import RunningOptions

UNIT = "footnote.service"
START = "footnote serve"
UNIT_COMMANDS = (
    "systemctl --user daemon-reload",
    "systemctl --user enable --now footnote",
    "loginctl enable-linger",
)
SYSTEM_UNIT = Path("/etc/systemd/system") / UNIT
SYSTEM_HOME = "/var/lib/footnote"  # systemd creates it as StateDirectory, for the unit's own user
SYSTEM_ENVIRONMENT = "/etc/footnote.env"
HIDDEN = ("/root", "/home", "/run/user")  # ProtectHome hides these from the system's unit
# Every parser runs in a child that leaves the network by a namespace of its own (adapters.documents.sandbox.child), so
# user and net namespaces stay allowed. torch and Valkey write code pages, so MemoryDenyWriteExecute is not set.
HARDENING = """\
DynamicUser=yes
StateDirectory=footnote
StateDirectoryMode=0700
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
PrivateDevices=yes
PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHome=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProtectSystem=strict
LockPersonality=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=user net
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service unshare
SystemCallErrorNumber=EPERM
"""


class ServiceUnit(NamedTuple):
    """A systemd unit: where it is written, what it says, and the commands that start it."""

    path: Path
    text: str
    commands: tuple[str, ...]


def user_unit(home: Path) -> ServiceUnit:
    """Return the unit of the user who runs this, with the same interpreter, data directory and .env as now."""
    return ServiceUnit(unit_path(), unit_text(home), UNIT_COMMANDS)


def system_unit() -> ServiceUnit:
    """Return the unit for the whole machine, hardened and run by a user that systemd creates.

    Raises ConfigurationError if Footnote is installed where that user cannot read it.
    """
    if sys.executable.startswith(HIDDEN):
        raise ConfigurationError(
            f"Footnote is installed for one user ({sys.executable}), so the service could not read it.",
            remedy="Install it for all users with pipx install --global, or in a virtual environment below /opt.",
        )
    commands = ("systemctl daemon-reload", "systemctl enable --now footnote", "journalctl -u footnote -f")
    return ServiceUnit(SYSTEM_UNIT, _system_unit_text(), commands)


def options(home: Path) -> RunningOptions:
    """Return how to start Footnote: now, by systemd if this machine has it, and by Docker."""
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
    """Return the path where systemd looks for a user's own unit."""
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "systemd" / "user" / UNIT


def write_unit(unit: ServiceUnit) -> None:
    """Write the unit. Raises ConfigurationError if that fails."""
    try:
        unit.path.parent.mkdir(parents=True, exist_ok=True)
        unit.path.write_text(unit.text, encoding="utf-8")
    except OSError as error:
        remedy = "Run the same command with sudo." if unit.path == SYSTEM_UNIT else None
        raise ConfigurationError(f"Could not write {unit.path}: {error.strerror}.", remedy=remedy) from None


def unit_text(home: Path) -> str:
    """Return the text of the user's unit: the same interpreter, data directory and .env as here."""
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


def _system_unit_text() -> str:
    return f"""\
[Unit]
Description=Footnote, answers from your team's documents
Wants=network-online.target
After=network-online.target

[Service]
Environment=FOOTNOTE_HOME={SYSTEM_HOME}
EnvironmentFile=-{SYSTEM_ENVIRONMENT}
WorkingDirectory={SYSTEM_HOME}
ExecStart={_quote(sys.executable)} -m bot serve
Restart=on-failure
RestartSec=5
TimeoutStopSec=35
UMask=0077
{HARDENING}
[Install]
WantedBy=multi-user.target
"""


def _escape(text: str) -> str:
    return text.replace("%", "%%")


def _quote(text: str) -> str:
    """Return text quoted for systemd: https://www.freedesktop.org/software/systemd/man/systemd.syntax.html."""
    inside = _escape(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inside}"'
