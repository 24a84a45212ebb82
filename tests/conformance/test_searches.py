"""What every registered search promises, walked over the registry: a new one is tested by being listed."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_origin

import numpy as np
import pytest

from conformance.searches import (
    LATE,
    OTHER,
    QUANTA,
    REFUSING,
    TABLES,
    advanced,
    build,
    found_by,
    modes,
    outcome,
    posed,
    rare_table,
    states,
)
from conformance.variations import variations
from crypsis.engines import Processes, Serial, Threads
from crypsis.errors import CrypsisError, PlanError, TableError
from crypsis.evolution import Genome, State
from crypsis.run.store import Row, Store
from crypsis.searches.search import WORST, Search, searches
from crypsis.table.table import Table
from naive.searches import TWINS, OnAnEdge

NAMES = list(searches)
MODES = [pytest.param(name, mode, id=f"{name} {mode}") for name in NAMES for mode in modes(name)]
AUTO = "auto"
"""The word that leaves a choice to the search: on small tables it is one of the others."""
WALK = [
    pytest.param(name, mode, guided, field, id=f"{name} {mode}{' guided' * guided}: {field}")
    for name in NAMES
    for mode in modes(name)
    for guided in (False, True)
    for field in searches[name].model_fields
]


# -- settings --


@cache
def reference(name: str, mode: str, guided: bool, table: str, quanta: int = QUANTA) -> Any:
    """What is seen under a mode as it stands; None where the table is refused, in a sentence."""
    try:
        return outcome(build(name, modes(name)[mode]), table, guided, quanta)
    except CrypsisError as refusal:
        assert len(str(refusal)) > 20
        return None


def runs(name: str, mode: str, guided: bool) -> bool:
    """Whether a mode can be posed at all, with or without measures that guide it."""
    try:
        return not build(name, modes(name)[mode]).refusal(guided)
    except PlanError:
        return False


def tried(name: str, mode: str, field: str) -> Iterator[dict[str, Any]]:
    """The mode with other values of one setting, the rest as it stands."""
    base, cls = modes(name)[mode], searches[name]
    listed = OTHER.get((name, field), OTHER.get(("*", field)))
    present = value_of(name, mode, field)
    if listed is None:
        yield from variations(cls, field, base | {field: present})
    else:
        yield from (base | {field: value} for value in listed if value != present)


def value_of(name: str, mode: str, field: str) -> Any:
    """The value of a setting in a mode."""
    return getattr(build(name, modes(name)[mode]), field)


def refusal_of(name: str, settings: dict[str, Any], guided: bool) -> str:
    """Why settings are refused whatever the table; empty if they are not."""
    try:
        return build(name, settings).refusal(guided)
    except PlanError as error:
        return str(error)


def obstacle_of(search: Search, table: Table) -> str:
    """Why a table cannot be treated, known before anything is searched; empty if it can."""
    try:
        return search.obstacle(table)
    except CrypsisError as refusal:
        return str(refusal)


def moves(name: str, mode: str, guided: bool, field: str, settings: dict[str, Any]) -> bool:
    """Whether some table that can be treated either way comes out differently."""
    search, quanta = build(name, settings), LATE.get((name, field), QUANTA)
    for table in TABLES:
        obstacle = obstacle_of(search, TABLES[table]())
        assert not obstacle or len(obstacle) > 20
        before = None if obstacle else reference(name, mode, guided, table, quanta)
        if before is None:
            continue
        try:
            after = outcome(search, table, guided, quanta)
        except CrypsisError as refusal:
            assert len(str(refusal)) > 20
            continue
        if after != before:
            return True
    return False


@pytest.mark.parametrize(("name", "mode", "guided", "field"), WALK)
def test_every_setting_moves_something_or_is_refused(name: str, mode: str, guided: bool, field: str) -> None:
    if not runs(name, mode, guided):
        assert refusal_of(name, modes(name)[mode], guided), "a mode that is refused says why"
        return
    if (name, field) in REFUSING and not refusal_of(name, modes(name)[mode] | REFUSING[name, field], guided):
        settings = modes(name)[mode] | REFUSING[name, field]
        assert any(
            reference(name, mode, guided, table) is not None and build(name, settings).obstacle(TABLES[table]())
            for table in TABLES
        )
        return
    words = get_origin(searches[name].model_fields[field].annotation) is Literal
    unmoved, moved, refused = [], [], []
    for settings in tried(name, mode, field):
        sentence = refusal_of(name, settings, guided)
        if sentence:
            assert any(given in sentence for given in settings)
            refused.append(settings[field])
        elif moves(name, mode, guided, field, settings):
            moved.append(settings[field])
            if not words:
                return
        else:
            unmoved.append(settings[field])
    assert moved or refused or unmoved, f"{field} has no other value to try; name one in OTHER"
    if AUTO in (value_of(name, mode, field), *unmoved) and (moved or refused):
        return
    assert not unmoved, f"{field} moves nothing (tried {unmoved}) and is not refused"


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_settings_that_were_given_build_the_same_search_again(name: str, mode: str) -> None:
    search = build(name, modes(name)[mode])
    again = build(name, json.loads(json.dumps(search.model_dump(mode="json", exclude_unset=True))))
    assert again == search
    assert searches.name_of(again) == name


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_is_explained_and_a_misspelt_one_refused(name: str) -> None:
    for field, info in searches[name].model_fields.items():
        assert info.description, f"{field} has no description"
    with pytest.raises(PlanError, match="unknown setting"):
        build(name, {"no_such_setting": 1})


# -- candidates, genomes and tables --


def treated(name: str, mode: str, guided: bool) -> Iterator[tuple[Search, str, list[Genome], Any, Any]]:
    """On every table the search can treat: its problem, some candidates it came to, and what guides it."""
    search, seen = build(name, modes(name)[mode]), 0
    for table in TABLES:
        try:
            problem, chosen = posed(search, table, guided)
        except CrypsisError as refusal:
            assert len(str(refusal)) > 20
            continue
        seen += 1
        every = states(problem, 2)
        yield search, table, [*found_by(every[0]), *found_by(every[-1])], problem, chosen
    assert seen or search.refusal(guided), "it treats none of the tables"


def decoded(search: Search, table: Table, genome: Genome) -> Table | None:
    """By an encoding of its own; None where the candidate cannot be decoded."""
    try:
        return search.encoding(table).decode(genome)
    except TableError:
        return None


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_a_guided_score_is_the_objective_of_the_decoded_table(name: str, mode: str) -> None:
    for search, table, candidates, problem, chosen in treated(name, mode, guided=True):
        for candidate in candidates:
            masked = decoded(search, TABLES[table](), problem.express_candidate(candidate))
            expected = WORST if masked is None else chosen.score(masked)
            assert problem.evaluate(candidate) == expected


def test_every_search_of_the_package_has_a_slow_twin() -> None:
    own = {name for name in searches if searches[name].__module__.startswith("crypsis.")}
    assert own - set(TWINS) <= {"random-levels"}, "a search added by hand is walked without a twin until it has one"


@pytest.mark.parametrize(("name", "mode"), [mode for mode in MODES if mode[0] in TWINS])
def test_an_own_score_is_that_of_a_slow_reading_of_the_decoded_table(name: str, mode: str) -> None:
    compared = 0
    for search, table, candidates, problem, _ in treated(name, mode, guided=False):
        for candidate in candidates[:4]:
            masked = decoded(search, TABLES[table](), problem.express_candidate(candidate))
            scores = problem.evaluate(candidate)
            if masked is None:
                assert not np.isfinite(scores).all()
                continue
            try:
                expected = TWINS[name](search, TABLES[table](), masked)
            except OnAnEdge:
                continue
            assert scores == pytest.approx(expected, abs=1e-6)
            compared += 1
    assert compared


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_a_stored_genome_is_decoded_and_described_without_a_problem(
    name: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[Search, str, bytes, Genome, Any, Any]] = []
    for search, table, candidates, problem, _ in treated(name, mode, guided=False):
        encoding = search.encoding(TABLES[table]())
        for candidate in candidates:
            genome = problem.express_candidate(candidate)
            masked = decoded(search, TABLES[table](), genome)
            if masked is not None:
                description = encoding.describe(genome, masked)
                kept.append((search, table, problem.key(candidate), genome, masked.fingerprint(), description))
    assert kept
    monkeypatch.setattr(searches[name], "problem", forbidden)
    monkeypatch.setattr("crypsis.measures.objective.Objective.score", forbidden)
    with Store(tmp_path / "run.db", create=True) as store:
        with store.transaction():
            for number, (_, _, _, genome, _, _) in enumerate(kept):
                store.add(Row(number, 0, number.to_bytes(4, "big"), genome, {}))
        for number, (search, table, _, genome, fingerprint, description) in enumerate(kept):
            written = np.load(io.BytesIO(saved(genome)), allow_pickle=False)
            for stored in (written, store.solution(number).genome):
                assert stored.dtype == genome.dtype
                encoding = search.encoding(TABLES[table]())
                masked = encoding.decode(stored)
                assert masked.fingerprint() == fingerprint
                assert encoding.describe(stored, masked) == description


def forbidden(*_: Any, **__: Any) -> Any:
    raise AssertionError("decoding poses no problem and scores nothing")


def saved(genome: Genome) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, genome, allow_pickle=False)
    return buffer.getvalue()


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_equal_keys_mean_equal_tables(name: str, mode: str) -> None:
    for search, table, candidates, problem, _ in treated(name, mode, guided=False):
        prints: dict[bytes, str] = {}
        for candidate in candidates:
            masked = decoded(search, TABLES[table](), problem.express_candidate(candidate))
            shown = "" if masked is None else masked.fingerprint()
            assert prints.setdefault(problem.key(candidate), shown) == shown


@pytest.mark.parametrize("name", NAMES)
def test_a_description_holds_no_value_of_a_rare_record(name: str) -> None:
    table, rare = rare_table()
    search = build(name, next(iter(modes(name).values())))
    assert not search.obstacle(table)
    problem = search.pose(table, None, np.random.default_rng(0))
    last, encoding = states(problem, 2)[-1], search.encoding(table)
    for candidate in found_by(last):
        genome = problem.express_candidate(candidate)
        masked = decoded(search, table, genome)
        if masked is None:
            continue
        description = encoding.describe(genome, masked)
        facts = dict(problem.facts(candidate)) if problem.facts is not None else {}
        text = f"{description.message} {dict(description.facts)} {facts}"
        assert not [value for value in rare if value in text]


# -- runs --


@pytest.mark.parametrize("guided", [False, True], ids=["own", "guided"])
@pytest.mark.parametrize(("name", "mode"), MODES)
def test_a_run_goes_on_from_its_bytes_wherever_it_was_cut(name: str, mode: str, guided: bool) -> None:
    search = build(name, modes(name)[mode])
    for table in TABLES:
        try:
            problem, _ = posed(search, table, guided)
        except CrypsisError:
            continue
        whole = [state.to_bytes() for state in states(problem)]
        for cut in (0, 1, QUANTA - 1):
            again, _ = posed(search, table, guided)
            state = State.from_bytes(whole[cut])
            assert state.to_bytes() == whole[cut]
            for expected in whole[cut + 1 :]:
                state = advanced(again, state, Serial())
                assert state.to_bytes() == expected
        break


@pytest.fixture(scope="module")
def two() -> Iterator[Processes]:
    with Processes(2) as engine:
        yield engine


@pytest.mark.parametrize("guided", [False, True], ids=["own", "guided"])
@pytest.mark.parametrize("name", NAMES)
def test_two_processes_give_the_bytes_of_one(name: str, guided: bool, two: Processes) -> None:
    search = build(name, next(iter(modes(name).values())))
    for table in TABLES:
        try:
            here, _ = posed(search, table, guided)
        except CrypsisError:
            continue
        there, _ = posed(search, table, guided)
        assert [s.to_bytes() for s in states(there, 2, two)] == [s.to_bytes() for s in states(here, 2)]
        break


@pytest.mark.parametrize("guided", [False, True], ids=["own", "guided"])
@pytest.mark.parametrize(("name", "mode"), MODES)
def test_four_threads_give_the_bytes_of_one(name: str, mode: str, guided: bool) -> None:
    """More threads than cores, so that they take turns within a quantum; states and decoded tables are compared."""
    search = build(name, modes(name)[mode])
    for table in TABLES:
        try:
            here, _ = posed(search, table, guided)
        except CrypsisError:
            continue
        there, _ = posed(search, table, guided)
        alone = states(here, 3)
        with Threads(4) as engine:
            assert [s.to_bytes() for s in states(there, 3, engine)] == [s.to_bytes() for s in alone]
        for one, other in zip(found_by(alone[-1]), found_by(alone[-1]), strict=True):
            assert np.array_equal(here.express_candidate(one), there.express_candidate(other))
        break
