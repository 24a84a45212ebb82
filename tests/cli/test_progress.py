"""The line that ends a run says what the budget did not show: compiling, and time beyond it."""

from __future__ import annotations

import pytest

from crypsis.cli.output import Watch
from crypsis.run.search_state import Progress


def ended(capsys: pytest.CaptureFixture[str], **given: float) -> str:
    watch = Watch()
    watch.follow([Progress("generation", "memetic", 3, seconds=4.0, **given)], quiet=True)
    watch.close(2)
    return capsys.readouterr().err


def test_time_beyond_the_budget_is_said_and_compiling_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(capsys) == "[   4.0 s, 100 %] finished: 3 generations, 2 solutions measured\n"
    late = ended(capsys, beyond=1.25, compiling=7.0)
    assert "7.0 s of compiling not charged" in late
    assert "the budget was too small for a first solution: 1.2 s more" in late
    assert "more" not in ended(capsys, beyond=0.1)
