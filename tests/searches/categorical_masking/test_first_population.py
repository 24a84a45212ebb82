"""Populations of the paper's sizes, and of a user's own making."""

from __future__ import annotations

import numpy as np
import pytest

from categories import table
from crypsis.errors import PlanError
from crypsis.masking import GlobalRecoding, RankSwapping, TopCoding
from crypsis.searches.categorical_masking.first_population import PaperFamilies, build_population
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import Table

COLUMNS = ("a", "b", "c")


def original():
    return table(np.random.default_rng(0).integers(0, [6, 5, 7], (80, 3)), [6, 5, 7], [True, True, True])


@pytest.mark.parametrize("largest, depths, size", [(13, 4, 104), (13, 6, 110), (9, 6, 86)])
def test_the_paper_s_sizes(largest, depths, size):
    assert len(PaperFamilies(largest_k=largest, depths=depths).methods(original(), COLUMNS)) == size


def test_a_population_is_masked_files_with_names():
    rng = np.random.default_rng(1)
    made = PaperFamilies(largest_k=3, depths=2, swappings=2, prams=2).methods(original(), COLUMNS)
    population = build_population(original(), made, rng)
    assert len(population) == 12 + 6 + 2 + 2
    assert population.names[0].startswith("microaggregation k=2")
    assert "rank-swapping" in population.names[-3]
    assert all(file.rows == 80 for file in population.files)
    assert len(set(population.names)) >= len(population) - 1
    again = build_population(original(), made, np.random.default_rng(1))
    assert [f.fingerprint() for f in again.files] == [f.fingerprint() for f in population.files]


def test_two_columns_have_no_pair_and_rest():
    assert len(PaperFamilies(largest_k=2, depths=0, swappings=0, prams=0).methods(original(), ("a", "b"))) == 4


def test_a_population_needs_a_method():
    with pytest.raises(PlanError, match="no masking method"):
        build_population(original(), [], np.random.default_rng(0))


def test_percents_of_swappings_and_shares_of_codings_by_hand():
    families = PaperFamilies(largest_k=2, depths=4, swap_step=1.0, coding="share")
    made = families.methods(original(), COLUMNS)
    assert [m.percent for m in made if isinstance(m, RankSwapping)] == list(range(1, 12))
    assert [m.share for m in made if isinstance(m, TopCoding)] == [0.2, 0.4, 0.6, 0.8]
    usual = PaperFamilies(largest_k=2, depths=4).methods(original(), COLUMNS)
    assert [m.percent for m in usual if isinstance(m, RankSwapping)] == [5.0 * step for step in range(1, 12)]


def test_a_share_of_the_categories_folds_long_orders_further_by_hand():
    long, short = tuple("abcdefghij"), ("x", "y", "z")
    table = Table(
        (
            Attribute("long", Kind.ORDINAL, Role.QUASI_IDENTIFIER, long),
            Attribute("short", Kind.ORDINAL, Role.QUASI_IDENTIFIER, short),
        ),
        (np.arange(10, dtype=np.int32), np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0], dtype=np.int32)),
    )
    masked = TopCoding(share=0.4).mask(table, np.random.default_rng(0))
    assert masked.column("long").tolist() == [0, 1, 2, 3, 4, 5, 6, 6, 6, 6]
    assert masked.column("short").tolist() == [0, 1, 1, 0, 1, 1, 0, 1, 1, 0]
    assert TopCoding(depth=3).mask(table, np.random.default_rng(0)).column("short").tolist() == [0] * 10
    merged = GlobalRecoding(share=0.4, label="representative").mask(table, np.random.default_rng(0))
    assert len(set(merged.column("long").tolist())) == 7
