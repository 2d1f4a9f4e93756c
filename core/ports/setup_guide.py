"""The setup guide: its steps, the state of each, and the tokens that a person enters."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from core.model.document_content import FileContent, LocalFile, NamedFile
from core.model.health import RunningOptions, SetupStep, SetupStepState, TokenOutcome


class LocalFiles(Protocol):
    """Files below a folder of this machine, or one file. ``refused_files`` has those left out so far, and why."""

    @property
    def refused_files(self) -> Sequence[str]:
        """The files left out, each as one line with the reason."""

    @property
    def files(self) -> Sequence[LocalFile]:
        """The files found. Their sources still have to be derived from their paths."""

    def read(self, files: Sequence[NamedFile]) -> AsyncIterator[FileContent]:
        """Yield the content of each of these."""


class SetupGuide(Protocol):
    """The setup of this installation. It stores a token but never returns one."""

    def platforms(self) -> Mapping[str, str]:
        """Return the labels of the platforms that can be set up, by their names."""

    def steps(self, platform: str) -> Sequence[SetupStep]:
        """Return the steps of a platform, in order."""

    def first_messages(self, platform: str) -> Sequence[str]:
        """Return the first messages to write in a channel once Footnote runs, in order."""

    def configured_platforms(self) -> frozenset[str]:
        """Return the platforms with a token, whether it works or not."""

    async def look(self, platform: str, step: SetupStep) -> SetupStepState:
        """Return the state of this step by asking the platform. Problems there become checks, never exceptions."""

    async def take_token(self, setting: str, pasted: str) -> TokenOutcome:
        """Test a token as pasted, and save it if it works.

        Raises NotFound for a setting that no step asks for, and ConfigurationError if the file cannot be written.
        """

    def running_options(self) -> RunningOptions:
        """Return the ways to keep Footnote running on this machine."""

    def write_unit(self) -> str:
        """Write the systemd unit and return its path. Raises ConfigurationError if that fails."""

    async def files(self, path: str) -> LocalFiles:
        """Return the files at a path, recursively. Raises NotFound if there is nothing readable."""
