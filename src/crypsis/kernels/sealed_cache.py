"""Compiled code on disk that nobody else can have written.

Cached code is unpickled and run, so what another user can write there, that user can make us run. Folders are used only
if they belong to the user and nobody else may write them; every file begins with a digest keyed by 32 bytes of the
operating system, in a file beside the folders that only the user can read; what came with a wheel must have the digest
that a list in the wheel gives. A file that fits neither is taken for absent, and its kernel is compiled again.

numba's own cache is found by the path of the file a kernel stands in and does not look at the kernels it calls from
elsewhere. Ours is found by content alone: it lies in a folder named after the content of the file and of every kernel
file it imports, so that a change in one of them finds nothing old and a copy of the package finds what was compiled.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import os
import pickle
import re
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from platform import machine
from typing import Any

from llvmlite.binding import get_host_cpu_features  # type: ignore[import-untyped]
from numba.core import caching
from numba.core.runtime.nrt import rtsys

KEY = "crypsis.key"
"""File with the key of a cache, beside its folders."""
LIST = "compiled.sha256"
"""File with the digests of what came compiled, beside its folder."""
SIZE = 32
"""Bytes of a key and of a digest."""
SHIPPED = "compiled"
"""The folder beside the kernels that a wheel of ours fills."""
SHIPPED_FOR = "x86-64-v3"
"""The processors it is filled for: those of the last ten years."""
_X86_64_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")

_IMPORT = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_NAME = re.compile(r"\w+")


def is_private_cache(folder: Path) -> bool:
    """Whether nobody but the user can have written a cache folder; where users have no numbers, whether it exists."""
    try:
        found = folder.stat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and _is_own(found, stat.S_IWGRP | stat.S_IWOTH)


def _is_own(found: os.stat_result, refused: int) -> bool:
    return os.name == "nt" or (found.st_uid == os.geteuid() and not found.st_mode & refused)


@cache
def key_of(parent: Path) -> bytes:
    """The key of the caches in a folder; made where there is none."""
    if not is_private_cache(parent):
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


def kept_parent(source: Path) -> Path:
    """The folder in which the cache folders of kernels lie: of those that came compiled, else of our own."""
    shipped = source.parent / SHIPPED
    return shipped if shipped.is_dir() and runs_shipped() else sealed_cache_folder(source).parent


@cache
def sealed_cache_folder(source: Path) -> Path:
    """The folder on disk with compiled kernels of exactly this source, and of the kernels it imports."""
    digest = hashlib.sha256()
    for path in sorted(_with_imports(source)):
        digest.update(path.read_bytes())
    home, beside = source.parent, source.parent / "__pycache__"
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named and _may_be_used(Path(named)):
        parent = Path(named)
    elif os.access(beside if beside.exists() else home, os.W_OK) and _may_be_used(beside):
        parent = beside
    else:
        parent = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crypsis"
    return parent / f"{source.stem}-{digest.hexdigest()[:16]}"


def _may_be_used(folder: Path) -> bool:
    """Whether a folder is private, or not there yet: a folder of ours is made private."""
    return is_private_cache(folder) or not folder.exists()


def _with_imports(source: Path) -> set[Path]:
    """The file and every file of its folder that it imports, directly or not."""
    found, waiting = set(), [source]
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        # Every process reads every kernel file once: to parse them all would take half a second.
        for module, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
            waiting.extend(source.parent / f"{name}.py" for name in (module.rsplit(".", 1)[-1], *_NAME.findall(names)))
    return found


class _ContentLocator(caching._CacheLocator):
    """Where a kernel is cached: by the content of its sources, whatever their path and time stamp."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file  # numba names it in warnings
        self._folder, self._line = sealed_cache_folder(Path(file)), function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        locator = cls(py_func, py_file)
        for folder in (locator._folder.parent, locator._folder):  # what others can write, they can make us run
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not is_private_cache(folder):
                raise OSError(f"{folder} is not a folder that only its owner may write")
        key_of(locator._folder.parent)
        locator.ensure_cache_path()  # type: ignore[no-untyped-call]
        return locator


class _KernelCacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_ContentLocator]  # noqa: RUF012 - numba's own name and type


class _ShippedLocator(_ContentLocator):
    """The kernels that came compiled with the package, for a machine like many: read, never written."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        self._folder = Path(file).parent / SHIPPED / self._folder.name

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        locator = cls(py_func, py_file)
        return locator if locator._folder.is_dir() and runs_shipped() else None


class _ShippedCacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_ShippedLocator]  # noqa: RUF012 - numba's own name and type


class _QuickCache(caching.FunctionCache):
    """A cache that loads code without what only compiling needs.

    numba's own first makes itself ready to compile, which imports half of it and SciPy's linear algebra: half a second
    of every command. Cached code is linked to nothing but the runtime.
    """

    _impl_class: Any = None
    _file_class: type[SealedFile] = SealedFile

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = self._file_class(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


class _ShippedCache(_QuickCache):
    _impl_class = _ShippedCacheImpl
    _file_class = ShippedFile

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        key = super()._index_key(sig, codegen)  # type: ignore[no-untyped-call]
        return (key[0], (key[1][0], SHIPPED_FOR, ""), *key[2:])


class KernelCache(_QuickCache):
    """What came compiled, else what was compiled here."""

    _impl_class = _KernelCacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._shipped: _ShippedCache | None = None
        with suppress(RuntimeError, OSError):
            self._shipped = _ShippedCache(function)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = None if self._shipped is None else self._shipped.load_overload(sig, target_context)
        return super().load_overload(sig, target_context) if found is None else found


@cache
def runs_shipped() -> bool:
    """Whether this machine runs what `scripts/wheel` compiles."""
    found = get_host_cpu_features()
    return machine() in ("x86_64", "AMD64") and all(found.get(feature, False) for feature in _X86_64_V3)
