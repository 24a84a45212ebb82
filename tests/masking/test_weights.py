"""Published weights: rounded, with noise and calibrated, raked; what they keep, and what they restore."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crypsis
from crypsis.audits.preview import preview_weight_findings
from crypsis.errors import PlanError
from crypsis.masking.following import recompute_following
from crypsis.masking.weights import draw_weight_noise, publish_weight, rake_weights, read_weight_treatment
from crypsis.plan import Plan
from crypsis.table.table import Table

ROLES = {"region": "quasi", "sex": "quasi", "age": "quasi", "income": "confidential", "w": "weight"}


def survey(publish: str, seed: int = 0, records: int = 2000) -> Table:
    """People whose weight was computed from their region."""
    rng = np.random.default_rng(seed)
    region = rng.choice(4, records, p=[0.4, 0.3, 0.2, 0.1])
    weight = np.array([12.5, 31.25, 55.5, 101.75])[region]
    columns = {
        "region": np.array(list("NESW"))[region], "sex": rng.choice(["f", "m"], records),
        "age": rng.integers(0, 95, records), "income": np.round(rng.lognormal(9, 0.6, records)), "w": weight,
    }  # fmt: skip
    table = Table.from_columns({name: column.tolist() for name, column in columns.items()}, ROLES)
    return table.with_columns({}, attributes={"w": table.attribute("w").but(publish=publish)})


def published(table: Table, k: int = 10) -> Table:
    noisy = draw_weight_noise(table, np.random.default_rng(7))
    return recompute_following(crypsis.Microaggregation(k=k).mask(noisy, np.random.default_rng(0)), table)


def iterative_proportional_fitting(
    margins: list[np.ndarray], totals: list[np.ndarray], start: np.ndarray
) -> np.ndarray:
    """Slow twin: cell by cell, a hundred times."""
    weights = start.astype(float).copy()
    for _ in range(100):
        for codes, total in zip(margins, totals, strict=True):
            for code in range(len(total)):
                here = codes == code
                if here.any():
                    weights[here] *= total[code] / weights[here].sum()
    return weights


def test_raking_is_iterative_proportional_fitting() -> None:
    table = survey("raked:region,sex")
    held = table.column("w")
    codes = [table.column(name).astype(int) for name in ("region", "sex")]
    totals = [np.bincount(each, weights=held) for each in codes]
    start = np.full(len(held), held.mean())
    slow = iterative_proportional_fitting(codes, totals, start)
    assert np.allclose(rake_weights(start, held, table, table, ["region", "sex"]), slow, rtol=1e-5)


@pytest.mark.parametrize("publish", ["noise:0.2", "raked"])
def test_weighted_margins_and_totals_stay(publish: str) -> None:
    table = survey(publish)
    masked = published(table)
    before, after = table.column("w"), masked.column("w")
    assert not np.array_equal(before, after)
    assert after.sum() == pytest.approx(before.sum(), rel=1e-4)
    assert after @ masked.column("age") == pytest.approx(before @ table.column("age"), rel=1e-3)
    for code in range(4):
        here = masked.column("region") == code
        assert after[here].sum() == pytest.approx(before[here].sum(), rel=1e-3)
    if publish.startswith("noise"):
        assert after @ masked.column("income") == pytest.approx(before @ table.column("income"), rel=1e-3)


def test_a_raked_weight_is_one_for_all_records_of_a_class() -> None:
    masked = published(survey("raked"))
    _, classes = np.unique(masked.codes(masked.quasi_identifiers), axis=0, return_inverse=True)
    for label in np.unique(classes):
        assert len(np.unique(masked.column("w")[classes.reshape(-1) == label])) == 1


def test_rounding_gives_multiples_and_never_0() -> None:
    table = survey("rounded:50")
    weights = published(table).column("w")
    assert set(np.unique(weights).tolist()) == {50.0, 100.0}


@pytest.mark.parametrize("publish", ["rounded:100", "noise:0.3", "raked"])
def test_what_the_weight_restores_falls(publish: str) -> None:
    table = survey(publish)
    mixed = np.random.default_rng(1).permutation(table.column("region"))
    masked = draw_weight_noise(table, np.random.default_rng(7)).with_columns(
        {"region": mixed, "age": np.full(len(table), 45.0)}
    )
    masked = recompute_following(masked, table)
    found = {each.column: each for each in crypsis.weight_restoring(masked, table)}
    assert found["region"].collected > 0.95
    assert found["region"].published < 0.05


def test_the_audit_of_a_preview_closes_for_the_weight_as_collected_and_opens_for_the_raked_one() -> None:
    assert preview_weight_findings(survey(""))
    assert not preview_weight_findings(survey("raked"))


@given(seed=st.integers(0, 1000), publish=st.sampled_from(["rounded:10", "noise:0.1", "raked", "raked:sex"]))
def test_weights_stay_positive_and_are_made_once(seed: int, publish: str) -> None:
    table = survey(publish, seed, 200)
    masked = published(table, 5)
    assert (masked.column("w") > 0).all()
    again = publish_weight(masked, table)
    assert np.allclose(again.column("w"), masked.column("w"), rtol=0.005)  # five digits are published


def test_a_missing_weight_stays_missing_and_suppressed_records_share_theirs() -> None:
    table = survey("raked")
    weights = table.column("w").copy()
    weights[3] = np.nan
    table = table.with_columns({"w": weights})
    gone = np.arange(len(table)) % 50 == 0
    masked = publish_weight(table.without(gone), table)
    assert np.isnan(masked.column("w")[3])
    shown = masked.column("w")[masked.kept]
    assert np.nansum(shown) == pytest.approx(np.nansum(weights), rel=1e-3)


@pytest.mark.parametrize("text", ["rounded", "rounded:0", "rounded:-1", "noise:2", "noise:", "trimmed", "rounded:inf"])
def test_what_is_no_treatment_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="no way to publish a weight; write"):
        read_weight_treatment(text)


def test_a_plan_says_what_contradicts_a_treatment() -> None:
    document = {
        "data": {"source": "people.csv"},
        "columns": {
            "town": {"role": "quasi", "publish": "raked"},
            "w": {"role": "weight", "publish": "rounded:10"},
            "v": {"role": "weight"},
        },
        "mask": [{"method": "number-rounding", "columns": ["w"]}],
    }
    text = "\n".join(Plan.understand(document)[1])
    assert "the role is quasi" in text
    assert "[[mask]] table masks 'w'" in text
    assert "2 columns have the role weight" in text
