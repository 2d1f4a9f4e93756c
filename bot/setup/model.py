"""Setup of a language model: endpoint, model and key, tested before they are saved."""

import asyncio
import re
from dataclasses import dataclass

from pydantic import SecretStr

from bot.doctor import endpoint_checks
from bot.settings import Settings, load_settings
from bot.setup.dialogue import Dialogue
from bot.setup.saved_settings import SavedSettings
from core.model.health import Check, Health

_ONE_WORD = re.compile(r"[^\s\"'#]+")  # a value that needs no quotes in .env


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A kind of endpoint: its address, empty for the client's default, and an example of a model's name."""

    name: str
    address: str
    example: str
    needs_key: bool = True
    asks_address: bool = False


ENDPOINTS = (
    Endpoint("OpenAI", "", "gpt-4.1-mini"),
    Endpoint("Azure OpenAI", "https://NAME.openai.azure.com/openai/v1/", "the deployment's name", asks_address=True),
    Endpoint("Ollama on this machine", "http://localhost:11434/v1", "qwen3:8b", needs_key=False),
    Endpoint("another compatible endpoint", "http://localhost:8080/v1", "the name it serves", asks_address=True),
)


def set_up(dialogue: Dialogue, saved: SavedSettings) -> bool:
    """Set up the model. Return whether it answers."""
    if known := saved.value("LLM_MODEL"):
        dialogue.say(f"LLM_MODEL is {known}, set in {saved.origin('LLM_MODEL')}.")
        checks = _check(load_settings())
        dialogue.show(checks)
        if _works(checks) or not saved.can_save("LLM_MODEL"):
            return _works(checks)
    kind = ENDPOINTS[
        dialogue.choose("Which provider's model should write the answers?", [one.name for one in ENDPOINTS])
    ]
    while True:
        asked = _ask(dialogue, kind)
        if asked is None:
            return False
        checks = _check(load_settings().model_copy(update=asked))
        dialogue.show(checks)
        if _works(checks):
            _save(dialogue, saved, asked)
            return True


def _ask(dialogue: Dialogue, kind: Endpoint) -> dict[str, str | SecretStr | None] | None:
    """Return the three settings as given; None if postponed."""
    address = kind.address
    if kind.asks_address:
        dialogue.say(f"The address looks like {kind.address}")
        address = dialogue.ask("Address")
    model = dialogue.ask(f"Model, such as {kind.example}") if address or not kind.asks_address else ""
    if not _ONE_WORD.fullmatch(model) or (address and not _ONE_WORD.fullmatch(address)):
        return None
    key = ""
    if kind.needs_key:
        dialogue.say("Its API key. Your own endpoint may not need one.")
        key = dialogue.ask_hidden()
    return {"llm_base_url": address or None, "llm_model": model, "llm_api_key": SecretStr(key) if key else None}


def _save(dialogue: Dialogue, saved: SavedSettings, asked: dict[str, str | SecretStr | None]) -> None:
    for name, value in asked.items():
        shown = value.get_secret_value() if isinstance(value, SecretStr) else value or ""
        if shown or saved.value(name.upper()):
            saved.save(name.upper(), shown)
    dialogue.say(f"Kept in {saved.file}.")


def _check(settings: Settings) -> list[Check]:
    async def check() -> list[Check]:
        return [one async for one in endpoint_checks(settings)]

    return asyncio.run(check())


def _works(checks: list[Check]) -> bool:
    return bool(checks) and checks[0].health is Health.OK
