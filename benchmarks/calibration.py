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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from analyses_kept import People, load_judge, read_released
from scale import peak

import crypsis
from crypsis.kernels.calibration import LabelChoices
from crypsis.masking import calibration
from crypsis.masking.calibration import calibrate
from crypsis.masking.representatives import Representative, published_by_column
from crypsis.table.precision import at_source_precision
from crypsis.table.table import Table

ROWS, COLUMNS, K = (10**3, 10**4, 10**5, 10**6), (5, 20, 50), 5
SEEDS, ANALYSES = (1, 2, 3), 200
HELD = {
    "PSID7682": People("AER", "experience,weeks,occupation,industry,south,smsa,married,gender,union,ethnicity", "", "", "id"),
    "Medicaid1986": People("AER", "children,age,income,gender,ethnicity,school,enroll,program", ""),
    "CreditCard": People("AER", "age,owner,selfemp,dependents,months,income", ""),
    "Chile": People("carData", "region,population,sex,age,education,income", ""),
    "rwm1984": People("COUNT", "hhninc,age,educ,married,female,kids,self", ""),
    "medpar": People("COUNT", "los,hmo,white,age80,provnum", ""),
    "RetSchool": People("Ecdat", "exp76,grade76,black,south76,smsa76,region,age76,sinmom14", ""),
    "k401ksubs": People("wooldridge", "inc,marr,male,age,fsize,incsq,agesq", ""),
    "NCbirths": People("Stat2Data", "Plural,Sex,MomAge,Weeks,Marital,RaceMom,HispMom", "", "", "ID"),
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


if __name__ == "__main__":
    if sys.argv[1] == "one":
        print(json.dumps(grow_one(int(sys.argv[2]), int(sys.argv[3]))))
    else:
        growth(100000, [5,20,50])
