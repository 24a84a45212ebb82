"""What the original lacks the masked table lacks, in every family; and classes keep their size, nulls as a value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.masking import methods, partitioners
from crypsis.searches import searches
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.builders import build_hierarchy
from crypsis.table.files import write_table
from crypsis.table.table import Table

QUASI = ("age", "hours", "grade", "town")
HIERARCHIES = {"age": "intervals:10,30", "hours": "intervals:20", "grade": "merge:1", "town": "merge:1"}
ALONE = tuple((name,) for name in QUASI)
METHODS: list[tuple[str, dict[str, Any], bool]] = [
    ("microaggregation", {"k": 3}, True),
    ("microaggregation", {"k": 3, "scaling": "range", "numbers": "mode", "categories": "mode"}, True),
    ("microaggregation", {"k": 3, "partitioner": "univariate"}, True),
    ("microaggregation", {"k": 2, "groups": ALONE}, False),
    ("local-recoding", {"k": 3}, True),
    ("generalisation", {"k": 3, "level": 3, "suppression": 1.0}, True),
    ("top-coding", {"percent": 20}, False),
    ("bottom-coding", {"percent": 20}, False),
    ("global-recoding", {"depth": 2}, False),
    ("global-recoding", {"depth": 2, "label": "representative"}, False),
    ("rank-swapping", {"percent": 30}, False),
    ("pram", {"theta": 0.9}, False),
    ("pram", {"theta": 0.9, "form": "plain"}, False),
    ("noise", {"amount": 0.5}, False),
]
"""Method, settings, and whether every class of the masked table has k records."""


def holed(n: int, seed: int, share: float) -> Table:
    """A table of every kind of column, in which a share of the cells is missing."""
    rng = np.random.default_rng(seed)
    attributes = (
        Attribute("age", Kind.NUMERIC, Role.QUASI_IDENTIFIER),
        Attribute("hours", Kind.NUMERIC, Role.QUASI_IDENTIFIER),
        Attribute("grade", Kind.ORDINAL, Role.QUASI_IDENTIFIER, ("a", "b", "c", "d")),
        Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("n", "e", "s", "w", "x")),
        Attribute("ill", Kind.NOMINAL, Role.CONFIDENTIAL, ("no", "yes")),
    )
    columns: list[Any] = [
        rng.integers(18, 90, n).astype(float),
        rng.integers(0, 6, n).astype(float) * 10,
        *(rng.integers(0, size, n).astype(np.int32) for size in (4, 5, 2)),
    ]
    for column in columns[:4]:
        column[rng.random(n) < share] = np.nan if column.dtype == float else -1
    table = Table(attributes, tuple(columns))
    built = {
        name: table.attribute(name).but(hierarchy=build_hierarchy(spec, table.attribute(name), table.column(name)))
        for name, spec in HIERARCHIES.items()
    }
    return table.with_columns({}, attributes=built)


def check_missing(original: Table, masked: Table) -> None:
    for name in original.names:
        lost = original.missing(name) & masked.kept & ~masked.missing(name)
        assert not lost.any(), f"{int(lost.sum())} missing cells of {name} were filled"


def least_class(masked: Table, folder: Path) -> int:
    """Records of the smallest class of the written file; nulls equal nulls alone."""
    folder.mkdir(exist_ok=True)
    path = write_table(masked.take(masked.kept), folder / "masked.parquet")
    classes = pl.read_parquet(path).group_by(QUASI).len()
    return int(classes["len"].min() or 10**9)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "given_settings", "classes"), METHODS)
@settings(max_examples=12, deadline=None)
@given(n=st.integers(8, 60), seed=st.integers(0, 2**32), share=st.sampled_from([0.02, 0.2, 0.7]))
def test_no_method_fills_a_cell(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    given_settings: dict[str, Any],
    classes: bool,
    n: int,
    seed: int,
    share: float,
) -> None:
    table = holed(n, seed, share)
    masked = methods.build(name, **given_settings).mask(table, np.random.default_rng(seed))
    check_missing(table, masked)
    if classes:
        assert least_class(masked, tmp_path_factory.mktemp("file")) >= given_settings["k"]


@pytest.mark.parametrize("name", sorted(set(partitioners) - {"genetic", "one-step", "two-step"}))
def test_groups_of_every_partitioner_lack_whole_columns(name: str, tmp_path: Path) -> None:
    table = holed(40, 3, 0.2)
    masked = crypsis.Microaggregation(k=3, partitioner=name).mask(table, np.random.default_rng(0))
    check_missing(table, masked)
    assert least_class(masked, tmp_path) >= 3


@pytest.mark.parametrize(
    "name", ["memetic", "gomm", "mixed-grouping", "pbg-ea", "local-recoding", "categorical-masking", "mixed-masking"]
)
def test_no_search_fills_a_cell(name: str, tmp_path: Path) -> None:
    table = holed(80, 5, 0.15)
    run = crypsis.evolve(table, search=searches.build(name), budget="3 generations", seed=1)
    solutions = run.front.everything
    assert len(solutions) > 2
    for solution in solutions:
        masked = run.decode(solution)
        check_missing(table, masked)
        k = solution.figure("k")
        if solution.family != "perturbation" and masked.kept.any():
            assert k is not None
            assert least_class(masked, tmp_path / str(solution.number)) == k


def test_the_transplant_dates_of_those_who_had_none() -> None:
    """A date that some patients lack: it was filled in with the date of others."""
    days = [10.0, np.nan, 30.0, 40.0, np.nan, 60.0, 70.0, np.nan]
    table = Table.from_columns(
        {"accepted": [1, 2, 3, 4, 5, 6, 7, 8], "transplant": days}, dict.fromkeys(("accepted", "transplant"), "quasi")
    )
    masked = crypsis.Microaggregation(k=3).mask(table, np.random.default_rng(0))
    assert np.isnan(masked.column("transplant")).tolist() == np.isnan(days).tolist()
    assert crypsis.CellLoss(columns=("transplant",)).against(table).explain(masked).value < 100
    blanked = table.with_columns({"transplant": np.full(8, np.nan)})
    assert crypsis.CellLoss(columns=("transplant",)).against(table).read(blanked) == 100 * 5 / 8
    filled = table.with_columns({"transplant": np.where(np.isnan(days), 50.0, days)})
    assert crypsis.CellLoss(columns=("transplant",)).against(table).read(filled) == 100 * 3 / 8
