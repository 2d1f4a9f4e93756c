"""The systemd units, judged by systemd itself."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot.setup.service_unit import ServiceUnit, system_unit, unit_text, user_unit, write_unit
from core.model.errors import ConfigurationError

NEEDS_SYSTEMD = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
MOST_EXPOSED = 2.5  # of 10; systemd calls less than 4 OK and less than 2 safe


def test_the_unit_starts_this_python_with_the_same_data_and_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"WorkingDirectory={tmp_path / 'home'}\n" in unit_text(tmp_path / "home")
    (tmp_path / ".env").touch()
    assert f"WorkingDirectory={tmp_path}\n" in unit_text(tmp_path / "home")


@NEEDS_SYSTEMD
def test_systemd_takes_the_unit_also_for_a_folder_with_odd_signs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / 'odd "50% more" home'
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    unit = user_unit(home)
    write_unit(unit)
    assert "footnote.service" not in analyze("verify", "--man=no", str(unit.path)).stderr


@pytest.fixture
def installed_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter that every user may read."""
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")


@NEEDS_SYSTEMD
@pytest.mark.usefixtures("installed_for_all")
def test_systemd_calls_the_unit_of_the_machine_hardened(tmp_path: Path) -> None:
    unit = system_unit()._replace(path=tmp_path / "footnote.service")
    write_unit(unit)
    assert "footnote.service" not in analyze("verify", "--man=no", str(unit.path)).stderr
    exposure = analyze("security", "--offline=true", str(unit.path)).stdout
    found = re.search(r"Overall exposure level for footnote.service: ([\d.]+)", exposure)
    assert found is not None, exposure
    assert float(found[1]) <= MOST_EXPOSED


@pytest.mark.usefixtures("installed_for_all")
def test_the_unit_of_the_machine_reads_its_secrets_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "EnvironmentFile=-/etc/footnote.env" in system_unit().text
    assert "DynamicUser=yes" in system_unit().text
    with pytest.raises(ConfigurationError, match="Could not write"):
        write_unit(ServiceUnit(tmp_path / "file" / "footnote.service", "", ()))


def test_refuses_a_unit_that_could_not_read_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/root/.local/bin/python")
    with pytest.raises(ConfigurationError, match="installed for one user") as refused:
        system_unit()
    assert "pipx install --global" in (refused.value.remedy or "")


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, check=False, timeout=60)
