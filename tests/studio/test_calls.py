"""What a request costs: one run opened for all of them, and no file read again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crypsis.run import Run
from crypsis.run.store import Store
from crypsis.studio.session import Session
from crypsis.table import files
from run.runs import begun, finished, folder_with


def test_stories_open_one_run_and_read_no_file_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = folder_with(tmp_path / "job")
    finished(begun(plan, tmp_path / "job" / "plan-run")).close()
    session = Session(tmp_path / "job" / "people.csv", plan, tmp_path / "job" / "plan-run")
    session.reading.wait(60)
    session.describe(session.front.solutions[0].number)
    counted: Counter[str] = Counter()

    def count(owner: Any, name: str, original: Callable[..., Any]) -> None:
        def wrapper(*given: Any, **named: Any) -> Any:
            counted[name] += 1
            return original(*given, **named)

        monkeypatch.setattr(owner, name, wrapper)

    count(Run, "open", Run.open)
    count(Store, "__init__", Store.__init__)
    count(files, "read_table", files.read_table)
    for solution in session.front.solutions:
        session.describe(solution.number)
        session.masked_table(solution.number)
    assert counted == Counter()
