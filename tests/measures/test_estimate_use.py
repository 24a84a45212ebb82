"""A declared analysis judged by its intervals: statsmodels, plain loops, one-line forms, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from crypsis.errors import PlanError, TableError
from crypsis.measures.estimate_use import EstimateUse
from crypsis.table.table import Table
from naive.analyses import overlap

ROLES = {"town": "quasi", "age": "quasi", "pay": "confidential", "w": "weight"}


def pair(seed: int = 0, n: int = 300) -> tuple[Table, Table]:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, n).astype(float)
    town = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    pay = 1000 + 10 * age + 200 * (town == "b") + rng.normal(0, 150, n)
    columns = {"town": town.tolist(), "age": age, "pay": pay, "w": rng.uniform(0.5, 3, n)}
    original = Table.from_columns(columns, ROLES)
    masked = original.with_columns({"age": age + np.round(rng.normal(0, 6, n)), "pay": pay + rng.normal(0, 60, n)})
    return original, masked.without(rng.random(n) < 0.04)


def expected(pairs: list[tuple[tuple[float, float], tuple[float, float]]]) -> tuple[float, int]:
    found = [overlap(before, after) for before, after in pairs]
    return 100 * (1 - float(np.mean([o for _, o in found]))), sum(inside for inside, _ in found)


def columns_of(table: Table) -> dict[str, np.ndarray]:
    town = np.array(table.labels("town"))[table.column("town")]
    return {n: (town if n == "town" else table.column(n))[table.kept] for n in table.names}


@pytest.mark.parametrize("weights", ["none", "w"])
def test_a_regression_is_that_of_statsmodels(weights: str) -> None:
    original, masked = pair()
    fits = []
    scale = {n: (original.column(n).mean(), original.column(n).std()) for n in ("age", "pay")}
    for table in (original, masked):
        of = columns_of(table)
        z = {n: (of[n] - scale[n][0]) / scale[n][1] for n in scale}
        x = np.column_stack([np.ones(len(z["age"])), z["age"], of["town"] == "b", of["town"] == "c"])
        w = of["w"] if weights == "w" else np.ones(len(x))
        fit = sm.WLS(z["pay"], x, weights=w).fit(cov_type="HC1")
        fits.append(list(zip(fit.params[1:], fit.bse[1:], strict=True)))
    value, inside = expected(list(zip(*fits, strict=True)))
    use = EstimateUse(target="pay", columns=("age", "town"), weights=weights)
    reading = use.against(original).explain(masked)
    assert reading.value == pytest.approx(value, abs=1e-6)
    assert reading.counts["estimates inside"] == inside
    assert 0 < reading.value < 100


def between(parts: np.ndarray, units: int, weights: str) -> float:
    """The variance of a total: of a weighted sample between all its units, suppressed ones holding nothing."""
    if weights != "w":
        return float((parts**2).sum() - parts.sum() ** 2 / len(parts))
    every = np.concatenate([parts, np.zeros(units - len(parts))])
    return units / (units - 1) * float(((every - every.mean()) ** 2).sum())


@pytest.mark.parametrize("weights", ["none", "w"])
@pytest.mark.parametrize("analysis", ["mean", "total", "share"])
def test_figures_of_groups_are_those_of_plain_loops(analysis: str, weights: str) -> None:
    original, masked = pair(1)
    sides = []
    for table in (original, masked):
        of = columns_of(table)
        w = of["w"] if weights == "w" else np.ones(len(of["w"]))
        found = []
        for town in "abc":
            here = of["town"] == town
            if analysis == "mean":
                mean = (w * of["pay"])[here].sum() / w[here].sum()
                n = len(original) if weights == "w" else here.sum()  # units of the sample, or records of the group
                error = np.sqrt(n / (n - 1) * ((w * (of["pay"] - mean))[here] ** 2).sum()) / w[here].sum()
                found.append((mean, error))
            elif analysis == "total":
                parts = np.where(here, w * of["pay"], 0.0)
                found.append((parts.sum(), np.sqrt(between(parts, len(original), weights))))
            else:
                share = w[here].sum() / w.sum()
                found.append((share, np.sqrt(between(w * (here - share), len(original), weights)) / w.sum()))
        sides.append(found)
    value, inside = expected(list(zip(*sides, strict=True)))
    target = "" if analysis == "share" else "pay"
    use = EstimateUse(analysis=analysis, target=target, columns=("town",), weights=weights)  # type: ignore[arg-type]
    reading = use.against(original).explain(masked)
    assert reading.value == pytest.approx(value, abs=1e-6)
    assert reading.counts == {
        "estimates": 3, "estimates inside": inside, "mean overlap": pytest.approx(1 - value / 100),
        "records released": int(masked.kept.sum()),
    }  # fmt: skip
    assert use.against(original).read(original) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("weights", ["none", "w"])
@pytest.mark.parametrize("coded", [False, True])
def test_the_chance_of_an_event_is_that_of_statsmodels(weights: str, coded: bool) -> None:
    """A category or a number; weighted with the errors of a survey."""
    original, masked = pair(2, 500)
    if coded:
        original, masked = (t.with_columns({"pay": (t.column("pay") > 1500) * 1.0}) for t in (original, masked))
    target, event, others = ("pay", "1", ("age", "town")) if coded else ("town", "b", ("age", "pay"))
    scale = {n: (original.column(n).mean(), original.column(n).std()) for n in ("age", "pay")}
    fits = []
    for table in (original, masked):
        of = columns_of(table)
        z = {n: (of[n] - scale[n][0]) / scale[n][1] for n in scale}
        rest = [of["town"] == "b", of["town"] == "c"] if coded else [z["pay"]]
        x = np.column_stack([np.ones(len(z["age"])), z["age"], *rest])
        w = of["w"] / of["w"].mean() if weights == "w" else np.ones(len(x))
        y = (of["pay"] == 1) * 1.0 if coded else (of["town"] == "b") * 1.0
        fit = sm.GLM(y, x, family=sm.families.Binomial(), var_weights=w).fit(tol=1e-12)
        error = fit.bse
        if weights == "w":
            bread = np.linalg.inv((x * (w * fit.fittedvalues * (1 - fit.fittedvalues))[:, None]).T @ x)
            meat = (x * ((w * (y - fit.fittedvalues)) ** 2)[:, None]).T @ x
            error = np.sqrt(np.diag(bread @ meat @ bread))
        fits.append(list(zip(fit.params[1:], error[1:], strict=True)))
    value, inside = expected(list(zip(*fits, strict=True)))
    use = EstimateUse(target=target, event=event, columns=others, weights=weights)
    assert use.obstacle(original) == ""
    reading = use.against(original).explain(masked)
    assert reading.value == pytest.approx(value, abs=1e-4)
    assert reading.counts["estimates inside"] == inside
    assert 0 < reading.value < 100


def test_a_total_needs_no_groups() -> None:
    original, _ = pair()
    use = EstimateUse(analysis="total", target="pay", weights="w")
    assert use.obstacle(original) == ""
    assert use.against(original).read(original) == pytest.approx(0.0)
    assert use.against(original).read(original.with_columns({"pay": 1.5 * original.column("pay")})) == 100.0


def test_one_line_says_what_a_use_is() -> None:
    read = EstimateUse.read
    assert read("pay ~ age + town") == EstimateUse(target="pay", columns=("age", "town"))
    assert read("pay~age weight w") == EstimateUse(target="pay", columns=("age",), weights="w")
    assert read("town=b ~ age + pay") == EstimateUse(target="town", event="b", columns=("age", "pay"))
    assert read("town = b~age weight w") == EstimateUse(target="town", event="b", columns=("age",), weights="w")
    assert read("mean pay by town") == EstimateUse(analysis="mean", target="pay", columns=("town",))
    assert read("total pay") == EstimateUse(analysis="total", target="pay")
    assert read("total pay by town weight w") == EstimateUse(
        analysis="total", target="pay", columns=("town",), weights="w"
    )
    assert read("share town + age") == EstimateUse(analysis="share", columns=("town", "age"))
    assert read("mean weight by town") == EstimateUse(analysis="mean", target="weight", columns=("town",))
    assert read("total weight weight w") == EstimateUse(analysis="total", target="weight", weights="w")
    assert read("weight ~ age weight w") == EstimateUse(target="weight", columns=("age",), weights="w")
    for wrong in (
        "pay",
        "pay ~",
        "~ age",
        "pay= ~ age",
        "=b ~ age",
        "mean",
        "median pay by town",
        "pay ~ age + ",
        "share",
        "",
    ):
        with pytest.raises(PlanError, match=r"cannot be read; write it as one of 'wage ~ age"):
            read(wrong)


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ({"target": "wage", "columns": ("age",)}, "wage"),
        ({"target": "town", "columns": ("age",)}, "is nominal and this use needs numbers; choose another, or say of"),
        ({"target": "town", "event": "z", "columns": ("age",)}, "no record has 'z' in column 'town'"),
        ({"target": "pay", "event": "much", "columns": ("age",)}, "no record has 'much' in column 'pay'"),
        ({"analysis": "mean", "target": "pay", "event": "1", "columns": ("town",)}, "a mean has no event"),
        ({"target": "pay", "columns": ("pay",)}, "stands twice"),
        ({"target": "pay"}, "needs columns"),
        ({"columns": ("town",)}, "needs a target"),
        ({"analysis": "share", "target": "pay", "columns": ("town",)}, "has no target"),
    ],
)
def test_what_cannot_be_analysed_is_refused_in_a_sentence(use: dict[str, object], said: str) -> None:
    assert said in EstimateUse(**use).obstacle(pair()[0])  # type: ignore[arg-type]


def test_an_analysis_without_an_interval_is_refused() -> None:
    flat = Table.from_columns({"x": [1.0] * 50, "y": [2.0] * 50})
    with pytest.raises(TableError, match="no estimate with an interval"):
        EstimateUse(target="y", columns=("x",)).against(flat)
