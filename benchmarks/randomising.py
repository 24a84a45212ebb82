"""Rank swapping of five columns and PRAM of two for several sizes: CPU seconds and growth.

python benchmarks/randomising.py [--largest 1000000] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np

from crypsis.masking import Pram, RankSwapping
from crypsis.masking.method import MaskingMethod
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import Table


def numbers(n: int, columns: int) -> Table:
    rng = np.random.default_rng(n)
    attributes = tuple(Attribute(f"x{j}", Kind.NUMERIC, Role.QUASI_IDENTIFIER) for j in range(columns))
    return Table(attributes, tuple(rng.standard_normal(n) for _ in range(columns)))


def categories(n: int, columns: int) -> Table:
    rng = np.random.default_rng(n)
    labels = tuple("abcdefgh")
    attributes = tuple(Attribute(f"c{j}", Kind.NOMINAL, Role.QUASI_IDENTIFIER, labels) for j in range(columns))
    return Table(attributes, tuple(rng.integers(0, len(labels), n).astype(np.int32) for _ in range(columns)))


def seconds(method: MaskingMethod, table: Table) -> float:
    begun = time.process_time()
    method.mask(table, np.random.default_rng(0))
    return time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    cases = {
        "rank-swapping, 5 columns": (RankSwapping(percent=5), numbers, 5),
        "pram, 2 columns": (Pram(theta=0.5), categories, 2),
    }
    results = []
    for name, (method, make, columns) in cases.items():
        seconds(method, make(1000, columns))  # compile
        before: tuple[int, float] | None = None
        for n in (n for n in (10_000, 100_000, 1_000_000) if n <= arguments.largest):
            took = seconds(method, make(n, columns))
            growth = math.log(took / before[1]) / math.log(n / before[0]) if before else math.nan
            print(f"{name:26} n = {n:>9,}  {took:8.3f} s CPU  growth exponent {growth:.2f}")
            results.append({"case": name, "n": n, "cpu_seconds": took, "growth": growth})
            before = (n, took)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
