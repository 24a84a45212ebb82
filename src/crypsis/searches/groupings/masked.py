"""From a grouping to the masked table, its account in words, and its reading by any registered measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crypsis.errors import SearchError
from crypsis.evolution import Scores
from crypsis.measures.measure import BoundMeasure, Measure
from crypsis.searches.groupings.encoding import Genome, Partitions, group_count, in_words
from crypsis.searches.groupings.fitness import Evaluator
from crypsis.searches.search import Account
from crypsis.table.table import Table


@dataclass(frozen=True)
class TableGroupings(Partitions):
    """Groupings of some columns of a table; every other column, and every suppressed record, stays as it is."""

    table: Table = field(kw_only=True)
    names: tuple[str, ...] = field(kw_only=True)
    evaluator: Evaluator = field(kw_only=True, repr=False)

    def decode(self, genome: Genome) -> Table:
        """The table with each group of columns microaggregated by itself."""
        masked = self.evaluator.masked(genome)
        columns = {}
        for j, name in enumerate(self.names):
            column = self.table.column(name).copy()
            column[self.table.kept] = masked[:, j]
            columns[name] = column
        return self.table.with_columns(columns)

    def tell(self, genome: Genome) -> Account:
        """What is grouped with what, and what that leaves of k over all quasi-identifiers."""
        masked = self.decode(genome)
        known = masked.quasi_identifiers or list(self.names)
        codes = masked.codes(known)[masked.kept]
        _, sizes = np.unique(codes, axis=0, return_counts=True)
        fitness, effective = self.evaluator.fitness(genome), int(sizes.min())
        unique = 100.0 * float((sizes == 1).sum()) / len(codes)
        groups, k = group_count(genome), int(genome[-1])
        held = "holds" if effective >= k else "does not hold"
        told = f"{unique:.1f} % of the records are unique" if unique else "no record is unique"
        words = (
            f"{in_words(genome, self.names)}; k = {k} {held} over all {len(known)} quasi-identifiers: effective k is "
            f"{effective}, {told}"
        )
        facts = {
            "groups": groups, "k": k, "effective_k": effective, "unique_percent": unique,
            "IL": fitness.IL, "ID": fitness.ID, "DLD": fitness.DLD, "score": fitness.score,
        }  # fmt: skip
        return Account(words, facts)


@dataclass
class MeasuredEvaluator:
    """(mean loss, mean risk) of the decoded table under measures of the user's choice."""

    space: TableGroupings
    table: Table
    measures: dict[str, Measure]

    def __post_init__(self) -> None:
        aims = {measure.aim for measure in self.measures.values()}
        if not {"loss", "risk"} <= aims:
            raise SearchError(
                f"search 'grouping' weighs a loss against a risk, but the measures chosen are {sorted(self.measures)}; "
                f"name at least one of each, or none to use its own"
            )
        for name, measure in self.measures.items():
            obstacle = measure.obstacle(self.table)
            if obstacle:
                raise SearchError(f"search 'grouping': measure {name!r} cannot be read: {obstacle}")
        self._bound_measures: dict[str, BoundMeasure] = {
            name: m.against(self.table) for name, m in self.measures.items()
        }

    def __getstate__(self) -> dict[str, Any]:
        return {"space": self.space, "table": self.table, "measures": self.measures}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __call__(self, genome: Genome) -> Scores:
        masked = self.space.decode(genome)
        return self._mean("loss", masked), self._mean("risk", masked)

    def _mean(self, aim: str, masked: Table) -> float:
        readings = [
            bound.read(masked) * (1.0 if self.measures[name].better == "low" else -1.0)
            for name, bound in self._bound_measures.items()
            if self.measures[name].aim == aim
        ]
        return float(np.mean(readings))
