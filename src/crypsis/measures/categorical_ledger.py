"""Tallies of masked files that follow single changes, for any of the seven categorical measures.

A `Stack` holds the tallies of many files over one original, as a search needs; a `CategoryLedger` is one
file and one measure. Both read through the same kernels as the full readings: equal bits.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import SearchError
from crypsis.kernels import ledger as kernels
from crypsis.kernels.arrays import Codes, Floats, Ints
from crypsis.kernels.ledger import Frame, Tallies, pair_counts, sum_weighted, table_gaps
from crypsis.kernels.linkage import equal_patterns, nearest, own_hits, own_patterns, patterns
from crypsis.measures.categories import CategoryContext, Pairing, agreements, columns_of_categories, distances, obstacle
from crypsis.measures.intervals import wilson_interval
from crypsis.measures.measure import Aim, BoundMeasure, Ledger, Measure, Reading
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.table import Table

if TYPE_CHECKING:
    from crypsis.measures.categorical_loss import ContingencyLoss, DistanceLoss, EntropyLoss
    from crypsis.measures.categorical_risk import CategoryDisclosure, CategoryLinkage, RankLinkage
    from crypsis.measures.record_linkage import ProbabilisticLinkage

MOST_BYTES = 8 << 30


class Seven(NamedTuple):
    """Which of the seven measures are tallied, and with which settings; None: not at all.

    The order is that of the readings: three losses, four risks. A measure states its place as `tally`.
    """

    contingency: ContingencyLoss | None = None
    distance: DistanceLoss | None = None
    entropy: EntropyLoss | None = None
    disclosure: CategoryDisclosure | None = None
    linkage: CategoryLinkage | None = None
    probabilistic: ProbabilisticLinkage | None = None
    rank: RankLinkage | None = None

    @classmethod
    def of(cls, *measures: Measure) -> Seven:
        """These measures, each in the place it states."""
        return cls(**{measure.tally: measure for measure in measures})  # type: ignore[arg-type]

    @property
    def chosen_flags(self) -> NDArray[np.bool_]:
        """bool[7]: whether each measure is tallied."""
        return np.array([measure is not None for measure in self], dtype=np.bool_)


def _ledger_frame(pairing: Pairing, seven: Seven) -> tuple[Frame, int]:
    """All that stays while masked files change, and the number of contingency cells."""
    if seven.linkage is not None and seven.linkage.ties == "first":
        raise SearchError(
            "tie credit 'first' depends on the order of rows and cannot follow single changes; "
            "choose 'expected' or 'strict' for the search and judge the result by 'first' afterwards"
        )
    context, shape, cells = pairing.context, pairing.shape, 0
    flat = int(shape.at[-1])
    zeros = np.zeros(flat, dtype=np.int64)
    divisor = 1.0
    if seven.contingency is not None:
        shape, cells = seven.contingency.lay_out(pairing)
        divisor = seven.contingency.divisor(pairing)
    apart = distances(pairing, seven.distance.divisor if seven.distance is not None else "size")
    linkages = (seven.linkage, seven.rank)
    costs = np.stack([zeros if measure is None else measure.costs(pairing) for measure in linkages])
    widest = [0 if m is None else kernels.ALONE if m.alone else int(m.widest) for m in linkages]
    rules = [0 if m is None else m.rule for m in (*linkages, seven.probabilistic)]
    frame = Frame(
        shape=shape,
        tuples=context.tuples,
        counts=context.classes.sizes,
        members=context.classes.of,
        loss=apart.loss,
        denominators=apart.denominators,
        near=zeros if seven.disclosure is None else seven.disclosure.near(pairing),
        agree=agreements(pairing),
        costs=costs,
        widest=np.array(widest, dtype=np.int64),
        rules=np.array(rules, dtype=np.int64),
        divisor=np.array([divisor]),
        known=np.full(int(shape.mark[-1]), np.nan) if seven.entropy is None else seven.entropy.compute_known(pairing),
        logs=np.zeros(len(shape.wide)) if seven.entropy is None else seven.entropy.logs(context),
        steps=logarithms_of_tallies(context.rows),
        chosen=seven.chosen_flags,
    )
    return frame, cells


class Stack:
    """Tallies of `size` masked files over one original; file `who` is filled, amended, read and copied by number.

    Given a `least` size, there are fewer where memory is short.
    """

    def __init__(self, pairing: Pairing, seven: Seven, size: int, least: int = 0) -> None:
        self.context, self.spans, self.kept = pairing.context, pairing.spans, pairing.kept
        self.frame, cells = _ledger_frame(pairing, seven)
        rows, attributes = self.context.codes.shape
        tuples = len(self.frame.tuples)
        found = 1 << attributes if self.frame.chosen[5] else 1
        each = 4 * (rows * attributes + cells + int(self.frame.shape.at[-1]) + 2 * tuples * found) + 48 * tuples
        if least:
            size = max(min(size, MOST_BYTES // each), least)
        if each * size > MOST_BYTES:
            raise SearchError(
                f"the tallies of {size} files would need {each * size >> 30} GB; "
                "take fewer files, fewer columns or a lower order of contingency tables"
            )

        def zeros(*shape: int) -> NDArray[np.int32]:
            return np.zeros((size, *shape), dtype=np.int32)

        def longs(*shape: int) -> NDArray[np.int64]:
            return np.zeros((size, *shape), dtype=np.int64)

        self.tallies = Tallies(
            codes=zeros(rows, attributes),
            gaps=zeros(cells),
            gap=longs(),
            pairs=zeros(int(self.frame.shape.at[-1])),
            totals=zeros(int(self.frame.shape.mark[-1])),
            spread=longs(attributes),
            inside=longs(),
            own=zeros(tuples, found),
            seen=zeros(tuples, found),
            patterns=longs(found),
            best=longs(2, tuples),
            ties=longs(2, tuples),
            hits=longs(2, tuples),
        )

    def fill(self, who: int, codes: Codes) -> None:
        """Count a whole file afresh; codes int32[n, p] in the numbering of the pairing."""
        frame, tallies, shape, original = self.frame, self.tallies, self.frame.shape, self.context.codes
        tallies.codes[who] = codes
        tallies.gap[who] = table_gaps(original, codes, shape.strides, shape.starts, tallies.gaps[who])
        pairs = tallies.pairs[who]
        tallies.totals[who] = pair_counts(original, codes, shape.at, shape.wide, shape.mark, pairs)
        tallies.spread[who] = sum_weighted(pairs, frame.loss, shape.at)
        tallies.inside[who] = sum_weighted(pairs, frame.near, shape.at).sum()
        pairing = Pairing(self.context, codes, self.spans, self.kept)
        if frame.chosen[5]:
            tallies.seen[who] = tally_agreement_patterns(pairing, frame.agree)
            tallies.patterns[who] = frame.counts @ tallies.seen[who].astype(np.int64)
            tallies.own[who] = own_patterns(
                frame.tuples, frame.members, codes, self.kept, frame.agree, shape.at, shape.wide
            )
        for scheme in range(2):
            if frame.chosen[4 + 2 * scheme]:
                self._fill_links(who, scheme, pairing)

    def _fill_links(self, who: int, scheme: int, pairing: Pairing) -> None:
        frame, tallies, shape, codes = self.frame, self.tallies, self.frame.shape, pairing.codes
        costs, widest = frame.costs[scheme], bool(frame.widest[scheme])
        if frame.widest[scheme] == kernels.ALONE:
            best = np.zeros(len(frame.tuples), dtype=np.int64)
            ties = np.ones_like(best)
        else:
            best, ties, _ = nearest(frame.tuples, *pairing.crowd, costs, shape.at, shape.wide, widest)
        both = own_hits(frame.tuples, frame.members, codes, self.kept, best, costs, shape.at, shape.wide)
        tallies.best[who, scheme], tallies.ties[who, scheme] = best, ties
        tallies.hits[who, scheme] = both[int(widest)]

    def amend(self, who: int, row: int, codes: Codes) -> None:
        """One record of one file takes new codes."""
        kernels.amend(self.frame, self.tallies, who, row, codes)

    def read(self, who: int) -> Floats:
        """The seven readings; NaN for those not tallied."""
        readings = np.full(len(Seven._fields), np.nan)
        kernels.read_all(self.frame, self.tallies, who, readings)
        return readings

    def copy(self, source: int, target: int) -> None:
        """Copy the tallies of one file to another."""
        for array in self.tallies:
            array[target] = array[source]


@dataclass(frozen=True, eq=False)
class CategoryLedger(Ledger):
    """One masked file under one measure (`Ledger`): codes are those of the masked table's columns."""

    stack: Stack
    which: int
    codes: tuple[Codes, ...]
    """For each attribute: masked table's code → code of the stack; the last entry is a missing value."""

    @classmethod
    def of(cls, context: CategoryContext, masked: Table, seven: Seven) -> CategoryLedger:
        """The ledger of a masked table under the one measure that is chosen."""
        pairing = context.pair(masked)
        stack = Stack(pairing, seven, 1)
        stack.fill(0, pairing.codes)
        news = [context.news(name, [masked]) for name in context.names]
        return cls(stack, int(np.flatnonzero(seven.chosen_flags)[0]), tuple(context.map_codes(masked, news)))

    def amend(self, row: int, attribute: int, code: int) -> None:
        """The masked value of one record in one compared column becomes another category (−1: missing)."""
        if not self.stack.kept[row]:
            raise SearchError(f"record {row} is suppressed and has no cells to change")
        if not -1 <= code < len(self.codes[attribute]) - 1:
            raise SearchError(f"code {code} stands for no category of {self.stack.context.names[attribute]!r}")
        new = self.stack.tallies.codes[0, row].copy()
        new[attribute] = self.codes[attribute][code]
        self.stack.amend(0, row, new)

    def read(self) -> float:
        return float(self.stack.read(0)[self.which])


# -- What the seven categorical measures have in common: the columns they read, and how they are bound to an original.

MISSING_IS_A_CATEGORY = "a missing value counts as a category of its own; a suppressed record as fully generalised"
UNLINKABLE = "a missing value counts as a category of its own; a suppressed record links to nobody"

Divisor = Annotated[
    Literal["size", "range", "nominal"],
    Field(
        description="ordinal rank differences are divided by |D| (size) or |D| − 1 (range); nominal: any two that "
        "differ are one apart"
    ),
]
"""Setting of measures that use distances between categories."""


class Explained(NamedTuple):
    """A score with what it was computed from."""

    value: float
    counts: Mapping[str, float]
    baseline: float | None = None
    trials: int = 0
    """Records of which the value is the share that was linked, which gives it an interval; 0: it is no such share."""


class CategoricalMeasure(Measure):
    """A measure that compares categories as collected."""

    def choose_columns(self, original: Table) -> tuple[str, ...]:
        return tuple(columns_of_categories(original, self.columns))

    def obstacle(self, original: Table) -> str:
        return obstacle(original, self.columns)

    def against(self, original: Table) -> BoundCategories:
        return BoundCategories(self, self.context(original))

    def context(self, original: Table) -> CategoryContext:
        """The original side of the comparison; settings that do not fit it are refused here.

        Parameters
        ----------
        original : Table
            The table before masking; its categories are as they were collected.

        Returns
        -------
        CategoryContext
        """
        return CategoryContext.of(original, self.columns)

    @abstractmethod
    def score(self, pairing: Pairing) -> float:
        """The number for one masked file.

        Parameters
        ----------
        pairing : Pairing
            Original and masked file in one numbering (see `CategoryContext.pair`).

        Returns
        -------
        float
        """

    def explain(self, pairing: Pairing) -> Explained:
        """The same number with what it was computed from.

        Parameters
        ----------
        pairing : Pairing
            Original and masked file, numbered alike.

        Returns
        -------
        Explained
        """
        return Explained(self.score(pairing), {})


class CategoricalLoss(CategoricalMeasure):
    """What masking takes from categories."""

    aim: ClassVar[Aim] = "loss"


class CategoricalRisk(CategoricalMeasure):
    """What an intruder who knows the original categories finds."""

    aim: ClassVar[Aim] = "risk"


@dataclass(frozen=True, eq=False)
class BoundCategories(BoundMeasure):
    """A categorical measure bound to an original."""

    measure: CategoricalMeasure
    context: CategoryContext

    def read(self, masked: Table) -> float:
        return self.measure.score(self.context.pair(masked))

    def explain(self, masked: Table) -> Reading:
        return self.make_reading(self.measure.explain(self.context.pair(masked)))

    def ledger(self, masked: Table) -> CategoryLedger:
        """Tallies of a masked file that follow changes of single cells."""
        return CategoryLedger.of(self.context, masked, Seven.of(self.measure))

    def make_reading(self, explained: Explained) -> Reading:
        """A number as a person reads it; a risk with a warning where the attack is no better than guessing."""
        value, counts, baseline, trials = explained
        guessed = baseline is not None and value <= baseline
        return self.measure.make_reading(
            value,
            self.context.names,
            UNLINKABLE if trials else MISSING_IS_A_CATEGORY,
            {"records": self.context.rows, **counts},
            interval=wilson_interval(value / 100 * trials, trials) if trials else None,
            baseline=baseline,
            warning="the attack does no better here than guessing; another attack may" if guessed else "",
        )


def tally_category_pairs(pairing: Pairing) -> tuple[Codes, Codes]:
    """Tallies of pairs of categories and of masked categories, in the lay-out of the pairing."""
    shape = pairing.shape
    pairs = np.empty(int(shape.at[-1]), dtype=np.int32)
    return pairs, pair_counts(pairing.context.codes, pairing.codes, shape.at, shape.wide, shape.mark, pairs)


PAIRS_PER_KEY = 40
"""Pairs of tuples that are compared one by one in the time a tuple is looked up in one margin."""


def tally_agreement_patterns(pairing: Pairing, agree: Ints) -> Codes:
    """int32[a, 2^p]: tallies of masked records that agree with each original tuple in exactly which attributes."""
    context, shape = pairing.context, pairing.shape
    crowd, counts, _ = pairing.crowd
    pairs, keys = len(context.tuples) * len(crowd), (len(context.tuples) + len(crowd)) << len(context.sizes)
    if pairing.plain and pairs > PAIRS_PER_KEY * keys:
        return tally_ledger_patterns(context.tuples, crowd, counts)
    if pairing.plain:
        return equal_patterns(context.tuples, crowd, counts)
    return patterns(context.tuples, crowd, counts, agree, shape.at, shape.wide)


def tally_ledger_patterns(tuples: Codes, crowd: Codes, counts: Ints) -> Codes:
    """Tallies for the categorical ledger: patterns of equal codes between tuples, counted by margins.

    Records that agree on at least a set of attributes are a look-up in that set's margin; exact patterns follow by
    inclusion and exclusion. O(2^p · d log d) instead of O(a · d).
    """
    attributes = tuples.shape[1]
    both = np.concatenate([tuples, crowd])
    seen = np.zeros((len(tuples), 1 << attributes), dtype=np.int64)
    for pattern in range(1 << attributes):
        joined = equivalence_classes(both[:, [bool(pattern >> column & 1) for column in range(attributes)]])
        margin = np.bincount(joined.of[len(tuples) :], weights=counts, minlength=joined.count)
        seen[:, pattern] = margin[joined.of[: len(tuples)]].astype(np.int64)
    for column in range(attributes):
        for pattern in range(1 << attributes):
            if not pattern >> column & 1:
                seen[:, pattern] -= seen[:, pattern | 1 << column]
    return seen.astype(np.int32)


def logarithms_of_tallies(rows: int) -> Floats:
    """c · log2 c for c = 0 … rows, looked up as the tallies of a categorical measure follow a change."""
    counts = np.arange(rows + 1, dtype=np.float64)
    return counts * np.log2(np.maximum(counts, 1.0))
