"""What every test shares: the order of files, default logging, and one line for each reason of a skip."""

import logging
from collections import Counter
from collections.abc import Iterator

import pytest
import structlog

LONGEST = {"e2e", "live", "topologies", "examples"}  # directories whose files take minutes; the rest fills the end


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest files first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: not {*item.path.parts} & LONGEST)


@pytest.fixture(autouse=True)
def default_logs() -> Iterator[None]:
    """Restore the logging that a command configured, which stops log records from reaching ``caplog``."""
    loggers = [logging.getLogger(name) for name in ("", "core")]
    before = [(logger, logger.level, logger.propagate, logger.handlers[:]) for logger in loggers]
    yield
    structlog.reset_defaults()
    for logger, level, propagate, handlers in before:
        logger.setLevel(level)
        logger.propagate, logger.handlers[:] = propagate, handlers


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why tests were skipped: one line for each reason."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")
