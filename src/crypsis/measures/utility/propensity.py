"""General utility by propensity scores (pMSE): can a model tell the released file from the original?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.kernels.arrays import Floats, Ints
from crypsis.measures.categories import number_masked_categories
from crypsis.measures.measure import (
    Aim,
    BoundColumns,
    Measure,
    Reading,
    check_measured_rows,
    measures,
    numbers_that_measures_read,
    sample_records_to_measure,
    sample_setting,
)
from crypsis.measures.spreading import ELSEWHERE, Axis
from crypsis.measures.utility.estimates import fit_labelled_estimates, fit_logistic_estimates
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import LOCAL, Table

LEVELS = 20
"""Values of a category that are told apart; rarer ones count with the commonest, which has no column of its own."""
TERMS = 150
"""Largest number of columns with squares and products of pairs."""
PER_TERM = 10
"""Records of both files for each such column: with fewer, a model tells any two files apart."""


@dataclass(frozen=True)
class PropensityDesign:
    """Columns of a file: float64[n, q], the attribute of each, and whether it is a number."""

    values: Floats
    owner: tuple[int, ...]
    numeric: tuple[bool, ...]


def paired_design(
    original: Table, masked: Table, names: tuple[str, ...], rows: Ints
) -> tuple[PropensityDesign, PropensityDesign]:
    """Both files in the same columns, suppressed records of the second as they stand.

    `original`, `masked`: row by row the same records; `rows` int64[m].
    """
    first, last, owner, numeric = list[Floats](), list[Floats](), list[int](), list[bool]()
    for place, name in enumerate(names):
        if original.holds_numbers(name):
            a, b = _number(finite_numbers_of_frame(original, name)[rows], _as_published(masked, name)[rows])
        else:
            a, b = _category(original, masked, name, rows)
        first.append(a)
        last.append(b)
        owner += [place] * a.shape[1]
        numeric += [original.holds_numbers(name) and each == 0 for each in range(a.shape[1])]
    before, after = np.concatenate(first, axis=1), np.concatenate(last, axis=1)
    return PropensityDesign(before, tuple(owner), tuple(numeric)), PropensityDesign(after, tuple(owner), tuple(numeric))


def pair_terms(before: PropensityDesign, after: PropensityDesign) -> tuple[PropensityDesign, PropensityDesign]:
    """Squares of numbers and products of columns of two attributes beside them.

    At most `TERMS` columns, and one for every `PER_TERM` records; numbers come first, then common categories; of these
    the products that vary most, whatever the order of the columns.
    """
    both = np.concatenate([before.values, after.values])
    centre, scale = both.mean(axis=0), both.std(axis=0)
    scale = np.where(scale > 1e-12, scale, 1.0)
    weight = np.round(np.where(before.numeric, 1.0, scale), 9)
    z = (both - centre) / scale
    spread = np.round((z**2).T @ z**2 / len(z) - (z.T @ z / len(z)) ** 2, 9)
    pairs = [(i, i) for i, number in enumerate(before.numeric) if number]
    pairs += [(i, j) for i, j in combinations(range(both.shape[1]), 2) if before.owner[i] != before.owner[j]]
    pairs.sort(key=lambda pair: (-weight[pair[0]] * weight[pair[1]], pair[0] != pair[1], -spread[pair], pair))
    pairs = pairs[: max(min(TERMS, len(both) // PER_TERM) - both.shape[1], 0)]
    return _with(before, pairs, centre, scale), _with(after, pairs, centre, scale)


def _with(side: PropensityDesign, pairs: list[tuple[int, int]], centre: Floats, scale: Floats) -> PropensityDesign:
    z = (side.values - centre) / scale
    products = [z[:, i] * z[:, j] for i, j in pairs]
    values = np.concatenate([z, *(each[:, None] for each in products)], axis=1)
    return PropensityDesign(
        values, (*side.owner, *(side.owner[i] for i, _ in pairs)), (*side.numeric, *(False for _ in pairs))
    )


def _as_published(masked: Table, name: str) -> Floats:
    """Numbers as published; suppressed records too, which are left out later."""
    return np.where(masked.kept, numbers_that_measures_read(masked, name), np.nan)


def _number(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    held = np.concatenate([before, after])
    held = held[~np.isnan(held)]
    mean = float(held.mean()) if held.size else 0.0
    sides = []
    for values in (before, after):
        absent = np.isnan(values)
        sides.append(np.stack([np.where(absent, mean, values), absent.astype(np.float64)], axis=1))
    keep = [True, bool(sides[0][:, 1].any() or sides[1][:, 1].any())]
    return sides[0][:, keep], sides[1][:, keep]


def _category(original: Table, masked: Table, name: str, rows: Ints) -> tuple[Floats, Floats]:
    """A column for each common value but the commonest; rarer ones share the rest; groups as equal shares."""
    level = masked.level(name)
    hierarchy = masked.attribute(name).hierarchy
    before = original.column(name).astype(np.int64)
    if level not in (0, LOCAL) and hierarchy is not None:
        before = hierarchy.lift(original.leaf_codes(name), level).astype(np.int64)
    if level == LOCAL:
        cells = _common(before[rows], before[rows])
        return _dummies(before[rows], cells), _spread_cells(original, masked, name, cells)[rows]
    after = (number_masked_categories(original, masked, name)[0] if level == 0 else masked.column(name)).astype(
        np.int64
    )
    cells = _common(before[rows], after[rows])
    return _dummies(before[rows], cells), _dummies(after[rows], cells)


def _common(before: Ints, after: Ints) -> Ints:
    """The commonest values of both files together, without the very commonest."""
    values, counts = np.unique(np.concatenate([before, after]), return_counts=True)
    return values[np.argsort(-counts, kind="stable")][1:LEVELS]


def _dummies(codes: Ints, cells: Ints) -> Floats:
    """One column for each cell."""
    return np.asarray((codes[:, None] == cells[None, :]).astype(np.float64))


def _spread_cells(original: Table, masked: Table, name: str, cells: Ints) -> Floats:
    """The share of each cell in what a locally recoded record publishes."""
    design = np.zeros((masked.rows, len(cells)))
    for codes, wanted, share in Axis.of(original, name, 2).readings(original, masked, cells):
        here = (codes[:, None] == wanted[None, :]) & (codes[:, None] != ELSEWHERE)
        design += np.where(here, share[:, None], 0.0)
    return np.where(cells[None, :] == MISSING, (masked.column(name) == MISSING)[:, None], design)


# -- General utility by propensity scores (pMSE): can a model tell the released file from the original?

Model = Literal["main", "pairs", "cart"]

LEAF = 0.05
"""Smallest leaf of a tree, as a share of the records of one file."""
SWAPS = 20
"""Random exchanges of records by which the expectation without any masking is found."""
SHARE_OF_SWAPS = 0x70736D65
"""Seed of these exchanges: the null distribution is part of the definition, not of chance."""
_MISSING = (
    "a missing number is the mean and has a column of its own; a missing category is a category; suppressed records "
    "are left out of the released side"
)


@dataclass(frozen=True)
class PropensityScore:
    """pMSE of a masked file, and what is expected where the two files differ by chance only.

    Attributes
    ----------
    model : {"main", "pairs", "cart"}
        What tells the files apart.
    value : float
        Mean squared distance of the propensity scores from the released share, 0 to share · (1 − share).
    largest : float
        That upper bound: every record is told apart.
    null_mean, null_deviation : float
        Mean and standard deviation of the same figure after x and x' of each record were exchanged at random.
    parameters : int
        Columns of the design with the constant; leaves of a tree.
    records : int
        Records of both files that were used.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> score = crypsis.propensity_score(original, masked, ("x", "y"), "main")
    >>> round(score.value, 6), score.largest
    (0.0, 0.25)
    """

    model: Model
    value: float
    largest: float
    null_mean: float
    null_deviation: float
    parameters: int
    records: int

    @property
    def standardised(self) -> float | None:
        """Distance from the null expectation in standard deviations; None where the null does not vary."""
        return (self.value - self.null_mean) / self.null_deviation if self.null_deviation > 1e-15 else None


def _tree_scores(design: Floats, label: Floats, leaf: int) -> tuple[Floats, int]:
    """Share of the label in the leaf of each record of a classification tree, and the number of leaves.

    `design` float64[N, q]; `label` float64[N]; returns float64[N].
    """
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise TableError(
            'a tree needs scikit-learn, which is not installed; pip install "crypsis[sklearn]", or choose another model'
        ) from None
    tree = DecisionTreeClassifier(min_samples_leaf=max(leaf, 1), random_state=0).fit(design, label)
    return np.asarray(tree.predict_proba(design)[:, -1]), int(tree.get_n_leaves())


def pmse(model: Model, before: Floats, after: Floats) -> tuple[float, int]:
    """Mean squared distance of the propensity scores from the share of the second file, and the size of the model.

    Woo, Reiter, Oganian and Karr (2009); Snoke, Raab, Nowok, Dibben and Slavkovic (2018).

    `before`, `after` float64[n, q].
    """
    design = np.concatenate([before, after])
    label = np.repeat([0.0, 1.0], [len(before), len(after)])
    share = len(after) / len(design)
    if model == "cart":
        scores, parameters = _tree_scores(design, label, round(LEAF * len(before)))
    else:
        scores, parameters = logistic_propensity_scores(design, label), int((design.std(axis=0) > 1e-12).sum()) + 1
    return float(((scores - share) ** 2).mean()), parameters


def propensity_score(
    original: Table,
    masked: Table,
    names: tuple[str, ...],
    model: Model = "pairs",
    sample: int = 2000,
    swaps: int = SWAPS,
) -> PropensityScore:
    """pMSE with its null expectation by exchanging records.

    Parameters
    ----------
    original, masked : Table
        Row by row the same records.
    names : tuple of str
        The columns.
    model : {"main", "pairs", "cart"}
        Logistic regression on the columns, or also on squares and products of pairs, or a classification tree.
    sample : int
        Largest number of records, taken at equal distances.
    swaps : int
        Random exchanges.

    Returns
    -------
    PropensityScore

    Raises
    ------
    TableError
        If no record is released, or a tree is asked for without scikit-learn.

    Notes
    -----
    Row i of a masked file masks row i, so the usual null of two independent samples does not hold: a file equal to the
    original would be better than expected. Here x and x' of each record are exchanged with probability 1/2.

    Examples
    --------
    >>> people = crypsis.example(100)
    >>> crypsis.propensity_score(people, people, ("age", "sex")).value
    0.0
    """
    before, after, both = _sides(original, masked, names, model, sample)
    value, parameters = pmse(model, before, after)
    nulls = _nulls(model, before, after, both, swaps)
    share = len(after) / (len(before) + len(after))
    return PropensityScore(
        model,
        0.0 if value < 1e-12 else value,
        share * (1 - share),
        float(np.mean(nulls)) if len(nulls) else 0.0,
        float(np.std(nulls, ddof=1)) if len(nulls) > 1 else 0.0,
        parameters,
        len(before) + len(after),
    )


def _nulls(model: Model, before: Floats, after: Floats, both: NDArray[np.bool_], swaps: int) -> Floats:
    """pMSE after random exchanges of the two versions of records that both files hold: their labels trade places."""
    if not swaps:
        return np.empty(0)
    rng = np.random.default_rng(SHARE_OF_SWAPS)
    design, rows = np.concatenate([before, after]), np.flatnonzero(both)
    labels = np.repeat([0.0, 1.0], [len(before), len(after)])[:, None].repeat(swaps, axis=1)
    for label in labels.T:
        pairs = np.flatnonzero(rng.random(len(both)) < 0.5)
        pairs = pairs[both[pairs]]
        label[pairs], label[len(before) + np.searchsorted(rows, pairs)] = 1.0, 0.0
    if model == "cart":
        leaf = round(LEAF * len(before))
        scores = np.stack([_tree_scores(design, label, leaf)[0] for label in labels.T], axis=1)
    else:
        scores = fit_labelled_estimates(design, labels)
    return np.asarray(((scores - len(after) / len(design)) ** 2).mean(axis=0))


def _sides(
    original: Table, masked: Table, names: tuple[str, ...], model: Model, sample: int
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Both files as numbers, without suppressed records on the second side; and which records both sides hold."""
    check_measured_rows(len(original), masked)
    rows = sample_records_to_measure(len(original), sample)
    kept = masked.kept[rows]
    if not kept.any():
        raise TableError("no record is released, so nothing can be told apart; release some records")
    before, after = paired_design(original, masked, names, rows)
    if model == "pairs":
        before, after = pair_terms(before, after)
    return before.values, after.values[kept], kept


@measures.add("propensity")
class Propensity(Measure):
    """How well a model tells released records from original ones.

    100 times the mean squared distance of the propensity scores from the share of released records, as a part of its
    largest value: 0 where no record can be told apart, 100 where every one can. The scores are fitted by a logistic
    regression on the columns (main), also on squares and products of pairs (pairs), or by a classification tree (cart);
    at most 20 values of a category count by themselves, and products are added while ten records stand for a column.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> crypsis.Propensity(model="main").against(original).read(masked)
    0.0

    Notes
    -----
    - Formula: 100 · mean (p − c)² / (c (1 − c)), c the share of released records
    - Paper: Woo, Reiter, Oganian and Karr (2009); Snoke et al. (2018)
    - Cost: O(N q²) per Newton step, q columns of the design
    - Departures: null expectation by exchanging x and x' of each record; a ridge of 1e-6; sampled records
    """

    aim: ClassVar[Aim] = "loss"
    row_wise: ClassVar[bool] = False

    model: Model = Field(default="pairs", description="main or pairs: logistic regression; cart: classification tree")
    sample: int = sample_setting(least=10, tried=12)

    def against(self, original: Table) -> BoundPropensity:
        return BoundPropensity.of(self, original)


class BoundPropensity(BoundColumns[Propensity]):
    """Propensity scores bound to an original."""

    def read(self, masked: Table) -> float:
        return _percent(self._score(masked, 0))

    def explain(self, masked: Table) -> Reading:
        score = self._score(masked, 0)
        counts = {"pMSE": score.value, "parameters": score.parameters, "records": score.records}
        return self.measure.make_reading(_percent(score), self.names, _MISSING, counts)

    def _score(self, masked: Table, swaps: int) -> PropensityScore:
        return propensity_score(self.original, masked, self.names, self.measure.model, self.measure.sample, swaps)


def _percent(score: PropensityScore) -> float:
    """Of the largest value, to three decimals: so far fits agree that meet the columns in another order."""
    return round(100.0 * score.value / score.largest, 3) if score.largest > 0 else 0.0


def logistic_propensity_scores(design: Floats, label: Floats) -> Floats:
    """Propensity scores for pMSE: fitted probabilities of a logistic regression on its own rows.

    `design` float64[N, q]; `label` float64[N]; returns float64[N].
    """
    return fit_logistic_estimates(design, label).scores(design)
