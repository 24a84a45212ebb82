"""Edit rules inside the search over composite groups: what mending them costs decides between groups."""

from __future__ import annotations

import numpy as np

from crypsis.evolution import Budget, evolve
from crypsis.masking.repairing import repair
from crypsis.masking.representatives import published_by_column
from crypsis.measures.information_loss import InformationLoss
from crypsis.searches.search import Search, searches
from crypsis.table.precision import at_source_precision
from crypsis.table.rules import EditRule, read_rule
from crypsis.table.table import Table

RULES = [read_rule("all = rent + food")]


def expenses(records: int) -> Table:
    """Amounts that several people have, with their sum, which medians do not keep."""
    rng = np.random.default_rng(5)
    rent, food = rng.integers(1, 12, (2, records)).astype(float)
    columns = {"rent": rent, "food": food, "all": rent + food, "town": rng.choice(list("abcdef"), records).tolist()}
    return Table.from_columns(columns, dict.fromkeys(columns, "quasi"))


def ruled(*rules: EditRule) -> Search:
    return searches.build("composite", k=8, k_values=1, numbers="median", categories="typical").under([], rules=rules)


def mended_loss(table: Table, masked: Table) -> float:
    return InformationLoss().against(table).read(repair(at_source_precision(masked, table), table, RULES))


def test_mending_is_what_the_measure_loses_more() -> None:
    table = expenses(120)
    space = ruled(*RULES).pose(table, None, np.random.default_rng(1)).strategy.space
    labels = (np.arange(120) // 8).astype(np.int32)  # strangers share groups
    ways = dict(zip(space.names, space.profiles[0], strict=True))
    masked = at_source_precision(published_by_column(table, ways, labels), table)
    more = mended_loss(table, masked) - InformationLoss().against(table).read(masked)
    mending = space.repair_costs(0, labels)
    assert more > 0.1
    assert np.isclose(100.0 * mending.sum() / (120 * len(space.names)), more)
    untouched = ruled().pose(table, None, np.random.default_rng(1)).strategy.space
    assert not untouched.repair_costs(0, labels).any()


def test_a_search_that_knows_the_rules_loses_less_once_they_are_mended() -> None:
    table, losses = expenses(300), []
    for rules in (RULES, []):
        search = ruled(*rules)
        problem = search.pose(table, None, np.random.default_rng(1))
        *_, last = evolve(problem, np.random.default_rng(1), Budget(generations=60))
        encoding = search.encoding(table)
        [chain] = last.genomes
        losses.append(mended_loss(table, encoding.decode(chain)))
    assert losses[0] < losses[1]
