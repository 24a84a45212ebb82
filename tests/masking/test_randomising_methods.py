"""Coding, swapping, PRAM and noise: hand-sized cases, then what each promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from crypsis.errors import CrypsisError, TableError
from crypsis.masking.coding import BottomCoding, GlobalRecoding, TopCoding
from crypsis.masking.method import methods
from crypsis.masking.noise import Noise
from crypsis.masking.pram import Pram, count_pram_categories, one_parameter, two_stage, unbiased_counts
from crypsis.masking.rank_swapping import RankSwapping
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import Table

RNG = np.random.default_rng


def ordinal(codes: list[int], size: int = 4) -> Table:
    attribute = Attribute("a", Kind.ORDINAL, Role.QUASI_IDENTIFIER, tuple("abcdefgh"[:size]))
    return Table((attribute,), (np.array(codes, dtype=np.int32),))


def nominal(codes: list[int], size: int = 4) -> Table:
    table = ordinal(codes, size)
    return table.with_columns({}, attributes={"a": table.attribute("a").but(kind=Kind.NOMINAL)})


def numbers(values: list[float]) -> Table:
    return Table((Attribute("x", Kind.NUMERIC, Role.QUASI_IDENTIFIER),), (np.array(values),))


def test_top_and_bottom_coding_by_hand() -> None:
    table = ordinal([0, 1, 2, 3, -1])
    assert TopCoding(depth=1).mask(table, RNG(0)).column("a").tolist() == [0, 1, 2, 2, -1]
    assert BottomCoding(depth=2).mask(table, RNG(0)).column("a").tolist() == [2, 2, 2, 3, -1]
    assert TopCoding(depth=9).mask(table, RNG(0)).column("a").tolist() == [0, 0, 0, 0, -1]


def test_end_coding_of_numbers_cuts_at_an_observed_value() -> None:
    table = numbers([1.0, 2, 3, 4, 5, 6, 7, 8, 9, 100, np.nan])
    top = TopCoding(percent=10).mask(table, RNG(0)).column("x")
    assert np.nanmax(top) == 9
    assert np.isnan(top[-1])
    assert np.nanmin(BottomCoding(percent=25).mask(table, RNG(0)).column("x")) == 4


def test_global_recoding_of_the_rarest_by_hand() -> None:
    table = nominal([0, 0, 0, 1, 2, 2, 3, -1])  # counts 3, 1, 2, 1: b and d are the rarest
    masked = GlobalRecoding(depth=1).mask(table, RNG(0))
    assert masked.labels("a") == ("a", "other", "c"), "one record each: neither is named"
    assert masked.column("a").tolist() == [0, 0, 0, 1, 2, 2, 1, -1]
    stands = GlobalRecoding(depth=1, label="representative").mask(table, RNG(0))
    assert stands.column("a").tolist() == [0, 0, 0, 1, 2, 2, 1, -1]
    assert stands.labels("a") == table.labels("a")


def test_a_merged_label_names_those_whom_many_hold() -> None:
    table = nominal([0] * 9 + [1] * 3 + [2] * 5 + [3] * 2)
    assert GlobalRecoding(depth=2).mask(table, RNG(0)).labels("a") == ("a", "b | c | other")
    assert GlobalRecoding(depth=1).mask(table, RNG(0)).labels("a") == ("a", "b | other", "c")
    often = nominal([0] * 9 + [1] * 3 + [2] * 5 + [3] * 4)
    assert GlobalRecoding(depth=1).mask(often, RNG(0)).labels("a") == ("a", "b | d", "c")


def test_global_recoding_of_neighbours_by_hand() -> None:
    table = ordinal([0, 0, 0, 1, 2, 3, 3, 3])  # the rarest neighbours are b and c
    masked = GlobalRecoding(depth=1).mask(table, RNG(0))
    assert masked.labels("a") == ("a", "other", "d")
    assert masked.column("a").tolist() == [0, 0, 0, 1, 1, 2, 2, 2]


def test_rank_swapping_keeps_values_and_distance_of_ranks() -> None:
    values = RNG(3).permutation(200).astype(float)
    values[5] = np.nan
    masked = RankSwapping(percent=7).mask(numbers(values.tolist()), RNG(1)).column("x")
    assert np.isnan(masked[5])
    present = ~np.isnan(values)
    assert sorted(masked[present]) == sorted(values[present])
    ranks = stats.rankdata(values[present])
    new_ranks = stats.rankdata(masked[present])
    assert np.abs(ranks - new_ranks).max() <= 0.07 * 199
    assert (masked[present] != values[present]).mean() > 0.9


def test_rank_swapping_of_an_ordinal_column_keeps_its_counts() -> None:
    codes = RNG(0).integers(0, 4, 100).tolist()
    masked = RankSwapping(percent=30).mask(ordinal(codes), RNG(1)).column("a")
    assert np.bincount(masked).tolist() == np.bincount(codes).tolist()


def test_one_parameter_pram_by_hand() -> None:
    # T = (4, 2, 2), θ = 0.5: least = 2. Row 0: stay 1 − 0.5·2/4 = 0.75, move 0.5·2/(2·4) = 0.125 each.
    matrix = one_parameter(0.5, np.array([4.0, 2.0, 2.0]))
    assert np.allclose(matrix, [[0.75, 0.125, 0.125], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
    assert np.allclose(np.array([4, 2, 2]) @ matrix, [4, 2, 2])


@pytest.mark.parametrize("seed", range(20))
def test_both_invariant_forms_are_invariant_and_markov(seed: int) -> None:
    rng = RNG(seed)
    frequencies = rng.integers(0, 9, 5).astype(float)
    frequencies[0] += 1
    for matrix in (one_parameter(0.9, frequencies), two_stage(rng.dirichlet(np.ones(5), 5), frequencies, 0.7)):
        assert np.allclose(matrix.sum(axis=1), 1)
        assert (matrix >= 0).all()
        assert np.allclose(frequencies @ matrix, frequencies)
        unused = np.flatnonzero(frequencies == 0)
        assert np.allclose(matrix[unused], np.eye(5)[unused])


def test_invariant_pram_keeps_frequencies_in_expectation() -> None:
    """Chi-square over 200 independent maskings; false alarm rate 1 in 10 000, with a fixed seed it is a constant."""
    codes = np.repeat([0, 1, 2, 3], [40, 30, 20, 10]).tolist()
    table = ordinal(codes)
    rng = RNG(11)
    total = np.zeros(4)
    for _ in range(200):
        total += np.bincount(Pram(theta=0.8).mask(table, rng).column("a"), minlength=4)
    expected = 200 * np.array([40.0, 30, 20, 10])
    assert stats.chisquare(total, expected).pvalue > 1e-4


def test_correction_recovers_the_original_frequencies() -> None:
    table = ordinal(np.repeat([0, 1, 2, 3], [4000, 3000, 2000, 1000]).tolist())
    method = Pram(theta=0.4, form="plain")
    masked = method.mask(table, RNG(5))
    estimate = unbiased_counts(count_pram_categories(masked, "a"), method.matrix(table, "a"))
    assert np.abs(count_pram_categories(masked, "a") - [4000, 3000, 2000, 1000]).max() > 300  # plain PRAM is biased
    assert np.abs(estimate - [4000, 3000, 2000, 1000]).max() < 150
    exact = unbiased_counts(np.array([4000.0, 3000, 2000, 1000]) @ method.matrix(table, "a"), method.matrix(table, "a"))
    assert np.allclose(exact, [4000, 3000, 2000, 1000])


def test_a_given_matrix_is_used() -> None:
    swap = ((0.0, 1.0), (1.0, 0.0))
    masked = Pram(form="plain", matrices={"a": swap}).mask(ordinal([0, 1, 1, -1], 2), RNG(0))
    assert masked.column("a").tolist() == [1, 0, 0, -1]


def test_noise_has_the_asked_amount_and_correlation() -> None:
    rng = RNG(0)
    base = rng.standard_normal(20_000)
    values = np.stack([base, 0.9 * base + np.sqrt(1 - 0.81) * rng.standard_normal(20_000), np.ones(20_000)], axis=1)
    attributes = tuple(Attribute(n, Kind.NUMERIC, Role.QUASI_IDENTIFIER) for n in "xyc")
    table = Table(attributes, tuple(values.T.copy()))
    plain = Noise(amount=0.5).mask(table, RNG(1)).numbers("xyc") - values
    tied = Noise(amount=0.5, correlated=True).mask(table, RNG(1)).numbers("xyc") - values
    assert np.allclose(plain.std(axis=0), [0.5, 0.5, 0], atol=0.02)
    assert abs(np.corrcoef(plain[:, 0], plain[:, 1])[0, 1]) < 0.03
    assert abs(np.corrcoef(tied[:, 0], tied[:, 1])[0, 1] - 0.9) < 0.01
    assert np.allclose(tied[:, 2], 0)


@pytest.mark.parametrize(
    ("name", "settings", "table", "words"),
    [
        ("rank-swapping", {"columns": ("a",)}, nominal([0, 1]), "needs an order"),
        ("top-coding", {"columns": ("a",)}, nominal([0, 1]), "needs an order"),
        ("pram", {"columns": ("x",)}, numbers([1, 2]), "choose noise"),
        ("noise", {"columns": ("a",)}, nominal([0, 1]), "choose PRAM"),
        ("noise", {}, nominal([0, 1]), "no quasi-identifier is numeric"),
        ("noise", {"correlated": True}, numbers([1, np.nan]), "'x' has missing values"),
        ("pram", {"matrices": {"a": ((1.0,),)}}, nominal([0, 1]), "4 categories and its matrix 1 rows"),
    ],
)
def test_refusals(name: str, settings: dict[str, object], table: Table, words: str) -> None:
    with pytest.raises(TableError, match=words):
        methods.build(name, **settings).mask(table, RNG(0))


@pytest.mark.parametrize("rows", [((0.5, 0.6), (0.5, 0.5)), ((1.0,), (0.5, 0.5)), ((1.5, -0.5), (0.0, 1.0))])
def test_a_matrix_that_is_not_markov_is_refused(rows: tuple[tuple[float, ...], ...]) -> None:
    with pytest.raises(CrypsisError, match="matri"):
        methods.build("pram", matrices={"a": rows})


def test_one_record_and_all_missing_survive() -> None:
    for table in (ordinal([2]), ordinal([-1, -1])):
        for method in (TopCoding(), BottomCoding(), GlobalRecoding(), RankSwapping(), Pram()):
            assert method.mask(table, RNG(0)).column("a").tolist() == method.mask(table, RNG(0)).column("a").tolist()
