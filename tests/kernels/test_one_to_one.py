"""Kernels of one-to-one linkage against full matrices."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels import linkage
from crypsis.kernels.linkage import (
    Likeness,
    ShownClasses,
    fill_classes,
    link_most_alike,
    link_nearest_classes,
    score_linkage_guesses,
)
from naive import one_to_one as naive


def drawn(seed: int, people: int, classes: int, columns: int) -> tuple[np.ndarray, ShownClasses]:  # type: ignore[type-arg]
    """People and classes on a coarse grid, so that there are ties, with missing values and blanks."""
    rng = np.random.default_rng(seed)
    known = rng.integers(0, 5, (people, columns)) / 4
    known[rng.random(known.shape) < 0.1] = np.nan
    ends = np.sort(rng.integers(0, 5, (2, classes, columns)) / 4, axis=0)
    low, high = np.where(rng.random((classes, columns)) < 0.4, ends[1], ends[0]), ends[1]
    blank = rng.random((classes, columns)) < 0.1
    low, high = np.where(blank, np.nan, low), np.where(blank, np.nan, high)
    covered = np.log(rng.integers(1, 4, (classes, columns)))
    shown = ShownClasses(
        low, high, np.where(blank, 0.0, high - low), rng.random((classes, columns)) < 0.5, covered,
        np.where(rng.random(columns) < 0.5, 50.0, 1.0),
    )  # fmt: skip
    return known, shown


def matrices(known: np.ndarray, shown: ShownClasses) -> np.ndarray:  # type: ignore[type-arg]
    """Both costs of every person and class."""
    costs = np.zeros((2, len(known), len(shown.low)))
    for i in range(len(known)):
        for g in range(len(shown.low)):
            for j, x in enumerate(known[i]):
                low, high = shown.low[g, j], shown.high[g, j]
                if np.isnan(x) and np.isnan(low):
                    both = (0.0, 0.0)
                elif np.isnan(x):
                    both = (1.0, 50.0)
                elif np.isnan(low):
                    both = (1.0, shown.blank[j])
                elif low <= x <= high:
                    both = (shown.wide[g, j], shown.covered[g, j])
                else:
                    away = min(low - x if x < low else x - high, 1.0)
                    both = (away if shown.moves[g, j] else 1.0, shown.covered[g, j] + 50.0)
                costs[0, i, g] += both[0]
                costs[1, i, g] += both[1]
    return costs


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), people=st.integers(1, 12), classes=st.integers(1, 14), columns=st.integers(1, 4))
def test_the_nearest_classes_are_those_of_the_full_matrix(seed: int, people: int, classes: int, columns: int) -> None:
    known, shown = drawn(seed, people, classes, columns)
    costs, listed = link_nearest_classes(known, shown, 5)
    for full, some, found in zip(matrices(known, shown), costs, listed, strict=True):
        expected, order = naive.nearest(full, 5)
        np.testing.assert_array_equal(found, order)
        np.testing.assert_array_equal(some, expected)


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), people=st.integers(1, 10), classes=st.integers(1, 8))
def test_filled_classes_and_guesses_are_those_of_the_full_matrix(seed: int, people: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    most = min(classes, 4)
    listed = np.stack([rng.permutation(classes)[:most] for _ in range(people)])
    listed[rng.random(listed.shape) < 0.2] = -1
    listed[:, 0] = np.maximum(listed[:, 0], 0)  # nobody is without a class, and none is listed twice
    for row in listed:
        row[1:][row[1:] == row[0]] = -1
    weights = rng.integers(1, 4, listed.shape).astype(np.float64)
    sizes, own = rng.integers(1, 4, classes), rng.integers(-1, classes, people)
    full = np.zeros((people, classes))
    for i, row in enumerate(listed):
        for t, g in enumerate(row):
            if g >= 0:
                full[i, g] = weights[i, t]
    fill_classes(weights, listed, sizes.astype(np.float64), 7)
    full = naive.fill(full, sizes.astype(np.float64), 7)
    for i, row in enumerate(listed):
        np.testing.assert_allclose(weights[i][row >= 0], full[i, row[row >= 0]], rtol=1e-9)
    found = score_linkage_guesses(weights, listed, sizes, own)
    np.testing.assert_allclose(found, naive.earned(full, sizes.tolist(), own.tolist()))


def test_the_plain_functions_give_the_same() -> None:
    known, shown = drawn(3, 6, 9, 3)
    costs, listed = np.full((2, 6, 4), np.inf), np.full((2, 6, 4), -1)
    insert, linkage.insert = linkage.insert, linkage._insert
    try:
        linkage._list_classes(known, linkage.class_columns(shown), np.empty((2, 4)), costs, listed)
    finally:
        linkage.insert = insert
    np.testing.assert_array_equal(listed, link_nearest_classes(known, shown, 4)[1])


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), lines=st.integers(0, 3), codes=st.integers(0, 3))
def test_the_most_alike_are_the_nearest_of_the_full_matrix(seed: int, lines: int, codes: int) -> None:
    rng = np.random.default_rng(seed)
    asked, shown = (
        Likeness(rng.integers(0, 5, (lines, n)) / 4, rng.integers(0, 3, (codes, n)).astype(float)) for n in (7, 11)
    )
    squares = ((asked.lines[:, :, None] - shown.lines[:, None, :]) ** 2).sum(axis=0)
    squares = squares + 2.0 * (asked.codes[:, :, None] != shown.codes[:, None, :]).sum(axis=0)
    np.testing.assert_array_equal(link_most_alike(asked, shown, 4), np.argsort(squares, axis=1, kind="stable")[:, :4])
    plain = np.zeros((7, 4), dtype=np.int64)
    linkage._list_alike(asked, shown, np.empty(11), np.full((7, 4), np.inf), plain)
    np.testing.assert_array_equal(plain, link_most_alike(asked, shown, 4))
