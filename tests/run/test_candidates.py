"""Candidates that were tried and not measured: read from checkpoints, placed by what was measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypsis.errors import SearchError
from crypsis.evolution import State
from crypsis.evolution.state import read_known_scores
from crypsis.run.candidates import FEWEST, CandidateReader, place_candidates, thin_evenly
from run.runs import begun, finished, folder_with

FIGURES = st.floats(0, 100)


def key(number: int) -> bytes:
    return number.to_bytes(2, "big")


@given(st.lists(st.tuples(FIGURES, FIGURES), min_size=FEWEST, max_size=20), st.lists(st.tuples(FIGURES, FIGURES)))
def test_scores_that_are_what_is_measured_stay_as_they_are(
    measured: list[tuple[float, float]], rest: list[tuple[float, float]]
) -> None:
    known = {key(n): each for n, each in enumerate([*measured, *rest])}
    found = place_candidates(0, known, {key(n): each for n, each in enumerate(measured)})
    assert found.points == pytest.approx(np.array(rest).reshape(-1, 2))
    assert found.miss == pytest.approx(0.0, abs=1e-9)


def test_scores_that_say_nothing_of_the_figures_are_not_placed() -> None:
    other = {key(n): (float(-n), -1000.0 * n) for n in range(9)}
    assert not len(place_candidates(0, other, {key(n): (60.0 * (n % 2), 9.0 - n) for n in range(8)}).points)
    assert not len(place_candidates(0, other, {key(n): (10.0 * n, 9.0) for n in range(5)}).points), "too few"
    few = {key(n): (float(n), 5.0) for n in range(9)}
    assert not len(place_candidates(0, few, {key(n): (float(n), 5.0) for n in range(FEWEST - 1)}).points)
    jumps = {key(n): (float(n), 5.0) for n in range(9)}
    assert not len(place_candidates(0, jumps, {key(n): (40.0 * (n % 2), 5.0) for n in range(8)}).points)


def test_scores_that_are_other_figures_are_read_off_their_neighbours() -> None:
    """As of nodes of a lattice, whose scores are sums of class sizes: both figures rise, not in proportion."""
    rng = np.random.default_rng(4)
    at = rng.uniform(0, 1, (400, 2))
    figures = np.stack([100 * at[:, 0] ** 2, 30 * at[:, 1]], axis=1)
    known = {key(n): (-1e6 * a, -50.0 * b) for n, (a, b) in enumerate(at.tolist())}
    found = place_candidates(0, known, {key(n): (a, b) for n, (a, b) in enumerate(figures[:150].tolist())})
    assert len(found.points) == found.tried == 250
    off = np.median(np.abs(found.points - figures[150:]), axis=0).max()
    assert off == pytest.approx(found.miss, rel=0.4), "what is said of the miss holds for what was not measured"
    assert off < 5.0


def test_many_are_thinned_evenly() -> None:
    rows = np.arange(20.0).reshape(10, 2)
    assert thin_evenly(rows, 4)[:, 0].tolist() == [0, 6, 12, 18]
    assert thin_evenly(rows, 10) is rows


def test_a_run_tells_what_its_searches_tried(tmp_path: Path) -> None:
    """Every remembered candidate is measured, placed, or beyond what is measured; a checkpoint is read once."""
    run = finished(begun(folder_with(tmp_path / "tried"), tmp_path / "run", budget="6 generations"))
    reader = CandidateReader()
    found = reader.read(run.store, run.solutions)
    assert [each.search for each in found] == [0, 1, 2]
    for each in found:
        data = run.store.state(each.search)
        assert data is not None
        known = State.from_bytes(data).known
        assert read_known_scores(data) == dict(known)
        assert each.tried == len(known.keys() - run.store.solution_numbers(each.search).keys())
        assert len(each.points) <= len(known.keys() - run.store.solution_numbers(each.search).keys())
    assert sum(len(each.points) for each in found) > 0
    assert all(a is b for a, b in zip(found, reader.read(run.store, run.solutions), strict=True))
    with pytest.raises(SearchError, match="cannot be read"):
        read_known_scores(b"no checkpoint")
    run.close()
