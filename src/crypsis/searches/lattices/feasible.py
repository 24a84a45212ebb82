"""Feasibility first: the least loss that meets a demand, found by evolution where nodes are too many to judge each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.levels import LevelEncoding, levels_key
from crypsis.errors import PlanError, SearchError
from crypsis.evolution import Application, Budget, Elitist, Problem, evolve
from crypsis.masking.generalisation import Generalisation
from crypsis.measures.generalisation_loss import GeneralLoss
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.lattices.evaluation import out_of_reach
from crypsis.searches.lattices.lattice_preparation import prepare
from crypsis.searches.lattices.operators import Exchange, LevelStep, OnePoint, first_nodes
from crypsis.searches.lattices.scoring import DemandScores, ModelScores
from crypsis.table.lattice import Lattice, Levels
from crypsis.table.suppression import allowed
from crypsis.table.table import Table
from crypsis.text import node_text

USUAL_CROSSOVER = 1 / 3
"""Share of the children made by crossover, unless another is asked for."""

POPULATION = 30
"""Members of the population of `least_loss`."""


@dataclass(frozen=True)
class FeasibleFirst:
    """Worth of (loss, shortfall): loss where nothing falls short, else beyond any loss and by shortfall."""

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(scores[:, 1] > 0, 1000.0 + scores[:, 1], scores[:, 0])


@dataclass(frozen=True)
class LatticeResult:
    """The best node of a feasibility-first search.

    levels  level of each column
    message  the node in words
    loss  mean cell loss, per cent
    nodes  nodes of the lattice
    """

    levels: Levels
    message: str
    loss: float
    evaluations: int
    nodes: int


def feasible_strategy(
    heights: tuple[int, ...], size: int, crossover: float | None = None, mutation: float = 0.0
) -> Elitist:
    """Crossovers, steps and exchanges from the best; feasible before infeasible, then the lesser loss; no clones.

    Parameters
    ----------
    heights : tuple of int
        Highest level of each column.
    size : int
        Members of the population.
    crossover : float, optional
        Share of the children made by crossover, two at a time; steps and exchanges make half of the rest each.
    mutation : float
        Probability of a step per level; 0: three in two columns.

    Returns
    -------
    Elitist
    """
    crossed = USUAL_CROSSOVER if crossover is None else crossover
    pairs, each = (int(share * size / 2 + 1e-9) for share in (crossed, 1.0 - crossed))
    listed = (
        Application(OnePoint(), max(pairs, crossed > 0)),
        Application(LevelStep(heights, mutation or 1.5 / len(heights)), max(each, crossed < 1), max(size // 3, 1)),
        Application(Exchange(heights), max(each, crossed < 1), max(size // 3, 1)),
    )
    applications = tuple(application for application in listed if application.times)
    return Elitist(size, applications, fitness=FeasibleFirst(), copies=1)


def least_loss(
    table: Table,
    rng: Generator,
    *,
    k: int = 0,
    l: int = 0,  # noqa: E741
    models: Sequence[PrivacyModel] = (),
    suppression: float = 0.01,
    columns: tuple[str, ...] = (),
    evaluations: int = 1000,
) -> LatticeResult:
    """Search for the node of least loss that meets k, l or any models while suppressing no more than allowed.

    Parameters
    ----------
    table : Table
        The table, with roles and hierarchies.
    rng : Generator
        The only source of chance.
    k, l : int
        Demanded of every class; 0 demands nothing.
    models : sequence of PrivacyModel
        In place of k and l; none may lose by coarser classes.
    suppression : float
        Share of the records that may be suppressed; every class that fails is.
    columns : tuple of str
        Quasi-identifiers; all of them unless named.
    evaluations : int
        Most nodes judged.

    Returns
    -------
    LatticeResult

    Raises
    ------
    PlanError
        If a model may lose by coarser classes, or l is demanded and no column is confidential.
    SearchError
        If no node judged meets the demand: with the closest one, and which limit to relax.

    Examples
    --------
    >>> import crypsis, numpy
    >>> least_loss(crypsis.example(200), numpy.random.default_rng(1), k=5, suppression=0.1).loss < 100
    True
    """
    lattice = Lattice.of(table, columns)
    records = int(table.kept.sum())
    allowance = allowed(suppression, records)
    encoding = LevelEncoding(table, lattice, Generalisation(columns=lattice.names, suppression=1.0, k=max(k, 1)))
    wavering = [type(model).__name__ for model in models if not model.monotone_in_generalisation]
    if wavering:
        raise PlanError(f"{wavering[0]} may get worse by generalising, so this search cannot use it; leave it out")
    if models:
        loss = GeneralLoss(columns=lattice.names).against(table)
        scores: ModelScores | DemandScores = ModelScores(encoding, tuple(models), loss, allowance)
    else:
        confidential = next(iter(table.confidential), None)
        if l and confidential is None:
            raise PlanError(f"l = {l} was demanded but no column is confidential; give one the role 'confidential'")
        context = prepare(table, lattice, confidential if l else None, None, False)
        obstacle = out_of_reach(context, allowance, max(k, 1), l)
        if obstacle:
            raise SearchError(obstacle)
        scores = DemandScores(context, allowance, max(k, 1), l)
    problem = Problem(
        key=levels_key,
        strategy=feasible_strategy(lattice.heights, POPULATION),
        start=first_nodes(lattice, rng, POPULATION),
        evaluate=scores,
        objectives=("loss", "shortfall"),
    )
    size = min(evaluations, lattice.size)
    state = None
    for state in evolve(problem, rng, Budget(evaluations=size, generations=20 * evaluations)):
        if state.evaluations + sum(a.times for a in feasible_strategy(lattice.heights, POPULATION).applications) > size:
            break
    if state is None or state.best_scores[1] > 0:
        beyond = state.best_scores[1] if state else 100.0
        raise SearchError(
            f"no node judged meets the demand while suppressing at most {allowance} of {records} records; the closest "
            f"exceeds the limit by {beyond:.2f} % of the records; raise the suppression limit or lower the demand"
        )
    levels = tuple(int(level) for level in state.best)
    return LatticeResult(levels, node_text(lattice, levels), state.best_scores[0], state.evaluations, lattice.size)
