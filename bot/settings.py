"""The frozen Settings, read once from the environment and ``.env`` files. Nothing else reads the environment.

A plugin's settings are a separate model; their variables have the plugin's name as prefix. Precedence: the environment,
``.env`` in the working directory, ``.env`` in the data directory, then files named like the setting in
``secret_folders``. Every field is a line of ``.env.example``; a test compares the two.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, Field, PrivateAttr, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.plugins import installed_platforms, installed_reasoners
from core.model.errors import ConfigurationError
from core.model.profile import Behaviour, Profile

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from adapters.platform_plugin import PlatformPlugin
    from adapters.reasoner_plugin import ReasonerPlugin


S = TypeVar("S", bound=BaseModel)

ENV_FILE = ".env"
DOCKER_SECRETS = "/run/secrets"  # where Docker, and optionally Kubernetes, mount secrets as files
_FORM = SettingsConfigDict(env_file_encoding="utf-8", extra="ignore", frozen=True, env_ignore_empty=True)


class _Location(BaseSettings):
    """The location of the data directory, which must be known before its file can be read."""

    model_config = _FORM

    footnote_home: Path | None = None

    @property
    def home(self) -> Path:
        """The data directory."""
        if self.footnote_home is not None:
            return self.footnote_home.expanduser().absolute()
        import platformdirs

        return Path(platformdirs.user_data_dir("footnote", appauthor=False))


class Settings(_Location):
    """All settings. Every one has a default that works on a laptop without keys and tokens."""

    # Where things are kept
    redis_url: SecretStr | None = None
    milvus_uri: str | None = None
    milvus_token: SecretStr | None = None
    blob_store_url: str | None = None

    # Models
    reasoner: str = ""
    llm_base_url: str | None = None
    llm_api_key: SecretStr | None = None
    llm_model: str | None = None
    llm_model_fast: str | None = None
    llm_temperature: float | None = Field(default=0.0, ge=0, le=2)
    llm_reasoning_effort: str | None = None
    llm_context: int = Field(default=0, ge=0)  # tokens
    llm_timeout: float = Field(default=20.0, gt=0, le=3600)
    llm_price_in: float = Field(default=0.0, ge=0)
    llm_price_out: float = Field(default=0.0, ge=0)
    llm_price_cached: float | None = Field(default=None, ge=0)
    llm_answer_budget: float | None = Field(default=None, ge=0)
    llm_daily_budget: float | None = Field(default=None, ge=0)
    llm_channel_budget: float = Field(default=0.0, ge=0)
    embedding_model: str | None = None
    embedding_base_url: str | None = None
    embedding_api_key: SecretStr | None = None
    reranker_model: str = "cross-encoder/ms-marco-MiniLM-L6-v2"

    # How it answers
    profile: Profile = Profile.BALANCED
    behaviour: Behaviour = Behaviour.BALANCED
    follow_ups: bool = False
    answer_deadline: float = Field(default=60.0, gt=0, le=3600)
    checkpoint_expiry: float = Field(default=30.0, gt=0)  # minutes
    answers_per_person: int = Field(default=0, ge=0)
    answers_per_channel: int = Field(default=0, ge=0)
    time_zone: str = ""

    # The page
    web_address: str = ""
    web_link: bool = False
    web_password_hash: SecretStr | None = None
    web_reader_password_hash: SecretStr | None = None
    web_identity_header: str = ""
    web_proxies: str = ""
    web_admins: str = ""

    # What the documents lack
    gaps_digest: str = ""

    # Programs
    mcp_token: SecretStr | None = None

    # Running it
    http_port: int = Field(default=8080, ge=0, le=65535)
    http_host: str = "127.0.0.1"  # metrics and readiness are only for this machine by default
    workers: int = Field(default=128, ge=1, le=1_000)
    fetch_allow_private: str = ""
    fetch_allow_hosts: str = ""
    fetch_deny_hosts: str = ""
    fetch_credential: SecretStr | None = None
    source_addresses: str = ""
    source_drivers: str = ""
    footnote_secret_key: SecretStr | None = None
    answer_link_hosts: str = ""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["auto", "text", "json"] = "auto"
    otel_exporter_otlp_endpoint: str | None = None

    _plugins: Mapping[str, BaseModel] = PrivateAttr(default_factory=dict)

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        """Return the time zone. Raises ConfigurationError if this machine does not know it."""
        try:
            return ZoneInfo(value).key if value else value
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ConfigurationError(
                "TIME_ZONE is not a time zone that this machine knows.", remedy="Set a name such as Europe/Berlin."
            ) from None

    @field_validator("profile", "behaviour", "log_level", "log_format", mode="before")
    @classmethod
    def _in_small_letters(cls, value: Any) -> Any:
        """Return the value in lower case."""
        return value.strip().lower() if isinstance(value, str) else value

    def secrets(self) -> list[str]:
        """Return every configured secret, to redact them in logs."""
        values = (getattr(one, name) for one in (self, *self._plugins.values()) for name in type(one).model_fields)
        return [value.get_secret_value() for value in values if isinstance(value, SecretStr)]

    @property
    def has_llm(self) -> bool:
        """Whether a model endpoint is configured, which means that LLM_MODEL is set."""
        return bool(self.llm_model)

    @property
    def has_writer(self) -> bool:
        """Whether a model or an installed reasoner writes the answers."""
        return self.has_llm or bool(self.reasoner)

    @property
    def has_page(self) -> bool:
        """Whether ``footnote serve`` serves the page: there is a way to sign in."""
        ways = (self.web_link, self.web_password_hash, self.web_reader_password_hash, self.web_identity_header)
        return any(ways)

    def with_plugins(self, plugins: Mapping[str, BaseModel]) -> "Settings":
        """Return a copy with these settings of plugins, by name."""
        copy = self.model_copy()
        copy._plugins = plugins  # noqa: SLF001 - of our own class
        return copy

    def of(self, plugin: "PlatformPlugin[S] | ReasonerPlugin[S]") -> S:
        """Return the settings of a plugin: its defaults if none were read."""
        found = self._plugins.get(plugin.name)
        return found if isinstance(found, plugin.settings) else plugin.settings()


def env_files() -> list[Path]:
    """Return the paths of possible settings files; later ones win. Raises ConfigurationError."""
    here = Path(ENV_FILE).absolute()
    with _plain_errors():
        kept = _Location(_env_file=here).home / ENV_FILE  # type: ignore[call-arg]
    return [here] if kept == here else [kept, here]


def secret_folders() -> list[Path]:
    """Return the folders whose files are settings: systemd credentials and Docker secrets."""
    places = (os.environ.get("CREDENTIALS_DIRECTORY", ""), DOCKER_SECRETS)
    return [Path(place) for place in places if place and Path(place).is_dir()]


def load_settings() -> Settings:
    """Read the environment once. Raises ConfigurationError naming each wrong setting, never its value."""
    files, secrets = env_files(), secret_folders()
    with _plain_errors():
        home = _Location(_env_file=files[-1]).footnote_home  # type: ignore[call-arg]
        read = Settings(_env_file=files, _secrets_dir=secrets)  # type: ignore[call-arg]
        settings = read.model_copy(update={"footnote_home": home})
    plugins: dict[str, BaseModel] = {}
    for plugin in (*installed_platforms(), *installed_reasoners()):
        with _plain_errors(f"{plugin.name}_"):
            plugins[plugin.name] = _read(plugin, files, secrets)
    if (settings.llm_base_url or settings.llm_api_key) and not settings.has_llm:
        raise ConfigurationError(
            "LLM_BASE_URL or LLM_API_KEY is set, but not LLM_MODEL.",
            remedy="Set the model, or unset the other setting.",
        )
    if settings.embedding_base_url and not settings.embedding_model:
        raise ConfigurationError(
            "EMBEDDING_BASE_URL is set, but not EMBEDDING_MODEL.", remedy="Set the model, or unset the other setting."
        )
    settings = settings.with_plugins(plugins)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # forked tokenizers deadlock; we split batches ourselves
    return settings


def _read(plugin: "PlatformPlugin[S] | ReasonerPlugin[S]", files: list[Path], secrets: list[Path]) -> S:
    """Read a plugin's settings from the same sources. Raises ValidationError."""
    form = {**_FORM, "env_prefix": f"{plugin.name}_"}
    source = type(plugin.settings.__name__, (plugin.settings, BaseSettings), {"model_config": form})
    read: S = source(_env_file=files, _secrets_dir=secrets)
    return read


@contextmanager
def _plain_errors(prefix: str = "") -> Iterator[None]:
    """Convert errors in settings to ConfigurationError, in words for the people who wrote them."""
    try:
        yield
    except ValidationError as error:
        wrong = " ".join(f"{_setting(problem, prefix)} {_demand(problem)}." for problem in error.errors())
        raise ConfigurationError(wrong, remedy=".env.example describes every setting.") from None
    except UnicodeDecodeError:
        raise ConfigurationError("The file .env is not UTF-8 text.", remedy="Save it as UTF-8.") from None
    except OSError as error:
        where = error.filename or ENV_FILE
        raise ConfigurationError(
            f"{where} cannot be read: {error.strerror}.", remedy="Give your user permission to read it."
        ) from None


def _setting(problem: "ErrorDetails", prefix: str) -> str:
    return (prefix + ".".join(str(part) for part in problem["loc"])).upper()


_DEMANDS = {
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "greater_than": "must be more than {gt:g}",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "finite_number": "must be a number",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
}


def _demand(problem: "ErrorDetails") -> str:
    """Return what a setting must be, from pydantic's error type and its limits."""
    said = _DEMANDS.get(problem["type"], "has a value that cannot be used")
    return said.format(**problem.get("ctx", {})).replace("'", "")
