"""The searches find what they found before: the same plan and seed give the same front."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden.fronts import TASKS, front

GOLDEN = json.loads((Path(__file__).parent / "fronts.json").read_text(encoding="utf-8"))
IMPROVED = {"memetic"}
"""Tasks whose algorithm became another one: there the loss must not be worse at any k."""


def test_every_task_has_its_golden_front() -> None:
    assert set(GOLDEN) == set(TASKS)


@pytest.mark.parametrize("task", sorted(set(TASKS) - IMPROVED))
def test_front_is_found_again(task: str) -> None:
    def rounded(rows: list[list[object]]) -> list[list[object]]:
        return [[round(cell, 9) if isinstance(cell, float) else cell for cell in row] for row in rows]

    assert rounded(front(task)) == rounded(GOLDEN[task])


@pytest.mark.parametrize("task", sorted(IMPROVED))
def test_front_is_at_least_as_good_at_every_k(task: str) -> None:
    found = front(task)
    for _, loss, _, k, _ in GOLDEN[task]:
        assert min(row[1] for row in found if row[3] >= k) <= loss + 1e-9
