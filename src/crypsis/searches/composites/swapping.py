"""Composite groups whose records trade what they publish with records of neighbouring groups.

Every set of values is still published by k records at least. A record that publishes the values of another near group
instead of the nearest loses little more, and an intruder who takes the nearest values finds somebody else. Records
spread over many ranks of nearness, so that an intruder who takes the second nearest, or the third, finds no more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.composite import NONE, CompositeGroups
from crypsis.kernels.composite_swaps import FAR, Published, SwapPace, Swaps, find_options, trade_values
from crypsis.masking.representatives import published_by_column
from crypsis.searches.composites.space import CompositeSpace, Labels, on_line
from crypsis.table.attribute import Kind
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import LOCAL, Table

PRESSURES = (0.5, 5.0, 1.3, 0.13, 0.25, 0.8, 0.06, 2.1, 12.0, 0.02)
"""Prices of a record that is found, in what is lost for each record found while nobody trades."""
FEWER = 3
"""How many of these prices there are for other groups than the smallest."""
BETWEEN = (1.0, 1.27, 0.79)
"""Times these prices, in turn: the next time records trade, at prices between."""
OPTIONS = 16
"""Groups whose values a record may publish."""
RANKS = 24
"""Ranks of nearness of which none may find more records than the nearest."""
LOOKED = 1e8
"""Cells up to which every record is compared with every group; beyond, with those of near records."""
PASSES, FEW = 12, 500
"""How often all records are looked at for one price at most, and until fewer than one in so many changes."""


def published_values(space: CompositeSpace, profile: int, labels: Labels) -> Published:
    """What groups publish, as the kernels read it."""
    table, cells = space.table, space.cells[profile]
    masked = published_by_column(table, dict(zip(space.names, space.profiles[profile], strict=True)), labels)
    head = np.zeros(int(labels.max()) + 1, np.int64)
    head[labels[::-1]] = np.arange(len(labels))[::-1]
    columns = [_published(table, masked, space, a, head, cells.codes[:, a], cells.values[:, a]) for a in _range(space)]
    levels, codes, places = (np.stack(each, axis=1) for each in zip(*columns, strict=True))
    return Published(
        np.ascontiguousarray(levels, np.int32),
        np.ascontiguousarray(codes, np.int32),
        np.ascontiguousarray(places, np.float64),
        np.array([_reach(table, name, cells.values[:, a], cells.codes[:, a]) for a, name in enumerate(space.names)]),
    )


def _range(space: CompositeSpace) -> range:
    return range(len(space.names))


def _reach(table: Table, name: str, values: NDArray[np.float64], codes: NDArray[np.int32]) -> float:
    """What a distance counts for an intruder: deviations of a number, steps of ordered categories."""
    if not table.attribute(name).numeric:
        return float(table.attribute(name).kind is Kind.ORDINAL)
    deviation = float(values[codes >= 0].std()) if (codes >= 0).any() else 0.0
    return 1.0 / deviation if deviation > 0 else 0.0


def _published(
    table: Table,
    masked: Table,
    space: CompositeSpace,
    a: int,
    head: NDArray[np.int64],
    codes: NDArray[np.int32],
    values: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Level, code and place of what each group publishes in one column."""
    name, rows = space.names[a], np.flatnonzero(table.kept)
    shown, attribute = masked.column(name)[rows][head], table.attribute(name)
    value_of = np.zeros(int(codes.max(initial=0)) + 1)
    value_of[codes[codes >= 0]] = values[codes >= 0]
    if masked.level(name) == LOCAL:
        assert attribute.hierarchy is not None
        offsets = np.asarray(attribute.hierarchy.offsets)
        levels = np.searchsorted(offsets, shown, side="right") - 1
        levels = np.where(shown == MISSING, NONE, levels)
        found = np.where(shown == MISSING, 0, shown - offsets[np.maximum(levels, 0)])
        return levels, found, np.where(levels == 0, value_of[np.minimum(found, len(value_of) - 1)], 0.0)
    if attribute.numeric:
        present = ~np.isnan(shown)
        mean = float(values[codes >= 0].mean()) if (codes >= 0).any() else 0.0
        places = np.where(present, on_line(table, name, shown), mean)
        return np.where(present, 0, NONE), np.zeros(len(head), np.int64), places
    code_of = np.zeros(len(attribute.categories) + 1, np.int64)
    collected = table.column(name)[rows]
    code_of[collected[codes >= 0]] = codes[codes >= 0]
    found = np.where(shown == MISSING, 0, code_of[shown])
    return np.where(shown == MISSING, NONE, 0), found, value_of[found]


def pressure(number: int, turn: int) -> float:
    """The price at which records trade: the next of a turn, between those of the turn before."""
    return PRESSURES[number] * BETWEEN[turn % len(BETWEEN)]


def swapped(space: CompositeSpace, profile: int, k: int, labels: Labels, pressure: float) -> Labels:
    """Whose values each record publishes once records have traded at a price.

    labels  groups 0, 1, … without gaps, of at least k records
    pressure  price of a record that is found, in what is lost for each record found while nobody trades
    """
    n, many = len(labels), int(labels.max()) + 1
    labels, cells = np.ascontiguousarray(labels, np.int32), space.cells[profile]
    published, around = (
        published_values(space, profile, labels),
        space.whole_around(many * n * len(space.names) <= LOOKED),
    )
    groups = CompositeGroups(
        labels=np.zeros(n, np.int32),
        head=np.full(many, NONE, np.int32),
        after=np.zeros(n, np.int32),
        before=np.zeros(n, np.int32),
        sizes=np.zeros(many, np.int32),
        costs=np.zeros((1, 1)),
        fresh=np.zeros((1, 1)),
        used=np.array([many]),
    )
    count = min(OPTIONS, many)
    swaps = Swaps(
        options=np.full((n, count), NONE, np.int32),
        lost=np.zeros((n, count)),
        near=np.full((n, RANKS), FAR),
        share=np.zeros(n),
        spent=np.zeros(n),
        rank=np.zeros(n, np.int32),
        chance=np.zeros(n),
        found=np.zeros(RANKS + 1),
        stamp=np.full(many, NONE, np.int32),
        pair=np.zeros(2),
    )
    unit = find_options(cells, published, around, labels, groups, swaps)
    pace, rows = SwapPace(k, pressure * unit, PASSES, FEW), np.zeros(n + 1, np.int64)
    trade_values(space.charges(), cells, published, groups, swaps, rows, pace)
    return groups.labels
