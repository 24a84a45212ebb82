"""Local recoding in pieces of work: tuples freeze some nodes at a time, and records move some groups at a time."""

from __future__ import annotations

from collections.abc import Generator as Iteration

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.recoding import ClassDemand, Homes, Tuples, freeze, rehome_in

FREEZING = 60_000_000
"""Cells of tuples that are looked up in one piece of work: some 80 ms."""
MOVING = 2_000_000
"""Comparisons of one piece of work in which records move: some 150 ms."""

ROUNDING = 1e-12
"""Part of a sum by which sums of the same losses differ."""


def frozen(tuples: Tuples, nodes: NDArray[np.int16], demand: ClassDemand) -> Iteration[None, None, NDArray[np.int64]]:
    """What `freeze` gives, some nodes at a time: only tuples that are not frozen yet are offered the next."""
    owner = np.full(len(tuples.records), -1, dtype=np.int64)
    alive, node, groups = np.arange(len(owner)), 0, 0
    while node < len(nodes) and len(alive):
        some = max(1, FREEZING // max(1, len(alive) * tuples.leaf.shape[1]))
        part = tuples._replace(
            leaf=np.ascontiguousarray(tuples.leaf[alive]),
            records=tuples.records[alive],
            present=np.ascontiguousarray(tuples.present[alive]),
        )
        given = freeze(part, nodes[node : node + some], demand)
        owner[alive[given >= 0]] = groups + given[given >= 0]
        groups += int(given.max(initial=-1)) + 1
        alive, node = alive[given < 0], node + some
        yield
    return owner


def moved(tuples: Tuples, homes: Homes, k: int, effort: int) -> Iteration[None, None, None]:
    """Passes over the groups, dearest first, some groups at a time, until nothing changes or the effort is spent.

    Whether a group is worth giving up is estimated: two of its members may count on the same records of a third group.
    A pass after which more is lost than before is taken back and is the last one.
    """
    changed = True
    while changed and effort > 0:
        used = int(homes.used[1])
        order = np.argsort(-homes.loss[:used], kind="stable")
        pieces = np.cumsum(homes.size[order]) * used // MOVING
        before, known, changed = _lost(homes), [part.copy() for part in homes], False
        for group in np.split(order, np.flatnonzero(np.diff(pieces)) + 1):
            left = rehome_in(group, tuples, homes, k, True, effort)
            changed |= left > 0
            effort -= int(homes.size[group].sum()) * used
            yield
            if effort <= 0:
                break
        if _lost(homes) > before * (1 + ROUNDING):
            for part, earlier in zip(homes, known, strict=True):
                part[...] = earlier
            return


def _lost(homes: Homes) -> float:
    """The loss of all records."""
    return float(np.sum(homes.size * homes.loss))
