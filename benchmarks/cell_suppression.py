"""Cells hidden by cell suppression and CPU seconds, beside sdcMicro's local suppression, on testdata and Adult.

python benchmarks/cell_suppression.py [--exact] [--json FILE]

The file of sdcMicro is read from the folder of conformance figures, and judged by the same counts as ours.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from crypsis.masking import CellSuppression
from crypsis.masking.cell_suppression import hide_cells
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import alike_records, count_persons_alike
from crypsis.table.files import read_table
from crypsis.table.table import Table

DATA = Path(os.environ.get("CRYPSIS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
TESTDATA = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
ADULT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")
PEER = {3: 1.8, 5: 2.8}
"""CPU seconds of sdcMicro, taken over from the figures it was compared with."""


def load(name: str, keys: Sequence[str]) -> Table:
    table = read_table(DATA / name)
    return table.with_roles({column: Role.QUASI_IDENTIFIER if column in keys else Role.OTHER for column in table.names})


def judge(table: Table, masked: Table, keys: Sequence[str], k: int) -> dict[str, int]:
    """Cells hidden, and people and records that have fewer than k, by each count."""
    cells = sum(int(masked.missing(name).sum()) for name in keys)
    counts = {reading: alike_records(masked, keys, reading, table) for reading in ("target", "wildcard")}
    persons = count_persons_alike(masked, keys, table)
    return {
        "cells": cells,
        "persons below k (target)": int((counts["target"] < k).sum()),
        "records below k (wildcard)": int((counts["wildcard"] < k).sum()),
        "records that fewer than k persons can have given": int((persons < k).sum()),
    }


def peer_file(table: Table, keys: Sequence[str], k: int) -> Table:
    """What sdcMicro published."""
    hidden = np.zeros((len(table), len(keys)), dtype=np.bool_)
    with (DATA.resolve().parent / "conformance" / f"testdata_suppressed_k{k}_cells.csv").open() as file:
        for row in csv.DictReader(file):
            hidden[int(row["row"]) - 1, keys.index(row["column"])] = True
    return hide_cells(table, keys, hidden)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--exact", action="store_true", help="also testdata by integer programming: about a minute each"
    )
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results: list[dict[str, object]] = []

    def tell(data: str, who: str, k: int, figures: dict[str, int], took: float) -> None:
        listed = ", ".join(f"{value} {name}" for name, value in figures.items())
        print(f"{data:20} k = {k}  {who:26} {took:7.2f} s CPU  {listed}", flush=True)
        results.append({"data": data, "method": who, "k": k, "cpu_seconds": took, **figures})

    def measure(data: str, table: Table, keys: Sequence[str], k: int, **settings: object) -> None:
        method = CellSuppression.model_validate({"k": k, "columns": tuple(keys), **settings})
        begun = time.process_time()
        masked = method.mask(table, np.random.default_rng(1))
        took = time.process_time() - begun
        tell(data, " ".join(map(str, settings.values())), k, judge(table, masked, keys, k), took)

    survey, adult = load("testdata.csv", TESTDATA), load("adult.csv", ADULT)
    few = survey.take(np.arange(200))
    for settings in ({"missing": "target"}, {"missing": "target", "sides": "persons"}):
        CellSuppression.model_validate({"k": 3, "effort": 1, **settings}).mask(few, np.random.default_rng(0))  # compile
    for k in (3, 5):
        tell("testdata", "sdcMicro", k, judge(survey, peer_file(survey, TESTDATA, k), TESTDATA, k), PEER[k])
        for settings in ({"missing": "target"}, {"missing": "wildcard"}, {"missing": "target", "solver": "greedy"}):
            measure("testdata", survey, TESTDATA, k, **settings)
        measure("testdata", survey, TESTDATA, k, missing="target", sides="persons")
        if arguments.exact:
            measure("testdata", survey, TESTDATA, k, missing="target", solver="exact")
    for k in (3, 5):
        for solver in ("exact", "improved"):
            measure("testdata, first 200", few, TESTDATA, k, missing="target", solver=solver)
    for settings in ({"missing": "target"}, {"missing": "wildcard"}):
        measure("Adult", adult, ADULT, 5, **settings)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
