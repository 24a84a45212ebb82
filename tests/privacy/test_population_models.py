"""k-map, limits on risk and household k: by hand, in a release, and verified."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crypsis
from crypsis.errors import PlanError, ReleaseRefused, TableError
from crypsis.table.table import Table


def sample() -> Table:
    columns = {"town": list("aabbb"), "w": [5.0, 15, 2, 2, 2], "in": list("ynyyn")}
    return Table.from_columns(columns, {"town": "quasi", "w": "weight", "in": "other"})


def test_people_of_the_population_are_counted_in_three_ways() -> None:
    table = sample()
    by_weights = crypsis.KMap(k=10).judge(table)
    assert (by_weights.attained, by_weights.offending) == (6.0, 3)
    assert "estimated by the sampling weights" in by_weights.demand
    counted = crypsis.KMap(k=3, counts="population", member="in", present="y")
    assert counted.levels(table)[[0, 2, 3]].tolist() == [2, 3, 3]
    assert counted.judge(table).offending == 1
    estimated = crypsis.KMap(k=5, counts="estimated", fraction=0.1, significance=0.05)
    assert (estimated.required, estimated.least_class_size) == (3.0, 3)
    assert estimated.judge(table).offending == 2
    assert "estimated: every class has at least 3 records" in estimated.judge(table).demand


def test_what_is_taken_for_granted_follows_from_how_people_are_counted() -> None:
    def said(model: crypsis.PrivacyModel) -> set[str]:
        return {str(each) for each in model.judge(sample()).assumptions} - {"known-columns", "one-record"}

    assert said(crypsis.KMap(k=2)) == said(crypsis.AverageRisk(found_in="population")) == {"sample"}
    assert said(crypsis.KMap(k=2, counts="population", member="in", present="y")) == {"population"}
    assert said(crypsis.AverageRisk()) == set()


def test_what_k_map_needs_is_said() -> None:
    table = sample().drop(["w"])
    assert "role 'weight'" in crypsis.KMap().obstacle(table)
    assert "no category" in crypsis.KMap(counts="population", member="in", present="?").obstacle(table)
    with pytest.raises(PlanError, match="member"):
        crypsis.models.build("k-map", counts="population")


def test_limits_on_risk() -> None:
    table = sample()
    assert crypsis.HighestRisk(most=0.4).judge(table).offending == 2
    assert crypsis.HighestRisk(most=1 / 3).least_class_size == 3
    assert crypsis.HighestRisk(most=0.15, found_in="population").judge(table).offending == 3
    average = crypsis.AverageRisk(most=0.4).judge(table)
    assert (average.attained, average.holds) == (pytest.approx(0.4), True)
    assert crypsis.AverageRisk(most=0.39).judge(table).offending == 5
    assert crypsis.AverageRisk(most=0.2, found_in="population").judge(table).holds
    at_risk = crypsis.RecordsAtRisk(most=0.3, threshold=0.4).judge(table)
    assert (at_risk.attained, at_risk.holds) == (0.4, False)
    assert crypsis.RecordsAtRisk(most=0.3, threshold=0.5).judge(table).holds, "0.5 is not above 0.5"


def test_a_search_guided_by_a_limit_keeps_it() -> None:
    people = crypsis.example(200, seed=3)
    model = crypsis.AverageRisk(most=0.1)
    with crypsis.evolve(people, "memetic", [model], budget="4 generations", seed=1) as run:
        kept = [s for s in run.front if s.feasible]
        assert kept
        assert model.judge(run.decode(kept[0])).holds


# -- households --


def homes() -> Table:
    """Twelve households of a woman and a man, in two towns; in one of them both are women."""
    sexes, towns = list("fm") * 12, [town for town in "ab" * 6 for _ in range(2)]
    sexes[1] = "f"
    columns = {"sex": sexes, "town": towns, "home": np.repeat(np.arange(12), 2).tolist()}
    return Table.from_columns(columns, {"sex": "quasi", "town": "quasi", "home": "household"})


def naive_levels(table: Table, original: Table) -> list[int]:
    members: dict[float, list[tuple[int, ...]]] = {}
    home = original.column("home").tolist()
    for place, row in zip(home, table.codes(["sex", "town"]).tolist(), strict=True):
        members.setdefault(place, []).append(tuple(row))
    patterns = {place: tuple(sorted(rows)) for place, rows in members.items()}
    held = Counter(patterns.values())
    return [held[patterns[place]] for place in home]


def test_records_may_be_alike_where_households_are_not() -> None:
    table = homes()
    assert crypsis.KAnonymity(k=5).judge(table).holds
    verdict = crypsis.HouseholdKAnonymity(k=5).judge(table)
    assert (verdict.attained, verdict.offending, verdict.unit) == (1.0, 2, "household")
    assert "at least 5 households" in verdict.demand
    assert crypsis.HouseholdKAnonymity().levels(table).tolist() == naive_levels(table, table)


def test_the_model_judges_by_the_households_of_the_original() -> None:
    table = homes()
    published = table.drop(["home"])
    assert "role 'household'" in crypsis.HouseholdKAnonymity().obstacle(published)
    bound = crypsis.HouseholdKAnonymity(k=5).bind_original(table)
    assert bound.judge(published).attained == 1.0
    with pytest.raises(TableError, match="rows must correspond"):
        bound.judge(published.take(np.arange(4)))


def released(masked: Table, folder: Path, models: list[Any], original: Table | None) -> Path:
    return crypsis.publish(masked, folder, models=models, original=original)


def test_a_release_is_judged_by_households_and_says_what_verify_cannot_see(tmp_path: Path) -> None:
    table = homes()
    models = [crypsis.KAnonymity(k=3), crypsis.HouseholdKAnonymity(k=5)]
    with pytest.raises(ReleaseRefused, match="household-k-anonymity requires at least 5"):
        released(table, tmp_path / "refused", models, table)
    masked = table.with_columns({"sex": np.where(np.arange(24) == 1, -1, table.column("sex")).astype(np.int32)})
    whole = masked.without(np.arange(24) < 2)
    folder = released(whole, tmp_path / "out", models, table)
    found = crypsis.verify(folder)
    assert found.sound, found.problems
    assert any("counts households, which are not in the file" in note for note in found.notes)
    verdict = json.loads((folder / "public" / "manifest.json").read_text(encoding="utf-8"))["requirements"][1][
        "verdict"
    ]
    assert (verdict["unit"], verdict["attained"]) == ("household", 5.0)
    with pytest.raises(PlanError, match=r"no original is given; give it$"):
        released(whole, tmp_path / "without", models, None)


# -- readings of missing cells in a plan, a report and a verification --


def test_a_plan_gives_one_reading_to_every_demand_that_names_none() -> None:
    document = {
        "data": {"source": "x.csv"},
        "columns": {"a": {"role": "quasi"}},
        "privacy": {"missing": "target"},
        "require": [{"model": "k-anonymity", "k": 3}, {"model": "k-anonymity", "k": 2, "missing": "own"}],
        "scenario": [{"name": "s", "knows": ["a"], "require": [{"model": "k-map"}]}],
        "limit": [{"measure": "class-risk", "at_most": 20}, {"measure": "risk", "at_most": 20}],
    }
    plan = crypsis.Plan.parse(document)
    assert [getattr(model, "missing", "") for model in plan.models()] == ["target", "own", "target"]
    assert getattr(plan.limit[0].build(), "missing", "") == "target"
    assert getattr(plan.measures.risk[0].build(), "missing", "") == "target"
    assert getattr(crypsis.Plan.parse({**document, "privacy": {}}).models()[0], "missing", "") == "own"
    with pytest.raises(PlanError, match="missing"):
        crypsis.Plan.parse({**document, "privacy": {"missing": "guess"}})


def test_a_report_and_verify_print_every_reading_where_they_differ(tmp_path: Path) -> None:
    original = Table.from_columns({"a": list("xxyy") * 10, "b": list("uv") * 20}, {"a": "quasi", "b": "quasi"})
    codes = original.column("b").copy()
    codes[0] = -1
    masked = original.with_columns({"b": codes})
    folder = released(masked, tmp_path / "out", [crypsis.KAnonymity(k=5, missing="target")], original)
    inside = json.loads((folder / "internal" / "report.json").read_text(encoding="utf-8"))
    wanted = "own 1 (1 alone), conservative 1 (1 alone), target 10 (0 alone), wildcard 10 (0 alone)"
    assert any(wanted in note for note in inside["notes"])
    notes = crypsis.verify(folder).notes
    assert any("own 1 (1 alone), conservative 1 (1 alone), wildcard 10 (0 alone), target between" in n for n in notes)
    plain = released(original, tmp_path / "plain", [crypsis.KAnonymity(k=5)], original)
    assert not any("values are missing, and how" in note for note in crypsis.verify(plain).notes)
