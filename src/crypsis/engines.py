"""Engines: pure functions run in threads or one after the other in this process, in other processes, or on a cluster.

Every engine has one call, `map(function, items, shared)`, and gives the same results in the same order: an engine
changes the time, never the result. The shared part is sent once to each worker and recognised there by its fingerprint,
so that caches a worker attaches to it are kept.
"""

from __future__ import annotations

import importlib
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from crypsis.errors import EngineError, EngineLost, listing, suggestion

Name = Literal["threads", "serial", "processes", "dask"]
NAMES: tuple[Name, ...] = ("threads", "serial", "processes", "dask")

Function = Callable[[Any, Any], Any]

FOLDER = "crypsis-engine-"
"""Prefix of the private folder of an engine; the number of its process follows."""

_held: dict[str, Any] = {}
_MOST_HELD = 4


def _joblib() -> Any:
    """joblib, which only workers elsewhere need: threads are there without it."""
    return importlib.import_module("joblib")


def _cancelled_error() -> type[BaseException]:
    """What a lost scheduler raises, loaded with the cluster."""
    return importlib.import_module("asyncio").CancelledError  # type: ignore[no-any-return]


def _recall(path: str, fingerprint: str) -> Any:
    """The shared part with a fingerprint, read from disk the first time."""
    if fingerprint not in _held:
        while len(_held) >= _MOST_HELD:
            del _held[next(iter(_held))]
        _held[fingerprint] = _joblib().load(path)
    return _held[fingerprint]


def _at_worker(function: Function, path: str, fingerprint: str, item: Any) -> Any:
    return function(_recall(path, fingerprint), item)


@dataclass
class _Sent:
    """The last few shared parts, each with what stands for it at the workers: a loop may take turns between some."""

    _parts: list[tuple[Any, Any]] = field(default_factory=list)

    def of(self, shared: Any, send: Callable[[Any], Any]) -> Any:
        """What stands for a shared part; it is sent at first."""
        for part, sent in self._parts:
            if part is shared:
                return sent
        sent = send(shared)
        self._parts = [*self._parts[1 - _MOST_HELD :], (shared, sent)]
        return sent


class Mapper(Protocol):
    """Runs pure functions."""

    def map(self, function: Function, items: Sequence[Any], shared: Any = None) -> list[Any]:
        """Apply a function to every item; in other processes, all three must be picklable.

        Returns ``[function(shared, item) for item in items]``, in this order.

        >>> Serial().map(lambda shared, item: shared + item, [1, 2], 10)
        [11, 12]
        """


class Engine(Mapper, Protocol):
    """Where pure functions run."""

    @property
    def workers(self) -> int:
        """How many items are treated at once."""

    @property
    def here(self) -> bool:
        """Whether items are treated in this process and share its memory."""


class _Closing(Mapper):
    """Engines are closed by a call or at the end of a with block."""

    def close(self) -> None:
        """Release workers and temporary files; the engine may not be used again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass
class Serial(_Closing):
    """The engine that runs in this process, one item after the other."""

    name: Name = "serial"
    workers: int = 1
    here: bool = True

    def map(self, function: Function, items: Sequence[Any], shared: Any = None) -> list[Any]:
        return list(map(partial(function, shared), items))


@dataclass
class Threads(_Closing):
    """The engine that runs in threads of this process: kernels run side by side, and nothing is sent or copied."""

    workers: int  # number of threads
    name: Name = "threads"
    here: bool = True
    _pool: ThreadPoolExecutor | None = field(default=None, repr=False)

    def map(self, function: Function, items: Sequence[Any], shared: Any = None) -> list[Any]:
        if len(items) < 2:
            return [function(shared, item) for item in items]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="crypsis")
        return list(self._pool.map(partial(function, shared), items))

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


@dataclass
class Processes(_Closing):
    """The engine that runs in processes of this machine (joblib's loky).

    The shared part is kept in a private temporary folder (mode 700) until the engine is closed; folders of killed
    engines are removed by the next one.
    """

    workers: int  # number of processes
    name: Name = "processes"
    here: bool = False
    _folder: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)
    _sent: _Sent = field(default_factory=_Sent, repr=False)

    def map(self, function: Function, items: Sequence[Any], shared: Any = None) -> list[Any]:
        if not items:
            return []
        path, fingerprint = self._place(shared)
        joblib, ended = _joblib(), importlib.import_module("joblib.externals.loky.process_executor")
        calls = (joblib.delayed(_at_worker)(function, path, fingerprint, item) for item in items)
        try:
            return list(joblib.Parallel(n_jobs=self.workers, backend="loky")(calls))
        except ended.TerminatedWorkerError:
            raise EngineLost(
                f"one of {self.workers} worker processes was ended from outside (often: out of memory); resume the run "
                f"with fewer workers or on the serial engine, at most the current generation is lost"
            ) from None

    def _place(self, shared: Any) -> tuple[str, str]:
        if self._folder is None:
            _sweep()
            self._folder = tempfile.TemporaryDirectory(prefix=f"{FOLDER}{os.getpid()}-")
        fingerprint = str(self._sent.of(shared, _joblib().hash))
        path = Path(self._folder.name) / fingerprint
        if not path.exists():
            _joblib().dump(shared, path)
        return str(path), fingerprint

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _sweep() -> None:
    """Remove folders of engines whose process has ended: they contain an unprotected table."""
    if os.name != "posix":  # elsewhere users have no number, and asking for a process may end it
        return
    for left in Path(tempfile.gettempdir()).glob(f"{FOLDER}*-*"):
        owner = left.name.removeprefix(FOLDER).split("-")[0]
        with suppress(OSError, ValueError):
            if left.lstat().st_uid == os.getuid() and not left.is_symlink() and not _alive(int(owner)):
                shutil.rmtree(left, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # a process of another user
    return True


@dataclass
class Joblib(_Closing):
    """The engine that `joblib.parallel_config` chooses: threads, Ray, or joblib's own backend for Dask.

    The shared part is sent with every task; a lost worker is handled by the backend.
    """

    name: str = "joblib"  # "joblib"
    here: bool = False

    @property
    def workers(self) -> int:
        """Number of workers of the chosen backend."""
        return int(_joblib().effective_n_jobs())

    def map(self, function: Function, items: Sequence[Any], shared: Any = None) -> list[Any]:
        joblib = _joblib()
        return list(joblib.Parallel()(joblib.delayed(function)(shared, item) for item in items))


@dataclass
class Dask(_Closing):
    """The engine that runs on a Dask cluster, given by the address of its scheduler.

    Tasks are sent to the cluster directly, since joblib's backend does not report that a scheduler is lost. For an
    address that starts with tls://, Dask's own settings name the certificates.
    """

    address: str  # address of the scheduler, e.g. "tcp://host:8786"
    name: Name = "dask"  # "dask"
    workers: int = 0  # number of cores of the cluster
    here: bool = False
    patience: str = "10s"  # how long the scheduler may take to answer, at first and after a lost connection
    _client: Any = field(default=None, repr=False)
    _sent: _Sent = field(default_factory=_Sent, repr=False)

    def __post_init__(self) -> None:
        try:
            distributed = importlib.import_module("distributed")
        except ImportError:
            raise EngineError(
                'the Dask engine needs the package "distributed", which is not installed; '
                'install it with: pip install "crypsis[dask]", or use the engine "processes"'
            ) from None
        try:
            self._client = distributed.Client(self.address, timeout=self.patience, set_as_default=False)
        except TypeError:
            raise EngineError(
                f"{self.address!r} asks for certificates and none are set; name them in Dask's settings, e.g. "
                f"DASK_DISTRIBUTED__COMM__TLS__CA_FILE=ca.pem, and …__CLIENT__CERT and …__CLIENT__KEY"
            ) from None
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineError(
                f"no Dask scheduler answered at {self.address!r} ({type(error).__name__}); start one with "
                f'"dask scheduler" and give its address, e.g. tcp://host:8786'
            ) from None
        for part in ("client", "batched", "core", "comm"):  # they print tracebacks of a loss that `EngineLost` reports
            logging.getLogger(f"distributed.{part}").setLevel(logging.CRITICAL)
        self.workers = sum(self._client.ncores().values())

    def map(self, function: Function, items: Sequence[Any], shared: Any = None) -> list[Any]:
        if not items:
            return []
        distributed = importlib.import_module("distributed")
        lost = (
            distributed.CancelledError,
            distributed.KilledWorker,
            importlib.import_module("distributed.client").FutureCancelledError,
            importlib.import_module("distributed.comm").CommClosedError,
            _cancelled_error(),
            TimeoutError,
        )
        for chance in (2, 1):
            try:
                sent = self._sent.of(shared, self._send)
                futures = self._client.map(_on_cluster, items, function=function, shared=sent, pure=False)
                return list(self._client.gather(futures))
            except (*lost, RuntimeError, OSError) as error:
                alive = self._client.status == "running"
                if alive and not isinstance(error, lost):
                    raise  # an error of the function itself
                self._sent, cause = _Sent(), type(error).__name__
                if chance == 2 and alive and not isinstance(error, distributed.KilledWorker):
                    continue  # the scheduler answers: only the shared part is lost, with the last worker that had it
                break
        raise EngineLost(
            f"the Dask cluster at {self.address!r} was lost during {len(items)} tasks ({cause}); start a scheduler and "
            f"workers again and resume the run, at most the current generation is lost"
        )

    def _send(self, shared: Any) -> Any:
        return self._client.scatter([shared], broadcast=True, hash=False, timeout=60)[0]

    def close(self) -> None:
        self._sent = _Sent()
        if self._client is not None:
            with suppress(OSError, RuntimeError, _cancelled_error()):  # a lost scheduler does not answer
                self._client.close(timeout=2)
            self._client = None


def _on_cluster(item: Any, function: Function, shared: Any) -> Any:
    return function(shared, item)


def engine(name: str = "threads", workers: int = 0, address: str = "") -> Serial | Threads | Processes | Dask:
    """Build an engine by name.

    >>> engine("serial").workers
    1
    """
    if name not in NAMES:
        raise EngineError(f"there is no engine {name!r}{suggestion(name, NAMES)}; known: {listing(NAMES)}")
    if workers < 0:
        raise EngineError(f"an engine cannot have {workers} workers; give 1 or more, or 0 for one per core")
    if name == "dask":
        if not address:
            raise EngineError("the Dask engine needs the address of a scheduler, e.g. tcp://host:8786")
        return Dask(address)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    number = workers or cores
    if name == "serial" or (name == "threads" and number == 1):
        return Serial()
    return Threads(number) if name == "threads" else Processes(number)
