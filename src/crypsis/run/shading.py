"""A finished front under other importances of the columns: nothing is searched or measured again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from crypsis.errors import PlanError, SearchError, unknown_column
from crypsis.run.front import Front
from crypsis.run.solution import Solution

INFORMATION_LOSS = "information-loss"


def weighed(front: Front, importance: Mapping[str, float], losses: Sequence[str]) -> Front:
    """The solutions of a front with their loss by other importances of the columns.

    Parameters
    ----------
    front : Front
        Of a run.
    importance : mapping of str to float
        Importance of every column, 0 to 5.
    losses : sequence of str
        Names of the losses whose mean is the loss of a solution; information loss is one of them.

    Returns
    -------
    Front
        What may be released stays what it was: limits were judged by the importances of the plan.

    Raises
    ------
    PlanError
        If an importance is outside 0 to 5, or every column has none.
    SearchError
        If information loss was not measured column by column.
    """
    odd = [f"{name}={value:g}" for name, value in importance.items() if not 0 <= value <= 5]
    if odd:
        raise PlanError(f"importance {', '.join(odd)}: an importance is a number from 0 to 5")
    if INFORMATION_LOSS not in losses:
        raise SearchError("the losses of this run do not tell columns apart; importances weigh information-loss alone")
    return replace(front, everything=tuple(_weighed(each, importance, losses) for each in front.everything))


def _weighed(solution: Solution, importance: Mapping[str, float], losses: Sequence[str]) -> Solution:
    evaluation = solution.evaluation
    if not evaluation.columns:
        raise SearchError(
            f"solution {solution.number} was measured without the loss of each column; run the search again"
        )
    unknown = unknown_column(list(importance), list(evaluation.columns))
    if unknown:
        raise PlanError(f"importance: {unknown}")
    weights = np.array([importance.get(name, 1.0) for name in evaluation.columns])
    if not weights.any():
        raise PlanError("every column has the importance 0, so no loss counts; give one of them some")
    figures = dict(evaluation.figures)
    by_column = [figures_of["loss"] for figures_of in evaluation.columns.values()]
    figures[INFORMATION_LOSS] = float(np.average(by_column, weights=weights))
    parts = [value for name in losses if (value := figures.get(name)) is not None]
    figures["loss"] = float(np.mean(parts)) if len(parts) == len(losses) else None
    return replace(solution, evaluation=replace(evaluation, figures=figures))
