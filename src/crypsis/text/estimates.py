"""What an analyst keeps, in words: analyses drawn at random, and estimates before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from crypsis.measures.utility.analyses import AnalysesKept, EstimateChange
from crypsis.measures.utility.estimates import ColumnEstimate, ColumnEstimates
from crypsis.text.reports import number_text

WORST = 5
"""Analyses that are named, those that moved farthest first."""
FIGURES = ("mean", "sd", "total", "above 0, %", "lowest 20", "highest 20")
"""Figures of a number that a table shows; more are in the internal report."""
COLUMN_NAMES_ONLY = ("above zero", "total", "quantile", "correlation", "regression")
"""Kinds of analyses whose titles hold names of columns but of no category."""
OUTSIDE = "*"
"""Mark of a figure that left the 95 % interval of the original."""


def analyses_text(kept: AnalysesKept, beside: Mapping[str, AnalysesKept] | None = None) -> str:
    """How many analyses drawn at random keep their answer, beside other files.

    kept    of the file
    beside  of other files, by name

    Examples
    --------
    >>> people = crypsis.example(200)
    >>> found = crypsis.Analyses(people, count=30).compare(people)
    >>> analyses_text(found, {"plain MDAV": found})
    'of 30 analyses drawn at random 30 keep their answer; plain MDAV: 30'
    """
    text = f"of {kept.analyses} analyses drawn at random {whole(kept)} keep their answer"
    return "; ".join([text, *(f"{name}: {whole(each)}" for name, each in (beside or {}).items())])


def whole(kept: AnalysesKept) -> int:
    """Analyses that keep their answer as a whole number, never more than there are."""
    return int(kept.kept + 1e-9)


def kept_text(kept: AnalysesKept) -> str:
    """What it means that analyses keep their answer, and the shares behind it."""
    sampled = f"; models are fitted to {kept.sampled} records at equal distances" if kept.sampled else ""
    return (
        f"an answer is kept where the released estimate lies inside the 95 % interval of the original, a regression "
        f"counts by the share of its coefficients: {kept.inside:.1f} % of {kept.estimates} estimates, mean overlap of "
        f"the intervals {kept.overlap:.2f}{sampled}"
    )


def change_text(row: EstimateChange, *, figures: bool = True) -> str:
    """An estimate that moved, in a sentence.

    figures  whether the estimates themselves are named

    Examples
    --------
    >>> from crypsis.measures.utility import EstimateChange
    >>> change_text(EstimateChange("total", "total of pay", "", 5120.0, 4700.0, 3.2, False, 0.1))
    'total of pay: 5120 → 4700 (3.2 standard errors)'
    """
    title = f"{row.analysis}, coefficient of {row.term}" if row.term else row.analysis
    if row.released is None:
        return f"{title}: cannot be computed any more"
    away = "more than 100" if row.off > 100 else f"{row.off:.1f}"
    values = f"{number_text(row.original)} → {number_text(row.released)} " if figures else ""
    return f"{title}: {values}({away} standard errors)" if figures else f"{title}: {away} standard errors away"


def analyses_facts(kept: AnalysesKept | None, beside: Mapping[str, AnalysesKept]) -> dict[str, Any] | None:
    """Analyses as plain data for reports and JSON; "public" is what users of the file may read."""
    if kept is None:
        return None
    worst = kept.worst(WORST)
    open_ = [row for row in kept.worst(kept.analyses) if row.kind in COLUMN_NAMES_ONLY and "=" not in row.term]
    return {
        "drawn": kept.analyses,
        "kept": whole(kept),
        "kept_whole": kept.kept_whole,
        "estimates": kept.estimates,
        "inside": kept.inside,
        "overlap": kept.overlap,
        "sampled": kept.sampled,
        "text": analyses_text(kept, beside),
        "meaning": kept_text(kept),
        "beside": {
            name: {"kept": whole(each), "inside": each.inside, "overlap": each.overlap} for name, each in beside.items()
        },
        "worst": [
            {**asdict(row), "off": None if row.released is None else row.off, "text": change_text(row)} for row in worst
        ],
        "public": [change_text(row, figures=False) for row in open_[:WORST]],
    }


def estimates_facts(estimates: Iterable[ColumnEstimates]) -> list[dict[str, Any]]:
    """Estimates before and after as plain data, by the name of the figure, or of the value of a category."""
    return [
        {
            "name": each.name,
            "numeric": each.numeric,
            "figures": [{**asdict(figure), "inside": figure.inside} for figure in each.figures],
            "vanished": list(each.vanished),
            "vanished_rare": int(each.vanished_rare),
            "grouped": each.grouped,
        }
        for each in estimates
    ]


def pair_text(figure: ColumnEstimate | None) -> str:
    """A figure before and after; marked where it left the 95 % interval of the original.

    Examples
    --------
    >>> from crypsis.measures.utility import ColumnEstimate
    >>> pair_text(ColumnEstimate("mean", 5.8, 3.1, 0.2)), pair_text(None)
    ('5.8 → 3.1*', '–')
    """
    if figure is None:
        return "–"
    mark = OUTSIDE if figure.inside is False else ""
    return f"{number_text(figure.before)} → {number_text(figure.after)}{mark}"


def number_rows(estimates: Sequence[ColumnEstimates], figures: Sequence[str] = FIGURES) -> list[tuple[str, ...]]:
    """A row of figures before and after for every column of numbers."""
    return [(each.name, *(pair_text(each.figure(figure)) for figure in figures)) for each in estimates if each.numeric]


def category_rows(estimates: Sequence[ColumnEstimates], most: int = 3) -> list[tuple[str, str, str]]:
    """For every category: the shares that moved most, and what vanished or is published within groups."""
    rows = []
    for each in estimates:
        if each.numeric or not each.figures:
            continue
        moved = sorted(each.figures, key=lambda f: -abs((f.after or 0.0) - (f.before or 0.0)))[:most]
        shares = ", ".join(f"{f.figure} {pair_text(f)}" for f in moved if f.before != f.after)
        rows.append((each.name, shares or "as collected", gone_text(each)))
    return rows


def gone_text(column: ColumnEstimates) -> str:
    """Values of a category that vanished, and the share that is published within groups; a dash where there is none."""
    parts = [f"{', '.join(column.vanished)} vanished"] if column.vanished else []
    parts += [f"{column.vanished_rare} rarer vanished"] if column.vanished_rare else []
    parts += [f"{number_text(round(column.grouped, 1))} % within groups"] if column.grouped else []
    return "; ".join(parts) or "–"
