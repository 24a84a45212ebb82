"""Measured limits and rulebooks stop a release as firmly as a privacy model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from crypsis.errors import PlanError, ReleaseRefused
from crypsis.masking import Microaggregation, RankSwapping
from crypsis.measures import measures
from crypsis.privacy import KAnonymity, LDiversity
from crypsis.release import MeasuredLimit, ReleaseDescription, judge_evidence_by_rulebook, publish, verify
from crypsis.release.published import flatten, put_back
from crypsis.rulebook import read_rulebook
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.example import example
from crypsis.table.table import LOCAL, Table
from waiving import waiving

LINKAGE = measures.build("record-linkage")
BY_SEX = measures.build("table-use", columns=("sex",))
PERTURBED = ReleaseDescription("Swapped", "Values were exchanged between neighbours in rank.", "perturbation")
AGGREGATED = ReleaseDescription("Grouped", "Microaggregation.", "aggregation")


@pytest.fixture(scope="module")
def original() -> Table:
    return example(150, seed=2)


@pytest.fixture(scope="module")
def masked(original: Table) -> Table:
    return Microaggregation(k=5).mask(original, np.random.default_rng(0))


@pytest.fixture(scope="module")
def swapped(original: Table) -> Table:
    return RankSwapping(columns=("age", "hours")).mask(original, np.random.default_rng(0))


def test_a_perturbed_file_is_released_by_its_measured_risk(original: Table, swapped: Table, tmp_path: Path) -> None:
    limit = MeasuredLimit(LINKAGE, 100.0)
    folder = publish(
        swapped,
        tmp_path / "out",
        models=[],
        original=original,
        description=PERTURBED,
        limits=[limit],
        waivers=waiving("income"),
    )
    assert verify(folder).sound
    inner = json.loads((folder / "internal" / "manifest.json").read_text(encoding="utf-8"))
    assert inner["limits"][0]["reading"]["value"] == LINKAGE.against(original).read(swapped)
    facts = json.loads((folder / "internal" / "report.json").read_text(encoding="utf-8"))
    assert facts["class_sizes"] is None, "class sizes mean nothing after perturbation"
    assert facts["scenarios"][0]["smallest_after"] is None
    assert any("perturbed" in note for note in facts["notes"])
    outside = json.loads((folder / "public" / "report.json").read_text(encoding="utf-8"))
    assert any("the limit set on the people found is kept" in each for each in outside["guarantees"])


def test_a_perturbed_file_beyond_its_limit_is_refused_with_the_figure(
    original: Table, swapped: Table, tmp_path: Path
) -> None:
    with pytest.raises(ReleaseRefused, match=r"record-linkage may be at most 0\.1 and is \d"):
        publish(
            swapped,
            tmp_path / "out",
            models=[],
            original=original,
            description=PERTURBED,
            limits=[MeasuredLimit(LINKAGE, 0.1)],
        )
    assert list(tmp_path.iterdir()) == []


def test_class_sizes_never_vouch_for_a_perturbed_file(original: Table, swapped: Table, tmp_path: Path) -> None:
    with pytest.raises(ReleaseRefused, match="perturbed"):
        publish(
            swapped,
            tmp_path / "out",
            models=[KAnonymity(k=2)],
            original=original,
            description=PERTURBED,
            limits=[MeasuredLimit(LINKAGE, 100.0)],
        )


@pytest.mark.parametrize(
    ("limits", "with_original", "words"),
    [
        ([], True, "at least one privacy model or one risk limit"),
        ([MeasuredLimit(BY_SEX, 50)], True, "at least one privacy model or one risk limit"),
        ([MeasuredLimit(LINKAGE, 50, binding=False)], True, "at least one privacy model or one risk limit"),
        ([MeasuredLimit(LINKAGE, 50)], False, "needs the original"),
        ([MeasuredLimit(measures.build("record-linkage", columns=("agee",)), 50)], True, "no column 'agee'"),
    ],
)
def test_a_promise_that_is_none_is_refused(
    limits: list[MeasuredLimit], with_original: bool, words: str, original: Table, masked: Table, tmp_path: Path
) -> None:
    with pytest.raises(PlanError, match=words):
        publish(masked, tmp_path / "out", models=[], original=original if with_original else None, limits=limits)


def test_a_measure_without_meaning_cannot_be_limited(original: Table, swapped: Table, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no meaning after perturbation"):
        publish(
            swapped,
            tmp_path / "out",
            models=[],
            original=original,
            description=PERTURBED,
            limits=[MeasuredLimit(LINKAGE, 100.0), MeasuredLimit(measures.build("glm"), 50)],
        )


def test_a_use_beyond_its_tolerance_stops_a_release_unless_only_told(
    original: Table, masked: Table, tmp_path: Path
) -> None:
    use = measures.build("means-use", columns=("income",), by=("occupation",))
    common = {"models": [KAnonymity(k=5)], "original": original, "description": AGGREGATED}
    with pytest.raises(ReleaseRefused, match=r"Income by trade may be at most 0\.001"):
        publish(masked, tmp_path / "a", limits=[MeasuredLimit(use, 0.001, "Income by trade")], **common)  # type: ignore[arg-type]
    told = [MeasuredLimit(use, 0.001, "Income by trade", binding=False)]
    folder = publish(masked, tmp_path / "b", limits=told, waivers=waiving("income"), **common)  # type: ignore[arg-type]
    outside = json.loads((folder / "public" / "report.json").read_text(encoding="utf-8"))
    assert outside["uses"][0]["name"] == "Income by trade"
    assert outside["uses"][0]["kept"] is False


# -- rulebooks --


def test_a_broken_rule_stops_a_release_and_a_waiver_is_recorded(original: Table, masked: Table, tmp_path: Path) -> None:
    book = read_rulebook("cell-threshold-11")
    common = {"models": [KAnonymity(k=5)], "original": original, "description": AGGREGATED, "rulebook": book}
    with pytest.raises(ReleaseRefused, match=r"rulebook cell-threshold-11: rule cells: .*; rule classes: .*has 5"):
        publish(masked, tmp_path / "a", waivers=waiving("income"), **common)  # type: ignore[arg-type]
    reasons = {"cells": "only three columns, agreed with the office", "classes": "licensed use, contract 17"}
    folder = publish(masked, tmp_path / "b", waivers=reasons | waiving("income"), **common)  # type: ignore[arg-type]
    outer = json.loads((folder / "public" / "manifest.json").read_text(encoding="utf-8"))
    assert outer["rulebook"]["waived"] == ["cells", "classes"]
    assert "contract 17" not in (folder / "public" / "manifest.json").read_text(encoding="utf-8")
    inner = json.loads((folder / "internal" / "manifest.json").read_text(encoding="utf-8"))
    assert {rule["id"]: rule["waived"] for rule in inner["rulebook"]["rules"] if rule["waived"]} == reasons
    assert "contract 17" in (folder / "internal" / "report.html").read_text(encoding="utf-8")
    again = judge_evidence_by_rulebook(folder, book)
    assert all(result.passed for result in again), "recorded waivers count again"
    assert not all(result.passed for result in judge_evidence_by_rulebook(folder / "public", book)), (
        "they stay in the house"
    )


def test_a_waiver_without_a_rulebook_or_of_no_rule_is_refused(masked: Table, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no rulebook"):
        publish(masked, tmp_path / "out", models=[KAnonymity(k=5)], waivers={"k": "because I say so"})
    with pytest.raises(PlanError, match="did you mean 'order'"):
        publish(
            masked,
            tmp_path / "out",
            models=[KAnonymity(k=5)],
            rulebook=read_rulebook("licensed"),
            waivers={"oder": "because I say so"},
        )


def test_a_risk_rule_needs_a_measured_file(masked: Table, tmp_path: Path) -> None:
    with pytest.raises(ReleaseRefused, match=r"rule linkage: .* not known"):
        publish(
            masked,
            tmp_path / "out",
            models=[KAnonymity(k=5)],
            rulebook=read_rulebook("licensed"),
            waivers=waiving("income"),
        )


def test_the_worst_scenario_counts_for_a_risk_rule(original: Table, masked: Table, tmp_path: Path) -> None:
    everything = {"all": original.quasi_identifiers, "confidants": [*original.quasi_identifiers, "income", "diagnosis"]}
    with pytest.raises(ReleaseRefused, match="rule linkage"):
        publish(
            masked,
            tmp_path / "out",
            models=[KAnonymity(k=5)],
            original=original,
            description=AGGREGATED,
            scenarios=everything,
            waivers=waiving("income"),
            rulebook=read_rulebook("licensed"),
        )


# -- the written file beside the original --


def test_rows_go_back_to_where_they_came_from(original: Table, masked: Table) -> None:
    some = masked.without(np.arange(len(masked)) % 7 == 0)
    rows = np.flatnonzero(some.kept)
    np.random.default_rng(3).shuffle(rows)
    back = put_back(flatten(some, rows), some, rows)
    assert back.fingerprint() == some.fingerprint()


def test_cells_recoded_one_by_one_go_back_even_where_two_groups_share_a_name(original: Table) -> None:
    hierarchy = original.attribute("marital").hierarchy
    assert hierarchy is not None
    assert len(set(hierarchy.node_labels)) < len(hierarchy.node_labels), "'married' names a value and its group"
    nodes = np.arange(len(original)) % len(hierarchy.node_labels)
    local = original.with_columns({"marital": nodes.astype(np.int32)}, levels={"marital": LOCAL})
    rows = np.random.default_rng(1).permutation(len(original))
    assert put_back(flatten(local, rows), local, rows).fingerprint() == local.fingerprint()


def test_dates_are_measured_as_they_are_published(tmp_path: Path) -> None:
    """A mean of days is published as a whole day; the loss is that of the published day."""
    days = np.arange(12, dtype=float) * 10
    attributes = (Attribute("born", Kind.NUMERIC, Role.QUASI_IDENTIFIER, dates="date"),)
    table = Table(attributes, (days,))
    masked = table.with_columns({"born": np.repeat(days.reshape(3, 4).mean(axis=1) + 0.25, 4)})
    folder = publish(masked, tmp_path / "out", models=[KAnonymity(k=4)], original=table, description=AGGREGATED)
    inner = json.loads((folder / "internal" / "report.json").read_text(encoding="utf-8"))
    whole = table.with_columns({"born": np.round(masked.column("born"))})
    loss = next(each["value"] for each in inner["losses"] if each["measure"] == "cell-loss")
    assert loss == measures.build("cell-loss").against(table).read(whole)


def test_scenario_models_and_rulebook_share_one_release(original: Table, masked: Table, tmp_path: Path) -> None:
    models = [KAnonymity(k=5), LDiversity(l=2, quasi_identifiers=("age", "sex"), confidential=("income",))]
    folder = publish(
        masked,
        tmp_path / "out",
        models=models,
        original=original,
        description=AGGREGATED,
        scenarios={"neighbour": ["age", "sex", "district"]},
        rulebook=read_rulebook("licensed"),
        rng=np.random.default_rng(0),
        waivers=waiving("income"),
    )
    found = verify(folder)
    assert found.sound, found.problems
    assert len(found.verdicts) == 2


@pytest.mark.parametrize("role", ["identifier", "quasi", "confidential"])
def test_no_guarded_column_becomes_another(role: str, tmp_path: Path) -> None:
    """A column that was an identifier would be published, one that was masked or judged would be no more."""
    columns = {"sex": ["f", "m"] * 10, "x": [f"x{n // 10}" for n in range(20)]}
    original = Table.from_columns(columns, {"sex": "quasi", "x": role})
    with pytest.raises(ReleaseRefused, match=f"'x' has the role '{role}' in the original and 'other'"):
        publish(original.with_roles({"x": "other"}), tmp_path / "out", models=[KAnonymity(k=2)], original=original)
