"""Checks of every dependency and setting, each with a remedy. Never prints a secret."""

import asyncio
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import aclosing, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from adapters.terminal.console import SafeConsole
from adapters.terminal.output import print_json
from bot.home import open_to_others, secure_home
from bot.model_checks import late_check, model_checks
from bot.plugins import installed_platforms, installed_reasoners, principal_forms
from bot.settings import Settings, env_files, load_settings, secret_folders
from bot.store_checks import PATIENTLY, Chosen, store_checks
from core.model.budget import Meter
from core.model.channel_settings import ChannelSettings, ChosenSettings, channel_settings
from core.model.errors import FootnoteError, NotFound
from core.model.health import Check, Health
from core.model.inquiry import PROFILE_LIMITS
from core.model.principals import PrincipalKind
from core.model.profile import Profile

FREE_GIB = 1.0
PROBE = 64 * 1024  # bytes that must fit on the disk
PLACE = re.compile(r"[a-z]+:[a-z]+:[^/\s]*/\S+")
SECONDS = 8.5  # for all checks in parallel, so that the command ends within ten; ``doctor --seconds`` waits longer
OPENING_SHARE = 0.9  # share of SECONDS for the index; after that, report what is not open, and why
MODELS = "models"
CHOSEN_SECONDS = 4.0  # for which a platform's check waits for its channels' settings
NAMES = 21  # columns for mark and name
ROOM_FOR_COLUMNS = 60  # columns of the terminal


async def examine(*, as_json: bool, fix: bool = False, seconds: float = SECONDS) -> int:
    """Run every check and show it as it completes; return 1 if one failed. ``fix`` first repairs damaged memory."""
    console = SafeConsole()
    checks = []
    settings = load_settings()
    with nullcontext() if as_json else console.status("Checking …") as status:

        def waiting(for_what: Collection[str]) -> None:
            if status is not None:
                status.update(f"Checking {', '.join(for_what)} …")

        salvaged = await _salvage_check(settings) if fix else None
        async for check in checks_of(settings, salvaged, seconds=seconds, waiting=waiting):
            checks.append(check)
            if not as_json:
                console.print(line_of(check, console.width))
    if as_json:
        print_json([{"name": c.name, "health": c.health, "detail": c.detail, "remedy": c.remedy} for c in checks])
    return int(any(check.health is Health.FAILED for check in checks))


async def explain(place: str, *, as_json: bool) -> int:
    """Print the settings of a channel, and whether each was chosen there or is the default.

    Raises NotFound if ``place`` names no channel.
    """
    from bot.container import open_footnote
    from core.service.channel_settings import explain_settings

    if not PLACE.fullmatch(place):
        raise NotFound(f"{place!r} is not a channel.", remedy=f"A channel looks like {_channel_forms()}.")
    async with open_footnote(load_settings(), models=False, index=False) as footnote:
        chosen = await footnote.settings_store.read(place)
        applying = channel_settings(ChannelSettings(footnote.policy), chosen)
    lines = explain_settings(applying, chosen)
    if as_json:
        settings = {line.name: line.value for line in lines}
        print_json({"place": place, "settings": settings, "chosen": sorted(one.name for one in lines if one.chosen)})
    else:
        SafeConsole().print(
            "\n".join([f"Settings in {place}:", *(f"  {line.text}" for line in lines)]), highlight=False
        )
    return 0


def _channel_forms() -> str:
    forms = principal_forms()
    return " or ".join(str(form) for form in forms if form.kind == PrincipalKind.CHANNEL)


async def _salvage_check(settings: Settings) -> Check | None:
    """Return the result of repairing a truncated append-only file; None if there is none."""
    if settings.redis_url is not None:
        return None
    from adapters.redis.embedded_server import EmbeddedValkey

    try:
        aside = await EmbeddedValkey(settings.home / "valkey").salvage()
    except FootnoteError as error:
        return Check("memory", Health.FAILED, str(error))
    if aside is None:
        return None
    return Check("memory", Health.NOTE, f"what could not be read was cut off; all as it was is in {aside}")


async def checks_of(
    settings: Settings,
    salvaged: Check | None = None,
    *,
    seconds: float = SECONDS,
    waiting: Callable[[Collection[str]], None] = lambda _: None,
) -> AsyncGenerator[Check]:
    """Yield every check as soon as it is known. Checks that take too long say so.

    Calls ``waiting`` with the pending groups whenever they change.
    """
    yield _python()
    yield await asyncio.to_thread(_settings, settings)
    yield await asyncio.to_thread(_home, settings)
    if salvaged is not None:
        yield salvaged
    chosen: Chosen = asyncio.get_running_loop().create_future()
    until = asyncio.get_running_loop().time() + seconds
    outside = {
        MODELS: model_checks(settings),  # first, because it takes longest
        "stores": store_checks(settings, until - seconds * (1 - OPENING_SHARE), chosen),
        "model endpoint": endpoint_checks(settings),
        "platforms": _platforms(settings, chosen),
    }
    found: asyncio.Queue[Check | str] = asyncio.Queue()  # from all four groups; a name means that this group has ended
    looking = [asyncio.create_task(_look(name, checks, until, found)) for name, checks in outside.items()]
    open_ones = dict.fromkeys(outside)
    try:
        while open_ones:
            waiting(open_ones)
            if isinstance(said := await found.get(), Check):
                yield said
            else:
                del open_ones[said]
        await asyncio.gather(*looking)  # raises unexpected errors
    finally:
        for look in looking:
            look.cancel()
        await asyncio.gather(*looking, return_exceptions=True)


async def _look(name: str, checks: AsyncGenerator[Check], until: float, found: "asyncio.Queue[Check | str]") -> None:
    """Put checks into ``found`` until the deadline (in the loop's time), then report what did not finish."""
    last, seconds = "", until - asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout_at(until), aclosing(checks):
            async for check in checks:
                found.put_nowait(check)
                last = check.name
    except TimeoutError:
        found.put_nowait(_too_slow(name, last, seconds))
    except FootnoteError as error:
        found.put_nowait(Check(name, Health.FAILED, str(error)))
    finally:
        found.put_nowait(name)


def _too_slow(name: str, last: str, seconds: float) -> Check:
    """Return the check for a timeout: a failure for a server that does not answer, a note for slow models."""
    if name == MODELS:
        return late_check(last, f"It may just be slow: {PATIENTLY}")
    after = f" after {last}" if last else ""
    remedy = f"Check the configured addresses, or wait longer: {PATIENTLY}"
    return Check(name, Health.FAILED, f"no answer within {round(seconds, 1):g} seconds{after}", remedy)


def _python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Check("Python", Health.OK, version)


def _settings(settings: Settings) -> Check:
    """Return which files were read, to help people who edit another one, and who else may read them."""
    files, secrets = env_files(), "".join(f", then files in {folder}" for folder in secret_folders())
    read = [path for path in reversed(files) if path.is_file()]
    if read:
        detail = f"the environment, then {', then '.join(map(str, read))}{secrets}"
        if written := [str(path) for path in read if _is_written_by_others(path, settings)]:
            remedy = f"chmod 600 {' '.join(written)}"
            detail += "; others on this machine may change them, and with them where everything is sent"
            return Check("settings", Health.FAILED, detail, remedy)
        if loose := [str(path) for path in read if _shows_secrets(path, settings)]:
            remedy = f"chmod 600 {' '.join(loose)}"
            detail += "; others on this machine may read its secrets"
            return Check("settings", Health.NOTE, detail, remedy)
        return Check("settings", Health.OK, detail)
    where = " or ".join(str(path) for path in reversed(files))
    return Check("settings", Health.OK, f"the environment{secrets or ' alone'}; there is no {where}")


def _is_written_by_others(path: Path, settings: Settings) -> bool:
    """Return whether anyone on this machine may write a settings file outside the data directory."""
    return not path.is_relative_to(settings.home) and bool(path.stat().st_mode & stat.S_IWOTH)


def _shows_secrets(path: Path, settings: Settings) -> bool:
    """Return whether others may read a file with a secret in it. The data directory is closed to others anyway."""
    if path.is_relative_to(settings.home) or not open_to_others(path):
        return False
    text = path.read_text(encoding="utf-8", errors="replace")
    return any(secret and secret in text for secret in settings.secrets())


def _home(settings: Settings) -> Check:
    home = settings.home
    try:
        secure_home(home)
        with tempfile.TemporaryFile(dir=home) as probe:
            probe.write(b"1" * PROBE)
    except OSError as error:
        remedy = "Set FOOTNOTE_HOME to a folder that is writable and has free space."
        return Check("data directory", Health.FAILED, f"{home}: {error.strerror}", remedy)
    if loose := open_to_others(home):
        remedy = f"chmod -R go-rwx {home}, as the owner of what is in there."
        others = f"{home}: others on this machine may read {len(loose)} of its entries, {loose[0]} for one"
        return Check("data directory", Health.FAILED, others, remedy)
    free = shutil.disk_usage(home).free / 2**30
    if free < FREE_GIB:
        return Check(
            "data directory", Health.NOTE, (f"{home}: only {free:.1f} GiB free"), "Free some space on that disk."
        )
    return Check("data directory", Health.OK, f"{home}, {free:.0f} GiB free")


async def endpoint_checks(settings: Settings) -> AsyncGenerator[Check]:
    """Check whether the configured model answers, and what its endpoint lacks."""
    if settings.reasoner:
        yield Check("reasoner", Health.OK, f"{settings.reasoner}, of an installed package")
    if not settings.has_writer:
        remedy = "Set LLM_MODEL (and LLM_BASE_URL, LLM_API_KEY) for written answers."
        yield Check("model endpoint", Health.NOTE, "none: answers are verbatim quotes", remedy)
    if not settings.has_llm:
        return
    from bot.model_endpoint import model_endpoint
    from bot.stores import SystemClock

    endpoint = model_endpoint(settings)
    try:
        limits = PROFILE_LIMITS[Profile.THOROUGH]
        lacks = await endpoint.probe(Meter(replace(limits, seconds=settings.answer_deadline), SystemClock()))
        said = f"{settings.llm_model} answers, and sends JSON"
        if lacks:
            said = f"{settings.llm_model} answers. It does not support: {', '.join(lacks)}"
        yield Check("model endpoint", Health.OK, said)
        trust = await endpoint.trust.result(again=True)
        if trust.believed:
            yield Check("verification", Health.OK, f"checks by the model are trusted: {trust}")
        else:
            remedy = (
                "Answers that differ much from the documents' words are replaced by quotes. A larger model checks"
                " better."
            )
            yield Check("verification", Health.NOTE, f"checks by the model are not trusted: {trust}", remedy)
    except FootnoteError as error:
        yield Check("model endpoint", Health.FAILED, str(error), "Until it works, answers are quotes.")
    finally:
        await endpoint.close()


async def _platforms(settings: Settings, chosen: Chosen) -> AsyncGenerator[Check]:
    platforms = installed_platforms()
    for problem in (*platforms.problems, *installed_reasoners().problems):
        yield problem
    configured = [plugin for plugin in platforms if plugin.is_configured(settings.of(plugin))]
    if not configured and platforms.plugins:
        remedy = "footnote setup does it, step by step."
        yield Check("platforms", Health.NOTE, f"not configured: {', '.join(one.label for one in platforms)}", remedy)
    for plugin in configured:
        for check in await plugin.checks(settings.of(plugin), partial(_applying, chosen)):
            yield check


async def _applying(chosen: Chosen) -> Mapping[str, ChannelSettings]:
    return {place: channel_settings(ChannelSettings(), here) for place, here in (await _in_short(chosen)).items()}


async def _in_short(chosen: Chosen) -> Mapping[str, ChosenSettings]:
    """Return the settings chosen in channels if the stores answer soon; otherwise nothing."""
    with suppress(TimeoutError):
        async with asyncio.timeout(CHOSEN_SECONDS):
            return await asyncio.shield(chosen)
    return {}


def line_of(check: Check, width: int) -> RenderableType:
    """Render a check for a person, with its remedy below."""
    mark = {Health.OK: ("✓ ", "green"), Health.NOTE: ("! ", "yellow"), Health.FAILED: ("✗ ", "red")}[check.health]
    name, detail = Text.assemble(mark, (check.name, "bold")), Text(check.detail, overflow="fold")
    remedy = Text(check.remedy, style="dim", overflow="fold")
    if width < ROOM_FOR_COLUMNS:
        return Group(name, *(Padding(text, (0, 0, 0, 2)) for text in (detail, remedy) if text))
    line = Table.grid()
    line.add_column(width=NAMES)
    line.add_column(overflow="fold")
    line.add_row(name, detail)
    if check.remedy:
        line.add_row("", remedy)
    return line
