from __future__ import annotations

import numpy as np
import pytest

from crypsis.measures.measure import Panel, max_score, mean_score
from crypsis.measures.numeric_loss import SquaredError, SquaredErrorRatio
from crypsis.table.table import Table


def test_a_panel_reads_what_its_measures_read() -> None:
    """0, 0, 4, 4 published as 0, 0, 2, 4: SSE 1 on the scale of the deviation 2, a quarter of the SST."""
    original = Table.from_columns({"v": [0.0, 0, 4, 4]}, {"v": "quasi"})
    masked = original.with_columns({"v": np.array([0.0, 0, 2, 4])})
    panel = Panel.against(original, {"raw": SquaredError(), "share": SquaredErrorRatio()})
    assert panel.read(masked) == {"raw": 1.0, "share": 25.0}
    readings = panel.explain(masked)
    assert {name: (reading.measure, reading.value) for name, reading in readings.items()} == {
        "raw": ("sse", 1.0),
        "share": ("sse-ratio", 25.0),
    }


def test_scores_by_hand() -> None:
    """Losses 10 and 30, risks 40 and 80: means 20 and 60."""
    assert mean_score([10, 30], [40, 80]) == pytest.approx(40)
    assert max_score([10, 30], [40, 80]) == pytest.approx(60)
    assert max_score([90], [40, 80]) == pytest.approx(90)
