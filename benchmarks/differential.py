"""Privacy models against pycanon on random tables: every disagreement is printed, and fails the command.

python benchmarks/differential.py [--cases 2000] [--environment FOLDER]

pycanon pins old versions of its libraries, so it runs in an environment of its own; tables go there as JSON lines.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from peers import environment

from crypsis.privacy import models
from crypsis.table.table import Table

THEIRS = """
import json, sys
import pandas as pd
from pycanon import anonymity as a
for line in sys.stdin:
    columns = json.loads(line)
    frame = pd.DataFrame(columns)
    known, secret = [name for name in columns if name[0] == "q"], ["s"]
    named, number = frame.astype({"s": str}), frame
    print(json.dumps({
        "k": a.k_anonymity(frame, known),
        "distinct l": a.l_diversity(named, known, secret),
        "entropy l, whole": a.entropy_l_diversity(named, known, secret),
        "t, equal": a.t_closeness(named, known, secret),
        "t, ordered": a.t_closeness(number, known, secret),
        "beta, basic": a.basic_beta_likeness(named, known, secret),
        "alpha": a.alpha_k_anonymity(named, known, secret)[0],
    }))
"""


def random_people(seed: int) -> dict[str, list[Any]]:
    """A few keys and a secret of at least two values, because pycanon divides by their number less one."""
    rng = np.random.default_rng([2006, seed])
    n, keys = int(rng.integers(2, 50)), int(rng.integers(1, 4))
    secret = rng.integers(0, int(rng.integers(2, 6)), n)
    secret[:2] = [0, 1]
    known = {f"q{j}": [f"v{v}" for v in rng.integers(0, int(rng.integers(1, 5)), n)] for j in range(keys)}
    return {**known, "s": secret.tolist()}


def ours(columns: dict[str, list[Any]]) -> dict[str, float]:
    roles = {name: "confidential" if name == "s" else "quasi" for name in columns}
    number = Table.from_columns(columns, roles)
    named = Table.from_columns({**columns, "s": [str(v) for v in columns["s"]]}, roles)

    def attained(name: str, table: Table, **settings: Any) -> float:
        return models.build(name, **settings).judge(table).attained

    return {
        "k": attained("k-anonymity", named),
        "distinct l": attained("l-diversity", named),
        "entropy l, whole": attained("l-diversity", named, kind="entropy"),
        "t, equal": attained("t-closeness", named, distance="equal"),
        "t, ordered": attained("t-closeness", number, distance="ordered"),
        "beta, basic": attained("beta-likeness", named, kind="basic"),
        "alpha": attained("alpha-k-anonymity", named, k=2),  # a class of one counts as 1 in both
    }


def _cut_off(name: str, value: float, theirs: float) -> bool:
    """pycanon gives the whole part only, of a number that rounding may have left just below a whole one."""
    return name == "entropy l, whole" and theirs in (math.floor(value - 1e-9), math.floor(value + 1e-9))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--environment", type=Path, help="folder for the peers' environment; default: a temporary one")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        python = environment(chosen.environment or Path(scratch) / "environment")
        tables = [random_people(seed) for seed in range(chosen.cases)]
        lines = "\n".join(json.dumps(table) for table in tables)
        answers = subprocess.run([str(python), "-c", THEIRS], input=lines, capture_output=True, text=True, check=True)
    agreed, differing = dict[str, int](), dict[str, list[tuple[int, float, float]]]()
    for seed, (table, line) in enumerate(zip(tables, answers.stdout.splitlines(), strict=True)):
        theirs, mine = json.loads(line), ours(table)
        for name, value in mine.items():
            if math.isclose(value, theirs[name], rel_tol=1e-9, abs_tol=1e-9) or _cut_off(name, value, theirs[name]):
                agreed[name] = agreed.get(name, 0) + 1
            else:
                differing.setdefault(name, []).append((seed, value, theirs[name]))
    for name in mine:
        print(f"{name:18} {agreed.get(name, 0):6} of {chosen.cases} agree")
        for seed, value, theirs_value in differing.get(name, [])[:5]:
            print(f"    case {seed}: crypsis {value!r}, pycanon {theirs_value!r}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
