"""Attacks: by hand, against their definitions, on settings known to be weak, and on files that give nobody away."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.attacks import AttackContext, Findings, Intruder, attack
from crypsis.attacks.attack_context import Outcome, Rate, Untried, held_out
from crypsis.attacks.linkage import (
    infer_by_linkage,
    link_nearest_alike,
    link_nearest_records,
    linkability,
    nearest_record,
)
from crypsis.attacks.reversal import undo_microaggregation, undo_rank_swapping
from crypsis.attacks.several_releases import Candidates, intersection
from crypsis.attacks.singling_out import singling_out
from crypsis.errors import TableError
from crypsis.masking import Microaggregation, RankSwapping
from crypsis.masking.generalisation import Generalisation
from crypsis.table.aligning import in_terms_of
from crypsis.table.attribute import Role
from crypsis.table.example import example
from crypsis.table.table import Table
from crypsis.text import attack_text
from naive.attacks import certain, meeting, nearest, nearest_of_pair, usual

ROLES = {"age": "quasi", "sex": "quasi", "income": "confidential", "ill": "confidential"}


def people(age: list[float], sex: str, income: list[float], ill: str) -> Table:
    return Table.from_columns({"age": age, "sex": list(sex), "income": income, "ill": list(ill)}, roles=ROLES)


def done(outcome: Outcome | Untried) -> Outcome:
    assert isinstance(outcome, Outcome)
    return outcome


ORIGINAL = people([20, 22, 40, 44, 60, 62], "ffmmff", [1, 2, 3, 3, 5, 6], "abccdd")
"""Masked in pairs: the second pair says the same of both people, income and illness; the third the same illness."""
PAIRS = ORIGINAL.with_columns({"age": np.array([21.0, 21, 42, 42, 61, 61])})
OUTSIDE = people([21, 43, 61, 30], "fmff", [1, 3, 9, 4], "acda")


def test_a_class_that_agrees_gives_everybody_away_by_hand() -> None:
    context = AttackContext(PAIRS, ORIGINAL, OUTSIDE, Intruder())
    found = done(nearest_record(context))
    assert found.rate.value == pytest.approx(100 * 2 / 6), "the two of the second pair"
    assert found.control is not None
    assert found.control.value == pytest.approx(25.0), "the second outsider happens to have the same values"
    assert found.baseline.value == pytest.approx(100 * 2 / 6), "the most frequent record is held by two"
    assert found.counts["right when one is drawn, %"] == pytest.approx(100 * (4 * 0.5 + 2) / 6)
    assert not found.caught


def test_inference_by_hand() -> None:
    income, ill = (done(each) for each in infer_by_linkage(AttackContext(PAIRS, ORIGINAL, OUTSIDE, Intruder())))
    assert (income.attack, ill.attack) == ("inference of income", "inference of ill")
    # Means 1.5, 3 and 5.5 within 5 % of a deviation: only the pair of threes. Illness: halves for a and b, whole else.
    assert income.rate.value == pytest.approx(100 * 2 / 6)
    assert ill.rate.value == pytest.approx(100 * (0.5 + 0.5 + 4) / 6)
    assert ill.baseline.value == pytest.approx(100 * 2 / 6)


def test_the_intersection_of_two_releases_by_hand() -> None:
    """Classes {1,2,3} {4,5,6} and {1,4} {2,3,5,6}: 1 and 4 stand alone where they cross; the others in pairs."""
    roles = {"region": "quasi", "age": "quasi", "income": "confidential"}

    def told(region: str, age: list[float]) -> Table:
        return Table.from_columns({"region": list(region), "age": age, "income": [1, 2, 3, 4, 5, 6]}, roles=roles)

    original = told("nnnsss", [30.0, 50, 50, 30, 50, 50])
    first = told("nnnsss", [40.0] * 6)
    second = in_terms_of(original, told("******", [30.0, 50, 50, 30, 50, 50]))
    found = done(intersection(AttackContext(first, original, None, Intruder()), second))
    assert found.rate.value == pytest.approx(100 * 2 / 6)
    assert found.baseline.value == 0.0
    assert (found.counts["left by both, least"], found.counts["left by both, median"]) == (1.0, 2.0)


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_likeness_attacks_are_their_definitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 24
    table = people(
        rng.integers(20, 60, n).astype(float).tolist(), "".join(rng.choice(["f", "m"], n)),
        rng.integers(0, 5, n).astype(float).tolist(), "".join(rng.choice(["a", "b", "c"], n)),
    )  # fmt: skip
    release = Microaggregation(k=3).mask(table, rng)
    context = AttackContext(release, table, None, Intruder())
    deviation = [float(table.column("age").std()), 1.0]
    rows = [[list(zip(t.column("age").tolist(), [t.labels("sex")[c] for c in t.column("sex")], strict=True))]
            for t in (table, release)]  # fmt: skip
    known, shown = rows[0][0], rows[1][0]
    says = list(zip(table.column("income").tolist(), table.column("ill").tolist(), strict=True))
    near = [nearest(each, shown, deviation) for each in known]
    found = done(nearest_record(context))
    assert found.rate.value == pytest.approx(
        100 * np.mean([certain(c, says, s) for c, s in zip(near, says, strict=True)])
    )
    ages = [nearest(each[:1], [s[:1] for s in shown], deviation[:1]) for each in known]
    sexes = [nearest(each[1:], [s[1:] for s in shown], deviation[1:]) for each in known]
    linked = done(linkability(context))
    assert linked.rate.value == pytest.approx(100 * np.mean([meeting(a, s) for a, s in zip(ages, sexes, strict=True)]))
    ill = done(infer_by_linkage(context)[1])
    codes = table.column("ill").tolist()
    fitness = [usual([codes[row] for row in c], codes[i]) for i, c in enumerate(near)]
    assert ill.rate.value == pytest.approx(100 * np.mean(fitness))


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_nearest_records_are_those_of_the_definition(seed: int) -> None:
    """Averaged numbers, generalised labels, suppressed records and many that are alike; all of them as candidates."""
    rng = np.random.default_rng(seed)
    table, rows = example(40, seed=seed), rng.choice(40, 12, replace=False)
    masked = Microaggregation(k=3).mask(table, rng) if seed % 2 else table
    height = {name: table.attribute(name).hierarchy for name in table.quasi_identifiers}
    levels = {name: int(rng.integers(0, tree.height + 1)) for name, tree in height.items() if tree is not None}
    if seed % 3:
        masked = Generalisation(levels=levels).mask(table, rng)
    masked = masked.without(rng.random(40) < 0.2)
    context = AttackContext(masked, table, None, Intruder())
    pair = context.meet(table.take(rows), context.knows)
    slow = [nearest_of_pair(pair, person) for person in range(len(rows))]
    quick = [np.flatnonzero(row).tolist() for _, part in link_nearest_records(pair) for row in part]
    assert quick == slow
    alike, classes = link_nearest_alike(pair)
    assert [np.flatnonzero(np.isin(alike.of, each)).tolist() for each in classes] == slow
    every = Candidates.of(table, masked)
    everybody = context.meet(table.take(every.rows), context.knows)
    for person in range(len(every.rows)):
        near = every.nearest[every.begins[person] : every.begins[person + 1]]
        own = np.concatenate([every.ordered[every.starts[each] : every.starts[each + 1]] for each in near])
        assert sorted(own.tolist()) == nearest_of_pair(everybody, person)


def test_singling_out_by_hand() -> None:
    """Published as it is: the extremes and every value held once isolate a person; nobody outside is 20 or older."""
    context = AttackContext(ORIGINAL, ORIGINAL, people([10, 11], "ff", [1, 1], "aa"), Intruder(knows=("age",)))
    one, several = singling_out(context)
    found = done(one)
    assert found.counts["predicates"] == 8, "at most 20, at least 62, and six ages held once"
    assert found.control is not None
    assert found.control.value == 0.0
    assert isinstance(several, Untried)


# -- settings known to be weak are caught, safe ones are not --


def halves(rows: int = 1200, seed: int = 2) -> tuple[Table, Table]:
    table = example(rows, seed=seed)
    order = np.random.default_rng(seed).permutation(rows)
    return table.take(np.sort(order[: rows // 2])), table.take(np.sort(order[rows // 2 :]))


def caught(findings: Findings) -> set[str]:
    return {outcome.attack for outcome in findings.caught}


def test_a_file_published_as_it_is_is_caught() -> None:
    inside, outside = halves()
    found = caught(attack(inside, inside, control=outside))
    assert {"nearest record", "singling out, several columns", "linkability", "undo rank swapping"} <= found
    assert {"inference of income", "inference of diagnosis"} <= found


def numbers(columns: int = 5) -> tuple[Table, Table]:
    """Skewed independent numbers and a secret that nothing tells; half of the people, and the other half."""
    rng = np.random.default_rng(4)
    names = [f"x{n}" for n in range(columns)]
    cells = {name: rng.lognormal(size=1000).tolist() for name in names}
    roles = dict.fromkeys(names, "quasi") | {"secret": "confidential"}
    table = Table.from_columns({**cells, "secret": rng.normal(size=1000).tolist()}, roles=roles)
    return table.take(np.arange(500)), table.take(np.arange(500, 1000))


def test_narrow_rank_swapping_is_caught_and_wide_is_not() -> None:
    inside, outside = numbers()
    for percent, least, most in ((1, 99, 100), (50, 0, 5)):
        release = RankSwapping(percent=percent).mask(inside, np.random.default_rng(1))
        found = attack(release, inside, control=outside, intruder=Intruder(window=percent))
        assert least <= found.outcome("undo rank swapping").rate.value <= most
        # Swapping publishes every value as it is: whoever has one nobody else has is alone with it however wide.
        assert caught(found) - {"singling out, one column"} == (
            {"nearest record", "inference of secret", "linkability", "undo microaggregation", "undo rank swapping"}
            if percent == 1
            else set()
        )


def test_knowing_the_method_beats_looking_for_the_nearest() -> None:
    inside, outside = numbers(8)
    release = RankSwapping(percent=12).mask(inside, np.random.default_rng(1))
    found = attack(release, inside, control=outside, intruder=Intruder(window=12.0))
    assert found.outcome("undo rank swapping").rate.interval[0] > found.outcome("nearest record").rate.interval[1]


def test_columns_microaggregated_one_by_one_are_caught_and_together_are_not() -> None:
    inside, outside = numbers()
    rng = np.random.default_rng(4)
    apart = Microaggregation(k=3, groups=tuple((n,) for n in inside.quasi_identifiers), partitioner="univariate")
    found = attack(apart.mask(inside, rng), inside, control=outside)
    assert found.outcome("undo microaggregation").rate.value > 99
    assert "undo microaggregation" in caught(found)
    assert not caught(attack(Microaggregation(k=10).mask(inside, rng), inside, control=outside))


def test_small_classes_are_caught() -> None:
    """Classes of two or three: one of them is right about a secret that is hard to guess every second or third time."""
    table, roles = example(2000, seed=2), dict.fromkeys(["education", "occupation", "income"], Role.CONFIDENTIAL)
    table = table.with_roles({**roles, "diagnosis": Role.OTHER})
    inside, outside = table.take(np.arange(1000)), table.take(np.arange(1000, 2000))
    weak = Generalisation(level=1, k=2, suppression=1.0).mask(inside, np.random.default_rng(0))
    kept = np.flatnonzero(weak.kept)
    found = attack(weak.take(kept), inside.take(kept), control=outside)
    assert "inference of occupation" in caught(found)


def test_generalisation_to_large_classes_is_not_caught() -> None:
    inside, outside = halves()
    safe = Generalisation(level=2, suppression=0.2).mask(inside, np.random.default_rng(0))
    quasi = Intruder(knows=tuple(safe.quasi_identifiers))
    assert not caught(attack(safe, inside, control=outside, intruder=quasi))
    # Incomes are published as collected and mostly held once: whoever knows one finds the record.
    few = attack(safe, inside, control=outside)
    assert caught(few) == {"nearest record, few columns", "inference, few columns"}
    nearest = few.outcome("nearest record, few columns")
    assert "income" in nearest.scope
    assert f", by {', '.join(nearest.scope)}, the worst of 24 sets of columns" in attack_text(nearest)


def test_a_file_that_has_nothing_to_do_with_the_people_is_not_caught() -> None:
    """The control's twin: a file of strangers, as near to the people inside as to those outside."""
    inside, outside = halves()
    assert not caught(attack(example(600, seed=99), inside, control=outside))


def test_two_careless_releases_are_caught_together_though_each_is_safe() -> None:
    rng = np.random.default_rng(8)
    inside, outside = halves(2000)
    names = ("age", "hours")
    releases = [
        Microaggregation(k=10, columns=(name,), missing="aggregate").mask(inside, rng).drop([other])
        for name, other in (names, names[::-1])
    ]
    intruder = Intruder(knows=names)
    found = attack(releases[0], inside, control=outside, second=releases[1], intruder=intruder)
    assert caught(found) == {"intersection of two releases"}


# -- without a control --


def survey(rows: int, seed: int) -> Table:
    """People of one population: illness follows age, so that strangers' records tell something about everybody."""
    rng = np.random.default_rng([7, seed])
    age = rng.integers(18, 90, rows)
    return people(
        age.astype(float).tolist(), "".join(rng.choice(["f", "m"], rows)),
        np.round(age * 400 + rng.normal(0, 4000, rows), 3).tolist(), "".join("abcd"[(y - 18) // 18] for y in age),
    )  # fmt: skip


@pytest.mark.parametrize("rows", [300, 200])
def test_no_file_about_other_people_is_accused_without_a_control(rows: int) -> None:
    intruder, accused, undetermined = Intruder(attempts=100, sets=6), 0, 0
    for seed in range(20):
        found = attack(survey(rows, 1000 + seed), survey(300, seed), intruder=intruder)
        accused += bool(found.caught)
        undetermined += bool(found.undetermined)
    assert accused == 0
    assert undetermined == 20, "attacks succeed on strangers too, which is why nobody is accused"


def test_without_a_control_a_file_published_as_it_is_is_undetermined_with_its_figure() -> None:
    table = survey(300, 1)
    found = attack(table, table)
    nearest = found.outcome("nearest record")
    assert (nearest.verdict, nearest.caught) == ("undetermined", False)
    assert nearest in found.undetermined
    assert attack_text(nearest).startswith(f"right for {nearest.rate.value:.1f} % of the attempts against")
    assert attack_text(nearest).endswith("undetermined, since nobody outside the release was attacked")
    assert any("no attack is a finding" in note for note in found.notes)


@pytest.mark.parametrize("how", ["as it is", "swapped a little"])
def test_records_the_release_leaves_out_are_the_control(how: str) -> None:
    table = survey(600, 2)
    rows = np.sort(np.random.default_rng(0).permutation(600)[:400])
    release = table.take(rows)
    if how == "swapped a little":
        release = RankSwapping(percent=1, columns=("age",)).mask(release, np.random.default_rng(1))
    shuffled = release.take(np.random.default_rng(2).permutation(400))
    found = attack(shuffled, table)
    assert found.notes == (
        "no control is given: the 200 records of the original that are not in the release are the control",
    )
    assert "inference, few columns" in caught(found)
    assert not found.undetermined


def test_suppressed_outliers_are_no_control() -> None:
    """The oldest fifth is left out: they are not like those who stay, so nothing can be compared."""
    table = survey(600, 3)
    young = np.flatnonzero(table.column("age") < np.quantile(table.column("age"), 0.8))
    assert held_out(table.take(young), table, Intruder(), False) is None
    some = np.flatnonzero(np.random.default_rng(0).random(600) < 0.8)
    held = held_out(table.take(some), table, Intruder(), False)
    assert held is not None
    assert held[0].tolist() == some.tolist()


def test_records_that_others_resemble_in_all_columns_are_no_control() -> None:
    """Who is in a file cannot be read off values that many people share."""
    table = survey(600, 4)
    coarse = table.with_columns({"income": np.round(table.column("income"), -4)})
    assert held_out(coarse.take(np.arange(400)), coarse, Intruder(), False) is None


# -- words and refusals --


def test_rows_judge_where_nothing_confidential_is_published() -> None:
    table = Table.from_columns({"a": [1.0, 2, 3], "b": [3.0, 1, 2]}, roles={"a": "quasi", "b": "quasi"})
    for found in (nearest_record, undo_microaggregation, undo_rank_swapping):
        assert isinstance(found(AttackContext(table, table, None, Intruder())), Untried)
        together = done(found(AttackContext(table, table, None, Intruder(), rows_correspond=True)))
        assert together.rate.value == 100.0
        assert together.baseline.value == pytest.approx(100 / 3)


def test_a_verdict_says_which_reference_it_was_held_against() -> None:
    def outcome(hits: int, outside: int) -> Outcome:
        return Outcome("x", Rate.of(hits, 100), Rate.make_exact(10.0), Rate.of(outside, 100), 5.0, "", (), "do y")

    assert attack_text(outcome(90, 5)).endswith("% outside the release: the release discloses people; do y")
    assert "less than the 5 points" in attack_text(outcome(28, 10))
    assert attack_text(outcome(12, 10)).endswith("not distinguishable from the control")
    assert "without the release" in attack_text(outcome(90, 0))


def test_control_records_the_hierarchies_do_not_know_are_left_out_and_counted() -> None:
    inside, _ = halves(400)
    weak = Generalisation(level=1, suppression=1.0).mask(inside, np.random.default_rng(0))
    strange = inside.take(np.arange(50)).with_columns({"age": np.full(50, 7.0)})
    with pytest.raises(TableError, match="the control has no records"):
        attack(weak, inside, control=strange)
    some = inside.take(np.arange(60)).with_columns({"age": np.r_[np.full(10, 7.0), inside.column("age")[10:60]]})
    assert attack(weak, inside, control=some).notes == (
        "10 control records have values that are not in the hierarchies and are left out",
    )


def test_the_same_seed_tries_the_same_people() -> None:
    inside, outside = halves(400)
    one, again = (attack(inside, inside, control=outside, intruder=Intruder(attempts=50)) for _ in range(2))
    assert one == again


@pytest.mark.parametrize("change", ["nothing known", "nobody", "no column"])
def test_refusals(change: str) -> None:
    table = ORIGINAL
    if change == "nothing known":
        with pytest.raises(TableError, match="knows no published column"):
            attack(table.drop(["age", "sex"]), table)
    elif change == "nobody":
        with pytest.raises(TableError, match="has no records"):
            attack(table.without(np.ones(6, dtype=bool)), table)
    else:
        with pytest.raises(TableError, match="there is no column 'agee'"):
            attack(table, table, intruder=Intruder(knows=("agee",)))
