"""The default pick, the offers and the knee: by hand, and stable under points that are not worth considering."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crypsis
from crypsis.attacks.linkage import attack_by_linkage
from crypsis.cli import options
from crypsis.measures.objective import Complaint, Evaluation
from crypsis.measures.utility import Usefulness
from crypsis.run.choosing import BASELINE, DEFAULT_PICK, RULES, Solution
from crypsis.run.front import Front
from crypsis.text import ruin_text

SOUND = {"age": {"loss": 5.0, "distance": 2.0, "vanished": 0.0}}
RUINED = {
    "age": {"loss": 5.0, "distance": 2.0, "vanished": 22.0},
    "town": {"loss": 120.0, "distance": 1.0, "vanished": 0.0},
}


def point(
    number: int,
    loss: float,
    risk: float,
    span: tuple[float, float] | None = None,
    columns: Mapping[str, Mapping[str, float]] = SOUND,
    complaints: tuple[Complaint, ...] = (),
) -> Solution:
    intervals = {} if span is None else {"risk": span}
    found = Evaluation({"loss": loss, "risk": risk}, intervals=intervals, complaints=complaints, columns=columns)
    return Solution(number, 0, "memetic", "aggregation", "words", {}, found)


def chosen(front: Front) -> dict[str, int]:
    return {rule: front.pick(rule).number for rule in RULES}


def test_the_default_has_one_name() -> None:
    assert options.DEFAULT_PICK == DEFAULT_PICK
    assert DEFAULT_PICK in options.PICKS


def test_a_difference_inside_the_interval_is_no_difference() -> None:
    """1.74 [0.85, 3.5] is no less risk than 1.94, so 2.4 points of loss are not paid for it."""
    front = Front((point(1, 5.0, 8.0), point(2, 7.6, 1.94, (1.0, 3.7)), point(3, 10.0, 1.74, (0.85, 3.5))))
    assert chosen(front) == {"faithful": 1, "best": 1, "balanced": 2, "safest": 2, "knee": 2}
    exact = Front((point(1, 5.0, 8.0), point(2, 7.6, 1.94), point(3, 10.0, 1.74)))
    assert exact.pick("safest").number == 3


def test_a_ruined_column_is_not_offered_where_another_solution_has_none() -> None:
    front = Front((point(1, 2.0, 4.0, columns=RUINED), point(2, 6.0, 9.0), point(3, 9.0, 5.0)))
    assert [s.number for s in front] == [1]  # it dominates both
    assert chosen(front) == {"faithful": 2, "best": 2, "balanced": 3, "safest": 3, "knee": 3}
    assert all(offer.useful and not offer.ruins for offer in front.offers)
    assert front.pick(1).number == 1  # by its number it can be had
    words = ruin_text(front.ruins(front.pick(1)))
    assert "age (the values of 22 % of the records vanished" in words
    assert "town (more than 100 % of its information is lost" in words


def test_a_ruined_file_that_keeps_more_answers_removes_no_sound_one() -> None:
    """A file with a ruined column and 72 % loss keeps more analyses at less risk, and is still not worth choosing."""
    sound, ruined = point(1, 53.0, 1.9), point(2, 72.0, 1.8, columns=RUINED)
    for solution, kept in ((sound, 78.0), (ruined, 86.0)):
        solution.evaluation.figures["analyses"] = kept
    front = Front((sound, ruined))
    assert {offer.solution.number for offer in front.offers} == {1}
    assert all(offer.useful and not offer.ruins for offer in front.offers)


def test_where_every_solution_is_ruined_the_offers_say_so() -> None:
    front = Front((point(1, 2.0, 4.0, columns=RUINED), point(2, 80.0, 1.0, columns=RUINED)))
    assert [offer.solution.number for offer in front.offers] == [1, 1, 1]
    assert not any(offer.useful for offer in front.offers)
    assert all("Warning: age, town ruined" in front.why(offer) for offer in front.offers)
    lossy = Front((point(1, 70.0, 4.0), point(2, 80.0, 1.0)))
    assert "more than 60 % lost" in lossy.why(lossy.offers[0])


def test_thresholds_are_settings() -> None:
    columns = {"age": {"loss": 30.0, "distance": 10.0, "vanished": 4.0, "tail": 60.0}}
    solutions = (point(1, 2.0, 4.0, columns=columns), point(2, 6.0, 3.0))
    assert Front(solutions).default().number == 1
    for strict in (
        Usefulness(column_loss=20),
        Usefulness(distance=5),
        Usefulness(vanished=2),
        Usefulness(tail=50),
    ):
        assert Front(solutions, useful=strict).default().number == 2
    assert Front(solutions, useful=Usefulness(loss=1)).default().number == 1  # nothing is useful: the least loss


def test_each_offer_is_explained_in_two_sentences() -> None:
    front = Front((point(1, 5.0, 8.0, (7.0, 9.0)), point(2, 8.0, 2.0, (1.0, 3.0))))
    for offer in front.offers:
        text = front.why(offer)
        assert text.count(". ") == 1
        assert text.endswith(".")


figures = st.floats(0.0, 30.0).map(lambda x: round(x, 3))
sound_points = st.lists(st.tuples(figures, figures, st.booleans()), min_size=1, max_size=12)
extremes = st.lists(
    st.one_of(
        st.tuples(st.just("lossy"), st.floats(60.01, 100.0), st.floats(0.0, 100.0)),
        st.tuples(st.just("ruined"), st.floats(0.0, 100.0), st.floats(0.0, 100.0)),
        st.tuples(st.just("refused"), st.floats(0.0, 100.0), st.floats(0.0, 100.0)),
    ),
    max_size=8,
)


@given(sound_points, extremes)
def test_extreme_points_change_no_choice(
    sound: list[tuple[float, float, bool]], extreme: list[tuple[str, float, float]]
) -> None:
    """Solutions that hide everything, ruin a column or may not be released move neither default, offers nor knee."""
    useful = tuple(
        point(n + 1, loss, risk, (risk * 0.8, risk * 1.2) if measured else None)
        for n, (loss, risk, measured) in enumerate(sound)
    )
    more = []
    for n, (kind, loss, risk) in enumerate(extreme):
        complaints = (Complaint("limit", "risk", 1, risk),) if kind == "refused" else ()
        more.append(point(100 + n, loss, risk, None, RUINED if kind == "ruined" else SOUND, complaints))
    before, after = Front(useful), Front((*more, *useful))
    assert chosen(before) == chosen(after)
    assert [o.solution for o in before.offers] == [o.solution for o in after.offers]


@given(sound_points)
def test_the_default_is_the_least_loss(sound: list[tuple[float, float, bool]]) -> None:
    front = Front(tuple(point(n + 1, loss, risk) for n, (loss, risk, _) in enumerate(sound)))
    faithful, balanced, safest = (offer.solution for offer in front.offers)
    assert faithful.figure("loss") == min(loss for loss, _, _ in sound)
    assert safest.figure("risk") == min(risk for _, risk, _ in sound)
    total = (balanced.figure("loss") or 0) + (balanced.figure("risk") or 0)
    assert total <= min(loss + risk for loss, risk, _ in sound) + 1e-9


def judged(number: int, loss: float, risk: float, kept: float, baseline: bool = False) -> Solution:
    figures = {"loss": loss, "risk": risk, "k": 5.0, "analyses": kept}
    search, title = (BASELINE, "plain MDAV") if baseline else (0, "composite")
    return Solution(number, search, title, "aggregation", "words", {}, Evaluation(figures))


def test_a_baseline_that_keeps_more_answers_at_no_more_risk_removes_an_offer() -> None:
    """The least loss keeps 80 % of the answers; plain MDAV keeps 88 % at the same risk and is not a search's own."""
    poor, mdav, good = judged(1, 10.0, 20.0, 80.0), judged(2, 12.0, 20.0, 88.0, True), judged(3, 15.0, 18.0, 99.0)
    assert [s.number for s in Front((poor, mdav, good)).solutions] == [1, 3], "baselines stand beside the front"
    assert {offer.solution.number for offer in Front((poor, mdav, good)).offers} == {3}
    assert {offer.solution.number for offer in Front((poor, mdav)).offers} == {2}, "one that beats all is offered"
    riskier = judged(2, 12.0, 20.5, 88.0, True)
    offers = {offer.name: offer.solution.number for offer in Front((poor, riskier)).offers}
    assert offers == {"faithful": 2, "balanced": 1, "safest": 1}, "more risk within the limits keeps more answers"
    near = judged(2, 12.0, 20.0, 82.0, True)
    assert {offer.solution.number for offer in Front((poor, near)).offers} == {1}, "two points are no difference"


def test_the_most_faithful_keeps_no_clearly_fewer_answers_than_another() -> None:
    """Of files that may be released, the least loss is taken among those within three points of the most answers."""
    least, riskier, nearly = judged(1, 4.6, 17.0, 60.0), judged(2, 7.2, 19.0, 74.0), judged(3, 7.0, 19.5, 71.5)
    assert Front((least, riskier, nearly)).offers[0].solution.number == 3
    assert Front((least, riskier, judged(3, 7.0, 19.5, 70.5))).offers[0].solution.number == 2
    assert Front((least, judged(2, 7.2, 19.0, 62.0))).offers[0].solution.number == 1


def test_offers_say_what_baselines_keep() -> None:
    front = Front((judged(2, 12.0, 20.0, 88.0, True), judged(3, 15.0, 18.0, 99.0)))
    assert "99 % keep their answer; plain MDAV: 88 %" in front.why(front.offers[0])


@pytest.mark.parametrize("search", ["composite", "memetic", "local-recoding"])
def test_no_attacker_finds_more_than_an_offer_prints(search: str) -> None:
    table = crypsis.example(100)
    with crypsis.evolve(table, search, [crypsis.KAnonymity(k=3)], budget="2 generations", seed=1) as run:
        assert run.front.offers
        for offer in run.front.offers:
            masked, printed = run.decode(offer.solution), offer.solution.figure("risk")
            assert printed is not None
            found = attack_by_linkage(table, masked, "", table.quasi_identifiers, offer.solution.family)
            assert max(each.found or 0.0 for each in found) <= printed + 1e-9


def test_no_setting_lets_groups_trade_their_values() -> None:
    assert not [name for name in crypsis.CompositeSearch.model_fields if "swap" in name or "trade" in name]
