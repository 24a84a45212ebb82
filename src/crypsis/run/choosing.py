"""Solutions of a run and the choice among them: the default, three offers, and the knee."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import PlanError, listing, suggestion
from crypsis.measures.objective import ANALYSES_KEPT, Complaint, Evaluation, excess_over_objective_limit
from crypsis.measures.utility.card import Ruin, Usefulness
from crypsis.small_tables import cell_text
from crypsis.text import complaint_text

# -- A solution: its number, the search that found it, its figures, and whether it may be released.

BASELINE = -1
"""Number of the search of baselines."""


@dataclass(frozen=True)
class Solution:
    """A measured solution; its table is decoded when it is needed.

    Attributes
    ----------
    number : int
        Its number in the run.
    search : int
        Place of its search in the plan; `BASELINE` for a baseline.
    title : str
        Name of the search or baseline.
    family : str
        How it masks.
    message : str
        What it does, in one sentence.
    facts : mapping
        Figures of the search about it.
    evaluation : Evaluation
        Measured figures and complaints.

    Examples
    --------
    >>> from crypsis.measures.objective import Evaluation
    >>> Solution(1, 0, "memetic", "aggregation", "", {}, Evaluation({"loss": 2.0})).figure("loss")
    2.0
    """

    number: int
    search: int
    title: str
    family: str
    message: str
    facts: Mapping[str, Any]
    evaluation: Evaluation

    @property
    def baseline(self) -> bool:
        """Whether it is a baseline."""
        return self.search == BASELINE

    @property
    def feasible(self) -> bool:
        """Whether it may be released: every required model, limit and use is kept."""
        return not self.evaluation.complaints

    def figure(self, name: str) -> float | None:
        """A measured figure.

        Parameters
        ----------
        name : str
            Name of the figure.

        Returns
        -------
        float or None
            None if it has no meaning for the solution.
        """
        return self.evaluation.figures.get(name)

    @property
    def complaints(self) -> tuple[str, ...]:
        """Why it may not be released, in words; empty if it may."""
        figures = self.evaluation.figures
        return tuple(complaint_text(complaint, self.family, figures) for complaint in self.evaluation.complaints)

    def __repr__(self) -> str:
        """Its number, method, loss and risk."""
        shown = ", ".join(f"{name} {cell_text(self.figure(name))} %" for name in ("loss", "risk"))
        return f"Solution({self.number}, {self.title}: {shown}{'' if self.feasible else ', not releasable'})"

    def content(self) -> dict[str, Any]:
        """The content of the store, as plain data."""
        return {
            "title": self.title,
            "family": self.family,
            "message": self.message,
            "facts": {name: _plain(value) for name, value in self.facts.items()},
            **self.evaluation.to_dict(),
        }

    @classmethod
    def of(cls, number: int, search: int, content: Mapping[str, Any]) -> Solution:
        """A solution from the content of the store.

        Parameters
        ----------
        number : int
            Its number.
        search : int
            Place of its search.
        content : mapping
            What `content` gave.

        Returns
        -------
        Solution
        """
        title, family, message, facts = (content[name] for name in ("title", "family", "message", "facts"))
        return cls(number, search, title, family, message, facts, Evaluation.from_dict(content))

    def to_dict(self) -> dict[str, Any]:
        """The solution as plain data for JSON, without the genome."""
        return {
            "number": self.number,
            "baseline": self.baseline,
            "feasible": self.feasible,
            **self.content(),
            "reasons": list(self.complaints),
        }


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


# -- Choosing a solution: the default, three offers, and the knee, over the solutions worth considering.
#
# A difference of two risks inside the interval of the lower one is no difference, so no loss is paid for it. Solutions
# with a ruined column, or with more loss than a useful file has, are considered only where there are no others; adding
# or removing them changes nothing. Loss is what searches minimise; analyses drawn at random judge it: a solution that
# another one, or a baseline, beats in analyses kept without more risk is not offered. The most faithful one is the
# least loss among those that keep no clearly fewer analyses than another within all limits, baselines included.
# Baselines are offered where nothing else may be released, or where they beat all else.

OfferName = Literal["faithful", "balanced", "safest"]
OFFERS: tuple[OfferName, ...] = get_args(OfferName)
DEFAULT_PICK: OfferName = "faithful"
"""What is chosen where nobody says anything: within all limits, the least loss of those that keep most analyses."""
APART = 3.0
"""Per cent of the analyses by which a solution must keep more to be clearly better."""
RULES = (*OFFERS, "knee", "best")
"""Picks by a rule; "best" is another name of the default."""


@dataclass(frozen=True)
class Offer:
    """A solution that is offered, and what is wrong with it."""

    name: OfferName  # why it is offered: least loss, least sum of loss and risk, or least risk
    solution: Solution  # which one
    ruins: tuple[Ruin, ...]  # its ruined columns; empty wherever a solution without one exists
    useful: bool  # whether it is within all thresholds of a useful file


def group_offers_for_choosing(offers: Sequence[Offer]) -> list[tuple[Offer, ...]]:
    """For choosing among solutions of a run: group the offers that name the same solution."""
    numbers = dict.fromkeys(offer.solution.number for offer in offers)
    return [tuple(offer for offer in offers if offer.solution.number == number) for number in numbers]


def ruins_of(solution: Solution, useful: Usefulness) -> tuple[Ruin, ...]:
    """The ruined columns of a solution, worst first."""
    return useful.ruins(solution.evaluation.columns)


def worth_considering(solutions: Sequence[Solution], axes: Sequence[str], useful: Usefulness) -> tuple[Solution, ...]:
    """The non-dominated ones among those that keep the most thresholds of a useful file which any of them keeps.

    With them those that are dominated and keep clearly more analyses than all of them, at a risk within the limits.
    """
    able = [s for s in solutions if s.feasible and all(s.figure(axis) is not None for axis in axes)]
    little = [s for s in able if figure_for_choosing(s, "loss") <= useful.loss]
    asked = [s for s in little if is_useful(s, useful)]
    best = next((each for group in (asked, little) for each in (_sound(group, useful), group) if each), able)
    kept = unbeaten(best)  # by another one of them: a file with a ruined column beats none without
    front = solutions_worth_choosing(choose_searched_solutions(kept) or kept, axes)
    most = _most_analyses(front)
    return (*front, *(s for s in kept if most is not None and (s.figure(ANALYSES_KEPT) or 0.0) > most + APART))


def _most_analyses(solutions: Sequence[Solution]) -> float | None:
    """The most analyses that any of them keeps, per cent; None where they were not asked of all."""
    kept = [s.figure(ANALYSES_KEPT) for s in solutions]
    return max((each for each in kept if each is not None), default=None) if None not in kept else None


def _sound(solutions: Sequence[Solution], useful: Usefulness) -> list[Solution]:
    """Those without a ruined column."""
    return [s for s in solutions if not ruins_of(s, useful)]


def is_useful(solution: Solution, useful: Usefulness) -> bool:
    """Whether a solution keeps the thresholds of a whole file: analyses and loss."""
    kept = solution.figure(ANALYSES_KEPT)
    return figure_for_choosing(solution, "loss") <= useful.loss and (kept is None or kept >= useful.analyses)


def choose_searched_solutions(solutions: Sequence[Solution]) -> list[Solution]:
    """Those solutions of a run that a search found, to choose among them."""
    return [solution for solution in solutions if not solution.baseline]


def unbeaten(solutions: Sequence[Solution]) -> list[Solution]:
    """Those that no other one beats clearly in analyses kept without more risk."""
    risks = np.array([figure_for_choosing(solution, "risk") for solution in solutions])
    kept = np.array([np.nan if (each := s.figure(ANALYSES_KEPT)) is None else each for s in solutions])
    return [s for s, risk, own in zip(solutions, risks, kept, strict=True)
            if not (kept[_no_riskier(risks, risk)] > own + APART).any()]  # fmt: skip


def _no_riskier(risks: NDArray[np.float64], most: float) -> NDArray[np.bool_]:
    """bool[n]: risks that are no more than one of them, up to rounding."""
    return np.asarray(risks <= most + 1e-9 * (1.0 + abs(most)))


def chosen_by(rule: str, among: Sequence[Solution], axes: Sequence[str], useful: Usefulness) -> Solution:
    """The solution that a rule chooses.

    `among`: what `worth_considering` gave, not empty.
    """
    if rule == "knee":
        return _knee(among, axes, useful)
    if rule == "balanced":
        return _as_safe(
            min(among, key=lambda s: (figure_for_choosing(s, "loss") + figure_for_choosing(s, "risk"), s.number)), among
        )
    if rule == "safest":
        return _as_safe(
            min(among, key=lambda s: (figure_for_choosing(s, "risk"), figure_for_choosing(s, "loss"), s.number)), among
        )
    most = _most_analyses(among)
    if most is not None:
        among = [s for s in among if (s.figure(ANALYSES_KEPT) or 0.0) >= most - APART]
    return min(among, key=lambda s: (figure_for_choosing(s, "loss"), figure_for_choosing(s, "risk"), s.number))


def _knee(among: Sequence[Solution], axes: Sequence[str], useful: Usefulness) -> Solution:
    """The solution nearest to the best of every axis.

    Loss is scaled by what a useful file may lose, the other axes by their largest value: no far end of the loss
    stretches the scale.
    """
    scores = np.array([[figure_for_choosing(s, axis) for axis in axes] for s in among], dtype=np.float64)
    largest = scores.max(axis=0)
    scale = np.array([useful.loss if axis == "loss" else most for axis, most in zip(axes, largest, strict=True)])
    return among[int(np.argmin((scores / np.where(scale > 0, scale, 1.0)).sum(axis=1)))]


def _as_safe(wanted: Solution, among: Sequence[Solution]) -> Solution:
    """The least loss among the solutions whose risk does not differ from that of the wanted one."""
    span = wanted.evaluation.intervals.get("risk")
    most = figure_for_choosing(wanted, "risk") if span is None else max(span[1], figure_for_choosing(wanted, "risk"))
    same = [s for s in among if figure_for_choosing(s, "risk") <= most]
    return min(same, key=lambda s: (figure_for_choosing(s, "loss"), figure_for_choosing(s, "risk"), s.number))


def solutions_worth_choosing(
    solutions: Sequence[Solution], axes: Sequence[str], feasible: bool = True
) -> tuple[Solution, ...]:
    """The non-dominated solutions of a run to choose among, least first axis first; of equal ones the lower number."""
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


def figure_for_choosing(solution: Solution, axis: str) -> float:
    """A figure, infinite where it is not given."""
    value = solution.figure(axis)
    return math.inf if value is None else value


# -- Conditions on figures, such as `k >= 5 and loss < 20`, read by a parser; nothing is executed.
#
# condition   comparisons with and, or, not and brackets
# comparison  a figure, one of < <= > >= = == !=, and a number, another figure, or text in quotation marks
# A comparison with a figure that a solution does not have (k after perturbation) is false.

Value = float | str | bool | None
Condition = Callable[[Mapping[str, Value]], bool]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*%?|(?P<word>\"[^\"]*\"|'[^']*')"
    r"|(?P<name>[A-Za-z_][\w.\-]*)|(?P<sign><=|>=|==|!=|<|>|=|\(|\)))"
)
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "=": operator.eq, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_EXAMPLE = 'write for example "k >= 5 and loss < 20"'


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    place: int


def parse_choosing_condition(text: str, known: list[str]) -> Condition:
    """Read a condition by which solutions of a run are chosen.

    >>> parse_choosing_condition("k >= 5", ["k"])({"k": 6.0})
    True
    """
    return _Parser(text, known).whole()


class _Parser:
    """Recursive descent over the tokens of one condition."""

    def __init__(self, text: str, known: list[str]) -> None:
        self.text, self.known, self.tokens, self.at = text, known, self._cut(text), 0

    @staticmethod
    def _cut(text: str) -> list[_Token]:
        tokens, at = [], 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if not found or found.lastgroup is None:
                raise PlanError(f"condition {text!r}: cannot be read from place {at + 1} on; {_EXAMPLE}")
            tokens.append(_Token(found.lastgroup, found[found.lastgroup], found.start(found.lastgroup) + 1))
            at = found.end()
        return tokens

    def _fail(self, wanted: str) -> PlanError:
        here = self.tokens[self.at] if self.at < len(self.tokens) else None
        found = f"{here.text!r} at place {here.place}" if here else "its end"
        return PlanError(f"condition {self.text!r}: {wanted} was expected and {found} found; {_EXAMPLE}")

    def _next_is(self, *texts: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].text.lower() in texts

    def _take(self) -> _Token:
        if self.at == len(self.tokens):
            raise self._fail("more")
        self.at += 1
        return self.tokens[self.at - 1]

    def whole(self) -> Condition:
        """Read the whole text."""
        condition = self._either()
        if self.at < len(self.tokens):
            raise self._fail("'and', 'or' or the end")
        return condition

    def _either(self) -> Condition:
        return self._parse_joined("or", self._both, any)

    def _both(self) -> Condition:
        return self._parse_joined("and", self._one, all)

    def _parse_joined(
        self, word: str, read: Callable[[], Condition], fold: Callable[[Iterable[bool]], bool]
    ) -> Condition:
        parts = [read()]
        while self._next_is(word):
            self.at += 1
            parts.append(read())
        return lambda row: fold(part(row) for part in parts)

    def _one(self) -> Condition:
        if self._next_is("not"):
            self.at += 1
            inner = self._one()
            return lambda row: not inner(row)
        if self._next_is("("):
            self.at += 1
            inner = self._either()
            if not self._next_is(")"):
                raise self._fail("')'")
            self.at += 1
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        left = self._operand()
        if not self._next_is(*_SIGNS):
            raise self._fail("one of < <= > >= = !=")
        compare = _SIGNS[self._take().text]
        right = self._operand()

        def holds(row: Mapping[str, Value]) -> bool:
            a, b = left(row), right(row)
            if a is None or b is None or isinstance(a, str) != isinstance(b, str):
                return False
            return compare(a, b)

        return holds

    def _operand(self) -> Callable[[Mapping[str, Value]], Value]:
        token = self._take()
        if token.kind == "number":
            number = float(token.text)
            return lambda row: number
        if token.kind == "word":
            return lambda row: token.text[1:-1]
        if token.kind != "name" or token.text.lower() in ("and", "or", "not"):
            self.at -= 1
            raise self._fail("a figure or a number")
        if token.text not in self.known:
            raise PlanError(
                f"condition {self.text!r}: there is no figure {token.text!r}{suggestion(token.text, self.known)}; "
                f"figures: {listing(self.known, most=40)}"
            )
        return lambda row: row.get(token.text)


@dataclass(frozen=True)
class Closest:
    """The solution that misses least of what is demanded, and what would have to be allowed for it."""

    solution: Solution
    changes: tuple[Complaint, ...]


def choose_closest_solution(solutions: Sequence[Solution]) -> Closest | None:
    """Choice where no solution of a run may be released: the least change that misses one demand, else the least."""
    tried = [s for s in solutions if not s.baseline and s.evaluation.complaints]
    if not tried:
        return None
    nearest = min(
        tried,
        key=lambda s: (sum(map(shortage_when_choosing, s.evaluation.complaints)), s.figure("loss") or 0.0, s.number),
    )
    return Closest(nearest, nearest.evaluation.complaints)


def shortage_when_choosing(complaint: Complaint) -> float:
    """How far a solution misses a demand in the choice, 0 … 1; 1 where no change of its threshold would help."""
    required, attained = complaint.required, complaint.attained
    if required is None or attained is None:
        return 1.0
    if complaint.sense == "at least":
        return min(max((required - attained) / max(required, 1e-9), 0.0), 1.0)
    return excess_over_objective_limit(attained, required)
