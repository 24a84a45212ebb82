"""One run and one release: nothing is read, fingerprinted, bound, posed or decoded twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crypsis.encodings import (
    GroupingEncoding,
    LevelEncoding,
    MaskedFileEncoding,
    PartitionEncoding,
    RecodingEncoding,
)
from crypsis.masking.local_recoding import LocalRecoding
from crypsis.measures.information_loss import CellLoss
from crypsis.measures.objective import Objective
from crypsis.plan import Plan
from crypsis.run import Run
from crypsis.searches.search import Search, searches
from crypsis.table.table import Table
from run.runs import PLAN, folder_with

ENCODINGS = (GroupingEncoding, LevelEncoding, MaskedFileEncoding, PartitionEncoding, RecodingEncoding)
MORE = """[[search]]
name = "pbg-ea"
suppression = 0.1
[[search]]
name = "categorical-masking"
columns = ["sex"]
largest_k = 3
depths = 1
swappings = 1
prams = 1
batch = 4
[run]"""
"""The searches that the plan of these tests lacks."""


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each of these was called, by name."""
    counted: Counter[str] = Counter()

    def count(owner: type, name: str, title: Callable[..., str]) -> None:
        original = getattr(owner, name)

        def wrapper(self: Any, *given: Any, **named: Any) -> Any:
            counted[title(self, *given)] += 1
            return original(self, *given, **named)

        monkeypatch.setattr(owner, name, wrapper)

    count(Plan, "table", lambda *_: "read")
    count(Table, "_digest", lambda table: f"fingerprint {id(table)}")
    count(Objective, "__init__", lambda *_: "bind")
    list(searches)  # loads them all
    for search in _concrete(Search):
        count(search, "problem", lambda search, *_: f"pose {type(search).__name__}")
    for encoding in ENCODINGS:
        count(encoding, "apply", lambda encoding, genome: f"decode {type(encoding).__name__} {genome.tobytes()!r}")
    count(
        LocalRecoding,
        "solve_tasks",
        lambda method, _, rng, *_more: f"solve {method} {rng.bit_generator.state['state']}",
    )
    count(CellLoss, "against", lambda *_: "bind cell-loss")
    return counted


def _concrete(cls: type) -> list[type]:
    return [each for sub in cls.__subclasses__() for each in (sub, *_concrete(sub)) if "problem" in vars(each)]


@pytest.mark.parametrize("guide", ["", "[measures]\nguide = true\n"], ids=["own", "guided"])
def test_one_run_and_release_does_everything_once(tmp_path: Path, calls: Counter[str], guide: str) -> None:
    plan = folder_with(tmp_path / "job", guide + PLAN.replace("[run]", MORE))
    run = Run.start(Plan.read(plan), tmp_path / "job" / "run", home=plan.parent, text=plan.read_text())
    for _ in run.proceed():
        pass
    assert calls["read"] == calls["bind"] == 1
    run.release(run.choose("best"), tmp_path / "release")
    run.close()
    assert calls["read"] == 1
    posed = {name: times for name, times in calls.items() if name.startswith("pose")}
    assert len(posed) == 5
    assert set(posed.values()) == {1}
    for encoding in ENCODINGS:
        decoded = [times for name, times in calls.items() if name.startswith(f"decode {encoding.__name__}")]
        assert decoded
        assert set(decoded) == {1}, "who scores, who measures and who releases share one decoded table"
    assert {times for name, times in calls.items() if name.startswith("solve")} == {1}
    assert max(times for name, times in calls.items() if name.startswith("fingerprint")) == 1
