"""What a masked file may hold: combinations of categories, and privacy models every file must satisfy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.masked_file import MaskedFileEncoding
from crypsis.errors import SearchError, listing
from crypsis.kernels.linkage import nearest
from crypsis.measures.categorical_ledger import BoundCategories, Explained
from crypsis.measures.categorical_risk import CategoryLinkage, RankLinkage
from crypsis.measures.categories import CategoryContext, Pairing
from crypsis.measures.measure import Reading
from crypsis.measures.probabilistic_linkage import ProbabilisticLinkage
from crypsis.privacy.model import PrivacyModel
from crypsis.table.table import Table

Codes = NDArray[np.signedinteger[Any]]
Rule = Mapping[str, str]
"""Column → category: a combination that no masked record may have."""
Allowed = Callable[[Mapping[str, str | None]], bool]
"""Whether a masked record may hold these labels (None: missing), column by column."""

MOST_COMBINATIONS = 2_000_000


@dataclass(frozen=True, eq=False)
class Constraints:
    """What every file of a population keeps.

    encoding  how codes become a table, for the models
    allowed  by combination of codes, found by the `strides`; empty if everything is allowed
    strides  int64[p]: distance of a column's codes in `allowed`
    models  judged on the decoded table
    """

    encoding: MaskedFileEncoding
    allowed: NDArray[np.bool_]
    strides: NDArray[np.int64]
    models: tuple[PrivacyModel, ...] = ()

    @classmethod
    def of(
        cls,
        encoding: MaskedFileEncoding,
        forbidden: Sequence[Rule] = (),
        allowed: Allowed | None = None,
        models: Sequence[PrivacyModel] = (),
    ) -> Constraints:
        """From forbidden combinations, a rule of the user's own, and privacy models."""
        labels, names = encoding.labels, encoding.context.names
        widths = [len(known) for known in labels]
        if not forbidden and allowed is None:
            return cls(encoding, np.empty(0, dtype=np.bool_), np.zeros(len(widths), dtype=np.int64), tuple(models))
        if math.prod(widths) > MOST_COMBINATIONS:
            raise SearchError(
                f"constraints on {math.prod(widths)} combinations of categories are too many; protect fewer columns"
            )
        grid = np.ones(widths, dtype=np.bool_)
        for rule in forbidden:
            problem = misfit(rule, encoding)
            if problem:
                raise SearchError(problem)
            where = (labels[j].index(rule[name]) if name in rule else slice(None) for j, name in enumerate(names))
            grid[tuple(where)] = False
        if allowed is not None:
            for cell in product(*(range(width) for width in widths)):
                held = {name: labels[j][cell[j]] for j, name in enumerate(names)}
                grid[cell] = grid[cell] and allowed(held)
        strides = np.array([math.prod(widths[j + 1 :]) for j in range(len(widths))], dtype=np.int64)
        return cls(encoding, grid.ravel(), strides, tuple(models))

    def broken(self, codes: Codes) -> NDArray[np.bool_]:
        """bool[n]: records that hold a combination they may not."""
        if not len(self.allowed):
            return np.zeros(len(codes), dtype=np.bool_)
        return np.asarray(~self.allowed[codes @ self.strides])

    def hold(self, codes: Codes) -> bool:
        """Whether a file keeps every constraint."""
        return not self.broken(codes).any() and self.models_hold(codes)

    def models_hold(self, codes: Codes) -> bool:
        """Whether the decoded file satisfies every model."""
        if not self.models:
            return True
        table = self.encoding.decode(codes)
        return all(model.judge(table).holds for model in self.models)


def misfit(rule: Rule, encoding: MaskedFileEncoding) -> str:
    """Why a forbidden combination does not fit the columns, in a sentence; empty if it does."""
    labels = dict(zip(encoding.context.names, encoding.labels, strict=True))
    unknown = sorted(set(rule) - set(labels))
    if unknown or not rule:
        return f"a forbidden combination names {listing(unknown) or 'nothing'}; use protected columns"
    for name, label in rule.items():
        if label not in labels[name]:
            return f"a forbidden combination uses a category that column {name!r} does not have"
    return ""


# -- Attacks a search did not use: a file bred against one attack may still fall to another.
#
# Each comes as a `Reading`, so that a report can set it beside the figures the search minimised.

Floats = NDArray[np.float64]
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
    found["linkage, learned weights"] = learned_linkage(pairing, known, control)
    found["inference, learned"] = learned_inference(pairing, known, control)
    return found


def link_credits(pairing: Pairing, measure: CategoryLinkage) -> Floats:
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


def learn_weights(pairing: Pairing, known: Rows) -> dict[str, float]:
    """Weights, attribute by attribute, under which most of the known records are linked rightly."""
    weights = dict.fromkeys(pairing.context.names, 1.0)
    best = link_credits(pairing, CategoryLinkage(weights=weights))[known].sum()
    for _ in range(ROUNDS):
        before = best
        for name in weights:
            for level in LEVELS:
                tried = {**weights, name: level}
                if not any(tried.values()):
                    continue
                credit = link_credits(pairing, CategoryLinkage(weights=tried))[known].sum()
                if credit > best:
                    weights, best = tried, credit
        if best == before:
            break
    return weights


def learned_linkage(pairing: Pairing, known: Rows, control: Rows) -> Reading:
    """Distance-based linkage with weights learned on some records and judged on others."""
    weights = learn_weights(pairing, known)
    credit = link_credits(pairing, CategoryLinkage(weights=weights))
    equal = link_credits(pairing, CategoryLinkage())
    value = 100.0 * float(credit[control].mean())
    counts = {f"weight of {name}": weight for name, weight in weights.items()}
    counts["on the half that taught"] = 100.0 * float(credit[known].mean()) if len(known) else 0.0
    counts["with equal weights"] = 100.0 * float(equal[control].mean())
    bound = BoundCategories(CategoryLinkage(), pairing.context)
    return replace(
        bound.reading(Explained(value, counts, 100.0 / pairing.context.rows, len(control))),
        measure="linkage, learned weights",
        definition="nearest masked record by weights learned on half of the records; other half judged",
    )


def learned_inference(pairing: Pairing, known: Rows, control: Rows) -> Reading:
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
        BoundCategories(CategoryLinkage(), context).reading(Explained(value, {}, baseline)),
        measure="inference, learned",
        definition="most likely original category given the masked one, learned on half, judged on the other half",
    )
