"""Files and folders written under a temporary name and renamed atomically: they are complete or absent."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor

from crypsis.errors import TableError

UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EFBIG})
PART = ".crypsis.part"
"""End of the name of a temporary file or folder."""
POSIX = os.name == "posix"
"""Whether open files can be renamed and folders opened; elsewhere nothing shows who writes, and nothing is swept."""


def write_atomically(path: str | Path, content: bytes, *, replace: bool = False, mode: int = 0o600) -> None:
    """Write a file under a temporary name and rename it atomically.

    `mode`: permissions of the file, reduced by the umask; only its owner may read it unless something else is given.
    """
    path = Path(path)
    _refuse_existing(path, replace)
    _sweep(path.parent)
    with _disk_errors(path):
        aside, handle = _begin(path, lambda part: os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                if POSIX:
                    _rename(aside, path, replace)
            if not POSIX:
                _rename(aside, path, replace)
        finally:
            aside.unlink(missing_ok=True)
        _sync(path.parent)


def private_folder(path: str | Path) -> Path:
    """Make a folder, and those above it that are missing, which only the owner may enter whatever the umask."""
    path = Path(path)
    for folder in reversed([path, *path.parents]):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)
    return path


def _rename(aside: Path, path: Path, replace: bool) -> None:
    """Rename the finished file; unless it may be replaced, without overwriting one that appeared meanwhile."""
    if replace:
        aside.replace(path)
        return
    try:
        os.link(aside, path)
    except FileExistsError:
        _refuse_existing(path, False)
    except OSError:  # a file system without hard links
        _refuse_existing(path, False)
        aside.rename(path)


@contextmanager
def atomic_folder(path: str | Path, *, mode: int = 0o700) -> Iterator[Path]:
    """Make a folder under a temporary name and rename it atomically if the block ends without an error.

    Every file and folder is synchronised with the disk before the rename. After an error the temporary folder is
    removed and the target does not exist.

    `path`: the target; must not exist.
    """
    path = Path(path)
    _refuse_existing(path, False)
    _sweep(path.parent)
    with _disk_errors(path):
        workshop, handle = _begin(path, _open_folder)
    aside = workshop / path.name
    try:
        with _disk_errors(path):
            aside.mkdir(mode=mode)
            yield aside
            for folder, _, files in os.walk(aside):
                for name in files:
                    _settle(Path(folder) / name, mode)
                _settle(Path(folder), mode)
            _refuse_existing(path, False)
            aside.rename(path)
            _sync(path.parent)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
        os.close(handle)


def _open_folder(path: Path) -> int:
    """Make a folder that only its owner may enter, and open it."""
    path.mkdir(mode=0o700)
    return os.open(path if POSIX else os.devnull, os.O_RDONLY)


def _settle(path: Path, mode: int) -> None:
    """Take away permissions beyond a mode, and synchronise with the disk."""
    found = stat.S_IMODE(path.lstat().st_mode)
    if found & ~mode and not path.is_symlink():
        path.chmod(found & mode)
    _sync(path)


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


def _begin(path: Path, make: Callable[[Path], int]) -> tuple[Path, int]:
    """A new temporary file or folder beside a path, locked; again if somebody swept it before the lock."""
    while True:
        aside = path.parent / f".{path.name}.{secrets.token_hex(8)}{PART}"
        handle = make(aside)
        if not POSIX:
            return aside, handle
        with suppress(OSError):  # a file system without locks
            lock_descriptor(handle)
        with suppress(FileNotFoundError):
            if os.path.samestat(aside.lstat(), os.fstat(handle)):
                return aside, handle
        os.close(handle)


def _sweep(folder: Path) -> None:
    """Remove what killed writers left in a folder; writers at work hold a lock."""
    for left in folder.glob(f".*{PART}") if POSIX else ():
        try:
            handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            if not lock_descriptor(handle, blocking=False):
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
    if not POSIX:  # a folder cannot be opened, nor a file synchronised that is open for reading
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
