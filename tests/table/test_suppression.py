"""Which classes are left out: by hand, by plain counting, and by the compiled code that repeats the rule."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import PlanError, TableError
from crypsis.kernels.nodes import BY_SIZE, DEMANDED, STRICTEST
from crypsis.masking.generalisation import generalise
from crypsis.searches.pbg_ea.evaluation import prepare_lattice_evaluation
from crypsis.table import suppression as module
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.lattice import Lattice
from crypsis.table.suppression import allowed_records, code_of_suppression_rule, share_for, suppress
from crypsis.table.table import Table
from lattice_tables import tables
from naive.equivalence_classes import by_size, group_by, strictest_l

SIZES, DISTINCT = np.array([4, 2, 5, 6]), np.array([1, 4, 2, 3])


def test_the_examples_run() -> None:
    assert doctest.testmod(module).failed == 0


def test_by_hand() -> None:
    """k = 3 costs the class of two, k = 5 the class of four as well; l = 2 costs the class of four."""
    found = suppress(SIZES, DISTINCT, "by-size", 5)
    assert (found.left_out.tolist(), found.records) == ([False, True, False, False], 2)
    assert suppress(SIZES, DISTINCT, "by-size", 6).left_out.tolist() == [True, True, False, False]


def test_a_demand_decides_alone_where_failing_classes_go() -> None:
    assert suppress(SIZES, DISTINCT, "failing-class", 17, k=4).left_out.tolist() == [False, True, False, False]
    assert suppress(SIZES, DISTINCT, "failing-class", 17, l=2).left_out.tolist() == [True, False, False, False]
    assert suppress(SIZES, DISTINCT, "failing-class", 17, 3, 2).left_out.tolist() == [True, True, False, False]
    assert suppress(SIZES, DISTINCT, "failing-class", 0, k=1).records == 0


def test_without_a_demand_the_strictest_k_and_then_l() -> None:
    """Two records pay for k = 4; with six k = 5 is paid; eleven leave nothing below the largest class."""
    assert suppress(SIZES, DISTINCT, "failing-class", 2).left_out.tolist() == [False, True, False, False]
    assert suppress(SIZES, DISTINCT, "failing-class", 6).left_out.tolist() == [True, True, False, False]
    assert suppress(SIZES, np.array([2, 4, 1, 3]), "failing-class", 7).left_out.tolist() == [True, True, False, False]
    sizes, distinct = np.array([5, 5, 5]), np.array([1, 2, 3])
    assert suppress(sizes, distinct, "failing-class", 4).records == 0
    assert suppress(sizes, distinct, "failing-class", 5).left_out.tolist() == [True, False, False]


def test_a_demand_is_added_to_what_goes_by_size() -> None:
    assert suppress(SIZES, DISTINCT, "by-size", 2, k=3).left_out.tolist() == [False, True, False, False]
    assert suppress(SIZES, DISTINCT, "by-size", 6, l=2).left_out.tolist() == [True, True, False, False]
    with pytest.raises(TableError, match="k = 5 at these levels suppresses 6 of 17 records and the limit allows 2"):
        suppress(SIZES, DISTINCT, "by-size", 2, k=5)


def test_more_than_the_limit_is_refused_with_a_limit_that_suffices() -> None:
    with pytest.raises(TableError, match=r"k = 5 and l = 3 .* 11 of 17 .* allows 10; .* the limit to 0\.6471$"):
        suppress(SIZES, DISTINCT, "failing-class", 10, 5, 3)
    assert allowed_records(0.6471, 17) == 11
    assert suppress(SIZES, DISTINCT, "failing-class", 11, 5, 3).records == 11


def test_nothing_to_suppress() -> None:
    nothing = np.empty(0, dtype=np.int64)
    for rule in ("by-size", "failing-class"):
        found = suppress(nothing, nothing, rule, 0)
        assert (found.left_out.tolist(), found.records) == ([], 0)


def test_shares_of_records() -> None:
    assert [allowed_records(share, 100) for share in (0, 0.01, 0.29, 0.999, 1)] == [0, 1, 29, 99, 100]
    for share in (-0.01, 1.01):
        with pytest.raises(PlanError, match="lies between 0 and 1"):
            allowed_records(share, 100)


@given(st.integers(1, 5000), st.integers(0, 5000))
def test_the_share_named_suffices_and_no_smaller_step_does(records: int, suppressed: int) -> None:
    suppressed = min(suppressed, records)
    share = share_for(suppressed, records)
    assert allowed_records(share, records) >= suppressed
    assert suppressed == 0 or allowed_records(share - 0.0001, records) < suppressed


def test_numbers_of_the_rules() -> None:
    assert [code_of_suppression_rule("by-size", demanded) for demanded in (False, True)] == [BY_SIZE, BY_SIZE]
    assert [code_of_suppression_rule("failing-class", demanded) for demanded in (False, True)] == [STRICTEST, DEMANDED]
    with pytest.raises(PlanError, match=r"no suppression rule 'by-sise'.*'by-size'"):
        code_of_suppression_rule("by-sise")


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=20),
    st.sampled_from(["by-size", "failing-class"]),
    st.integers(0, 20),
)
def test_without_a_demand_equal_to_plain_counting(records: list[tuple[int, int]], rule: str, limit: int) -> None:
    rows, values = [row for row, _ in records], [value for _, value in records]
    classes = group_by(rows)
    k = by_size(classes, limit)
    least = strictest_l(classes, values, k, limit) if rule == "failing-class" else 0
    members = [classes[row] for row in sorted(classes)]
    distinct = [len({values[record] for record in each}) for each in members]
    found = suppress(np.array([len(each) for each in members]), np.array(distinct), rule, limit)
    assert found.left_out.tolist() == [
        len(each) < k or held < least for each, held in zip(members, distinct, strict=True)
    ]
    assert found.records <= limit


@settings(max_examples=80, deadline=None)
@given(
    tables,
    st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    st.sampled_from(["by-size", "failing-class"]),
    st.integers(0, 5),
    st.integers(0, 3),
    st.integers(0, 10**6),
)
def test_compiled_code_leaves_out_the_same_classes(
    table: Table, share: float, rule: str, k: int, diversity: int, pick: int
) -> None:
    """A demand with `by-size` is judged by the caller of the compiled code, so it is not asked for here."""
    lattice = Lattice.of(table)
    levels = lattice.levels(pick % lattice.size)
    if rule == "by-size":
        k, diversity = 0, 0
    classes = classes_of(generalise(table, lattice, levels), lattice.names)
    distinct, allowance = classes.contents(table.codes(["illness"])[:, 0]).distinct, allowed_records(share, len(table))
    context = prepare_lattice_evaluation(table, lattice, "illness", None, False)
    read = context.judge_node(levels, code_of_suppression_rule(rule, bool(k or diversity)), allowance, k, diversity)
    try:
        found = suppress(classes.sizes, distinct, rule, allowance, k, diversity)
    except TableError:
        assert read.suppressed[0] > allowance
        return
    stay = ~found.left_out
    assert (read.suppressed[0], read.classes[0]) == (found.records, stay.sum())
    assert read.k[0] == classes.sizes[stay].min(initial=10**9 if stay.any() else 0)
    assert read.l[0] == distinct[stay].min(initial=10**9 if stay.any() else 0)
