"""Classes whose records all hold one confidential value: by hand, and against a slow twin."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.audits import FindingKind, audit
from crypsis.audits.exposure import homogeneous
from crypsis.audits.published import Published
from crypsis.table.table import Table
from crypsis.text import attack_finding_text

ROLES = {"town": "quasi", "age": "quasi", "ill": "confidential"}


def test_by_hand() -> None:
    """One class of four, one of three with two illnesses, one of two without any, and one record alone."""
    towns, ill = list("aaaabbbccd"), [*"xxxx", *"xxy", None, None, "x"]
    table = Table.from_columns({"town": towns, "ill": ill}, {"town": "quasi", "ill": "confidential"})
    (found,) = homogeneous(Published(table))
    assert (found.kind, found.columns, found.records, found.refuses) == (FindingKind.HOMOGENEOUS, ("ill",), 4, False)
    assert "whoever finds the class of a person learns it, for 40 % of the records: 4" in attack_finding_text(found)
    assert found in audit(table).findings
    assert homogeneous(Published(table, perturbed=True)) == []
    assert homogeneous(Published(table.with_roles({"ill": "quasi"}))) == []


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_it_is_its_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 60))
    frame = pl.DataFrame(
        {
            "town": [f"t{n}" for n in rng.integers(0, 4, rows)],
            "age": rng.integers(0, 4, rows).astype(float),
            "ill": [None if n == 3 else f"i{n}" for n in rng.integers(0, 4, rows)],
        }
    )
    table = Table.from_columns({name: frame[name].to_list() for name in frame.columns}, ROLES)
    groups = frame.group_by("town", "age").agg(
        pl.len().alias("n"), pl.col("ill").n_unique(), pl.col("ill").first().alias("v")
    )
    count = groups.filter((pl.col("n") > 1) & (pl.col("ill") == 1) & pl.col("v").is_not_null())["n"].sum()
    expected = [count] if count and frame["ill"].n_unique() > 1 else []
    assert [each.records for each in homogeneous(Published(table), most=0.0)] == expected
