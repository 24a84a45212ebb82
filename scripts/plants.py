"""Plant what an audit must find in tables that are clean otherwise, and count what it finds.

    python scripts/plants.py [--plants 100] [--seed 1]

Columns that single people out, columns that determine a masked one, look-alike categories, averages of one value,
texts that restate a masked value or a name, codes and dates whose parts restore one, stays between two dates, and
signed zeros are planted; on the same tables without a plant the audit should find nothing. Tables for texts and dates
have a note, a code and two dates that say nothing. Exit 1 if fewer
than 99 % of the plants of a kind are found.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sweep import broken

import crypsis
from crypsis.audits import FindingKind
from crypsis.release.ledger import VARIABLE


def clean(rng: np.random.Generator) -> tuple[crypsis.Table, crypsis.Table]:
    """An original and its release, in which nothing is to be found: k = 5 over all columns but a coarse illness."""
    rows = int(rng.integers(120, 400))
    columns: dict[str, list[Any]] = {
        "age": [float(v) for v in rng.integers(18, 90, rows)],
        "town": [f"t{v}" for v in rng.integers(0, 8, rows)],
        "pay": [float(v) for v in rng.normal(2000, 400, rows).round(-2)],
        "illness": [f"i{v}" for v in rng.integers(0, 4, rows)],
    }
    roles = dict.fromkeys(("age", "town", "pay"), "quasi") | {"illness": "confidential"}
    original = crypsis.Table.from_columns(columns, roles)
    return original, crypsis.Microaggregation(k=5).mask(original, rng)


def wordy(rng: np.random.Generator, kind: str = "") -> tuple[crypsis.Table, crypsis.Table]:
    """A clean table beside a name that is left out, with texts and dates that say nothing but what is planted."""
    rows = int(rng.integers(120, 400))
    age, town = rng.integers(18, 90, rows), rng.integers(0, 12, rows)
    numbers, days = rng.permutation(rows), rng.integers(0, 3000, rows)
    names = [f"{chr(65 + n % 26)}{chr(97 + n // 26)}name" for n in range(rows)]
    stay = rng.integers(1, 40, rows)
    said = {
        "text with the name": lambda n: f"called {names[n]} twice",
        "text with the town": lambda n: f"{numbers[n]} High Street, Town{town[n]:02d}",
    }.get(kind, lambda n: f"note {numbers[n]}")
    coded = {
        "code with the birth year": lambda n: f"{2024 - age[n]}{numbers[n]:04d}",
        "code with the town": lambda n: f"{chr(97 + town[n])}-{numbers[n]:04d}",
    }.get(kind, lambda n: f"K{numbers[n]:05d}")
    began = np.datetime64("2010-01-01") + days
    gap = stay if kind == "stay between dates" else rng.integers(1, 40, rows)
    born = np.datetime64("1925-01-01") + rng.integers(0, 30000, rows)
    if kind == "date with the birth year":
        born = np.array([f"{2024 - each}-01-01" for each in age], dtype="datetime64[D]") + rng.integers(0, 365, rows)
    columns: dict[str, Any] = {
        "name": names,
        "age": age.astype(float).tolist(),
        "town": [f"Town{each:02d}" for each in town],
        "stay": stay.astype(float).tolist(),
        "note": [said(n) for n in range(rows)],
        "code": [coded(n) for n in range(rows)],
        "began": began.astype(str).tolist(),
        "ended": (began + gap).astype(str).tolist(),
        "born": born.astype(str).tolist(),
    }
    roles = dict.fromkeys(columns, "other") | dict.fromkeys(("age", "town", "stay"), "quasi") | {"name": "identifier"}
    original = crypsis.Table.from_columns(columns, roles)
    return original, crypsis.Microaggregation(k=5).mask(original, rng)


def planted(kind: str, rng: np.random.Generator) -> tuple[crypsis.Table, crypsis.Table]:
    if PLANTS[kind] in (FindingKind.RESTATED, FindingKind.DEPENDENCE) and kind != "determining column":
        return wordy(rng, kind)
    original, masked = clean(rng)
    rows = len(original)
    if kind == "unique column":
        unique = rng.permutation(rows).astype(float)
        return _beside(original, "extra", unique), _beside(masked, "extra", unique)
    if kind == "determining column":
        key = original.column("town").astype(float) * 7 + 3
        return _beside(original, "extra", key), _beside(masked, "extra", key)
    if kind == "look-alikes":
        codes = original.column("illness").copy()
        attribute = original.attribute("illness")
        labels = (*attribute.categories, attribute.categories[0].upper() + " ")
        codes[np.flatnonzero(codes == 0)[::2]] = len(labels) - 1
        spelt = attribute.but(categories=labels)
        changed = {"illness": codes}, {}, {"illness": spelt}
        return original.with_columns(*changed), masked.with_columns(*changed)
    if kind == "average of one value":
        pay, shown = original.column("pay").copy(), masked.column("pay").copy()
        group = np.flatnonzero(shown == shown[int(rng.integers(rows))])
        pay[group[1:]] = np.nan
        shown[group] = pay[group[0]]
        return original.with_columns({"pay": pay}), masked.with_columns({"pay": shown})
    raise ValueError(kind)


def _beside(table: crypsis.Table, name: str, column: np.ndarray[Any, Any]) -> crypsis.Table:
    attribute = crypsis.Attribute(name, crypsis.Kind.NUMERIC, crypsis.Role.OTHER)
    return replace(
        table,
        attributes=(*table.attributes, attribute),
        columns=(*table.columns, column),
        levels=(*table.levels, 0),
        origin=None,
    )


PLANTS = {
    "unique column": FindingKind.SINGLING_OUT,
    "determining column": FindingKind.DEPENDENCE,
    "look-alikes": FindingKind.LOOK_ALIKE,
    "average of one value": FindingKind.SMALL_AVERAGE,
    "text with the name": FindingKind.RESTATED,
    "text with the town": FindingKind.RESTATED,
    "code with the birth year": FindingKind.DEPENDENCE,
    "code with the town": FindingKind.DEPENDENCE,
    "stay between dates": FindingKind.DEPENDENCE,
    "date with the birth year": FindingKind.DEPENDENCE,
}


FIRST_WORDY = 4
"""Place of the first plant in a table of texts and dates."""


def signed_zeros(plants: int, seed: int, home: Path) -> int:
    """How often a file with −0 beside 0 has one spelling in its bytes and the k it promises."""
    kept = 0
    for number in range(plants):
        rng = np.random.default_rng([seed, 99, number])
        signs = np.where(rng.random(40) < 0.5, 0.0, -0.0).tolist()
        table = crypsis.Table.from_columns({"x": signs, "y": [1.0, 2.0] * 20}, {"x": "quasi", "y": "quasi"})
        out = home / f"zero-{number}"
        format = str(rng.choice(["csv", "parquet"]))
        crypsis.publish(table, out, models=[crypsis.KAnonymity(k=5)], original=table, format=format)
        data = next((out / "public").glob("data.*"))
        texts = (
            pl.read_csv(data, infer_schema=False)["x"]
            if format == "csv"
            else pl.read_parquet(data)["x"].cast(pl.String)
        )
        kept += not broken(out) and texts.n_unique() == 1
    return kept


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--plants", type=int, default=100)
    given.add_argument("--seed", type=int, default=1)
    options = given.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        os.environ[VARIABLE] = str(Path(folder) / "releases.json")
        for place, (kind, wanted) in enumerate(PLANTS.items()):
            found = alarms = 0
            for number in range(options.plants):
                original, masked = planted(kind, np.random.default_rng([options.seed, place, number]))
                found += wanted in {each.kind for each in crypsis.audit(masked, original).findings}
                made = clean if place < FIRST_WORDY else wordy
                original, masked = made(np.random.default_rng([options.seed, place, number]))
                alarms += wanted in {each.kind for each in crypsis.audit(masked, original).findings}
            sys.stdout.write(f"planted {kind:25} found {found} of {options.plants}, false alarms {alarms}\n")
            failed |= found < 0.99 * options.plants
        kept = signed_zeros(options.plants, options.seed, Path(folder))
        sys.stdout.write(f"planted {'signed zeros':25} one spelling, k as promised {kept} of {options.plants}\n")
    return int(failed or kept < options.plants)


if __name__ == "__main__":
    sys.exit(main())
