"""Rows of Table 5 that the blocks of Table 3 do not give: is one attribute in a wrong block?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from verdicts import Report

from crypsis.searches.gomm import Evaluator, genome_of_listed_groups

Blocks = list[list[int]]
HALVED = [[0, 1, 2, 23, 3], [8, 7, 24, 4, 9], [11, 26, 5, 14, 13], [29, 6, 15, 18, 31], [10, 17, 25, 33, 12],
          [20, 27, 34, 16, 21], [19, 35, 28, 22], [30, 32, 36, 37]]  # fmt: skip
"""G5nc as halves of the blocks of G10nc, as G5c is of G10c; printed are blocks of 5, 5, 6, 4, 6, 4, 4 and 4."""


def one_slip_away(blocks: Blocks) -> Iterator[tuple[str, Blocks]]:
    """Every grouping with two attributes exchanged, or one in another block."""
    attributes = sorted(a for block in blocks for a in block)
    home = {a: number for number, block in enumerate(blocks) for a in block}

    def moved(change: dict[int, int]) -> Blocks:
        new = home | change
        return [group for n in range(len(blocks)) if (group := [a for a in attributes if new[a] == n])]

    for a, b in combinations(attributes, 2):
        if home[a] != home[b]:
            yield f"a{a + 1} and a{b + 1} exchanged", moved({a: home[b], b: home[a]})
    for a in attributes:
        for n in range(len(blocks)):
            if n != home[a]:
                yield f"a{a + 1} with a{', a'.join(str(other + 1) for other in blocks[n])}", moved({a: n})


def slips(
    report: Report,
    evaluator: Evaluator,
    listed: dict[tuple[str, str], Blocks],
    rows: Sequence[str],
    sizes: Sequence[int],
) -> None:
    """Which slips give all printed figures of a row, beside how many would by chance."""
    starts = [(row, row, listed["Water", row]) for row in rows] + [("G5nc", "G5nc, G10nc halved", HALVED)]
    for row, name, blocks in starts:
        printed = np.array([report.value("Table 5", row, f"k={k}") for k in sizes])

        def tried(blocks: Blocks = blocks) -> dict[str, Any]:
            ways = [("as printed", blocks), *one_slip_away(blocks)]
            width = sum(map(len, blocks))
            scores = [[evaluator.fitness(genome_of_listed_groups(b, width, k)).score for k in sizes] for _, b in ways]
            return {"ways": [way for way, _ in ways], "scores": scores}

        found = report.kept.run(f"Water {name}: one slip away", tried)
        scores = np.array(found["scores"])
        met = (scores >= printed - 0.05) & (scores < printed + 0.1)  # rounded or cut off
        whole = np.flatnonzero(met[1:].all(axis=1)) + 1
        report.reading("Table 5, rows that Table 3 does not give: one attribute in a wrong block", {
            "row": name, "printed": " / ".join(f"{value:g}" for value in printed),
            "blocks as they stand": " / ".join(f"{value:.2f}" for value in scores[0]), "slips tried": str(len(met) - 1),
            "that give all five": "; ".join(found["ways"][place] for place in whole) or "none",
            "expected by chance": f"{(len(met) - 1) * met[1:].mean(axis=0).prod():.2f}",
        })  # fmt: skip
