"""What a process of ``footnote serve`` does: hold the connections to platforms, work, or both."""

from enum import StrEnum


class ProcessRole(StrEnum):
    """``PLATFORM`` hears and puts in line, ``WORKER`` answers and runs jobs by the platforms' APIs, ``ALL`` is both."""

    ALL = "all"
    PLATFORM = "platform"
    WORKER = "worker"

    @property
    def listens(self) -> bool:
        """Whether it holds the connections over which platforms say what happens."""
        return self is not ProcessRole.WORKER

    @property
    def works(self) -> bool:
        """Whether it answers and runs jobs."""
        return self is not ProcessRole.PLATFORM
