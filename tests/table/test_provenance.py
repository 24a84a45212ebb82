"""A masked table knows how it was masked, however it is passed on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crypsis.errors import ReleaseRefused
from crypsis.masking import Microaggregation, RankSwapping
from crypsis.privacy import KAnonymity
from crypsis.release import ReleaseDescription, publish
from crypsis.table.attribute import Role
from crypsis.table.example import example

TABLE = example(80, seed=3)
MASK = Microaggregation(k=5)


def test_steps_are_written_in_order_with_the_original_they_began_from() -> None:
    rng = np.random.default_rng(1)
    swapped = RankSwapping(columns=("age",), percent=20).mask(TABLE, rng)
    both = MASK.mask(swapped, rng)
    assert TABLE.provenance is None
    assert both.provenance is not None
    assert both.provenance.source == TABLE.fingerprint()
    assert both.provenance.roles["age"] == "quasi"
    assert [step.method for step in both.provenance.steps] == ["rank-swapping", "microaggregation"]
    assert both.provenance.family == "perturbation"
    assert MASK.mask(TABLE, rng).provenance.family == "aggregation"  # type: ignore[union-attr]
    assert both.drop(["person"]).take(np.arange(5)).provenance == both.provenance


def test_it_makes_no_difference_to_the_values() -> None:
    masked = MASK.mask(TABLE, np.random.default_rng(1))
    assert masked.fingerprint() == MASK.apply(TABLE, np.random.default_rng(1)).fingerprint()


def test_a_perturbed_table_gets_no_class_size_guarantee_whatever_is_claimed(tmp_path: Path) -> None:
    swapped = RankSwapping(columns=("age",), percent=20).mask(TABLE, np.random.default_rng(1))
    masked = MASK.mask(swapped, np.random.default_rng(1))
    claimed = ReleaseDescription("Survey", "Grouped.", "aggregation")
    with pytest.raises(ReleaseRefused, match="cannot protect a perturbed file"):
        publish(masked, tmp_path / "out", models=[KAnonymity(k=5)], description=claimed)
    assert not (tmp_path / "out").exists()


def test_a_quasi_identifier_cannot_escape_by_another_role(tmp_path: Path) -> None:
    masked = MASK.mask(TABLE, np.random.default_rng(1)).with_roles({"age": Role.OTHER})
    with pytest.raises(ReleaseRefused, match="'age' has the role 'quasi' in the original and 'other'"):
        publish(masked, tmp_path / "out", models=[KAnonymity(k=5)], original=TABLE)
    assert not (tmp_path / "out").exists()
