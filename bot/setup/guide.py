"""The setup of this installation, for the terminal and the page.

Progress is read from the settings and the platforms, so that people continue where they stopped.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.plugins import installed_platforms
from bot.settings import load_settings
from bot.setup import service_unit
from bot.setup.saved_settings import FilesOnDisk, SavedSettings, files_on_disk
from core.model.errors import FootnoteError, NotFound
from core.model.health import (
    Check,
    Credential,
    Health,
    PlatformSetup,
    RunningOptions,
    SetupStep,
    SetupStepState,
    TokenField,
    TokenOutcome,
    works,
)

LOOK_SECONDS = 45.0  # for all requests to a platform in one step


class InstallationSetup:
    """``SetupGuide`` over the ``.env`` of a data directory."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._saved = SavedSettings(home)
        settings = load_settings()
        self._platforms: dict[str, PlatformSetup] = {}
        self._labels: dict[str, str] = {}
        for plugin in installed_platforms():
            if (setup := plugin.setup(settings.of(plugin))) is not None:
                self._platforms[plugin.name], self._labels[plugin.name] = setup, plugin.label

    def platforms(self) -> Mapping[str, str]:
        """Return the labels of the platforms that can be set up, by their names."""
        return self._labels

    def steps(self, platform: str) -> Sequence[SetupStep]:
        """Return the steps of a platform, in order."""
        return self._platforms[platform].steps

    def first_messages(self, platform: str) -> Sequence[str]:
        """Return the first messages to write in a channel once Footnote runs, in order."""
        return self._platforms[platform].first_messages

    def configured_platforms(self) -> frozenset[str]:
        """Return the platforms that have a token, whether it works or not."""
        return frozenset(name for name, one in self._platforms.items() if self._saved.value(one.first_setting))

    def platform_of_token(self, text: str, other_than: str = "") -> str:
        """Return the label of the platform whose token this looks like; empty if none."""
        found = (name for name, one in self._platforms.items() if name != other_than and one.is_token(text))
        return self._labels.get(next(found, ""), "")

    async def look(self, name: str, step: SetupStep) -> SetupStepState:
        """Return the state of this step by asking the platform."""
        platform = self._platforms[name]
        if step.token is not None:
            return await self._look_at_token(platform.credentials[step.token.setting], step.token)
        token = self._saved.value(platform.first_setting)
        find = platform.findings.get(step.id)
        if find is None or not token:
            return SetupStepState(done=bool(token))
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                found = await find(token)
        except (FootnoteError, TimeoutError) as error:
            return SetupStepState(done=False, checks=(_unanswered(step.title, error),))
        if found is None:
            return SetupStepState(done=False, checks=(Check(step.title, Health.FAILED, "it could not be asked"),))
        return SetupStepState(done=found.check.health is Health.OK, checks=(found.check,), link=found.link)

    async def _look_at_token(self, credential: Credential, token: TokenField) -> SetupStepState:
        known = self._saved.value(token.setting)
        if not known:
            return SetupStepState(done=False)
        checks = await _check_token(credential, known)
        return SetupStepState(
            done=works(checks),
            checks=checks,
            origin=self._saved.origin(token.setting),
            fixed=not self._saved.can_save(token.setting),
        )

    async def take_token(self, setting: str, pasted: str) -> TokenOutcome:
        """Test a token as pasted, and save it if it works."""
        asking = (name for name, platform in self._platforms.items() if setting in platform.credentials)
        if (name := next(asking, None)) is None:
            raise NotFound("The setup has no such step.")
        credential = self._platforms[name].credentials[setting]
        if not self._saved.can_save(setting):
            where = self._saved.origin(setting)
            return TokenOutcome(
                kept=False,
                mistake=f"{setting} is set in {where}, which overrides the settings file. Change it there.",
            )
        value = credential.clean(pasted)
        if other := self.platform_of_token(value, other_than=name):
            looks = f"The {credential.field.name} {credential.field.looks}."
            return TokenOutcome(kept=False, mistake=f"That is a token of {other}'s. {looks}")
        if mistake := credential.find_mistake(value):
            return TokenOutcome(kept=False, mistake=mistake)
        checks = await _check_token(credential, value)
        if not works(checks):
            return TokenOutcome(kept=False, checks=checks)
        await asyncio.to_thread(self._saved.save, setting, value)
        return TokenOutcome(kept=True, checks=checks, file=str(self._saved.file))

    def running_options(self) -> RunningOptions:
        """Return the ways to keep Footnote running on this machine."""
        return service_unit.options(self._home)

    def write_unit(self) -> str:
        """Write the systemd unit and return its path."""
        unit = service_unit.user_unit(self._home)
        service_unit.write_unit(unit)
        return str(unit.path)

    async def files(self, path: str) -> FilesOnDisk:
        """Return the files at a path of this machine."""
        return await asyncio.to_thread(files_on_disk, path)


async def _check_token(credential: Credential, value: str) -> tuple[Check, ...]:
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            return tuple(await credential.check(value))
    except (FootnoteError, TimeoutError) as error:
        return (_unanswered(credential.field.name, error),)


def _unanswered(name: str, error: FootnoteError | TimeoutError) -> Check:
    """Return the check for a platform that did not answer."""
    if isinstance(error, FootnoteError):
        return Check(name, Health.FAILED, error.args[0], error.remedy or "")
    return Check(name, Health.FAILED, f"no answer within {LOOK_SECONDS:.0f} seconds", "Try again in a while.")
