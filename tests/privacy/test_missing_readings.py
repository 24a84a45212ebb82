"""k-anonymity where cells are missing: four readings, by hand, against the slow twin, from the table to the release."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crypsis
from crypsis.audits.exposure import few_together
from crypsis.audits.published import Published
from crypsis.errors import PlanError, ReleaseRefused
from crypsis.measures import measures
from crypsis.measures.objective import Objective
from crypsis.plan.checking import check_before_run
from crypsis.plan.draft import draft
from crypsis.privacy.anonymity import missing_cells_in_anonymity
from crypsis.table.equivalence_classes import READINGS, alike_records, count_persons_alike, true_codes_in_classes
from crypsis.table.table import Table
from naive import missing_cells as naive
from reference import reference

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
ROLES = {"a": "quasi", "b": "quasi", "c": "quasi"}
A, B = [2, 3, 2, 2, 3, 3, 1, 2], [3, 3, 3, 3, 3, 3, 4, 3]
SHOWN, TRUE = ["1", "3", None, "2", "1", "1", None, "1"], ["1", "3", "1", "2", "1", "1", "1", "1"]
HAND = {
    "own": [2, 1, 1, 1, 2, 2, 1, 2],
    "conservative": [3, 1, 1, 2, 2, 2, 1, 3],
    "target": [3, 1, 3, 2, 2, 2, 1, 3],
    "wildcard": [3, 1, 4, 2, 2, 2, 1, 3],
}
PERSONS = [3, 1, 4, 1, 2, 2, 1, 3]
"""Persons whose record each may be."""
BOTH_SIDES = [3, 1, 3, 1, 2, 2, 1, 3]
"""What `target` demands: the smaller of both sides."""


def people(c: list[str | None]) -> Table:
    return Table.from_columns({"a": [str(x) for x in A], "b": [str(x) for x in B], "c": c}, ROLES)


@pytest.mark.parametrize("reading", READINGS)
def test_the_vector_of_eight_records(reading: Any) -> None:
    assert alike_records(people(SHOWN), ["a", "b", "c"], reading, people(TRUE)).tolist() == HAND[reading]
    model = crypsis.KAnonymity(k=3, missing=reading).bind_original(people(TRUE))
    wanted = BOTH_SIDES if reading == "target" else HAND[reading]
    assert model.levels(people(SHOWN)).tolist() == wanted
    verdict = model.judge(people(SHOWN))
    assert verdict.attained == 1
    assert verdict.offending == sum(count < 3 for count in wanted)


cells = st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=1, max_size=12)


@given(cells, st.data())
def test_readings_equal_the_slow_twin_and_are_ordered(rows: list[tuple[int, ...]], data: st.DataObject) -> None:
    truth = [
        tuple(data.draw(st.integers(0, 2)) if x < 0 and data.draw(st.booleans()) else x for x in row) for row in rows
    ]
    weights = [1.0] * len(rows)
    wanted = {
        "own": naive.own(rows, weights),
        "conservative": naive.conservative(rows, weights),
        "target": naive.target(rows, truth, weights),
        "wildcard": naive.wildcard(rows, 1.0, weights),
    }
    shown, before = (table(each) for each in (rows, truth))
    beside = count_persons_alike(shown, ["a", "b", "c"], before).tolist()
    assert beside == naive.persons(rows, truth)
    assert all(x <= y for x, y in zip(wanted["own"], beside, strict=True))  # what is kept under own is kept both ways
    found = {reading: alike_records(shown, ["a", "b", "c"], reading, before).tolist() for reading in READINGS}
    assert found == wanted
    for strict, loose in pairwise(READINGS):
        assert all(x <= y for x, y in zip(found[strict], found[loose], strict=True))


def table(rows: list[tuple[int, ...]]) -> Table:
    """Rows of codes as a table of the categories x0, x1, x2, whichever of them occur."""
    columns = {name: [None if row[j] < 0 else f"x{row[j]}" for row in rows] for j, name in enumerate("abc")}
    return Table.from_columns(columns, ROLES)


def test_without_missing_cells_all_readings_agree_and_say_nothing() -> None:
    complete = people(TRUE)
    found = [crypsis.KAnonymity(k=2, missing=reading).judge(complete) for reading in READINGS]
    assert len({(v.attained, v.offending, v.demand, v.remark) for v in found}) == 1
    assert found[0].remark == ""


def test_the_statement_names_the_reading_and_what_a_wildcard_hides() -> None:
    said = {r: crypsis.KAnonymity(k=2, missing=r).judge(people(SHOWN)).demand for r in READINGS}
    assert "a missing value counts as a value of its own" in said["own"]
    assert "whatever the missing values" in said["conservative"]
    assert "true values" in said["target"]
    assert said["wildcard"].endswith("to an intruder who knows the missing values, with at least 1)")


def test_target_without_the_original_is_read_conservatively_on_both_sides() -> None:
    assert count_persons_alike(people(SHOWN), ["a", "b", "c"], people(TRUE)).tolist() == PERSONS
    known = naive.persons(*[[tuple(row) for row in people(SHOWN).codes(["a", "b", "c"])]] * 2)
    lower = [min(pair) for pair in zip(HAND["conservative"], known, strict=True)]
    assert crypsis.KAnonymity(missing="target").levels(people(SHOWN)).tolist() == lower
    assert all(x <= y for x, y in zip(lower, BOTH_SIDES, strict=True))


def test_blank_records_are_no_cover_for_everybody_else() -> None:
    """Two records blanked whole give everybody three records; the others are still of one person each."""
    table = crypsis.read_table(reference("testdata.csv"), dict.fromkeys(KEYS, "quasi"), dict.fromkeys(KEYS, "nominal"))
    masked = crypsis.CellSuppression(k=3, sides="persons").mask(table, np.random.default_rng(0))
    hidden = int((masked.codes(KEYS) == -1).sum())
    alike = alike_records(masked, KEYS, "target", table)
    assert (hidden, alike.min()) == (14, 3)
    verdict = crypsis.KAnonymity(k=3, missing="target").bind_original(table).judge(masked)
    assert not verdict.holds
    assert verdict.attained == 1
    assert verdict.offending > 200
    assert "the smaller number counts" in verdict.statement
    both = crypsis.CellSuppression(k=3).mask(table, np.random.default_rng(0))
    assert crypsis.KAnonymity(k=3, missing="target").bind_original(table).judge(both).holds


# -- record linkage --


@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)), min_size=2, max_size=9),
    st.data(),
    st.sampled_from(READINGS),
)
def test_linkage_reads_missing_cells_as_the_slow_twin(
    rows: list[tuple[int, int]], data: st.DataObject, reading: Any
) -> None:
    """A column of numbers and one of categories, some cells missing and some hidden."""
    known = [tuple(None if cell < 0 else cell for cell in row) for row in rows]
    shown = [tuple(None if data.draw(st.booleans()) else cell for cell in row) for row in known]
    before, after = (as_numbers_and_codes(each) for each in (known, shown))
    measure = crypsis.RecordLinkage(missing=reading, scaling="none", columns=("x", "y"))
    earned = measure.against(before).credits(after)  # type: ignore[attr-defined]
    mean = [cell for cell, _ in known if cell is not None]
    middle = sum(mean) / len(mean) if mean else 0.0
    centred = [
        [(None if x is None else x - middle, y) for x, y in each] for each in (known, shown)
    ]  # a missing number is read as the mean
    assert earned.tolist() == pytest.approx(naive.linked(centred[0], centred[1], [True, False], reading))


def as_numbers_and_codes(rows: list[tuple[int | None, ...]]) -> Table:
    numbers = np.array([np.nan if row[0] is None else row[0] for row in rows], dtype=np.float64)
    codes = np.array([-1 if row[1] is None else row[1] for row in rows], dtype=np.int32)
    attributes = (
        crypsis.Attribute("x", crypsis.Kind.NUMERIC, crypsis.Role.QUASI_IDENTIFIER),
        crypsis.Attribute("y", crypsis.Kind.NOMINAL, crypsis.Role.QUASI_IDENTIFIER, ("a", "b", "c")),
    )
    return Table(attributes, (numbers, codes))


def test_linkage_by_hand() -> None:
    """Three people; the town of the first is hidden. Told apart by own, covered by target."""
    before = Table.from_columns({"sex": ["f", "f", "m"], "town": ["a", "b", "b"]}, {"sex": "quasi", "town": "quasi"})
    after = before.with_columns({"town": np.array([-1, 1, 1], np.int32)})
    earned = {r: crypsis.RecordLinkage(missing=r).against(before).credits(after).tolist() for r in READINGS}  # type: ignore[attr-defined]
    assert earned["own"] == [0.5, 1.0, 1.0]  # the first lies one unit from both records of women
    assert earned["target"] == [1.0, 0.5, 1.0]  # the second may be either record of a woman
    assert earned["wildcard"] == earned["target"]
    assert earned["conservative"] == [1.0, 0.5, 1.0]


def test_a_plan_reads_linkage_by_the_same_word() -> None:
    plan = crypsis.Plan.parse(
        {
            "data": {"source": "a.csv"},
            "columns": {"x": {"role": "quasi"}},
            "privacy": {"missing": "target"},
            "measures": {"risk": ["record-linkage"]},
        }
    )
    assert [each.build().missing for each in plan.measures.risk] == ["target"]  # type: ignore[attr-defined]


def test_true_values_are_taken_at_the_level_that_is_published() -> None:
    frame = pl.DataFrame({"age": [21, 28, 33, 37]})
    ages = crypsis.wrap(frame, quasi_identifiers=["age"], hierarchies={"age": "intervals:10"})
    tens = crypsis.Generalisation(level=1).mask(ages, np.random.default_rng(0))
    codes = tens.column("age").copy()
    codes[1] = -1
    blanked = tens.with_columns({"age": codes})
    assert true_codes_in_classes(blanked, ages, ["age"]).ravel().tolist() == tens.column("age").tolist()
    assert alike_records(blanked, ["age"], "target", ages).tolist() == [2.0, 2.0, 3.0, 3.0]
    assert alike_records(blanked, ["age"], "conservative").tolist() == [2.0, 1.0, 3.0, 3.0]


def test_a_true_number_that_nobody_publishes_contradicts_every_published_one() -> None:
    ages = Table.from_columns({"age": [20.0, 22.0, 30.0, 31.0]}, {"age": "quasi"})
    masked = ages.with_columns({"age": np.array([21.0, np.nan, 30.0, 31.0])})
    assert alike_records(masked, ["age"], "target", ages).tolist() == [2.0, 1.0, 2.0, 2.0]


def test_a_group_that_blanks_a_column_is_one_class_under_every_reading() -> None:
    original = people(TRUE)
    codes = original.column("c").copy()
    codes[:] = -1
    blanked = original.with_columns({"c": codes}).with_columns({name: original.column(name) * 0 for name in "ab"})
    for reading in READINGS:
        assert alike_records(blanked, list("abc"), reading, original).tolist() == [8.0] * 8


def test_searches_keep_k_under_every_reading() -> None:
    """Classes are formed by `own`, the strictest reading, so that no other one empties a front."""
    original = people(SHOWN)
    for reading in READINGS:
        models = [crypsis.KAnonymity(k=2, missing=reading)]
        with crypsis.evolve(original, "memetic", models, budget="2 generations", seed=1) as run:
            assert len(run.front) > 0
            assert all(solution.feasible for solution in run.front)


def test_the_figure_k_and_the_shortfall_follow_the_reading() -> None:
    original, shown = people(TRUE), people(SHOWN).take(np.array([0, 2, 3, 7]))
    given = {name: measures.build(name) for name in ("cell-loss", "record-linkage")}
    some = original.take(np.array([0, 2, 3, 7]))
    figures = {}
    for reading in READINGS:
        objective = Objective(some, given, models=[crypsis.KAnonymity(k=2, missing=reading)], missing=reading)
        evaluation = objective.evaluate(shown, "recoding")
        figures[reading] = (evaluation.figures["k"], not evaluation.complaints, objective.shortfall(shown) == 0)
    assert figures == {
        "own": (1.0, False, False),
        "conservative": (1.0, False, False),
        "target": (1.0, False, False),  # the record with the value 2 is of one person alone
        "wildcard": (2.0, True, True),
    }


def test_the_audit_counts_records_with_those_they_may_be() -> None:
    """(x, 1) may be (x, –) unless a missing value is a value, which then singles out like any other."""
    shown = Table.from_columns({"a": ["x", "x", "y", "y"], "w": [1.0, np.nan, 2.0, 3.0]}, {"a": "quasi", "w": "other"})
    alone = {r: few_together(Published(shown, missing=r), most=0.0).findings[0].records for r in READINGS}
    assert alone == {"own": 4, "conservative": 2, "target": 2, "wildcard": 2}


def test_one_reading_or_the_strictest() -> None:
    mixed = [crypsis.KAnonymity(missing="target"), crypsis.KAnonymity(missing="wildcard")]
    assert missing_cells_in_anonymity(mixed) == "own"
    assert missing_cells_in_anonymity([*mixed[:1], crypsis.LDiversity()]) == "target"


@pytest.fixture
def blanked() -> tuple[Table, Table]:
    """Forty people; one cell of a person blanked by the custodian: alone by `own`, one of ten by the true value."""
    original = Table.from_columns({"a": list("xxyy") * 10, "b": list("uv") * 20}, {"a": "quasi", "b": "quasi"})
    codes = original.column("b").copy()
    codes[0] = -1
    return original, original.with_columns({"b": codes})


def released(pair: tuple[Table, Table], reading: Any, folder: Path, known: bool = True) -> Path:
    models = [crypsis.KAnonymity(k=5, missing=reading)]
    return crypsis.publish(pair[1], folder, models=models, original=pair[0] if known else None)


def test_a_release_is_judged_by_its_reading_and_verified(blanked: tuple[Table, Table], tmp_path: Path) -> None:
    for strict in ("own", "conservative"):
        with pytest.raises(ReleaseRefused, match="attains 1"):
            released(blanked, strict, tmp_path / strict)
    for loose, attained in (("target", 10), ("wildcard", 10)):
        folder = released(blanked, loose, tmp_path / loose)
        manifest = json.loads((folder / "public" / "manifest.json").read_text(encoding="utf-8"))
        assert manifest["requirements"][0]["settings"]["missing"] == loose
        assert manifest["requirements"][0]["verdict"]["attained"] == attained
        found = crypsis.verify(folder)
        assert found.sound, found.problems
        assert found.smallest_class is not None
        assert found.smallest_class.size == 1, "over all quasi-identifiers, a missing value is a value of its own"
    assert any("true values that are not in the file" in note for note in crypsis.verify(tmp_path / "target").notes)
    assert "at least 1" in crypsis.verify(tmp_path / "wildcard").verdicts[0].remark
    inside = json.loads((tmp_path / "wildcard" / "internal" / "report.json").read_text(encoding="utf-8"))
    assert any(
        "who knows the true values of a person" in note and "are 10; 0 of 40" in note for note in inside["notes"]
    )


def test_check_warns_of_a_wildcard_where_values_are_missing(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\nx,1\nx,\ny,1\ny,1\n", encoding="utf-8")
    for reading, warned in (("wildcard", True), ("own", False)):
        plan = tmp_path / f"{reading}.toml"
        plan.write_text(
            '[data]\nsource = "data.csv"\n[columns]\na = { role = "quasi" }\nb = { role = "quasi", kind = "nominal" }\n'
            f'[[require]]\nmodel = "k-anonymity"\nk = 2\nmissing = "{reading}"\n',
            encoding="utf-8",
        )
        found = check_before_run(plan)
        assert found.problems == ()
        assert any("overstates protection" in remark for remark in found.notes) is warned


@pytest.mark.parametrize("gaps", [True, False])
def test_a_first_plan_names_the_reading_where_values_are_missing(gaps: bool, tmp_path: Path) -> None:
    ages = [31, None if gaps else 40, 47] * 20
    path = tmp_path / "data.csv"
    pl.DataFrame({"age": ages, "sex": ["f", "m", "f"] * 20}).write_csv(path)
    table = crypsis.read_table(path)
    text = draft(path, tmp_path / "plan.toml", table, crypsis.profile(table), 3)
    assert ('missing = "own"' in text) is gaps


def test_target_needs_the_original(blanked: tuple[Table, Table], tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no original is given"):
        released(blanked, "target", tmp_path / "out", known=False)
