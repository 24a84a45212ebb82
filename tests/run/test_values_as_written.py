"""Integers, decimals, dates and times leave as people write them, through frames and files, at the guaranteed k."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crypsis
from crypsis.table.aligning import in_terms_of
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.frames import as_table
from crypsis.table.precision import at_source_precision, moment_step

QUASI = ["age", "height", "born", "seen", "day"]


def people(n: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    start = dt.datetime(2020, 1, 1)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "height": rng.normal(170, 9, n).round(1),
            "born": [dt.date(1960, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 9000, n)],
            "seen": [start + dt.timedelta(minutes=15 * int(m)) for m in rng.integers(0, 9000, n)],
            "day": [start + dt.timedelta(days=int(d)) for d in rng.integers(0, 900, n)],
            "ill": rng.choice(["x", "y"], n),
        }
    )


@pytest.mark.parametrize("kind", ["polars", "pandas", "csv", "parquet"])
def test_values_have_the_precision_of_the_source(kind: str, tmp_path: Path) -> None:
    frame = people()
    given: object = frame if kind == "polars" else frame.to_pandas()
    if kind in ("csv", "parquet"):
        crypsis.write_table(frame, tmp_path / f"t.{kind}")
        given = crypsis.read_table(tmp_path / f"t.{kind}")
    table = given if isinstance(given, crypsis.Table) else as_table(given)
    masked = crypsis.Microaggregation(k=4, columns=tuple(QUASI)).mask(table, np.random.default_rng(0))
    rounded = at_source_precision(masked, table)
    assert equivalence_class_sizes(rounded, QUASI).min() >= 4, "judged after rounding"
    for name, step in (("age", 1.0), ("born", 86_400.0), ("seen", 60.0), ("day", 86_400.0)):
        unit = step if table.attribute(name).dates == "datetime" else 1.0
        assert not (rounded.column(name) % unit).any(), name
    assert (np.round(rounded.column("height"), 1) == rounded.column("height")).all()
    crypsis.write_table(rounded, tmp_path / "out.csv")
    first = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[1].split(",")
    assert first[0].isdigit()
    assert len(first[1].partition(".")[2]) == 1
    assert "." not in first[3] + first[4]
    assert len(first[4]) == len("2020-01-01"), "midnights are dates"
    again = crypsis.read_table(tmp_path / "out.csv")
    assert again.column("seen").tolist() == rounded.column("seen").tolist()
    aligned = in_terms_of(table, again)
    for name in ("born", "day"):
        assert aligned.column(name).tolist() == rounded.column(name).tolist(), name


def test_midnights_are_published_as_dates_and_read_back(tmp_path: Path) -> None:
    quarters = [dt.datetime(2020, 1, 1, 8, 15 * (row % 4)) for row in range(60)]
    frame = people().select("age", "day", "ill").with_columns(pl.Series("seen", quarters))
    table = as_table(frame).with_roles({"age": "quasi", "day": "quasi", "seen": "other", "ill": "confidential"})
    masked = crypsis.Microaggregation(k=5).mask(table, np.random.default_rng(0))
    passed = {"combination:seen": "only the hour of the desk"}
    crypsis.publish(masked, tmp_path / "out", models=[crypsis.KAnonymity(k=5)], original=table, waivers=passed)
    written = pl.read_csv(tmp_path / "out" / "public" / "data.csv", infer_schema=False)
    assert written["day"].str.contains(r"^\d{4}-\d{2}-\d{2}$").all()
    assert written["seen"].str.contains(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:00$").all()
    assert crypsis.verify(tmp_path / "out").sound


def test_steps_of_moments() -> None:
    assert moment_step(np.array([3600.0, 7200.0, np.nan])) == 3600.0
    assert moment_step(np.array([1.0])) == 1.0
    assert moment_step(np.array([np.nan])) == 1.0
