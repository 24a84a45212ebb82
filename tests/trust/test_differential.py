"""The same number by somebody else's code, on random cases: scipy, statsmodels and moocore.

`CRYPSIS_CASES=2000 pytest tests/trust/test_differential.py` tries more of each.
`python benchmarks/differential.py` prints the largest differences, and asks pycanon and splink as well, which need
environments of their own.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CASES = int(os.environ.get("CRYPSIS_CASES", "150"))


def _load() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "agreeing.py"
    spec = importlib.util.spec_from_file_location("agreeing", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["agreeing"] = module
    spec.loader.exec_module(module)
    return module


agreeing = _load()


@pytest.mark.parametrize("comparison", agreeing.COMPARISONS, ids=lambda each: f"{each.library}: {each.what}")
def test_the_same_number_by_somebody_else(comparison: Any) -> None:
    for case in range(CASES):
        ours, theirs = comparison.case(agreeing.chance(case))
        assert agreeing.difference(ours, theirs) <= comparison.tolerance, (case, ours, theirs)


def test_a_difference_is_seen() -> None:
    assert agreeing.difference([1.0, 2.0], [1.0, 2.5]) == pytest.approx(0.2)
    assert agreeing.difference([1.0], [1.0, 2.0]) == float("inf")
    assert agreeing.difference([float("nan")], [1.0]) == float("inf")
