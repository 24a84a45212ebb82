"""Records that no other record equals, counted one by one."""

from __future__ import annotations

from collections.abc import Sequence


def count_unique(rows: Sequence[object]) -> int:
    return sum(sum(other == row for other in rows) == 1 for row in rows)
