"""The folder of a run: plan.toml, run.db and lock.toml, readable by its owner only and written by one process."""

from __future__ import annotations

import json
import os
import platform
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from filelock import lock_descriptor

from crypsis.errors import SearchError
from crypsis.measures.utility import Usefulness
from crypsis.plan import Plan
from crypsis.plan.sections import Running
from crypsis.run.store import Store
from crypsis.table.files import atomic_folder, write_atomically
from crypsis.version import __version__

PLAN, STORE, LOCK, GUARD = "plan.toml", "run.db", "lock.toml", ".running"
_PACKAGES = ("numpy", "numba", "scipy", "polars", "pydantic")


@dataclass(frozen=True)
class Lock:
    """What a run was started with; internal, since the seed can undo the protection.

    seed  seed of the run
    home  folder to which paths of the plan are relative; empty for a table from memory
    data  fingerprint of the table
    plan  fingerprint of the plan without its [run] table
    versions  versions of software and machine
    """

    seed: int
    home: str
    data: str
    plan: str
    versions: dict[str, str]

    @property
    def identity(self) -> str:
        """What the rows of the store are bound to: seed, data and plan, as a digest."""
        return blake2b("\0".join([str(self.seed), self.data, self.plan]).encode(), digest_size=16).hexdigest()

    def write(self, folder: Path) -> None:
        """Write the lock into a folder.

        Parameters
        ----------
        folder : Path
            The folder of the run.
        """
        lines = [
            "# Internal: never publish this file. The seed can undo a protection.",
            f"seed = {json.dumps(str(self.seed))}",
            f"home = {json.dumps(self.home, ensure_ascii=False)}",
            f"data = {json.dumps(self.data)}",
            f"plan = {json.dumps(self.plan)}",
            "",
            "[versions]",
            *(f"{name} = {json.dumps(text)}" for name, text in self.versions.items()),
            "",
        ]
        write_atomically(folder / LOCK, "\n".join(lines).encode())

    @classmethod
    def read(cls, folder: Path) -> Lock:
        """Read the lock of a folder.

        folder  the folder of the run

        Raises
        ------
        SearchError
            If there is none or it is damaged.
        """
        try:
            content = tomllib.loads((folder / LOCK).read_text(encoding="utf-8"))
            return cls(int(content["seed"]), content["home"], content["data"], content["plan"], content["versions"])
        except FileNotFoundError:
            raise SearchError(f"{folder}: is no run (no {LOCK}); start one with `crypsis run PLAN`") from None
        except (OSError, tomllib.TOMLDecodeError, KeyError, ValueError) as error:
            raise SearchError(
                f"{folder / LOCK}: damaged ({type(error).__name__}), so the run cannot continue; start it again in a "
                f"new folder"
            ) from None


def versions() -> dict[str, str]:
    """Versions of software and machine: with the same ones, the same seed gives the same result."""
    found = {"crypsis": __version__, "python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def plan_fingerprint(plan: Plan) -> str:
    """Fingerprint of everything in a plan that changes the result; budget, engine, reasons and thresholds do not."""
    columns = {name: column.model_copy(update={"because": ""}) for name, column in plan.columns.items()}
    kept = {"run": Running(points=plan.run.points), "waive": (), "useful": Usefulness(), "columns": columns}
    return plan.model_copy(update=kept).fingerprint()


def create(folder: Path, plan_text: str, lock: Lock, budget: str | None) -> None:
    """Make the folder of a new run with its plan, lock and store: all of it or nothing.

    Parameters
    ----------
    folder : Path
        The folder; must not exist, or be empty.
    plan_text : str
        The plan.
    lock : Lock
        What the run is started with.
    budget : str or None
        Its budget.

    Raises
    ------
    SearchError
        If the folder exists or its parent does not.
    """
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    if folder.exists():
        hint = " (it is a run: `crypsis resume` continues it)" if (folder / STORE).exists() else ""
        raise SearchError(f"{folder}: already exists{hint}; choose another folder with --out")
    if not folder.parent.is_dir():
        raise SearchError(f"{folder.parent}: there is no such folder; make it first or choose another with --out")
    with atomic_folder(folder) as aside:
        write_atomically(aside / PLAN, plan_text.encode())
        lock.write(aside)
        with Store(aside / STORE, create=True, run=lock.identity) as store, store.transaction():
            store.note("budget", budget)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes; the lock ends with the process.

    Parameters
    ----------
    folder : Path
        The folder of the run.

    Raises
    ------
    SearchError
        If the folder cannot be written, or another process has the lock.
    """
    try:
        handle = os.open(folder / GUARD, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise SearchError(
            f"{folder}: the folder cannot be written ({(error.strerror or 'unknown reason').lower()}), so the run "
            f"cannot continue here; make it writable, or copy it to a writable place and resume it there"
        ) from None
    try:
        if not lock_descriptor(handle, blocking=False):
            raise SearchError(
                f"{folder}: another process is running in this folder; wait for it, or stop it, then `crypsis resume`"
            )
        yield
    finally:
        os.close(handle)
