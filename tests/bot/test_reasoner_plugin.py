"""A reasoner of somebody else's package, chosen by REASONER, answers in a real process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.test_slack_process import ROOT, environment

pytestmark = [pytest.mark.e2e, pytest.mark.live, pytest.mark.timeout(400)]

PACKAGE = """
from contextlib import asynccontextmanager

from adapters.reasoner_plugin import ReasonerPlugin
from pydantic import BaseModel


class Settings(BaseModel):
    motto: str = ""


class Parrot:
    def __init__(self, standby, motto):
        self.standby, self.motto = standby, motto

    name = "parrot"

    def __getattr__(self, name):
        return getattr(self.standby, name)

    async def understand(self, inquiry, thread, meter):
        print("motto:", self.motto)
        return await self.standby.understand(inquiry, thread, meter)


class ParrotPlugin(ReasonerPlugin[Settings]):
    name = "parrot"
    settings = Settings

    @asynccontextmanager
    async def open(self, settings, deps):
        yield Parrot(deps.standby, settings.motto)
        print("closed")


PLUGIN = ParrotPlugin()
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the installed package."""
    site = tmp_path / "site"
    info = site / "footnote_parrot-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "footnote_parrot.py").write_text(PACKAGE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: footnote-parrot\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[footnote.reasoners]\nparrot = footnote_parrot:PLUGIN\n")
    return site


def run(home: Path, site: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join((str(site), str(ROOT)))
    return subprocess.run(
        [sys.executable, "-m", "bot", *words],
        env=environment(home) | {"PYTHONPATH": paths} | more,
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_it_writes_the_answer_with_its_own_settings_and_is_closed(tmp_path: Path, site: Path) -> None:
    (tmp_path / "lift.md").write_text("# Lift\n\nMr Otis inspects the lift.")
    home = tmp_path / "home"
    assert run(home, site, "ingest", str(tmp_path / "lift.md")).returncode == 0
    asked = run(
        home, site, "ask", "Who inspects the lift?", "--json", REASONER="parrot", PARROT_MOTTO="pieces of eight"
    )
    assert asked.returncode == 0, asked.stderr
    first, *shown, last = asked.stdout.splitlines()
    assert (first, last) == ("motto: pieces of eight", "closed")
    answer = json.loads("\n".join(shown))
    assert "Mr Otis inspects the lift" in json.dumps(answer)
    assert "parrot" in json.dumps(answer)


def test_a_reasoner_that_is_not_installed_is_refused_by_name(tmp_path: Path, site: Path) -> None:
    asked = run(tmp_path / "home", site, "ask", "Who?", REASONER="macaw")
    assert asked.returncode != 0
    assert "REASONER is 'macaw', which is not installed; installed: parrot." in " ".join(asked.stderr.split())
