"""Microaggregation of files: groups reach k, only the named columns change, and any engine gives the same bits."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crypsis.engines import Processes
from crypsis.errors import PlanError, TableError
from crypsis.masking.out_of_core import cut, microaggregate_files
from crypsis.masking.partitioning import Blocks
from crypsis.table.precision import Scales

COLUMNS = ("x", "y")


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "id": np.arange(3_000),
            "x": rng.integers(0, 40, 3_000),
            "y": rng.normal(1e9, 5.0, 3_000),
            "word": rng.choice(["a", "b"], 3_000).tolist(),
        }
    )
    frame[:1_000].write_parquet(folder / "0.parquet")
    frame[1_000:].write_parquet(folder / "1.parquet")
    return folder


def masked(source, folder, **more):
    made = microaggregate_files(source, COLUMNS, 5, folder, np.random.default_rng(2), block=400, drop=["id"], **more)
    return made, [pl.read_parquet(path) for path in sorted(folder.glob("*.parquet"))]


def test_groups_reach_k_and_the_loss_is_that_of_the_files(parts, tmp_path):
    made, frames = masked(parts, tmp_path / "out")
    out, original = pl.concat(frames), pl.read_parquet(parts / "*.parquet")
    assert made.records == len(out) == 3_000
    assert made.blocks == len(frames) == 8
    assert max(map(len, frames)) < 600
    assert out.columns == ["x", "y", "word"]
    assert out.group_by(COLUMNS).len()["len"].min() >= made.least >= 5
    for name in COLUMNS:
        assert out[name].mean() == pytest.approx(original[name].cast(float).mean(), rel=1e-12)
    within = sum(1 - out[n].var(ddof=0) / original[n].cast(float).var(ddof=0) for n in COLUMNS) / 2
    assert made.loss == pytest.approx(100 * within, rel=1e-4)
    assert made.loss < 1.0


def test_two_processes_give_the_same_files(parts, tmp_path):
    _, here = masked(parts, tmp_path / "here", partitioner=Blocks(size=100, mending=1))
    with Processes(2) as two:
        _, there = masked(parts, tmp_path / "there", partitioner=Blocks(size=100, mending=1), engine=two)
    assert all(a.equals(b) for a, b in zip(here, there, strict=True))


def test_cuts_by_hand():
    """Eight numbers into four blocks; equal numbers are never torn apart and cannot be cut."""
    sample = np.array([[7.0], [0], [5], [2], [4], [3], [6], [1]])
    plain = Scales(np.zeros(1), np.zeros(1), np.ones(1), np.ones(1))
    cuts = cut(sample, plain, 4)
    assert cuts.blocks_of(sample).tolist() == [3, 0, 2, 1, 2, 1, 3, 0]
    assert cut(np.ones((9, 1)), plain, 4).leaf.tolist() == [0]
    skewed = np.array([[9.0]] * 6 + [[1.0]] * 2)
    assert cut(skewed, plain, 8).blocks_of(skewed).tolist() == [1] * 6 + [0] * 2


def test_a_block_below_k_joins_its_neighbour(tmp_path):
    frame = pl.DataFrame({"x": [0.0] * 3 + [1.0] * 20 + [2.0] * 2})
    frame.write_parquet(tmp_path / "few.parquet")
    made = microaggregate_files(
        tmp_path / "few.parquet", ["x"], 5, tmp_path / "out", np.random.default_rng(0), block=20
    )
    assert made.records == 25
    assert made.least >= 5


def test_refusals_say_what_to_do(parts, tmp_path):
    rng = np.random.default_rng(0)
    with pytest.raises(TableError, match="numeric columns"):
        microaggregate_files(parts, ["word"], 5, tmp_path / "out", rng)
    with pytest.raises(TableError, match="there is no column 'z'"):
        microaggregate_files(parts, ["z"], 5, tmp_path / "out", rng)
    with pytest.raises(TableError, match="cannot form a group"):
        microaggregate_files(parts, ["x"], 5_000, tmp_path / "out", rng)
    with pytest.raises(PlanError, match="at least 2"):
        microaggregate_files(parts, ["x"], 1, tmp_path / "out", rng)
    with pytest.raises(TableError, match="no folder of them"):
        microaggregate_files(tmp_path, ["x"], 5, tmp_path / "out", rng)
    pl.DataFrame({"x": [1.0, None, float("inf"), 4.0]}).write_parquet(tmp_path / "holes.parquet")
    with pytest.raises(TableError, match="2 missing or infinite"):
        microaggregate_files(tmp_path / "holes.parquet", ["x"], 2, tmp_path / "out", rng)
    assert not (tmp_path / "out").exists()
