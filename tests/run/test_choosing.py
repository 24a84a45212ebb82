"""Conditions on figures, picks, spread, milestones: the small decisions of a run, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crypsis.errors import PlanError, SearchError
from crypsis.evolution.frontier import spread_frontier_positions
from crypsis.measures.objective import Complaint, Evaluation
from crypsis.run.choosing import BASELINE, Solution, parse_choosing_condition
from crypsis.run.front import Front, is_front_milestone


def solution(
    number: int, loss: float, risk: float, k: float | None = 5.0, complaints: tuple[Complaint, ...] = ()
) -> Solution:
    figures = {"loss": loss, "risk": risk, "k": k, "record-linkage": risk}
    return Solution(number, 0, "memetic", "aggregation", "words", {}, Evaluation(figures, complaints=complaints))


FRONT = Front(
    (
        solution(1, 0, 100, 1, (Complaint("limit", "k", 5, 1),)),
        solution(2, 10, 20),
        solution(3, 15, 9),
        solution(4, 40, 8),
        solution(5, 16, 9),  # beaten by 3
        solution(6, 10, 20),  # the same as 2
        solution(7, 1, 30, None, (Complaint("no-model"),)),
    )
)


def test_the_front_by_hand() -> None:
    assert [s.number for s in FRONT] == [2, 3, 4]
    assert [s.number for s in FRONT.out_of_reach] == [1, 7]
    assert FRONT.pick("knee").number == 3
    assert FRONT.default().number == 2


def test_an_outline_has_the_ends_the_offers_and_what_lies_apart() -> None:
    crowd = [solution(10 + i, 10.0 + i / 100, 20.0 - i / 100) for i in range(30)]
    front = Front((*crowd, solution(50, 12, 5), solution(60, 90, 1), solution(70, 50, 3)))
    assert [s.number for s in front.outline(5)] == [10, 39, 50, 70, 60]
    assert front.pick("knee").number == 50
    assert FRONT.outline(3) == FRONT.solutions


def test_an_offer_behind_the_front_is_listed_and_says_what_loses_less() -> None:
    """No. 1 loses least and keeps few answers; no. 2 keeps clearly more at no more risk, and is offered."""

    def keeping(number: int, loss: float, risk: float, analyses: float) -> Solution:
        figures = {"loss": loss, "risk": risk, "k": 5.0, "analyses": analyses}
        return Solution(number, 0, "memetic", "aggregation", "words", {}, Evaluation(figures))

    front = Front((keeping(1, 10, 9, 60), keeping(2, 12, 9, 90)))
    assert [s.number for s in front] == [1]
    assert [s.number for s in front.listed] == [1, 2]
    assert front.default().number == 2
    said = front.why(front.offers[0])
    assert said.startswith("The least loss of the files most worth choosing: 12 % (no. 1 loses 10 % and keeps 60 %")
    assert "on the front" not in said


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [
        ("loss < 20", [2, 3]),
        ("k >= 5 and loss < 20", [2, 3]),
        ("loss < 12 or risk <= 8", [2, 4]),
        ("not (loss < 12 or risk <= 8)", [3]),
        ("record-linkage < 10%", [3, 4]),
        ("risk < loss", [3, 4]),
        ("family = 'recoding'", []),
        ('method != "pbg-ea" and number = 3', [3]),
        ("loss >= 1e1 and loss <= 15.0", [2, 3]),
    ],
)
def test_conditions(condition: str, numbers: list[int]) -> None:
    assert [s.number for s in FRONT.where(condition)] == numbers


def test_a_figure_that_is_not_given_meets_no_condition() -> None:
    everything = FRONT.everything
    assert 7 not in [s.number for s in FRONT.where("k >= 0", everything)]
    assert 7 not in [s.number for s in FRONT.where("k != 3", everything)]


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("", "expected"),
        ("loss", "one of <"),
        ("loss <", "more"),
        ("los < 3", "did you mean 'loss'"),
        ("loss < 3 risk > 2", "'and', 'or' or the end"),
        ("(loss < 3", "')'"),
        ("__import__('os')", "figure"),
        ("loss < 3; k", "place 9"),
        ("and < 3", "a figure or a number"),
    ],
)
def test_conditions_that_cannot_be_read_get_a_sentence(condition: str, words: str) -> None:
    with pytest.raises(PlanError) as refusal:
        parse_choosing_condition(condition, FRONT.figures)
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("pick", "number"),
    [
        ("knee", 3),
        ("best", 2),
        ("faithful", 2),
        ("balanced", 3),
        ("safest", 4),
        ("safest where loss > 20", 4),
        ("best where risk < 10", 3),
        ("4", 4),
        (7, 7),
    ],
)
def test_picks(pick: str | int, number: int) -> None:
    assert FRONT.pick(pick).number == number


def test_picks_that_find_nothing() -> None:
    with pytest.raises(SearchError, match="no solution 99"):
        FRONT.pick(99)
    with pytest.raises(PlanError, match="write a number, faithful"):
        FRONT.pick("prettiest")
    with pytest.raises(SearchError, match="meets 'risk < 1'"):
        FRONT.pick("best where risk < 1")
    with pytest.raises(SearchError, match="no solution of this run may be released"):
        Front((FRONT.everything[0],)).pick("knee")
    for nothing in (Front(()), Front((replace(FRONT.everything[0], search=BASELINE),))):
        with pytest.raises(SearchError, match=r"searches measured a solution.*longer budget.*Run\.resume"):
            nothing.pick("knee")


def test_spread_takes_corners_then_gaps() -> None:
    scores = np.array([[0.0, 10.0], [1.0, 6.0], [5.0, 5.0], [9.0, 1.0], [10.0, 0.0]])
    none = np.zeros(5, dtype=np.bool_)
    assert spread_frontier_positions(scores, none, 3) == [0, 4, 1]  # the ends and the knee
    assert spread_frontier_positions(scores, none, 4) == [0, 4, 1, 2]  # then the farthest
    assert spread_frontier_positions(scores, np.array([True, True, False, False, True]), 1) == [2]
    assert spread_frontier_positions(scores, ~none, 3) == []
    assert sorted(spread_frontier_positions(scores, none, 99)) == [0, 1, 2, 3, 4]


def test_milestones_thin_out() -> None:
    assert [g for g in range(50) if is_front_milestone(g)] == [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]
