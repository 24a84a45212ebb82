"""Attacks that the search of maskings does not minimise: a file bred against one attack may still fall to another.

Each comes as a `Reading`, so that a report can set it beside the figures the search minimised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.kernels.arrays import Floats
from crypsis.kernels.linkage import nearest
from crypsis.measures.categorical_ledger import BoundCategories, Explained
from crypsis.measures.categorical_risk import CategoryLinkage, RankLinkage
from crypsis.measures.categories import CategoryContext, Pairing
from crypsis.measures.measure import Reading
from crypsis.measures.record_linkage import ProbabilisticLinkage
from crypsis.table.table import Table

Rows = NDArray[np.int64]

LEVELS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Weights of an attribute the intruder tries."""
ROUNDS = 3


def hold_out(original: Table, masked: Table, rng: Generator, columns: Sequence[str] = ()) -> dict[str, Reading]:
    """Readings of attacks the search does not minimise.

    Half of the records, drawn by `rng`, teach the intruder; the other half is what the learned attacks are judged on.
    """
    context = CategoryContext.of(original, columns)
    pairing = context.pair(masked)
    order = rng.permutation(context.rows)
    known, control = np.sort(order[: context.rows // 2]), np.sort(order[context.rows // 2 :])
    names = context.names
    plain = {
        "linkage, a single nearest": CategoryLinkage(columns=names, ties="strict"),
        "linkage, lowest row wins": CategoryLinkage(columns=names, ties="first"),
        "linkage, ranks over |D| − 1": CategoryLinkage(columns=names, divisor="range"),
        "probabilistic linkage, a single best": ProbabilisticLinkage(columns=names, ties="strict"),
        "rank linkage, closest": RankLinkage(columns=names, window=50.0, credit="nearest"),
        "rank linkage, window unknown": RankLinkage(columns=names, window=None, credit="expected"),
    }
    found = {name: replace(measure.against(original).explain(masked), measure=name) for name, measure in plain.items()}
    found["linkage, learned weights"] = _learn_linkage(pairing, known, control)
    found["inference, learned"] = _learn_inference(pairing, known, control)
    return found


def _link_credits(pairing: Pairing, measure: CategoryLinkage) -> Floats:
    """float64[n]: 1/t for a record whose own masked version is among its t nearest, else 0."""
    context, shape = pairing.context, pairing.shape
    costs = measure.costs(pairing)
    crowd, counts, first = pairing.crowd
    best, ties, _ = nearest(context.tuples, crowd, counts, first, costs, shape.at, shape.wide, False)
    own = np.zeros(context.rows, dtype=np.int64)
    for j in range(len(context.sizes)):
        own += costs[shape.at[j] + pairing.codes[:, j] * shape.wide[j] + context.codes[:, j]]
    right = pairing.kept & (own == best[context.classes.of])
    return np.where(right, 1.0 / np.maximum(ties[context.classes.of], 1), 0.0)


def _learn_weights(pairing: Pairing, known: Rows) -> dict[str, float]:
    """Weights, attribute by attribute, under which most of the known records are linked rightly."""
    weights = dict.fromkeys(pairing.context.names, 1.0)
    best = _link_credits(pairing, CategoryLinkage(weights=weights))[known].sum()
    for _ in range(ROUNDS):
        before = best
        for name in weights:
            for level in LEVELS:
                tried = {**weights, name: level}
                if not any(tried.values()):
                    continue
                credit = _link_credits(pairing, CategoryLinkage(weights=tried))[known].sum()
                if credit > best:
                    weights, best = tried, credit
        if best == before:
            break
    return weights


def _learn_linkage(pairing: Pairing, known: Rows, control: Rows) -> Reading:
    """Distance-based linkage with weights learned on some records and judged on others."""
    weights = _learn_weights(pairing, known)
    credit = _link_credits(pairing, CategoryLinkage(weights=weights))
    equal = _link_credits(pairing, CategoryLinkage())
    value = 100.0 * float(credit[control].mean())
    counts = {f"weight of {name}": weight for name, weight in weights.items()}
    counts["on the half that taught"] = 100.0 * float(credit[known].mean()) if len(known) else 0.0
    counts["with equal weights"] = 100.0 * float(equal[control].mean())
    bound = BoundCategories(CategoryLinkage(), pairing.context)
    return replace(
        bound.make_reading(Explained(value, counts, 100.0 / pairing.context.rows, len(control))),
        measure="linkage, learned weights",
        definition="nearest masked record by weights learned on half of the records; other half judged",
    )


def _learn_inference(pairing: Pairing, known: Rows, control: Rows) -> Reading:
    """Guess each original category from its masked one, by what half of the records teach."""
    context = pairing.context
    right, guess = [], []
    for j, span in enumerate(pairing.spans):
        size = context.sizes[j] + 1
        seen = np.zeros((len(span), size), dtype=np.int64)
        np.add.at(seen, (pairing.codes[known, j], context.codes[known, j]), 1)
        usual = int(seen.sum(axis=0).argmax())
        told = np.where(seen.any(axis=1), seen.argmax(axis=1), usual)
        right.append(np.mean(told[pairing.codes[control, j]] == context.codes[control, j]))
        guess.append(np.mean(context.codes[control, j] == usual))
    value, baseline = 100.0 * float(np.mean(right)), 100.0 * float(np.mean(guess))
    return replace(
        BoundCategories(CategoryLinkage(), context).make_reading(Explained(value, {}, baseline)),
        measure="inference, learned",
        definition="most likely original category given the masked one, learned on half, judged on the other half",
    )
