"""Decoding of the solutions of a run: one encoding per search, and the tables decoded last."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace

from crypsis.encodings import ColumnEncoding, Encoding, GroupingEncoding
from crypsis.masking.repairing import repair
from crypsis.plan import Plan
from crypsis.run.solution import BASELINE, Solution
from crypsis.run.store import Store
from crypsis.table.precision import at_source_precision
from crypsis.table.provenance import PERTURBATION, MaskingStep
from crypsis.table.rules import EditRule
from crypsis.table.table import Table


@dataclass(frozen=True)
class Finishing:
    """Makes decoded tables what they are when they are published, so that they are measured as such.

    original  as collected
    rules  what must hold
    """

    original: Table = field(repr=False)
    rules: tuple[EditRule, ...] = ()

    def __call__(self, masked: Table, family: str) -> Table:
        """The finished table; what perturbation broke is counted, as it has no classes that could be kept."""
        rounded = at_source_precision(masked, self.original)
        return rounded if family == PERTURBATION else repair(rounded, self.original, self.rules)


# -- Decoding of the solutions of a run: one encoding per search, and the tables decoded last.

KEPT = 5
"""Number of decoded tables in memory."""


@dataclass
class Encodings:
    """The encodings of the searches of a plan and of the baselines, each built once."""

    plan: Plan
    table: Table
    _built: dict[int, Encoding] = field(default_factory=dict, repr=False)

    def __getitem__(self, search: int) -> Encoding:
        if search not in self._built:
            named = None if search == BASELINE else self.plan.searches()[search]
            self._built[search] = named.encoding(self.table) if named else ColumnEncoding(self.table)
        return self._built[search]


@dataclass
class DecodedTables:
    """The masked tables of solutions, decoded when they are needed; the last ones stay in memory."""

    store: Store
    encodings: Encodings
    finish: Finishing
    _tables: OrderedDict[int, Table] = field(default_factory=OrderedDict, repr=False)

    def __getitem__(self, solution: Solution) -> Table:
        if solution.number not in self._tables:
            row = self.store.solution(solution.number)
            encoding = self.encodings[row.search]
            masked = replace(encoding.decode(row.genome), provenance=None)
            family = (
                solution.family if row.search == BASELINE else self.encodings.plan.search[row.search].build().family
            )
            masked = self.finish(masked, family)
            groups = encoding.together(row.genome) if isinstance(encoding, GroupingEncoding) else ()
            step = MaskingStep(solution.title, family, solution.message, dict(solution.facts), groups)
            self._tables[solution.number] = masked.masked_by(step, self.encodings.table)
        self._tables.move_to_end(solution.number)
        while len(self._tables) > KEPT:
            self._tables.popitem(last=False)
        return self._tables[solution.number]
