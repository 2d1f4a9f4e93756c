"""Encryption of connection secrets, with a key from the settings or from a file in the data directory.

A backup does not contain the key, so its tokens cannot be used without it. Without a key in the settings, anyone who
can read the data directory can decrypt them. So can anyone who can read the memory of the processes.
"""

import os
from base64 import urlsafe_b64encode
from functools import cached_property
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from core.model.errors import ConfigurationError
from core.ports.connector import SecretBox

KEY_FILE = "secret.key"
SHORTEST = 32  # characters of a key that a person sets


class FernetBox(SecretBox):
    """Secret box with Fernet (AES-128-CBC and HMAC-SHA256). The key is read or created at the first use."""

    def __init__(self, home: Path, key: str = "") -> None:
        self._home, self._key = home, key

    def seal(self, secret: str) -> str:
        """Return the encrypted secret. Raises ConfigurationError."""
        return self._fernet.encrypt(secret.encode()).decode()

    def unseal(self, sealed: str) -> str:
        """Return the decrypted secret. Raises ConfigurationError if it was encrypted with another key."""
        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except InvalidToken:
            raise ConfigurationError(
                "The stored token was encrypted with another key.",
                remedy="Set FOOTNOTE_SECRET_KEY as it was, or connect again.",
            ) from None

    @cached_property
    def _fernet(self) -> Fernet:
        if self._key and len(self._key) < SHORTEST:
            raise ConfigurationError(
                f"FOOTNOTE_SECRET_KEY has fewer than {SHORTEST} characters.", remedy="openssl rand -hex 32 makes one."
            )
        derived = HKDF(SHA256(), 32, salt=None, info=b"footnote connections").derive(
            (self._key or _own_key(self._home / KEY_FILE)).encode()
        )
        return Fernet(urlsafe_b64encode(derived))


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The key in {path} cannot be read.", remedy="Check the file.") from error


def _own_key(path: Path) -> str:
    """Return the key in the data directory; create it, readable only by its owner, if it is missing."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(Fernet.generate_key().decode())
    except FileExistsError:
        pass
    except OSError as error:
        raise ConfigurationError(f"No key can be stored in {path}: {error.strerror}.") from error
    key = _read(path)
    if not key:
        raise ConfigurationError(f"The key in {path} is empty.", remedy="Remove the file and connect again.")
    return key
