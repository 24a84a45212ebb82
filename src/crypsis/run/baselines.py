"""Baselines without search: the original, plain MDAV, MDAV within a limit of risk, full-domain and local recoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from crypsis.masking import Microaggregation
from crypsis.masking.generalisation import datafly
from crypsis.masking.local_recoding import LocalRecoding
from crypsis.masking.method import Family
from crypsis.plan import Plan
from crypsis.table.table import Table
from crypsis.tasks import Tasks

WHOLE_UP_TO, BLOCK = 5000, 2000
"""Records up to which MDAV groups the whole table, and of a block above: a baseline takes no more than a moment."""
OFFERED, EFFORT = 100_000_000, 500_000
"""Cells that local recoding looks at, records times columns times nodes offered, and comparisons to move records."""
USUAL_K = 5
"""Group size where the plan requires none."""


@dataclass(frozen=True)
class Baseline:
    """A baseline without search."""

    name: str  # name of the baseline
    family: Family
    message: str  # what it does, in one sentence
    make: Callable[[Table, Generator], Tasks[Table]]  # original and random numbers → masked table, in tasks
    safe: bool = False  # whether its classes are so large that it keeps every limit on the risk
    work: Literal["point", "group", "recode"] = "group"  # what it does to the records, by which its time is foretold

    @property
    def protects(self) -> bool:
        """Whether it keeps the limits on the risk: surely, or as a rule, since whole classes are rarely linked."""
        return self.safe or self.work == "recode"


def _required_k(plan: Plan) -> int:
    """The largest class size that the models of a plan demand."""
    return max([model.least_class_size for model in plan.models()], default=1)


def baselines(plan: Plan, table: Table) -> list[Baseline]:
    """The baselines that apply to a table, in a fixed order."""
    k = _required_k(plan) if _required_k(plan) > 1 else USUAL_K
    found = [
        Baseline("untouched", Family.RECODING, "the file as collected", lambda table, _: _as_it_is(table), work="point")
    ]
    if table.quasi_identifiers and len(table) >= k:
        found.append(_mdav("plain MDAV", table, k, safe=plan.safe_k <= k))
    if table.quasi_identifiers and k < plan.safe_k <= len(table):
        found.append(_mdav("MDAV within the limit of risk", table, plan.safe_k, safe=True))
    if table.quasi_identifiers and all(table.attribute(n).hierarchy is not None for n in table.quasi_identifiers):
        found.append(
            Baseline(
                "plain recoding",
                Family.RECODING,
                f"the column with most values is generalised by one level until at most {plan.release.suppression} of "
                f"the records are in classes of fewer than {k}; these are suppressed",
                lambda original, rng: datafly(original, k, plan.suppression, rng),
                work="recode",
            )
        )
        found.append(
            Baseline(
                "plain local recoding",
                Family.RECODING,
                f"records generalised together, class by class, until every class has at least {k}; none is suppressed",
                lambda original, rng: _plain_local_recoding(original, k).mask_tasks(original, rng),
            )
        )
    return found


def _mdav(name: str, table: Table, k: int, safe: bool) -> Baseline:
    """Microaggregation of all quasi-identifiers together."""
    message = f"all quasi-identifiers microaggregated together by MDAV in groups of at least {k}"
    if len(table) > WHOLE_UP_TO:
        message += f", within blocks of {BLOCK} similar records"
    return Baseline(
        name,
        Family.AGGREGATION,
        message,
        lambda original, rng: _plain_mdav(original, k).mask_tasks(original, rng),
        safe,
    )


def _as_it_is(table: Table) -> Tasks[Table]:
    """A table that is not masked."""
    yield []
    return table


def _plain_mdav(table: Table, k: int) -> Microaggregation:
    """MDAV on the whole table, or within blocks of a large one."""
    if len(table) <= WHOLE_UP_TO:
        return Microaggregation(k=k)
    settings = {"size": max(BLOCK, 4 * k), "mending": 0}
    return Microaggregation(k=k, partitioner="blocks", partitioner_settings=settings)


def _plain_local_recoding(table: Table, k: int) -> LocalRecoding:
    """Local recoding by as many nodes as a moment allows."""
    nodes = OFFERED // max(len(table) * len(table.quasi_identifiers), 1)
    return LocalRecoding(k=k, nodes=min(max(nodes, 64), 4096), effort=EFFORT)
