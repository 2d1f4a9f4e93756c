"""How it goes on running when the terminal is closed: a systemd unit of one's own, or the compose file."""

import os
import shutil
import sys
from pathlib import Path

from bot.setup.dialogue import Dialogue
from core.model.errors import ConfigurationError

UNIT = "footnote.service"


def offer(dialogue: Dialogue, home: Path) -> None:
    """Say how to start it now, and write the unit where systemd is there and it is wanted."""
    dialogue.heading("Start it")
    dialogue.say("  footnote serve")
    if shutil.which("systemctl"):
        path = unit_path()
        dialogue.say(f"systemd can keep it running, with {path}.")
        if dialogue.confirm("Write that file?"):
            write_unit(path, home)
            dialogue.say("Written. These start it, also after you log out and after a restart:")
            dialogue.say("  systemctl --user daemon-reload")
            dialogue.say("  systemctl --user enable --now footnote")
            dialogue.say("  loginctl enable-linger")
    dialogue.say("With Docker instead, in a clone of the repository (it keeps its data in volumes of its own):")
    dialogue.say(f"  cp {home / '.env'} .env")
    dialogue.say('  echo "REDIS_PASSWORD=$(openssl rand -hex 24)" >> .env')
    dialogue.say("  docker compose up -d")


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
Description=Footnote, answers from your team's documents in Slack and Discord
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
