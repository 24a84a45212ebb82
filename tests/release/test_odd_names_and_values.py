"""Names that mean something to JavaScript, and the empty text beside missing cells, are released like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from crypsis.charts.chart import INHERITED, INVISIBLE, drawable_specification
from crypsis.masking import Microaggregation
from crypsis.privacy import KAnonymity
from crypsis.release import publish, verify
from crypsis.release.published import read_published, schema_of
from crypsis.table.table import Table


@pytest.mark.parametrize("name", ["constructor", "toString", "__proto__"])
def test_a_column_named_like_a_part_of_every_javascript_object_is_released(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {
        name: rng.integers(20, 60, 60).astype(float),
        "town": [name, "valueOf", "b"] * 20,  # as values and labels of a chart, too
        "wage": rng.integers(0, 5, 60).astype(float),
    }
    original = Table.from_columns(columns, roles={name: "quasi", "town": "quasi", "wage": "confidential"})
    masked = Microaggregation(k=5).mask(original, rng)
    folder = publish(masked, tmp_path / "out", models=[KAnonymity(k=5)], original=original)
    assert verify(folder).sound
    assert "<svg" in (folder / "internal" / "report.html").read_text(encoding="utf-8")


def test_texts_of_a_chart_change_only_where_vega_stumbles() -> None:
    spec = {"title": {"text": "valueOf"}, "data": {"values": [{"label": "toString", "n": 1}]}, "sort": ("a", "b")}
    assert drawable_specification(spec) == {
        "title": {"text": f"{INVISIBLE}valueOf"},
        "data": {"values": [{"label": f"{INVISIBLE}toString", "n": 1}]},
        "sort": ["a", "b"],
    }
    assert all(drawable_specification(name) != name for name in INHERITED)


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("others", [{}, {"note": ['a"b', "", "c,d", None] * 15, "wage": [1.0, None, 2.0, 3.0] * 15}])
def test_an_empty_category_is_not_a_missing_cell(others: dict[str, Any], format: Any, tmp_path: Path) -> None:
    columns = {"ward": ["", "x", "y", None] * 15, **others}
    table = Table.from_columns(columns, roles={"ward": "quasi", **dict.fromkeys(others, "other")})
    folder = publish(table, tmp_path / "out", models=[KAnonymity(k=5)], format=format, order="kept")
    assert verify(folder).sound
    again = read_published(folder / "public", schema_of(table, format))
    assert again.fingerprint() == table.fingerprint()
    assert again.attribute("ward").categories == ("", "x", "y")
    if format == "csv":  # as anybody else reads it
        ward = pl.read_csv(folder / "public" / "data.csv", infer_schema=False)["ward"].to_list()
        assert ward == ["", "x", "y", None] * 15
