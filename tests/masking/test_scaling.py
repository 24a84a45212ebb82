"""Records as points: categories placed by their counts have the bits of their coordinates, centred and divided."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.masking.scaling import FAR, embed
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import Table


def placed(column: np.ndarray, categories: int, z: bool) -> np.ndarray:
    """One coordinate for each category, by its definition, and one more for missing values if there are some."""
    part = (column[:, None] == np.arange(categories)) / np.sqrt(2.0)
    held = part[column >= 0]
    centre = held.mean(axis=0)
    deviation = np.sqrt(np.mean(np.sum((held - centre) ** 2, axis=1))) if z else 1.0
    found = np.where(column[:, None] < 0, 0.0, part - centre) / deviation
    return np.hstack([found, (column[:, None] < 0) * FAR / deviation]) if (column < 0).any() else found


@pytest.mark.parametrize("rows", [9, 130, 4097])
@pytest.mark.parametrize("categories", [2, 3, 8])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("scaling", ["z", "none"])
def test_categories_lie_where_their_definition_says(rows: int, categories: int, missing: float, scaling: str) -> None:
    rng = np.random.default_rng(rows + categories)
    column = np.append([0, 1], rng.integers(0, categories, rows - 2)).astype(np.int32)
    column[2:][rng.random(rows - 2) < missing] = -1
    names = tuple(f"c{place}" for place in range(categories))
    table = Table((Attribute("a", Kind.NOMINAL, Role.QUASI_IDENTIFIER, names),), (column,))
    assert np.array_equal(embed(table, ["a"], scaling), placed(column, categories, scaling == "z"))  # type: ignore[arg-type]
