"""What leads somebody through the setup: its steps, how far each is, and the tokens that are brought."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from core.model.document_content import FileContent, LocalFile, NamedFile
from core.model.health import RunningOptions, SetupStep, SetupStepState, TokenOutcome


class LocalFiles(Protocol):
    """Files below a folder of this machine, or one file; ``refused_files`` says which were left out so far, and why."""

    @property
    def refused_files(self) -> Sequence[str]:
        """One line each."""

    @property
    def files(self) -> Sequence[LocalFile]:
        """What was found, to be named by where it comes from."""

    def read(self, files: Sequence[NamedFile]) -> AsyncIterator[FileContent]:
        """Yield the content of each of these."""


class SetupGuide(Protocol):
    """The setup of this installation. A token that is given is kept, and never given back."""

    def platforms(self) -> Mapping[str, str]:
        """Return the labels of the platforms that can be set up, by their names."""

    def steps(self, platform: str) -> Sequence[SetupStep]:
        """Return what there is to do at a platform, in order."""

    def first_messages(self, platform: str) -> Sequence[str]:
        """Return what to write in a channel once it runs, one message after the other."""

    def configured_platforms(self) -> frozenset[str]:
        """Return the platforms that have a token, whether it works or not."""

    async def look(self, platform: str, step: SetupStep) -> SetupStepState:
        """How far this step is, by asking the platform. What is wrong there is a check; nothing is raised for it."""

    async def take_token(self, setting: str, pasted: str) -> TokenOutcome:
        """Try a token, as somebody pasted it, and keep it where it works.

        Raises NotFound for a setting that no step asks for, and ConfigurationError where the file cannot be written.
        """

    def running_options(self) -> RunningOptions:
        """Return how it is kept running on this machine."""

    def write_unit(self) -> str:
        """Write the systemd unit; its path. Raises ConfigurationError where that cannot be done."""

    async def files(self, path: str) -> LocalFiles:
        """Return what lies there, recursively. Raises NotFound where there is nothing that could be read."""
