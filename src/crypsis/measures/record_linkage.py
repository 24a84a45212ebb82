"""Record linkage by distance and by agreement: an intruder holds the original and looks for each person in the
masked file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar, Literal, NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np
import scipy
from numpy.random import default_rng
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.kernels.arrays import Flags, Floats, Int32s, Ints
from crypsis.kernels.groupings import TOLERANCE
from crypsis.kernels.ledger import EXPECTED, STRICT, mixture, pattern_risk
from crypsis.kernels.linkage import (
    BUCKET,
    CodeGroups,
    Forest,
    Known,
    grow_linkage_forest,
    link,
    link_all,
    make_unlinked,
    own_patterns,
)
from crypsis.measures.categorical_ledger import CategoricalRisk, Explained, tally_agreement_patterns
from crypsis.measures.categories import (
    CategoryContext,
    Pairing,
    agreements,
    columns_of_categories,
    number_masked_categories,
)
from crypsis.measures.intervals import score_confidence_interval
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, check_measured_rows, measures
from crypsis.table.attribute import Kind
from crypsis.table.equivalence_classes import HOW_READ, MissingReading, equivalence_classes
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.precision import Scales, Scaling
from crypsis.table.table import LOCAL, Table
from crypsis.tasks import Tasks, complete

# -- Distance-based record linkage: an intruder holds the original and looks for each person in the masked file.
#
# The intruder links every known record to the nearest published one. If t published records are equally near the
# intruder can only guess, so the right one among them counts 1/t. The rate of a blind guess is given beside the rate.
# Where records of people outside the file are given, so is the control: the rate scaled by how often the attack claims
# those people. A control near the rate means that the attack does not distinguish members from others.


def tree_linkage(points: Floats, masked: Floats, first: NDArray[np.int32], sizes: NDArray[np.int32]) -> float:
    """Records that are found by their nearest masked record, each counted by its share among equally near ones."""
    distinct, place = np.unique(masked[first], axis=0, return_inverse=True)
    records = np.bincount(place.ravel(), weights=sizes, minlength=len(distinct))
    tree = scipy.spatial.cKDTree(distinct)
    least = np.asarray(tree.query(points)[0]) ** 2
    own = ((points - masked) ** 2).sum(axis=1)
    won = np.flatnonzero(own <= least + TOLERANCE)
    reach = np.sqrt(least[won] + TOLERANCE)
    ties = [records[near].sum() for near in tree.query_ball_point(points[won], reach)]
    return float(sum(1.0 / max(1, count) for count in ties))


# -- How an intruder's records meet published ones: points for what has a distance, codes for what is equal or not.
#
# A number becomes a coordinate, scaled by the original column. An ordinal category becomes its rank over the
# number of steps. A nominal category, and any generalised value, is a code: it adds 0 to the squared distance
# if it is the same or contains the original value, else 1. Where a column is recoded record by record, a number or an
# ordinal category that is published as it is keeps its distance, and only groups are codes. A missing value matches a
# missing one and lies one unit from any other (a missing coordinate is read as the mean, one unit aside), unless it is
# read otherwise: then a published blank agrees with every value, as the place of a code that contains them all.

LINKED_READINGS: dict[MissingReading, str] = {
    "own": "a missing value matches a missing value and lies one unit (one deviation, one range, one category) from "
    "any other",
    "conservative": "a published blank agrees with every value; what a record blanks is taken as unknown of its "
    "person, and a value published there lies one unit away",
    "target": "a published blank agrees with every value; a value published where that of a person is missing lies one "
    "unit away",
    "wildcard": "a missing value, published or of a person, agrees with every value",
}
"""What each reading of missing cells makes of them in record linkage."""
SUPPRESSED_LINKS = "a suppressed record is not published, so it cannot be linked, and counts as not found"
MISSING_LINKS = f"{LINKED_READINGS['own']}; {SUPPRESSED_LINKS}"

CELLS_AT_ONCE, LEAST_AT_ONCE = 60_000, 256
"""Coordinates and codes of the records that are looked for in one task, and records at least."""


class Sides(NamedTuple):
    """One column as coordinates (known, published), or as codes (ancestors, code, place); the other part is empty."""

    known: Floats
    published: Floats
    ancestors: Int32s
    codes: Int32s
    places: Int32s
    # for codes of a recoded column with an order: coordinates (known, published), where a leaf is published
    line: tuple[Floats, Floats] | None = None


def _coordinates(known: Floats, published: Floats) -> Sides:
    """Two scaled columns, centred on the original's mean; missing cells become the mean, one unit aside."""
    sides = []
    aside = bool(np.isnan(known).any() or np.isnan(published).any())
    for values in (known, published):
        lost = np.isnan(values)
        filled = np.where(lost, 0.0, values)
        sides.append(np.stack([filled, lost.astype(np.float64)] if aside else [filled], axis=1))
    n, m = len(known), len(published)
    nothing = np.empty((m, 0), dtype=np.int32)
    return Sides(sides[0], sides[1], np.empty((n, 0), dtype=np.int32), nothing, nothing)


def _codes(ancestors: Int32s, codes: Int32s, places: Int32s) -> Sides:
    n, m = len(ancestors), len(codes)
    return Sides(np.empty((n, 0)), np.empty((m, 0)), ancestors, codes[:, None], places[:, None])


def _compare_generalised(original: Table, known: Table, masked: Table, name: str, scaling: Scaling) -> Sides:
    """Leaves against the groups that may contain them, at one level or at each record's own."""
    hierarchy = masked.attribute(name).hierarchy
    if hierarchy is None:
        raise TableError(f"column {name!r} is generalised but has no hierarchy; give the masked table the one used")
    attribute = known.attribute(name)
    leaf = known.with_columns({}, attributes={name: attribute.but(hierarchy=hierarchy)}).leaf_codes(name)
    codes, level = masked.column(name), masked.level(name)
    if level != LOCAL:
        return _codes(hierarchy.lift(leaf, level)[:, None], codes, np.zeros(len(codes), dtype=np.int32))
    ancestors = [
        np.where(leaf == MISSING, MISSING, hierarchy.lift(leaf, each) + hierarchy.offsets[each])
        for each in range(hierarchy.height + 1)
    ]
    stands = np.searchsorted(hierarchy.offsets, codes, side="right") - 1
    sides = _codes(np.stack(ancestors, axis=1).astype(np.int32), codes, np.maximum(stands, 0).astype(np.int32))
    return sides._replace(line=_line(original, hierarchy, name, scaling, leaf, codes))


def _line(
    original: Table, hierarchy: Hierarchy, name: str, scaling: Scaling, known: Int32s, published: Int32s
) -> tuple[Floats, Floats] | None:
    """Where known leaves and published leaves lie on the line of a column with an order; 0 for anything else.

    None without an order, or where a leaf is no category of the original.
    """
    attribute = original.attribute(name)
    if attribute.numeric:
        scales = Scales.of(finite_numbers_of_frame(original, name)[:, None])
        at = scales.scale(hierarchy.values[:, None], scaling)[:, 0]
    elif attribute.kind is Kind.ORDINAL:
        rank = {label: code for code, label in enumerate(attribute.categories)}
        at = np.array([rank.get(label, np.nan) for label in hierarchy.labels[0]], dtype=np.float64)
        present = original.column(name)[original.column(name) != MISSING]
        at = (at - (float(present.mean()) if present.size else 0.0)) / max(len(attribute.categories) - 1, 1)
    else:
        return None
    if np.isnan(at[known[known != MISSING]]).any():
        return None
    leaf = np.where(published < hierarchy.size, published, MISSING)
    if np.isnan(at[leaf[leaf != MISSING]]).any():
        return None
    padded = np.append(np.nan_to_num(at), 0.0)
    return padded[known], padded[leaf]


def sides_of_record_linkage(original: Table, known: Table, masked: Table, name: str, scaling: Scaling) -> Sides:
    """One column for record linkage by distance: the intruder's records and the published ones, on one scale."""
    if masked.level(name) != 0:
        return _compare_generalised(original, known, masked, name, scaling)
    attribute = original.attribute(name)
    if attribute.numeric != masked.attribute(name).numeric:
        raise TableError(
            f"column {name!r} is {attribute.kind} in the original and {masked.attribute(name).kind} in the masked "
            f"table; read both files with the same kinds, or leave the column out"
        )
    if attribute.numeric:
        scales = Scales.of(finite_numbers_of_frame(original, name)[:, None])
        columns = [
            scales.scale(finite_numbers_of_frame(table, name)[:, None], scaling)[:, 0] for table in (known, masked)
        ]
        return _coordinates(columns[0], columns[1])
    ours, _ = number_masked_categories(original, known, name)
    theirs, same = number_masked_categories(original, masked, name)
    if attribute.kind is Kind.ORDINAL and same:
        steps = max(len(attribute.categories) - 1, 1)
        present = original.column(name)[original.column(name) != MISSING]
        middle = float(present.mean()) if present.size else 0.0
        ranks = [np.where(codes == MISSING, np.nan, codes - middle) / steps for codes in (ours, theirs)]
        return _coordinates(ranks[0], ranks[1])
    return _codes(ours[:, None], theirs, np.zeros(len(theirs), dtype=np.int32))


def _blanks_agree(side: Sides, lost: Flags, blank: Flags) -> Sides:
    """The column where a published blank agrees with every value: it stands at a place of its own that contains all.

    `lost` bool[n]: values that are missing in the intruder's records; `blank` bool[m]: those missing among the
    published.
    """
    if not blank.any():
        return side
    if not side.codes.shape[1]:
        nothing = np.zeros((len(blank), 1), dtype=np.int32)
        place = np.where(lost, MISSING, 0).astype(np.int32)[:, None]
        line = side.known[:, 0], np.where(blank, 0.0, side.published[:, 0])
        side = Sides(np.empty((len(lost), 0)), np.empty((len(blank), 0)), place, nothing, nothing, line)
    above = np.int32(side.ancestors.shape[1])
    return side._replace(
        ancestors=np.hstack([side.ancestors, np.zeros((len(lost), 1), dtype=np.int32)]),
        codes=np.where(blank[:, None], np.int32(0), side.codes),
        places=np.where(blank[:, None], above, side.places),
    )


@dataclass(frozen=True)
class LinkagePair:
    """The records of an intruder and the published ones, ready for record linkage."""

    points: Floats
    ancestors: Int32s
    published: Floats
    codes: Int32s
    places: Int32s
    kept: Flags
    lines: Int32s
    """int32[q, 2]: the column of codes beside which a coordinate counts and the place of a leaf there; −1: always."""

    @classmethod
    def between(
        cls,
        original: Table,
        known: Table,
        masked: Table,
        names: Sequence[str],
        scaling: Scaling,
        *,
        blanks_agree: bool = False,
    ) -> LinkagePair:
        """The records of an intruder and those of a masked table, in the same scale.

        `blanks_agree`: whether a published blank agrees with every value, and not with a missing one alone.
        """
        sides = [sides_of_record_linkage(original, known, masked, name, scaling) for name in names]
        if blanks_agree:
            lost, blank = ([table.missing(name) for name in names] for table in (known, masked))
            sides = [_blanks_agree(*each) for each in zip(sides, lost, blank, strict=True)]
        offsets = np.cumsum([0, *(side.ancestors.shape[1] for side in sides)])
        places = [side.places + np.int32(start) for side, start in zip(sides, offsets, strict=False)]
        lines, column = [np.full((side.known.shape[1], 2), -1) for side in sides], 0
        for number, side in enumerate(sides):
            if side.line is not None:
                sides[number] = _on_line(side)
                lines[number] = np.array([[column, offsets[number]]])
            column += side.codes.shape[1]
        return cls(
            np.ascontiguousarray(np.hstack([side.known for side in sides])),
            np.ascontiguousarray(np.hstack([side.ancestors for side in sides])),
            np.ascontiguousarray(np.hstack([side.published for side in sides])),
            np.ascontiguousarray(np.hstack([side.codes for side in sides])),
            np.ascontiguousarray(np.hstack(places), dtype=np.int32),
            masked.kept,
            np.ascontiguousarray(np.concatenate(lines), dtype=np.int32),
        )

    @cached_property
    def _known_records(self) -> Known:
        """The intruder's records, those with equal codes one after another."""
        order = np.lexsort(self.ancestors.T) if self.ancestors.shape[1] else np.arange(len(self.points))
        return Known(self.points, self.ancestors, order.astype(np.int64), self.lines)

    def about(self, rows: Ints) -> LinkagePair:
        """The same published records and only some of the intruder's."""
        return replace(self, points=self.points[rows], ancestors=self.ancestors[rows])

    def plant(self) -> tuple[CodeGroups, Forest]:
        """The groups of published records with equal codes, and the trees over their points."""
        rows = np.flatnonzero(self.kept)
        points, codes, places = self.published[rows], self.codes[rows], self.places[rows]
        # Places and codes are the primary keys, so that equal codes lie together; equal records follow in row order.
        keys = [*points.T[::-1], *codes.T, *places.T]
        order = np.lexsort(keys)
        points, codes, places, rows = points[order], codes[order], places[order], rows[order]
        new_group = _changes(np.hstack([codes, places]))
        new = new_group | _changes(points)
        distinct = np.flatnonzero(new)
        weight = np.diff(np.append(distinct, len(rows)))
        heads = np.flatnonzero(new_group)
        starts = np.append(np.searchsorted(distinct, heads), len(distinct)).astype(np.int64)
        apart = np.ascontiguousarray(points[distinct])
        leaves, low, high, span, root = grow_linkage_forest(apart, starts, BUCKET)
        forest = Forest(apart[leaves], weight[leaves], rows[distinct][leaves], low, high, span, root)
        codes, places = np.ascontiguousarray(codes[heads]), np.ascontiguousarray(places[heads])
        patterns = np.append(np.flatnonzero(_changes(places)), len(heads)).astype(np.int64)
        return CodeGroups(codes, places, patterns), forest

    def flag_counted(self) -> Flags:
        """bool[m, q]: which coordinates count beside the codes of each published record."""
        column, place = self.lines.T
        if not (column >= 0).any():
            return np.ones(self.published.shape, dtype=np.bool_)
        return np.asarray((column < 0) | ((self.places[:, column] == place) & (self.codes[:, column] >= 0)))

    def own_distance(self) -> Floats:
        """How far each record lies from the one that masks it (same row); NaN where that is suppressed."""
        square = (((self.points - self.published) * self.flag_counted()) ** 2).sum(axis=1)
        met = np.take_along_axis(self.ancestors, self.places, axis=1)
        return np.where(self.kept, np.sqrt(square + (met != self.codes).sum(axis=1)), np.nan)

    def distances_from(self, row: int) -> Floats:
        """float64[m]: how far each published record lies from one of the intruder's; infinite where suppressed."""
        square = (((self.points[row] - self.published) * self.flag_counted()) ** 2).sum(axis=1)
        missed = (self.ancestors[row][self.places] != self.codes).sum(axis=1)
        return np.where(self.kept, np.sqrt(square + missed), np.inf)

    def count_ties(self, distance: Floats) -> tuple[Ints, Ints]:
        """How many published records lie at each record's distance with none nearer, and the lowest row of them."""
        return complete(self.count_ties_tasks(distance))

    def count_ties_tasks(self, distance: Floats) -> Tasks[tuple[Ints, Ints]]:
        """`count_ties` in tasks: the trees, then a few thousand records at a time."""
        [(groups, forest), known] = yield [self.plant, lambda: self._known_records]
        ties, lowest, reach = make_unlinked(len(self.points))
        step = max(LEAST_AT_ONCE, CELLS_AT_ONCE // (1 + self.points.shape[1] + self.codes.shape[1]))
        some = [known._replace(order=known.order[at : at + step]) for at in range(0, len(known.order), step)]
        yield [partial(link, each, distance, groups, forest, ties, lowest, reach) for each in some]
        return ties, lowest

    def nearest(self) -> Floats:
        """The distance of each record to its nearest published one."""
        return link_all(self._known_records, np.full(len(self.points), np.inf), *self.plant())[2]


def _on_line(side: Sides) -> Sides:
    """A recoded column with an order: leaves by their coordinates, and one code for all of them."""
    assert side.line is not None
    ancestors, codes = side.ancestors.copy(), side.codes.copy()
    ancestors[:, 0] = np.minimum(ancestors[:, 0], 0)
    codes[side.places == 0] = np.minimum(codes[side.places == 0], 0)
    known, published = side.line
    return Sides(known[:, None], published[:, None], ancestors, codes, side.places)


def _changes(rows: Floats | Int32s) -> Flags:
    """Whether each row differs from the one before it; the first always does."""
    changed = np.ones(len(rows), dtype=np.bool_)
    changed[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return changed


# -- Distance-based record linkage: an intruder holds the original and looks for each person in the masked file.
#
# The intruder links every known record to the nearest published one. If t published records are equally near the
# intruder can only guess, so the right one among them counts 1/t. The rate of a blind guess is given beside the rate.
# Where records of people outside the file are given, so is the control: the rate scaled by how often the attack claims
# those people. A control near the rate means that the attack does not distinguish members from others.

Ties = Literal["expected", "first", "strict"]

CLAIMED, CLAIMED_OUTSIDE = "claimed of members, %", "claimed of outsiders, %"
MOST_MEMBERS = 5_000
"""Members on whom the frequency of claims is measured: evenly spaced rows, all of them in a smaller file."""


@measures.add("record-linkage")
class RecordLinkage(Measure):
    """Share of people an intruder with the original finds again in the masked file.

    100 times the share of original records whose nearest published record is their own masked one; numbers are
    scaled by the original column, ordinal categories count ranks, a nominal or generalised value adds 1 unless it
    equals or contains the original; t equally near records are worth 1/t if the right one is among them (ties
    'first': the lowest row is taken; 'strict': a tie is a miss); the control rate is this rate times how often the
    attack would claim people outside the file, relative to people in it.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.RecordLinkage().against(original).read(masked), 2)
    100.0

    Notes
    -----
    - Formula: 100 · share of records whose nearest published record is their own
    - Paper: Pagliuca and Seri (1999); Domingo-Ferrer and Torra (2001)
    - Cost: O(n log n) with a kd-tree, O(n²) at worst
    - Departures: t equally near records count 1/t (decision 0003); baseline and control beside it; four readings of a
      missing cell (decision 0026)
    """

    aim: ClassVar[Aim] = "risk"

    missing: MissingReading = Field(default="own", description=HOW_READ)
    scaling: Scaling = Field(default="z", description="scale of numbers: population deviation, range, or none")
    ties: Ties = Field(
        default="expected",
        description="what a tie of t records is worth: 1/t, a hit if the right one has the lowest row, or nothing",
    )
    sample: int = Field(
        default=0,
        ge=0,
        description="people drawn at random to be looked for among all published records, for tables too large to look "
        "for everybody; the interval covers the uncertainty of the draw; 0 or more than there are: everybody",
    )

    def against(self, original: Table) -> BoundRecordLinkage:
        return BoundRecordLinkage.of(self, original)


class BoundRecordLinkage(BoundColumns[RecordLinkage]):
    """Record linkage bound to what the intruder knows."""

    @cached_property
    def people(self) -> NDArray[np.int64]:
        """Rows of the people who are looked for: all, or a draw that depends on nothing but the two numbers."""
        rows, wanted = self.original.rows, self.measure.sample
        if not 0 < wanted < rows:
            return np.arange(rows)
        return np.sort(default_rng([wanted, rows]).choice(rows, wanted, replace=False))

    def credits(self, masked: Table) -> NDArray[np.float64]:
        """What the attack earns on each record of `people`: 0 to 1."""
        return complete(self._earn_tasks(masked))

    def _earn_tasks(self, masked: Table) -> Tasks[NDArray[np.float64]]:
        """What the attack earns, made once for a masked table: reports ask for the rate and for each record."""
        # The same names may be chosen as columns, or follow from the roles.
        known, key = _known_credits.setdefault(masked, {}), self.measure.model_copy(update={"columns": self.names})
        if key not in known or known[key][0]() is not self.original:
            earned = yield from self._earn_anew_tasks(masked)
            earned.flags.writeable = False
            known[key] = ref(self.original), earned
        return known[key][1]

    def _earn_anew_tasks(self, masked: Table) -> Tasks[NDArray[np.float64]]:
        if self.measure.missing != "wildcard":
            [pair] = yield [partial(self._meet, masked, self.original)]
            return (yield from _credit_people(pair, self.measure.ties, self.people))
        earned = np.zeros(len(self.people))
        for names, places in self._known_columns():
            if not names:  # every published record agrees
                there = masked.kept[self.people[places]]
                earned[places] = _fitness(np.where(there, masked.kept.sum(), 0), self.measure.ties)
                continue
            [pair] = yield [partial(self._meet, masked, self.original, names)]
            earned[places] = yield from _credit_people(pair, self.measure.ties, self.people[places])
        return earned

    def _known_columns(self) -> Iterator[tuple[tuple[str, ...], Ints]]:
        """The columns of which a person has a value, and the places among `people` of all who have just these."""
        lost = np.stack([self.original.missing(name)[self.people] for name in self.names], axis=1)
        patterns = equivalence_classes(lost.astype(np.int32))
        for number, row in enumerate(patterns.first):
            names = tuple(name for name, gone in zip(self.names, lost[row], strict=True) if not gone)
            yield names, np.flatnonzero(patterns.of == number)

    def read(self, masked: Table) -> float:
        return complete(self.read_tasks(masked))

    def read_tasks(self, masked: Table) -> Tasks[float]:
        """`read` in tasks, since all records are looked for."""
        return 100.0 * float((yield from self._earn_tasks(masked)).mean())

    def explain(self, masked: Table, control: Table | None = None) -> Reading:
        """The rate with its interval and baseline, and the control rate where outsiders are given."""
        return complete(self.explain_tasks(masked, control))

    def explain_tasks(self, masked: Table, control: Table | None = None) -> Tasks[Reading]:
        """`explain` in tasks, since all records are looked for."""
        earned = yield from self._earn_tasks(masked)
        return (yield [partial(self._explain_earned, masked, control, earned)])[0]  # type: ignore[no-any-return]

    def _explain_earned(self, masked: Table, control: Table | None, earned: NDArray[np.float64]) -> Reading:
        published = int(masked.kept.sum())
        rate, baseline = float(earned.mean()), 100.0 / published if published else 0.0
        interval = self._interval(masked, earned)
        claims = {} if control is None else self._claims(masked, control, earned)
        counts = {
            "records": len(earned),
            **({"records in all": self.original.rows} if len(earned) < self.original.rows else {}),
            "published": published,
            "expected hits": float(earned.sum()),
            "certain hits": int((earned == 1.0).sum()),
            **claims,
        }
        return self.measure.make_reading(
            100.0 * rate,
            self.names,
            f"{LINKED_READINGS[self.measure.missing]}; {SUPPRESSED_LINKS}",
            counts,
            interval=interval,
            baseline=baseline,
            control=_transfer_rate(100.0 * rate, claims) if claims else None,
            warning=_warn(100.0 * rate, interval, baseline, published),
        )

    def _interval(self, masked: Table, earned: NDArray[np.float64]) -> tuple[float, float]:
        """Of a draw, where the whole file would lie; of everybody, where another file of such people would."""
        largest = self.largest_credit(masked)
        if len(earned) < self.original.rows:
            return score_confidence_interval(earned, population=self.original.rows, largest=largest)
        classes = equivalence_classes(masked.codes(self.names))
        # A suppressed record is in no class.
        groups = np.where(masked.kept, classes.of, classes.count + np.arange(len(earned)))
        return score_confidence_interval(earned, groups=groups, largest=largest)

    def largest_credit(self, masked: Table) -> float:
        """The most the attack can earn on a record: where it splits ties, 1/t with the t records of a class."""
        sizes = equivalence_classes(masked.codes(self.names), masked.kept).sizes
        return 1.0 / float(sizes.min()) if self.measure.ties == "expected" and len(sizes) else 1.0

    def _meet(self, masked: Table, known: Table, names: tuple[str, ...] | None = None) -> LinkagePair:
        check_measured_rows(self.original.rows, masked)
        reading = self.measure.missing
        if reading == "conservative" and known is self.original:
            known = _as_blank_as(known, masked, self.names)
        return LinkagePair.between(
            self.original,
            known,
            masked,
            self.names if names is None else names,
            self.measure.scaling,
            blanks_agree=reading != "own",
        )

    def _claims(self, masked: Table, control: Table, earned: NDArray[np.float64]) -> dict[str, float]:
        """How often the attack would claim a member and an outsider, accepting links as near as right ones are."""
        if not control.rows:
            raise TableError("the control table has no records; give people who are not in the file, or leave it out")
        if not earned.any():
            return {CLAIMED: 0.0, CLAIMED_OUTSIDE: 0.0}
        members = self._meet(masked, self.original)
        accepted = float(np.quantile(members.own_distance()[self.people][earned > 0], 0.95))
        some = np.unique(np.linspace(0, len(earned) - 1, min(len(earned), MOST_MEMBERS)).astype(np.int64))
        outsiders = self._meet(masked, control)
        return {
            CLAIMED: 100.0 * _mean_claim(members.about(self.people[some]), accepted, self.measure.ties),
            CLAIMED_OUTSIDE: 100.0 * _mean_claim(outsiders, accepted, self.measure.ties),
        }


_known_credits: WeakKeyDictionary[Table, dict[RecordLinkage, tuple[ref[Table], NDArray[np.float64]]]] = (
    WeakKeyDictionary()
)
"""What record linkage earned on tables, which never change, while they live."""


def _as_blank_as(known: Table, masked: Table, names: Sequence[str]) -> Table:
    """The records of people without what their own published records blank."""
    blanked = {}
    for name in names:
        nothing = np.nan if known.holds_numbers(name) else MISSING
        blanked[name] = np.where(masked.missing(name), nothing, known.column(name)).astype(known.column(name).dtype)
    return known.with_columns(blanked)


def _mean_claim(pair: LinkagePair, accepted: float, rule: Ties) -> float:
    """The mean worth of links to the nearest published record that lie within the accepted distance."""
    distance = pair.nearest()
    near = np.where(distance <= accepted * (1 + 1e-12) + 1e-12, distance, np.nan)
    return float(_fitness(pair.count_ties(near)[0], rule).mean())


def _transfer_rate(rate: float, claims: dict[str, float]) -> float:
    """The rate that would be read off outsiders, were claims about them right as often as claims about members."""
    return rate * min(claims[CLAIMED_OUTSIDE] / claims[CLAIMED], 1.0) if claims[CLAIMED] > 0 else 0.0


def _fitness(ties: NDArray[np.int64], rule: Ties) -> NDArray[np.float64]:
    """The value of a link among t equally near ones; 0 where there is none. The first of several is one link."""
    if rule == "expected":
        return np.asarray((ties > 0) / np.maximum(ties, 1), dtype=np.float64)
    return np.asarray(ties > 0 if rule == "first" else ties == 1, dtype=np.float64)


def _credit_people(pair: LinkagePair, rule: Ties, people: NDArray[np.int64]) -> Tasks[NDArray[np.float64]]:
    """What the attack earns on each of some people, in tasks."""
    if not pair.kept.any():
        return np.zeros(len(people))
    [distance] = yield [lambda: pair.own_distance()[people]]
    some = pair if len(people) == len(pair.points) else pair.about(people)
    ties, lowest = yield from some.count_ties_tasks(distance)
    if rule == "first":
        return np.asarray(lowest == people, dtype=np.float64)
    return _fitness(ties, rule)


def _warn(rate: float, interval: tuple[float, float], baseline: float, published: int) -> str:
    if not published:
        return "every record is suppressed; nothing was published that could be linked"
    if interval[0] <= baseline:
        return (
            f"the rate ({rate:.3g} %) is not distinguishable from the baseline ({baseline:.3g} %); that is no proof "
            f"that other attacks fail"
        )
    return ""


# -- Probabilistic record linkage of categories (Fellegi and Sunter 1969): agreement patterns, weighed by EM.
#
# Missing values are a category of their own; suppressed records are candidates for nobody and link to nobody.

MOST_ATTRIBUTES = 12
"""Columns whose agreement patterns are counted; each one more doubles the patterns."""


@measures.add("probabilistic-linkage")
class ProbabilisticLinkage(CategoricalRisk):
    """PRL: agreement patterns weighed by a mixture of matches and non-matches (Fellegi and Sunter; EM).

    Share of original records whose masked record of greatest Fellegi–Sunter weight is their own, weights by EM over
    the agreement patterns of all pairs; t tied records count 1/t (expected) or only if t = 1 (strict).

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> round(crypsis.ProbabilisticLinkage().against(original).read(masked), 2)
    33.33

    Notes
    -----
    - Formula: weight log₂(m_a / u_a) of the agreement pattern a, m and u by EM
    - Paper: Fellegi and Sunter (1969); PRL of Marés and Torra (2012)
    - Cost: O(c² p + rounds · 2^p)
    - Departures: ties count 1/t (decision 0003)
    """

    tally: ClassVar[str] = "probabilistic"

    ties: Literal["expected", "strict"] = Field(
        default="expected", description="credit among t records of greatest weight: 1/t, or only a single one"
    )

    def context(self, original: Table) -> CategoryContext:
        problem = self.obstacle(original)
        if problem:
            raise TableError(problem)
        return super().context(original)

    def obstacle(self, original: Table) -> str:
        found = len(columns_of_categories(original, self.columns))
        too_many = f"{found} columns make too many agreement patterns; name at most {MOST_ATTRIBUTES}"
        return too_many if found > MOST_ATTRIBUTES else super().obstacle(original)

    @property
    def rule(self) -> int:
        """What a link among ties is worth: a rule of `kernels.ledger`."""
        return STRICT if self.ties == "strict" else EXPECTED

    def patterns(self, pairing: Pairing) -> tuple[NDArray[np.int32], NDArray[np.int32], Ints]:
        """Own and all patterns per original tuple, and pairs with each pattern.

        Parameters
        ----------
        pairing : Pairing
            Both files (see `CategoryContext.pair`).

        Returns
        -------
        own, seen, counted : ndarray
        """
        context, shape = pairing.context, pairing.shape
        agree = agreements(pairing)
        seen = tally_agreement_patterns(pairing, agree)
        own = own_patterns(context.tuples, context.classes.of, pairing.codes, pairing.kept, agree, shape.at, shape.wide)
        return own, seen, context.classes.sizes @ seen.astype(np.int64)

    def score(self, pairing: Pairing) -> float:
        return self._score_patterns(pairing)[0]

    def _score_patterns(self, pairing: Pairing) -> tuple[float, Floats]:
        """The share that is found, and the mixture that was fitted to the patterns."""
        own, seen, counted = self.patterns(pairing)
        rows = pairing.context.rows
        fitted = mixture(counted, len(pairing.context.names), rows)
        return float(pattern_risk(own, seen, fitted, self.rule, rows)), fitted

    def explain(self, pairing: Pairing) -> Explained:
        names, rows = pairing.context.names, pairing.context.rows
        found, fitted = self._score_patterns(pairing)
        counts: dict[str, float] = {"share of matching pairs": float(fitted[-1])}
        for j, name in enumerate(names):
            counts[f"agreement of matches in {name}"] = float(fitted[j])
            counts[f"agreement of others in {name}"] = float(fitted[len(names) + j])
        return Explained(found, counts, baseline=100.0 / rows, trials=rows)
