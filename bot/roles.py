"""Roles of a ``footnote serve`` process: connect to platforms, work, or both."""

from enum import StrEnum


class ProcessRole(StrEnum):
    """A role. ``PLATFORM`` receives and queues, ``WORKER`` answers and runs jobs, ``ALL`` does both."""

    ALL = "all"
    PLATFORM = "platform"
    WORKER = "worker"

    @property
    def listens(self) -> bool:
        """Whether it holds the connections on which platforms send events."""
        return self is not ProcessRole.WORKER

    @property
    def works(self) -> bool:
        """Whether it answers and runs jobs."""
        return self is not ProcessRole.PLATFORM
