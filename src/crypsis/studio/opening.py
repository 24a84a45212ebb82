"""Opening a session on a data file, a plan, a run or the example."""

from __future__ import annotations

import os
import re
import shutil
import time
import tomllib
from pathlib import Path

from crypsis.errors import PlanError, TableError
from crypsis.plan import Plan, draft
from crypsis.plan.document import as_toml
from crypsis.run import Run
from crypsis.run.folder import PLAN, STORE
from crypsis.studio import jobs
from crypsis.studio.session import Session
from crypsis.table.atomic_files import private_folder, write_atomically
from crypsis.table.example import EDUCATION, INVENTED, example, hierarchies
from crypsis.table.files import read_table, write_hierarchy, write_table
from crypsis.table.profile import profile

EXAMPLE_ROWS = 1000
EXAMPLE_BUDGET = "5s"
EXAMPLE_RULEBOOK = "licensed"
PART = ".part"
"""Suffix of an upload that is not complete."""
STALE_AFTER = 3600.0
"""Seconds without new data after which an upload counts as broken off."""
ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq")


def open_path(path: Path) -> Session:
    """The session for a data file, a plan or a run folder."""
    path = path.expanduser().resolve()
    if (path / STORE).is_file():
        return _open_run(path)
    if path.is_dir():
        raise TableError(f"{path.name}: a folder without a run; give a data file, a plan.toml or a run folder")
    if not path.is_file():
        raise TableError(f"{path.name}: there is no such file; check the path")
    if path.suffix.lower() == ".toml":
        return Session((path.parent / Plan.read(path).data.source).resolve(), path)
    if path.suffix.lower() not in ENDINGS:
        raise TableError(
            f"{path.name} ends in {path.suffix or 'nothing'!r}; the studio reads {', '.join(ENDINGS)}, a plan (.toml) "
            f"or a run folder"
        )
    return Session(path, path.with_name(f"{path.stem}-plan.toml"))


def _open_run(folder: Path) -> Session:
    """The session of a run, with a plan next to it that may be changed for the next run."""
    run = Run.open(folder)
    run.close()
    if not run.lock.home:
        raise PlanError(f"{folder.name}: this run protects a table from memory; the studio needs one from a file")
    source = (Path(run.lock.home) / run.plan.data.source).resolve()
    for plan in sorted(folder.parent.glob("*.toml")):
        if folder.name.startswith(f"{plan.stem}-run"):
            return Session(source, plan, folder)
    beside = folder.with_name(f"{folder.name}-plan.toml")
    if not beside.exists():
        document = tomllib.loads((folder / PLAN).read_text(encoding="utf-8"))
        document["data"]["source"] = os.path.relpath(source, folder.parent)
        write_atomically(beside, as_toml(Plan.parse(document)).encode())
    return Session(source, beside, folder)


def safe_name(given: str) -> str:
    """A file name without special characters; a path is refused."""
    if "/" in given or "\\" in given:
        raise TableError("the file name contains a path and must be a name only; rename the file and try again")
    name = re.sub(r"[^\w.\- ]", "_", given).strip(" .")
    if not name or Path(name).suffix.lower() not in ENDINGS:
        raise TableError(f"the file name must end in one of {', '.join(ENDINGS)}; rename it and try again")
    return name[-120:]


def upload_folder(home: Path) -> Path:
    """A new private folder for one upload."""
    uploads = home / "uploads"
    uploads.mkdir(mode=0o700, exist_ok=True)
    number = 1 + max((int(each.name) for each in uploads.iterdir() if each.name.isdigit()), default=0)
    folder = uploads / str(number)
    folder.mkdir(mode=0o700)
    return folder


def sweep_uploads(home: Path) -> None:
    """Remove uploads that were broken off."""
    for part in home.glob(f"uploads/*/*{PART}"):
        if time.time() - part.stat().st_mtime > STALE_AFTER:
            shutil.rmtree(part.parent, ignore_errors=True)


def open_example(home: Path) -> Session:
    """The built-in table of invented people with a search that has run or runs now."""
    folder = home / "example"
    plan = folder / "people-plan.toml"
    if not plan.exists():
        write_example(folder, plan)
    session = Session(folder / "people.csv", plan)
    if not session.choices.rulebook:
        session.change(rulebook=EXAMPLE_RULEBOOK)
    if not session.has_run:
        session.start()
        jobs.warm_up()
    return session


def write_example(folder: Path, plan: Path, rows: int = EXAMPLE_ROWS) -> None:
    """Write the example: people, hierarchies and a plan."""
    shutil.rmtree(folder, ignore_errors=True)  # of a start that was interrupted
    private_folder(folder / "hierarchies")
    source, original = folder / "people.csv", example(rows)
    write_table(original, source)
    read = read_table(source)
    invented = dict.fromkeys(original.confidential, INVENTED)
    document = tomllib.loads(draft(source, plan, read, profile(read), 5, invented))
    for name, hierarchy in hierarchies().items():
        if name in ("age", "hours"):
            continue  # the draft has intervals for them
        write_hierarchy(hierarchy, folder / "hierarchies" / f"{name}.csv")
        document["columns"][name]["hierarchy"] = f"hierarchies/{name}.csv"
    document["columns"]["education"] |= {"kind": "ordinal", "order": [each[0] for each in EDUCATION]}
    document["run"] = {"budget": EXAMPLE_BUDGET}
    write_atomically(plan, as_toml(Plan.parse(document)).encode())
