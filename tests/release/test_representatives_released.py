"""Whatever stands for a group is released, read back and verified."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crypsis.masking.microaggregation import Microaggregation
from crypsis.masking.representatives import CATEGORIES, Representative
from crypsis.measures.information_loss import CellLoss
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.privacy.anonymity import KAnonymity
from crypsis.release import publish, verify
from crypsis.table.example import example


@pytest.mark.parametrize("numbers", ["mean", "spread"])
@pytest.mark.parametrize("categories", [each.value for each in CATEGORIES if each is not Representative.MEDIAN])
def test_from_groups_to_a_verified_release(numbers: str, categories: str, tmp_path: Path) -> None:
    original = example(300, seed=5)
    original = original.drop(["person", "income"])
    method = Microaggregation(k=4, scaling="range", numbers=numbers, categories=categories)
    masked = method.mask(original, np.random.default_rng(0))
    assert 0 < CellLoss().against(original).read(masked) < 100
    assert 0 < RecordLinkage().against(original).read(masked) <= 100
    folder = publish(masked, tmp_path / "out", models=[KAnonymity(k=4)], original=original)
    found = verify(folder)
    assert found.sound, found.problems
