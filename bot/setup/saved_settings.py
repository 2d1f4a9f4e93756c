"""The ``.env`` of the data directory as the setup fills it: for its owner alone, and kept as somebody wrote it."""

import os
from pathlib import Path

import dotenv

from bot.settings import env_files
from core.model.errors import ConfigurationError

_OWNER_ALONE = 0o600


class SavedSettings:
    """Settings by name, wherever they are set; what is new goes into the data directory's ``.env``."""

    def __init__(self, home: Path) -> None:
        self.file = home / ".env"

    def value(self, name: str) -> str:
        """What applies: the environment's, then the working directory's, then ours; empty where it is not set."""
        return self._find(name)[0]

    def origin(self, name: str) -> str:
        """Where that is set, as a person would look for it; empty where it is not."""
        return self._find(name)[1]

    def can_save(self, name: str) -> bool:
        """Whether what is written to the file will apply: nothing that wins over it sets this."""
        return self.origin(name) in {"", str(self.file)}

    def save(self, name: str, value: str) -> None:
        """Set it, and leave every other line as it is. Raises ConfigurationError where the file cannot be written."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(self.file, os.O_WRONLY | os.O_CREAT, _OWNER_ALONE))
            self.file.chmod(_OWNER_ALONE)  # before there is a secret in it
            dotenv.set_key(self.file, name, value, quote_mode="never")  # as every reader of such files takes it
            self.file.chmod(_OWNER_ALONE)
        except OSError as error:
            raise ConfigurationError(
                f"{self.file} cannot be written: {error.strerror}.",
                remedy="Set FOOTNOTE_HOME to a folder that is writable and has room.",
            ) from None

    def _find(self, name: str) -> tuple[str, str]:
        if value := os.environ.get(name):
            return value, "the environment"
        for path in reversed(env_files()):
            if path.is_file() and (value := dotenv.dotenv_values(path, interpolate=False).get(name)):
                return value, str(path)
        return "", ""
