"""Two files as columns of numbers in one numbering, for a model that tells them apart."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from crypsis.kernels.arrays import Floats, Ints
from crypsis.measures.pairing import alike_codes, finite_numbers, published_numbers
from crypsis.measures.spreading import ELSEWHERE, Axis
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

    Parameters
    ----------
    original, masked : Table
        Row by row the same records.
    names : tuple of str
        The attributes.
    rows : int64[m]
        The records that are used.

    Returns
    -------
    before, after : PropensityDesign
    """
    first, last, owner, numeric = list[Floats](), list[Floats](), list[int](), list[bool]()
    for place, name in enumerate(names):
        if original.holds_numbers(name):
            a, b = _number(finite_numbers(original, name)[rows], _as_published(masked, name)[rows])
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
    return np.where(masked.kept, published_numbers(masked, name), np.nan)


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
        return _dummies(before[rows], cells), _spread(original, masked, name, cells)[rows]
    after = (alike_codes(original, masked, name)[0] if level == 0 else masked.column(name)).astype(np.int64)
    cells = _common(before[rows], after[rows])
    return _dummies(before[rows], cells), _dummies(after[rows], cells)


def _common(before: Ints, after: Ints) -> Ints:
    """The commonest values of both files together, without the very commonest."""
    values, counts = np.unique(np.concatenate([before, after]), return_counts=True)
    return values[np.argsort(-counts, kind="stable")][1:LEVELS]


def _dummies(codes: Ints, cells: Ints) -> Floats:
    """One column for each cell."""
    return np.asarray((codes[:, None] == cells[None, :]).astype(np.float64))


def _spread(original: Table, masked: Table, name: str, cells: Ints) -> Floats:
    """The share of each cell in what a locally recoded record publishes."""
    design = np.zeros((masked.rows, len(cells)))
    for codes, wanted, share in Axis.of(original, name, 2).readings(original, masked, cells):
        here = (codes[:, None] == wanted[None, :]) & (codes[:, None] != ELSEWHERE)
        design += np.where(here, share[:, None], 0.0)
    return np.where(cells[None, :] == MISSING, (masked.column(name) == MISSING)[:, None], design)
