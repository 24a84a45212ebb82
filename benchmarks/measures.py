"""CPU seconds of every measure and privacy model for several sizes.

    python benchmarks/measures.py [--sizes 1000 10000 100000] [--only NAME …] [--limit SECONDS] [--json]

The table: six correlated numbers and two categories (12 and 5 values) as quasi-identifiers, one confidential
category and one confidential number, masked by rounding the numbers and moving every tenth category. A thing
that took longer than the limit is not tried on larger sizes; `exponent` is the growth between the last two.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from crypsis.errors import CrypsisError
from crypsis.measures import measures
from crypsis.privacy import models
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import Table

NUMBERS = 6


def tables(n: int) -> tuple[Table, Table]:
    rng = np.random.default_rng(n)
    base = rng.standard_normal((n, 1))
    values = base + 0.7 * rng.standard_normal((n, NUMBERS))
    attributes = [Attribute(f"v{j}", Kind.NUMERIC, Role.QUASI_IDENTIFIER) for j in range(NUMBERS)]
    attributes.append(Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, tuple(f"t{c:02d}" for c in range(12))))
    attributes.append(Attribute("grade", Kind.ORDINAL, Role.QUASI_IDENTIFIER, tuple("abcde")))
    attributes.append(Attribute("ill", Kind.NOMINAL, Role.CONFIDENTIAL, tuple("uvwxyz")))
    attributes.append(Attribute("pay", Kind.NUMERIC, Role.CONFIDENTIAL))
    codes = [rng.integers(0, size, n).astype(np.int32) for size in (12, 5, 6)]
    columns = [*values.T, *codes, np.round(100 * np.exp(base[:, 0]))]
    original = Table(tuple(attributes), tuple(columns))
    moved = {f"v{j}": np.round(values[:, j]) for j in range(NUMBERS)}
    for name, size in (("town", 12), ("grade", 5)):
        column = original.column(name).copy()
        column[::10] = rng.integers(0, size, len(column[::10]))
        moved[name] = column
    return original, original.with_columns(moved)


def cpu(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def tasks(original: Table, masked: Table) -> dict[str, Callable[[], Any]]:
    """Each thing that applies: a measure bound and read once, a model judged once."""
    found: dict[str, Callable[[], Any]] = {}
    for name in measures:
        try:
            measure = measures.build(name)
        except CrypsisError:
            continue
        if not measure.obstacle(original):
            found[name] = lambda measure=measure: measure.against(original).read(masked)
    for name in models:
        model = models.build(name)
        if not model.obstacle(masked):
            found[name] = lambda model=model: model.judge(masked)
    return found


def climb(sizes: list[int], limit: float, only: list[str]) -> dict[str, dict[str, Any]]:
    seconds: dict[str, dict[int, float]] = {}
    small = tasks(*tables(200))
    chosen = [name for name in small if not only or name in only]
    for name in chosen:
        small[name]()  # compile before anything is timed
    for n in sizes:
        ready = tasks(*tables(n))
        for name in chosen:
            taken = seconds.setdefault(name, {})
            if len(taken) == sizes.index(n) and (not taken or max(taken.values()) <= limit):
                taken[n] = cpu(ready[name])
    return {name: {"cpu": taken, "exponent": exponent(taken)} for name, taken in seconds.items()}


def exponent(taken: dict[int, float]) -> float | None:
    if len(taken) < 2:
        return None
    (n, before), (m, after) = list(taken.items())[-2:]
    return math.log(after / before) / math.log(m / n) if before > 0 and after > 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--limit", type=float, default=3.0, help="climb no further once a size took this many seconds")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    results = climb(sorted(chosen.sizes), chosen.limit, chosen.only)
    if chosen.json:
        json.dump(results, sys.stdout, indent=1)
        return
    print(f"{'CPU seconds':<22}", *(f"{f'n = {n}':>12}" for n in sorted(chosen.sizes)), f"{'exponent':>9}")
    for name, row in results.items():
        cells = (f"{row['cpu'][n]:12.4f}" if n in row["cpu"] else f"{'–':>12}" for n in sorted(chosen.sizes))
        growth = "" if row["exponent"] is None else f"{row['exponent']:.2f}"
        print(f"{name:<22}", *cells, f"{growth:>9}")


if __name__ == "__main__":
    main()
