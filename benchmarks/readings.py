"""What each reading of missing cells makes of files whose cells were hidden: people and records below k, and linkage.

python benchmarks/readings.py
"""

from __future__ import annotations

import numpy as np
from cell_suppression import TESTDATA, load, peer_file

from crypsis.masking import CellSuppression
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.table.equivalence_classes import READINGS, alike_on_both_sides, alike_records
from crypsis.table.table import Table


def below(table: Table, masked: Table, k: int) -> dict[str, int]:
    """Records of fewer than k under every reading, `target` by persons alone and on both sides."""
    found = {reading: alike_records(masked, TESTDATA, reading, table) for reading in READINGS}
    found["target, both sides"] = alike_on_both_sides(masked, TESTDATA, "target", table)  # type: ignore[index]
    return {str(reading): int((counts < k).sum()) for reading, counts in found.items()}


def main() -> None:
    table = load("testdata.csv", TESTDATA)
    for k in (3, 5):
        files = {
            "as collected": table,
            "persons alone": CellSuppression(k=k, sides="persons").mask(table, np.random.default_rng(0)),
            "both sides": CellSuppression(k=k).mask(table, np.random.default_rng(0)),
            "sdcMicro": peer_file(table, TESTDATA, k),
        }
        for name, masked in files.items():
            cells = sum(int(masked.missing(column).sum()) for column in TESTDATA)
            counts = ", ".join(f"{reading} {count}" for reading, count in below(table, masked, k).items())
            found = {r: RecordLinkage(missing=r).against(table).read(masked) for r in READINGS}
            linked = ", ".join(f"{reading} {rate:.2f}" for reading, rate in found.items())
            print(f"k = {k}  {name:14} {cells:4} cells hidden; below k: {counts}; linked, %: {linked}")


if __name__ == "__main__":
    main()
