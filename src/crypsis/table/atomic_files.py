"""Files and folders written under a temporary name and renamed atomically: they are complete or absent."""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from crypsis.errors import TableError

UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EFBIG})
FRESH = 60.0
"""Seconds for which an unlocked temporary file is kept."""


def write_atomically(path: str | Path, content: bytes, *, replace: bool = False, mode: int = 0o666) -> None:
    """Write a file under a temporary name and rename it atomically.

    Parameters
    ----------
    path : path
    content : bytes
        What is written.
    replace : bool
        Whether an existing file may be replaced.
    mode : int
        Permissions of the file, reduced by the umask.

    Raises
    ------
    TableError
        If the file exists and may not be replaced, or the disk cannot be written.
    """
    path = Path(path)
    _refuse_existing(path, replace)
    _sweep(path)
    aside = path.parent / f".{path.name}.{secrets.token_hex(8)}.part"
    with _disk_errors(path):
        try:
            with os.fdopen(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
                _hold(file.fileno())
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                if replace:
                    aside.replace(path)
                else:
                    _link(aside, path)
        finally:
            aside.unlink(missing_ok=True)
        _sync(path.parent)


def _link(aside: Path, path: Path) -> None:
    """Rename the finished file without overwriting one that appeared meanwhile."""
    try:
        os.link(aside, path)
    except FileExistsError:
        _refuse_existing(path, False)
    except OSError:  # a file system without hard links
        _refuse_existing(path, False)
        aside.rename(path)


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """Make a folder under a temporary name and rename it atomically if the block ends without an error.

    Every file and folder is synchronised with the disk before the rename. After an error the temporary folder is
    removed and the target does not exist.

    Parameters
    ----------
    path : path
        The target; must not exist.

    Yields
    ------
    Path
        The temporary folder to write into.

    Raises
    ------
    TableError
        If the target exists or the disk cannot be written.
    """
    path = Path(path)
    _refuse_existing(path, False)
    _sweep(path)
    with _disk_errors(path):
        # Only the owner may read it.
        workshop = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    handle = os.open(workshop, os.O_RDONLY)
    aside = workshop / path.name
    try:
        with _disk_errors(path):
            _hold(handle)
            aside.mkdir()
            yield aside
            for folder, _, files in os.walk(aside):
                for name in files:
                    _sync(Path(folder) / name)
                _sync(Path(folder))
            _refuse_existing(path, False)
            aside.rename(path)
            _sync(path.parent)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
        os.close(handle)


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    """Raise a full, broken or read-only disk as TableError; other errors are not changed."""
    try:
        yield
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        reason = (error.strerror or "unknown reason").lower()
        raise TableError(
            f"{path} cannot be written ({reason}); nothing was written: free some space or choose another folder, "
            f"then try again"
        ) from None


def _hold(handle: int) -> None:
    """Lock a temporary file or folder where the file system has locks."""
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sweep(path: Path) -> None:
    """Remove temporary files of writers of the same path that were killed; running writers hold a lock."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        try:
            handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if time.time() - os.fstat(handle).st_mtime < FRESH:
                continue
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
        except OSError:
            continue
        finally:
            os.close(handle)


def _refuse_existing(path: Path, replace: bool) -> None:
    if not replace and (path.exists() or path.is_symlink()):
        raise TableError(f"{path} already exists and is never overwritten; choose another path or remove it first")
    if not path.parent.is_dir():
        raise TableError(f"the folder {path.parent} does not exist; make it first or choose another path")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
