"""Where pure functions run: in this process, in processes of this machine, or on a Dask cluster by address.

All three are one call, `map(function, items, shared)`, and give the same results in the same order: an
engine changes the time, never the bits. What the items have in common is sent once to each worker and
recognised there by its fingerprint, so that whatever a worker learns about it (a cache, say) stays with it.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError  # type: ignore[import-untyped]

from crypsis.errors import EngineError, EngineLost, listing, suggestion

Name = Literal["serial", "processes", "dask"]
NAMES: tuple[Name, ...] = ("serial", "processes", "dask")

Function = Callable[[Any, Any], Any]

FOLDER = "crypsis-engine-"
"""How the private folder of an engine begins; the number of its process follows."""

_held: dict[str, Any] = {}
_MOST_HELD = 4


def _recall(path: str, fingerprint: str) -> Any:
    """What a worker holds under a fingerprint, read from disk at first."""
    if fingerprint not in _held:
        while len(_held) >= _MOST_HELD:
            del _held[next(iter(_held))]
        _held[fingerprint] = joblib.load(path)
    return _held[fingerprint]


def _at_worker(function: Function, path: str, fingerprint: str, item: Any) -> Any:
    return function(_recall(path, fingerprint), item)


class _Closing:
    """Engines are closed by hand or by leaving a with block."""

    def close(self) -> None:
        """Give back workers and temporary files; the engine may not be used again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass
class Serial(_Closing):
    """This process."""

    name: Name = "serial"
    workers: int = 1

    def map(self, function: Function, items: Sequence[Any], shared: Any = None) -> list[Any]:
        """[function(shared, item) for item in items]."""
        return [function(shared, item) for item in items]


@dataclass
class Processes(_Closing):
    """Processes of this machine (joblib's loky).

    The shared part lies in a private temporary folder (mode 700) until the engine is closed; what a killed one left
    is swept by the next.
    """

    workers: int
    name: Name = "processes"
    _folder: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)
    _shared: Any = field(default=None, repr=False)
    _fingerprint: str = field(default="", repr=False)

    def map(self, function: Function, items: Sequence[Any], shared: Any = None) -> list[Any]:
        """As `Serial.map`. Function, items and shared must be picklable."""
        if not items:
            return []
        path = self._placed(shared)
        calls = (joblib.delayed(_at_worker)(function, path, self._fingerprint, item) for item in items)
        try:
            return list(joblib.Parallel(n_jobs=self.workers, backend="loky")(calls))
        except TerminatedWorkerError:
            raise EngineLost(
                f"one of {self.workers} worker processes was ended from outside (often: out of memory); resume the "
                f"run, which loses at most the generation in flight, with fewer workers or on the serial engine"
            ) from None

    def _placed(self, shared: Any) -> str:
        if self._folder is None:
            _sweep()
            self._folder = tempfile.TemporaryDirectory(prefix=f"{FOLDER}{os.getpid()}-")
        if shared is not self._shared or not self._fingerprint:
            self._shared, self._fingerprint = shared, str(joblib.hash(shared))
        path = Path(self._folder.name) / self._fingerprint
        if not path.exists():
            joblib.dump(shared, path)
        return str(path)

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _sweep() -> None:
    """Remove the folders of our own engines whose process is gone: they hold a table somebody wanted protected."""
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
        pass  # somebody else's, and alive
    return True


@dataclass
class Joblib(_Closing):
    """Whatever `joblib.parallel_config` has chosen: threads, Ray, joblib's own line to Dask.

    The shared part travels with every task, and what happens when a worker is lost is the backend's affair.
    """

    name: str = "joblib"

    @property
    def workers(self) -> int:
        return int(joblib.effective_n_jobs())

    def map(self, function: Function, items: Sequence[Any], shared: Any = None) -> list[Any]:
        """As `Serial.map`."""
        return list(joblib.Parallel()(joblib.delayed(function)(shared, item) for item in items))


@dataclass
class Dask(_Closing):
    """A Dask cluster, reached by the address of its scheduler.

    Tasks go to the cluster itself and not through joblib's backend for it, which does not tell that a scheduler is
    lost. For an address that starts with tls://, Dask's own settings name the certificates.
    """

    address: str
    name: Name = "dask"
    workers: int = 0
    patience: str = "10s"
    """How long a scheduler may take to answer, at first and after a lost connection."""
    _client: Any = field(default=None, repr=False)
    _sent: Any = field(default=None, repr=False)
    _shared: Any = field(default=None, repr=False)

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
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what it would say, `EngineLost` says
        self.workers = sum(self._client.ncores().values())

    def map(self, function: Function, items: Sequence[Any], shared: Any = None) -> list[Any]:
        """As `Serial.map`; a task whose worker dies is run again elsewhere."""
        if not items:
            return []
        distributed = importlib.import_module("distributed")
        lost = (
            distributed.CancelledError,
            distributed.KilledWorker,
            importlib.import_module("distributed.client").FutureCancelledError,
            importlib.import_module("distributed.comm").CommClosedError,
            asyncio.CancelledError,
            TimeoutError,
        )
        for chance in (2, 1):
            try:
                if self._sent is None or shared is not self._shared:
                    self._sent = self._client.scatter([shared], broadcast=True, hash=False, timeout=60)[0]
                    self._shared = shared
                futures = self._client.map(_on_cluster, items, function=function, shared=self._sent, pure=False)
                return list(self._client.gather(futures))
            except (*lost, RuntimeError, OSError) as error:
                alive = self._client.status == "running"
                if alive and not isinstance(error, lost):
                    raise  # the function's own
                self._sent, cause = None, type(error).__name__
                if chance == 2 and alive and not isinstance(error, distributed.KilledWorker):
                    continue  # the scheduler lives: only what was sent died, with the last worker that held it
                break
        raise EngineLost(
            f"the Dask cluster at {self.address!r} was lost with {len(items)} tasks under way ({cause}); start a "
            f"scheduler and workers again and resume the run, which loses at most the generation in flight"
        )

    def close(self) -> None:
        self._sent = self._shared = None
        if self._client is not None:
            with suppress(OSError, RuntimeError, asyncio.CancelledError):  # a lost scheduler says no farewell
                self._client.close(timeout=2)
            self._client = None


def _on_cluster(item: Any, function: Function, shared: Any) -> Any:
    return function(shared, item)


def engine(name: str = "serial", workers: int = 0, address: str = "") -> Serial | Processes | Dask:
    """The named engine: "serial", "processes" (workers; 0 means one per core) or "dask" (address of a scheduler)."""
    if name not in NAMES:
        raise EngineError(f"there is no engine called {name!r}{suggestion(name, NAMES)}; known: {listing(NAMES)}")
    if workers < 0:
        raise EngineError(f"an engine cannot have {workers} workers; give 1 or more, or 0 for one per core")
    if name == "dask":
        if not address:
            raise EngineError("the Dask engine needs the address of a scheduler, e.g. tcp://host:8786")
        return Dask(address)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Serial() if name == "serial" else Processes(workers or cores)
