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
from naive.composite import best_trade, trade_costs


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
def test_no_trade_is_left_that_saves_anything(pressure: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swapping, "PASSES", 1000)
    monkeypatch.setattr(swapping, "FEW", 1000)
    table = complete(36, 3)
    space = space_of(table, False)
    labels = space.halved(0, 4)
    sizes = np.bincount(labels)
    lost, square = compared(space, labels)
    nearest = square <= square.min(axis=1)[:, None] + 1e-9
    own = np.arange(len(labels)), labels
    unit = lost[own].sum() / (nearest[own] / (nearest * sizes).sum(axis=1)).sum()
    costs = trade_costs(lost.tolist(), square.tolist(), sizes.tolist(), pressure * unit)
    publishes = swapping.swapped(space, 0, 4, labels, pressure)
    assert np.bincount(publishes).min() >= 4
    assert best_trade(costs, publishes.tolist(), 4) <= 1e-8
    before, after = (sum(costs[i][g] for i, g in enumerate(each)) for each in (labels, publishes))
    assert after <= before
    assert (publishes != labels).any() == (after < before)


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
