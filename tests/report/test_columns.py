"""What the reports say of a column, and of limits that are no uses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from crypsis.masking import Microaggregation
from crypsis.measures import CellLoss, RuleViolations
from crypsis.privacy import KAnonymity
from crypsis.release import publish
from crypsis.release.guarantees import MeasuredLimit
from crypsis.report.content import describe_columns_for_reports
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table

PLACES = Hierarchy.from_rows([["a", "west", "*"], ["b", "west", "*"], ["c", "east", "*"]])


def told(nodes: list[int]) -> tuple[str, float]:
    """Treatment and changed cells of a a b b c c; nodes: a, b, c = 0, 1, 2; west, east = 3, 4; * = 5."""
    attribute = Attribute("place", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b", "c"), PLACES)
    original = Table((attribute,), (np.array([0, 0, 1, 1, 2, 2], dtype=np.int32),))
    masked = original.with_columns({"place": np.array(nodes, dtype=np.int32)}, levels={"place": LOCAL})
    (column,) = describe_columns_for_reports(original, masked)
    assert column.changed is not None
    return column.treatment, round(column.changed * 6 / 100, 9)


def test_a_locally_recoded_column_is_told_by_what_became_of_its_cells() -> None:
    assert told([0, 0, 1, 1, 2, 2]) == ("unchanged", 0)
    assert told([0, 0, 0, 1, 2, 2]) == ("some values replaced by another", 1)
    assert told([3, 3, 3, 3, 2, 2]) == ("recoded record by record to coarser values where needed", 4)
    words, changed = told([3, 3, 3, 1, 0, 2])
    assert words == "recoded record by record to coarser values where needed, some values replaced by another"
    assert changed == 4


def test_limits_on_columns_and_rules_are_no_uses_and_rare_records_stay_inside(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {"town": rng.choice(list("aaab"), 60).tolist(), "age": rng.integers(20, 60, 60).tolist()}
    original = Table.from_columns(columns, dict.fromkeys(columns, "quasi"))
    masked = Microaggregation(k=5).mask(original, rng)
    limits = [
        MeasuredLimit(CellLoss(columns=("age",)), 90.0, "loss of age"),
        MeasuredLimit(RuleViolations(rule="age >= 10"), 0.0, "rule age >= 10"),
        MeasuredLimit(CellLoss(), 80.0, "kept as a whole", declared=True),
    ]
    folder = publish(masked, tmp_path / "out", models=[KAnonymity(k=5)], original=original, limits=limits)
    inside = json.loads((folder / "internal" / "report.json").read_text(encoding="utf-8"))
    outside = json.loads((folder / "public" / "report.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in outside["uses"]] == ["kept as a whole"]
    assert [each["title"] for each in inside["card"]["uses"]] == ["kept as a whole"]
    assert [each["title"] for each in inside["card"]["rules"]] == ["rule age >= 10"]
    assert len(inside["card"]["general"]) == 1
    measured = {each["measure"] for each in inside["losses"]}
    assert {"vanished-values", "tail-change"} <= measured
    assert "rule-violations" not in measured, "no rule is given to the measure that stands alone"
    assert measured - {each["measure"] for each in outside["losses"]} == {"vanished-values", "tail-change"}
