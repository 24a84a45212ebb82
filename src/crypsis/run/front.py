"""The common front: the non-dominated solutions of all searches and baselines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from crypsis.charts import Chart
from crypsis.charts.chart import require_renderer, scatter
from crypsis.errors import PlanError, SearchError, listing, name_step, unknown_column, word
from crypsis.evolution.frontier import Contribution, rank_frontier_contributions, spread_frontier_positions
from crypsis.measures.objective import ALL_KNOWING, ANALYSES_KEPT
from crypsis.measures.utility.card import Ruin, Usefulness, ruined_columns
from crypsis.run.choosing import (
    DEFAULT_PICK,
    OFFERS,
    RULES,
    Offer,
    OfferName,
    Solution,
    Value,
    choose_searched_solutions,
    chosen_by,
    figure_for_choosing,
    is_useful,
    parse_choosing_condition,
    ruins_of,
    solutions_worth_choosing,
    worth_considering,
)
from crypsis.small_tables import cell_text, count_characters_of_line, draw_html_table, table_with_text
from crypsis.text import intruder_text, offer_text_on_card

if TYPE_CHECKING:
    import polars as pl

USUAL = Usefulness()

FEWEST_IN_COMMON = 3
"""Words that all descriptions of a method end with, from which on they are said once."""

SHOWN = ("loss", "risk", ANALYSES_KEPT, ALL_KNOWING, "uses", "k", "unique", "suppressed")
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
    useful : Usefulness
        Thresholds beyond which a column is ruined, or a solution is not worth considering.

    Examples
    --------
    >>> with crypsis.protect(crypsis.example(60), k=3, budget="1 generations", seed=1) as run:
    ...     len(run.front) <= len(run.front.everything)
    True
    """

    everything: tuple[Solution, ...]
    axes: tuple[str, ...] = ("loss", "risk")
    useful: Usefulness = USUAL

    @cached_property
    def solutions(self) -> tuple[Solution, ...]:
        """The front, least first axis first: of what searches found, or of the baselines where nothing else may go."""
        found = choose_searched_solutions(self.everything)
        return solutions_worth_choosing(found if any(s.feasible for s in found) else self.everything, self.axes)

    @property
    def listed(self) -> tuple[Solution, ...]:
        """The front and the offers, least loss first: an offer lies behind the front where it keeps more analyses."""
        offered = [offer.solution for offer in self.offers if not offer.solution.baseline]
        numbered = {solution.number: solution for solution in (*self.solutions, *offered)}
        return tuple(sorted(numbered.values(), key=lambda s: (figure_for_choosing(s, self.axes[0]), s.number)))

    @property
    def baselines(self) -> tuple[Solution, ...]:
        """The measured baselines."""
        return tuple(solution for solution in self.everything if solution.baseline)

    @property
    def out_of_reach(self) -> tuple[Solution, ...]:
        """Solutions that may not be released and that no releasable one dominates: what the requirements cost."""
        open_ = solutions_worth_choosing(self.everything, self.axes, feasible=False)
        return tuple(solution for solution in open_ if not solution.feasible and not solution.baseline)

    @property
    def beaten(self) -> tuple[tuple[Solution, Solution], ...]:
        """For every method without a solution on the front: its nearest releasable one, and one that dominates it."""
        on, among = self.solutions, choose_searched_solutions(self.everything)
        absent = dict.fromkeys(s.title for s in among if s.title not in {each.title for each in on})
        found = []
        for title in absent:
            own = solutions_worth_choosing([s for s in among if s.title == title], self.axes)
            if own:
                nearest = chosen_by("knee", own, self.axes, self.useful)
                winner = next(
                    s
                    for s in on
                    if all(figure_for_choosing(s, a) <= figure_for_choosing(nearest, a) for a in self.axes)
                )
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
        holds = parse_choosing_condition(condition, self.figures)
        return tuple(solution for solution in chosen if holds(_row_of(solution)))

    @property
    def figures(self) -> list[str]:
        """Figures that a condition may name."""
        names = dict.fromkeys(name for solution in self.everything for name in solution.evaluation.figures)
        return [*names, "number", "family", "method", "feasible", "baseline"]

    @cached_property
    def offers(self) -> tuple[Offer, ...]:
        """Three solutions to choose from: most faithful, balanced, safest worth choosing; none if none may be released.

        The first is the default. Two of them may be the same solution.
        """
        return self.offers_among(self.everything)

    def offers_among(self, solutions: Sequence[Solution]) -> tuple[Offer, ...]:
        """The offers among some solutions.

        Parameters
        ----------
        solutions : sequence of Solution
            Solutions of the run, whether on the front or not.

        Returns
        -------
        tuple of Offer
        """
        pool = worth_considering(solutions, self.axes, self.useful)
        return (
            tuple(self._offer(name, chosen_by(name, pool, self.axes, self.useful)) for name in OFFERS) if pool else ()
        )

    def _offer(self, name: OfferName, solution: Solution) -> Offer:
        ruins = self.ruins(solution)
        return Offer(name, solution, ruins, not ruins and is_useful(solution, self.useful))

    def ruins(self, solution: Solution) -> tuple[Ruin, ...]:
        """The ruined columns of a solution, worst first.

        Parameters
        ----------
        solution : Solution
            One of the run.

        Returns
        -------
        tuple of Ruin
        """
        return ruins_of(solution, self.useful)

    def why(self, offer: Offer) -> str:
        """Why a solution is offered, in two sentences, and what is ruined in it.

        Parameters
        ----------
        offer : Offer
            One of `offers`.

        Returns
        -------
        str
        """
        evaluation = offer.solution.evaluation
        span = evaluation.intervals.get("risk")
        compared = {
            s.title: kept for s in self.baselines if s.feasible and (kept := s.figure(ANALYSES_KEPT)) is not None
        }
        first = self.solutions[0] if self.solutions else offer.solution
        less = "" if offer.name != "faithful" or first.number == offer.solution.number else self._why_not(first)
        return offer_text_on_card(offer.name, evaluation.figures, span, self.useful, offer.ruins, compared, less)

    def _why_not(self, solution: Solution) -> str:
        """Why the solution with the least loss of the front is not offered, as the end of a sentence."""
        ruined = list(ruined_columns(self.ruins(solution)))
        kept = cell_text(solution.figure(ANALYSES_KEPT))
        wrong = f"ruins {listing(ruined)}" if ruined else f"keeps {kept} % of the answers"
        return f"no. {solution.number} loses {cell_text(solution.figure('loss'))} % and {wrong}"

    def intruders(self, solutions: Sequence[Solution]) -> tuple[str, ...]:
        """Whose success the risks of some solutions are, in words.

        Parameters
        ----------
        solutions : sequence of Solution
            Solutions of the run.

        Returns
        -------
        tuple of str
        """
        risky = [s for s in solutions if s.figure("risk") is not None]
        return tuple(dict.fromkeys(intruder_text(s.evaluation.figures) for s in risky))

    def default(self) -> Solution:
        """The least loss within all limits.

        Returns
        -------
        Solution

        Raises
        ------
        SearchError
            If no solution may be released.
        """
        return self.pick(DEFAULT_PICK)

    def outline(self, count: int) -> tuple[Solution, ...]:
        """Members that show the shape of the front: the offers, its ends, then those farthest from all others.

        Parameters
        ----------
        count : int
            Largest number of members.

        Returns
        -------
        tuple of Solution
        """
        on = self.listed
        scores = np.array([[solution.figure(axis) for axis in self.axes] for solution in on], dtype=np.float64)
        if len(on) <= count:
            return on
        known = np.zeros(len(on), dtype=np.bool_)
        offered = {offer.solution.number for offer in self.offers}
        known |= [solution.number in offered for solution in on]
        places = np.flatnonzero(known).tolist()
        chosen = sorted([*places, *spread_frontier_positions(scores, known, count - len(places))])
        return tuple(on[place] for place in chosen)

    def pick(self, text: str | int) -> Solution:
        """Choose a solution.

        Parameters
        ----------
        text : str or int
            A number; "faithful" (least loss of those that keep most analyses, also called "best"), "balanced" (least
            sum of loss and risk), "safest" (least risk of the useful ones) or "knee" (nearest to the best of both
            axes). A word may be followed by "where CONDITION". Solutions with a ruined column are chosen by a word only
            where there are no others.

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
            raise SearchError(
                f"there is no solution {asked} in this run; {name_step('front RUN')} lists those there are"
            )
        rule, _, condition = asked.partition(" where ")
        if rule.strip() not in RULES:
            raise PlanError(f'pick {asked!r}: write a number, {listing(RULES)}, or "{DEFAULT_PICK} where risk < 5"')
        able = [solution for solution in self.everything if solution.feasible]
        pool = worth_considering(self.where(condition, able) if condition else able, self.axes, self.useful)
        if not pool:
            raise SearchError(f"no solution that may be released meets {condition!r}" if condition else self._nothing())
        return chosen_by(rule.strip(), pool, self.axes, self.useful)

    def _nothing(self) -> str:
        found = [solution for solution in self.everything if not solution.baseline]
        if not found:
            return (
                "the run ended before its searches measured a solution, so there is nothing to release; go on with "
                f"{_more_time()}"
            )
        first = next((s.complaints[0] for s in found if s.complaints), "")
        why = f"; e.g. {first}" if first else ""
        return (
            f"no solution of this run may be released ({len(found)} are measured){why}; go on with "
            f"{_more_time()}, add a search, or demand less"
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

    @property
    def columns_shown(self) -> list[str]:
        """Figures that a table of the front has beside k and suppressed records."""
        shown: list[str] = [name for name in ("loss", "risk", "uses") if name in self.axes]
        if any(ALL_KNOWING in solution.evaluation.figures for solution in self.everything):
            shown.insert(2, ALL_KNOWING)
        if any(solution.figure(ANALYSES_KEPT) is not None for solution in self.everything):
            shown.append(ANALYSES_KEPT)
        return shown

    def table_text(self, listed: Sequence[Solution]) -> str:
        """Some solutions as a table in text, above which is said once what all of a method do.

        Parameters
        ----------
        listed : sequence of Solution
            Solutions of the run.

        Returns
        -------
        str
        """
        common = find_common_endings([(each.title, _first_clause(each)) for each in listed])
        lines = [
            fill(f"{title}: … {ending}", count_characters_of_line(), subsequent_indent="  ")
            for title, ending in common.items()
        ]
        rows = [[cell_text(cell) for cell in self._row(each, common.get(each.title, ""))] for each in listed]
        right = [0, *range(2, 4 + len(self.columns_shown))]
        return "\n".join([*lines, *([""] if lines else []), table_with_text(self._head(), rows, right)])

    def _head(self) -> tuple[str, ...]:
        return ("no.", "method", *self.columns_shown, "k", "suppressed", "description")

    def _row(self, solution: Solution, common: str = "") -> tuple[object, ...]:
        """The cells of a solution in a table, `common` being what all of its method end with."""
        standing, words = self._describe_standing(solution), _first_clause(solution)
        words = f"{words.removesuffix(common).rstrip()} …" if common else words
        return (
            solution.number,
            solution.title,
            *(solution.figure(name) for name in (*self.columns_shown, "k", "suppressed")),
            f"{standing}: {words}" if standing else words,
        )

    def _describe_standing(self, solution: Solution) -> str:
        """What a solution is offered as, and how many of its columns are ruined."""
        if not solution.feasible:
            return "not releasable"
        ruined = len(ruined_columns(self.ruins(solution)))
        offered = [offer.name for offer in self.offers if offer.solution.number == solution.number]
        return ", ".join([*offered, *([f"{ruined} ruined"] if ruined else [])])

    def _count_text(self) -> str:
        return f"{len(self)} of {len(self.everything)} measured solutions on the front"

    def _repr_html_(self) -> str:
        return draw_html_table(self._head(), [self._row(each) for each in self.listed], self._count_text())

    def __repr__(self) -> str:
        """The front and the offers as a table in text, least loss first."""
        return f"{self.table_text(self.listed)}\n{self._count_text()}" if self.listed else self._nothing()

    def plot(self) -> Chart:
        """Chart of loss against risk, with baselines and, faintly, the other solutions.

        Returns
        -------
        Chart
            A notebook shows it; ``.save("front.png")`` writes PNG, SVG or HTML.

        Raises
        ------
        ExtraMissing
            If the extra `pictures` is not installed.
        """
        require_renderer()
        on = {solution.number for solution in self.solutions}
        values = [
            {
                "number": s.number,
                "loss": s.figure("loss"),
                "risk": s.figure("risk"),
                "method": s.title,
                "standing": solution_standing(s, s.number in on),
                "description": s.message,
            }
            for s in self.everything
            if s.figure("loss") is not None and s.figure("risk") is not None
        ]
        return Chart(scatter(values))


def solution_standing(solution: Solution, on_front: bool) -> str:
    """The standing of a solution: "front", "baseline", "beaten" or "not releasable".

    `on_front`: whether it is on the front.
    """
    if on_front:
        return "front"
    if solution.baseline:
        return "baseline"
    return "beaten" if solution.feasible else "not releasable"


def _first_clause(solution: Solution) -> str:
    return solution.message.split("; ")[0]


def find_common_endings(described: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Method → the words with which the descriptions of all its solutions end, where several words do.

    >>> find_common_endings([("mdav", "9 groups share their age, sex"), ("mdav", "7 groups share their age, sex")])
    {'mdav': 'groups share their age, sex'}
    """
    found = {}
    for title in dict.fromkeys(title for title, _ in described):
        texts = list(dict.fromkeys(text for own, text in described if own == title))
        backwards = zip(*(reversed(text.split()) for text in texts), strict=False)
        common = [words[0] for words in takewhile(lambda words: len(set(words)) == 1, backwards)]
        if len(texts) > 1 and FEWEST_IN_COMMON <= len(common) < min(len(text.split()) for text in texts):
            found[title] = " ".join(reversed(common))
    return found


def _row_of(solution: Solution) -> dict[str, Value]:
    """The figures of a solution that a condition may name."""
    return {
        **solution.evaluation.figures,
        "number": float(solution.number),
        "family": solution.family,
        "method": solution.title,
        "feasible": solution.feasible,
        "baseline": solution.baseline,
    }


# -- What each search contributed to the front of a run; and, where nothing may be released, what comes closest.


def family_contributions(front: Front) -> list[Contribution]:
    """Points on the front and hypervolume lost without each search, over the solutions that may be released.

    The most missed first; baselines are no search and are left out. A search none of whose solutions may be released is
    listed with no points.
    """
    own = [solution for solution in front.everything if not solution.baseline]
    rows = [(s.title, [s.figure(axis) for axis in front.axes]) for s in own if s.feasible]
    known = [(title, row) for title, row in rows if None not in row]
    found = rank_frontier_contributions(
        [title for title, _ in known], np.array([row for _, row in known], dtype=np.float64)
    )
    absent = dict.fromkeys(s.title for s in own if s.title not in {each.name for each in found})
    return found + [Contribution(title, 0, 0, 0.0) for title in absent]


# -- A finished front under other importances of the columns: nothing is searched or measured again.

INFORMATION_LOSS = "information-loss"


def weigh_columns(front: Front, importance: Mapping[str, float], losses: Sequence[str]) -> Front:
    """The solutions of a front with their loss by other importances of the columns."""
    odd = [f"{name}={value:g}" for name, value in importance.items() if not 0 <= value <= 5]
    if odd:
        raise PlanError(f"importance {', '.join(odd)}: an importance is a number from 0 to 5")
    if INFORMATION_LOSS not in losses:
        raise SearchError("the losses of this run do not tell columns apart; importances weigh information-loss alone")
    return replace(front, everything=tuple(_weigh_solution(each, importance, losses) for each in front.everything))


def _weigh_solution(solution: Solution, importance: Mapping[str, float], losses: Sequence[str]) -> Solution:
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


def is_front_milestone(generation: int) -> bool:
    """Whether the common front of all searches and baselines is measured after a generation.

    >>> [n for n in range(20) if is_front_milestone(n)]
    [0, 1, 2, 3, 4, 6, 8, 12, 16]
    """
    if generation <= 4:
        return True
    while generation % 2 == 0:
        generation //= 2
    return generation in (1, 3)


def _more_time() -> str:
    """How a run goes on for longer."""
    return word(
        python='a longer budget, e.g. crypsis.Run.resume(folder, table=table, budget="60s").proceed()',
        command="`crypsis resume RUN --budget 60s`, RUN being its folder",
        studio="more time",
    )
