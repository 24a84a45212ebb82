"""The common front: the non-dominated solutions of all searches and baselines."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crypsis.charts import Chart
from crypsis.charts.reports import scatter
from crypsis.errors import PlanError, SearchError
from crypsis.evolution.frontier import Frontier
from crypsis.run.conditions import Value, parse
from crypsis.run.search_state import spread
from crypsis.run.solution import Solution

if TYPE_CHECKING:
    import polars as pl

SHOWN = ("loss", "risk", "uses", "k", "unique", "suppressed")
"""Figures every table of a front begins with."""


@dataclass(frozen=True)
class Front:
    """All measured solutions of a run, and the front among them.

    Iteration, `len` and `frame` are over the front: the solutions that may be released and that no other such solution
    dominates.

    Attributes
    ----------
    everything : tuple of Solution
        All measured solutions and baselines, whether they may be released or not.
    axes : tuple of str
        Figures that are minimised.

    Examples
    --------
    >>> with crypsis.protect(crypsis.example(60), k=3, budget="1 generations", seed=1) as run:
    ...     len(run.front) <= len(run.front.everything)
    True
    """

    everything: tuple[Solution, ...]
    axes: tuple[str, ...] = ("loss", "risk")

    @cached_property
    def solutions(self) -> tuple[Solution, ...]:
        """The front, least first axis first."""
        return best(self.everything, self.axes)

    @property
    def baselines(self) -> tuple[Solution, ...]:
        """The measured baselines."""
        return tuple(solution for solution in self.everything if solution.baseline)

    @property
    def out_of_reach(self) -> tuple[Solution, ...]:
        """Solutions that may not be released and that no releasable one dominates: what the requirements cost."""
        open_ = best(self.everything, self.axes, feasible=False)
        return tuple(solution for solution in open_ if not solution.feasible and not solution.baseline)

    @property
    def beaten(self) -> tuple[tuple[Solution, Solution], ...]:
        """For every method without a solution on the front: its nearest releasable one, and one that dominates it."""
        on = self.solutions
        absent = dict.fromkeys(s.title for s in self.everything if s.title not in {each.title for each in on})
        found = []
        for title in absent:
            own = best([s for s in self.everything if s.title == title], self.axes)
            if own:
                nearest = self.knee(own)
                winner = next(s for s in on if all(_at(s, axis) <= _at(nearest, axis) for axis in self.axes))
                found.append((nearest, winner))
        return tuple(found)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    def __len__(self) -> int:
        return len(self.solutions)

    # -- choosing --

    def where(self, condition: str, among: Sequence[Solution] | None = None) -> tuple[Solution, ...]:
        """Members of the front that meet a condition.

        Parameters
        ----------
        condition : str
            For example "k >= 5 and loss < 20".
        among : sequence of Solution, optional
            Choose among these instead of the front.

        Returns
        -------
        tuple of Solution

        Raises
        ------
        PlanError
            If the condition cannot be read.
        """
        chosen = self.solutions if among is None else tuple(among)
        holds = parse(condition, self.figures)
        return tuple(solution for solution in chosen if holds(row_of(solution)))

    @property
    def figures(self) -> list[str]:
        """Figures that a condition may name."""
        names = dict.fromkeys(name for solution in self.everything for name in solution.evaluation.figures)
        return [*names, "number", "family", "method", "feasible", "baseline"]

    def knee(self, among: Sequence[Solution] | None = None) -> Solution:
        """The member with the best balance: nearest to the best of every axis, scaled by the range of the front.

        Parameters
        ----------
        among : sequence of Solution, optional
            Choose among these instead of the front.

        Returns
        -------
        Solution
            The one that is meant.

        Raises
        ------
        SearchError
            If there is none.
        """
        chosen = self.solutions if among is None else tuple(among)
        if not chosen:
            raise SearchError(self._nothing())
        scores = np.array([[solution.figure(axis) for axis in self.axes] for solution in chosen], dtype=np.float64)
        return chosen[Frontier(tuple(scores), scores).knee()]

    def outline(self, count: int) -> tuple[Solution, ...]:
        """Members that show the shape of the front: its ends, the knee, then those farthest from all others.

        Parameters
        ----------
        count : int
            Largest number of members.

        Returns
        -------
        tuple of Solution
        """
        on = self.solutions
        scores = np.array([[solution.figure(axis) for axis in self.axes] for solution in on], dtype=np.float64)
        if len(on) <= count:
            return on
        known = np.zeros(len(on), dtype=np.bool_)
        known[on.index(self.knee())] = True
        chosen = sorted([*np.flatnonzero(known).tolist(), *spread(scores, known, count - 1)])
        return tuple(on[place] for place in chosen)

    def pick(self, text: str | int) -> Solution:
        """Choose a solution.

        Parameters
        ----------
        text : str or int
            A number, "knee" or "best" (least loss); the last two may be followed by "where CONDITION".

        Returns
        -------
        Solution

        Raises
        ------
        SearchError
            If there is no such solution.
        PlanError
            If the text cannot be read.
        """
        asked = str(text).strip()
        if asked.isdigit():
            for solution in self.everything:
                if solution.number == int(asked):
                    return solution
            raise SearchError(f"there is no solution {asked} in this run; `crypsis front` lists those there are")
        rule, _, condition = asked.partition(" where ")
        chosen = self.where(condition) if condition else self.solutions
        if rule.strip() not in ("knee", "best"):
            raise PlanError(f'pick {asked!r}: write a number, knee, best, or "best where risk < 5"')
        if not chosen:
            raise SearchError(f"no solution that may be released meets {condition!r}" if condition else self._nothing())
        return self.knee(chosen) if rule.strip() == "knee" else min(chosen, key=lambda s: (s.figure("loss"), s.number))

    def _nothing(self) -> str:
        first = next((s.complaints[0] for s in self.everything if s.complaints), "")
        why = f"; e.g. {first}" if first else ""
        return (
            f"no solution of this run may be released ({len(self.everything)} are measured){why}; give it more time, "
            f"add a search, or demand less"
        )

    # -- display --

    @property
    def frame(self) -> pl.DataFrame:
        """The front as a polars frame, least loss first."""
        import polars as pl

        names = [n for n in SHOWN if any(n in s.evaluation.figures for s in self.everything)]
        rows = [
            {
                "number": solution.number,
                "method": solution.title,
                "family": solution.family,
                **{name: solution.figure(name) for name in names},
                "description": solution.message,
            }
            for solution in self.solutions
        ]
        schema = {"number": pl.Int64, "method": pl.String, "family": pl.String, **dict.fromkeys(names, pl.Float64)}
        return pl.DataFrame(rows, schema={**schema, "description": pl.String})

    def _repr_html_(self) -> str:
        frame = self.frame
        head = "".join(f"<th>{html.escape(name)}</th>" for name in frame.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row) + "</tr>" for row in frame.rows()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        """The front as a table in text, least loss first."""
        frame = self.frame
        rows = [[_cell(value) for value in row] for row in frame.rows()]
        cells = [list(frame.columns), *rows]
        numeric = [dtype.is_numeric() for dtype in frame.dtypes]
        widths = [max(len(row[place]) for row in cells) for place in range(len(numeric) - 1)]
        lines = []
        for row in cells:
            parts = [
                text.rjust(width) if right else text.ljust(width)
                for text, width, right in zip(row, widths, numeric, strict=False)
            ]
            lines.append("  ".join([*parts, row[-1]]).rstrip())
        lines.append(f"{len(self)} of {len(self.everything)} measured solutions are on the front")
        return "\n".join(lines)

    def plot(self) -> Chart:
        """Chart of loss against risk, with baselines and, faintly, the other solutions.

        Returns
        -------
        Chart
            A notebook shows it; ``.save("front.png")`` writes PNG, SVG or HTML.
        """
        on = {solution.number for solution in self.solutions}
        values = [
            {
                "number": s.number,
                "loss": s.figure("loss"),
                "risk": s.figure("risk"),
                "method": s.title,
                "standing": standing(s, s.number in on),
                "description": s.message,
            }
            for s in self.everything
            if s.figure("loss") is not None and s.figure("risk") is not None
        ]
        return Chart(scatter(values))


def standing(solution: Solution, on_front: bool) -> str:
    """The standing of a solution: "front", "baseline", "beaten" or "not releasable".

    on_front  whether it is on the front
    """
    if on_front:
        return "front"
    if solution.baseline:
        return "baseline"
    return "beaten" if solution.feasible else "not releasable"


def best(solutions: Sequence[Solution], axes: Sequence[str], feasible: bool = True) -> tuple[Solution, ...]:
    """The non-dominated solutions, least first axis first; of equal ones the lower number.

    Parameters
    ----------
    solutions : sequence of Solution
        The solutions.
    axes : sequence of str
        Figures that are minimised.
    feasible : bool
        Whether only releasable solutions count.

    Returns
    -------
    tuple of Solution
    """
    pool = [s for s in solutions if (s.feasible or not feasible) and all(s.figure(axis) is not None for axis in axes)]
    scores = np.array([[s.figure(axis) for axis in axes] for s in pool], dtype=np.float64).reshape(len(pool), len(axes))
    kept = []
    for place, row in enumerate(scores):
        no_worse = (scores <= row).all(axis=1)
        better = no_worse & (scores < row).any(axis=1)
        twin = no_worse & ~better
        if not better.any() and int(np.flatnonzero(twin)[0]) == place:
            kept.append(pool[place])
    return tuple(sorted(kept, key=lambda s: (s.figure(axes[0]), s.number)))


def _at(solution: Solution, axis: str) -> float:
    value = solution.figure(axis)
    return math.inf if value is None else value


def row_of(solution: Solution) -> dict[str, Value]:
    """The figures of a solution that a condition may name.

    Parameters
    ----------
    solution : Solution
        The solution.

    Returns
    -------
    dict
    """
    return {
        **solution.evaluation.figures,
        "number": float(solution.number),
        "family": solution.family,
        "method": solution.title,
        "feasible": solution.feasible,
        "baseline": solution.baseline,
    }


def _cell(value: Any) -> str:
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
