"""The chat platforms that are installed, found by the entry point group `footnote.platforms`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from adapters.platform_plugin import PlatformPlugin
from core.model.health import Check, Health
from core.model.principals import PRINCIPAL_FORMS, PrincipalForm

PLATFORMS = "footnote.platforms"


@dataclass(frozen=True, slots=True)
class InstalledPlatforms:
    """Plugins by their names, in the order of their labels, and what is wrong with those that cannot be loaded."""

    plugins: Mapping[str, PlatformPlugin[Any]]
    problems: tuple[Check, ...]

    def __iter__(self) -> Iterator[PlatformPlugin[Any]]:
        """Return the plugins, one after the other."""
        return iter(self.plugins.values())

    def principal_forms(self) -> tuple[PrincipalForm, ...]:
        """Return whom a knowledge base can be for: on each platform, and of Footnote itself."""
        return (*(form for plugin in self for form in plugin.principals), *PRINCIPAL_FORMS)


@cache
def installed_platforms() -> InstalledPlatforms:
    """Load every plugin once. One that fails is left out and does not stop the others."""
    plugins: list[PlatformPlugin[Any]] = []
    problems: list[Check] = []
    for entry in entry_points(group=PLATFORMS):
        try:
            plugin = entry.load()
        except Exception as error:  # noqa: BLE001 - somebody else's module may fail with anything
            problems.append(_problem(entry, f"{type(error).__name__} while it is imported"))
            continue
        if not isinstance(plugin, PlatformPlugin):
            problems.append(_problem(entry, "it is no PlatformPlugin"))
        elif any(plugin.name == one.name for one in plugins):
            problems.append(_problem(entry, f"another package brings {plugin.name!r} already"))
        else:
            plugins.append(plugin)
    if not plugins and not problems:
        remedy = "Install Footnote again; in a checkout: pip install -e ."
        problems.append(Check("platforms", Health.NOTE, "no chat platform is installed", remedy))
    ordered = sorted(plugins, key=lambda one: one.label)
    return InstalledPlatforms({one.name: one for one in ordered}, tuple(problems))


def _problem(entry: EntryPoint, what: str) -> Check:
    package = f" of {entry.dist.name}" if entry.dist else ""
    return Check(entry.name, Health.FAILED, f"the platform{package} cannot be used: {what}", "Update that package.")
