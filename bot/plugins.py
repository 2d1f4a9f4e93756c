"""Plugins of other packages, found by entry points: chat platforms and reasoners.

``adapters.documents.format`` finds document formats itself, in the process that parses.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from adapters.platform_plugin import PlatformPlugin
from adapters.reasoner_plugin import ReasonerPlugin
from core.model.health import Check, Health
from core.model.principals import PRINCIPAL_FORMS, PrincipalForm

PLATFORMS, REASONERS = "footnote.platforms", "footnote.reasoners"
P = TypeVar("P", PlatformPlugin[Any], ReasonerPlugin[Any])


@dataclass(frozen=True, slots=True)
class Installed(Generic[P]):
    """Plugins by name, and the problems of those that cannot be loaded."""

    plugins: Mapping[str, P]
    problems: tuple[Check, ...]

    def __iter__(self) -> Iterator[P]:
        """Return an iterator over the plugins."""
        return iter(self.plugins.values())


@cache
def installed_platforms() -> Installed[PlatformPlugin[Any]]:
    """Load every platform once, in the order of their labels."""
    found = _load(PLATFORMS, PlatformPlugin)  # type: ignore[type-abstract]  # it is never called
    if found.plugins or found.problems:
        ordered = sorted(found, key=lambda one: one.label)
        return Installed({one.name: one for one in ordered}, found.problems)
    remedy = "Install Footnote again; in a checkout: pip install -e ."
    return Installed({}, (Check("platforms", Health.NOTE, "no chat platform is installed", remedy),))


@cache
def installed_reasoners() -> Installed[ReasonerPlugin[Any]]:
    """Load every reasoner of other packages, once."""
    return _load(REASONERS, ReasonerPlugin)  # type: ignore[type-abstract]  # it is never called


def principal_forms() -> tuple[PrincipalForm, ...]:
    """Return the forms of principals that a base can be granted to: each platform's and Footnote's own."""
    return (*(form for plugin in installed_platforms() for form in plugin.principals), *PRINCIPAL_FORMS)


def _load(group: str, kind: type[P]) -> Installed[P]:
    """Load a group of plugins. A plugin that fails is left out and does not stop the others."""
    plugins: dict[str, P] = {}
    problems: list[Check] = []
    for entry in entry_points(group=group):
        try:
            plugin = entry.load()
        except Exception as error:  # noqa: BLE001 - a third-party module may fail with anything
            problems.append(_problem(entry, f"{type(error).__name__} while it is imported"))
            continue
        if not isinstance(plugin, kind):
            problems.append(_problem(entry, f"it is no {kind.__name__}"))
        elif plugin.name in plugins:
            problems.append(_problem(entry, f"another package brings {plugin.name!r} already"))
        else:
            plugins[plugin.name] = plugin
    return Installed(plugins, tuple(problems))


def _problem(entry: EntryPoint, what: str) -> Check:
    package = f" of {entry.dist.name}" if entry.dist else ""
    return Check(entry.name, Health.FAILED, f"the plugin{package} cannot be used: {what}", "Update that package.")
