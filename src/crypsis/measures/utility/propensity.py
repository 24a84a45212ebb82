"""General utility by propensity scores (pMSE): can a model tell the released file from the original?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.kernels.arrays import Floats
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, measures
from crypsis.measures.pairing import check_rows
from crypsis.measures.sampling import evenly, sample_setting
from crypsis.measures.utility.logistic import fit_labellings, logistic_scores
from crypsis.measures.utility.propensity_design import pair_terms, paired_design
from crypsis.table.table import Table

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


def tree_scores(design: Floats, label: Floats, leaf: int) -> tuple[Floats, int]:
    """Share of the label in the leaf of each record of a classification tree, and the number of leaves.

    Parameters
    ----------
    design : float64[N, q]
        Columns of both files.
    label : float64[N]
        Which file.
    leaf : int
        Smallest leaf.

    Returns
    -------
    scores : float64[N]
    leaves : int

    Raises
    ------
    TableError
        If scikit-learn is not installed.
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

    Parameters
    ----------
    model : {"main", "pairs", "cart"}
        What tells the files apart.
    before, after : float64[n, q], float64[m, q]
        Both files as numbers.

    Returns
    -------
    value : float
    parameters : int

    Notes
    -----
    Woo, Reiter, Oganian and Karr (2009); Snoke, Raab, Nowok, Dibben and Slavkovic (2018).
    """
    design = np.concatenate([before, after])
    label = np.repeat([0.0, 1.0], [len(before), len(after)])
    share = len(after) / len(design)
    if model == "cart":
        scores, parameters = tree_scores(design, label, round(LEAF * len(before)))
    else:
        scores, parameters = logistic_scores(design, label), int((design.std(axis=0) > 1e-12).sum()) + 1
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
        scores = np.stack([tree_scores(design, label, leaf)[0] for label in labels.T], axis=1)
    else:
        scores = fit_labellings(design, labels)
    return np.asarray(((scores - len(after) / len(design)) ** 2).mean(axis=0))


def _sides(
    original: Table, masked: Table, names: tuple[str, ...], model: Model, sample: int
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Both files as numbers, without suppressed records on the second side; and which records both sides hold."""
    check_rows(len(original), masked)
    rows = evenly(len(original), sample)
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
        return self.measure.reading(_percent(score), self.names, _MISSING, counts)

    def _score(self, masked: Table, swaps: int) -> PropensityScore:
        return propensity_score(self.original, masked, self.names, self.measure.model, self.measure.sample, swaps)


def _percent(score: PropensityScore) -> float:
    """Of the largest value, to three decimals: so far fits agree that meet the columns in another order."""
    return round(100.0 * score.value / score.largest, 3) if score.largest > 0 else 0.0
