"""Households and persons as units: none contradicts itself, and k counts them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.engines import Serial
from crypsis.errors import TableError
from crypsis.measures import HouseholdContradictions
from crypsis.plan import Plan
from crypsis.plan.checking import check_before_run
from crypsis.privacy import HouseholdKAnonymity, KAnonymity, LDiversity, PersonKAnonymity
from crypsis.searches import HouseholdSearch
from crypsis.searches.search import Search, offers
from crypsis.table.households import household_level_columns
from crypsis.table.table import Table
from naive.households import contradicting, household_k, persons_per_record

KEYS = ("roof", "rooms", "age", "sex")


def survey(households: int = 60, seed: int = 1, *, most: int = 4) -> Table:
    """Households of one to four members, of which roof and rooms are of the household."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(households), rng.integers(1, most + 1, households))
    columns = {
        "roof": np.array(list("abcd"))[rng.integers(0, 4, households)][home].tolist(),
        "rooms": rng.integers(1, 7, households)[home].tolist(),
        "age": rng.integers(0, 90, len(home)).tolist(),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, len(home))].tolist(),
        "ill": np.array(["yes", "no"])[rng.integers(0, 2, len(home))].tolist(),
        "home": home.tolist(),
    }
    return Table.from_columns(columns, dict.fromkeys(KEYS, "quasi") | {"ill": "confidential", "home": "household"})


def solutions(search: Search, table: Table, quanta: int = 12) -> list[Table]:
    """Every table on the front after some quanta."""
    problem = search.pose(table, None, np.random.default_rng(2))
    state = problem.strategy.begin(problem, np.random.default_rng(3), Serial())
    for _ in range(quanta):
        state = problem.strategy.advance(problem, state, Serial())
    encoding = search.encoding(table)
    return [encoding.decode(genome) for genome in state.frontier.genomes]


def published(masked: Table) -> list[tuple[object, ...]]:
    return [tuple(row) for row in masked.codes(KEYS)[masked.kept].tolist()]


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), whole=st.booleans(), truthful=st.booleans())
def test_no_household_contradicts_itself_and_k_counts_households(seed: int, whole: bool, truthful: bool) -> None:
    table = survey(40, seed)
    search = HouseholdSearch(k=3, k_values=2, largest_k=6, whole=whole, truthful=truthful)
    for masked in solutions(search, table, 6):
        homes = table.column("home")[masked.kept].tolist()
        for place, name in enumerate(("roof", "rooms")):
            before = table.codes([name])[masked.kept, 0].tolist()
            assert contradicting(homes, before, [row[place] for row in published(masked)]) == set()
        assert min(persons_per_record(homes, published(masked))) >= 3
        if whole:
            assert household_k(homes, published(masked)) >= 3


def test_models_count_as_plain_loops_do() -> None:
    table = survey(30, 4)
    coarse = table.with_columns({"age": table.column("age") // 45, "rooms": table.column("rooms") // 4})
    homes = table.column("home").tolist()
    found = PersonKAnonymity(k=3).levels(coarse).tolist()
    assert found == persons_per_record(homes, published(coarse))
    assert HouseholdKAnonymity(k=2).judge(coarse).attained == household_k(homes, published(coarse))


def test_contradictions_count_as_plain_loops_do() -> None:
    table, rng = survey(30, 5), np.random.default_rng(0)
    roof = table.column("roof").copy()
    roof[rng.integers(0, len(roof), 9)] = -1  # hidden beside shown
    masked = table.with_columns({"roof": roof})
    expected = contradicting(table.column("home").tolist(), table.column("roof").tolist(), roof.tolist())
    reading = HouseholdContradictions().against(table).explain(masked)
    assert expected
    assert reading.counts["contradicting"] == len(expected)
    assert reading.value == pytest.approx(100 * len(expected) / 30)


def test_columns_of_households_are_found_and_others_are_not() -> None:
    table = survey()
    assert household_level_columns(table) == ("roof", "rooms")
    assert household_level_columns(table.with_roles({"home": "identifier"})) == ()
    tiny = survey(3, 2)
    assert household_level_columns(tiny) == (), "three households may agree by chance"
    attributes = {"roof": tiny.attribute("roof").but(shared=True)}
    assert household_level_columns(tiny.with_columns({}, attributes=attributes)) == ("roof",)


def test_sizes_that_few_households_have_leave_members_out() -> None:
    table = survey(50, 7)
    home = table.column("home").copy()
    home[home == 1] = 0  # one household that is larger than any other
    larger = table.with_columns({"home": home, "roof": np.where(home == 0, 0, table.column("roof")).astype(np.int32)})
    larger = larger.with_columns({"rooms": np.where(home == 0, 2.0, table.column("rooms"))})
    sizes = np.bincount(home.astype(int))
    [masked, *_] = solutions(HouseholdSearch(k=3, k_values=1, whole=True, suppression=0.2), larger, 3)
    assert 0 < (~masked.kept).sum() <= sizes[0]
    homes = home[masked.kept].tolist()
    assert household_k(homes, published(masked)) >= 3


def test_other_demands_hold_beside() -> None:
    table = survey(60, 8)
    demands = (KAnonymity(k=4), LDiversity(l=2), PersonKAnonymity(k=4))
    for whole in (False, True):
        search = HouseholdSearch(k=3, k_values=1, whole=whole).under(demands)
        for masked in solutions(search, table, 6):
            for model in demands:
                assert model.bind_original(table).judge(masked).holds, (whole, model)


def test_a_search_without_regard_to_households_is_not_offered() -> None:
    found = {offer.name: offer.drawback for offer in offers(survey(100), 3)}
    assert "contradict each other in roof, rooms" in found["composite"]
    assert not found["households"]
    whole = {offer.name: (offer.drawback, offer.settings) for offer in offers(survey(100), 3, whole=True)}
    assert whole["households"] == ("", {"k": 3, "whole": True})


def write(folder: Path, table: Table, search: str, more: str = "", roof: str = "") -> Path:
    lines = [",".join(table.names)]
    labels = {name: table.labels(name) for name in ("roof", "sex", "ill")}
    for row in range(len(table)):
        cells = [
            labels[name][table.column(name)[row]] if name in labels else f"{table.column(name)[row]:g}"
            for name in table.names
        ]
        lines.append(",".join(cells))
    (folder / "survey.csv").write_text("\n".join(lines) + "\n")
    plan = folder / "plan.toml"
    plan.write_text(
        f"""[data]
source = "survey.csv"
[columns]
roof = {{ role = "quasi"{roof} }}
rooms = {{ role = "quasi" }}
age = {{ role = "quasi" }}
sex = {{ role = "quasi" }}
ill = {{ role = "other", because = "invented" }}
home = {{ role = "household" }}
[[require]]
model = "k-anonymity"
k = 3
{more}
[[search]]
name = "{search}"
k = 3
[measures]
loss = ["information-loss"]
risk = ["class-risk"]
[run]
budget = "3 generations"
"""
    )
    return plan


def test_contradictions_are_a_demand_wherever_households_have_values_in_common(tmp_path: Path) -> None:
    plan_file = write(tmp_path, survey(100), "composite")
    check = check_before_run(plan_file)
    assert check.sound
    assert any("contradict each other in roof, rooms" in note for note in check.notes)
    plan = Plan.read(plan_file)
    table = plan.table(tmp_path)
    objective = plan.objective(table)
    roof = table.column("roof").copy()
    several = np.flatnonzero(np.bincount(table.column("home").astype(int)) > 1)[0]
    roof[np.flatnonzero(table.column("home") == several)[0]] ^= 1
    complaints = objective.evaluate(table.with_columns({"roof": roof}), "aggregation").complaints
    assert "household-contradictions" in {each.subject for each in complaints}
    assert "household-contradictions" not in {each.subject for each in objective.evaluate(table, "recoding").complaints}
    allowed = '[[limit]]\nmeasure = "household-contradictions"\nat_most = 100.0\n'
    lenient = write(tmp_path, survey(100), "composite", allowed)
    assert not any("contradict" in note for note in check_before_run(lenient).notes)


def test_a_declared_column_of_households_is_checked(tmp_path: Path) -> None:
    table = survey(100)
    assert check_before_run(write(tmp_path, table, "households", roof=", shared = true")).sound
    roof = table.column("roof").copy()
    several = np.flatnonzero(np.bincount(table.column("home").astype(int)) > 1)[0]
    roof[np.flatnonzero(table.column("home") == several)[0]] ^= 1
    broken = write(tmp_path, table.with_columns({"roof": roof}), "households", roof=", shared = true")
    with pytest.raises(TableError, match="declared as shared, and in 1 household its"):
        Plan.read(broken).table(tmp_path)


def test_the_years_of_a_panel_are_told_apart_from_the_first_solution_on() -> None:
    rng, people, years = np.random.default_rng(5), 60, 6
    person = np.repeat(np.arange(people), years)
    columns = {
        "sex": np.array(["f", "m"])[rng.integers(0, 2, people)][person].tolist(),
        "year": np.tile(np.arange(2001, 2001 + years), people).tolist(),
        "tenure": (rng.integers(0, 9, people)[person] + np.tile(np.arange(years), people)).tolist(),
        "pay": (rng.normal(10, 2, people)[person] + rng.normal(0, 1, len(person))).tolist(),
        "person": person.tolist(),
    }
    roles = dict.fromkeys(("sex", "year", "tenure", "pay"), "quasi") | {"person": "household"}
    panel = Table.from_columns(columns, roles)
    (first,) = solutions(HouseholdSearch(k=5, k_values=1), panel, 0)
    assert (first.column("year") == panel.column("year")).mean() > 0.75
    assert PersonKAnonymity(k=5, person="person").bind_original(panel).judge(first).holds


def test_places_that_few_households_of_a_group_have_are_one() -> None:
    homes = [0, 0, 0, 1, 1, 2, 3, 3, 3]  # sizes 3, 2, 1 and 3 in two groups
    table = Table.from_columns({"x": list(range(9)), "home": homes}, {"x": "quasi", "home": "household"})
    problem = HouseholdSearch(k=2, whole=True).pose(table, None, np.random.default_rng(2))
    space = problem.strategy.space
    as_they_come = next(iter(space.places_in_groups(np.array([0, 0, 0, 0, 0, 1, 1, 1, 1], np.int32), 2)))
    assert as_they_come.tolist() == [0, 1, 1, 0, 1, 0, 0, 0, 0]
