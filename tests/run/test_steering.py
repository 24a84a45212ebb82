"""A run is steered while it searches: obeyed at the next quantum, stamped, resumed and repeated to the same bits."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypsis.engines import Serial
from crypsis.errors import SearchError
from crypsis.evolution.focus import Focus
from crypsis.run import Run
from crypsis.run.steering import LOG, Entry, InForce, SteeringLog, digest_solution_key, fold_entries
from run.runs import PLAN, begun, bits, finished, folder_with

COMPOSITE = (
    PLAN[: PLAN.index("[[search]]")]
    + '[[search]]\nname = "composite"\nk = 3\nk_values = 6\n'
    + PLAN[PLAN.index("[[waive]]") :]
    .replace('"4 generations"', '"60 generations"')
    .replace("points = 6", "points = 40")
)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with(tmp_path_factory.mktemp("job"))


Asked = Mapping[int, Mapping[str, Any]]
"""After how many steps something is asked."""


def steered(run: Run, asked: Asked, stop_after: int | None = None) -> int:
    """Let a run proceed and ask on the way; gives the steps it took."""
    steps, taken = run.proceed(), 0
    for _ in steps:
        taken += 1
        if taken in asked:
            run.steer(**asked[taken])
        if taken == stop_after:
            steps.close()
    return taken


# -- the log --

BOX = {"loss": (0.0, 9.0), "risk": (0.0, 5.0)}


def test_what_is_in_force_by_hand() -> None:
    asked = [Entry(1, "drop", 0), Entry(2, "focus", **BOX), Entry(3, "drop", 1), Entry(4, "restore", 0)]
    found = fold_entries(asked)
    assert (found.dropped, found.focus) == ({1}, Focus(**BOX))
    assert found.stops(1)
    assert not found.stops(0)
    assert fold_entries([*asked, Entry(5, "focus")]).focus is None
    more = fold_entries([*asked, Entry(5, "more", 2, **BOX, solution=9)])
    assert [more.stops(place) for place in range(4)] == [True, True, False, True]
    assert not fold_entries([*asked, Entry(5, "more", 2, **BOX), Entry(6, "focus")]).stops(3)


ANYTHING = st.lists(
    st.sampled_from([("drop", 0), ("drop", 1), ("restore", 0), ("focus", None), ("undo", None)]), max_size=8
)


@given(ANYTHING)
def test_undo_takes_back_the_last_that_is_in_force(kinds: list[tuple[Any, int | None]]) -> None:
    asked = [Entry(number, *each) for number, each in enumerate(kinds, 1)]
    before = fold_entries(asked)
    assert fold_entries([*asked, Entry(90, "drop", 3), Entry(91, "undo")]) == before
    undone = fold_entries([*asked, *(Entry(90 + n, "undo") for n in range(len(asked) + 1))])
    assert undone == InForce()


def test_the_log_is_private_numbered_and_only_grows(tmp_path: Path) -> None:
    log = SteeringLog(tmp_path)
    assert log.read() == ()
    first = log.append(Entry(0, "drop", 1))
    before = log.path.read_bytes()
    second = SteeringLog(tmp_path).append(Entry(0, "focus", **BOX))
    assert (first.number, second.number) == (1, 2)
    assert log.path.read_bytes().startswith(before)
    assert log.read() == (first, second)
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    with log.path.open("ab") as file:
        file.write(b'{"number": 3, "what": "un')  # still being written
    assert log.read() == (first, second)


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b"{}",
        b'{"number": 1, "what": "stop"}',
        b'{"number": 1, "what": "focus", "loss": [5, 2], "risk": [0, 1]}',
        b"\xff",
    ],
)
def test_a_line_that_is_no_entry_is_refused(line: bytes, tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(line + b"\n")
    with pytest.raises(SearchError, match=r"run\.steer"):
        SteeringLog(tmp_path).read()


def test_what_cannot_be_asked_is_said(plan: Path) -> None:
    with begun(plan, plan.parent / "refusals") as run:
        for asked, words in [
            ({"what": "drop"}, "memetic, gomm, local-recoding"),
            ({"what": "drop", "search": "pbg-ea"}, "no search 'pbg-ea'"),
            ({"what": "undo"}, "nothing to undo"),
            ({"what": "focus", "loss": (9.0, 2.0)}, "from a smaller to a larger"),
            ({"what": "more"}, "number of a solution"),
        ]:
            with pytest.raises(SearchError, match=words):
                run.steer(**asked)  # type: ignore[arg-type]
        assert not (run.folder / LOG).exists()


def test_the_last_search_is_not_dropped(plan: Path) -> None:
    """Dropping every search would end the run; undo and restore stay possible."""
    with begun(plan, plan.parent / "last") as run:
        for name in ("memetic", "gomm"):
            run.steer("drop", search=name)
        with pytest.raises(
            SearchError, match="drop local-recoding: no other search goes on, so the run would end; res"
        ):
            run.steer("drop", search="local-recoding")
        run.steer("restore", search="gomm")
        run.steer("drop", search="local-recoding")
        with pytest.raises(SearchError, match="drop gomm: no other search goes on"):
            run.steer("drop", search="gomm")
        assert [entry.what for entry in run.steering] == ["drop", "drop", "restore", "drop"]


# -- obeyed --


def generations(run: Run) -> list[int]:
    return [max((step.generation for step in run.store.history(place)), default=0) for place in range(3)]


def test_a_dropped_search_gets_no_more_quanta_and_keeps_its_solutions(plan: Path) -> None:
    run = begun(plan, plan.parent / "dropped", engine=Serial(), budget="12 generations")
    steps = run.proceed()
    for step in steps:
        if step.title == "gomm" and step.generation == 3:
            break
    run.steer("drop", search="gomm")
    for _ in steps:
        pass
    assert generations(run) == [12, 3, 12]
    [entry] = run.steering
    assert entry.obeyed is not None
    assert entry.obeyed[1][0] == 3
    assert any(solution.title == "gomm" for solution in run.solutions)
    assert run.finished


def test_a_restored_search_goes_on_to_where_it_would_have_been(plan: Path) -> None:
    untouched = finished(begun(plan, plan.parent / "never dropped", engine=Serial(), budget="8 generations"))
    run = begun(plan, plan.parent / "restored", engine=Serial(), budget="8 generations")
    steered(run, {20: {"what": "drop", "search": "memetic"}, 30: {"what": "restore", "search": "memetic"}})
    assert generations(run) == generations(untouched)
    keys = [run.store.solution_keys(0), untouched.store.solution_keys(0)]
    assert keys[0] >= keys[1]


STEERED: Asked = {
    8: {"what": "focus", "loss": (0.0, 12.0), "risk": (0.0, 20.0)},
    14: {"what": "drop", "search": "gomm"},
    25: {"what": "undo"},
    30: {"what": "focus", "risk": (10.0, 40.0)},
    34: {"what": "drop", "search": "local-recoding"},
}


@pytest.fixture(scope="module")
def whole(plan: Path) -> Run:
    run = begun(plan, plan.parent / "steered", engine=Serial(), budget="12 generations")
    assert steered(run, STEERED) > 40
    return run


def test_steering_changes_what_is_found(plan: Path, whole: Run) -> None:
    plain = finished(begun(plan, plan.parent / "plain", engine=Serial(), budget="12 generations"))
    assert bits(plain) != bits(whole)
    assert [entry.what for entry in whole.steering] == ["focus", "drop", "undo", "focus", "drop"]
    assert all(entry.obeyed for entry in whole.steering)


def test_the_stamped_log_in_a_new_run_gives_the_same_solutions(plan: Path, whole: Run) -> None:
    again = begun(plan, plan.parent / "repeated", budget="12 generations", steered_by=whole.steering)
    assert sorted(bits(finished(again)), key=lambda row: row[0]) == sorted(bits(whole), key=lambda row: row[0])
    assert again.steering == whole.steering


@pytest.mark.parametrize("after", [9, 15, 22, 31, 37])
def test_a_steered_run_that_was_stopped_goes_on_to_the_same_bits(after: int, plan: Path, whole: Run) -> None:
    folder = plan.parent / f"steered-{after}"
    run = begun(plan, folder, engine=Serial(), budget="12 generations", steered_by=whole.steering)
    steered(run, {}, stop_after=after)
    run.close()
    continued = finished(Run.resume(folder))
    assert sorted(bits(continued), key=lambda row: row[0]) == sorted(bits(whole), key=lambda row: row[0])


def test_what_was_obeyed_is_in_the_store_and_needs_no_log(plan: Path, whole: Run) -> None:
    folder = plan.parent / "without a log"
    run = begun(plan, folder, engine=Serial(), budget="12 generations")
    for _ in zip(range(40), run.proceed(), strict=False):
        if not run.steering:
            run.steer("focus", risk=(5.0, 20.0))
    run.close()
    with Run.open(folder) as stopped:
        known = stopped.steering
        assert known[0].obeyed
    (folder / LOG).unlink()
    assert finished(Run.resume(folder)).steering == known


# -- focus --


def inside(run: Run, focus: Focus) -> int:
    figures = [(s.figure("loss"), s.figure("risk")) for s in run.solutions if not s.baseline]
    return int((focus.distances(np.array(figures, dtype=float)) == 0.0).sum())


def volume(run: Run, focus: Focus) -> float:
    """The area of the box that the front dominates, up to 40 % loss."""
    total, right = 0.0, 40.0
    for loss, risk in sorted(((s.figure("loss"), s.figure("risk")) for s in run.front), reverse=True):
        if risk <= focus.risk[1]:
            total, right = total + max(right - loss, 0.0) * (focus.risk[1] - max(risk, focus.risk[0])), min(right, loss)
    return total


def test_a_focus_finds_more_in_its_box_than_the_same_quanta_without(tmp_path: Path) -> None:
    plan = folder_with(tmp_path / "job", COMPOSITE, rows=300)
    plain = finished(begun(plan, tmp_path / "plain", engine=Serial()))
    front = sorted((s.figure("risk") or 0.0) for s in plain.front if not s.baseline)
    middle = (front[len(front) // 3], front[len(front) // 2])
    run = begun(plan, tmp_path / "focused", engine=Serial())
    run.steer("focus", risk=middle)
    finished(run)
    focus = run.steering[0].focus
    assert focus is not None
    assert run.store.history(0)[-1].generation == plain.store.history(0)[-1].generation == 60
    assert inside(run, focus) > inside(plain, focus) > 0
    assert volume(run, focus) > 1.1 * volume(plain, focus)


def test_more_like_a_solution_is_a_box_around_it_by_its_own_search(plan: Path, whole: Run) -> None:
    liked = next(s for s in whole.solutions if s.title == "memetic")
    entry = whole.steer("more", solution=liked.number)
    (whole.folder / LOG).write_bytes(b"".join((whole.folder / LOG).read_bytes().splitlines(keepends=True)[:-1]))
    assert entry.focus is not None
    assert entry.search == 0
    assert entry.focus.distances(np.array([[liked.figure("loss"), liked.figure("risk")]]))[0] == 0.0
    found = fold_entries([entry])
    assert [found.stops(place) for place in range(3)] == [False, True, True]
    with pytest.raises(SearchError, match="without search"):
        whole.steer("more", solution=1)


LEVELS = (
    PLAN[: PLAN.index("[[search]]")]
    + '[[search]]\nname = "pbg-ea"\npopulation = 12\nmethod = "pbg"\n'
    + PLAN[PLAN.index("[[waive]]") :]
    .replace('"4 generations"', '"30 generations"')
    .replace("points = 6", "points = 40")
)


def test_more_like_a_solution_breeds_from_what_is_most_like_it(tmp_path: Path) -> None:
    """The genome is found by a digest of its key, so that another run obeys in the same way."""
    plan = folder_with(tmp_path / "job", LEVELS)
    run = begun(plan, tmp_path / "first", engine=Serial())
    steps = run.proceed()
    while not (found := [s for s in run.solutions if s.title == "pbg-ea"]):
        next(steps)
    liked = found[-1].number
    entry = run.steer("more", solution=liked)
    steps.close()
    run.close()
    steered_run = finished(Run.resume(tmp_path / "first"))
    assert digest_solution_key(steered_run.store.solution(liked).key) == entry.key
    again = begun(plan, tmp_path / "again", engine=Serial(), steered_by=steered_run.steering)
    assert sorted(bits(finished(again))) == sorted(bits(steered_run))


# -- child runs --


def changed(plan: Path, name: str, old: str, new: str) -> Path:
    text = plan.read_text()
    assert old in text
    (plan.parent / f"{name}.toml").write_text(text.replace(old, new))
    return plan.parent / f"{name}.toml"


AGE = 'age = { role = "quasi", kind = "numeric"'


SEX = 'sex = { role = "quasi"'


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("spare", AGE, f"{AGE}, importance = 4"),
        ("cap", AGE, f"{AGE}, at_most = 12"),
        ("lock", SEX, f"{SEX}, lock = true"),
    ],
)
def test_a_child_begins_with_what_still_holds_and_is_never_worse(
    name: str, old: str, new: str, plan: Path, whole: Run, tmp_path: Path
) -> None:
    child = begun(changed(plan, name, old, new), tmp_path / "child", engine=Serial(), parent=whole)
    assert child.lock.parent == whole.folder.name
    decoded, measured = child._decoded_tables, []
    for s in (s for s in whole.front if not s.baseline):
        try:
            masked = decoded.encodings[s.search].decode(whole.store.solution(s.number).genome)
        except ValueError:  # the locked column is no longer in its genome
            assert name == "lock"
            continue
        measured.append(child.objective.evaluate(decoded.finish(masked, s.family), s.family))
    holding = [each for each in measured if not each.complaints]
    if name == "spare":
        assert holding
    steps = child.proceed()
    while len([s for s in child.solutions if not s.baseline]) < len(holding):
        next(steps)
    figures = [(s.figure("loss"), s.figure("risk")) for s in child.solutions if not s.baseline]
    for each in holding:
        loss, risk = each.figures["loss"], each.figures["risk"]
        assert any(a <= loss and b <= risk for a, b in figures)  # type: ignore[operator]
    assert all(s.feasible for s in child.solutions if not s.baseline)
    for _ in steps:
        pass
    assert child.finished
    child.close()


@pytest.mark.parametrize("after", [1, 2, 5, 12])
def test_a_child_that_was_stopped_goes_on_to_the_same_bits(after: int, plan: Path, whole: Run, tmp_path: Path) -> None:
    other = changed(plan, "other", AGE, f"{AGE}, importance = 3")
    at_once = finished(begun(other, tmp_path / "at once", engine=Serial(), parent=whole))
    run = begun(other, tmp_path / "stopped", parent=whole)
    steered(run, {}, stop_after=after)
    run.close()
    continued = finished(Run.resume(tmp_path / "stopped"))
    assert sorted(bits(continued), key=lambda row: row[0]) == sorted(bits(at_once), key=lambda row: row[0])


def test_chains_of_a_child_begin_from_the_groups_of_its_parent(tmp_path: Path) -> None:
    plan = folder_with(tmp_path / "job", COMPOSITE, rows=300)
    parent = finished(begun(plan, tmp_path / "parent", engine=Serial()))
    other = changed(plan, "other", AGE, f"{AGE}, importance = 2")
    seeded = finished(begun(other, tmp_path / "seeded", engine=Serial(), parent=parent, budget="8 generations"))
    alone = finished(begun(other, tmp_path / "alone", engine=Serial(), budget="8 generations"))
    fitness = [run.store.history(0)[0].best for run in (seeded, alone)]
    assert fitness[0] < fitness[1]


def test_changed_seeds_are_refused(plan: Path, whole: Run, tmp_path: Path) -> None:
    run = begun(plan, tmp_path / "run", parent=whole)
    (run.folder / "seeds.npz").write_bytes(b"other")
    with pytest.raises(SearchError, match=r"seeds\.npz: changed since"):
        next(run.proceed())


def test_a_parent_on_other_data_is_refused(whole: Run, tmp_path: Path) -> None:
    plan = folder_with(tmp_path / "job", rows=120)
    with pytest.raises(SearchError, match="other data"):
        begun(plan, tmp_path / "run", parent=whole)
    assert not (tmp_path / "run").exists()
