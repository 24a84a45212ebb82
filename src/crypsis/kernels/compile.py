"""The one way a kernel is compiled.

Write the plain function as ``_name`` and ``name = kernel(_name)`` below it: the plain one stays testable
and coverable (``NUMBA_DISABLE_JIT=1``), the compiled one is what the library calls.

numba's own cache is found by the path of the file a kernel stands in and does not look at the kernels it calls from
elsewhere. Ours is found by content alone: it lies in a folder named after the content of the file and of every kernel
file it imports, so that a change in one of them finds nothing old and a copy of the package finds what was compiled.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from platform import machine
from typing import Any, ParamSpec, TypeVar, cast

import numba
from llvmlite.binding import get_host_cpu_features  # type: ignore[import-untyped]
from numba.core import caching, event, types
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys

from crypsis.kernels.kernel_compiler import KernelCompiler, PartCompiler
from crypsis.kernels.sealed_cache import SealedFile, ShippedFile, is_private, key_of


class _Stopwatch(event.Listener):
    """Wall time during which at least one kernel is being compiled; kernels compile the kernels they call."""

    def __init__(self) -> None:
        self.total, self.depth, self.begun = 0.0, 0, 0.0

    def on_start(self, event: event.Event) -> None:
        if self.depth == 0:
            self.begun = time.monotonic()
        self.depth += 1

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.total += time.monotonic() - self.begun


_stopwatch = _Stopwatch()
event.register("numba:compile", _stopwatch)  # type: ignore[no-untyped-call]


def seconds_compiling() -> float:
    """Seconds of wall time in which this process compiled kernels so far; what a cache gave back counts nothing."""
    running = time.monotonic() - _stopwatch.begun if _stopwatch.depth else 0.0
    return _stopwatch.total + running


try:
    import fcntl
except ImportError:  # Windows: every process compiles for itself
    fcntl = None  # type: ignore[assignment]

P = ParamSpec("P")
R = TypeVar("R")

SHIPPED = "compiled"
"""The folder beside the kernels that a wheel of ours fills."""
SHIPPED_FOR = "x86-64-v3"
"""The processors it is filled for: those of the last ten years."""
_X86_64_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")

_IMPORT = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_NAME = re.compile(r"\w+")


class _ContentLocator(caching._CacheLocator):
    """Where a kernel is cached: by the content of its sources, whatever their path and time stamp."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file  # numba names it in warnings
        self._folder, self._line = cache_folder(Path(file)), function.__code__.co_firstlineno

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
            if not is_private(folder):
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


class _KernelCache(_QuickCache):
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


class _Part(CPUDispatcher):
    """A kernel as other kernels call it: compiled once for all whole numbers, whatever their width, also constants.

    It is never called from Python and never kept alone, so that it has no wrapper for arguments and results and no
    file of its own: half of what a small function costs to compile.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(tuple(map(_widened, args)), kws)


class Kernel(CPUDispatcher):
    """A kernel as Python calls it; other kernels that call it get a `_Part`, made only when one of them does."""

    @property
    def _numba_type_(self) -> types.Dispatcher:
        if not hasattr(self, "_part"):
            options = {**_options(self.py_func), "no_cpython_wrapper": True}
            self._part = _Part(self.py_func, targetoptions=options, pipeline_class=PartCompiler)
        return types.Dispatcher(self._part)

    @property
    def _cache(self) -> Any:
        """Where compiled code is kept, looked up at the first call: a command imports every kernel and calls few.

        Where neither the folder beside the source nor the user's cache folder can be written (a read-only install
        without a home), or others may write them, every process compiles: correct if slower to start.
        """
        if "_place" not in self.__dict__:
            place: Any = caching.NullCache()
            with suppress(RuntimeError, OSError):
                place = _KernelCache(self.py_func)
            self.__dict__.setdefault("_place", place)  # at once: two threads may call a kernel for the first time
        return self.__dict__["_place"]

    @_cache.setter
    def _cache(self, place: Any) -> None:
        """Nothing: numba sets one when a kernel is made."""

    def compile(self, sig: Any) -> Any:
        with _alone(self):
            return super().compile(sig)


@contextmanager
def _alone(kernel: Any) -> Iterator[None]:
    """One process at a time compiles a kernel; the next finds it in the cache. Waiting counts as compiling."""
    folder, lock = getattr(kernel._cache, "cache_path", None), None
    if fcntl is not None and folder is not None:
        with suppress(OSError):  # without a lock two processes may compile the same
            lock = (Path(folder) / f"{kernel.py_func.__name__}.lock").open("ab")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                with event.trigger_event("numba:compile", data={"dispatcher": kernel}):
                    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if lock is not None:
            lock.close()


def _widened(kind: Any) -> Any:
    """The type an argument is compiled for: a constant like any number, signed whole numbers as the widest."""
    kind = types.unliteral(kind)  # type: ignore[no-untyped-call]
    return types.int64 if kind in types.signed_domain else kind


_OPTIONS = {"nopython": True, "nogil": True, "boundscheck": None, "no_cfunc_wrapper": True}
_ALLOCATING = {"arange", "argsort", "copy", "empty", "full", "sort", "zeros"}


_SCALARS = {"None", "bool", "float", "int", "np", "tuple", "uint64"}


def _options(function: Callable[..., Any]) -> dict[str, Any]:
    """How numba compiles a function: one that owns no array counts no references, which are half of its code.

    It owns what it allocates, and what a kernel gives it that returns more than numbers.
    """
    names = set(function.__code__.co_names)
    called = [each for each in map(function.__globals__.get, names) if isinstance(each, Kernel)]
    given = (str(each.py_func.__annotations__.get("return", "array")) for each in called)
    owns = names & _ALLOCATING or any(set(_NAME.findall(kind)) - _SCALARS for kind in given)
    return {**_OPTIONS, "_nrt": bool(owns)}


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile without the interpreter lock, cached on disk where the disk lets us."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    return cast(Callable[P, R], Kernel(function, targetoptions=_options(function), pipeline_class=KernelCompiler))


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether a kernel runs without being compiled first: it did in this process, or its code is kept on disk.

    Parameters
    ----------
    function : callable
        What `kernel` returned.

    Returns
    -------
    bool
    """
    if not isinstance(function, Kernel) or function.overloads:
        return True
    place = function._cache
    folders = {getattr(each, "cache_path", None) for each in (place, getattr(place, "_shipped", None))} - {None}
    return any(next(Path(str(each)).glob(f"*.{function.py_func.__name__}-*.nbi"), None) for each in folders)


@cache
def complete() -> Path:
    """The file that says that the usual kernels of exactly these sources are compiled; there with shipped ones."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    shipped = Path(__file__).parent / SHIPPED
    parent = shipped if shipped.is_dir() and runs_shipped() else cache_folder(Path(__file__)).parent
    return parent / f"complete-{digest.hexdigest()[:16]}"


@cache
def cache_folder(source: Path) -> Path:
    """Where compiled kernels of exactly this source, and of the kernels it imports, are kept."""
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
    return is_private(folder) or not folder.exists()


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
