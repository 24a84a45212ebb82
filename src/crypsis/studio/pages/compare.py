"""The figures of the Compare page: class sizes, associations between columns, who bears the loss, one match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crypsis.charts.chart import chart_heat_map, chart_overlaid_bars, drawable_specification
from crypsis.measures.information_loss import information_losses
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.report.content import RecordHarm, Subgroup, hardest_groups_for_reports
from crypsis.report.histograms import Histogram, class_size_histogram, histograms_of_distributions, level_for_histogram
from crypsis.run import Solution
from crypsis.studio.responses import route_get_responses
from crypsis.studio.session import Session
from crypsis.studio.studio import Studio
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.frames import to_frame
from crypsis.table.hierarchy import MISSING, Hierarchy, hierarchy_node_levels
from crypsis.table.table import LOCAL, PERTURBATION, Column, Table

BINS = 8
"""Groups of a column for the association between columns."""
MOST_COLUMNS = 9
SAMPLE = 50_000
"""Evenly spaced records of a larger table on which attacks and losses are measured."""


@dataclass(frozen=True)
class Match:
    """A person whom record linkage finds: known values and published values."""

    cells: tuple[tuple[str, str, str], ...]
    """Column, known value, published value."""
    found: float
    rest: float
    """Share of all people the attack finds, per cent."""


def _compared_class_sizes(original: Table, masked: Table) -> Histogram:
    """Class sizes on the Compare page: records by how many share their quasi-identifiers."""
    names = original.quasi_identifiers
    return class_size_histogram(equivalence_class_sizes(original, names), equivalence_class_sizes(masked, names))


def association_changes(original: Table, masked: Table) -> tuple[list[str], list[tuple[str, str, float]]]:
    """The change of association between every two columns: |Cramér's V before − after|, 0 to 1."""
    roles = (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)
    names = original.names_by_role(*roles)[:MOST_COLUMNS]
    before = {name: _cut(original, original, name) for name in names}
    after = {name: _cut(original, masked, name)[masked.kept] for name in names}
    cells = []
    for a, b in combinations(names, 2):
        moved = abs(compared_cramer(before[a], before[b]) - compared_cramer(after[a], after[b]))
        cells += [(a, b, moved), (b, a, moved)]
    return names, cells


def compared_cramer(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
    """Associations on the Compare page: bias-corrected Cramér's V of two coded columns; 0 if one is constant."""
    both = (a >= 0) & (b >= 0)
    n = int(both.sum())
    if n < 2:
        return 0.0
    _, left = np.unique(a[both], return_inverse=True)
    _, right = np.unique(b[both], return_inverse=True)
    r, c = int(left.max()) + 1, int(right.max()) + 1
    if r < 2 or c < 2:
        return 0.0
    counts = np.bincount(left * c + right, minlength=r * c).reshape(r, c)
    expected = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True) / n
    phi = float(((counts - expected) ** 2 / expected).sum()) / n
    corrected = max(0.0, phi - (r - 1) * (c - 1) / (n - 1))
    room = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return float(np.sqrt(corrected / room)) if room > 0 else 0.0


def _cut(original: Table, table: Table, name: str) -> NDArray[np.int64]:
    """A column in a few groups: numbers by quantiles of the original, the most frequent categories and the rest."""
    if table.holds_numbers(name):
        numbers, known = table.column(name), original.column(name)
        edges = np.unique(np.nanquantile(known, np.linspace(0, 1, BINS + 1)[1:-1])) if len(known) else np.empty(0)
        return np.where(np.isnan(numbers), -1, np.searchsorted(edges, numbers, side="right")).astype(np.int64)
    codes = table.column(name).astype(np.int64)
    counts = np.bincount(codes[codes >= 0])
    rank = np.empty(len(counts) + 1, dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.minimum(np.arange(len(counts)), BINS + 3)
    rank[-1] = -1
    return rank[codes]


def _sample_rows(original: Table, masked: Table) -> tuple[Table, Table]:
    """Both tables on the same evenly spaced rows, if they have many."""
    if len(original) <= SAMPLE:
        return original, masked
    rows = np.linspace(0, len(original) - 1, SAMPLE).astype(np.intp)
    return original.take(rows), masked.take(rows)


def _record_harms(original: Table, masked: Table, most: int = 8) -> tuple[tuple[Subgroup, ...], NDArray[np.float64]]:
    """The groups that bear the greatest loss, and the credit of record linkage for each record."""
    names = original.quasi_identifiers
    lost = np.mean([information_losses(original, masked, name) for name in names], axis=0)
    earned = RecordLinkage(columns=tuple(names)).against(original).credits(masked)
    harm = RecordHarm(equivalence_class_sizes(original, names) == 1, ~masked.kept, lost, np.asarray(earned))
    return hardest_groups_for_reports(original, harm, names, most), np.asarray(earned)


def explain_compared_match(original: Table, masked: Table, earned: NDArray[np.float64]) -> Match | None:
    """The one match of the Compare page: whom record linkage finds most surely; None if it finds nobody."""
    if not len(earned) or earned.max() <= 0:
        return None
    row = int(np.argmax(earned))
    names = original.quasi_identifiers
    known, published = (_texts(table, row, names) for table in (original, masked))
    cells = tuple(zip(names, known, published, strict=True))
    return Match(cells, float(100 * earned[row]), float(100 * earned.mean()))


def _texts(table: Table, row: int, names: Sequence[str]) -> list[str]:
    frame: Any = to_frame(table.take(np.array([row])).drop(n for n in table.names if n not in names))
    values = {name: frame[name][0] for name in frame.columns}
    return [_text(values[name]) for name in names]


def _text(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# -- Several solutions and the original in one chart over the same values.
#
# Solutions may publish a column at different levels of its hierarchy. All are then generalised to the coarsest of these
# levels, so that the chart shows what each file says and nothing is estimated. Of a column recoded record by record the
# finest level counts that nine tenths of the records reach; records in coarser groups are left out, and counted.

ORIGINAL = "original"


@dataclass(frozen=True)
class Overlay:
    """Records by value, in the original and in each solution that can be drawn."""

    name: str
    title: str
    labels: tuple[str, ...]
    series: dict[str, tuple[float, ...]]
    message: tuple[str, ...]
    """The greatest change of each drawn solution, one sentence each."""
    absent: dict[int, str]
    """Why a solution is not drawn."""


def overlays(original: Table, solutions: Mapping[int, Table]) -> list[Overlay]:
    """The quasi-identifiers that at least one solution publishes in common groups."""
    return [found for name in original.quasi_identifiers if (found := overlay(original, solutions, name)) is not None]


def overlay(original: Table, solutions: Mapping[int, Table], name: str) -> Overlay | None:
    """One column in all files; None if no solution can be drawn."""
    drawn: dict[int, Histogram] = {}
    absent: dict[int, str] = {}
    levels = {number: _level(table, name) for number, table in solutions.items() if _says_something(table, name)}
    common = max(levels.values(), default=0)
    for number, table in solutions.items():
        if number not in levels:
            absent[number] = "suppressed"
            continue
        found = histograms_of_distributions(
            _only(original, name), _only(lift_compared_column(original, table, name, common), name)
        )
        if found:
            drawn[number] = replace(found[0], summary=found[0].summary + _left_out(table, name, common))
        else:
            absent[number] = "too few records share a value"
    if not drawn:
        return None
    return _merge_overlays(name, drawn, absent)


def _merged_sizes(histograms: Mapping[int, Histogram]) -> Overlay | None:
    """Class sizes of all solutions in one chart."""
    if not histograms:
        return None
    found = _merge_overlays("class size", histograms, {})
    alone = {name: values[0] for name, values in found.series.items()}
    words = [f"{value:.0f} in {'the ' if name == ORIGINAL else ''}{name}" for name, value in alone.items()]
    return replace(found, message=(f"People unique in their quasi-identifiers: {', '.join(words)}.",))


def _merge_overlays(name: str, drawn: Mapping[int, Histogram], absent: Mapping[int, str]) -> Overlay:
    """Histograms of one original have the same values, except for a rest that one of them may lack."""
    labels = max((each.labels for each in drawn.values()), key=len)
    first = next(iter(drawn.values()))
    series = {ORIGINAL: _pad(first.before, len(labels))}
    series |= {f"solution {number}": _pad(each.after, len(labels)) for number, each in drawn.items()}
    message = {number: f"{number}: {each.summary[:1].lower()}{each.summary[1:]}" for number, each in drawn.items()}
    return Overlay(name, first.title, labels, series, tuple(message.values()), dict(absent))


def _pad(values: tuple[float, ...], length: int) -> tuple[float, ...]:
    return values + (0.0,) * (length - len(values))


def _says_something(table: Table, name: str) -> bool:
    level, hierarchy = table.level(name), table.attribute(name).hierarchy
    return level == 0 or (hierarchy is not None and len(hierarchy.labels[_level(table, name)]) > 1)


def _level(table: Table, name: str) -> int:
    """The level at which a file can be drawn."""
    return level_for_histogram(table, name) if table.level(name) == LOCAL else table.level(name)


def _left_out(table: Table, name: str, level: int) -> str:
    """How many records of a column recoded record by record are coarser than what is drawn."""
    hierarchy = table.attribute(name).hierarchy
    if table.level(name) != LOCAL or hierarchy is None:
        return ""
    coarser = hierarchy_node_levels(hierarchy, table.column(name)[table.kept]) > level
    return f" {100 * coarser.mean():.1f} % of the records, in coarser groups, are left out." if coarser.any() else ""


def _only(table: Table, name: str) -> Table:
    return table.drop(each for each in table.names if each != name)


def lift_compared_column(original: Table, table: Table, name: str, level: int) -> Table:
    """The table with the column at a level not below its own."""
    hierarchy, own = original.attribute(name).hierarchy, table.level(name)
    if own == level or hierarchy is None:
        return table
    if own == LOCAL:
        return _from_nodes(original, table, name, level)
    leaves = _leaves(table, name, hierarchy) if own == 0 else _some_leaf(hierarchy, own)[table.column(name)]
    codes = hierarchy.lift(leaves, level)
    return table.with_columns({name: codes}, levels={name: level}, attributes={name: original.attribute(name)})


def _from_nodes(original: Table, table: Table, name: str, level: int) -> Table:
    """A column recoded record by record at one level; coarser cells are missing."""
    attribute = original.attribute(name)
    hierarchy = attribute.hierarchy
    assert hierarchy is not None
    leaf = np.concatenate([*(_some_leaf(hierarchy, each)[:-1] for each in range(hierarchy.height + 1)), [MISSING]])
    nodes = table.column(name)
    leaves = np.where(hierarchy_node_levels(hierarchy, nodes) <= level, leaf[nodes], MISSING).astype(np.int32)
    if level > 0:
        return table.with_columns(
            {name: hierarchy.lift(leaves, level)}, levels={name: level}, attributes={name: attribute}
        )
    if attribute.numeric:
        column: Column = np.append(hierarchy.values, np.nan)[leaves]
    else:
        place = {label: code for code, label in enumerate(attribute.categories)}
        codes = [*(place.get(label, MISSING) for label in hierarchy.labels[0]), MISSING]
        column = np.array(codes, dtype=np.int32)[leaves]
    return table.with_columns({name: column}, levels={name: 0}, attributes={name: attribute})


def _leaves(table: Table, name: str, hierarchy: Hierarchy) -> NDArray[np.int32]:
    """Leaves of a column that is not generalised; an averaged number takes the nearest leaf."""
    if not table.attribute(name).numeric:
        place = {label: code for code, label in enumerate(hierarchy.labels[0])}
        codes = [*(place.get(label, MISSING) for label in table.labels(name)), MISSING]
        return np.array(codes, dtype=np.int32)[table.column(name)]
    numbers, values = table.column(name), hierarchy.values
    known = np.nan_to_num(numbers)
    right = np.clip(np.searchsorted(values, known), 1, max(len(values) - 1, 1))
    right = np.minimum(right, len(values) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(known - values[left] <= values[right] - known, left, right)
    return np.where(np.isnan(numbers), MISSING, nearest).astype(np.int32)


def _some_leaf(hierarchy: Hierarchy, level: int) -> NDArray[np.int32]:
    """Any leaf of each group of a level, since all are in one group further up; the last is for missing values."""
    leaf = np.full(len(hierarchy.labels[level]) + 1, MISSING, dtype=np.int32)
    leaf[hierarchy.groups[level]] = np.arange(hierarchy.size, dtype=np.int32)
    leaf[-1] = MISSING
    return leaf


# -- The Compare page: pinned solutions and the original in common charts and side by side.

SHOWN = {
    "loss": "information loss, %",
    "risk": "people found by the intruder of the plan, %",
    "uses": "change of the uses",
    "k": "smallest equivalence class (k)",
    "unique": "people unique in the file",
    "suppressed": "suppressed records, %",
}
MOST_DRAWN = 30
"""Largest number of columns in charts, so that a browser gets fewer than 5 000 marks."""


def routes(studio: Studio) -> list[Route]:
    """Routes of the Compare page: the page, then parts that need decoding, common charts and each solution."""

    def page(request: Request) -> Response:
        return studio.page("compare", lambda: _pinned_content(studio.session))

    def together(request: Request) -> Response:
        session = studio.session
        original, pinned = _original(session), [session.solution(number) for number in session.pins]
        masked = {s.number: session.masked_table(s.number) for s in pinned}
        counted = {
            s.number: _compared_class_sizes(original, masked[s.number]) for s in pinned if s.family != PERTURBATION
        }
        drawn = overlays(original, masked)
        return studio.part(
            "together.html",
            classes=_draw(_merged_sizes(counted)),
            uncounted=[s.number for s in pinned if s.number not in counted],
            columns=[_draw(each) for each in drawn[:MOST_DRAWN]],
            more=[each.name for each in drawn[MOST_DRAWN:]],
            absent=_absent(drawn),
        )

    def alone(request: Request) -> Response:
        session, number = studio.session, int(request.path_params["number"])
        solution = session.solution(number)
        return studio.part(
            "compared.html", s=solution, **_compared_content(_original(session), session.masked_table(number))
        )

    return [
        route_get_responses("/compare", page),
        route_get_responses("/compare/together", together),
        route_get_responses("/compare/{number:int}", alone),
    ]


def _pinned_content(session: Session) -> dict[str, Any]:
    pinned = [session.solution(number) for number in session.pins] if session.has_run else []
    return {"pinned": pinned, "figures": _figures(pinned), "searched": session.has_run}


def _original(session: Session) -> Table:
    return session.run.original


def _figures(pinned: list[Solution]) -> list[tuple[str, str, list[float | None]]]:
    names = dict.fromkeys([*SHOWN, *(name for s in pinned for name in s.evaluation.figures)])
    rows = [(name, SHOWN.get(name, name), [s.figure(name) for s in pinned]) for name in names]
    axes = [row[2] for row in rows if row[0] in ("loss", "risk")]
    rows = [row for row in rows if row[0] in SHOWN or row[2] not in axes]  # the only measure of an axis is that axis
    return [row for row in rows if any(value is not None for value in row[2])]


def _compared_content(original: Table, masked: Table) -> dict[str, Any]:
    names, cells = association_changes(original, masked)
    some, hidden = _sample_rows(original, masked)
    groups, earned = _record_harms(some, hidden)
    return {
        "associations": drawable_specification(chart_heat_map(names, cells)),
        "association_names": names,
        "association_cells": {f"{a}|{b}": moved for a, b, moved in cells},
        "association_text": _most_changed(cells),
        "groups": groups,
        "match": explain_compared_match(some, hidden, earned),
        "sampled": len(some) < len(original),
    }


def _draw(found: Overlay | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "title": found.title,
        "message": found.message,
        "files": list(found.series),
        "spec": drawable_specification(chart_overlaid_bars(found.labels, found.series, "records")),
        "rows": list(zip(found.labels, *found.series.values(), strict=True)),
    }


def _absent(drawn: list[Overlay]) -> dict[str, list[str]]:
    """Columns that are not in the charts, by solution and reason."""
    found: dict[str, list[str]] = {}
    for each in drawn:
        for number, why in each.absent.items():
            found.setdefault(f"Of solution {number}, {why}", []).append(each.name)
    return found


def _most_changed(cells: list[tuple[str, str, float]]) -> str:
    if not cells:
        return "There are no two columns to compare."
    a, b, moved = max(cells, key=lambda cell: cell[2])
    if moved < 0.005:
        return "No association between two columns changed."
    return f"The association between {a} and {b} changed most: Cramér's V (0 to 1) by {moved:.2f}."
