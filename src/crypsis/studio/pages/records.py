"""A closer look at one solution: its records beside the original's, its classes, and any two columns crossed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crypsis.errors import TableError
from crypsis.measures.information_loss import information_losses
from crypsis.studio.associations import associate, most_changed_association
from crypsis.studio.overlays import lift_column
from crypsis.studio.responses import routes_of, shows
from crypsis.studio.studio import Studio
from crypsis.table.attribute import UNPUBLISHED
from crypsis.table.equivalence_classes import EquivalenceClasses, classes_of
from crypsis.table.frames import to_frame
from crypsis.table.table import LOCAL, PERTURBATION, Table

ROWS, MOST_ROWS = 20, 200
"""Records on one page, and raw records that may be shown of one choice."""
CLASSES = 20
"""Classes on one page."""
GROUPS = 6
"""Values of a column in a two-way table; the rest is one group, numbers are cut at quantiles of the original."""
SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
"""Class sizes at which the bars begin."""

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Bar:
    """People whose class has so many records, before and after."""

    low: int
    high: int | None
    before: int
    after: int

    @property
    def words(self) -> str:
        """The sizes in words."""
        if self.high is None:
            return f"{self.low} and more"
        return str(self.low) if self.high == self.low else f"{self.low} to {self.high}"


def class_size_bars(before: NDArray[np.int64], after: NDArray[np.int64]) -> list[Bar]:
    """People by the size of their class, in the original and in a solution; int64[records] each."""
    ends = [*(size - 1 for size in SIZES[1:]), None]
    made = []
    for low, high in zip(SIZES, ends, strict=True):
        counts = [int(((s >= low) & (s <= (high or s.max(initial=0)))).sum()) for s in (before, after)]
        made.append(Bar(low, high, *counts))
    return made


class _RecordsPage:
    """The parts of the closer look; each is fetched when it is opened."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio

    def _tables(self, request: Request) -> tuple[int, Table, Table]:
        session, number = self.studio.session, int(request.path_params["number"])
        return number, session.run.original, session.masked_table(number)

    @shows("/look/{number:int}/records")
    def records(self, request: Request) -> Response:
        """Records before and after: those that lose most first, or those of one class or of some class sizes."""
        number, original, masked = self._tables(request)
        asked = request.query_params
        rows, words = _chosen_rows(original, masked, asked.get("class"), asked.get("sizes"))
        page = max(0, int(asked.get("page", "0")))
        total = min(len(rows), MOST_ROWS)
        shown = rows[:MOST_ROWS][page * ROWS : (page + 1) * ROWS]
        return self.studio.part(
            "records.html",
            number=number,
            words=words,
            found=len(rows),
            total=total,
            page=page,
            pages=-(-total // ROWS),
            query="&".join(f"{key}={asked[key]}" for key in ("class", "sizes") if key in asked),
            **_side_by_side(original, masked, shown),
        )

    @shows("/look/{number:int}/classes")
    def classes(self, request: Request) -> Response:
        """The classes of a solution, the smallest first, and how many people are in classes of which size."""
        number, original, masked = self._tables(request)
        if self.studio.session.solution(number).family == PERTURBATION:
            raise TableError("this solution perturbs values instead of grouping records; it has no classes")
        page, found = max(0, int(request.query_params.get("page", "0"))), _classes(original, masked)
        order = np.argsort(found.sizes, kind="stable")
        names = list(original.quasi_identifiers)
        first = found.first[order[page * CLASSES : (page + 1) * CLASSES]].astype(np.intp)
        raw = classes_of(original, tuple(names))
        before, after = (each.sizes[each.of[each.of >= 0]] for each in (raw, found))
        bars = class_size_bars(before, after)
        return self.studio.part(
            "classes.html",
            number=number,
            names=names,
            rows=[
                {"class": int(found.of[row]), "size": int(found.sizes[found.of[row]]), "cells": cells}
                for row, cells in zip(first, read_cells(masked, first, names), strict=True)
            ],
            bars=bars,
            most=max((max(bar.before, bar.after) for bar in bars), default=1) or 1,
            page=page,
            pages=-(-found.count // CLASSES),
            count=found.count,
        )

    @shows("/look/{number:int}/cross")
    def cross(self, request: Request) -> Response:
        """Two columns crossed, before and after."""
        number, original, masked = self._tables(request)
        names = [a.name for a in original.attributes if a.role not in UNPUBLISHED]
        first = request.query_params.get("a") or names[0]
        second = request.query_params.get("b") or names[min(1, len(names) - 1)]
        for name in (first, second):
            if name not in names:
                raise TableError(f"there is no published column {name!r}; choose one of the list")
        across, down = _group_values(original, masked, second), _group_values(original, masked, first)
        before = _count(down[1], across[1], len(down[0]), len(across[0]))
        after = _count(down[2], across[2], len(down[0]), len(across[0]))
        return self.studio.part(
            "cross.html", number=number, names=names, a=first, b=second, down=down[0], across=across[0],
            before=before.tolist(), after=after.tolist(),
            association=associate(original, masked, first, second) if first != second else None,
            most=most_changed_association(original, masked),
        )  # fmt: skip


def routes(studio: Studio) -> list[Route]:
    """The parts of the closer look."""
    return routes_of(_RecordsPage(studio))


def _classes(original: Table, masked: Table) -> EquivalenceClasses:
    return classes_of(masked, tuple(original.quasi_identifiers))


def _chosen_rows(original: Table, masked: Table, of: str | None, sizes: str | None) -> tuple[Rows, str]:
    """The rows asked for, those that lose most first, and what they are in words."""
    names = original.quasi_identifiers
    if of is not None:
        found = _classes(original, masked)
        rows = np.flatnonzero(found.of == int(of))
        return rows, f"The {len(rows)} records of one class: nobody can tell them apart by {', '.join(names)}."
    if sizes is not None:
        low, _, high = sizes.partition("-")
        found = _classes(original, masked)
        size = np.where(found.of >= 0, np.append(found.sizes, 0)[found.of], 0)
        rows = np.flatnonzero((size >= int(low)) & (size <= int(high or len(masked))))
        return rows, f"{len(rows)} records whose class has {low}{f' to {high}' if high else ' or more'} records."
    lost = np.mean([information_losses(original, masked, name) for name in names], axis=0)
    return np.argsort(-lost, kind="stable"), "The records that lose most, first."


def _side_by_side(original: Table, masked: Table, rows: Rows) -> dict[str, Any]:
    """Cells before and after of some rows, the masked columns first; identifiers are not shown."""
    masked_first = [*original.quasi_identifiers]
    names = [
        *masked_first,
        *(a.name for a in original.attributes if a.role not in (*UNPUBLISHED,) and a.name not in masked_first),
    ]
    before, after = read_cells(original, rows, names), read_cells(masked, rows, names)
    lines = [
        {"row": int(row) + 1, "left_out": not bool(masked.kept[row]), "cells": list(zip(b, a, strict=True))}
        for row, b, a in zip(rows, before, after, strict=True)
    ]
    return {"names": names, "lines": lines}


def read_cells(table: Table, rows: Rows, names: list[str]) -> list[list[str]]:
    """The published text of some cells."""
    frame = _frame(table.take(rows), names)
    columns = {name: frame[name].to_list() for name in names}
    return [[_text(columns[name][place]) for name in names] for place in range(len(rows))]


def _frame(table: Table, names: list[str]) -> nw.DataFrame[Any]:
    """Some columns of all records, those that are left out too."""
    whole = replace(table, kept=np.ones(len(table), np.bool_))
    return nw.from_native(to_frame(whole.drop(n for n in table.names if n not in names)), eager_only=True)


def _text(value: Any) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _group_values(original: Table, masked: Table, name: str) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Labels of a few groups of a column, and the group of every record of both tables; −1 for none."""
    if original.holds_numbers(name) and masked.holds_numbers(name):
        known = original.column(name)
        edges = np.unique(np.nanquantile(known, np.linspace(0, 1, GROUPS)[1:-1])) if len(known) else np.empty(0)
        labels = [
            *(f"below {edge:g}" for edge in edges[:1]),
            *(f"{a:g} to {b:g}" for a, b in pairwise(edges)),
            *(f"{edge:g} and more" for edge in edges[-1:]),
        ]
        cut = [
            np.where(np.isnan(t.column(name)), -1, np.searchsorted(edges, t.column(name), side="right"))
            for t in (original, masked)
        ]
        return labels, cut[0].astype(np.int64), np.where(masked.kept, cut[1], -1).astype(np.int64)
    level = masked.level(name)
    alike = lift_column(original, original, name, level) if level not in (0, LOCAL) else original
    texts = [np.array(_texts(table, name)) for table in (alike, masked)]
    values, counts = np.unique(texts[0], return_counts=True)
    common = [str(value) for value in values[np.argsort(-counts, kind="stable")][:GROUPS] if value != "–"]
    place = {value: number for number, value in enumerate(common)}
    coded = [np.array([place.get(value, len(common)) if value != "–" else -1 for value in column]) for column in texts]
    return [*common, "others"], coded[0], np.where(masked.kept, coded[1], -1)


def _texts(table: Table, name: str) -> list[str]:
    frame = _frame(table, [name])
    return [_text(value) for value in frame[name].to_list()]


def _count(down: NDArray[np.int64], across: NDArray[np.int64], rows: int, columns: int) -> NDArray[np.int64]:
    """int64[rows, columns]: records in each cell of a two-way table."""
    both = (down >= 0) & (across >= 0)
    return np.bincount(down[both] * columns + across[both], minlength=rows * columns).reshape(rows, columns)
