"""Records that trade what they publish: what a trade is believed to cost is what the measures read."""

from __future__ import annotations

import numpy as np
import pytest

import crypsis
from crypsis.encodings.composite import CompositeEncoding, CompositeGenes
from crypsis.kernels.composite_swaps import compare
from crypsis.measures.cell_loss import cell_losses
from crypsis.measures.mixed_distance import LinkagePair
from crypsis.searches.composites import swapping
from crypsis.searches.composites.space import CompositeSpace
from crypsis.table.table import Table
from kernels.test_composite import space_of
from naive.composite import Trades


def compared(space: CompositeSpace, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Loss and squared distance of every record and the values of every group."""
    published, out = swapping.published_values(space, 0, labels), np.zeros(2)
    found = np.zeros((2, len(labels), int(labels.max()) + 1))
    for i, g in np.ndindex(*found.shape[1:]):
        compare(space.cells[0], published, i, g, out)
        found[:, i, g] = out
    return found[0], found[1]


def complete(n: int, seed: int) -> Table:
    """A table with numbers, ordered and unordered categories and hierarchies, nothing missing."""
    table = crypsis.example(3 * n, seed=seed)
    whole = ~np.any([table.missing(name) for name in table.quasi_identifiers], axis=0)
    return table.take(np.flatnonzero(whole)[:n])


@pytest.mark.parametrize("seed", [1, 2])
def test_a_trade_costs_what_cell_loss_and_linkage_read(seed: int) -> None:
    table = complete(40, seed)
    space = space_of(table, False)
    labels = space.halved(0, 4)
    lost, square = compared(space, labels)
    masked = CompositeEncoding(table, space.names).apply(CompositeGenes(labels, 4, space.profiles[0]).genome)
    for g in range(int(labels.max()) + 1):
        alike = masked.take(np.full(len(table), np.flatnonzero(labels == g)[0]))
        read = sum(w * cell_losses(table, alike, name) for w, name in zip(space.weights, space.names, strict=True))
        assert lost[:, g] == pytest.approx(read)
        pair = LinkagePair.between(table, table, alike, space.names, "z")
        assert square[:, g] == pytest.approx(pair.own_distance() ** 2)


def test_nothing_is_filled_in() -> None:
    table = crypsis.example(80)
    space = space_of(table, False)
    labels = space.halved(0, 4)
    publishes = swapping.swapped(space, 0, 4, labels, 3.0)
    masked = CompositeEncoding(table, space.names).apply(CompositeGenes(labels, 4, space.profiles[0], publishes).genome)
    lacking = [table.missing(name) for name in space.names]
    assert np.any(lacking)
    assert not any((gone & ~masked.missing(name)).any() for gone, name in zip(lacking, space.names, strict=True))


@pytest.mark.parametrize("pressure", [0.0, 0.5, 2.0])
def test_a_trade_saves_what_the_slow_twin_says(pressure: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swapping, "PASSES", 1000)
    monkeypatch.setattr(swapping, "FEW", 1000)
    table = complete(28, 3)
    space = space_of(table, False)
    labels = space.halved(0, 3)
    trades = Trades(*(each.tolist() for each in compared(space, labels)), np.bincount(labels).tolist(), 3)
    at_first = trades.found(labels.tolist())[0]
    unit = sum(trades.lost[i][g] for i, g in enumerate(labels)) / at_first
    publishes, half = swapping.swapped(space, 0, 3, labels, pressure).tolist(), pressure * unit / (2.0 * at_first)
    assert trades.allowed(publishes)
    before, after = (trades.cost(each, half) for each in (labels.tolist(), publishes))
    assert after <= before
    assert (publishes != labels.tolist()) == (after < before - 1e-9)
    assert trades.best(publishes, half) <= 1e-8


@pytest.mark.parametrize("pressure", [0.5, 3.0, 12.0])
def test_the_second_nearest_values_find_no_more_than_the_nearest(pressure: float) -> None:
    """By distances that linkage itself uses, among what is published in the end."""
    table = complete(300, 5)
    space = space_of(table, False)
    labels = space.halved(0, 5)
    publishes = swapping.swapped(space, 0, 5, labels, pressure)
    encoding = CompositeEncoding(table, space.names)
    masked = encoding.apply(CompositeGenes(labels, 5, space.profiles[0], publishes).genome)
    first = np.unique(publishes, return_index=True)[1]
    square = np.stack(
        [
            LinkagePair.between(table, table, masked.take(np.full(len(table), row)), space.names, "z").own_distance()
            for row in first
        ],
        axis=1,
    )
    own = square[np.arange(len(table)), publishes]
    rank = (square < own[:, None] - 1e-9).sum(axis=1)
    found = np.bincount(rank)
    assert (publishes != labels).mean() > 0.1
    assert found[1 : swapping.RANKS].max() <= found[0] * 1.1


def test_records_of_different_strata_never_trade() -> None:
    table = complete(60, 4)
    space = space_of(table, False)
    strata = (np.arange(60) % 2).astype(np.int32)
    space = CompositeSpace(table, space.names, space.profiles, (3,), space.weights, strata, space.demands)
    labels = space.halved(0, 3)
    publishes = swapping.swapped(space, 0, 3, labels, 2.0)
    assert (publishes != labels).any()
    first = np.unique(labels, return_index=True)[1]
    assert (strata == strata[first[publishes]]).all()
