"""The search "mixed-masking": values exchanged between records until many attacks find few of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from crypsis.encodings.masked_file import ExchangeEncoding
from crypsis.evolution import Budget, Problem
from crypsis.masking.method import Family
from crypsis.measures.information_loss import CellLoss, ColumnInformation, InformationLoss
from crypsis.measures.linkage_attacks import LinkageAttack, searched_linkage_attacks
from crypsis.measures.objective import Objective
from crypsis.measures.one_to_one_linkage import OneToOneLinkage
from crypsis.measures.rule_violations import RuleViolations
from crypsis.searches.mixed_masking.annealing import ExchangeChains
from crypsis.searches.mixed_masking.space import Columns, ExchangeSpace, is_listable_in_space
from crypsis.searches.search import Idle, MeasuredScores, ObjectiveScores, Search, searches
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.rules import EditRule, read_rule
from crypsis.table.table import Table

FEWEST = 4
"""Records among which values can be exchanged."""
MOST_RECORDS = 20_000
"""Records above which a first plan does not offer the search: every one must be hidden from every attack."""
CLOSE, FAR = 0.9, 0.6
"""Shares of a limit of the plan between which the limits of the search begin: held-out attacks find a little more."""

LOOKED_FOR = 1000
"""People whom one-to-one linkage looks for while the search goes on."""


@searches.add("mixed-masking")
class MixedMaskingSearch(Search):
    """Whose value should each record show? Values exchanged between similar records until attacks find few of them.

    Marés and Torra (2012) for mixed files. Numbers are exchanged between records, so that each column keeps its
    values; categories are exchanged or replaced; changes are aimed at records that are found. Linkage by every column
    and by many sets of three and four is followed exactly through each change. The file shows values of other people,
    so class sizes say nothing about it: a plan releases it by a limit on a risk, and attacks that the search did not
    use judge it.

    Notes
    -----
    - Formula: per limit, minimise cell loss + price · Σ over attacks of what they find beyond the limit
    - Paper: Marés and Torra (2012), with numbers by ranks after Moore (1996); own moves
    - Cost: anytime; a change costs O(n) for each attack that sees it, in blocks of a thousand records
    - Departures: a grid of limits in place of one score, exact linkage by many attacks, rates that follow success

    Examples
    --------
    >>> search = crypsis.MixedMaskingSearch(risk_limits=2)
    >>> run = crypsis.evolve(crypsis.example(60), search=search, budget="3 generations")
    >>> {str(solution.family) for solution in run.front if not solution.baseline}
    {'perturbation'}
    """

    family: ClassVar[Family] = Family.PERTURBATION
    purpose: ClassVar[str] = "values exchanged between similar records until attacks find few of them"
    pace: ClassVar[int] = 6

    columns: tuple[str, ...] = Field(default=(), description="columns to mask; empty means every quasi-identifier")
    lowest: float = Field(
        default=3.0, gt=0, le=100, description="smallest share of the records that attacks may find, per cent"
    )
    highest: float = Field(default=20.0, gt=0, le=100, description="largest share of them, per cent")
    risk_limits: int = Field(
        default=4,
        ge=1,
        le=50,
        description="number of limits that are tried; none above that of the plan",
    )
    sets: int = Field(
        default=24, ge=0, le=1000, description="sets of three and four known columns by which records are linked"
    )
    categories: Literal["exchanged", "replaced"] = Field(
        default="exchanged",
        description="categories are only exchanged, so that each column keeps its distribution, or replaced too",
    )
    aimed: float = Field(
        default=0.8, ge=0.0, le=1.0, description="share of the changes aimed at records that are found too often"
    )
    adaptive: bool = Field(default=True, description="whether the rates of the moves follow their success")
    generations: int = Field(default=300, ge=1, description="generations, where no other budget is given")

    def names(self, table: Table) -> Columns:
        """The columns that are masked: those named, or every quasi-identifier, unless locked."""
        chosen = self.columns or tuple(table.quasi_identifiers)
        return tuple(name for name in chosen if not table.attribute(name).locked)

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        return {"highest": Idle("with a single limit", "set risk_limits to 2 or more")} if self.risk_limits == 1 else {}

    def obstacle(self, table: Table) -> str:
        if not table.quasi_identifiers and not self.columns:
            return "the table has no quasi-identifier to mask; give columns the role 'quasi' or name columns"
        for name in self.names(table):
            if table.level(name) != 0:
                return f"column {name!r} is already generalised and values as collected are exchanged; leave it out"
            if table.attribute(name).numeric and np.isinf(table.column(name)).any():
                return f"column {name!r} has infinite values, which have no distance; correct them or leave it out"
        if not self.names(table):
            return "every column that would be masked is locked; unlock one"
        if not bool(table.kept.all()):
            return "the table holds suppressed records, whose values nobody can take; search before suppressing"
        if len(table) < FEWEST:
            return f"the table has {len(table)} records, and at least {FEWEST} are needed to exchange values"
        if self.risk_limits > 1 and self.highest < self.lowest:
            return f"limits cannot go from {self.highest:g} down to {self.lowest:g}; give highest of at least lowest"
        return ""

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        return {}

    @classmethod
    def drawback(cls, table: Table) -> str:
        if len(table) > MOST_RECORDS:
            return f"It hides record after record, too slowly for more than {MOST_RECORDS} of them"
        return (
            "It promises no k; where a limit on the risk is enough and distributions must stay, delete every "
            '[[require]], add [[search]] name = "mixed-masking" and a [[limit]] on "distribution-distance", '
            "which groups of records do not keep"
        )

    def encoding(self, table: Table) -> ExchangeEncoding:
        return ExchangeEncoding(table, self.names(table))

    def problem(self, encoding: ExchangeEncoding, objective: Objective | None, rng: Generator) -> Problem:
        table, names = encoding.table, encoding.names
        known = tuple(dict.fromkeys([*table.quasi_identifiers, *names]))
        rules = _rules(objective)
        listed = tuple(rule for rule in rules if is_listable_in_space(table, rule))
        units, ties = mixed_masking_search_units(table, names, [rule.columns for rule in rules if rule not in listed])
        alone = [LinkageAttack((name,)) for name in names if _singles_out(table, name)]
        space = ExchangeSpace(
            table=table,
            known=known,
            units=units,
            ties=ties,
            attacks=(*self._attacks(known, objective), *alone),
            caps=_caps(objective),
            free=self.categories == "replaced",
            singling=len(alone),
            edit_rules=listed,
        )
        limits = self.limits(objective)
        own = MeasuredScores(
            encoding,
            InformationLoss(columns=known).against(table),
            OneToOneLinkage(columns=known, sample=LOOKED_FOR).against(table),
        )
        chains = ExchangeChains(space, encoding, limits, self.aimed, self.adaptive)
        return Problem(
            key=encoding.key,
            strategy=chains,
            start=chains.first,
            evaluate=own if objective is None else ObjectiveScores(encoding, objective, family=self.family),
            objectives=("loss", "risk"),
            remember=20 * len(limits),
            notes={"limits": list(limits), "attacks": len(space.attacks), "units": [list(unit) for unit in units]},
        )

    def limits(self, objective: Objective | None) -> tuple[float, ...]:
        """Shares of the records that attacks may find, per cent, largest first: all below what the plan allows."""
        most = None if objective is None else objective.held_out_limit
        high, low = self.highest, self.lowest
        if most is not None and 0 < most < 100:
            high, low = min(high, CLOSE * most), min(low, FAR * most)
        grid = np.geomspace(high, low, self.risk_limits) if self.risk_limits > 1 else [low]
        return tuple(sorted({round(float(each), 4) for each in grid}, reverse=True))

    def _attacks(self, known: Columns, objective: Objective | None) -> Iterable[LinkageAttack]:
        """All columns by several distances, sets of them, and what each intruder knows."""
        yield from searched_linkage_attacks(known, self.sets)
        for knows in () if objective is None else objective.intruders.values():
            if set(knows) != set(known):
                yield LinkageAttack(tuple(name for name in known if name in knows))

    def budget(self) -> Budget:
        return Budget(generations=self.generations)


def _singles_out(table: Table, name: str) -> bool:
    """Whether more records are alone with their value of a column than a release lets be found by it."""
    counts = np.unique(table.codes([name])[:, 0], return_counts=True)[1]
    return int((counts == 1).sum()) > LARGEST_SHARE * len(table)


def mixed_masking_search_units(
    table: Table, names: Columns, rules: Iterable[Columns]
) -> tuple[tuple[Columns, ...], tuple[Columns, ...]]:
    """The search "mixed-masking" settles which linked columns it exchanges as units, before its space is made.

    A column goes with the one it is linked to, and the columns of an edit rule with too many combinations go together.
    """
    together: list[set[str]] = [{name} for name in names]
    fixed: dict[str, set[str]] = {name: set() for name in names}
    pairs = [{name, table.attribute(name).linked} for name in names if table.attribute(name).linked]
    for group in [*pairs, *map(set, rules)]:
        for name in group & set(names):
            fixed[name] |= {other for other in group - set(names) if other in table.names}
        joined = [unit for unit in together if unit & group]
        if joined:
            together = [unit for unit in together if not unit & group] + [set().union(*joined)]
    units = sorted((tuple(n for n in names if n in unit) for unit in together), key=lambda unit: names.index(unit[0]))
    ties = tuple(tuple(sorted(set().union(*(fixed[name] for name in unit)))) for unit in units)
    return tuple(units), ties


def _rules(objective: Objective | None) -> list[EditRule]:
    """Every edit rule that is limited."""
    readers = [] if objective is None else [reader for _, _, reader in objective.limits if reader is not None]
    rules = [r.measure.rule for r in readers if isinstance(r.measure, RuleViolations) and r.measure.rule.strip()]
    return [read_rule(rule) for rule in rules]


def _caps(objective: Objective | None) -> dict[str, float]:
    """The largest share of information that every column may lose of which a loss is limited, per cent.

    A cell loss becomes the share that surely keeps it: no more cells are wrong than categories differ, and the mean
    part of the range that a number moves is at most the root of its mean square.
    """
    found = dict[str, float]()
    for _, most, reader in () if objective is None else objective.limits:
        measured = None if reader is None else reader.measure
        if not isinstance(measured, CellLoss | InformationLoss) or len(measured.columns) != 1:
            continue
        name = measured.columns[0]
        if isinstance(measured, CellLoss):
            assert objective is not None
            most = _information_of(objective.original, name, most)
        found[name] = min(most, found.get(name, most))
    return found


def _information_of(table: Table, name: str, cells: float) -> float:
    """The share of information, per cent, that a column may lose so that its cell loss is surely at most so much."""
    content = ColumnInformation.of(table, name)
    if not content.varies:
        return cells
    if table.attribute(name).numeric:
        width = float(np.ptp(table.column(name)[~table.missing(name)]))
        return 100.0 * (cells / 100.0 * width) ** 2 / content.spread
    return cells / content.spread
