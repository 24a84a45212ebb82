"""The folder of a run: plan.toml, run.db and lock.toml; its owner's alone, written by one process at a time."""

from __future__ import annotations

import fcntl
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

from crypsis.errors import SearchError
from crypsis.plan import Plan
from crypsis.plan.sections import Running
from crypsis.table.files import atomic_folder, write_atomically
from crypsis.version import __version__

PLAN, STORE, LOCK, GUARD = "plan.toml", "run.db", "lock.toml", ".running"
_PACKAGES = ("numpy", "numba", "scipy", "polars", "pydantic")


@dataclass(frozen=True)
class Lock:
    """What a run was begun with. Internal: the seed can undo the protection."""

    seed: int
    home: str
    """Folder the plan's paths are relative to; empty for a table that came from memory."""
    data: str
    """Fingerprint of the table."""
    plan: str
    """Fingerprint of the plan without its [run] table."""
    versions: dict[str, str]

    @property
    def identity(self) -> str:
        """What the rows of the store are bound to: seed, data and plan, as a digest."""
        return blake2b("\0".join([str(self.seed), self.data, self.plan]).encode(), digest_size=16).hexdigest()

    def write(self, folder: Path) -> None:
        lines = [
            "# Internal: never publish this file. Whoever knows the seed can undo a protection.",
            f"seed = {json.dumps(str(self.seed))}",
            f"home = {json.dumps(self.home, ensure_ascii=False)}",
            f"data = {json.dumps(self.data)}",
            f"plan = {json.dumps(self.plan)}",
            "",
            "[versions]",
            *(f"{name} = {json.dumps(text)}" for name, text in self.versions.items()),
            "",
        ]
        path = folder / LOCK
        write_atomically(path, "\n".join(lines).encode())
        path.chmod(0o600)

    @classmethod
    def read(cls, folder: Path) -> Lock:
        try:
            content = tomllib.loads((folder / LOCK).read_text(encoding="utf-8"))
            return cls(int(content["seed"]), content["home"], content["data"], content["plan"], content["versions"])
        except FileNotFoundError:
            raise SearchError(f"{folder}: holds no run (no {LOCK}); start one with `crypsis run PLAN`") from None
        except (OSError, tomllib.TOMLDecodeError, KeyError, ValueError) as error:
            raise SearchError(
                f"{folder / LOCK}: damaged ({type(error).__name__}); without it the run cannot go on: start it again "
                f"in a new folder"
            ) from None


def versions() -> dict[str, str]:
    """The software and machine on which the same seed gives the same bits."""
    found = {"crypsis": __version__, "python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def plan_fingerprint(plan: Plan) -> str:
    """Of everything that decides what is found; budget and engine only decide when and where, waivers what passes."""
    return plan.model_copy(update={"run": Running(points=plan.run.points), "waive": ()}).fingerprint()


@contextmanager
def new(folder: Path, plan_text: str) -> Iterator[Path]:
    """A run folder in the making; it gets its name when all is in it, so that no kill leaves half a beginning."""
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    if folder.exists():
        hint = " (it holds a run: `crypsis resume` goes on with it)" if (folder / STORE).exists() else ""
        raise SearchError(f"{folder}: exists already{hint}; choose another folder with --out")
    if not folder.parent.is_dir():
        raise SearchError(f"{folder.parent}: there is no such folder; make it first or choose another with --out")
    with atomic_folder(folder) as aside:
        aside.chmod(0o700)
        write_atomically(aside / PLAN, plan_text.encode())
        (aside / PLAN).chmod(0o600)
        yield aside


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Nobody else runs in this folder meanwhile; the system lets go when the process ends, however it ends."""
    try:
        handle = os.open(folder / GUARD, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise SearchError(
            f"{folder}: the folder cannot be written ({(error.strerror or 'unknown reason').lower()}), so the run "
            f"cannot go on here; make it writable, or copy it to where you may write and resume there"
        ) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SearchError(
                f"{folder}: another process is running in this folder; wait for it, or stop it, then `crypsis resume`"
            ) from None
        yield
    finally:
        os.close(handle)
