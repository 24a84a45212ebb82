"""One run and one release: nothing is read, fingerprinted, bound, posed or decoded twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crypsis.encodings import GroupingEncoding, PartitionEncoding, RecodingEncoding
from crypsis.measures.cell_loss import CellLoss
from crypsis.measures.objective import Objective
from crypsis.plan import Plan
from crypsis.run import Run
from crypsis.searches.search import Search
from crypsis.table.table import Table
from run.runs import folder_with


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
    for search in _concrete(Search):
        count(search, "problem", lambda search, *_: f"pose {type(search).__name__}")
    for encoding in (GroupingEncoding, PartitionEncoding, RecodingEncoding):
        count(encoding, "decode", lambda encoding, genome: f"decode {type(encoding).__name__} {genome.tobytes()!r}")
    count(CellLoss, "against", lambda *_: "bind cell-loss")
    return counted


def _concrete(cls: type) -> list[type]:
    return [each for sub in cls.__subclasses__() for each in (sub, *_concrete(sub)) if "problem" in vars(each)]


def test_one_run_and_release_does_everything_once(tmp_path: Path, calls: Counter[str]) -> None:
    plan = folder_with(tmp_path / "job")
    run = Run.start(Plan.read(plan), tmp_path / "job" / "run", home=plan.parent, text=plan.read_text())
    for _ in run.proceed():
        pass
    chosen = run.choose("best")
    before = calls.copy()
    run.release(chosen, tmp_path / "release")
    run.close()
    assert calls["read"] == 1
    assert calls["bind"] == 1
    assert {name: times for name, times in calls.items() if name.startswith("pose")} == dict.fromkeys(
        [name for name in calls if name.startswith("pose")], 1
    )
    assert sum(name.startswith("pose") for name in calls) == 3
    decoded = {name: times for name, times in before.items() if name.startswith("decode Partition")}
    assert decoded
    assert set(decoded.values()) == {1}, "each solution is decoded once while it is measured"
    again = calls - before
    assert sum(times for name, times in again.items() if name.startswith("decode")) == 1, "the release decodes its own"
    assert max(times for name, times in calls.items() if name.startswith("fingerprint")) == 1
