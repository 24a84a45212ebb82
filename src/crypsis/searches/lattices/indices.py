"""Quality indices of nodes, all to be maximised as in PBG: worst cases, spreads, and losses turned round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import PlanError, listing, suggestion
from crypsis.kernels.arrays import Floats
from crypsis.kernels.dominance import undominated
from crypsis.kernels.nodes import NodeReadings

Favour = Literal["many", "few"]

INDICES = ("k", "l", "information", "glm", "cm", "s_k", "s_l")
"""k and l: the smallest class and the fewest confidential values; s_k and s_l: Σ over records of class size and of how
often their confidential value occurs in their class; information, glm and cm: how far the loss stays below its largest
value."""


def check_indices(names: Sequence[str], confidential: str | None, label: str | None) -> None:
    """Refuse indices that do not exist or that the table cannot give."""
    for name in names:
        if name not in INDICES:
            raise PlanError(f"there is no index {name!r}{suggestion(name, INDICES)}; known: {listing(INDICES)}")
        if name in ("l", "s_l") and not confidential:
            raise PlanError(
                f"index {name!r} needs a confidential column and there is none; give one the role 'confidential'"
            )
        if name == "cm" and not label:
            raise PlanError("index 'cm' needs a label to predict; name a column as label")
    if {"information", "glm"} <= set(names):
        raise PlanError("a front has one loss: choose the index 'information' or 'glm'")


def quality(
    readings: NodeReadings, names: Sequence[str], records: int, attributes: int, favour: Favour = "many"
) -> Floats:
    """Indices of nodes, to be maximised.

    Parameters
    ----------
    readings : NodeReadings
        What was read off the nodes.
    names : sequence of str
        Which indices.
    records, attributes : int
        Of the table.
    favour : str
        "many" takes a large s_l as good, as the paper's maximisation does; "few" turns it round, since a value that
        fills a class protects nobody in it.

    Returns
    -------
    ndarray of shape (nodes, indices)
    """
    columns: dict[str, Floats] = {
        "k": readings.k.astype(np.float64),
        "l": readings.l.astype(np.float64),
        "information": records * attributes - readings.loss,
        "glm": records * attributes - readings.loss,
        "cm": (records - readings.misfits).astype(np.float64),
        "s_k": readings.size_sum.astype(np.float64),
        "s_l": readings.value_sum.astype(np.float64),
    }
    if favour == "few":
        columns["s_l"] = float(records) ** 2 - columns["s_l"]
    return np.stack([columns[name] for name in names], axis=1)


def ceilings(names: Sequence[str], records: int, attributes: int) -> tuple[float, ...]:
    """The largest value each index can take."""
    cells = float(records * attributes)
    highest = {"information": cells, "glm": cells, "s_k": float(records) ** 2, "s_l": float(records) ** 2}
    return tuple(max(highest.get(name, float(records)), 1.0) for name in names)


@dataclass(frozen=True)
class Wanting:
    """Worth of indices turned round: how far they stay below their ceilings on average, per cent."""

    ceilings: tuple[float, ...]

    def __call__(self, scores: Floats) -> Floats:
        return np.asarray(100.0 * (1.0 + scores / np.array(self.ceilings)).mean(axis=1))


def minimal(indices: Floats) -> NDArray[np.bool_]:
    """Which rows no other row dominates; of equal rows the first alone.

    Parameters
    ----------
    indices : ndarray of shape (nodes, indices)
        All to be maximised.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> minimal(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])).tolist()
    [True, True, False]
    """
    scores = np.ascontiguousarray(-indices)
    return undominated(scores, np.lexsort(scores.T[::-1]))


def boxes(indices: Floats, sides: Sequence[float]) -> Floats:
    """The box of every row under a discretisation vector."""
    return np.asarray(np.floor(indices / np.array(sides)))


def convergence_error(found: Floats, truth: Floats) -> float:
    """CE: Σ over nodes found of the distance to the nearest true minimal node; indices over their largest in truth.

    Parameters
    ----------
    found, truth : ndarray of shape (nodes, indices)
        Indices of the nodes found and of the true front.

    Returns
    -------
    float
    """
    scale = np.where(truth.max(axis=0) > 0, truth.max(axis=0), 1.0)
    a, b = found / scale, truth / scale
    return float(np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)).min(axis=1).sum())


def representation_ratio(found: Floats, truth: Floats, sides: Sequence[float]) -> float:
    """RR: share of truth's non-dominated boxes that hold something found.

    Parameters
    ----------
    found, truth : ndarray of shape (nodes, indices)
        Indices of the nodes found and of the true front.
    sides : sequence of float
        Side of a box along each index.

    Returns
    -------
    float
    """
    marked = boxes(truth, sides)
    marked = marked[minimal(marked)]
    occupied = {tuple(row) for row in boxes(found, sides).tolist()}
    return sum(tuple(row) in occupied for row in marked.tolist()) / max(len(marked), 1)
