"""The learned attack: what it finds beside the others, on files where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

import crypsis
from crypsis.attacks.learned_linkage import _candidates, _ranks, _rivals, learned_linkage
from crypsis.measures.published_classes import PublishedClasses
from crypsis.table.table import Table


def shifted(rows: int, seed: int = 3) -> tuple[Table, Table]:
    """People on a plane, and a masking that moves everybody by the same long way: nothing is near, all is learnable."""
    rng = np.random.default_rng(seed)
    x, y = rng.random(rows), rng.random(rows)
    people = Table.from_columns({"x": x.tolist(), "y": y.tolist()}, {"x": "quasi", "y": "quasi"})
    return people, people.with_columns({"x": x + 0.02, "y": y - 0.02})


def test_it_learns_a_masking_that_moves_everybody_alike() -> None:
    people, masked = shifted(900)
    nearest = crypsis.RecordLinkage().against(people).read(masked)
    found = learned_linkage(people, masked, ["x", "y"])
    assert found is not None
    assert found.people == 900
    assert found.interval[0] > 2 * nearest
    assert found == learned_linkage(people, masked, ["x", "y"])


def test_nothing_is_learned_from_noise_without_a_trace() -> None:
    people, _ = shifted(400)
    rng = np.random.default_rng(5)
    masked = people.with_columns({name: rng.permutation(people.column(name)) for name in ("x", "y")})
    found = learned_linkage(people, masked, ["x", "y"])
    assert found is not None
    assert found.found < 3.0


def test_fewer_than_a_hundred_people_are_not_learned_from() -> None:
    people, masked = shifted(99)
    assert learned_linkage(people, masked, ["x", "y"]) is None
    assert learned_linkage(*shifted(100), ["x", "y"]) is not None


@pytest.mark.parametrize("k", [3, 8])
def test_classes_bound_it(k: int) -> None:
    table = crypsis.example(400)
    masked = crypsis.LocalRecoding(k=k).mask(table, np.random.default_rng(1))
    found = learned_linkage(table, masked, table.quasi_identifiers)
    assert found is not None
    assert found.found <= crypsis.ClassRisk().against(table).read(masked) + 1e-9


def test_candidates_are_listed_once_and_rivals_are_counted() -> None:
    people, masked = shifted(60)
    listed = _candidates(PublishedClasses.of(people, masked, ["x", "y"]), np.arange(60))
    assert listed.shape == (60, 32)
    assert all(len(set(row.tolist())) == 32 for row in listed)
    cost = np.array([[1.0, 5.0], [2.0, 3.0], [0.5, 9.0]])
    assert _rivals(cost, np.array([[7, 8], [7, 8], [7, 9]])).tolist() == [[1, 1], [2, 0], [0, 0]]
    assert _ranks(np.array([[4.0], [np.nan], [1.0], [4.0]]))[[0, 2, 3], 0] == pytest.approx([2 / 3, 1 / 6, 2 / 3])
