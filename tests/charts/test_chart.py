"""A chart writes itself in every format it names, and refuses others in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crypsis.charts import Chart, draw_front_svg
from crypsis.errors import PlanError

CHART = Chart({"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x", "type": "nominal"}}})


@pytest.mark.parametrize(
    ("suffix", "begins"), [(".png", b"\x89PNG"), (".svg", b"<svg"), (".html", b"<!DOCTYPE"), (".json", b"{")]
)
def test_a_chart_is_written_in_the_format_its_name_ends_in(suffix: str, begins: bytes, tmp_path: Path) -> None:
    path = CHART.save(tmp_path / f"picture{suffix}")
    assert path.read_bytes().lstrip()[: len(begins)].lower() == begins.lower()


def test_the_specification_comes_back(tmp_path: Path) -> None:
    assert json.loads(CHART.save(tmp_path / "picture.json").read_text()) == CHART.to_dict()


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"end the name in \.png, \.svg, \.html, \.json"):
        CHART.save(tmp_path / "picture.gif")


def test_a_notebook_gets_the_live_chart_and_a_drawing() -> None:
    bundle = CHART._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v5+json"] == CHART.to_dict()
    assert bundle["image/svg+xml"].startswith("<svg")


def test_a_file_far_above_the_front_is_marked_at_the_edge_and_does_not_flatten_it() -> None:
    """Risks of 12 and 9 % fill the picture; the file as collected, 100 %, is a triangle with its figure."""
    usual = {"family": "aggregation", "kind": "solution"}
    near = [{**usual, "name": "memetic", "loss": 20.0 + n, "risk": 12.0 - 3 * n} for n in range(2)]
    far = {"name": "untouched", "family": "recoding", "kind": "baseline", "loss": 0.0, "risk": 100.0}
    drawn = draw_front_svg([*near, far], "loss", "risk")
    assert "<polygon" in drawn
    assert "untouched, 100 %" in drawn
    assert ">15</text>" in drawn
    assert ">100</text>" not in drawn
    together = draw_front_svg([*near, {**far, "risk": 24.0}], "loss", "risk")
    assert "<polygon" not in together, "twice the next is no edge"
