"""Automatic backup before an upgrade marks the data as the new version's: the old version can restore it."""

import asyncio
import fcntl
import logging
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from adapters.backup.backup import Backup
from adapters.backup.folder import MANIFEST
from adapters.redis.schema import SCHEMA, check_schema
from core.model.errors import ConfigurationError

_LOOK_AGAIN = 0.5  # seconds between checks while another process makes it

log = logging.getLogger(__name__)


async def back_up_older_data(backup: Backup, home: Path) -> Path | None:
    """Back up an older version's data and mark it as this version's; return the folder, or None without such data.

    Raises ConfigurationError if the backup cannot be written; the data then stays the old version's.
    """
    if await check_schema(backup.redis) == SCHEMA:
        return None
    folder = home / "backups" / f"before-{version('footnote')}"
    async with _alone(home / ".upgrade.lock"):
        if await check_schema(backup.redis) == SCHEMA:  # another process has just done so
            return None
        log.warning("upgrade_backup_begins", extra={"folder": str(folder)})
        if (folder / MANIFEST).exists():  # from an earlier upgrade, after which older data was restored
            folder = folder.with_name(f"{folder.name}-{backup.clock.now():%Y%m%d-%H%M%S}")
        try:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)  # left by an interrupted start
            await backup.make(folder, lambda *_: None)
        except ConfigurationError as error:
            raise ConfigurationError(
                f"The data of the older Footnote could not be backed up before the upgrade: {error.args[0]}",
                remedy="Free some disk space, or run footnote backup with a folder on another disk. Then start again.",
            ) from error
    return folder


@asynccontextmanager
async def _alone(file: Path) -> AsyncIterator[None]:
    """Hold a lock among processes of this data directory; it is released when the process ends."""
    descriptor = os.open(file, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(_LOOK_AGAIN)
        yield
    finally:
        os.close(descriptor)
