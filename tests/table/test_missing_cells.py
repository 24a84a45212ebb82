"""Readings of missing cells: published vectors, a suppressed survey, and all pairs of records compared."""

from __future__ import annotations

import csv
import doctest
import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.table import equivalence_classes as module
from crypsis.table.equivalence_classes import (
    count_conservative_class,
    count_own_class,
    count_target_class,
    count_wildcard_class,
)
from naive import missing_cells as naive
from reference import conformance, reference

KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")


def coded(rows: list[list[int | None]]) -> np.ndarray:
    return np.array([[-1 if cell is None else cell for cell in row] for row in rows], dtype=np.int32)


@st.composite
def hidden(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """A true table, a few of its cells unknown from the start, and what is published of it."""
    rows, width = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    cells = st.lists(st.lists(st.integers(0, 2), min_size=width, max_size=width), min_size=rows, max_size=rows)
    mask = st.lists(st.lists(st.booleans(), min_size=width, max_size=width), min_size=rows, max_size=rows)
    truth = np.where(np.array(draw(mask)) & np.array(draw(mask)) & draw(st.booleans()), -1, np.array(draw(cells)))
    return truth.astype(np.int32), np.where(draw(mask), -1, truth).astype(np.int32)


def test_the_examples_run() -> None:
    assert doctest.testmod(module).failed == 0


def test_the_eight_records_of_the_vectors() -> None:
    vectors = json.loads(conformance("wildcard_vectors.json").read_text())
    codes, weights = coded(vectors["rows"]), np.array(vectors["weights"], dtype=np.float64)
    assert count_own_class(codes).tolist() == vectors["fk"]["own_category"]
    assert count_conservative_class(codes).tolist() == vectors["conservative"]
    truth = codes.copy()
    truth[:, 2] = vectors["truth_C"]
    assert count_target_class(codes, truth).tolist() == vectors["target_view"]
    more = coded(vectors["more_missing"]["rows"])
    for alpha in (1, 0.5, 0):
        assert count_wildcard_class(codes, alpha).tolist() == vectors["fk"][f"alpha_{alpha}"]
        assert count_wildcard_class(codes, alpha, weights).tolist() == vectors["Fk"][f"alpha_{alpha}"]
        assert count_wildcard_class(more, alpha).tolist() == vectors["more_missing"][f"alpha_{alpha}"]
    codes[7] = -1
    assert count_wildcard_class(codes).tolist() == vectors["peer_all_hidden_row_8"]["rule_alpha_1"]


@pytest.mark.parametrize(
    ("k", "below"),
    [
        (3, {"wildcard": 0, "half": 21, "none": 36, "own": 150, "conservative": 138, "target": 113}),
        (5, {"wildcard": 0, "half": 39, "none": 94, "own": 262, "conservative": 231, "target": 192}),
    ],
)
def test_the_suppressed_survey(k: int, below: dict[str, int]) -> None:
    """Counts of every record with a hidden cell, and how many records fall short of k under each reading."""
    with reference("testdata.csv").open() as file:
        rows = [[int(row[key]) for key in KEYS] for row in csv.DictReader(file)]
    truth = np.array(rows, dtype=np.int32)
    codes = truth.copy()
    with conformance(f"testdata_suppressed_k{k}_cells.csv").open() as file:
        for cell in csv.DictReader(file):
            codes[int(cell["row"]) - 1, KEYS.index(cell["column"])] = -1
    found = {
        "own": count_own_class(codes),
        "conservative": count_conservative_class(codes),
        "target": count_target_class(codes, truth),
        "wildcard": count_wildcard_class(codes),
        "half": count_wildcard_class(codes, 0.5),
        "none": count_wildcard_class(codes, 0.0),
    }
    assert {name: int((counts < k).sum()) for name, counts in found.items()} == below
    assert found["wildcard"].sum() == {3: 301_384, 5: 325_154}[k]
    assert (found["target"] == 1).sum() == {3: 53, 5: 35}[k]
    with conformance(f"testdata_suppressed_k{k}_counts.csv").open() as file:
        for row in csv.DictReader(file):
            for name in ("wildcard", "target"):
                assert found[name][int(row["row"]) - 1] == int(row[name])


@settings(max_examples=100, deadline=None)
@given(hidden(), st.sampled_from([0.0, 0.25, 1.0]), st.integers(0, 2**32))
def test_equal_to_comparing_all_pairs(case: tuple[np.ndarray, np.ndarray], alpha: float, seed: int) -> None:
    truth, codes = case
    known, rows = truth.tolist(), codes.tolist()
    for weights in (None, np.random.default_rng(seed).integers(0, 4, len(codes)).astype(np.float64)):
        each = [1.0] * len(codes) if weights is None else weights.tolist()
        assert count_own_class(codes, weights).tolist() == naive.own(rows, each)
        assert count_conservative_class(codes, weights).tolist() == naive.conservative(rows, each)
        assert count_target_class(codes, truth, weights).tolist() == naive.target(rows, known, each)
        assert count_wildcard_class(codes, alpha, weights).tolist() == naive.wildcard(rows, alpha, each)


@settings(max_examples=60, deadline=None)
@given(hidden())
def test_readings_are_ordered_and_equal_without_missing_cells(case: tuple[np.ndarray, np.ndarray]) -> None:
    truth, codes = case
    readings = [
        count_own_class(codes),
        count_conservative_class(codes),
        count_target_class(codes, truth),
        count_wildcard_class(codes),
    ]
    for lower, upper in pairwise(readings):
        assert (lower <= upper).all()
    whole = np.abs(truth)
    for counts in (count_conservative_class(whole), count_target_class(whole, whole), count_wildcard_class(whole, 0.5)):
        assert np.array_equal(counts, count_own_class(whole))


def test_an_intruder_may_know_people_who_are_not_published() -> None:
    assert count_target_class(np.array([[0, -1], [1, 1]]), np.array([[0, 5], [1, 1], [2, 2]])).tolist() == [1, 1, 0]
