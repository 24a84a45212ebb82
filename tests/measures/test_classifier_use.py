"""A classifier before and after: the area by its definition, a planted relation, and what cannot be predicted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from crypsis.errors import TableError
from crypsis.masking import Generalisation
from crypsis.measures import ClassifierUse
from crypsis.measures.classifier_use import FOLDS, RIDGE, score_classifier_by_auc
from crypsis.measures.utility.estimates import fit_logistic_estimates
from crypsis.table.example import example
from crypsis.table.table import Table


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40))
def test_the_area_is_the_share_of_pairs_in_order(rows: list[tuple[int, bool]]) -> None:
    yes, no = [s for s, p in rows if p], [s for s, p in rows if not p]
    if not yes or not no:
        return
    wanted = sum((a > b) + (a == b) / 2 for a in yes for b in no) / (len(yes) * len(no))
    scores, positive = np.array([float(s) for s, _ in rows]), np.array([p for _, p in rows])
    assert score_classifier_by_auc(scores, positive) == pytest.approx(wanted)
    assert roc_auc_score(positive, scores) == pytest.approx(wanted)


def test_the_classifier_is_that_of_another_library() -> None:
    """scikit-learn penalises ½|b|² and weighs the log-likelihood by C = 1 / ridge, on the same standardised columns."""
    rng = np.random.default_rng(3)
    design = rng.normal(4, 3, (300, 3))
    label = (rng.random(300) < 1 / (1 + np.exp(-(design[:, 0] - 4)))).astype(np.float64)
    scaled = (design - design.mean(axis=0)) / design.std(axis=0)
    theirs = LogisticRegression(C=1 / RIDGE, tol=1e-10, max_iter=1000).fit(scaled, label)
    ours = fit_logistic_estimates(design, label, RIDGE)
    assert ours.coefficients[1:] == pytest.approx(theirs.coef_[0], abs=1e-5)
    assert ours.coefficients[0] == pytest.approx(theirs.intercept_[0], abs=1e-5)
    assert ours.scores(design) == pytest.approx(theirs.predict_proba(scaled)[:, 1], abs=1e-5)


def planted(n: int = 600) -> Table:
    rng = np.random.default_rng(1)
    x = rng.standard_normal(n)
    ill = np.where(x + 0.5 * rng.standard_normal(n) > 0, "yes", "no")
    columns = {"x": x, "town": rng.choice(["a", "b"], n).tolist(), "ill": ill.tolist()}
    return Table.from_columns(columns, {"x": "quasi", "town": "quasi", "ill": "confidential"})


def test_a_planted_relation_is_kept_weakened_and_lost() -> None:
    table = planted()
    use = ClassifierUse(target="ill", columns=("x", "town")).against(table)
    rng = np.random.default_rng(2)
    same = use.explain(table)
    assert same.value == 0.0
    assert same.counts["area under the curve before"] > 0.9
    assert same.counts["area under the curve before"] == same.counts["area under the curve after"]
    assert same.counts["accuracy before, %"] > 80 > same.counts["commonest class, %"]
    turned = use.explain(table.with_columns({"x": -table.column("x")}))
    assert turned.value == 100.0, "what was learned is wrong"
    mixed = use.explain(table.with_columns({"x": rng.permutation(table.column("x"))}))
    assert mixed.value > 60
    noisy = use.read(table.with_columns({"x": table.column("x") + rng.standard_normal(len(table))}))
    assert noisy < 5, "noise does not turn a slope"
    assert use.read(table.without(np.ones(len(table), dtype=bool))) == 100.0


def test_records_are_never_tested_by_what_was_trained_on_them() -> None:
    """A column that names each record predicts nothing of others."""
    rng = np.random.default_rng(5)
    n = 300
    columns = {"id": [f"p{i}" for i in range(n)], "ill": rng.choice(["yes", "no"], n).tolist()}
    use = ClassifierUse(target="ill", columns=("id",)).against(Table.from_columns(columns))
    assert abs(use.prepared.before.area - 0.5) < 0.1
    assert sorted(np.bincount(use.prepared.fold)) == [n // FOLDS] * FOLDS


def test_targets_that_are_numbers_generalised_or_hopeless() -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal(200)
    table = Table.from_columns({"x": x, "flag": (x > 0).astype(float), "pay": rng.standard_normal(200)})
    use = ClassifierUse(target="flag", columns=("x",)).against(table)
    assert use.prepared.before.area > 0.95
    moved = table.with_columns({"flag": np.full(200, 0.4)})
    assert use.read(moved) == 100.0, "0.4 is no class"
    with pytest.raises(TableError, match="fewer than two values that 10 records hold"):
        ClassifierUse(target="pay", columns=("x",)).against(table)
    assert "cannot predict itself" in ClassifierUse(target="x", columns=("x", "pay")).obstacle(table)
    people = example(200)
    recoded = Generalisation(levels={"district": 1}).mask(people, np.random.default_rng(0))
    assert ClassifierUse(target="sex", columns=("district", "hours")).against(people).read(recoded) <= 100
