"""A population judges the file; only its members are written, and nothing tells who the others are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crypsis
from crypsis.errors import PlanError, ReleaseRefused
from crypsis.privacy import models
from crypsis.release import publish, verify
from crypsis.searches import searches
from crypsis.table.table import Table

PRESENCE = models.build("delta-presence", member="sampled", present="yes", least=0.2, most=0.6)
K3 = models.build("k-anonymity", k=3)


def population(n: int = 48) -> Table:
    rng = np.random.default_rng(3)
    return Table.from_columns(
        {
            "town": ["north", "south"] * (n // 2),
            "ill": rng.choice(["flu", "cold"], n).tolist(),
            "sampled": ["yes" if i % 4 < 2 else "no" for i in range(n)],
        },
        {"town": "quasi", "ill": "confidential"},
    )


def released(folder: Path, masked: Table, **more: object) -> pl.DataFrame:
    publish(masked, folder, models=[K3, PRESENCE], original=population(), **more)  # type: ignore[arg-type]
    return pl.read_csv(folder / "public" / "data.csv")


def test_the_column_of_membership_is_never_written(tmp_path: Path) -> None:
    data = released(tmp_path / "out", population())
    assert data.columns == ["town", "ill"]
    assert len(data) == 24, "half of the population are members"
    manifest = json.loads((tmp_path / "out" / "public" / "manifest.json").read_text())
    assert manifest["suppressed"] == 0, "those who are not members were never to be released"
    public = [path.read_bytes() for path in (tmp_path / "out" / "public").iterdir() if path.name != "manifest.json"]
    assert not any(b"sampled" in content for content in public)


def test_the_share_of_members_is_judged_on_the_population_as_published(tmp_path: Path) -> None:
    crowded = population().with_columns({"sampled": np.zeros(48, dtype=np.int32)})
    with pytest.raises(ReleaseRefused, match="delta-presence"):
        publish(crowded, tmp_path / "out", models=[PRESENCE], original=crowded)
    told = json.loads((_sound(tmp_path / "kept") / "internal" / "report.json").read_text())
    assert [verdict["records"] for verdict in told["verdicts"]] == [24, 48]
    assert [verdict["records"] for verdict in told["verdicts_before"]] == [24, 48]


def _sound(folder: Path) -> Path:
    released(folder, population())
    checked = verify(folder)
    assert checked.sound, checked.problems
    assert any("speaks of a population that is not in the file" in note for note in checked.notes)
    return folder


def test_k_is_that_of_the_members(tmp_path: Path) -> None:
    table = population()
    yes, no = (table.labels("sampled").index(label) for label in ("yes", "no"))
    few = table.with_columns({"sampled": np.where(np.arange(48) < 4, yes, no).astype(np.int32)})
    sparse = models.build("delta-presence", member="sampled", present="yes", least=0.0, most=0.6)
    with pytest.raises(ReleaseRefused, match="k-anonymity requires at least 3 over town, the file attains 2"):
        publish(few, tmp_path / "out", models=[K3, sparse], original=few)


def test_without_the_column_nobody_knows_who_is_a_member(tmp_path: Path) -> None:
    table = population().drop(["sampled"])
    with pytest.raises(PlanError, match="no column 'sampled'"):
        publish(table, tmp_path / "out", models=[K3, PRESENCE], original=table)


def test_a_run_releases_the_members(tmp_path: Path) -> None:
    search = searches.build("memetic", k=3)
    run = crypsis.evolve(population(), search=search, models=[K3, PRESENCE], budget="1 generations", seed=1)
    run.release(folder=tmp_path / "out")
    data = pl.read_csv(tmp_path / "out" / "public" / "data.csv")
    assert data.columns == ["town", "ill"]
    assert len(data) == 24
