"""Registry of connectors: ours, and those of other packages through the entry point group ``footnote.connectors``."""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from core.model.errors import ConfigurationError
from core.ports.connector import ConnectorPlugin

GROUP = "footnote.connectors"
_OURS = {
    "confluence": "adapters.connectors.confluence:PLUGIN",
    "gdrive": "adapters.connectors.gdrive:PLUGIN",
    "github": "adapters.connectors.github:PLUGIN",
    "notion": "adapters.connectors.notion:PLUGIN",
}


def connector_names() -> tuple[str, ...]:
    """Return the sorted names of all connectors, without loading their modules."""
    return tuple(sorted({*_OURS, *(one.name for one in entry_points(group=GROUP))}))


@cache
def connector_plugin(name: str) -> ConnectorPlugin:
    """Return the connector of this name. Raises ConfigurationError if it is unknown or not installed."""
    found = {one.name: one.value for one in entry_points(group=GROUP)} | _OURS
    if name not in found:
        raise ConfigurationError(
            f"There is no connector called {name[:40]}.", remedy=f"Available: {', '.join(connector_names())}."
        )
    module, _, attribute = found[name].partition(":")
    try:
        plugin: ConnectorPlugin = getattr(import_module(module), attribute)
    except ImportError as error:
        raise ConfigurationError(
            f"{name} needs a package that is not installed: {error.name}.", remedy=f"pip install 'footnote[{name}]'"
        ) from error
    return plugin
