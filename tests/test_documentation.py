"""Documentation is complete and correct: settings, commands, and checkable sentences of the README."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from bot.__main__ import app
from bot.cli.help import commands_of
from bot.page import has_platform
from bot.settings import Settings
from core.model.channel_settings import THRESHOLDS, ChannelSettings
from core.service.message_router import MOST_A_DAY, MOST_AN_HOUR
from tests import build_messages
from tests.build_reference import REFERENCE, SETTINGS, reference_page, setting_names, settings_page

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))


def documented_settings() -> set[str]:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    return set(re.findall(r"^([A-Z][A-Z0-9_]+)=", text, re.MULTILINE))


def test_every_setting_is_a_line_of_the_example_file_and_nothing_else_is() -> None:
    assert setting_names() == documented_settings()


def test_the_pages_of_settings_and_of_options_say_what_the_code_says() -> None:
    for page, text in ((SETTINGS, settings_page()), (REFERENCE, reference_page())):
        assert page.read_text(encoding="utf-8") == text, f"{page.name}: python -m tests.build_reference"


def test_every_setting_and_every_option_is_on_its_page() -> None:
    settings, reference = SETTINGS.read_text(encoding="utf-8"), REFERENCE.read_text(encoding="utf-8")
    for name in setting_names():
        assert f"**`{name}`**" in settings
    for name, _ in commands_of(app):
        command: Any = get_command(app)
        for part in name.split():
            command = command.commands[part]
        section = reference.split(f"\n## footnote {name}\n")[1].split("\n## ")[0]
        for option in (option for parameter in command.params for option in parameter.opts if option.startswith("-")):
            assert f"`{option}`" in section, f"{name} {option}"


def test_the_site_builds_and_no_link_in_it_leads_nowhere(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "site" / "settings" / "index.html").is_file()


def test_every_setting_of_a_channel_is_on_its_page() -> None:
    page = (ROOT / "docs/channels.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(documented) == sorted(ChannelSettings().to_mapping())
    for number in (MOST_AN_HOUR, MOST_A_DAY, *THRESHOLDS.values()):
        assert re.search(rf"\b{number:g}\b", page), number


def test_the_example_file_is_itself_a_valid_configuration() -> None:
    settings = Settings(_env_file=ROOT / ".env.example")  # type: ignore[call-arg]
    assert settings.llm_model is None
    assert not has_platform(settings)


@pytest.mark.parametrize("command", sorted(get_command(app).commands))  # type: ignore[attr-defined]
def test_every_command_is_documented(command: str) -> None:
    assert f"`footnote {command}" in (ROOT / "docs/commands.md").read_text(encoding="utf-8")


def test_the_table_of_parity_names_every_shared_test_and_no_other() -> None:
    shared = (ROOT / "tests/e2e/test_both_platforms.py").read_text(encoding="utf-8")
    tests = re.findall(r"^async def test_(\w+)\(", shared, re.MULTILINE)
    rows = re.findall(
        r"^\| ([^|]+) \| ✓ \| ✓ \| ✓ \|$", (ROOT / "docs/parity.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert rows == [test.replace("_", " ") for test in tests]


def test_links_between_our_documents_lead_somewhere() -> None:
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_links_to_a_section_lead_to_a_heading() -> None:
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        text = re.sub(r"`[^`\n]*`", "", document.read_text(encoding="utf-8"))
        for target, section in re.findall(r"\]\((?!https?:|mailto:)([^)#]*)#([^)]+)\)", text):
            page = document.parent / target if target else document
            headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}
            assert section in slugs, f"{document.name} links to {target}#{section}"


def test_every_file_and_folder_that_the_documents_name_is_there() -> None:
    for document in (ROOT / "CONTRIBUTING.md", ROOT / "docs/architecture.md", ROOT / "docs/glossary.md"):
        for named in re.findall(r"`((?:core|adapters|bot|tests|docs)/[\w./*]*)`", document.read_text(encoding="utf-8")):
            assert list(ROOT.glob(named.rstrip("/"))), f"{document.name} names {named}"


def test_every_direct_dependency_is_in_the_table_with_the_version_that_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    versions = {name.casefold(): version for name, version in re.findall(r"^([\w.-]+)==(\S+)$", pins, re.MULTILINE)}
    needed = {re.split(r"[<>=;]", line)[0].casefold() for line in project["dependencies"]}
    table = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    rows = {
        name.casefold(): version for name, version in re.findall(r"^\| ([\w.-]+) \| ([\d.]\S*) \|", table, re.MULTILINE)
    }
    assert rows == {name: versions.get(name) or versions[name.replace("-", "_")] for name in needed}


class TestCompose:
    """The compose file, read without an engine."""

    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))

    def test_redis_keeps_an_append_only_file(self) -> None:
        assert "--appendonly yes" in self.compose["services"]["redis"]["command"]

    def test_redis_has_a_password_that_no_list_of_processes_shows(self) -> None:
        services = self.compose["services"]
        folder = services["bot"]["environment"]["CREDENTIALS_DIRECTORY"]
        assert f"redis-server {folder}/redis.conf" in services["redis"]["command"]
        assert "requirepass" not in services["redis"]["command"]
        assert "environment" not in services["redis"]

    def test_the_password_is_made_once_and_lies_where_only_the_bot_and_redis_read_it(self) -> None:
        services = self.compose["services"]
        mounted = {
            name: volume.removeprefix("credentials:")
            for name, service in services.items()
            for volume in service.get("volumes", ())
            if volume.startswith("credentials:")
        }
        folder = services["bot"]["environment"]["CREDENTIALS_DIRECTORY"]
        assert mounted == dict.fromkeys(("bot", "worker", "redis"), f"{folder}:ro") | {"credentials": folder}
        assert services["redis"]["depends_on"] == {"credentials": {"condition": "service_completed_successfully"}}
        assert services["credentials"]["network_mode"] == "none"

    def test_nothing_has_to_be_set_and_only_this_machine_reaches_the_page(self) -> None:
        bot = self.compose["services"]["bot"]
        assert ":?" not in (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
        assert bot["environment"]["WEB_LINK"] == "${WEB_LINK:-true}"
        assert all(port.startswith("127.0.0.1:") for port in bot["ports"])
        assert [name for name, service in self.compose["services"].items() if service.get("ports")] == ["bot"]

    def test_what_we_build_runs_read_only_and_as_nobody_in_particular(self) -> None:
        for name in ("bot", "worker", "credentials", "redis"):
            assert self.compose["services"][name]["read_only"] is True, name
        assert "USER 10001" in (ROOT / "Dockerfile").read_text(encoding="utf-8")

    def test_nothing_may_gain_rights_take_all_memory_or_fill_the_disk_with_its_log(self) -> None:
        for name, service in self.compose["services"].items():
            assert service["cap_drop"] == ["ALL"], name
            assert service["security_opt"] == ["no-new-privileges:true"], name
            assert service["mem_limit"], name
            assert service["logging"]["options"]["max-size"], name

    def test_the_object_store_has_no_default_credentials(self) -> None:
        minio = self.compose["services"]["minio"]["environment"]
        assert all("minioadmin" not in value for value in minio.values())

    def test_by_default_there_is_the_bot_with_its_redis(self) -> None:
        services = self.compose["services"]
        always = {name for name, service in services.items() if not service.get("profiles")}
        assert always == {"bot", "redis", "credentials"}

    def test_every_worker_has_its_index_from_the_same_place(self) -> None:
        """With an address of its own for one of them, each would fill and search another index."""
        bot, worker = (self.compose["services"][name] for name in ("bot", "worker"))
        assert bot["environment"] == worker["environment"]

    def test_the_scale_profile_adds_milvus_with_its_stores_and_a_worker(self) -> None:
        services = self.compose["services"]
        scale = {name for name, service in services.items() if service.get("profiles") == ["scale"]}
        assert scale == {"worker", "milvus", "etcd", "minio"}

    def test_bots_outlive_their_draining(self) -> None:
        assert self.compose["services"]["bot"]["stop_grace_period"] == "35s"

    def test_both_workers_share_the_folder_in_which_files_are_set_aside(self) -> None:
        bot, worker = (self.compose["services"][name] for name in ("bot", "worker"))
        assert bot["volumes"] == worker["volumes"]
        assert "footnote:/data" in bot["volumes"]
        assert bot["environment"]["FOOTNOTE_HOME"] == worker["environment"]["FOOTNOTE_HOME"] == "/data"

    def test_the_bot_listens_on_the_port_that_is_published_whatever_env_says(self) -> None:
        bot = self.compose["services"]["bot"]
        assert bot["ports"][0].endswith(f":{bot['environment']['HTTP_PORT']}")
        assert bot["environment"]["HTTP_HOST"] == "0.0.0.0"

    def test_every_volume_and_dependency_exists(self) -> None:
        services, volumes = self.compose["services"], self.compose["volumes"]
        for service in services.values():
            for volume in service.get("volumes", []):
                assert volume.split(":")[0] in volumes
            for dependency in service.get("depends_on", []):
                assert dependency in services

    def test_settings_given_there_are_settings(self) -> None:
        given = set(self.compose["services"]["bot"]["environment"]) - {"CREDENTIALS_DIRECTORY"}  # systemd's, a place
        assert given <= documented_settings()


def test_the_image_runs_as_nobody_special_and_can_be_asked_how_it_is() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert dockerfile.rindex("USER 10001") < dockerfile.index("ENTRYPOINT")
    assert "HEALTHCHECK" in dockerfile


def test_the_list_of_messages_is_what_people_read() -> None:
    written = build_messages.LISTED.read_text(encoding="utf-8")
    assert written == build_messages.listing(), (
        "A text changed: run python -m tests.build_messages and review the list."
    )


OWN_WORDS = re.compile(r"\b(?:strangers?|whoever|whom|anew|wherefore|is told|is gone)\b", re.IGNORECASE)


@pytest.mark.parametrize("page", [*PAGES, build_messages.LISTED], ids=lambda page: page.name)
def test_texts_for_people_use_the_words_of_the_field(page: Path) -> None:
    assert OWN_WORDS.findall(page.read_text(encoding="utf-8")) == []
