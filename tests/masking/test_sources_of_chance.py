"""Where chance comes from, in every method alike: a generator, a seed or nothing."""

from __future__ import annotations

import numpy as np
import pytest

import crypsis
from crypsis.masking import methods

OF_OTHER_TABLES = {"pseudonyms", "date-shifting"}  # need a column of names, or of dates


@pytest.mark.parametrize("name", sorted(set(methods) - OF_OTHER_TABLES))
def test_a_seed_a_generator_or_nothing_is_a_source_of_chance(name: str) -> None:
    """As `numpy.random.default_rng` takes it: rng=1 of every method is that of a generator seeded with 1."""
    table = crypsis.example(120)
    first = methods.build(name).mask(table, np.random.default_rng(1))
    assert methods.build(name).mask(table, 1).fingerprint() == first.fingerprint()
    assert len(methods.build(name).mask(table)) == len(first)
