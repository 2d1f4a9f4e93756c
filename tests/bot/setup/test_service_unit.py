"""What keeps it running: a unit that systemd itself accepts."""

import shutil
import subprocess
from pathlib import Path

import pytest

from bot.setup.service_unit import unit_path, unit_text, write_unit


def test_the_unit_starts_this_python_with_the_same_data_and_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"WorkingDirectory={tmp_path / 'home'}\n" in unit_text(tmp_path / "home")
    (tmp_path / ".env").touch()
    assert f"WorkingDirectory={tmp_path}\n" in unit_text(tmp_path / "home")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_takes_the_unit_also_for_a_folder_with_odd_signs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / 'odd "50% more" home'
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    write_unit(unit_path(), home)
    said = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit_path())], capture_output=True, text=True, check=False
    )
    assert "footnote.service" not in said.stderr, said.stderr
