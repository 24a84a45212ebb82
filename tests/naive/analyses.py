"""Slow, obvious twins of the analyses drawn at random: lists of cells, plain loops, and the models of statsmodels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import statsmodels.api as sm

from crypsis.measures.utility.analyses import Analysis

Cells = Sequence[float | str | None]
Answer = list[tuple[float, float]]


def mean(values: Sequence[float]) -> Answer:
    """Mean and its standard error."""
    n = len(values)
    middle = sum(values) / n
    return [(middle, math.sqrt(sum((v - middle) ** 2 for v in values) / (n - 1)) / math.sqrt(n))]


def answer(
    analysis: Analysis, file: Mapping[str, Cells], levels: Mapping[str, Sequence[str]], of: Mapping[str, Cells]
) -> Answer:
    """Estimates and standard errors on a file of cells; numbers of models are scaled by those of the original.

    of  the original
    """
    target = file[analysis.target]
    if analysis.kind in ("regression", "logistic"):
        return _model(analysis, file, levels, of)
    if analysis.kind == "mean":
        group = levels[analysis.by][analysis.inside]
        return mean([v for v, g in zip(target, file[analysis.by], strict=True) if g == group and v is not None])
    if analysis.kind == "share":
        group, wanted = levels[analysis.by][analysis.inside], levels[analysis.target][analysis.level]
        return mean([float(v == wanted) for v, g in zip(target, file[analysis.by], strict=True) if g == group])
    held = sorted(v for v in target if v is not None)
    if analysis.kind == "above zero":
        return mean([float(v > 0) for v in held])
    if analysis.kind == "total":
        [(middle, error)] = mean(held)
        return [(len(target) * middle, len(target) * error)]
    if analysis.kind == "quantile":
        n, share = len(held), analysis.point
        half = 1.96 * math.sqrt(n * share * (1 - share))
        low, high = held[max(0, int(n * share - half))], held[min(n - 1, math.ceil(n * share + half))]
        return [(held[int(n * share)], max((high - low) / 3.92, 0.001 * _scale(of[analysis.target])[1]))]
    both = [(a, b) for a, b in zip(target, file[analysis.by], strict=True) if a is not None and b is not None]
    return [(math.atanh(np.corrcoef(np.array(both).T)[0, 1]), 1 / math.sqrt(len(both) - 3))]


def _scale(cells: Cells) -> tuple[float, float]:
    held = np.array([v for v in cells if v is not None])
    return held.mean(), held.std()


def _model(
    analysis: Analysis, file: Mapping[str, Cells], levels: Mapping[str, Sequence[str]], of: Mapping[str, Cells]
) -> Answer:
    """Every coefficient with its error, the constant first."""
    rows, targets = [], []
    for place in range(len(file[analysis.target])):
        cells = [file[name][place] for name in (analysis.target, *analysis.regressors)]
        if any(cell is None for cell in cells):
            continue
        row = [1.0]
        for name, cell in zip(analysis.regressors, cells[1:], strict=True):
            if name in levels:
                row += [float(cell == level) for level in levels[name][1:]]
            else:
                centre, scale = _scale(of[name])
                row.append((cell - centre) / scale)
        rows.append(row)
        if analysis.kind == "logistic":
            targets.append(float(cells[0] == levels[analysis.target][analysis.level]))
        else:
            centre, scale = _scale(of[analysis.target])
            targets.append((cells[0] - centre) / scale)
    x, y = np.array(rows), np.array(targets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = (
            sm.OLS(y, x).fit(cov_type="HC1")
            if analysis.kind == "regression"
            else sm.Logit(y, x).fit(disp=0, maxiter=100)
        )
    return list(zip(fit.params.tolist(), fit.bse.tolist(), strict=True))


def overlap(before: tuple[float, float], after: tuple[float, float]) -> tuple[bool, float]:
    """Whether the released estimate is inside the original's 95 % interval, and the overlap of both intervals."""
    low, high = before[0] - 1.96 * before[1], before[0] + 1.96 * before[1]
    start, end = after[0] - 1.96 * after[1], after[0] + 1.96 * after[1]
    common = min(high, end) - max(low, start)
    both = 0.5 * (common / (high - low) + common / (end - start)) if common > 0 and end > start else 0.0
    return low <= after[0] <= high, min(both, 1.0)
