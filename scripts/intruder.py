"""An intruder who knows true values of one, two or three published columns of a person looks for the person's record.

    python scripts/intruder.py ORIGINAL RELEASED [--unknown income,diagnosis] [--known 3] [--people 300] [--seed 1]

RELEASED is a folder of a release or a data file, with the rows of ORIGINAL in the same order and none left out (in a
plan: `[release] order = "kept"` and `suppression = "0%"`), so that it is known whom the intruder looks for. Nothing of
the package is used: files are read by polars, and this is all the code. Two intruders are tried for every set of
columns:

exact    takes the records published with the very values; a group or an interval is met by every value that it holds.
nearest  takes the records at the smallest distance: numbers by their difference in standard deviations, categories by
         equality, a group or an interval by whether it holds the value, a missing cell like a wrong one.

Of t records that fit equally well the intruder takes one at random: 1/t of a success if the right one is among them.
Printed are, by the number of known columns, the mean share of people found over all sets and that of the worst set,
for each intruder, for sets without and with a column that is stated to be unknown outside (by the manifest of a release
or by --unknown), and the share that guessing finds. Exit 1 if more than --most per cent are found by some set of
columns none of which is stated to be unknown.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float32]

MOST_SETS = 1000
"""Sets of columns of one size that are tried; others are drawn at random."""
NEARER = 0.9
"""Mean distance of records from their own row, over that from all rows, above which the order is not believed."""
CLOSE = 1e-6
"""Difference of two distances that counts as none."""


@dataclass(frozen=True)
class Outcome:
    """What one intruder finds with one set of columns: shares of the people, and whether one is unknown."""

    columns: tuple[str, ...]
    exact: float
    nearest: float
    unknown: bool


def read(file: Path) -> pl.DataFrame:
    """All columns of a file as text; what is empty is missing."""
    if file.suffix == ".parquet":
        return pl.read_parquet(file).with_columns(pl.all().cast(pl.String))
    frame = pl.read_csv(file, infer_schema=False)
    return frame.with_columns(pl.when(pl.col(name) != "").then(pl.col(name)) for name in frame.columns)


def released_file(path: Path) -> tuple[Path, set[str]]:
    """The data of a release and the columns it states to be unknown outside; a bare file names none."""
    if not path.is_dir():
        return path, set()
    schema, manifest = (json.loads((path / "public" / f"{n}.json").read_text("utf-8")) for n in ("schema", "manifest"))
    return path / "public" / schema["file"], set(manifest["assumed"])


# -- how far a published cell is from what the intruder knows --


def distances(old: pl.Series, new: pl.Series, people: NDArray[np.int64]) -> Floats:
    """float32[people, records]: distance of every published cell from the true value of every person looked for."""
    collected, shown = old.cast(pl.Float64, strict=False), new.cast(pl.Float64, strict=False)
    numbers = bool((collected.is_not_null() == old.is_not_null()).all())
    if numbers and bool((shown.is_not_null() == new.is_not_null()).all()):
        return _between_numbers(collected, shown, people)
    return _between_labels(old, collected if numbers else None, new, people)


def _between_numbers(collected: pl.Series, shown: pl.Series, people: NDArray[np.int64]) -> Floats:
    true = collected.to_numpy().astype(np.float64)
    scale = float(np.nanstd(true)) or 1.0
    away = np.abs(true[people][:, None] - shown.to_numpy().astype(np.float64)[None, :]) / scale
    most = float(np.nanmax(away, initial=0.0)) + 1.0
    return np.where(np.isnan(away), most, away).astype(np.float32)


def _between_labels(old: pl.Series, numbers: pl.Series | None, new: pl.Series, people: NDArray[np.int64]) -> Floats:
    """0 where the label is the value or holds it, else 1. What a group holds is seen in the records published so."""
    own = set(old.drop_nulls().to_list())
    holds = dict[str, set[str]]()
    span = dict[str, tuple[float, float]]()
    values = numbers.to_list() if numbers is not None else [None] * len(old)
    for true, number, label in zip(old.to_list(), values, new.to_list(), strict=True):
        if label is None or true is None or label in own:
            continue
        holds.setdefault(label, set()).add(true)
        if number is not None:
            low, high = span.get(label, (number, number))
            span[label] = (min(low, number), max(high, number))
    labels = sorted(set(new.drop_nulls().to_list()))
    place = {label: at for at, label in enumerate(labels)}
    known = {true: np.ones(len(labels) + 1, dtype=np.float32) for true in {old[int(person)] for person in people}}
    for true, far in known.items():
        if true is None:
            continue
        for label, at in place.items():
            met = label == true or true in holds.get(label, set())
            if numbers is not None and label in span:
                met = span[label][0] <= float(true) <= span[label][1]
            far[at] = 0.0 if met else 1.0
    codes = np.array([place.get(label, len(labels)) for label in new.to_list()])
    return np.stack([known[old[int(person)]][codes] for person in people])


# -- who is found --


def found(away: Floats, people: NDArray[np.int64]) -> tuple[float, float]:
    """Shares of the people found by exact values and by the nearest record."""
    least = away.min(axis=1)
    own = away[np.arange(len(people)), people]
    fitting = (away <= (least + CLOSE)[:, None]).sum(axis=1)
    nearest = np.where(own <= least + CLOSE, 1.0 / fitting, 0.0)
    exact = np.where(least <= CLOSE, nearest, 0.0)
    return float(exact.mean()), float(nearest.mean())


def sets(names: list[str], size: int, rng: np.random.Generator) -> Iterator[tuple[str, ...]]:
    every = list(combinations(names, size))
    chosen = rng.permutation(len(every))[:MOST_SETS] if len(every) > MOST_SETS else range(len(every))
    yield from (every[int(place)] for place in chosen)


def attack(
    old: pl.DataFrame, new: pl.DataFrame, unknown: set[str], options: argparse.Namespace
) -> dict[int, list[Outcome]]:
    """The outcomes of every set of columns, by its size."""
    rng = np.random.default_rng(options.seed)
    people = np.sort(rng.permutation(len(new))[: options.people])
    names = [name for name in new.columns if name in old.columns and old[name].n_unique() > 1]
    away = {name: distances(old[name], new[name], people) for name in names}
    outcomes = dict[int, list[Outcome]]()
    for size in range(1, options.known + 1):
        for columns in sets(names, size, rng):
            together = away[columns[0]].copy()
            for name in columns[1:]:
                together += away[name]
            outcomes.setdefault(size, []).append(
                Outcome(columns, *found(together, people), bool(unknown & set(columns)))
            )
    return outcomes


def lines(outcomes: dict[int, list[Outcome]], records: int) -> Iterator[str]:
    yield f"guessing finds {100 / records:.3f} % of the people"
    for size, every in outcomes.items():
        for unknown in (False, True):
            some = [each for each in every if each.unknown is unknown]
            if not some:
                continue
            kind = "with one stated to be unknown" if unknown else "none stated to be unknown"
            yield f"{size} known, {kind}, {len(some)} sets of columns:"
            for intruder in ("exact", "nearest"):
                shares = [100 * float(getattr(each, intruder)) for each in some]
                worst = some[int(np.argmax(shares))]
                yield (
                    f"  {intruder:8} mean {np.mean(shares):6.2f} %, worst {max(shares):6.2f} % by "
                    f"{', '.join(worst.columns)}"
                )


def in_order(old: pl.DataFrame, new: pl.DataFrame) -> bool:
    """Whether records are nearer to the row in their own place than to rows at large."""
    people = np.unique(np.linspace(0, len(new) - 1, min(len(new), 300)).astype(np.int64))
    away = np.sum([distances(old[name], new[name], people) for name in new.columns if name in old.columns], axis=0)
    return bool(away[np.arange(len(people)), people].mean() < NEARER * away.mean())


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("original", type=Path)
    given.add_argument("released", type=Path)
    given.add_argument("--unknown", default="", help="columns nobody outside knows, beside those the release states")
    given.add_argument("--known", type=int, default=3, help="columns the intruder knows at most")
    given.add_argument("--people", type=int, default=300, help="people who are looked for")
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--most", type=float, default=10.0, help="per cent of the people that may be found")
    options = given.parse_args()
    file, unknown = released_file(options.released)
    unknown |= {name for name in options.unknown.split(",") if name}
    old, new = read(options.original), read(file)
    if len(old) != len(new):
        sys.stdout.write(
            f"{options.original} has {len(old)} rows and {file} {len(new)}: whom a row is about is not known; release "
            f'with suppression = "0%" and order = "kept"\n'
        )
        return 2
    if not in_order(old, new):
        sys.stdout.write(
            f"the rows of {file} do not seem to stand in the order of {options.original}, so whom a row is about is "
            f'not known; release with order = "kept"\n'
        )
        return 2
    outcomes = attack(old, new, unknown, options)
    sys.stdout.write("\n".join(lines(outcomes, len(new))) + "\n")
    worst = max((each.nearest for every in outcomes.values() for each in every if not each.unknown), default=0.0)
    passed = 100 * worst <= options.most
    sys.stdout.write(
        f"{'passed' if passed else 'FAILED'}: at most {100 * worst:.2f} % are found by columns that are not stated to "
        f"be unknown; {options.most:g} % may be\n"
    )
    return int(not passed)


if __name__ == "__main__":
    sys.exit(main())
