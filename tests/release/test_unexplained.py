"""Files of unknown origin: what recoding and aggregation explain passes, what they do not is taken as perturbed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import ReleaseRefused
from crypsis.masking import methods
from crypsis.privacy import models
from crypsis.release import publish
from crypsis.release.guarantees import count_unexplained_cells
from crypsis.table.files import read_table, write_table
from crypsis.table.table import Table
from test_missing_stays_missing import holed

EXPLAINED: list[tuple[str, dict[str, Any]]] = [
    ("microaggregation", {"k": 3}),
    ("microaggregation", {"k": 3, "missing": "aggregate"}),
    ("microaggregation", {"k": 3, "numbers": "mode", "categories": "mode"}),
    ("microaggregation", {"k": 3, "groups": (("age",), ("hours",))}),
    ("local-recoding", {"k": 3}),
    ("generalisation", {"k": 3, "level": 1, "suppression": 1.0}),
    ("top-coding", {"percent": 20}),
    ("bottom-coding", {"percent": 20}),
    ("global-recoding", {"depth": 2}),
    ("global-recoding", {"depth": 2, "label": "representative"}),
]
PERTURBED: list[tuple[str, dict[str, Any]]] = [
    ("rank-swapping", {"percent": 30}),
    ("noise", {"amount": 0.5}),
    ("pram", {"theta": 0.9, "form": "plain"}),
]


def test_by_hand() -> None:
    original = Table.from_columns({"age": [20, 22, 24, 40, 41, 45]}, {"age": "quasi"})

    def count(*ages: float) -> int:
        return count_unexplained_cells(original, original.with_columns({"age": np.array(ages)})).get("age", 0)

    assert count(20, 22, 24, 40, 41, 45) == 0, "as collected"
    assert count(22, 22, 22, 42, 42, 42) == 0, "means"
    assert count(22, 22, 22, 41, 41, 41) == 0, "medians"
    assert count(20, 20, 20, 40, 40, 40) == 0, "lower ends"
    assert count(20, 22, 24, 40, np.nan, np.nan) == 0, "blanked"
    assert count(22, 20, 24, 41, 40, 45) == 4, "neighbours swapped"
    assert count(20, 40, 24, 22, 41, 45) == 2, "two swapped"


@pytest.mark.parametrize(("name", "given_settings"), EXPLAINED)
@settings(max_examples=15, deadline=None)
@given(n=st.integers(12, 60), seed=st.integers(0, 2**32), share=st.sampled_from([0.0, 0.2]))
def test_recoding_and_aggregation_are_explained(
    name: str, given_settings: dict[str, Any], n: int, seed: int, share: float
) -> None:
    table = holed(n, seed, share)
    if given_settings.get("groups"):
        table = table.with_roles({"grade": "other", "town": "other"})  # type: ignore[dict-item]
    masked = methods.build(name, **given_settings).mask(table, np.random.default_rng(seed))
    assert count_unexplained_cells(table, masked) == {}


@pytest.mark.parametrize(("name", "given_settings"), PERTURBED)
@settings(max_examples=15, deadline=None)
@given(n=st.integers(40, 80), seed=st.integers(0, 2**32), share=st.sampled_from([0.0, 0.2]))
def test_perturbation_is_not(name: str, given_settings: dict[str, Any], n: int, seed: int, share: float) -> None:
    table = holed(n, seed, share)
    masked = methods.build(name, **given_settings).mask(table, np.random.default_rng(seed))
    found = count_unexplained_cells(table, masked)
    assert sum(found.values()) > 0


def coarse(n: int = 240) -> Table:
    """Columns of few values, so that classes are large whatever is swapped."""
    rng = np.random.default_rng(5)
    return Table.from_columns(
        {"grade": rng.integers(1, 4, n), "band": rng.integers(1, 4, n), "ill": rng.choice(["flu", "cold"], n).tolist()},
        {"grade": "quasi", "band": "quasi", "ill": "confidential"},
    )


def test_a_swapped_file_read_from_disk_gets_no_k(tmp_path: Path) -> None:
    original = coarse()
    swapped = methods.build("rank-swapping", percent=60).mask(original, np.random.default_rng(0))
    roles = {"grade": "quasi", "band": "quasi", "ill": "confidential"}
    path = write_table(swapped, tmp_path / "swapped.csv")
    read = read_table(path, roles=roles)  # type: ignore[arg-type]
    assert read.provenance is None
    k = models.build("k-anonymity", k=3)
    assert k.judge(read).holds, "its classes are large enough"
    with pytest.raises(ReleaseRefused, match="taken as perturbed and k-anonymity cannot protect it"):
        publish(read, tmp_path / "out", models=[k], original=original)
    assert not (tmp_path / "out").exists()
    publish(original, tmp_path / "kept", models=[k], original=original)


def test_a_recoded_file_whose_groups_were_shuffled_is_not_recoded() -> None:
    table = holed(60, 1, 0.0)
    masked = methods.build("generalisation", k=1, level=1, suppression=0.0).mask(table, np.random.default_rng(0))
    turned = masked.with_columns({"town": np.roll(masked.column("town"), 1), "age": np.roll(masked.column("age"), 1)})
    assert set(count_unexplained_cells(table, replace(turned, provenance=None))) >= {"age"}


@pytest.mark.parametrize(
    ("column", "role"), [("grade", "other"), ("grade", "confidential"), ("ill", "other"), ("ill", "quasi")]
)
def test_a_changed_role_is_refused(tmp_path: Path, column: str, role: str) -> None:
    original = coarse()
    masked = original.with_roles({column: role})  # type: ignore[dict-item]
    with pytest.raises(ReleaseRefused, match=f"'{column}' has the role .* in the original and '{role}'"):
        publish(masked, tmp_path / "out", models=[models.build("k-anonymity", k=3)], original=original)


def test_an_identifier_is_not_published_under_another_role(tmp_path: Path) -> None:
    original = coarse().with_roles({"ill": "identifier"})  # type: ignore[dict-item]
    with pytest.raises(ReleaseRefused, match="'ill' has the role 'identifier' in the original"):
        publish(coarse(), tmp_path / "out", models=[models.build("k-anonymity", k=3)], original=original)


def test_a_quasi_identifier_that_becomes_an_identifier_is_refused_in_a_sentence(tmp_path: Path) -> None:
    name = coarse().quasi_identifiers[0]
    masked = coarse().with_roles({name: "identifier"})  # type: ignore[dict-item]
    with pytest.raises(ReleaseRefused, match=f"'{name}' is a quasi-identifier in the original and an identifier"):
        publish(masked, tmp_path / "out", models=[models.build("k-anonymity", k=3)], original=coarse())
    assert not (tmp_path / "out").exists()
