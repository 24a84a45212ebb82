"""A cautious draft of a wide file demands k over sets of columns that somebody may know together."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cli.test_commands import crypsis
from crypsis.plan.draft import MANY, TOGETHER, sets_known_together


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Age, sex and occupation of 200 people, and 20 answers on a scale of five."""
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(18, 80, 200),
        "sex": rng.choice(["f", "m"], 200),
        "job": rng.choice(list("abc"), 200),
    }
    leaning = rng.normal(0, 1, 200)
    for number in range(20):
        columns[f"q{number}"] = np.clip(np.round(3 + leaning + rng.normal(0, 1, 200)), 1, 5).astype(int)
    path = tmp_path / "survey.csv"
    pl.DataFrame(columns).write_csv(path)
    return path


def test_every_column_is_in_one_small_set() -> None:
    names = ["age", "sex", "region", "occupation", *(f"q{number}" for number in range(30))]
    sets = sets_known_together(names)
    assert sorted(name for known in sets.values() for name in known) == sorted(names)
    assert max(map(len, sets.values())) <= TOGETHER
    assert sets["neighbour"] == ["age", "sex", "region"]
    assert sets["colleague"] == ["occupation"]
    assert sets_known_together(names[:MANY]) == {"anybody": names[:MANY]}


def test_a_wide_file_is_drafted_by_sets_run_and_released(survey: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    drafted = crypsis("init", survey, "--cautious", "-o", plan, "--k", 3)
    assert drafted.returncode == 0, drafted.stderr
    assert "assumed: nobody outside knows columns of two of these sets together" in drafted.stdout
    document = tomllib.loads(plan.read_text(encoding="utf-8"))
    assert "require" not in document
    assert len(document["scenario"]) > 3
    assert all(each["because"].startswith("assumed when the plan was drafted") for each in document["scenario"])
    run = tmp_path / "run"
    ran = crypsis("run", plan, "--out", run, "--seed", 1, "--budget", "2 generations", "-q")
    assert ran.returncode == 0, ran.stderr
    released = crypsis("release", run, "-o", tmp_path / "release")
    assert released.returncode == 0, released.stderr
    assert "k-anonymity" in released.stdout
    assert crypsis("verify", tmp_path / "release").returncode == 0


def test_who_is_asked_gets_k_over_all_and_a_proposal(survey: Path, tmp_path: Path) -> None:
    names = ",".join(pl.read_csv(survey).columns)
    drafted = crypsis("init", survey, "--quasi", names, "-o", tmp_path / "plan.toml")
    assert drafted.returncode == 0, drafted.stderr
    document = tomllib.loads((tmp_path / "plan.toml").read_text(encoding="utf-8"))
    assert "scenario" not in document
    assert [each["model"] for each in document["require"]] == ["k-anonymity"]
    assert "23 quasi-identifiers are many" in drafted.stdout
