"""Compiled code on disk that nobody else can have written.

Cached code is unpickled and run, so what another user can write there, that user can make us run. Folders are used only
if they belong to the user and nobody else may write them; every file begins with a digest keyed by 32 bytes of the
operating system, in a file beside the folders that only the user can read; what came with a wheel must have the digest
that a list in the wheel gives. A file that fits neither is taken for absent, and its kernel is compiled again.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import os
import pickle
import secrets
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import caching

KEY = "crypsis.key"
"""File with the key of a cache, beside its folders."""
LIST = "compiled.sha256"
"""File with the digests of what came compiled, beside its folder."""
SIZE = 32
"""Bytes of a key and of a digest."""


def is_private(folder: Path) -> bool:
    """Whether a folder belongs to the user and nobody else may write it; where users have no numbers, whether it is."""
    try:
        found = folder.stat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and _is_own(found, stat.S_IWGRP | stat.S_IWOTH)


def _is_own(found: os.stat_result, refused: int) -> bool:
    return os.name == "nt" or (found.st_uid == os.geteuid() and not found.st_mode & refused)


@cache
def key_of(parent: Path) -> bytes:
    """The key of the caches in a folder; made where there is none.

    Raises
    ------
    OSError
        If the folder is not private, or the key is not one that only the user can read.
    """
    if not is_private(parent):
        raise OSError(f"{parent} is not a folder that only its owner may write")
    path = parent / KEY
    if not path.exists():
        _make_key(path)
    place = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(place, "rb") as file:
        found, key = os.fstat(place), file.read()
    if not stat.S_ISREG(found.st_mode) or not _is_own(found, 0o077) or len(key) != SIZE:
        raise OSError(f"{path} is not a key that only its owner can read; delete it")
    return key


def _make_key(path: Path) -> None:
    """Write a new key whole, unless another process was first."""
    aside = path.with_name(f"{path.name}.tmp.{secrets.token_hex(8)}")
    place = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(place, "wb") as file:
            file.write(secrets.token_bytes(SIZE))
        with suppress(FileExistsError):
            os.link(aside, path)
    finally:
        aside.unlink()


@cache
def shipped_digests(folder: Path) -> dict[str, str]:
    """What came compiled: path below the folder → SHA-256, as the list beside it says; nothing without one."""
    try:
        lines = (folder.parent / LIST).read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    entries = (line.split(maxsplit=1) for line in lines if " " in line)
    return {name: digest for digest, name in entries}


class SealedFile(caching.IndexDataCacheFile):
    """numba's index and code of one kernel, read and written with a keyed digest before each."""

    def __init__(self, cache_path: str, filename_base: str, source_stamp: str) -> None:
        super().__init__(cache_path, filename_base, source_stamp)  # type: ignore[no-untyped-call]
        self._folder = Path(cache_path)

    def _digest(self, name: str, content: bytes) -> bytes:
        """The digest of a file of this name in a folder of this name: no file can stand for another."""
        told = f"{self._folder.name}/{name}\0".encode()
        return hmac.digest(key_of(self._folder.parent), told + content, "sha256")

    def _content(self, name: str) -> bytes | None:
        """What follows the digest of a file, if that fits."""
        whole = (self._folder / name).read_bytes()
        told, content = whole[:SIZE], whole[SIZE:]
        return content if hmac.compare_digest(told, self._digest(name, content)) else None

    def _write(self, name: str, content: bytes) -> None:
        with self._open_for_write(str(self._folder / name)) as file:
            file.write(self._digest(name, content) + content)

    def _load_index(self) -> dict[Any, str]:
        try:
            content = self._content(self._index_name)
        except FileNotFoundError:
            return {}
        if content is None:
            return {}
        file = io.BytesIO(content)
        if pickle.load(file) != self._version:
            return {}
        stamp, overloads = pickle.load(file)
        return dict(overloads) if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        told = self._dump((self._source_stamp, overloads))  # type: ignore[no-untyped-call]
        self._write(self._index_name, pickle.dumps(self._version, protocol=-1) + told)

    def _load_data(self, name: str) -> Any:
        content = self._content(name)
        if content is None:  # as if it were not there: numba compiles and writes it again
            raise FileNotFoundError(name)
        return pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        self._write(name, self._dump(data))  # type: ignore[no-untyped-call]


class ShippedFile(SealedFile):
    """The same of what came compiled: each file has the digest of the list beside its folder, and is never written."""

    def _content(self, name: str) -> bytes | None:
        whole = (self._folder / name).read_bytes()
        listed = shipped_digests(self._folder.parent).get(f"{self._folder.name}/{name}", "")
        return whole[SIZE:] if hmac.compare_digest(hashlib.sha256(whole).hexdigest(), listed) else None
