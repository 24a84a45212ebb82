"""The learned attack: what it finds beside the others, on files where the answer is known."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import crypsis
from crypsis.measures.one_to_one_linkage import (
    LearnedAttack,
    PublishedClasses,
    _candidates,
    _ranks,
    _rivals,
    fit_linkage_logit,
    learn_one_to_one,
)
from crypsis.table.table import Table


def shifted(rows: int, seed: int = 3) -> tuple[Table, Table]:
    """People on a plane, and a masking that moves everybody by the same long way: nothing is near, all is learnable."""
    rng = np.random.default_rng(seed)
    x, y = rng.random(rows), rng.random(rows)
    people = Table.from_columns({"x": x.tolist(), "y": y.tolist()}, {"x": "quasi", "y": "quasi"})
    return people, people.with_columns({"x": x + 0.02, "y": y - 0.02})


def attack(people: Table, masked: Table) -> LearnedAttack | None:
    return learn_one_to_one(PublishedClasses.of(people, masked, people.quasi_identifiers))


def test_it_learns_a_masking_that_moves_everybody_alike() -> None:
    people, masked = shifted(900)
    nearest = crypsis.RecordLinkage().against(people).read(masked)
    found = attack(people, masked)
    assert found is not None
    assert found.people == 900
    assert found.interval[0] > 2 * nearest
    assert found == attack(people, masked)


def test_nothing_is_learned_from_noise_without_a_trace() -> None:
    people, _ = shifted(400)
    rng = np.random.default_rng(5)
    masked = people.with_columns({name: rng.permutation(people.column(name)) for name in ("x", "y")})
    found = attack(people, masked)
    assert found is not None
    assert found.found < 3.0


def test_fewer_than_a_hundred_people_are_not_learned_from() -> None:
    people, masked = shifted(99)
    assert attack(people, masked) is None
    assert attack(*shifted(100)) is not None


@pytest.mark.parametrize("k", [3, 8])
def test_classes_bound_it(k: int) -> None:
    table = crypsis.example(400)
    masked = crypsis.LocalRecoding(k=k).mask(table, np.random.default_rng(1))
    found = attack(table, masked)
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


def test_the_logit_is_the_one_of_greatest_likelihood() -> None:
    rng = np.random.default_rng(4)
    terms, there = rng.normal(size=(80, 5, 2)), rng.random((80, 5)) < 0.8
    there[:, 0] = True
    right = np.zeros_like(there)
    right[np.arange(80), np.where(there, terms[:, :, 0] + rng.gumbel(size=(80, 5)), -np.inf).argmax(axis=1)] = True

    def likelihood(beta: np.ndarray) -> float:
        total = -0.01 * 80 / 2 * float(beta @ beta)
        for own, exists, mine in zip(terms, there, right, strict=True):
            total += float(own[mine][0] @ beta) - float(np.log(np.exp(own[exists] @ beta).sum()))
        return total

    found = fit_linkage_logit(terms, there, right)
    for move in (np.array([0.1, 0.0]), np.array([0.0, 0.1])):
        assert likelihood(found) > max(likelihood(found + move), likelihood(found - move))


@pytest.mark.parametrize("fewest", [0, 10**9])
def test_trees_and_logit_find_a_like_share(fewest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crypsis.measures.one_to_one_linkage.FEWEST_BOOSTED", fewest)
    people, masked = shifted(300)
    found = attack(people, masked)
    assert found is not None
    assert found.found > 90.0


def test_a_column_that_nobody_shows_teaches_nothing() -> None:
    """Amounts that are blank in the whole file differ from nobody's by anything."""
    rng = np.random.default_rng(0)
    columns = {"amount": rng.random(1500), "group": rng.integers(0, 3, 1500).astype(float)}
    people = Table.from_columns(columns, dict.fromkeys(columns, "quasi"))
    found = attack(people, people.with_columns({"amount": np.full(1500, np.nan)}))
    assert found is not None
    assert found.found == pytest.approx(0.2)


def test_trees_are_quiet_where_the_cores_cannot_be_asked_for() -> None:
    code = (
        "import numpy as np; from crypsis.measures.boosted_trees import boost_classifier;"
        "boost_classifier(2, 3, 0).fit(np.arange(40.0)[:, None], np.arange(40) // 20)"
    )
    nothing = {**os.environ, "PATH": ""}  # neither lscpu nor anything else
    done = subprocess.run([sys.executable, "-c", code], env=nothing, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
