"""The population of masked files: their tallies, what they may hold, and how one becomes a table again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.masked_file import MaskedFileEncoding
from crypsis.errors import SearchError, listing
from crypsis.kernels import ledger as kernels
from crypsis.kernels.ledger_types import Trial
from crypsis.measures.categorical_ledger import NAMES, Seven, Stack
from crypsis.measures.categorical_loss import ContingencyLoss, DistanceLoss, EntropyLoss
from crypsis.measures.categorical_risk import CategoryDisclosure, CategoryLinkage, RankLinkage
from crypsis.measures.measure import Measure
from crypsis.measures.probabilistic_linkage import ProbabilisticLinkage
from crypsis.privacy.model import PrivacyModel
from crypsis.table.table import Table

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Allowed = Callable[[Mapping[str, str | None]], bool]
"""Whether a masked record may hold these labels (None: missing), column by column."""

MOST_COMBINATIONS = 2_000_000
PER_AMENDMENT, PER_PAIR, PER_ROW = 15.0, 6.0, 800.0
"""Nanoseconds, roughly: an amendment per original tuple; a full count per pair of tuples and per record."""


def seven(chosen: Sequence[Measure] | None = None) -> Seven:
    """The measures a search tallies: all seven as they come, or those given."""
    if chosen is None:
        return Seven(
            ContingencyLoss(),
            DistanceLoss(),
            EntropyLoss(),
            CategoryDisclosure(),
            CategoryLinkage(),
            ProbabilisticLinkage(),
            RankLinkage(),
        )
    kinds = {
        ContingencyLoss: "contingency",
        DistanceLoss: "distance",
        EntropyLoss: "entropy",
        CategoryDisclosure: "disclosure",
        CategoryLinkage: "linkage",
        ProbabilisticLinkage: "probabilistic",
        RankLinkage: "rank",
    }
    strange = [type(measure).__name__ for measure in chosen if type(measure) not in kinds]
    if strange:
        raise SearchError(f"the search of maskings cannot follow {listing(strange)}; it knows {listing(NAMES)}")
    picked = Seven(**{kinds[type(measure)]: measure for measure in chosen})  # type: ignore[arg-type]
    if not picked.chosen[:3].any() or not picked.chosen[3:].any():
        raise SearchError("the search weighs loss against risk; choose at least one measure of each")
    return picked


class Files:
    """Masked files of one original, their readings, and scratch places for children.

    who is a file's place in the population, and stays; where its tallies lie changes as children take over.
    """

    def __init__(
        self,
        original: Table,
        population: Sequence[Table],
        measured: Seven,
        columns: Sequence[str] = (),
        forbidden: Sequence[Mapping[str, str]] = (),
        allowed: Allowed | None = None,
        models: Sequence[PrivacyModel] = (),
    ) -> None:
        if not population:
            raise SearchError("the population is empty; give the search at least one masked file")
        if any(not file.kept.all() for file in population):
            raise SearchError("a suppressed record has no cells to evolve; give files without suppression")
        self.original, self.models = original, tuple(models)
        self.encoding = MaskedFileEncoding(original, tuple(columns))
        self.context = self.encoding.context
        pairings = self.context.join(population)
        self.news = [self.context.news(name, population) for name in self.context.names]
        self.encoding = replace(self.encoding, merged=[tuple(new) for new in self.news])
        self.spans = pairings[0].spans
        allowance = self._allowance(forbidden, allowed, [len(span) for span in self.spans])
        fit = [p for p, file in zip(pairings, population, strict=True) if self._fits(p.codes, file, *allowance)]
        if not fit:
            raise SearchError(
                f"none of the {len(population)} files keeps every constraint; "
                "give files that already satisfy the models and avoid the forbidden combinations"
            )
        self.left_out = len(population) - len(fit)
        size, scratch = len(fit), 2
        self.stack = Stack(fit[0], measured, size + scratch)
        self.slot = list(range(size))
        self.spare = list(range(size, size + scratch))
        self.trial = Trial(
            goals=np.ones((size + scratch, 4)),
            readings=np.full((size + scratch, len(NAMES)), np.nan),
            pairs=np.full((size + scratch, 2), np.nan),
            sizes=np.array(self.context.sizes, dtype=np.int64),
            ordinal=np.array(self.context.ordinal, dtype=np.bool_),
            allowed=allowance[0],
            strides=allowance[1],
        )
        for place, pairing in enumerate(fit):
            self.stack.fill(place, pairing.codes)
            self.reread(place)

    def __len__(self) -> int:
        return len(self.slot)

    def reread(self, slot: int) -> None:
        """Readings of a slot from its tallies."""
        self.trial.readings[slot] = self.stack.read(slot)
        self.trial.pairs[slot] = kernels.halves(self.trial.readings[slot], self.stack.frame.chosen)

    def codes(self, who: int) -> Codes:
        codes: Codes = self.stack.tallies.codes[self.slot[who]]
        return codes

    @property
    def readings(self) -> Floats:
        """float64[N, 7] in the order of the population."""
        return self.trial.readings[self.slot]

    @property
    def pairs(self) -> Floats:
        """float64[N, 2]: mean loss and mean risk of each file."""
        return self.trial.pairs[self.slot]

    # -- constraints --

    def _allowance(
        self, forbidden: Sequence[Mapping[str, str]], allowed: Allowed | None, widths: Sequence[int]
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which combinations of codes may occur (empty: all), and the strides that find them."""
        strides = np.array([math.prod(widths[j + 1 :]) for j in range(len(widths))], dtype=np.int64)
        if not forbidden and allowed is None:
            return np.empty(0, dtype=np.bool_), np.zeros(len(widths), dtype=np.int64)
        if math.prod(widths) > MOST_COMBINATIONS:
            raise SearchError(
                f"constraints on {math.prod(widths)} combinations of categories are too many; protect fewer columns"
            )
        grid = np.ones(widths, dtype=np.bool_)
        for rule in forbidden:
            grid[tuple(self._places(rule, name, j) for j, name in enumerate(self.context.names))] = False
        if allowed is not None:
            labels = [[*self.context.labels[j], None, None, *self.news[j]] for j in range(len(widths))]
            for cell in product(*(range(width) for width in widths)):
                held = {name: labels[j][cell[j]] for j, name in enumerate(self.context.names)}
                grid[cell] = grid[cell] and allowed(held)
        return grid.ravel(), strides

    def _places(self, rule: Mapping[str, str], name: str, j: int) -> slice | int:
        unknown = sorted(set(rule) - set(self.context.names))
        if unknown or not rule:
            raise SearchError(f"a forbidden combination names {listing(unknown) or 'nothing'}; use protected columns")
        if name not in rule:
            return slice(None)
        labels = [*self.context.labels[j], None, None, *self.news[j]]
        if rule[name] not in labels:
            raise SearchError(f"a forbidden combination uses a category that column {name!r} does not have")
        return labels.index(rule[name])

    def _fits(self, codes: Codes, table: Table, grid: NDArray[np.bool_], strides: NDArray[np.int64]) -> bool:
        if len(grid) and not grid[codes @ strides].all():
            return False
        return all(model.judge(table).holds for model in self.models)

    def fits(self, slot: int) -> bool:
        """Whether the file in a slot keeps every constraint."""
        codes = self.stack.tallies.codes[slot]
        return self._fits(codes, self.decode(codes) if self.models else self.original, *self.trial[5:7])

    # -- breeding --

    def cross(self, who: int, mate: int, slot: int, first: int, last: int) -> None:
        """A child of `who` in a spare slot, with the mate's cells first … last of the flattened file."""
        parent, other = self.slot[who], self.slot[mate]
        codes = self.stack.tallies.codes
        attributes = codes.shape[2]
        rows = slice(first // attributes, last // attributes + 1)
        changed = int((codes[parent, rows] != codes[other, rows]).any(axis=1).sum())
        tuples = len(self.stack.frame.tuples)
        if changed * tuples * PER_AMENDMENT < tuples * tuples * PER_PAIR + len(codes[0]) * PER_ROW:
            self.stack.copy(parent, slot)
            kernels.cross(self.stack.frame, self.stack.tallies, other, slot, first, last)
        else:
            child = codes[parent].copy()
            child.ravel()[first : last + 1] = codes[other].ravel()[first : last + 1]
            self.stack.fill(slot, child)
        self.reread(slot)

    def take_over(self, who: int, slot: int) -> None:
        """The child in a spare slot takes the place of `who`, whose slot becomes spare."""
        old = self.slot[who]
        self.trial.goals[slot] = self.trial.goals[old]
        self.slot[who] = slot
        self.spare[self.spare.index(slot)] = old

    def adopt(self, who: int, model: int) -> None:
        """File `who` becomes a copy of another, and keeps its own goal."""
        here, there = self.slot[who], self.slot[model]
        self.stack.copy(there, here)
        self.trial.readings[here] = self.trial.readings[there]
        self.trial.pairs[here] = self.trial.pairs[there]

    def decode(self, codes: Codes) -> Table:
        """A table from codes."""
        return self.encoding.decode(codes)

    def table(self, who: int) -> Table:
        return self.decode(self.codes(who))
